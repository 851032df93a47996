"""Easy Peasy as text and back: actions, positions, snapshots.

A snapshot is a plain dict that JSON can hold. Its keys, all of them listed in SNAPSHOT_KEYS:

    game, num_players   which game this is
    phase               "direction" | "turn" | "play" | "bonus" | "over"
    player              the seat to act; None once the game is over
    direction           "up" | "down"; None before it is chosen
    draw_pile           card ids, the next one first
    tops, buried        the top card of each discard pile; the ids under both, ascending
    hands               ids by seat, ascending
    rows                by seat two piles {"up": id | None, "down": id | None, "known": bool}
    bonus_pile          0 | 1 in phase "bonus", else None
    flips               flips of the Up&Down card in this turn
    round, totals       0-based round; points by seat
    round_scores        points by seat of every finished round
    decisions           decisions made in this game

and, each with a default in a snapshot made by hand:

    seed                the game seed: later chance depends on it (default: the seed of the row that is restored)
    fresh               the ids that were in the draw pile when it was last formed (default: all cards in play; P13)
    reshuffles          reshuffles in this round (default 0)
    truncated           phase "over" only: ended by R6 and not by the rules (default: told from round_scores)
    rules               the other options; they have to be those of the batch (default: those)
    version             the version of easyenvs that wrote it; of no effect
"""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

from easyenvs.core import bits
from easyenvs.core.errors import SnapshotError
from easyenvs.core.options import as_integer
from easyenvs.core.snapshots import MAX_COUNTER, Reader
from easyenvs.peasy_v0.cards import (
    AT_LEAST,
    AT_MOST,
    COLOUR_LETTERS,
    DISCARD_PILES,
    FIRST_PLAY,
    NUM_ACTIONS,
    NUM_CARDS,
    NUM_VALUES,
    ROW_PILES,
    Action,
    Direction,
    Phase,
    card_name,
    cards_in_play,
    play_action,
    value_of,
)
from easyenvs.peasy_v0.options import Rules
from easyenvs.peasy_v0.view import View

ACTION_NAMES: Final = tuple(
    [action.name.lower().replace("_", " ") for action in Action]
    + [f"{card_name(card)}>{pile}" for pile in range(DISCARD_PILES) for card in range(NUM_CARDS)]
)

ACTION_GROUPS: Final = (
    ("0", "`up`", "the Up&Down card shows UP", "direction"),
    ("1", "`down`", "the Up&Down card shows DOWN", "direction"),
    ("2", "`pass`", "no bonus action", "bonus"),
    ("3", "`flip`", "reverse the direction, draw two cards", "turn, play"),
    ("4, 5", "`turn 0`, `turn 1`", "flip a pile of the own Row", "bonus"),
    (
        f"{FIRST_PLAY} + {NUM_CARDS}·pile + card",
        "`R1>0` … `O10>1`",
        "play a card on a discard pile",
        "turn, play, bonus",
    ),
)
"""(ids, names, meaning, phases), for the docs' table."""

PLAYTHROUGH_OPTIONS: Final = {"num_rounds": 1}
"""The options of the golden playthrough."""

_CARD: Final = re.compile(rf"([{COLOUR_LETTERS}])([1-9]|10)", re.IGNORECASE)
_PLAY: Final = re.compile(rf"{_CARD.pattern}\s*>\s*([01])", re.IGNORECASE)
_PLAIN: Final = {name: action for action, name in enumerate(ACTION_NAMES[:FIRST_PLAY])}


def action_name(action: int) -> str:
    """`R8>1`, `flip`, `turn 0` …"""
    number = as_integer(action)
    if number is None or not 0 <= number < NUM_ACTIONS:
        raise ValueError(f"{action!r} is no action of peasy_v0: ids are 0 … {NUM_ACTIONS - 1}")
    return ACTION_NAMES[number]


def parse_action(text: str) -> int:
    """The id of an action's name; upper or lower case, spaces as you like."""
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is no action's name: a text such as 'R8>1' or 'flip' is")
    words = " ".join(text.split())
    if words.lower() in _PLAIN:
        return _PLAIN[words.lower()]
    match = _PLAY.fullmatch(words)
    if match is None:
        plain = ", ".join(repr(name) for name in _PLAIN)
        raise ValueError(f"{text!r} is no action of peasy_v0: {plain}, or a card on a pile such as 'R8>1' is")
    colour, value, pile = match.groups()
    card = COLOUR_LETTERS.index(colour.upper()) * NUM_VALUES + int(value) - 1
    return play_action(card, int(pile))


def cards_text(cards: int) -> str:
    """`R2 R9 G10`, or `-` for the empty set."""
    return " ".join(card_name(card) for card in bits.members(cards)) or "-"


# ------------------------------------------------------------------------------------------------- what a seat sees


