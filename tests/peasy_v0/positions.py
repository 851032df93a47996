"""Positions of Easy Peasy made by hand, with every card named where it lies."""

from __future__ import annotations

from typing import Any

import easyenvs
from easyenvs.core.batch import Batch
from easyenvs.peasy_v0.cards import COLOUR_LETTERS, cards_in_play, play_action

ENGINES = ("python", "numpy")


def card(name: str) -> int:
    """`R8` -> its id."""
    return 10 * COLOUR_LETTERS.index(name[0]) + int(name[1:]) - 1


def cards(names: str) -> list[int]:
    """`R8 P4` -> ids."""
    return [card(name) for name in names.split()]


def play(name: str, pile: int) -> int:
    """The action of playing a card."""
    return play_action(card(name), pile)


def pile_of(text: str) -> dict[str, Any]:
    """A Row pile: `R8/P2` R8 on a never-seen P2, `R8/P2!` on a P2 that all know, `R8`, `/P2`, `/P2!`, or `` for none."""
    up, _, down = text.partition("/")
    known = down.endswith("!")
    down = down.rstrip("!")
    return {"up": card(up) if up else None, "down": card(down) if down else None, "known": known}


def position(
    hands: list[str],
    rows: list[tuple[str, str]],
    tops: str,
    *,
    phase: str = "turn",
    player: int | None = 0,
    direction: str | None = "up",
    draw: str | int = "",
    buried: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A snapshot. `draw` names the draw pile, next card first. The cards that are named nowhere are buried; where `draw`
    is a number, that many of them (the lowest ids) follow in the draw pile instead; where `buried` is given, all of them."""
    players = len(hands)
    row_piles = [[pile_of(pile) for pile in row] for row in rows]
    placed = [c for hand in hands for c in cards(hand)] + cards(tops)
    placed += [p[side] for row in row_piles for p in row for side in ("up", "down") if p[side] is not None]
    named_draw = cards(draw) if isinstance(draw, str) else []
    named_buried = cards(buried) if buried is not None else []
    rest = [c for c in range(cards_in_play(players)) if c not in {*placed, *named_draw, *named_buried}]
    number = draw if isinstance(draw, int) else (0 if buried is None else len(rest))
    return {
        "game": "peasy_v0",
        "num_players": players,
        "phase": phase,
        "player": player,
        "direction": direction,
        "draw_pile": named_draw + rest[:number],
        "tops": cards(tops),
        "buried": sorted(named_buried + rest[number:]),
        "hands": [sorted(cards(hand)) for hand in hands],
        "rows": row_piles,
        "bonus_pile": None,
        "flips": 0,
        "round": 0,
        "totals": [0] * players,
        "round_scores": [],
        "decisions": 0,
        **more,
    }


def table(engine: str, snapshot: dict[str, Any], **options: Any) -> Batch:
    """A batch of one game in that position."""
    games = easyenvs.peasy_v0.batch(1, num_players=snapshot["num_players"], seed=0, engine=engine, **options)
    games.restore(0, snapshot)
    return games


def legal_names(games: Batch) -> set[str]:
    """The names of game 0's legal actions."""
    names = games.game.notation.ACTION_NAMES
    return {names[a] for a in games.legal[0].nonzero()[0]}
