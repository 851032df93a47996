"""What an observation of Easy School holds, as named features of a view; and the state vector for a central critic.

P seats, relative to the viewer (seat 0 is itself, seat 1 the next clockwise)  T types (cards.TYPES)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import getitem
from typing import Any, Final

import numpy as np

from easyenvs.core.arrays import F32, U64
from easyenvs.core.encoders import Count, Features, Part, Slice, Word, Zone, side_by_side
from easyenvs.school_v0.cards import (
    COPIES,
    MAX_PLAYERS,
    NUM_CHEATS,
    NUM_FACE_UP,
    NUM_TYPES,
    SPECIAL,
    STRESS,
    TOP_CARDS,
    TYPES,
    Phase,
    type_points,
)
from easyenvs.school_v0.counts import EACH
from easyenvs.school_v0.options import CLOCK_TICKS, Rules
from easyenvs.school_v0.view import NUM_CARDS, ODDS, Dealings, PackedView, Situation, View, odds_index

SEMESTERS: Final = 3
ODDS_STEPS: Final = 20
MAX_POINTS: Final = type_points(NUM_CARDS) * NUM_CHEATS

# Where a zone's bytes hold something else than counts by type.
BYTE_6, BYTE_7 = 48, 56
TOP_BYTE: Final = 0xFF << BYTE_7


def features(rules: Rules) -> Features:
    """The features of an observation under these rules."""
    players = rules.num_players
    seats = range(players)
    few = (1, 2, 3, 4, 5, 6, 8, 10)

    def by_type(name: str, where: str, levels: tuple[int, ...] = few) -> list[Count]:
        return [
            Count("", f"{name} {TYPES[t]}", COPIES[t], levels, f"{TYPES[t]} cards {where}") for t in range(NUM_FACE_UP)
        ]

    def all_types(name: str, where: str) -> tuple[Count, ...]:
        return (
            *by_type(name, where),
            Count("", f"{name} stress", COPIES[STRESS], (1, 3, 6, 9, 12, 15, 18, 21), f"stress cards {where}"),
            Count("", f"{name} special", COPIES[SPECIAL], (1, 2), f"semester ends {where}"),
        )

    zones = []
    for seat in seats:
        counts = by_type(f"face-up {seat}", f"in front of seat {seat}")
        counts += [
            Count("", f"stress {seat}", COPIES[STRESS], few, f"stress cards in front of seat {seat}"),
            Count("", f"face-up {seat} in all", NUM_CARDS, (1, 2, 3, 4, 5, 6, 8, 11), f"face-up cards of seat {seat}"),
        ]
        zones.append(Zone("face-up", tuple(counts)))
    for seat in seats:
        counts = by_type(f"victory {seat}", f"in the victory pile of seat {seat}")
        counts += [
            Count(
                "",
                f"points {seat}",
                MAX_POINTS,
                (3, 6, 10, 15, 21, 28, 36, 50),
                f"points of the victory pile of seat {seat}",
            ),
            Count(
                "",
                f"victory {seat} in all",
                NUM_CARDS,
                (1, 3, 5, 8, 11, 14, 18, 23),
                f"cards in the victory pile of seat {seat}",
            ),
        ]
        zones.append(Zone("victory", tuple(counts)))
    counts = by_type("pool", "in the pool")
    counts += [
        Count("", "deck size", NUM_CARDS, (12, 16, 22, 30, 40, 52, 66, 82), "cards left in the deck"),
        Count(
            "",
            "clock",
            CLOCK_TICKS,
            (4, 8, 16, 24, 32, 40, 48, 56),
            f"decisions made, in units of {rules.clock_tick}; at most {CLOCK_TICKS} of them, then the game is truncated",
        ),
    ]
    zones.append(Zone("table", tuple(counts)))
    counts = by_type("claimed", "claimed", (1, 2, 3, 4))
    counts += [
        Count(
            "",
            "stress odds",
            ODDS_STEPS,
            (1, 2, 3, 4, 5, 6, 8, 10),
            f"the chance that the next card is stress, in {ODDS_STEPS}ths, rounded down",
        ),
        Count(
            "",
            "special odds",
            ODDS_STEPS,
            (1, 2, 3, 5, 10, 20),
            f"the chance that the next card is a semester end, in {ODDS_STEPS}ths, rounded down",
        ),
    ]
    zones.append(Zone("table", tuple(counts)))
    zones.append(Zone("discards", all_types("discards", "on the discard pile")))
    zones.append(Zone("deck", all_types("deck", "left in the deck")))

    status = [
        Part(
            "phase",
            len(Phase) - 1,
            ", ".join(phase.name.lower() for phase in list(Phase)[:-1]) + "; none once the game is over",
        ),
        Part("actor", players, "the seat to act"),
        Part("turn", players, "the seat whose turn it is"),
        Part("semester", SEMESTERS, "first, second, after the second special"),
        Part("closing", 1, "a semester ends"),
        Part("examinee", players, "the seat whose examination it is"),
        Part("exam types", NUM_CHEATS, "cheat types that the examination named"),
        Part("stress drawn", 2, "stress cards drawn in this turn: at least 1, at least 2"),
        Part("to discard", 2, "cards that the acting seat owes the pool: at least 1, at least 2"),
        *(Part(f"named {seat}", 1, f"seat {seat} got a stress card in this turn") for seat in seats),
    ]
    words = [Word("status", tuple(status))]
    words += [
        Word(
            "top cards",
            tuple(
                Part(
                    f"top {seat}.{place}",
                    NUM_FACE_UP,
                    f"type of card {place + 1} from the top of the victory pile of seat {seat}",
                )
                for place in range(TOP_CARDS)
            ),
        )
        for seat in seats
    ]
    packed = PackedView(rules, StatusWords(players), ExamWords(players), words[0].width, TOP_WORDS, odds_words(players))
    return Features(tuple(words), (), read_words, read_counts, packed.read, tuple(zones), read_zones)


class StatusTables:
    """The word `status` by look-ups, one a field, each entry already in its place: lists for one game, arrays for many. A
    last entry 0 serves a field's −1."""

    def __init__(self, players: int, kind: Callable[[list[int]], Any]) -> None:
        self._offset = 0
        self._kind = kind
        seat = [*(1 << s for s in range(players)), 0]
        self.phase = self._field([1 << phase if phase != Phase.OVER else 0 for phase in Phase], len(Phase) - 1)
        self.actor = self._field(seat, players)
        self.turn = self._field(seat, players)
        self.semester = self._field([0, *(1 << s for s in range(SEMESTERS))], SEMESTERS)
        self.closing = self._field([0, 1], 1)
        self.examinee = self._field(seat, players)
        self.exam_types = self._field(list(range(1 << NUM_CHEATS)), NUM_CHEATS)
        self.stress_drawn = self._field([0b00, 0b01, 0b11], 2)
        self.to_discard = self._field([0b00, 0b01, 0b11], 2)
        self.named = [self._field([0, 1], 1) for _ in range(players)]

    def _field(self, entries: list[int], width: int) -> Any:
        table = self._kind([entry << self._offset for entry in entries])
        self._offset += width
        return table