def _pile_text(up: int, known_down: int, hidden: int) -> str:
    down = f"({cards_text(known_down)})" if known_down else "(??)" if hidden else ""
    return (cards_text(up) if up else "") + down or "-"


def view_text(view: View) -> str:
    """What one seat knows, as a table to play from. `view` is of one game (plain ints).

    A Row pile reads `R8(??)`: R8 face up on a card that nobody knows; `(P2)`: a lone face-down card, known to all.
    """
    rules = view.rules
    phase, direction = Phase(view.phase), Direction(view.direction)
    names = ["you"] + [f"+{distance}" for distance in range(1, rules.num_players)]
    last = f" of {rules.num_rounds}" if rules.num_rounds is not None else f", to {rules.target_score} points"
    lines = [
        f"round {view.round + 1}{last} | {'no direction yet' if not direction else direction.name}"
        f" | draw pile {view.draw_size}",
        f"discards  0: {cards_text(view.tops[0])}  1: {cards_text(view.tops[1])}  under them: {cards_text(view.buried)}",
    ]
    for distance, name in enumerate(names):
        row = "  ".join(
            f"{pile}: {_pile_text(view.up[distance][pile], view.known_down[distance][pile], view.hidden[distance] >> pile & 1)}"
            for pile in range(ROW_PILES)
        )
        hand = cards_text(view.hand) if distance == 0 else f"{view.hand_size[distance]} cards"
        fresh = f" ({view.hand_fresh[distance]} fresh)" if view.reshuffled else ""
        marker = ">" if distance == view.actor else " "
        lines.append(f"{marker} {name:<3} {view.totals[distance]:>3} points | row {row} | hand {hand}{fresh}")
    lines.append(
        f"unseen: {cards_text(view.unseen_fresh)}"
        + (f" | old: {cards_text(view.unseen_old)}" if view.reshuffled else "")
    )
    if phase == Phase.OVER:
        lines.append("the game is over")
    elif view.actor:
        lines.append(f"{names[view.actor]} is to act ({phase.name.lower()})")
    else:
        what = {
            Phase.DIRECTION: "you choose the direction",
            Phase.TURN: "your turn",
            Phase.PLAY: "you flipped: play a card",
            Phase.BONUS: f"bonus: another card on pile {view.bonus_pile}, turn a Row pile, or pass",
        }[phase]
        lines.append(what)
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------- snapshots


def rotate_seats(snapshot: dict[str, Any], by: int) -> dict[str, Any]:
    """The same game with everybody `by` seats further clockwise: what every seat sees stays the same."""
    players = snapshot["num_players"]
    order = [(seat - by) % players for seat in range(players)]
    rotated = {**snapshot, **{key: [snapshot[key][seat] for seat in order] for key in ("hands", "rows", "totals")}}
    rotated["round_scores"] = [[scores[seat] for seat in order] for scores in snapshot["round_scores"]]
    rotated["player"] = None if snapshot["player"] is None else (snapshot["player"] + by) % players
    return rotated


REQUIRED_KEYS: Final = (
    "phase",
    "player",
    "direction",
    "draw_pile",
    "tops",
    "buried",
    "hands",
    "rows",
    "bonus_pile",
    "flips",
    "round",
    "totals",
    "round_scores",
    "decisions",
)
OPTIONAL_KEYS: Final = ("seed", "fresh", "reshuffles", "truncated")


def _refuse(what: str) -> NoReturn:
    raise SnapshotError(f"peasy_v0 snapshot: {what}")


