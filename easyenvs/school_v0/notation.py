"""Easy School as text and back: actions, positions, snapshots.

A snapshot is a plain dict that JSON can hold. Its keys, all of them listed in REQUIRED_KEYS and OPTIONAL_KEYS; cards are
numbers of a type (cards.TYPES), or counts by type:

    game, num_players   which game this is
    phase               "turn" | "draw" | "discard" | "sixth" | "stack" | "practice" | "relax" | "exam" | "keep" | "over"
    player              the seat to act; None once the game is over
    turn_player         the seat whose turn it is
    semester            1, 2, and 3 after the second special
    deck                types, the next card first
    face_up             [6 counts] by seat
    stress              by seat
    victory             types by seat, bottom to top
    pool, discard_pile  6 and 8 counts; drawn specials lie on the discard pile
    scores              points of the victory piles by seat
    claimed             6 counts: cards of an examination that are neither face-up nor in a victory pile yet
    decisions           decisions made in this game

and, each with a default in a snapshot made by hand in the phases "turn" and "over"; elsewhere the phase needs some:

    stress_drawn        stress cards drawn in this turn             (needed in "draw" and "discard")
    to_discard          cards that `player` still owes the pool     ("discard")
    named               distances of the opponents that got stress in this turn   ("discard", "relax")
    exam_types          the cheat types that the examination named  ("sixth", "stack", "practice")
    examinee            the seat whose examination it is            ("practice"; in "sixth" and "stack" it is `player`)
    closing             a semester ends                             ("sixth", "stack", "practice"; True in "exam", "keep")
    seed                the game seed (default: the seed of the row that is restored)
    truncated           phase "over" only: ended by R6 and not by the rules (default: False)
    rules               the other options; they have to be those of the batch (default: those)
    version             the version of easyenvs that wrote it; of no effect
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from easyenvs.core.errors import SnapshotError
from easyenvs.core.options import as_integer
from easyenvs.core.snapshots import MAX_COUNTER, Reader
from easyenvs.school_v0.cards import (
    CARDS_UNDER_LAST_SPECIAL,
    COPIES,
    EXAMS,
    JOKER,
    KEPT_CARDS,
    NUM_ACTIONS,
    NUM_CHEATS,
    NUM_FACE_UP,
    NUM_TYPES,
    SPECIAL,
    STRESS,
    TYPES,
    Action,
    Phase,
    exam_name,
    type_points,
)
from easyenvs.school_v0.options import Rules
from easyenvs.school_v0.view import View

ACTION_NAMES: Final = (
    "draw",
    "stop",
    *TYPES[:NUM_FACE_UP],
    *(f"stress +{distance}" for distance in range(1, Action.EXAM - Action.STRESS + 1)),
    *(exam_name(exam) for exam in range(len(EXAMS))),
)

ACTION_GROUPS: Final = (
    ("0", "`draw`", "turn up the deck's top card", "turn, draw"),
    ("1", "`stop`", "draw no more; play no more stress; take no exam; lay no card", "draw, relax, exam, practice"),
    (
        "2 + type",
        "`nerd` … `joker`",
        "that card: pick it, discard it, claim it, lay it",
        "turn, discard, sixth, stack, practice, keep",
    ),
    ("8 + (d − 1)", "`stress +1` … `stress +5`", "a stress card against the d-th seat clockwise", "turn, relax"),
    (
        f"{int(Action.EXAM)} + index",
        f"`{exam_name(0)}` … `{exam_name(len(EXAMS) - 1)}`",
        "an examination with these cards",
        "turn, exam",
    ),
)
"""(ids, names, meaning, phases), for the docs' table."""

_IDS: Final = {name: action for action, name in enumerate(ACTION_NAMES)}


def action_name(action: int) -> str:
    """`draw`, `nerd`, `stress +2`, `exam nerd gift joker` …"""
    number = as_integer(action)
    if number is None or not 0 <= number < NUM_ACTIONS:
        raise ValueError(f"{action!r} is no action of school_v0: ids are 0 … {NUM_ACTIONS - 1}")
    return ACTION_NAMES[number]


