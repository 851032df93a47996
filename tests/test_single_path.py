"""One game's observations come by a path of their own (`Encoder.single`): it has to equal the batch's, bit for bit."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest

import easyenvs
from easyenvs.core import rewards, views
from easyenvs.core.encoders import make_encoder

PEASY = easyenvs.peasy_v0
STYLES = {"uniform": {}, "flipper": {3: 6}, "bonus": {2: 1, 4: 8, 5: 8}}
"""Weights of actions where they are legal; 1 otherwise."""


def pick(legal: list[int], style: str, rng: random.Random) -> int:
    return rng.choices(legal, [STYLES[style].get(action, 1) for action in legal])[0]


def check(env: Any, encoders: dict[str, Any]) -> None:
    """Every seat's observation and mask, by `observe` and `last`, against the array path of the encoder."""
    game = env.unwrapped._game
    seen_by = [PEASY.GAME.view.of_game(game, seat) for seat in range(game.num_players)]
    expected = encoders[env.name](views.stack(seen_by))
    legal = np.zeros(env.num_actions, dtype=np.int8)
    legal[env.legal_actions()] = 1
    for seat, agent in enumerate(env.agents):
        seen = env.observe(agent)
        observation = seen["observation"]
        assert observation.dtype == expected.dtype and observation.shape == expected[seat].shape
        assert (observation == expected[seat]).all(), [
            part.name
            for part in encoders[env.name].slices
            if (observation[part.start : part.stop] != expected[seat][part.start : part.stop]).any()
        ]
        assert (seen["action_mask"] == (legal if agent == env.agent_selection else 0)).all()
    seen, _, _, _, info = env.last()
    assert (seen["observation"] == expected[env.agents.index(env.agent_selection)]).all()
    assert (seen["action_mask"] == legal).all() and (info["action_mask"] == legal).all()
    assert seen["action_mask"].dtype == info["action_mask"].dtype == np.int8


CASES = [
    {},
    {"num_rounds": 1, "max_cycles": 10},
    {"target_score": "standard"},
    {"num_rounds": 12},  # more rounds than the feature counts
    {"target_score": 5},  # totals beyond the scale
]


@pytest.mark.parametrize("players", range(2, 7))
@pytest.mark.parametrize("name", ["flat", "bits"])
def test_the_single_path_equals_the_batch_path(players: int, name: str) -> None:
    rng = random.Random(players)
    seen = {"reshuffles": 0, "over": 0, "truncated": 0}
    for number, options in enumerate(CASES):
        for style in STYLES:
            env = PEASY.raw_env(num_players=players, observation=name, **options)
            env.name = name
            encoders = {name: make_encoder(PEASY.GAME, env.rules, name)}
            env.reset(seed=number)
            decisions = 0
            while not env._ended and decisions < 150:
                if decisions % 3 == 0 or env._game.reshuffles:
                    check(env, encoders)
                env.step(pick(env.legal_actions(), style, rng))
                decisions += 1
                game = env._game
                seen["reshuffles"] += game.reshuffles > 0
            check(env, encoders)
            seen["over"] += env._ended
            seen["truncated"] += env._game.truncated
    assert seen["reshuffles"] and seen["over"] and seen["truncated"]
