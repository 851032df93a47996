"""One game takes a path of its own wherever arrays would cost more than what they hold (`Encoder.single`,
`rewards.…_one`, `chance.shuffled_deck`): it has to equal the path of many games, bit for bit."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import easyenvs
from easyenvs.adapters.aec import first_of
from easyenvs.core import chance, rewards, views

PEASY = easyenvs.peasy_v0
STYLES: dict[str, dict[int, int]] = {"uniform": {}, "flipper": {3: 6}, "bonus": {2: 1, 4: 8, 5: 8}}
"""Weights of actions where they are legal, 1 otherwise: flips bring reshuffles, bonuses turn Row piles."""

CASES: list[dict[str, Any]] = [
    {},
    {"num_rounds": 1, "max_cycles": 10},
    {"target_score": "standard"},
    {"num_rounds": 12},  # more rounds than the feature counts
    {"target_score": 5},  # totals beyond the scale
]


def play(env: Any, style: str, rng: random.Random, decisions: int, after_each: Callable[[], None]) -> None:
    """Random decisions until the game is over."""
    for _ in range(decisions):
        if env._game.player is None:
            return
        legal = env.legal_actions()
        env.step(rng.choices(legal, [STYLES[style].get(action, 1) for action in legal])[0])
        after_each()


def expected_of(env: Any) -> Any:
    """The observations of all seats by the path of many games."""
    seats = range(env._game.num_players)
    return env.encoder(views.stack([PEASY.GAME.view.of_game(env._game, seat) for seat in seats]))


def check(env: Any) -> None:
    """Every seat's observation and mask, by `observe` and `last`, against the path of many games."""
    expected = expected_of(env)
    legal = np.zeros(env.num_actions, dtype=np.int8)
    legal[env.legal_actions()] = 1
    for seat, agent in enumerate(env.agents):
        seen = env.observe(agent)
        observation, mask = seen["observation"], seen["action_mask"]
        assert observation.dtype == expected.dtype and observation.shape == expected[seat].shape
        differs = [p.name for p in env.encoder.slices if (observation != expected[seat])[p.start : p.stop].any()]
        assert not differs, f"seat {seat}: {differs}"
        assert mask.dtype == np.int8 and (mask == (legal if agent == env.agent_selection else 0)).all()
    seen, _, _, _, info = env.last()
    assert (seen["observation"] == expected[env.agents.index(env.agent_selection)]).all()
    for mask in (seen["action_mask"], info["action_mask"], env.infos[env.agent_selection]["action_mask"]):
        assert mask.dtype == np.int8 and (mask == legal).all()


@pytest.mark.parametrize("players", range(2, 7))
@pytest.mark.parametrize("name", ["flat", "bits"])
def test_observations_equal_those_of_many_games(players: int, name: str) -> None:
    rng = random.Random(players)
    met = {"reshuffled": 0, "known card face-down": 0, "over": 0, "truncated": 0}
    for (number, options), style in itertools.product(enumerate(CASES), STYLES):
        env = PEASY.raw_env(num_players=players, observation=name, **options)
        env.reset(seed=number)
        check(env)
        turn = itertools.count()

        def note(env: Any = env, turn: Any = turn) -> None:
            game = env._game
            rows = [cards for row in game.row for cards in row]
            known = [cards & game.public for cards in rows]
            assert game.known_row == sum(cards << lane * game.num_cards for lane, cards in enumerate(known))
            hidden = [cards != seen for cards, seen in zip(rows, known, strict=True)]
            assert game.hidden == sum(flag << lane for lane, flag in enumerate(hidden))
            met["reshuffled"] += game.reshuffles > 0
            met["known card face-down"] += any(seen & ~game.face_up for seen in known)
            if next(turn) % 4 == 0 or game.player is None:
                check(env)

        play(env, style, rng, 150, note)
        met["over"] += env._game.terminated
        met["truncated"] += env._game.truncated
    assert all(met.values()), met