class _Reader(Reader):
    """Reads cards and words, too."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(_refuse)
        self.players = rules.num_players
        self.cards = cards_in_play(rules.num_players)

    def card(self, where: str, value: object) -> int:
        number = as_integer(value)
        if number is None or not 0 <= number < self.cards:
            _refuse(
                f"{where} holds {value!r}; card ids 0 … {self.cards - 1} are in play with {self.players} players (P2)"
            )
        return number

    def cards_of(self, where: str, value: object, *, ascending: bool = True) -> list[int]:
        cards = [self.card(where, card) for card in self.sequence(where, value)]
        if len(set(cards)) < len(cards):
            _refuse(f"{where} holds a card twice: {value!r}")
        return sorted(cards) if ascending else cards

    def choice(self, where: str, value: object, choices: tuple[object, ...]) -> Any:
        if not isinstance(value, (str, type(None))) or value not in choices:
            _refuse(f"{where} is {value!r}; one of {', '.join(map(repr, choices))} is accepted")
        return value


def checked_position(snapshot: dict[str, Any], rules: Rules, seed: int) -> dict[str, Any]:
    """A snapshot's position with every optional key filled in, or a SnapshotError that says what is wrong with it.

    `seed` serves where the snapshot has none.
    """
    for key in REQUIRED_KEYS:
        if key not in snapshot:
            _refuse(f"the key {key!r} is missing")
    read = _Reader(rules)
    players = read.players
    seats = range(players)
    position: dict[str, Any] = {
        "phase": read.choice("phase", snapshot["phase"], tuple(phase.name.lower() for phase in Phase)),
        "player": read.optional("player", snapshot["player"], 0, players - 1),
        "direction": read.choice("direction", snapshot["direction"], ("up", "down", None)),
        "draw_pile": read.cards_of("draw_pile", snapshot["draw_pile"], ascending=False),
        "tops": [read.card("tops", top) for top in read.sequence("tops", snapshot["tops"], DISCARD_PILES)],
        "buried": read.cards_of("buried", snapshot["buried"]),
        "hands": [
            read.cards_of(f"hands[{seat}]", hand)
            for seat, hand in enumerate(read.sequence("hands", snapshot["hands"], players))
        ],
        "rows": [
            [
                _row_pile(read, f"rows[{seat}][{pile}]", value)
                for pile, value in enumerate(read.sequence(f"rows[{seat}]", row, ROW_PILES))
            ]
            for seat, row in enumerate(read.sequence("rows", snapshot["rows"], players))
        ],
        "bonus_pile": read.optional("bonus_pile", snapshot["bonus_pile"], 0, DISCARD_PILES - 1),
        "flips": read.integer("flips", snapshot["flips"], 0, 2),
        "round": read.integer("round", snapshot["round"], 0, MAX_COUNTER),
        "totals": [
            read.integer(f"totals[{seat}]", total, 0, MAX_COUNTER)
            for seat, total in enumerate(read.sequence("totals", snapshot["totals"], players))
        ],
        "round_scores": [
            [
                read.integer(f"round_scores[{index}][{seat}]", score, 0, 2 * 330)
                for seat, score in enumerate(read.sequence(f"round_scores[{index}]", scores, players))
            ]
            for index, scores in enumerate(read.sequence("round_scores", snapshot["round_scores"]))
        ],
        "decisions": read.integer("decisions", snapshot["decisions"], 0, MAX_COUNTER),
        "seed": read.integer("seed", snapshot.get("seed", seed), 0, 2**64 - 1),
        "fresh": read.cards_of("fresh", snapshot.get("fresh", list(range(read.cards)))),
        "reshuffles": read.integer("reshuffles", snapshot.get("reshuffles", 0), 0, MAX_COUNTER),
    }
    _check_every_card_is_somewhere(position, read.cards)
    _check_knowledge(position, read.cards)
    _check_scores(position, rules, seats)
    position["truncated"] = _check_ending(
        position, rules, read.flag("truncated", snapshot["truncated"]) if "truncated" in snapshot else None
    )
    _check_phase(position)
    return position


def _row_pile(read: _Reader, where: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != {"up", "down", "known"}:
        _refuse(f'{where} is {value!r}; {{"up": id or None, "down": id or None, "known": bool}} is accepted')
    up = None if value["up"] is None else read.card(f"{where} up", value["up"])
    down = None if value["down"] is None else read.card(f"{where} down", value["down"])
    known = read.flag(f"{where} known", value["known"])
    if known and down is None:
        _refuse(f"{where} is known, but no card is face-down there (P13)")
    return {"up": up, "down": down, "known": known}


def _check_every_card_is_somewhere(position: dict[str, Any], num_cards: int) -> None:
    places: dict[int, str] = {}

    def lay(card: int | None, place: str) -> None:
        if card is None:
            return
        if card in places:
            _refuse(f"the card {card} ({card_name(card)}) is twice: in {places[card]} and in {place}")
        places[card] = place

    for card in position["draw_pile"]:
        lay(card, "draw_pile")
    for pile, card in enumerate(position["tops"]):
        lay(card, f"tops[{pile}]")
    for card in position["buried"]:
        lay(card, "buried")
    for seat, hand in enumerate(position["hands"]):
        for card in hand:
            lay(card, f"hands[{seat}]")
    for seat, row in enumerate(position["rows"]):
        for pile in range(ROW_PILES):
            lay(row[pile]["up"], f"rows[{seat}][{pile}] up")
            lay(row[pile]["down"], f"rows[{seat}][{pile}] down")
    missing = [card for card in range(num_cards) if card not in places]
    if missing:
        _refuse(
            f"{len(places)} cards are there and {num_cards} are in play (P2); missing: "
            + ", ".join(f"{card} ({card_name(card)})" for card in missing)
        )


def _check_knowledge(position: dict[str, Any], num_cards: int) -> None:
    fresh = set(position["fresh"])
    stale = [card for card in position["draw_pile"] if card not in fresh]
    if stale:
        _refuse(f"the draw pile holds cards that are not fresh: {stale} (P13)")
    if not position["reshuffles"]:
        if len(fresh) != num_cards:
            _refuse("before the first reshuffle all cards are fresh (P13); the key 'reshuffles' is missing or 0")
        return
    for seat, row in enumerate(position["rows"]):
        for pile in range(ROW_PILES):
            for side in ("up", "down"):
                if row[pile][side] in fresh:
                    _refuse(
                        f"rows[{seat}][{pile}] {side} is fresh after a reshuffle, but no drawn card gets into a Row (P13)"
                    )


def _check_scores(position: dict[str, Any], rules: Rules, seats: range) -> None:
    sums = [sum(scores[seat] for scores in position["round_scores"]) for seat in seats]
    if position["totals"] != sums:
        _refuse(f"totals are {position['totals']}, but round_scores add up to {sums}")
    finished, played = len(position["round_scores"]), position["round"]
    accepted = (played, played + 1) if position["phase"] == "over" else (played,)
    if finished not in accepted:
        _refuse(
            f"round_scores has {finished} rounds, but in round {played} (0-based) and phase {position['phase']!r} "
            f"{' or '.join(map(str, accepted))} are finished"
        )
    if rules.num_rounds is not None and played >= rules.num_rounds:
        _refuse(f"round is {played}; with num_rounds={rules.num_rounds} rounds are 0 … {rules.num_rounds - 1}")
    if rules.target_score is not None:
        for index in range(played):
            before = max(sum(scores[seat] for scores in position["round_scores"][: index + 1]) for seat in seats)
            if before >= int(rules.target_score):
                _refuse(
                    f"the game was over after round {index}: a total of {before} reaches target_score={rules.target_score}"
                )


def _check_ending(position: dict[str, Any], rules: Rules, truncated: bool | None) -> bool:
    """Whether the position is one of a truncated game; refuses an ending that the rules don't give."""
    late = position["decisions"] >= rules.max_decisions
    if position["phase"] != "over":
        if truncated:
            _refuse("truncated is True, but phase is not 'over' (R7)")
        if late:
            _refuse(
                f"decisions is {position['decisions']}; a running game has made fewer than {rules.max_decisions} (R6)"
            )
        return False
    finished = len(position["round_scores"]) == position["round"] + 1
    by_rules = finished and (
        position["round"] + 1 == rules.num_rounds
        if rules.target_score is None
        else max(position["totals"]) >= int(rules.target_score)
    )
    if truncated is None:
        truncated = not by_rules
    if truncated == by_rules:
        _refuse(f"truncated is {truncated}, but by round_scores the game has {'' if by_rules else 'not '}ended (P16)")
    if truncated and not late:
        _refuse(
            f"phase is 'over' after {position['decisions']} decisions, but by round_scores the game has not ended (P16), "
            f"and it is truncated after {rules.max_decisions} (R6)"
        )
    return truncated


