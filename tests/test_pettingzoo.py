"""PettingZoo's own tests, its registry, and the loop as its documentation shows it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, seed_test

import easyenvs
from easyenvs.core.game import GameDefinition

GAMES = list(easyenvs.games().values())

# api_test gives these to every environment with dict observations that is not on its own list.
ALLOWED_WARNINGS = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}

games = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
kinds = pytest.mark.parametrize("kind", ["env", "raw_env"])


@games
@kinds
@pytest.mark.parametrize("engine", ["python", "numpy"])
@pytest.mark.parametrize("observation", ["flat", "bits"])
def test_api_and_seeds(game: GameDefinition, kind: str, engine: str, observation: str) -> None:
    def make(**options: Any) -> Any:
        return getattr(game, kind)(engine=engine, observation=observation, **options)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(), num_cycles=300)
        api_test(make(num_players=5), num_cycles=100)
        seed_test(make, num_cycles=200)
    assert {str(warning.message) for warning in caught} <= ALLOWED_WARNINGS


@games
def test_it_is_in_the_registry(game: GameDefinition) -> None:
    make: Any = getattr(pettingzoo, "make", None)
    if make is None:
        pytest.skip("this PettingZoo has no registry: it came with 1.27")
    env = make("aec", f"easyenvs/{game.id}", num_players=4)
    assert env.possible_agents == [f"player_{seat}" for seat in range(4)]
    assert str(env) == game.id
    assert f"easyenvs/{game.id.replace('_v', '-v')}" in pettingzoo.aec_registry


@games
@kinds
@pytest.mark.parametrize("reward", ["placement", "win", "score"])
def test_whole_games(game: GameDefinition, kind: str, reward: str) -> None:
    """Sums of what `last` gives = sums of `rewards` = the rules' result; agents leave in seat order; infos say the end."""
    env = getattr(game, kind)(num_players=3, reward=reward)
    rng = np.random.default_rng(0)
    for seed in range(4):
        env.reset(seed=seed)
        by_last, by_rewards = (dict.fromkeys(env.possible_agents, 0.0) for _ in "ab")
        left, infos = [], {}
        for agent in env.agent_iter():
            observation, earned, terminated, truncated, info = env.last()
            by_last[agent] += earned
            if terminated or truncated:
                left.append(agent)
                infos[agent] = info
                assert not observation["action_mask"].any()
                env.step(None)
                continue
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
            for name, value in env.rewards.items():
                by_rewards[name] += value
        assert left == env.possible_agents
        assert by_last == pytest.approx(by_rewards)
        assert sum(by_last.values()) == pytest.approx(0.0, abs=1e-9)
        ranks = [infos[agent]["rank"] for agent in env.possible_agents]
        scores = [infos[agent]["score"] for agent in env.possible_agents]
        assert scores == env.snapshot()["totals" if "totals" in env.snapshot() else "scores"]
        assert all(
            isinstance(score, int) and isinstance(rank, float) for score, rank in zip(scores, ranks, strict=True)
        )
        if reward == "placement":
            assert [by_last[agent] for agent in env.possible_agents] == pytest.approx(
                [1 - (rank - 1) for rank in ranks]
            )


@games
def test_the_spaces(game: GameDefinition) -> None:
    for players in (2, 3, 6):
        env: Any = game.env(num_players=players)
        for agent in env.possible_agents:
            assert env.action_space(agent) is env.action_space(agent)
            assert env.observation_space(agent) is env.observation_space(agent)
            assert env.action_space(agent).n == len(game.notation.ACTION_NAMES)
            assert env.observation_space(agent)["action_mask"].shape == (env.action_space(agent).n,)
        env.reset(seed=0)
        assert env.state_space.contains(env.state())
        assert env.metadata["name"] == game.id
        assert env.metadata["render_modes"] == ["ansi", "rgb_array", "human"]
        assert env.metadata["is_parallelizable"] is False


@games
def test_it_is_not_parallelizable_and_pettingzoo_says_so(game: GameDefinition) -> None:
    with pytest.raises(AssertionError, match="is_parallelizable"):
        pettingzoo.utils.conversions.aec_to_parallel(game.env())


@games
def test_the_stream_of_games(game: GameDefinition) -> None:
    from easyenvs.core.chance import next_seed

    env = game.env()
    env.reset(seed=11)
    assert env.snapshot()["seed"] == 11
    for k in (1, 2, 3):
        env.reset()
        assert env.snapshot()["seed"] == next_seed(11, k)
    env.reset(options={"other": 1})
    assert env.snapshot()["seed"] == next_seed(11, 4)
    fresh, other = game.env(), game.env()
    fresh.reset()
    other.reset()
    assert fresh.snapshot()["seed"] != other.snapshot()["seed"]


@games
def test_a_snapshot_as_reset_option(game: GameDefinition) -> None:
    env = game.env(num_players=4)
    env.reset(seed=3)
    for _ in range(20):
        env.step(env.legal_actions()[-1])
    snapshot = env.snapshot()
    other = game.env(num_players=4)
    other.reset(seed=8, options={"snapshot": snapshot})
    assert other.snapshot() == snapshot
    assert other.agents == other.possible_agents
    while not any(env.terminations.values()):
        env.step(env.legal_actions()[-1])
        other.step(other.legal_actions()[-1])
        assert other.snapshot() == env.snapshot()
        if any(env.truncations.values()):
            break
    assert other.rewards == env.rewards
    other.reset()
    assert other.snapshot()["seed"] == easyenvs.core.chance.next_seed(8, 1)


@games
def test_render(game: GameDefinition) -> None:
    env = game.env(render_mode="ansi")
    env.reset(seed=1)
    text = env.render()
    assert isinstance(text, str)
    assert "player_" in text
    for action in env.legal_actions():
        assert f"{action}:{env.action_name(action)}" in text
    env.close()
    env.close()
    silent = game.env()
    silent.reset()
    with pytest.warns(UserWarning, match="render_mode=None"):
        assert silent.render() is None
