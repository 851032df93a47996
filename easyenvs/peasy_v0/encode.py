"""What an observation of Easy Peasy holds, as named features of a view; and the state vector for a central critic.

C cards in play  P seats, relative to the viewer (seat 0 is itself, seat 1 the next clockwise)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from easyenvs.core.arrays import F32
from easyenvs.core.encoders import Count, Features, Part, Slice, Word, side_by_side
from easyenvs.peasy_v0.cards import COLOURS_IN_PLAY, DISCARD_PILES, ROW_PILES, Direction, Phase, cards_in_play
from easyenvs.peasy_v0.options import CLOCK_TICKS, Rules
from easyenvs.peasy_v0.view import PackedView, Situation, View

MAX_ROUNDS_LEFT: Final = 8
POINTS_PER_ROUND: Final = 40
"""Totals are scaled by this many points a round, which four fifths of the seats stay below under random play."""


def features(rules: Rules) -> Features:
    """The features of an observation under these rules."""
    players, cards = rules.num_players, cards_in_play(rules.num_players)
    seats = range(players)

    def card_set(family: str, name: str, meaning: str) -> Word:
        return Word(family, (Part(name, cards, meaning),))

    words = [card_set("tops", f"top {pile}", f"top card of discard pile {pile}") for pile in range(DISCARD_PILES)]
    for seat in seats:
        for pile in range(ROW_PILES):
            meaning = (
                f"cards that everyone knows to lie in Row pile {pile} of seat {seat}: face-up, or turned down before"
            )
            words.append(card_set("row", f"row {seat}.{pile}", meaning))
    words.append(card_set("face-up", "face-up", "the face-up cards of all Rows"))
    words.append(card_set("hand", "hand", "own hand, by card id"))
    words.append(card_set("buried", "buried", "cards out of play: the discards under both tops"))
    words.append(
        card_set(
            "unseen", "unseen fresh", "unseen cards that were in the draw pile when it was last formed (at first: all)"
        )
    )
    words.append(card_set("unseen", "unseen old", "unseen cards that were in hands or face-down at the last reshuffle"))
    status = [
        Part("phase", len(Phase) - 1, "direction, turn, play, bonus; none once the game is over"),
        Part("actor", players, "the seat to act"),
        Part("direction", 2, "up, down; none before it is chosen"),
        Part("bonus pile", DISCARD_PILES, "the discard pile that a bonus is bound to"),
        Part("flips", 2, "flips in this turn: at least 1, at least 2"),
        Part("reshuffled", 1, "this round has had a reshuffle"),
    ]
    status += [
        Part(f"hidden {s}.{p}", 1, f"a card that nobody knows lies face-down in Row pile {p} of seat {s}")
        for s in seats
        for p in range(ROW_PILES)
    ]
    words.insert(0, Word("status", tuple(status)))

    hand_levels = (*range(1, 9), 10, 12, 15, 20)
    counts = [
        Count("hand size", f"hand size {seat}", cards, hand_levels, f"cards in the hand of seat {seat}")
        for seat in seats
    ]
    counts += [
        Count("hand fresh", f"hand fresh {seat}", cards, hand_levels, f"fresh cards in the hand of seat {seat}")
        for seat in seats
    ]
    cap = points_cap(rules)
    levels = tuple(sorted({max(1, cap * k // 16) for k in range(1, 17)}))
    counts += [Count("totals", f"total {seat}", cap, levels, f"points so far of seat {seat}") for seat in seats]
    counts += [
        Count("table", "draw pile", cards, (*range(1, 7), 8, 10, 12, 15, 18, 22), "cards in the draw pile"),
        Count(
            "table",
            "rounds left",
            MAX_ROUNDS_LEFT,
            (1, 2, 3, 4),
            "rounds after this one; 0 in a game to a target score",
        ),
        Count(
            "table",
            "clock",
            CLOCK_TICKS,
            (16, 32, 48, 56),
            f"decisions made, in units of {rules.clock_tick}; at most {CLOCK_TICKS} of them, then the game is truncated",
        ),
    ]
    packed = PackedView(rules, StatusWords(players), LISTS[players].hidden_at)
    return Features(tuple(words), tuple(counts), read_words, read_counts, packed.read)


def points_cap(rules: Rules) -> int:
    """The total that reads as 1: larger ones saturate."""
    return (
        int(rules.target_score)
        if rules.target_score is not None
        else POINTS_PER_ROUND * min(int(rules.num_rounds or 1), 10)
    )


class StatusTables:
    """The word `status` by look-ups, one a field, each entry already in its place: lists for one game, arrays for many.
    A last entry 0 serves the field's −1."""

    def __init__(self, players: int, kind: Callable[[list[int]], Any]) -> None:
        self._offset = 0
        self._kind = kind
        self.phase = self._field([1 << phase if phase != Phase.OVER else 0 for phase in Phase], len(Phase) - 1)
        self.actor = self._field([*(1 << seat for seat in range(players)), 0], players)
        self.direction = self._field([0, 0b01, 0b10], 2)
        self.bonus_pile = self._field([*(1 << pile for pile in range(DISCARD_PILES)), 0], DISCARD_PILES)
        self.flips = self._field([0b00, 0b01, 0b11], 2)
        self.reshuffled = self._field([0, 1], 1)
        self.hidden_at = self._offset
        self.hidden = [self._field(list(range(1 << ROW_PILES)), ROW_PILES) for _ in range(players)]

    def _field(self, entries: list[int], width: int) -> Any:
        table = self._kind([entry << self._offset for entry in entries])
        self._offset += width
        return table


LISTS: Final = {players: StatusTables(players, list) for players in COLOURS_IN_PLAY}
ARRAYS: Final = {
    players: StatusTables(players, lambda entries: np.array(entries, np.uint64)) for players in COLOURS_IN_PLAY
}