def parse_action(text: str) -> int:
    """The id of an action's name; upper or lower case, spaces as you like, an examination's types in any order."""
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is no action's name: a text such as 'draw' or 'exam nerd gift joker' is")
    words = text.lower().replace("+", " +").split()
    if words[:1] == ["exam"] and all(word in TYPES[:NUM_FACE_UP] for word in words[1:]):
        words[1:] = sorted(words[1:], key=TYPES.index)
    name = " ".join(words)
    if name not in _IDS:
        raise ValueError(
            f"{text!r} is no action of school_v0: 'draw', 'stop', {', '.join(map(repr, TYPES[:NUM_FACE_UP]))}, 'stress +1' …, "
            "or an examination such as 'exam nerd gift joker' is"
        )
    return _IDS[name]


def counts_text(counts: Any) -> str:
    """`2 nerd, 1 joker`, or `-` for no card."""
    return ", ".join(f"{count} {TYPES[kind]}" for kind, count in enumerate(counts) if count) or "-"


# ------------------------------------------------------------------------------------------------- what a seat sees


def view_text(view: View) -> str:
    """What one seat knows, as a table to play from. `view` is of one game (plain numbers)."""
    phase = Phase(view.phase)
    names = ["you"] + [f"+{distance}" for distance in range(1, view.rules.num_players)]
    whose = "your" if view.turn_player == 0 else f"{names[view.turn_player]}'s"
    lines = [
        f"semester {min(view.semester, 2)}{' ends' if view.closing else ''} | {whose} turn | deck {view.deck_size}"
        f" (next is stress: {view.stress_odds:.0%}, semester end: {view.special_odds:.0%})",
        f"deck     {counts_text(view.deck)}",
        f"pool     {counts_text(view.pool)}",
        f"discards {counts_text(view.discard_pile)}",
    ]
    if any(view.claimed):
        lines.append(f"claimed  {counts_text(view.claimed)} (examination of {names[view.examinee]})")
    for distance, name in enumerate(names):
        marker = ">" if distance == view.actor else " "
        top = " ".join(TYPES[kind] for kind in view.top_cards[distance] if kind < NUM_TYPES)
        got_stress = " | got stress in this turn" if view.named[distance] else ""
        lines.append(
            f"{marker} {name:<3} {view.scores[distance]:>3} points | {counts_text(view.face_up[distance])}"
            f" | {view.stress[distance]} stress | victory pile {counts_text(view.victory[distance])}"
            f"{f' (from the top: {top})' if top else ''}{got_stress}"
        )
    if phase == Phase.OVER:
        lines.append("the game is over")
    elif view.actor:
        lines.append(f"{names[view.actor]} is to act ({phase.name.lower()})")
    else:
        lines.append(
            {
                Phase.TURN: "your turn: draw, pick from the pool, take an examination, or play stress",
                Phase.DRAW: f"draw again, or stop ({view.stress_drawn} stress drawn in this turn)",
                Phase.DISCARD: f"stress: discard {view.to_discard} to the pool",
                Phase.SIXTH: "five cards: claim a sixth",
                Phase.STACK: "lay the next card on your victory pile",
                Phase.PRACTICE: f"practice after {names[view.examinee]}'s examination: lay a card, or stop",
                Phase.RELAX: "play another stress card, or stop",
                Phase.EXAM: "the semester ends: take an examination, or stop",
                Phase.KEEP: f"the semester ends: discard until {KEPT_CARDS} are left",
            }[phase]
        )
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------- snapshots


def rotate_seats(snapshot: dict[str, Any], by: int) -> dict[str, Any]:
    """The same game with everybody `by` seats further clockwise: what every seat sees stays the same."""
    players = snapshot["num_players"]
    order = [(seat - by) % players for seat in range(players)]
    rotated = dict(snapshot)
    for key in ("face_up", "stress", "victory", "scores"):
        rotated[key] = [snapshot[key][seat] for seat in order]
    for key in ("player", "turn_player", "examinee"):
        rotated[key] = None if snapshot[key] is None else (snapshot[key] + by) % players
    return rotated


