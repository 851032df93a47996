"""What the search agents know of Easy Peasy: rollouts end with the round, and what the totals promise then.

Where a trained agent ships for the number of players, it proposes the actions; elsewhere the heuristic does. The heuristic
plays the rollouts: it is several times as fast.

K games  P seats
"""

from __future__ import annotations

from typing import Final

import numpy as np

from easyenvs.core.arrays import F64, Index
from easyenvs.core.policies import Decisions

from .._rollouts import Guide
from .._trained import TrainedPolicy
from ._afterstates import AfterstatePolicy
from .heuristic import worths

SPREAD: Final = {2: 14.0, 3: 10.9, 4: 9.9, 5: 9.1, 6: 8.7}
"""By players: the standard deviation of the difference that one round makes between two seats' totals, in points, in 1,000
rounds of the heuristic against itself."""

ROUND_POINTS: Final = 10.0
"""A seat's points in a round, about (8.0 with two players, 10.7 with six): how many rounds a game to a target score still has."""

NORMAL: Final = 0.8
"""tanh(0.8 z) is 2 Φ(z) − 1, nearly: the normal distribution function."""


def judge(now: Decisions, root: Decisions, of: Index) -> F64:
    """What the totals promise every seat, once the round is over in which the search began -> [P, K]."""
    view, rules = now.view, now.rules
    value = np.full(view.totals.shape, np.nan)
    k = np.flatnonzero(view.round > root.view.round[of])
    if not k.size:
        return value
    totals = view.totals[:, k].astype(np.float64)
    if rules.num_rounds is not None:
        left = rules.num_rounds - view.round[k].astype(np.float64)
    else:
        left = np.maximum(np.ceil((rules.target_score - totals.max(axis=0)) / ROUND_POINTS), 1.0)
    scale = SPREAD[now.num_players] * np.sqrt(left)
    ahead = np.tanh(NORMAL * (totals[None] - totals[:, None]) / scale)  # [seat, other]: 2 P(seat before other) − 1
    value[:, k] = ahead.sum(axis=1) / (len(totals) - 1)
    return value


_trained: Final = TrainedPolicy("peasy_v0")


def proposals(d: Decisions) -> F64:
    """How good every action looks: the trained agent's judgement of its best line, or the heuristic's worths -> [M, A]."""
    if not _trained.plays_with(d.num_players):
        return worths(d)
    agent = _trained.of(d.num_players)
    assert isinstance(agent, AfterstatePolicy)
    return agent.worths(d)


def quick(d: Decisions) -> Index:
    """The heuristic, with one draw for a flip instead of several: over many rollouts that evens out -> intp [M]."""
    chosen: Index = worths(d, draws=1).argmax(axis=1)
    return chosen


GUIDE: Final = Guide(worths=proposals, rollout=quick, judge=judge, caution=2.0)
