"""R1–R3: what a seat earns, from the final order or from the points of a round.

Each for many games in arrays, and for one game (`…_one`) in plain numbers, as arrays cost more than one game's sums;
equal to the last bit.

    P seats  K games
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from easyenvs.core.arrays import F64, I64

REWARDS: Final = ("placement", "win", "score")


def ranks(standing: I64) -> F64:
    """1-based ranks, ties averaged, from criteria in falling importance, each the lower the better: [D, P, K] -> [P, K]."""
    players = standing.shape[1]
    place = np.ones(standing.shape[1:], dtype=np.float64)
    for seat in range(players):
        for other in range(players):
            if other == seat:
                continue
            better = np.zeros(standing.shape[2], dtype=np.bool_)
            level = np.ones(standing.shape[2], dtype=np.bool_)
            for criterion in standing:
                better |= level & (criterion[other] < criterion[seat])
                level &= criterion[other] == criterion[seat]
            place[seat] += better + 0.5 * level
    return place


def placement_of(rank: Any, players: int) -> Any:
    """R1. 1 − 2(r − 1)/(P − 1) for rank r, a number or an array of them."""
    return 1.0 - 2.0 * (rank - 1.0) / (players - 1)


def placement(place: F64) -> F64:
    """R1 of every seat: [P, K] -> [P, K]."""
    result: F64 = placement_of(place, len(place))
    return result


def win(place: F64) -> F64:
    """R2. w winners get 1/w each, the others −1/(P − w) each; 0 where all are level: [P, K] -> [P, K]."""
    winner = place == place.min(axis=0)
    winners = winner.sum(axis=0)
    losers = len(place) - winners
    result: F64 = np.where(winner, 1.0 / winners, -1.0 / np.maximum(losers, 1)) * (losers > 0)
    return result


def score(gains: F64) -> F64:
    """R3. (own − mean of the others) / 10, for gains of which more is better: [P, K] -> [P, K]."""
    others = (gains.sum(axis=0) - gains) / (len(gains) - 1)
    result: F64 = (gains - others) / 10.0
    return result


def ranks_one(standing: Sequence[Any]) -> list[float]:
    """`ranks` of one game: by seat, its criteria as a tuple."""
    # 0.5, not 1: every seat is level with itself.
    return [0.5 + sum(1.0 if other < own else 0.5 for other in standing if other <= own) for own in standing]


def placement_one(place: Sequence[float]) -> list[float]:
    """`placement` of one game."""
    return [placement_of(rank, len(place)) for rank in place]


def win_one(place: Sequence[float]) -> list[float]:
    """`win` of one game."""
    best = min(place)
    winners = place.count(best)
    losers = len(place) - winners
    if not losers:
        return [0.0] * winners
    return [1.0 / winners if rank == best else -1.0 / losers for rank in place]


def score_one(gains: Sequence[float]) -> list[float]:
    """`score` of one game."""
    total, others = sum(gains), len(gains) - 1
    return [(gain - (total - gain) / others) / 10.0 for gain in gains]
