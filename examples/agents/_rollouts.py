"""What search agents know of a game, and how they play positions out.

M decisions  N games  K of these  P seats  A actions
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from easyenvs.core import rewards
from easyenvs.core.arrays import F64, Index
from easyenvs.core.batch import Batch
from easyenvs.core.policies import Decisions, Policy, decisions, random_policy

Worths = Callable[[Decisions], F64]
"""What every action seems to be worth, the higher the better: [M, A]; those of illegal actions don't count."""

Judge = Callable[[Decisions, Decisions, Index], F64]
"""(decisions now [K], decisions searched [M], which of these each game began with [K]) -> what every seat can expect of the
game, as a placement reward (R1), by distance from the seat that is to act now: [P, K]; NaN in the games to be played on."""

VALUE_STEP: Final = 2.0**-30
"""Values are rounded to multiples of this, so that sums of them are exact: in any order, whatever the batch."""

COMPACT: Final = 0.75
"""Where fewer than this part of a batch's games are still running, they are taken out of it."""


@dataclass(frozen=True, kw_only=True)
class Guide:
    """What a search knows of a game besides its rules.

    A trained network can stand for the heuristic: `dataclasses.replace(guide, worths=lambda d: network.outputs(d)[:,
    : d.num_actions], rollout=network)`.

    Attributes:
        worths: ranks the legal actions, to search the best of them only; None: all are alike.
        rollout: plays the games out.
        judge: ends rollouts before the game is over; None: none.
        caution: another action than the one of most worth is chosen only where it leads by more than so many standard
            errors. (Without `worths` there is no such action, and the caution is 0.)
    """

    worths: Worths | None = None
    rollout: Policy = random_policy
    judge: Judge | None = None
    caution: float = 1.0


def play_out(worlds: Batch, root: Decisions, of: Index, guide: Guide) -> F64:
    """Play games to their end, or until the judge knows enough: what every seat gets, a placement reward -> [N, P].

    worlds: N games, which are played with. of: intp [N], the decision of `root` that each began with.
    """
    num_games, players = worlds.num_games, worlds.num_players
    values = np.zeros((num_games, players))
    number = np.arange(num_games)  # of the games in `worlds`
    over = np.flatnonzero(worlds.player < 0)
    _note_ends(worlds, over, number, values)
    running = np.flatnonzero(worlds.player >= 0)
    needs_view = guide.judge is not None or bool(getattr(guide.rollout, "needs_view", True))
    while running.size:
        if running.size < COMPACT * worlds.num_games:
            worlds = worlds.take(running)
            number = number[running]
            running = np.arange(len(number))
        d = decisions(worlds, None if running.size == worlds.num_games else running, with_view=needs_view)
        if guide.judge is not None:
            judged = guide.judge(d, root, of[number[running]])
            stop = ~np.isnan(judged[0])
            if stop.any():
                k = np.flatnonzero(stop)
                seats = (d.seat[k] + np.arange(players)[:, None]) % players
                values[number[running[k]], seats] = judged[:, k]
                running = running[~stop]
                continue
        worlds.step(guide.rollout(d), where=running)
        ended = worlds.player[running] < 0
        if ended.any():
            _note_ends(worlds, running[ended], number, values)
            running = running[~ended]
    rounded: F64 = np.rint(values / VALUE_STEP) * VALUE_STEP
    return rounded


def _note_ends(worlds: Batch, over: Index, number: Index, values: F64) -> None:
    """R1, in the games that are over."""
    if over.size:
        values[number[over]] = rewards.placement(worlds.ranks()[over].T).T