REQUIRED_KEYS: Final = (
    "phase",
    "player",
    "turn_player",
    "semester",
    "deck",
    "face_up",
    "stress",
    "victory",
    "pool",
    "discard_pile",
    "scores",
    "claimed",
    "decisions",
)
OPTIONAL_KEYS: Final = (
    "seed", "stress_drawn", "to_discard", "named", "examinee", "exam_types", "closing", "truncated",
)  # fmt: skip

NEEDED: Final = {
    "draw": ("stress_drawn",),
    "discard": ("stress_drawn", "to_discard", "named"),
    "sixth": ("exam_types", "closing"),
    "stack": ("exam_types", "closing"),
    "practice": ("exam_types", "closing", "examinee"),
    "relax": ("named",),
}
"""The keys that a phase needs beyond REQUIRED_KEYS."""

ENDS_SEMESTER: Final = ("exam", "keep")
IN_EXAM: Final = ("sixth", "stack", "practice")


def _refuse(what: str) -> NoReturn:
    raise SnapshotError(f"school_v0 snapshot: {what}")


class _Reader(Reader):
    """Reads lists of numbers, too."""

    def numbers(self, where: str, value: object, length: int | None, low: int, high: int) -> list[int]:
        items = self.sequence(where, value, length)
        return [self.integer(f"{where}[{index}]", item, low, high) for index, item in enumerate(items)]

    def distinct(self, where: str, value: object, low: int, high: int) -> list[int]:
        numbers = self.numbers(where, value, None, low, high)
        if len(set(numbers)) < len(numbers):
            _refuse(f"{where} is {value!r}; each of its numbers may stand there once")
        return sorted(numbers)


def checked_position(snapshot: dict[str, Any], rules: Rules, seed: int) -> dict[str, Any]:
    """A snapshot's position with every optional key filled in, or a SnapshotError that says what is wrong with it.

    `seed` serves where the snapshot has none.
    """
    for key in REQUIRED_KEYS:
        if key not in snapshot:
            _refuse(f"the key {key!r} is missing")
    read = _Reader(_refuse)
    players = rules.num_players
    phases = tuple(phase.name.lower() for phase in Phase)
    phase = snapshot["phase"]
    if not isinstance(phase, str) or phase not in phases:
        _refuse(f"phase is {phase!r}; one of {', '.join(map(repr, phases))} is accepted")
    for key in NEEDED.get(phase, ()):
        if key not in snapshot:
            _refuse(f"the key {key!r} is missing: phase {phase!r} needs it")
    player = read.optional("player", snapshot["player"], 0, players - 1)
    if (player is None) != (phase == "over"):
        _refuse(f"player is {player!r} in phase {phase!r}: None once the game is over, a seat before (R7)")
    position: dict[str, Any] = {
        "phase": phase,
        "player": player,
        "turn_player": read.integer("turn_player", snapshot["turn_player"], 0, players - 1),
        "semester": read.integer("semester", snapshot["semester"], 1, 3),
        "deck": read.numbers("deck", snapshot["deck"], None, 0, NUM_TYPES - 1),
        "face_up": [
            read.numbers(f"face_up[{seat}]", counts, NUM_FACE_UP, 0, 16)
            for seat, counts in enumerate(read.sequence("face_up", snapshot["face_up"], players))
        ],
        "stress": read.numbers("stress", snapshot["stress"], players, 0, COPIES[STRESS]),
        "victory": [
            read.numbers(f"victory[{seat}]", pile, None, 0, JOKER)
            for seat, pile in enumerate(read.sequence("victory", snapshot["victory"], players))
        ],
        "pool": read.numbers("pool", snapshot["pool"], NUM_FACE_UP, 0, 16),
        "discard_pile": read.numbers("discard_pile", snapshot["discard_pile"], NUM_TYPES, 0, 22),
        "scores": read.numbers("scores", snapshot["scores"], players, 0, 21 * NUM_CHEATS),
        "claimed": read.numbers("claimed", snapshot["claimed"], NUM_FACE_UP, 0, 4),
        "decisions": read.integer("decisions", snapshot["decisions"], 0, MAX_COUNTER),
        "seed": read.integer("seed", snapshot.get("seed", seed), 0, 2**64 - 1),
        "stress_drawn": read.integer("stress_drawn", snapshot.get("stress_drawn", 0), 0, 2),
        "to_discard": read.integer("to_discard", snapshot.get("to_discard", 0), 0, 2),
        "named": read.distinct("named", snapshot.get("named", []), 1, players - 1),
        "examinee": read.optional("examinee", snapshot.get("examinee"), 0, players - 1),
        "exam_types": read.distinct("exam_types", snapshot.get("exam_types", []), 0, NUM_CHEATS - 1),
        "closing": read.flag("closing", snapshot.get("closing", phase in ENDS_SEMESTER)),
        "truncated": read.flag("truncated", snapshot.get("truncated", False)),
    }
    if phase in ("sixth", "stack") and position["examinee"] is None:
        position["examinee"] = player
    _check_cards(position)
    _check_deck(position)
    _check_piles(position)
    _check_ending(position, rules)
    if phase != "over":
        _check_phase(position, players)
    return position


