"""The training scripts: credit along a seat's own decisions, resuming, what they leave in their folder; the trained agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

import easyenvs
from benchmarks import training
from easyenvs.arena import evaluate
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import agent_names, decisions, load_policy
from easyenvs.core.weights import load_weights
from easyenvs.selfplay import Pool
from examples import train_selfplay_ppo as selfplay
from examples.agents._trained import load, weights_files
from tests.test_scripts import run

GAMES = list(easyenvs.games().values())


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def tiny_settings(**changes: Any) -> selfplay.Settings:
    values: dict[str, Any] = {
        "game": "peasy_v0",
        "players": 2,
        "reward": "placement",
        "reward_scale": 1.0,
        "observation": "bits",
        "seed": 3,
        "num_games": 16,
        "rollout": 40,
        "epochs": 2,
        "minibatch": 128,
        "learning_rate": 1e-3,
        "gae_lambda": 0.9,
        "clip": 0.2,
        "entropy": 0.01,
        "hidden": (24, 16),
        "precision": "float32",
        "opponent": None,
        "opponent_share": 0.0,
        "imitate": None,
        "imitate_steps": 0,
        "imitate_rate": 1e-3,
        "imitate_epochs": 1,
    }
    return selfplay.Settings(**{**values, **changes})


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("gae_lambda", [0.0, 0.8, 1.0])
def test_credit_is_that_of_every_seat_alone(players: int, gae_lambda: float) -> None:
    """Against the textbook recursion over each seat's own list of decisions."""
    rng = np.random.default_rng(0)
    steps, games = 60, 7
    value = rng.normal(size=(steps, games)).astype(np.float32)
    seat = rng.integers(0, players, (steps, games))
    earned = (rng.normal(size=(steps, games, players)) * (rng.random((steps, games, 1)) < 0.2)).astype(np.float32)
    ended = rng.random((steps, games)) < 0.08
    advantage, complete = selfplay.credit(value, seat, earned, ended, gae_lambda)
    checked = 0
    for g in range(games):
        start = 0
        for end in [*np.flatnonzero(ended[:, g]), None]:
            stop = steps if end is None else int(end) + 1
            for s in range(players):
                own = [t for t in range(start, stop) if seat[t, g] == s]
                following = 0.0
                for k in reversed(range(len(own))):
                    t, last = own[k], k == len(own) - 1
                    assert complete[t, g] == (end is not None or not last)
                    until = stop if last else own[k + 1]
                    gain = earned[t:until, g, s].sum()
                    next_value = 0.0 if last else value[own[k + 1], g]
                    if end is None and last:
                        following = 0.0
                        continue
                    following = gain + next_value - value[t, g] + gae_lambda * following
                    assert advantage[t, g] == pytest.approx(following, abs=1e-4)
                    checked += 1
            start = stop
    assert checked > 300


def test_a_loser_is_told_so() -> None:
    """Rollouts of whole games: with γ = λ = 1 and values 0, a decision's advantage is its seat's final reward."""
    settings = tiny_settings(rollout=400, gae_lambda=1.0, num_games=8)
    run_ = selfplay.Run(settings, Path("unused"))
    with torch.no_grad():
        for parameter in run_.network.parameters():
            parameter.zero_()
    rollout = selfplay.collect(run_.games, run_.network, settings, run_.generator)
    known = rollout.complete
    seen = set(rollout.advantage[known].tolist())
    assert {-1.0, 1.0} <= seen <= {-1.0, 0.0, 1.0}
    wins, losses = ((rollout.advantage[known] == sign).sum().item() for sign in (1, -1))
    assert 0.5 < wins / losses < 2


