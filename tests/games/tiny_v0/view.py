"""What one seat may know: its own hand, the discards, and how many cards lie where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easyenvs.core.views import known

from .options import Rules

if TYPE_CHECKING:
    from .game import Game


@dataclass(slots=True)
class View:
    """What a seat knows. Seats are relative to the viewer. M games (the last axis), P seats."""

    rules: Rules
    phase: Any = known("[M]", np.uint8, "what is to be decided, a `game.Phase`")
    actor: Any = known("[M]", np.int8, "the seat to act, relative; −1 once the game is over")
    first: Any = known("[M]", np.uint8, "the seat that was the first of the round, relative")
    round: Any = known("[M]", np.int32, "0-based")
    totals: Any = known("[P, M]", np.int32, "points so far")
    decisions: Any = known("[M]", np.int32, "decisions made in this game")
    hand: Any = known("[M]", np.uint64, "set: the viewer's own cards")
    hand_size: Any = known("[P, M]", np.uint8, "cards in each hand")
    discards: Any = known("[M]", np.uint64, "set: the discards, all face up")
    draw_size: Any = known("[M]", np.uint8, "cards in the draw pile")


def of_game(game: Game, seat: int) -> View:
    """The view of one seat of one game, in plain numbers."""
    players = game.num_players
    seats = [(seat + distance) % players for distance in range(players)]
    return View(
        rules=game.rules,
        phase=game.phase,
        actor=-1 if game.player is None else (game.player - seat) % players,
        first=(game.first - seat) % players,
        round=game.round,
        totals=[game.totals[other] for other in seats],
        decisions=game.decisions,
        hand=game.hands[seat],
        hand_size=[game.hands[other].bit_count() for other in seats],
        discards=game.discards,
        draw_size=len(game.pile),
    )