def _check_cards(position: dict[str, Any]) -> None:
    """S1. Every card is somewhere, once."""
    for kind, copies in enumerate(COPIES):
        there = position["deck"].count(kind) + position["discard_pile"][kind]
        there += sum(pile.count(kind) for pile in position["victory"])
        if kind < NUM_FACE_UP:
            there += position["pool"][kind] + position["claimed"][kind] + sum(c[kind] for c in position["face_up"])
        if kind == STRESS:
            there += sum(position["stress"])
        if there != copies:
            _refuse(f"there are {there} cards of the type {TYPES[kind]} in all; the game has {copies} (S1)")


def _check_deck(position: dict[str, Any]) -> None:
    """S4. The specials that have been drawn make the semester; ten cards lie under the second."""
    deck, semester = position["deck"], position["semester"]
    drawn = position["discard_pile"][SPECIAL]
    if drawn != semester - 1:
        _refuse(f"semester is {semester}, but {drawn} of the two specials are on the discard pile (S15, S17)")
    under = deck[-CARDS_UNDER_LAST_SPECIAL:]
    if semester < 3 and (deck[: -len(under)][-1:] != [SPECIAL] or SPECIAL in under):
        _refuse(f"the deck is {deck!r}; exactly {CARDS_UNDER_LAST_SPECIAL} cards lie under the last special (S4)")
    if semester == 3:
        fewest = CARDS_UNDER_LAST_SPECIAL - _final_examinations(position)
        if not fewest <= len(deck) <= CARDS_UNDER_LAST_SPECIAL:
            _refuse(
                f"the deck has {len(deck)} cards after the second special; "
                f"{fewest} … {CARDS_UNDER_LAST_SPECIAL} are possible (S4, S17)"
            )


def _final_examinations(position: dict[str, Any]) -> int:
    """How many seats can have turned up a card in a final examination."""
    phase, players = position["phase"], len(position["stress"])
    seat = position["examinee"] if phase in IN_EXAM else position["player"]
    if phase == "over" or seat is None:
        return players
    return int((seat - position["turn_player"]) % players + (phase in ("stack", "practice")))