@pytest.mark.parametrize("name", ["flat", "bits", "dict", "text"])
def test_both_engines_and_every_encoder_see_the_same(name: str) -> None:
    python, machine = (PEASY.raw_env(num_players=3, observation=name, engine=engine) for engine in ("python", "numpy"))
    for env in (python, machine):
        env.reset(seed=4)

    def compare() -> None:
        machine.step(python._last_action)
        for seat, agent in enumerate(python.agents):
            a, b = python.observe(agent), machine.observe(agent)
            np.testing.assert_equal(a["observation"], b["observation"])
            view = PEASY.GAME.view.of_game(python._game, seat)
            np.testing.assert_equal(a["observation"], first_of(python.encoder, view))
            np.testing.assert_equal(a["action_mask"], b["action_mask"])

    step = python.step

    def noted(action: int) -> None:
        python._last_action = action
        step(action)

    python.step = noted
    play(python, "flipper", random.Random(1), 80, compare)


@pytest.mark.parametrize("name", ["flat", "bits"])
def test_copies_snapshots_and_hidden_cards(name: str) -> None:
    """A copy and a restored position look the same; what is hidden does not show."""
    env = PEASY.raw_env(num_players=4, observation=name)
    env.reset(seed=9)
    other = PEASY.raw_env(num_players=4, observation=name)
    keys = itertools.count()

    def compare() -> None:
        if next(keys) % 16:
            return
        other.restore(json.loads(json.dumps(env.snapshot())))
        for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env)), other):
            check(twin)
            for agent in env.agents:
                assert (twin.observe(agent)["observation"] == env.observe(agent)["observation"]).all()
        for seat, agent in enumerate(env.agents):
            before = env.observe(agent)["observation"]
            twin = copy.deepcopy(env)
            twin._game.resample(seat, next(keys))
            check(twin)
            assert (twin.observe(agent)["observation"] == before).all()

    play(env, "flipper", random.Random(2), 200, compare)


@pytest.mark.parametrize("name", ["flat", "bits"])
def test_arrays_are_fresh(name: str) -> None:
    env = PEASY.raw_env(observation=name)
    env.reset(seed=1)
    arrays = []
    for _ in range(2):
        seen, _, _, _, info = env.last()
        arrays.append([seen["observation"], seen["action_mask"], info["action_mask"]])
    assert all(array.flags.writeable for call in arrays for array in call)
    for first, second in itertools.product(*arrays):
        assert not np.shares_memory(first, second)
    assert not np.shares_memory(arrays[0][0], arrays[0][1])
    kept = [array.copy() for array in arrays[0]]
    for array in arrays[1]:
        array[:] = 1
    env.step(env.legal_actions()[0])
    env.last()
    assert all((now == then).all() for now, then in zip(arrays[0], kept, strict=True))


def test_rewards_of_one_game() -> None:
    for players in range(2, 7):
        rng = random.Random(players)
        for _ in range(200):
            standing = [(rng.randrange(3), rng.randrange(2)) for _ in range(players)]
            gains = [float(-rng.randrange(60)) for _ in range(players)]
            place = rewards.ranks(np.array([standing], dtype=np.int64).transpose(2, 1, 0))
            assert rewards.ranks_one(standing) == place[:, 0].tolist()
            assert rewards.placement_one(place[:, 0].tolist()) == rewards.placement(place)[:, 0].tolist()
            assert rewards.win_one(place[:, 0].tolist()) == rewards.win(place)[:, 0].tolist()
            assert rewards.score_one(gains) == rewards.score(np.array(gains)[:, None])[:, 0].tolist()


def test_a_shuffled_deck() -> None:
    for cards in (1, 40, 50, 60, chance.MAX_CARDS):
        for seed in range(20):
            key = chance.event_key(seed, 1, 2)
            assert chance.shuffled_deck(key, cards) == chance.shuffled(key, range(cards))
