"""Stable-Baselines3: the native VecEnv under MaskablePPO, its callbacks and wrappers; models as policies."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

import easyenvs
from easyenvs.adapters.gym import Env
from easyenvs.arena import play_deals
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import decisions, load_policy
from easyenvs.core.weights import NetworkPolicy, load_weights, save_weights
from easyenvs.sb3 import ModelPolicy, SelfPlayCallback, VecEnv, network_policy
from easyenvs.selfplay import Pool

GAMES = list(easyenvs.games().values())
TINY: dict[str, Any] = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "device": "cpu", "seed": 0}


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)  # tests run in several processes


def first_legal(venv: Any) -> Any:
    return np.array([mask.argmax() for mask in venv.env_method("action_masks")])


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
@pytest.mark.parametrize(
    "options", [{}, {"num_players": 4, "seat": "random", "reward": "score", "observation": "dict"}]
)
def test_it_is_a_dummy_vec_env_of_the_single_env_value_for_value(game: GameDefinition, options: dict[str, Any]) -> None:
    n = 3
    ours = VecEnv(game, n, opponents="greedy", seed=7, **options)
    theirs = DummyVecEnv([lambda: Env(game, opponents="greedy", **options)] * n)
    theirs.seed(7)

    def same(a: Any, b: Any) -> bool:
        if isinstance(a, dict):
            return all(same(a[key], b[key]) for key in a.keys() | b.keys())
        return np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype

    assert same(ours.reset(), theirs.reset())
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(150):
        masks = ours.env_method("action_masks")
        assert same(masks, theirs.env_method("action_masks"))
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        mine, other = ours.step(actions), theirs.step(actions)
        assert all(same(a, b) for a, b in zip(mine[:3], other[:3], strict=True))
        assert mine[1].dtype == np.float32
        for one, two in zip(mine[3], other[3], strict=True):
            assert ("terminal_observation" in one) == ("terminal_observation" in two)
            if "terminal_observation" in one:
                ends += 1
                for key in ("terminal_observation", "TimeLimit.truncated", "score", "rank", "seat"):
                    assert same(one[key], two[key]), key
    assert ends


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_maskable_ppo_learns_on_it_as_it_is(game: GameDefinition, tmp_path: Path) -> None:
    venv = VecMonitor(VecEnv(game, 8, num_players=2, seed=1))
    assert is_masking_supported(venv)
    evaluation = MaskableEvalCallback(
        VecMonitor(VecEnv(game, 4, num_players=2, seed=2)), n_eval_episodes=4, eval_freq=16, verbose=0
    )
    model = MaskablePPO("MlpPolicy", venv, **TINY)
    model.learn(3 * 8 * 16, callback=evaluation)
    assert np.isfinite(evaluation.last_mean_reward)
    assert all(torch.isfinite(p).all() for p in model.policy.parameters())
    mean, _ = evaluate_policy(model, VecMonitor(VecEnv(game, 4, num_players=2, seed=3)), n_eval_episodes=6)
    assert -1 <= np.mean(mean) <= 1
    model.save(tmp_path / "model")
    again = MaskablePPO.load(tmp_path / "model", env=VecEnv(game, 8, num_players=2, seed=1))
    seen = again.get_env().reset()  # type: ignore[union-attr]
    masks = get_action_masks(again.get_env())
    assert masks.dtype == np.bool_ and np.array_equal(masks, get_action_masks(again.get_env()))
    mine, _ = model.predict(seen, action_masks=masks, deterministic=True)
    assert np.array_equal(mine, again.predict(seen, action_masks=masks, deterministic=True)[0])
    assert masks[np.arange(8), mine].all()
    again.learn(8 * 16)


def test_training_of_two_hundred_thousand_steps_stays_finite() -> None:
    """Masked softmax over many actions: nothing becomes NaN or crashes (sb3-contrib's simplex check)."""
    venv = VecEnv("school_v0", 512, num_players=2, seed=0)
    model = MaskablePPO(
        "MlpPolicy", venv, n_steps=64, batch_size=16_384, n_epochs=2, learning_rate=3e-3, device="cpu", seed=0
    )
    model.learn(200_000)
    assert all(torch.isfinite(p).all() for p in model.policy.parameters())
    assert model.num_timesteps >= 200_000


def test_the_same_seeds_train_the_same_model() -> None:
    def trained() -> Any:
        model = MaskablePPO("MlpPolicy", VecEnv("peasy_v0", 4, seed=5), **TINY).learn(128)
        return torch.cat([p.detach().flatten() for p in model.policy.parameters()])

    assert torch.equal(trained(), trained())


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_normalised_observations_and_rewards_work(game: GameDefinition) -> None:
    venv = VecNormalize(VecEnv(game, 8, num_players=2, seed=1))
    model = MaskablePPO("MlpPolicy", venv, **TINY)
    model.learn(256)
    assert np.isfinite(venv.reset()).all()
    with pytest.raises(ValueError, match="normalised"):
        network_policy(model)


def test_dict_observations_train_and_play() -> None:
    venv = VecEnv("peasy_v0", 8, observation="dict", seed=0)
    model = MaskablePPO("MultiInputPolicy", venv, **TINY)
    model.learn(256)
    game = easyenvs.find_game("peasy_v0")
    d = decisions(game.batch(20, num_players=2, seed=0))
    chosen = ModelPolicy(model)(d)
    assert d.legal[np.arange(20), chosen].all()
    with pytest.raises(ValueError, match="use ModelPolicy"):
        network_policy(model)
    with pytest.raises(ValueError, match="Box or Dict"):
        VecEnv("peasy_v0", 2, observation="text")


@pytest.mark.parametrize("observation", ["flat", "bits"])
@pytest.mark.parametrize("activation", [torch.nn.Tanh, torch.nn.ReLU])
def test_a_model_plays_the_same_with_and_without_torch(observation: str, activation: Any, tmp_path: Path) -> None:
    game = easyenvs.find_game("school_v0")
    venv = VecEnv(game, 16, num_players=2, observation=observation, seed=0)
    model = MaskablePPO("MlpPolicy", venv, policy_kwargs={"activation_fn": activation, "net_arch": [32, 32]}, **TINY)
    model.learn(1024)
    network = network_policy(model, note="from a test")
    save_weights(tmp_path / "w.npz", network.layers, network.about)
    network = load_weights(tmp_path / "w.npz")
    with_torch = ModelPolicy(model)
    batch = game.batch(400, num_players=2, seed=1)
    for _ in range(30):
        batch.step(batch.legal.argmax(axis=1))
    d = decisions(batch)
    assert (network(d) == with_torch(d)).mean() > 0.97  # near-ties may go either way after rounding
    venv.reset()
    seen, masks = d.observe(observation), d.legal
    predicted, _ = model.predict(seen, action_masks=masks, deterministic=True)
    assert (with_torch(d) == predicted).mean() > 0.99
    assert network.about["note"] == "from a test"
    model.learn(1024)  # a policy is a copy: training on does not change it
    assert np.array_equal(with_torch(d), ModelPolicy(with_torch._network, observation)(d))


def test_other_models_are_refused_with_what_is_accepted() -> None:
    dqn = DQN("MlpPolicy", VecEnv("peasy_v0", 2, illegal="lose"), device="cpu", learning_starts=1000)
    with pytest.raises(TypeError, match="MaskablePPO, PPO and A2C"):
        ModelPolicy(dqn)
    with pytest.raises(ValueError, match="use ModelPolicy"):
        network_policy(dqn)
    model = MaskablePPO("MlpPolicy", VecEnv("peasy_v0", 2), policy_kwargs={"activation_fn": torch.nn.ELU}, **TINY)
    with pytest.raises(ValueError, match="ELU; ReLU or Tanh"):
        network_policy(model)
    with pytest.raises(ValueError, match="observation"):
        ModelPolicy(model.policy)
    with pytest.raises(ValueError, match="num_players"):
        network_policy(model.policy, observation="flat")


@pytest.mark.parametrize("algorithm", [DQN, PPO])
def test_algorithms_that_ignore_masks_are_told_off(algorithm: Any) -> None:
    options: dict[str, Any] = {"learning_starts": 10} if algorithm is DQN else {"n_steps": 16, "batch_size": 64}
    model = algorithm("MlpPolicy", VecEnv("peasy_v0", 4, seed=0), device="cpu", seed=0, **options)
    with pytest.raises(easyenvs.IllegalActionError, match=r"use sb3_contrib\.MaskablePPO"):
        model.learn(400)
    model = algorithm("MlpPolicy", VecEnv("peasy_v0", 4, seed=0, illegal="lose"), device="cpu", seed=0, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.learn(400)
    assert sum("MaskablePPO" in str(warning.message) for warning in caught) == 1


def test_what_sb3_asks_of_an_environment() -> None:
    venv = VecEnv("peasy_v0", 3, num_players=3, seat="random")
    assert venv.seed(5) == [5, 6, 7]
    first = venv.reset()
    assert [info["skipped_games"] for info in venv.reset_infos] == [0, 0, 0]
    assert venv.get_attr("seat") == [info["seat"] for info in venv.reset_infos]
    assert venv.get_attr("num_envs", [0, 2]) == [3, 3]
    assert venv.has_attr("action_masks") and not venv.has_attr("no_such_thing")
    assert venv.env_is_wrapped(gymnasium.Wrapper) == [False] * 3
    assert len(venv.env_method("action_masks", indices=1)) == 1
    snapshots = venv.env_method("snapshot")
    assert not np.array_equal(venv.reset(), first)  # seeds are used once, the streams go on
    venv.seed(5)
    assert np.array_equal(venv.reset(), first)
    venv.set_options([{"snapshot": snapshot} for snapshot in snapshots])
    assert np.array_equal(venv.reset(), first)  # the positions in which the learner began
    for name in ("seat", "opponents"):
        with pytest.raises(AttributeError, match="set_opponents"):
            venv.set_attr(name, 1)
    with pytest.raises(AttributeError, match="action_masks, snapshot, set_opponents"):
        venv.env_method("fly")
    with pytest.raises(ValueError, match="all games"):
        venv.env_method("set_opponents", "greedy", indices=[0])
    venv.env_method("set_opponents", "greedy")
    with pytest.raises(easyenvs.NotResetError, match="step_async"):
        venv.step_wait()
    with pytest.raises(easyenvs.NotResetError, match=r"reset\(\)"):
        VecEnv("peasy_v0", 2).step(np.zeros(2, dtype=int))
    with pytest.raises(ValueError, match="is no game"):
        VecEnv("chess")
    venv.close()
    venv.close()


def test_kept_arrays_never_change() -> None:
    venv = VecEnv("peasy_v0", 4, seed=0)
    kept = [venv.reset()]
    copies = [kept[0].copy()]
    for _ in range(60):
        seen, rewards, dones, infos = venv.step(first_legal(venv))
        for array in (seen, rewards, dones, *(info["terminal_observation"] for info in infos if info)):
            kept.append(array)
            copies.append(array.copy())
    assert all(np.array_equal(a, b) for a, b in zip(kept, copies, strict=True))


def test_a_truncated_game_is_marked_for_bootstrapping() -> None:
    venv = VecEnv("peasy_v0", 2, max_cycles=10, seed=0)
    venv.reset()
    for _ in range(20):
        _, _, dones, infos = venv.step(first_legal(venv))
        if dones.any():
            break
    row = int(dones.argmax())
    assert infos[row]["TimeLimit.truncated"] and infos[row]["terminal_observation"].any()


def test_self_play_fills_the_pool_and_saves_it(tmp_path: Path) -> None:
    game = easyenvs.find_game("peasy_v0")
    pool = Pool(game, ["random", "greedy"], size=2)
    venv = VecEnv(game, 8, opponents=pool, seat="random", seed=0)
    model = MaskablePPO("MlpPolicy", venv, **TINY)
    callback = SelfPlayCallback(pool, every=200, save_to=tmp_path / "pool")
    model.learn(128 * 8, callback=callback)
    assert [member.name for member in pool.members] == ["random", "greedy", "step 768", "step 1024"]
    member = pool.members[-1].policy
    assert isinstance(member, NetworkPolicy) and member.temperature == 1.0
    assert sum(member.played for member in pool.members) > 0
    again = Pool.load(tmp_path / "pool", game)
    assert [m.name for m in again.members] == [m.name for m in pool.members]
    result = play_deals(game, [again.members[-1].policy, load_policy("random", game)], np.arange(4))
    assert result.ranks.shape == (4, 2, 2)
    with pytest.raises(ValueError, match="every=0"):
        SelfPlayCallback(pool, every=0)


def test_without_the_extra_the_import_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys, easyenvs\n"
        "assert not {'torch', 'stable_baselines3', 'pygame', 'typer'} & set(sys.modules), 'imported too early'\n"
        "sys.modules['stable_baselines3'] = None\n"
        "try:\n    import easyenvs.sb3\n"
        "except easyenvs.MissingExtraError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert 'pip install "easyenvs[sb3]"' in done.stdout