def _check_piles(position: dict[str, Any]) -> None:
    """S10, S18. Jokers lie at the bottom of a victory pile; its points are the seat's score."""
    for seat, pile in enumerate(position["victory"]):
        jokers = pile.count(JOKER)
        if JOKER in pile[jokers:]:
            _refuse(f"victory[{seat}] is {pile!r}; jokers ({JOKER}) lie at the very bottom (S10)")
        points = sum(type_points(pile.count(kind)) for kind in range(NUM_CHEATS))
        if points != position["scores"][seat]:
            _refuse(f"scores[{seat}] is {position['scores'][seat]}, but the victory pile is worth {points} (S18)")


def _check_ending(position: dict[str, Any], rules: Rules) -> None:
    late = position["decisions"] >= rules.max_decisions
    if position["phase"] != "over":
        if position["truncated"]:
            _refuse("truncated is True, but phase is not 'over' (R7)")
        if late:
            _refuse(
                f"decisions is {position['decisions']}; a running game has made fewer than {rules.max_decisions} (R6)"
            )
    elif position["truncated"]:
        if not late:
            _refuse(
                f"truncated is True after {position['decisions']} decisions; a game is after {rules.max_decisions} (R6)"
            )
    elif position["semester"] != 3:
        _refuse(f"phase is 'over' in semester {position['semester']}: a game ends after the second special (S17)")
    elif any(position["claimed"]):
        _refuse(f"claimed is {position['claimed']} in phase 'over', and the game is not truncated (S17)")


def _check_phase(position: dict[str, Any], players: int) -> None:
    """That what the phase asks can be asked, and of this seat."""
    phase, player, turn = position["phase"], position["player"], position["turn_player"]
    cards = position["face_up"][player]
    types = [kind for kind, count in enumerate(cards) if count]
    own_turn = ("turn", "draw", "relax")
    if phase in own_turn and player != turn:
        _refuse(f"player is {player} in phase {phase!r}, but it is the turn of seat {turn}")
    if position["closing"] != (phase in ENDS_SEMESTER) and phase not in IN_EXAM:
        _refuse(
            f"closing is {position['closing']} in phase {phase!r}: a semester ends in the phases 'exam' and 'keep' (S15)"
        )
    if position["semester"] == 3 and (not position["closing"] or phase == "keep"):
        _refuse(f"semester is 3 in phase {phase!r}: after the second special only final examinations follow (S17)")
    if position["semester"] == 1 and position["closing"]:
        _refuse("closing is True in semester 1: it is 2 as soon as the special is drawn (S15)")
    if any(position["claimed"]) and phase not in ("sixth", "stack"):
        _refuse(
            f"claimed is {position['claimed']} in phase {phase!r}: cards are claimed in 'sixth' and 'stack' alone (S10)"
        )
    if (position["examinee"] is not None or position["exam_types"]) and phase not in IN_EXAM:
        _refuse(f"examinee or exam_types say that there is an examination, but the phase is {phase!r}")
    if position["to_discard"] and phase != "discard":
        _refuse(f"to_discard is {position['to_discard']} in phase {phase!r}")
    if position["stress_drawn"] and phase not in ("draw", "discard"):
        _refuse(f"stress_drawn is {position['stress_drawn']} in phase {phase!r}")
    if position["stress_drawn"] > position["stress"][turn]:
        _refuse(
            f"seat {turn} has drawn {position['stress_drawn']} stress cards in this turn, "
            f"but holds {position['stress'][turn]} (S7)"
        )
    if position["named"] and phase not in ("discard", "relax"):
        _refuse(f"named is {position['named']} in phase {phase!r}: nobody has got stress in this turn yet (S12)")
    if len(position["named"]) > position["discard_pile"][STRESS]:
        _refuse(
            f"named is {position['named']}, but {position['discard_pile'][STRESS]} stress cards are on the discard pile (S12)"
        )
    if phase == "draw":
        if position["stress_drawn"] > 1:
            _refuse("stress_drawn is 2 in phase 'draw': a second stress card ends the turn (S7)")
    elif phase == "discard":
        _check_discard(position, players, types, sum(cards))
    elif phase == "relax":
        if not position["named"]:
            _refuse("named is [] in phase 'relax': it follows a stress card played in this turn (S12)")
        if not position["stress"][turn] or len(position["named"]) == players - 1:
            _refuse("phase is 'relax', but no stress card or no unnamed opponent is left (S12)")
    elif phase in IN_EXAM:
        _check_exam(position, types)
    elif phase == "exam":
        if (
            position["stress"][player]
            or len([t for t in types if t < NUM_CHEATS]) + cards[JOKER] < 3
            or types == [JOKER]
        ):
            _refuse(f"phase is 'exam', but seat {player} is under stress or can take no examination (S16)")
    elif phase == "keep":
        if sum(cards) <= KEPT_CARDS or len(types) < 2:
            _refuse(f"phase is 'keep', but seat {player} has nothing to choose: {counts_text(cards)} (S15)")
        if any(position["pool"]) or any(position["stress"]):
            _refuse("phase is 'keep', but the pool and the stress cards are discarded before (S15)")