@pytest.mark.parametrize("imitate", [None, "greedy"])
def test_a_run_that_was_interrupted_ends_as_if_it_had_not_been(
    imitate: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tiny_settings(imitate=imitate, imitate_steps=700 if imitate else 0)
    per_rollout = settings.num_games * settings.rollout
    steps, quiet = 4 * per_rollout, Console(quiet=True)
    for name in ("whole", "broken"):
        (tmp_path / name).mkdir()
    whole = selfplay.Run(settings, tmp_path / "whole")
    selfplay.train(whole, steps, 2 * per_rollout, 4, quiet)

    broken = selfplay.Run(settings, tmp_path / "broken")
    collect, calls = selfplay.collect, []

    def interrupted(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return collect(*arguments)

    monkeypatch.setattr(selfplay, "collect", interrupted)
    with pytest.raises(KeyboardInterrupt):
        selfplay.train(broken, steps, 2 * per_rollout, 4, quiet)
    again = selfplay.Run.resume(tmp_path / "broken")
    assert again.steps == 2 * per_rollout and again.settings == settings
    selfplay.train(again, steps, 2 * per_rollout, 4, quiet)
    for mine, other in zip(whole.network.parameters(), again.network.parameters(), strict=True):
        assert torch.equal(mine, other)
    assert [(e.steps, e.opponent, e.placement) for e in whole.evaluations] == [
        (e.steps, e.opponent, e.placement) for e in again.evaluations
    ]


def test_imitation_learns_the_teachers_moves(tmp_path: Path) -> None:
    settings = tiny_settings(
        game="school_v0", imitate="greedy", imitate_steps=10**6, num_games=64, hidden=(64,), imitate_rate=3e-3
    )
    run_ = selfplay.Run(settings, tmp_path)
    teacher = load_policy("greedy", run_.game)
    figures = []
    for _ in range(8):
        rollout = selfplay.collect(run_.games, run_.network, settings, run_.generator, teacher)
        figures.append(
            selfplay.learn(rollout, run_.network, run_.optimizer, settings, run_.generator, True)["agreement"]
        )
    assert figures[-1] > figures[0] + 0.1
    assert figures[-1] > 0.55


def test_the_scripts_leave_weights_logs_and_a_curve(tmp_path: Path) -> None:
    folder = tmp_path / "selfplay"
    arguments = [
        "--output",
        str(folder),
        "--num-games",
        "32",
        "--rollout",
        "16",
        "--hidden",
        "16",
        "--minibatch",
        "256",
    ]
    small = ["--evaluate-every", "1000", "--evaluation-deals", "4", "--threads", "1"]
    out = run(
        "examples/train_selfplay_ppo.py", "--game", "school_v0", "--players", "3", "--steps", "1500", *arguments, *small
    )
    assert "against random" in out and "learning curve" in out
    out = run("examples/train_selfplay_ppo.py", "--output", str(folder), "--resume", "--steps", "2500", *small)
    policy = load_weights(folder / "weights.npz")
    assert policy.about["num_players"] == 3 and policy.about["steps"] == 2560
    assert "--game school_v0 --players 3" in policy.about["command"] and "--hidden 16" in policy.about["command"]
    assert (folder / "learning_curve.png").stat().st_size > 10_000
    assert list((folder / "tensorboard").iterdir())
    assert len(json.loads((folder / "run.json").read_text())["evaluations"]) == 8

    folder = tmp_path / "sb3"
    arguments = [
        "--output",
        str(folder),
        "--num-envs",
        "16",
        "--n-steps",
        "16",
        "--batch-size",
        "128",
        "--hidden",
        "16",
    ]
    small = ["--evaluate-every", "400", "--evaluation-deals", "4", "--threads", "1"]
    run("examples/train_maskable_ppo.py", "--steps", "600", "--pool-every", "256", *arguments, *small)
    out = run("examples/train_maskable_ppo.py", "--steps", "1000", "--output", str(folder), "--resume", *small)
    assert "against random" in out
    assert load_weights(folder / "weights.npz").about["steps"] == 1024
    assert [m.name for m in Pool.load(folder / "pool", GAMES[0]).members][:4] == [
        "random",
        "greedy",
        "heuristic",
        "step 256",
    ]
    assert (folder / "learning_curve.png").stat().st_size > 10_000
    assert list((folder / "tensorboard").iterdir())


def test_the_quickstart_learns(tmp_path: Path) -> None:
    out = run("examples/quickstart.py", "--steps", "25000", "--deals", "200", "--save", str(tmp_path / "model.zip"))
    wins = float(out.split("wins ")[-1].split(" ±")[0])
    assert wins > 60
    assert (tmp_path / "model.zip").is_file()


@pytest.mark.filterwarnings("ignore:You have specified a mini-batch size:UserWarning")
@pytest.mark.parametrize("row", range(len(training.ROWS)))
def test_every_row_of_the_training_benchmark_gives_a_rate(row: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "ROLLOUT", 512)
    if training.ROWS[row] is training.selfplay_script:
        monkeypatch.setattr(training, "_settings_of", lambda main, game: {**vars(tiny_settings()), "hidden": "16"})
    assert training.measure(row, "peasy_v0", 0.0) > 10


# ------------------------------------------------------------------------------------------------- agents that ship


def test_the_agents_that_ship_are_those_that_were_promised() -> None:
    assert [path.stem for path in weights_files()] == ["peasy_v0-2p", "school_v0-2p", "school_v0-3p"]
    assert all(path.stat().st_size <= 1_000_000 for path in weights_files())
    assert all("trained" in agent_names(game) for game in GAMES)


@pytest.mark.parametrize("path", weights_files(), ids=lambda path: path.stem)
def test_a_trained_agent_plays_and_beats_the_heuristic(path: Path) -> None:
    about = load(path).about
    game, players = easyenvs.find_game(about["game"]), about["num_players"]
    assert path.stem == f"{game.id}-{players}p"
    assert about["command"].startswith(
        ("python examples/train_selfplay_ppo.py --", "python examples/train_afterstates.py")
    )
    assert about["seconds"] > 0
    policy = load_policy("trained", game)
    against_heuristic = evaluate(policy, "heuristic", game, num_players=players, deals=600 // players, first_seed=5)
    assert against_heuristic.placement > 0.0
    against_random = evaluate(policy, "random", game, num_players=players, deals=200 // players, first_seed=5)
    assert against_random.placement > 0.8
    published = json.loads((path.parent / "evaluation.json").read_text())["results"]
    for now in (against_heuristic, against_random):
        (then,) = [r for r in published if r["weights"] == path.name and r["opponent"] == now.opponent]
        assert abs(then["placement"] - now.placement) < 1.5 * now.interval + then["interval"] + 0.01
        assert then["games"] >= 10_000
        if now.opponent == "heuristic":
            assert then["placement"] >= 0.15
            assert then["placement"] - then["interval"] > 0
    assert (path.with_suffix(".png")).stat().st_size > 10_000


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_numbers_of_players_without_weights_are_refused(game: GameDefinition) -> None:
    with pytest.raises(ValueError, match="with 5 players; there are"):
        load_policy("trained", game)(decisions(game.batch(1, num_players=5, seed=0)))