def read_words(view: View) -> list[Any]:
    """The sets of a view, one game's or many's, in the order of `features`."""
    phase = view.phase
    table = (ARRAYS if isinstance(phase, np.ndarray) else LISTS)[len(view.row)]
    status = (
        table.phase[phase]
        | table.actor[view.actor]
        | table.direction[view.direction]
        | table.bonus_pile[view.bonus_pile]
        | table.flips[view.flips]
        | table.reshuffled[view.reshuffled]
    )
    for entries, piles in zip(table.hidden, view.hidden, strict=True):
        status |= entries[piles]
    words = [status, *view.tops]
    for piles in view.row:
        words.extend(piles)
    words.extend((view.face_up, view.hand, view.buried, view.unseen_fresh, view.unseen_old))
    return words


def read_counts(view: View) -> Sequence[Any]:
    """The numbers of a view, one game's or many's, in the order of `features`."""
    rules = view.rules
    left = view.round * 0 if rules.num_rounds is None else rules.num_rounds - 1 - view.round
    clock = view.decisions // rules.clock_tick
    return [*view.hand_size, *view.hand_fresh, *view.totals, view.draw_size, left, clock]


class StatusWords(dict[Situation, int]):
    """The word `status` without its hidden flags, by situation; filled as they come up."""

    def __init__(self, players: int) -> None:
        super().__init__()
        self._players = players

    def __missing__(self, situation: Situation) -> int:
        phase, player, seat, direction, bonus_pile, flips, is_reshuffled = situation
        table = LISTS[self._players]
        status: int = (
            table.phase[phase]
            | table.actor[-1 if player is None else (player - seat) % self._players]
            | table.direction[direction]
            | table.bonus_pile[-1 if bonus_pile is None else bonus_pile]
            | table.flips[flips]
            | table.reshuffled[is_reshuffled]
        )
        self[situation] = status
        return status


# ------------------------------------------------------------------------------------------------- the whole state


def state_slices(rules: Rules) -> list[Slice]:
    """What `env.state()` holds; seats are absolute here."""
    players, cards = rules.num_players, cards_in_play(rules.num_players)
    parts = [("hands", players * cards, "[P, C] who holds which card")]
    parts += [
        ("rows up", players * ROW_PILES * cards, "[P, 2, C] face-up Row cards"),
        ("rows down", players * ROW_PILES * cards, "[P, 2, C] face-down Row cards"),
        ("rows known", players * ROW_PILES, "[P, 2] the face-down card is known to all"),
        ("tops", DISCARD_PILES * cards, "[2, C] top discards"),
        ("buried", cards, "discards under both tops"),
        ("draw order", cards, "draw pile: 1 for the next card, falling by 1/C a card; 0 elsewhere"),
        ("fresh", cards, "cards that were in the draw pile when it was last formed"),
        ("phase", len(Phase), "direction, turn, play, bonus, over"),
        ("player", players, "the seat to act"),
        ("direction", 2, "up, down"),
        ("bonus pile", DISCARD_PILES, "the pile that a bonus is bound to"),
        ("flips", 1, "flips in this turn, divided by 2"),
        ("rounds left", 1, f"rounds after this one, divided by {MAX_ROUNDS_LEFT}"),
        ("clock", 1, "decisions made, divided by those at which the game is truncated"),
        ("totals", players, f"[P] points so far, divided by {points_cap(rules)}"),
        ("last scores", players, f"[P] points of the last finished round, divided by {points_cap(rules)}"),
    ]
    return side_by_side(parts)


def encode_state(position: dict[str, Any], rules: Rules) -> F32:
    """Everything about a position (a snapshot's values) but its seed: float32 [S] in [0, 1]."""
    players, cards = rules.num_players, cards_in_play(rules.num_players)
    slices = {part.name: part for part in state_slices(rules)}
    out = np.zeros(next(reversed(slices.values())).stop, dtype=np.float32)

    def put(name: str, index: Any, value: Any = 1.0) -> None:
        out[slices[name].start : slices[name].stop][index] = value

    for seat in range(players):
        put("hands", [seat * cards + card for card in position["hands"][seat]])
        for pile in range(ROW_PILES):
            base, lies = seat * ROW_PILES + pile, position["rows"][seat][pile]
            for side in ("up", "down"):
                if lies[side] is not None:
                    put(f"rows {side}", base * cards + lies[side])
            put("rows known", base, lies["known"])
    for pile, card in enumerate(position["tops"]):
        put("tops", pile * cards + card)
    put("buried", position["buried"])
    order = position["draw_pile"]
    put("draw order", order, 1.0 - np.arange(len(order)) / cards)
    put("fresh", position["fresh"])
    put("phase", Phase[position["phase"].upper()])
    if position["player"] is not None:
        put("player", position["player"])
    if position["direction"] is not None:
        put("direction", Direction[position["direction"].upper()] - 1)
    if position["bonus_pile"] is not None:
        put("bonus pile", position["bonus_pile"])
    put("flips", 0, position["flips"] / 2)
    left = 0 if rules.num_rounds is None else rules.num_rounds - 1 - position["round"]
    put("rounds left", 0, min(left, MAX_ROUNDS_LEFT) / MAX_ROUNDS_LEFT)
    put("clock", 0, min(1.0, position["decisions"] / rules.max_decisions))
    cap = points_cap(rules)
    put("totals", slice(None), np.minimum(np.array(position["totals"]) / cap, 1.0))
    if position["round_scores"]:
        put("last scores", slice(None), np.minimum(np.array(position["round_scores"][-1]) / cap, 1.0))
    return out