def _check_discard(position: dict[str, Any], players: int, types: list[int], held: int) -> None:
    player, turn, owed = position["player"], position["turn_player"], position["to_discard"]
    if not owed or held <= owed or len(types) < 2:
        _refuse(f"phase is 'discard', but seat {player} has nothing to choose: it owes {owed} of {held} cards (S8)")
    distance = (player - turn) % players
    if position["named"]:
        if distance not in position["named"] or owed != 1 or position["stress_drawn"]:
            _refuse(
                f"phase is 'discard' after stress was played against {position['named']}: one of those owes 1 card (S12)"
            )
    elif player != turn or not position["stress_drawn"] or owed > position["stress_drawn"]:
        _refuse(
            f"phase is 'discard' for seat {player} in the turn of seat {turn}, with stress_drawn {position['stress_drawn']}, "
            f"to_discard {owed} and nobody named: a seat owes as many cards as it has drawn stress cards at most (S7)"
        )


def _check_exam(position: dict[str, Any], types: list[int]) -> None:
    phase, player, examinee = position["phase"], position["player"], position["examinee"]
    claimed = [kind for kind, count in enumerate(position["claimed"]) if count]
    if not position["exam_types"]:
        _refuse(f"exam_types is [] in phase {phase!r}: an examination names a cheat type (S9)")
    if phase == "practice":
        if examinee is None or examinee == player:
            _refuse(
                f"examinee is {examinee!r} in phase 'practice', and seat {player} is to practise: another seat is (S11)"
            )
        if position["stress"][player] or not set(types) & set(position["exam_types"]):
            _refuse(f"phase is 'practice', but seat {player} is under stress or holds none of the named types (S11)")
    else:
        if examinee != player:
            _refuse(f"examinee is {examinee} in phase {phase!r}, but seat {player} is to act")
        if phase == "sixth" and (sum(position["claimed"]) != 5 or len(types) < 2):
            _refuse(f"phase is 'sixth', but five cards are not claimed, or seat {player} has nothing to choose (S9)")
        if phase == "stack" and (JOKER in claimed or len(claimed) < 2):
            _refuse(
                f"phase is 'stack', but there is no order to choose: claimed are {counts_text(position['claimed'])} (S10)"
            )
        # Beyond one card of each named type: nothing before the sixth card, which is one more at most
        cheats = position["claimed"][:NUM_CHEATS]
        more = sum(max(0, count - (kind in position["exam_types"])) for kind, count in enumerate(cheats))
        if (phase == "sixth" and [k for k in claimed if k < NUM_CHEATS] != position["exam_types"]) or more > (
            phase == "stack"
        ):
            _refuse(f"exam_types is {position['exam_types']}, but claimed are {counts_text(position['claimed'])} (S9)")
    if position["stress"][examinee]:
        _refuse(f"seat {examinee} takes an examination under stress (S9)")
    if not position["closing"] and examinee != position["turn_player"]:
        _refuse(
            f"seat {examinee} takes an examination in the turn of seat {position['turn_player']}, and no semester ends (S9)"
        )