LISTS: Final = {players: StatusTables(players, list) for players in range(2, MAX_PLAYERS + 1)}
ARRAYS: Final = {
    players: StatusTables(players, lambda entries: np.array(entries, np.uint64))
    for players in range(2, MAX_PLAYERS + 1)
}

TOP_WORDS: Final = [
    sum(
        1 << NUM_FACE_UP * place + kind - 1
        for place, kind in enumerate(tops >> 3 * place & 7 for place in range(TOP_CARDS))
        if 1 <= kind <= NUM_FACE_UP
    )
    for tops in range(1 << 3 * TOP_CARDS)
]
"""The word `top cards` of a victory pile by View.tops."""

TOP_ARRAY: Final[U64] = np.array(TOP_WORDS, dtype=np.uint64)


@cache
def odds_array(players: int) -> U64:
    """The bytes of the odds, in their places, by `view.odds_index`."""
    odds = ODDS[players]
    # The small sum keeps 1/20 · 20 from being rounded to 0.
    stress, special = ((odds[kind] * ODDS_STEPS + 1e-9).astype(np.uint64) for kind in (STRESS, SPECIAL))
    return stress << np.uint64(BYTE_6) | special << np.uint64(BYTE_7)


@cache
def odds_words(players: int) -> list[int]:
    """The same as ints."""
    words: list[int] = odds_array(players).tolist()
    return words


