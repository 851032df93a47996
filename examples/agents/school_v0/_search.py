"""What the search agents know of Easy School: a rollout ends when the seat's next turn begins, and what the table promises then.

Where a trained network ships for the number of players, it proposes the actions, plays the rollouts and says what the table
promises; elsewhere the heuristic and `promise` do. `ODDS` are the coefficients of a logistic regression, fitted to 2,000 to
10,000 games of the heuristic against itself for each number of players: of two seats, which will be placed before the
other? It explains 45% of the variance of the outcome with two players (turns from all over the game), 36% with six.

    M decisions  K some of them  P seats  F features
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from easyenvs.core.arrays import F64, Index
from easyenvs.core.policies import Decisions
from easyenvs.core.weights import NetworkPolicy
from easyenvs.school_v0.cards import JOKER, NUM_CHEATS, Phase

from .._rollouts import Guide
from .._trained import TrainedNetworks
from .heuristic import WEIGHTS, Outlook, worths
from .heuristic import policy as heuristic

ODDS: Final[dict[int, tuple[tuple[float, float, float, float], ...]]] = {
    # By players: of the difference between two seats, a row a feature, by powers of the deck's size in hundreds of cards.
    2: (
        (0.327, -1.874, 3.705, -2.529),
        (0.251, -1.261, 2.158, -1.165),
        (-0.117, -0.022, 0.419, -0.341),
        (0.167, 0.382, -1.381, 0.899),
        (-0.109, 0.424, -0.678, 0.484),
        (0.067, 1.658, -4.301, 3.223),
        (-1.125, 3.826, -5.525, 2.596),
    ),
    3: (
        (0.392, -2.121, 3.889, -2.362),
        (0.407, -2.272, 4.134, -2.33),
        (-0.129, 0.131, 0.245, -0.313),
        (0.189, 0.897, -2.724, 1.768),
        (-0.265, 1.072, -1.534, 0.737),
        (0.186, 1.078, -3.116, 2.414),
        (-1.403, 4.564, -6.445, 2.977),
    ),
    4: (
        (0.474, -2.49, 4.902, -3.309),
        (0.39, -1.883, 3.218, -1.772),
        (-0.136, 0.524, -0.718, 0.347),
        (0.472, -0.958, 0.965, -0.453),
        (-0.355, 1.361, -1.718, 0.673),
        (0.42, -0.805, 1.338, -0.922),
        (-1.397, 3.921, -4.436, 1.536),
    ),
    5: (
        (0.589, -4.012, 9.455, -6.905),
        (0.374, -1.602, 2.726, -1.626),
        (-0.184, 1.194, -2.311, 1.355),
        (0.515, -0.91, 0.245, 0.441),
        (-0.724, 3.726, -5.957, 3.057),
        (0.321, 1.084, -4.695, 3.957),
        (-1.279, 2.667, -1.294, -0.701),
    ),
    6: (
        (0.564, -3.133, 6.88, -5.333),
        (0.428, -2.058, 3.99, -2.702),
        (-0.293, 1.028, -0.855, 0.024),
        (0.484, -0.051, -2.329, 2.536),
        (-0.266, 0.207, 1.158, -1.165),
        (0.413, -0.184, -1.167, 1.642),
        (-1.264, 3.375, -3.169, 0.413),
    ),
}


def promise(d: Decisions) -> F64:
    """What every seat can expect when a turn begins, a placement reward, by distance from the acting seat -> [P, M]."""
    view, players = d.view, d.num_players
    outlook = Outlook(d, WEIGHTS[players])
    face_up = view.face_up.swapaxes(0, 1).astype(np.int64)
    victory = view.victory
    hand = outlook.hand(face_up, outlook.gains(victory[:, :NUM_CHEATS].swapaxes(0, 1)), view.stress)
    features = (
        view.scores,
        hand,
        view.stress,
        face_up.sum(axis=0),
        face_up[JOKER],
        victory.sum(axis=1),
        np.arange(players)[:, None] / players,  # turns to wait
    )
    deck = view.deck_size / 100.0
    rating = np.zeros((players, len(d)))
    for feature, (c0, c1, c2, c3) in zip(features, ODDS[players], strict=True):
        rating += (((c3 * deck + c2) * deck + c1) * deck + c0) * feature
    before = np.tanh((rating[:, None] - rating) / 2.0)  # [seat, other]: 2 P(seat before other) − 1
    value: F64 = before.sum(axis=1) / (players - 1)
    return value


_trained: Final = TrainedNetworks("school_v0")


def _network(players: int) -> NetworkPolicy | None:
    """The trained network for so many players, if one ships."""
    return _trained.network(players) if _trained.plays_with(players) else None


def proposals(d: Decisions) -> F64:
    """How good every action looks: the network's logits, or the heuristic's worths -> [M, A]."""
    network = _network(d.num_players)
    return worths(d) if network is None else network.outputs(d)[:, : d.num_actions]


def rollout(d: Decisions) -> Index:
    """Plays on: the network, or the heuristic -> intp [M]."""
    network = _network(d.num_players)
    return heuristic(d) if network is None else network(d)


def expectation(d: Decisions) -> F64:
    """What every seat can expect when a turn begins, by distance from the acting seat -> [P, M]."""
    network = _network(d.num_players)
    if network is None:
        return promise(d)
    own = np.clip(network.value(d), -1.0, 1.0)
    others = d.num_players - 1
    return np.concatenate([own[None], np.repeat(-own[None] / others, others, axis=0)])  # what all get adds up to 0


@dataclass(frozen=True)
class NextTurn:
    """Judges when the seat that searches is to begin a turn again; at a semester's end the game is played on."""

    def __call__(self, now: Decisions, root: Decisions, of: Index) -> F64:
        """What every seat can expect then -> [P, K]."""
        view = now.view
        value = np.full((now.num_players, len(now)), np.nan)
        k = np.flatnonzero(
            (view.phase == Phase.TURN) & (now.seat == root.seat[of]) & (view.decisions > root.view.decisions[of])
        )
        if k.size:
            value[:, k] = expectation(now.pick(k))
        return value


GUIDE: Final = Guide(worths=proposals, rollout=rollout, judge=NextTurn(), caution=2.0)
