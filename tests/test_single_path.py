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
from easyenvs.core.encoders import BitsEncoder, Count, DictEncoder, Features, FlatEncoder, Part, Word, Zone
from easyenvs.core.game import GameDefinition

GAMES = list(easyenvs.games().values())
games = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)

STYLES: dict[str, dict[str, dict[int, int]]] = {
    "peasy_v0": {"flipper": {3: 6}, "bonus": {2: 1, 4: 8, 5: 8}},  # flips bring reshuffles, bonuses turn Row piles
    "school_v0": {
        "hoarder": {0: 6},
        "examinee": {0: 3, **dict.fromkeys(range(13, 88), 5)},
        "stress": dict.fromkeys(range(8, 13), 6),
    },
}
"""By game: weights of actions where they are legal, 1 otherwise; besides "uniform"."""

CASES: dict[str, list[dict[str, Any]]] = {
    "peasy_v0": [
        {"num_rounds": 1, "max_cycles": 10},
        {"target_score": "standard"},
        {"num_rounds": 12},  # more rounds than the feature counts
        {"target_score": 5},  # totals beyond the scale
    ],
    "school_v0": [{"stack": "auto"}, {"stack": "auto", "max_cycles": 10}],
}
"""By game: options to try besides the default ones and a truncated game."""


def styles(game: GameDefinition) -> dict[str, dict[int, int]]:
    """Ways to play."""
    return {"uniform": {}, **STYLES.get(game.id, {})}


def cases(game: GameDefinition) -> list[dict[str, Any]]:
    """Options to play under."""
    return [{}, {"max_cycles": 10}, *CASES.get(game.id, [])]


def play(env: Any, weights: dict[int, int], rng: random.Random, decisions: int, after_each: Callable[[], None]) -> None:
    """Random decisions until the game is over."""
    for _ in range(decisions):
        if env._game.player is None:
            return
        legal = env.legal_actions()
        env.step(rng.choices(legal, [weights.get(action, 1) for action in legal])[0])
        after_each()


def expected_of(env: Any) -> Any:
    """The observations of all seats by the path of many games."""
    seats = range(env._game.num_players)
    return env.encoder(views.stack([env.game.view.of_game(env._game, seat) for seat in seats]))


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


@games
@pytest.mark.parametrize("players", range(2, 7))
@pytest.mark.parametrize("name", ["flat", "bits"])
def test_observations_equal_those_of_many_games(game: GameDefinition, players: int, name: str) -> None:
    rng = random.Random(players)
    met = {"over": 0, "truncated": 0}
    for (number, options), weights in itertools.product(enumerate(cases(game)), styles(game).values()):
        env: Any = game.raw_env(num_players=players, observation=name, **options)
        env.reset(seed=number)
        check(env)
        turn = itertools.count()

        def now_and_then(env: Any = env, turn: Any = turn) -> None:
            if next(turn) % 10 == 0 or env._game.player is None:
                check(env)

        play(env, weights, rng, 400, now_and_then)
        met["over"] += env._game.terminated
        met["truncated"] += env._game.truncated
    assert all(met.values()), met


@games
@pytest.mark.parametrize("name", ["flat", "bits", "dict", "text"])
def test_both_engines_and_every_encoder_see_the_same(game: GameDefinition, name: str) -> None:
    python: Any
    machine: Any
    python, machine = (game.raw_env(num_players=3, observation=name, engine=engine) for engine in ("python", "numpy"))

    def compare() -> None:
        machine.step(python._last_action)
        for seat, agent in enumerate(python.agents):
            a, b = python.observe(agent), machine.observe(agent)
            np.testing.assert_equal(a["observation"], b["observation"])
            view = game.view.of_game(python._game, seat)
            np.testing.assert_equal(a["observation"], first_of(python.encoder, view))
            np.testing.assert_equal(a["action_mask"], b["action_mask"])

    step = python.step

    def noted(action: int) -> None:
        python._last_action = action
        step(action)

    python.step = noted
    for number, weights in enumerate(styles(game).values()):
        for env in (python, machine):
            env.reset(seed=number)
        play(python, weights, random.Random(1), 80, compare)


@games
@pytest.mark.parametrize("name", ["flat", "bits"])
def test_copies_snapshots_and_hidden_cards(game: GameDefinition, name: str) -> None:
    """A copy and a restored position look the same; what is hidden does not show."""
    env: Any = game.raw_env(num_players=4, observation=name)
    other: Any = game.raw_env(num_players=4, observation=name)
    keys = itertools.count()

    def compare() -> None:
        if next(keys) % 32:
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

    for number, weights in enumerate(styles(game).values()):
        env.reset(seed=number)
        play(env, weights, random.Random(2), 200, compare)


@games
@pytest.mark.parametrize("name", ["flat", "bits"])
def test_arrays_are_fresh(game: GameDefinition, name: str) -> None:
    env: Any = game.raw_env(observation=name)
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


def test_zones() -> None:
    """Eight counts a word: what `bits` and `flat` make of them, by the definition."""
    kinds = [Count("", f"count {c}", 127 - c, tuple(range(1 + c, 90, 11))[: c + 1], "") for c in range(8)]
    other = [Count("", f"other {c}", 100, (1, 2, 3, 50, 100), "") for c in range(8)]
    zones = (Zone("a", tuple(kinds)), Zone("b", tuple(other)))
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 101, (50, 2, 8))
    words = [
        np.array([sum(int(n) << 8 * c for c, n in enumerate(row)) for row in z], np.uint64)
        for z in counts.swapaxes(0, 1)
    ]
    word = np.arange(50, dtype=np.uint64)
    features = Features(
        (Word("w", (Part("w", 6, ""),)),),
        (),
        lambda view: [view[2]],
        lambda view: [],
        None,
        zones,
        lambda view: view[:2],
    )
    all_counts = [*kinds, *other]
    for encoder in (BitsEncoder(features), FlatEncoder(features)):
        many = encoder((*words, word))
        single = encoder.single(lambda game, seat: game, 5, False)
        for game, row in enumerate(many):
            numbers = counts[game].ravel().tolist()
            if isinstance(encoder, BitsEncoder):
                expected: list[Any] = [
                    j < len(count.levels) and number >= count.levels[j]
                    for number, count in zip(numbers, all_counts, strict=True)
                    for j in range(8)
                ]
            else:
                expected = [np.float32(n) / np.float32(c.top) for n, c in zip(numbers, all_counts, strict=True)]
            expected += [game >> bit & 1 for bit in range(6)]
            assert row.tolist() == expected
            one, mask = single((*(int(w[game]) for w in words), game), 0, 0b10010)
            assert one.dtype == row.dtype and (one == row).all()
            assert mask.tolist() == [0, 1, 0, 0, 1]
    assert [part.stop for part in BitsEncoder(features).slices] == [*range(8, 129, 8), 134]
    dicts = DictEncoder(features)((*words, word))
    assert {family: array.shape for family, array in dicts.items()} == {
        "a": (50, 1, 8),
        "b": (50, 1, 8),
        "w": (50, 1, 6),
    }
    with pytest.raises(ValueError, match="eight counts"):
        Zone("a", tuple(kinds[:7]))


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
