"""The pool of opponents: who is drawn, what it learns of results, its files; and that games use it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import easyenvs
from easyenvs.adapters.gym import Env, VectorEnv
from easyenvs.core.policies import Decisions, load_policy, random_policy
from easyenvs.selfplay import PRIOR_GAMES, Pool
from tests.test_weights import network

GAME = easyenvs.find_game("peasy_v0")
KEYS = np.random.default_rng(0).integers(0, 2**64, 20_000, dtype=np.uint64)


def shares(pool: Pool) -> list[float]:
    drawn = pool.draw(KEYS)
    return [float((drawn == pool.policies.index(member.policy)).mean()) for member in pool.members]


def test_latest_and_uniform() -> None:
    pool = Pool(GAME, ["random", "greedy"], rule="latest")
    assert shares(pool) == [0, 1]
    pool.add(network(GAME), "newer")
    assert shares(pool) == [0, 0, 1]
    pool.rule = "uniform"
    assert np.allclose(shares(pool), 1 / 3, atol=0.02)
    assert np.array_equal(pool.draw(KEYS), pool.draw(KEYS))


def test_prioritised_prefers_those_that_beat_the_learner() -> None:
    pool = Pool(GAME, ["random", "greedy", "heuristic"], rule="prioritised")
    assert np.allclose(pool.weights(), 1 / 3)
    pool.note(np.repeat([0, 1, 2], 100), np.repeat([1.0, 0.0, -1.0], 100))
    wins = [(100 + PRIOR_GAMES / 2) / (100 + PRIOR_GAMES), 0.5, (PRIOR_GAMES / 2) / (100 + PRIOR_GAMES)]
    assert [member.learner_wins for member in pool.members] == pytest.approx(wins)
    hard = np.maximum((1 - np.array(wins)) ** 2, 0.02)
    assert pool.weights() == pytest.approx(hard / hard.sum())
    assert shares(pool) == pytest.approx((hard / hard.sum()).tolist(), abs=0.02)
    assert [member.played for member in pool.members] == [100, 100, 100]
    for _ in range(200):  # old results fade
        pool.note(np.full(100, 2), np.ones(100))
    assert pool.members[2].learner_wins > 0.95


def test_the_oldest_goes_but_for_the_first_ones_and_running_games_keep_theirs() -> None:
    pool = Pool(GAME, ["random"], size=2, rule="uniform")
    policies = [network(GAME, seed=seed) for seed in range(4)]
    for index, policy in enumerate(policies):
        pool.add(policy, f"step {index}")
    assert [member.name for member in pool.members] == ["random", "step 2", "step 3"]
    assert pool.policies == [random_policy, *policies]  # the numbers of running games still mean the same
    assert set(pool.draw(KEYS)) == {0, 3, 4}
    pool.note(np.array([1, 3]), np.array([1.0, 1.0]))
    assert [member.played for member in pool.members] == [0, 1, 0]


def test_files_bring_it_back(tmp_path: Path) -> None:
    pool = Pool(GAME, ["heuristic"], rule="prioritised", size=7)
    pool.add(network(GAME), "step 1")
    pool.note(np.array([0, 1, 1]), np.array([-1.0, 1.0, 1.0]))
    pool.save(tmp_path / "pool")
    again = Pool.load(tmp_path / "pool", GAME)
    assert [(m.name, m.fixed, m.games, m.total, m.played) for m in again.members] == [
        (m.name, m.fixed, m.games, m.total, m.played) for m in pool.members
    ]
    assert (again.rule, again.size) == (pool.rule, pool.size)
    assert np.array_equal(again.draw(KEYS), pool.draw(KEYS))
    d = easyenvs.core.policies.decisions(GAME.batch(5, num_players=2, seed=0))
    assert np.array_equal(again.policies[1](d), pool.policies[1](d))
    pool.add(lambda d: d.legal.argmax(axis=1), "nameless")
    with pytest.raises(ValueError, match="'nameless'"):
        pool.save(tmp_path / "other")
    assert not (tmp_path / "other").exists()
    with pytest.raises(ValueError, match="not of school_v0"):
        Pool.load(tmp_path / "pool", easyenvs.find_game("school_v0"))
    state = json.loads((tmp_path / "pool" / "pool.json").read_text())
    for broken in ("{", json.dumps({**state, "rule": "best"}), json.dumps({**state, "members": [{}]}), "[]"):
        (tmp_path / "pool" / "pool.json").write_text(broken)
        with pytest.raises(ValueError, match="holds no pool"):
            Pool.load(tmp_path / "pool", GAME)
    with pytest.raises(ValueError, match="holds no pool"):
        Pool.load(tmp_path, GAME)


def test_bad_options_are_refused() -> None:
    for options, text in (({"rule": "best"}, "rule='best'"), ({"size": 0}, "size=0")):
        with pytest.raises(ValueError, match=text):
            Pool(GAME, ["random"], **options)
    with pytest.raises(ValueError, match="one member"):
        Pool(GAME, [])
    with pytest.raises(ValueError, match="names no policy"):
        Pool(GAME, ["kasparov"])


@pytest.mark.parametrize("many", [False, True])
def test_every_game_draws_one_and_reports_back(many: bool) -> None:
    calls: dict[str, int] = {"random": 0, "greedy": 0}

    class Spy:
        def __init__(self, name: str) -> None:
            self.name, self.policy = name, load_policy(name, GAME)

        def __call__(self, d: Decisions, /) -> object:
            calls[self.name] += len(d)
            return self.policy(d)

    pool = Pool(GAME, [Spy("random"), Spy("greedy")], rule="uniform")  # type: ignore[list-item]
    games = 0
    if many:
        venv = VectorEnv(GAME, 20, opponents=pool, seat="random", autoreset_mode="SameStep")
        info = venv.reset(seed=0)[1]
        while games < 60:
            _, _, terminated, _, info = venv.step(info["action_mask"].argmax(axis=1))
            games += int(terminated.sum())
    else:
        env = Env(GAME, opponents=pool, seat="random")
        while games < 30:
            info = env.reset(seed=games)[1]
            over = False
            while not over:
                _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
            games += 1
    assert min(calls.values()) > 50
    assert sum(member.played for member in pool.members) == games
    assert min(member.played for member in pool.members) > 5
