"""Duplicate play: every deal is played once in each rotation of the seats, so that luck in the cards cancels.

D deals  P seats, policies and rotations  N games of a part
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from easyenvs.core import rewards
from easyenvs.core.arrays import F64, I64, Flags
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import Policy, act

Advance = Callable[[int], None]
"""Is told how many more games are over."""

GAMES_AT_ONCE: Final = 8192
INTERVAL: Final = 1.96  # standard errors to either side: 95%


@dataclass(frozen=True)
class Deals:
    """How the games of some deals ended, by policy: policy j sat in seat (j + r) mod P in rotation r.

    Attributes:
        seeds: uint64 [D], the game seeds.
        ranks: float64 [D, P, P] by deal, rotation and policy: 1-based, ties averaged.
        scores: int64 [D, P, P] likewise.
        decisions: int64 [D, P] by deal and rotation.
        truncated: bool [D, P] likewise: the game was cut off (R6); its ranks are those so far.
    """

    seeds: npt.NDArray[np.uint64]
    ranks: F64
    scores: I64
    decisions: I64
    truncated: Flags

    @property
    def placement(self) -> F64:
        """R1's reward by deal and policy, the mean over the rotations: [D, P]."""
        by_policy = np.moveaxis(self.ranks, 2, 0)
        mean: F64 = rewards.placement(by_policy.reshape(len(by_policy), -1)).reshape(by_policy.shape).mean(axis=2).T
        return mean

    @property
    def wins(self) -> F64:
        """Games won by deal and policy, the mean over the rotations; a shared first place counts its share: [D, P]."""
        best = self.ranks == self.ranks.min(axis=2, keepdims=True)
        share: F64 = (best / best.sum(axis=2, keepdims=True)).mean(axis=1)
        return share


def half_width(by_deal: F64) -> F64:
    """Half of the 95% interval of the mean over deals (the games of one deal are not independent): [D, …] -> […]."""
    width: F64 = INTERVAL * np.asarray(by_deal).std(axis=0, ddof=1) / np.sqrt(len(by_deal))
    return width


def play_deals(
    game: GameDefinition,
    policies: Sequence[Policy],
    seeds: npt.NDArray[np.integer[Any]] | Sequence[int],
    *,
    policy_seeds: Sequence[int] | None = None,
    advance: Advance | None = None,
    **rules: Any,
) -> Deals:
    """Play every deal in each rotation of the seats, many games at a time.

    policies: P of them, one a seat; seeds: the game seeds [D]; policy_seeds: a seed for each policy (default 0);
    rules: the game's rule options besides num_players, which is P.
    """
    players = len(policies)
    game_seeds = np.asarray(seeds, dtype=np.uint64)
    rotations = np.arange(players)
    # seats[r, s]: the policy in seat s of rotation r
    seats = (np.arange(players)[None, :] - rotations[:, None]) % players
    per_part = max(1, GAMES_AT_ONCE // players)
    parts = []
    for first in range(0, len(game_seeds), per_part):
        part = game_seeds[first : first + per_part]
        games = game.batch(len(part) * players, num_players=players, seed=np.repeat(part, players), **rules)
        assignment = np.tile(seats, (len(part), 1))
        over = 0
        while over < games.num_games:
            games.step(act(games, policies, assignment, seeds=policy_seeds))
            now = int((games.player < 0).sum())
            if advance is not None and now > over:
                advance(now - over)
            over = now
        sits = np.argsort(assignment, axis=1)  # the seat of each policy
        parts.append(
            (
                np.take_along_axis(games.ranks(), sits, axis=1).reshape(len(part), players, players),
                np.take_along_axis(games.scores, sits, axis=1).reshape(len(part), players, players),
                games.decisions.reshape(len(part), players),
                games.truncated.reshape(len(part), players),
            )
        )
    ranks, scores, decisions, truncated = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Deals(game_seeds, ranks, scores, decisions, truncated)
