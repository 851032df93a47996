"""What an observation holds, as named features of a view; and the state vector for a central critic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from easyenvs.core.arrays import F32
from easyenvs.core.encoders import Count, Features, Part, Slice, Word, side_by_side

from .game import NUM_CARDS, Phase
from .options import Rules
from .view import View

MAX_ROUNDS_LEFT: Final = 4
CLOCK_TOP: Final = 64


def features(rules: Rules) -> Features:
    """The features of an observation under these rules."""
    seats = range(rules.num_players)
    words = (
        Word("hand", (Part("hand", NUM_CARDS, "own cards"),)),
        Word("discards", (Part("discards", NUM_CARDS, "the discards"),)),
        Word("phase", (Part("phase", len(Phase), "draw, keep, over"),)),
        Word("actor", (Part("actor", rules.num_players, "the seat to act; none once the game is over"),)),
        Word("first", (Part("first", rules.num_players, "the seat that was the first of the round"),)),
    )
    counts = [Count("hand size", f"hand size {seat}", 2, (1, 2), f"cards of seat {seat}") for seat in seats]
    counts += [
        Count("totals", f"total {seat}", points_cap(rules), (2, 4, 6, 8, 10), f"points of seat {seat}")
        for seat in seats
    ]
    counts += [
        Count("table", "draw pile", NUM_CARDS, (1, 2, 3, 4), "cards in the draw pile"),
        Count("table", "rounds left", MAX_ROUNDS_LEFT, (1, 2), "rounds after this one"),
        Count("table", "clock", CLOCK_TOP, (8, 16, 32), "decisions made"),
    ]
    return Features(words, tuple(counts), read_words, read_counts)


def points_cap(rules: Rules) -> int:
    """The most points that a seat can make."""
    return NUM_CARDS * rules.num_rounds


def read_words(view: View) -> Sequence[Any]:
    """The sets of a view, one game's or many's, in the order of `features`."""
    return [view.hand, view.discards, _only(view.phase), _only(view.actor), _only(view.first)]


def _only(member: Any) -> Any:
    """The set that holds just `member`; the empty set for −1."""
    if isinstance(member, np.ndarray):
        return np.where(member < 0, np.uint64(0), np.uint64(1) << np.maximum(member, 0).astype(np.uint64))
    return 0 if member < 0 else 1 << member


def read_counts(view: View) -> Sequence[Any]:
    """The numbers of a view, one game's or many's, in the order of `features`."""
    left = view.rules.num_rounds - 1 - view.round
    return [*view.hand_size, *view.totals, view.draw_size, left, view.decisions]


def state_slices(rules: Rules) -> list[Slice]:
    """What `env.state()` holds; seats are absolute here."""
    players = rules.num_players
    parts = [
        ("hands", players * NUM_CARDS, "[P, 6] who holds which card"),
        ("discards", NUM_CARDS, "the discards"),
        ("draw order", NUM_CARDS, "1 for the next card, falling by 1/6 a card; 0 elsewhere"),
        ("phase", len(Phase), "draw, keep, over"),
        ("player", players, "the seat to act"),
        ("first", players, "the seat that was the first of the round"),
        ("totals", players, "points so far, divided by the most that can be made"),
        ("rounds left", 1, f"rounds after this one, divided by {MAX_ROUNDS_LEFT}"),
    ]
    return side_by_side(parts)


def encode_state(position: dict[str, Any], rules: Rules) -> F32:
    """Everything about a position but its seed: float32 [S] in [0, 1]."""
    start = {part.name: part.start for part in state_slices(rules)}
    out = np.zeros(state_slices(rules)[-1].stop, dtype=np.float32)
    for seat, hand in enumerate(position["hands"]):
        out[[start["hands"] + seat * NUM_CARDS + card for card in hand]] = 1.0
        out[start["totals"] + seat] = position["totals"][seat] / points_cap(rules)
    out[[start["discards"] + card for card in position["discards"]]] = 1.0
    for place, card in enumerate(position["draw_pile"]):
        out[start["draw order"] + card] = 1.0 - place / NUM_CARDS
    out[start["phase"] + Phase[position["phase"].upper()]] = 1.0
    if position["player"] is not None:
        out[start["player"] + position["player"]] = 1.0
    out[start["first"] + position["first"]] = 1.0
    out[start["rounds left"]] = min(rules.num_rounds - 1 - position["round"], MAX_ROUNDS_LEFT) / MAX_ROUNDS_LEFT
    return out
