"""Actions and positions as text and back; the checks of a snapshot.

A snapshot's keys:

    game, num_players   which game this is
    phase               "draw" | "keep" | "over"
    player              the seat to act; None once the game is over
    first               the seat that was the first of the round
    hands               card ids by seat, ascending
    discards            card ids, ascending
    draw_pile           card ids, the next one first
    round, totals       0-based round; points by seat
    decisions           decisions made in this game
    seed                the game seed (default: that of the row that is restored)
    truncated           phase "over" only: ended by R6 (default False)
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from easyenvs.core import bits
from easyenvs.core.errors import SnapshotError
from easyenvs.core.options import as_integer

from .game import NUM_CARDS, Action, Phase
from .options import Rules
from .view import View

ACTION_NAMES: Final = tuple(action.name.lower().replace("_", " ") for action in Action)
REQUIRED_KEYS: Final = ("phase", "player", "first", "hands", "discards", "draw_pile", "round", "totals", "decisions")
OPTIONAL_KEYS: Final = ("seed", "truncated")


def action_name(action: int) -> str:
    """`stop`, `keep low` …"""
    number = as_integer(action)
    if number is None or not 0 <= number < len(ACTION_NAMES):
        raise ValueError(f"{action!r} is no action of tiny_v0: ids are 0 … {len(ACTION_NAMES) - 1}")
    return ACTION_NAMES[number]


def parse_action(text: str) -> int:
    """The id of an action's name."""
    if text not in ACTION_NAMES:
        raise ValueError(f"{text!r} is no action of tiny_v0: {', '.join(ACTION_NAMES)} are")
    return ACTION_NAMES.index(text)


def cards_text(cards: int) -> str:
    """The values of a set of cards, `-` for none."""
    return " ".join(str(card + 1) for card in bits.members(cards)) or "-"


def view_text(view: View) -> str:
    """What one seat knows. `view` is of one game."""
    sizes = " ".join(str(size) for size in view.hand_size)
    totals = " ".join(str(total) for total in view.totals)
    who = "nobody" if view.actor < 0 else f"seat +{view.actor}"
    phase = Phase(view.phase).name.lower()
    cards, discards = cards_text(view.hand), cards_text(view.discards)
    return (
        f"round {view.round + 1} of {view.rules.num_rounds} | {phase}: {who}, first +{view.first}\n"
        f"you hold {cards} | hands {sizes} | discards {discards} | pile {view.draw_size}\n"
        f"points {totals}"
    )


def rotate_seats(snapshot: dict[str, Any], by: int) -> dict[str, Any]:
    """The same game with everybody `by` seats further clockwise."""
    players = snapshot["num_players"]
    rotated = dict(snapshot)
    for key in ("hands", "totals"):
        rotated[key] = [snapshot[key][(seat - by) % players] for seat in range(players)]
    for key in ("player", "first"):
        rotated[key] = None if snapshot[key] is None else (snapshot[key] + by) % players
    return rotated


def checked_position(snapshot: dict[str, Any], rules: Rules, seed: int) -> dict[str, Any]:
    """A snapshot's position, complete; or a SnapshotError. `seed` serves where the snapshot has none."""
    for key in REQUIRED_KEYS:
        if key not in snapshot:
            _refuse(f"the key {key!r} is missing")
    players, phase, player = rules.num_players, snapshot["phase"], snapshot["player"]
    if phase not in [known.name.lower() for known in Phase]:
        _refuse(f"phase is {phase!r}; draw, keep and over are accepted")
    if (player is None) != (phase == "over"):
        _refuse(f"player is {player!r} in phase {phase!r}")
    hands = [_cards(f"hands[{seat}]", hand) for seat, hand in enumerate(_list("hands", snapshot["hands"], players))]
    position: dict[str, Any] = {
        "phase": phase,
        "player": None if player is None else _number("player", player, players - 1),
        "first": _number("first", snapshot["first"], players - 1),
        "hands": [sorted(hand) for hand in hands],
        "discards": sorted(_cards("discards", snapshot["discards"])),
        "draw_pile": _cards("draw_pile", snapshot["draw_pile"]),
        "round": _number("round", snapshot["round"], rules.num_rounds - 1),
        "totals": [
            _number(f"totals[{seat}]", total, NUM_CARDS * rules.num_rounds)
            for seat, total in enumerate(_list("totals", snapshot["totals"], players))
        ],
        "decisions": _number("decisions", snapshot["decisions"], rules.max_decisions),
        "seed": _number("seed", snapshot.get("seed", seed), 2**64 - 1),
        "truncated": snapshot.get("truncated", False),
    }
    everywhere = [*position["discards"], *position["draw_pile"], *(card for hand in hands for card in hand)]
    if sorted(everywhere) != list(range(NUM_CARDS)):
        _refuse(f"the cards 0 … {NUM_CARDS - 1} have to be there once each; there are {sorted(everywhere)}")
    if not isinstance(position["truncated"], bool):
        _refuse(f"truncated is {position['truncated']!r}; True or False is accepted")
    if phase != "over":
        if position["truncated"] or position["decisions"] >= rules.max_decisions:
            _refuse("a running game is not truncated, and has made fewer decisions than R6 allows")
        for seat, hand in enumerate(hands):
            if len(hand) != 1 + (phase == "keep" and seat == player):
                _refuse(f"hands[{seat}] has {len(hand)} cards in phase {phase!r}")
    return position


def _refuse(what: str) -> NoReturn:
    raise SnapshotError(f"tiny_v0 snapshot: {what}")


def _number(name: str, value: object, top: int) -> int:
    number = as_integer(value)
    if number is None or not 0 <= number <= top:
        _refuse(f"{name} is {value!r}; an integer 0 … {top} is accepted")
    return number


def _list(name: str, value: object, length: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != length:
        _refuse(f"{name} is {value!r}; a list of {length} is accepted")
    return list(value)


def _cards(name: str, value: object) -> list[int]:
    if not isinstance(value, list):
        _refuse(f"{name} is {value!r}; a list of card ids is accepted")
    return [_number(name, card, NUM_CARDS - 1) for card in value]