def _check_phase(position: dict[str, Any]) -> None:
    phase, player = position["phase"], position["player"]
    if (player is None) != (phase == "over"):
        _refuse(f"player is {player!r} in phase {phase!r}: None once the game is over, a seat before (R7)")
    if (position["bonus_pile"] is not None) != (phase == "bonus"):
        _refuse(f"bonus_pile is {position['bonus_pile']!r} in phase {phase!r}: 0 or 1 in phase 'bonus', else None")
    if phase == "over":
        return
    if (position["direction"] is None) != (phase == "direction"):
        _refuse(
            f"direction is {position['direction']!r} in phase {phase!r}: None in phase 'direction', else 'up' or 'down'"
        )
    flips = position["flips"]
    if phase in ("direction", "turn") and flips:
        _refuse(f"flips is {flips} in phase {phase!r}: nothing has been flipped in this turn yet")
    if phase == "play" and not flips:
        _refuse("flips is 0 in phase 'play': it follows a flip (P8)")
    if phase == "direction":
        return
    row = position["rows"][player]
    own = position["hands"][player] + [pile["up"] for pile in row if pile["up"] is not None]
    covers = AT_LEAST if position["direction"] == "up" else AT_MOST

    def playable(pile: int) -> bool:
        return any(covers[value_of(position["tops"][pile])] >> card & 1 for card in own)

    if phase == "bonus":
        if not playable(position["bonus_pile"]) and all(pile["down"] is None for pile in row):
            _refuse(
                f"phase is 'bonus', but seat {player} can neither play on pile {position['bonus_pile']} nor flip a Row pile (P10)"
            )
    elif not own and not (phase == "turn" and position["draw_pile"] + position["buried"]):
        _refuse(f"seat {player} is to play, but holds no card that it could ever play (P14)")
    elif flips == 2 and not (playable(0) or playable(1)):
        _refuse(f"seat {player} has flipped twice, after which some card can be played (P8)")