def read_words(view: View) -> list[Any]:
    """The sets of a view, one game's or many's, in the order of `features`."""
    phase = view.phase
    many = isinstance(phase, np.ndarray)
    table = (ARRAYS if many else LISTS)[len(view.stress)]
    at: Any = np.ndarray.take if many else getitem
    status = at(table.phase, phase) | at(table.actor, view.actor)
    status |= at(table.turn, view.turn_player)
    status |= at(table.semester, view.semester)
    status |= at(table.closing, view.closing)
    status |= at(table.examinee, view.examinee)
    status |= at(table.exam_types, view.exam_types)
    status |= at(table.stress_drawn, view.stress_drawn)
    status |= at(table.to_discard, view.to_discard)
    for entries, named in zip(table.named, view.named, strict=True):
        status |= at(entries, named)
    tops = TOP_ARRAY.take(view.tops) if many else [TOP_WORDS[tops] for tops in view.tops]
    return [status, *tops]


def read_counts(view: View) -> Sequence[Any]:
    """None: all numbers are in zones."""
    return ()


def read_zones(view: View) -> list[Any]:
    """The zones of a view, one game's or many's, in the order of `features`."""
    face_up = [
        words | _wide(stress) << BYTE_6 | words * EACH & TOP_BYTE
        for words, stress in zip(view.face_up_words, view.stress, strict=True)
    ]
    victory = [
        words | _wide(points) << BYTE_6 | words * EACH & TOP_BYTE
        for words, points in zip(view.victory_words, view.scores, strict=True)
    ]
    clock = view.decisions // view.rules.clock_tick
    clock = np.minimum(clock, CLOCK_TICKS) if isinstance(clock, np.ndarray) else min(clock, CLOCK_TICKS)
    pool = view.pool_words | _wide(view.deck_size) << BYTE_6 | _wide(clock) << BYTE_7
    at = odds_index(view.deck_words, view.deck_size)
    players = view.rules.num_players
    odds = odds_array(players).take(at) if isinstance(at, np.ndarray) else odds_words(players)[at]
    return [*face_up, *victory, pool, view.claimed_words | odds, view.discard_words, view.deck_words]


def _wide(number: Any) -> Any:
    return number.astype(np.uint64) if isinstance(number, np.ndarray) else number


class StatusWords(dict[Situation, int]):
    """The word `status` without the flags of an examination and of who was named, by situation; filled as they come up."""

    def __init__(self, players: int) -> None:
        super().__init__()
        self._players = players

    def __missing__(self, situation: Situation) -> int:
        phase, player, seat, turn_player, semester, closing, stress_drawn, to_discard = situation
        table = LISTS[self._players]
        status: int = (
            table.phase[phase]
            | table.actor[-1 if player is None else (player - seat) % self._players]
            | table.turn[(turn_player - seat) % self._players]
            | table.semester[semester]
            | table.closing[closing]
            | table.stress_drawn[stress_drawn]
            | table.to_discard[to_discard]
        )
        self[situation] = status
        return status


class ExamWords(dict[Dealings, int]):
    """The rest of the word `status`."""

    def __init__(self, players: int) -> None:
        super().__init__()
        self._players = players

    def __missing__(self, dealings: Dealings) -> int:
        examinee, exam_types, named, turn_player, seat = dealings
        table, players = LISTS[self._players], self._players
        status: int = (
            table.examinee[-1 if examinee is None else (examinee - seat) % players] | table.exam_types[exam_types]
        )
        for distance, entries in enumerate(table.named):
            status |= entries[named >> (seat + distance - turn_player) % players & 1]
        self[dealings] = status
        return status


# ------------------------------------------------------------------------------------------------- the whole state


def state_slices(rules: Rules) -> list[Slice]:
    """What `env.state()` holds; seats are absolute here."""
    players = rules.num_players
    parts = [
        ("face-up", players * NUM_FACE_UP, "[P, 6] face-up cards by type, divided by 16"),
        ("stress", players, "[P] stress cards, divided by 22"),
        ("victory", players * NUM_FACE_UP, "[P, 6] cards of the victory piles by type, divided by 16"),
        (
            "top cards",
            players * TOP_CARDS * NUM_FACE_UP,
            "[P, 4, 6] the topmost cards of each victory pile, the top first",
        ),
        ("points", players, f"[P] points of the victory piles, divided by {MAX_POINTS}"),
        ("pool", NUM_FACE_UP, "[6] the pool by type, divided by 16"),
        ("claimed", NUM_FACE_UP, "[6] claimed cards by type, divided by 5"),
        ("discards", NUM_TYPES, "[8] the discard pile by type, divided by 22"),
        ("deck", NUM_CARDS * NUM_TYPES, "[110, 8] the deck's cards by type, the next card first"),
        ("phase", len(Phase), "the phases in the order of `cards.Phase`"),
        ("player", players, "the seat to act"),
        ("turn", players, "the seat whose turn it is"),
        ("semester", SEMESTERS, "first, second, after the second special"),
        ("closing", 1, "a semester ends"),
        ("examinee", players, "the seat whose examination it is"),
        ("exam types", NUM_CHEATS, "cheat types that the examination named"),
        ("stress drawn", 1, "stress cards drawn in this turn, divided by 2"),
        ("to discard", 1, "cards that the acting seat owes the pool, divided by 2"),
        ("named", players, "seats that got a stress card in this turn"),
        ("clock", 1, "decisions made, divided by those at which the game is truncated"),
    ]
    return side_by_side(parts)


def encode_state(position: dict[str, Any], rules: Rules) -> F32:
    """Everything about a position (a snapshot's values) but its seed: float32 [S] in [0, 1]."""
    players = rules.num_players
    slices = {part.name: part for part in state_slices(rules)}
    out = np.zeros(next(reversed(slices.values())).stop, dtype=np.float32)

    def put(name: str, index: Any, value: Any = 1.0) -> None:
        out[slices[name].start : slices[name].stop][index] = value

    everything = slice(None)
    put("face-up", everything, np.array(position["face_up"]).ravel() / 16)
    put("stress", everything, np.array(position["stress"]) / COPIES[STRESS])
    for seat, pile in enumerate(position["victory"]):
        put(
            "victory",
            slice(NUM_FACE_UP * seat, NUM_FACE_UP * (seat + 1)),
            np.bincount(pile, minlength=NUM_FACE_UP) / 16,
        )
        for place, kind in enumerate(pile[: -TOP_CARDS - 1 : -1]):
            put("top cards", NUM_FACE_UP * (TOP_CARDS * seat + place) + kind)
    put("points", everything, np.array(position["scores"]) / MAX_POINTS)
    put("pool", everything, np.array(position["pool"]) / 16)
    put("claimed", everything, np.array(position["claimed"]) / 5)
    put("discards", everything, np.array(position["discard_pile"]) / COPIES[STRESS])
    put("deck", [NUM_TYPES * place + kind for place, kind in enumerate(position["deck"])])
    put("phase", Phase[position["phase"].upper()])
    for name, key in (("player", "player"), ("turn", "turn_player"), ("examinee", "examinee")):
        if position[key] is not None:
            put(name, position[key])
    put("semester", position["semester"] - 1)
    put("closing", 0, position["closing"])
    put("exam types", position["exam_types"])
    put("stress drawn", 0, position["stress_drawn"] / 2)
    put("to discard", 0, position["to_discard"] / 2)
    put("named", [(position["turn_player"] + distance) % players for distance in position["named"]])
    put("clock", 0, min(1.0, position["decisions"] / rules.max_decisions))
    return out
