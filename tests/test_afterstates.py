"""The agent that judges what a turn leaves behind, and the script that trains it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

import easyenvs
from easyenvs.arena import evaluate
from easyenvs.core.policies import Decisions, act, decisions, load_policy, random_policy
from easyenvs.core.weights import Layer, WeightsError, load_weights, save_network
from easyenvs.peasy_v0.cards import FIRST_PLAY, Action, Phase
from examples import train_afterstates as script
from examples.agents._trained import load
from examples.agents.peasy_v0 import _afterstates as afterstates
from examples.agents.peasy_v0._turns import Lines, weigh
from tests.test_scripts import run

GAME = easyenvs.find_game("peasy_v0")
ABOUT = {"format": 1, "game": "peasy_v0", "num_players": 2, "observation": "afterstates"}


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def settings(**changes: Any) -> script.Settings:
    values: dict[str, Any] = {
        "seed": 3,
        "num_games": 24,
        "rollout": 20,
        "teacher_steps": 900,
        "td_lambda": 0.8,
        "temperature": 0.05,
        "draws": 2,
        "hidden": (16, 8),
        "epochs": 2,
        "minibatch": 64,
        "learning_rate": 1e-3,
        "averaging": 0.9,
    }
    return script.Settings(**{**values, **changes})


def some_layers(seed: int = 0) -> list[Layer]:
    rng = np.random.default_rng(seed)
    sizes = [afterstates.NUM_INPUTS, 24, 12, 1]
    return [
        Layer.rounded(rng.normal(size=(a, b)) / np.sqrt(a), rng.normal(size=b) * 0.1)
        for a, b in itertools.pairwise(sizes)
    ]


def some_policy() -> afterstates.AfterstatePolicy:
    return afterstates.AfterstatePolicy(some_layers(), ABOUT)


# ------------------------------------------------------------------------------------------------- the agent


def test_choices_are_legal_and_those_of_any_other_batch() -> None:
    policy = some_policy()
    games = GAME.batch(150, num_players=2, seed=4, autoreset=True)
    seen = 0
    for number in range(60):
        d = decisions(games)
        chosen = policy(d)
        assert games.legal[np.arange(150), chosen].all()
        if number % 5 == 0:
            order = np.random.default_rng(number).permutation(150)
            np.testing.assert_array_equal(policy(decisions(games, order)), chosen[order])
            np.testing.assert_array_equal(policy(decisions(games, order[:3])), chosen[order[:3]])
            assert policy(decisions(games, order[:1]))[0] == chosen[order[0]]
        seen += 150
        games.step(chosen if number % 2 else random_policy(d))
    assert seen == 9000


def test_judgements_are_exact_in_any_batch() -> None:
    """To the last bit, also where a library would order the sums of a matrix product differently."""
    games = GAME.batch(60, num_players=2, seed=5)
    for _ in range(12):
        games.step(act(games, [random_policy] * 2))
    policy, whole = some_policy(), decisions(games)
    worth = weigh(whole, policy.judge).worth
    assert len(np.unique(worth[np.isfinite(worth)])) > 200
    for row in range(60):
        alone = weigh(decisions(games, np.array([row])), policy.judge).worth
        np.testing.assert_array_equal(alone[0], worth[row])


def test_other_rules_are_played_too() -> None:
    policy = some_policy()
    for rules, ended in (({"num_rounds": 1}, 5), ({"num_rounds": 5}, 0), ({"target_score": 15}, 5)):
        games = GAME.batch(20, num_players=2, seed=6, **rules)
        for _ in range(60):
            games.step(act(games, [policy, random_policy]))
        assert games.terminated.sum() >= ended


def test_other_games_and_numbers_of_players_are_refused() -> None:
    with pytest.raises(ValueError, match="the game is peasy_v0 with 3"):
        some_policy()(decisions(GAME.batch(1, num_players=3, seed=0)))
    school = easyenvs.find_game("school_v0")
    with pytest.raises(ValueError, match="the game is school_v0 with 2"):
        some_policy()(decisions(school.batch(1, num_players=2, seed=0)))


def test_the_network_sees_the_game_from_the_directions_side() -> None:
    """Colours and discard piles have no names: the same position with others is the same to the network."""
    games = GAME.batch(300, num_players=2, seed=7)
    for _ in range(14):
        games.step(act(games, [random_policy] * 2))
    d = decisions(games, np.flatnonzero(games.phase == Phase.TURN))
    value = np.bitwise_count(d.view.tops - np.uint64(1)) % 10
    d = decisions(
        games, np.flatnonzero(games.phase == Phase.TURN)[value[0] != value[1]]
    )  # else the first pile is first
    assert len(d) > 100
    x = turn_ends(d)
    view = d.view
    group = np.uint64(1023)

    def recoloured(words: Any) -> Any:
        """Every colour becomes the next one; the last the first."""
        return (words << np.uint64(10)) & np.uint64(2**40 - 1) | (words >> np.uint64(30)) & group

    for name in ("hand", "row", "face_up", "tops", "buried", "unseen_fresh", "unseen_old"):
        setattr(view, name, recoloured(getattr(view, name)))
    view.tops = view.tops[::-1].copy()
    np.testing.assert_array_equal(turn_ends(d), x)


def turn_ends(d: Decisions) -> Any:
    """The inputs as if every turn ended with nothing done."""
    num = np.arange(len(d))
    up, tops = d.view.up[0], np.bitwise_count(d.view.tops - np.uint64(1)).astype(np.intp)
    not_turned = np.full(len(d), -1)
    direction = d.view.direction.astype(np.intp)
    return afterstates.Situation(d).inputs(
        Lines(num, num, d.view.hand, up[0], up[1], tops[0], tops[1], direction, not_turned)
    )


def test_the_best_line_is_one_that_begins_with_the_action() -> None:
    games = GAME.batch(100, num_players=2, seed=8)
    policy, seen = some_policy(), 0
    for _ in range(20):
        d = decisions(games)
        weighed = weigh(d, policy.judge)
        chosen = weighed.worth.argmax(axis=1)
        line = weighed.best_line(np.arange(100), chosen)
        assert ((line >= 0) == (chosen != Action.FLIP)).all()
        k = np.flatnonzero(line >= 0)
        best = weighed.lines.pick(line[k])
        np.testing.assert_array_equal(best.game, k)
        np.testing.assert_array_equal(best.root, k * d.num_actions + chosen[k])
        np.testing.assert_array_equal(weighed.line_worth[line[k]], weighed.worth[k, chosen[k]])
        seen += int((chosen[k] >= FIRST_PLAY).sum())
        games.step(chosen)
    assert seen > 500


# ------------------------------------------------------------------------------------------------- weights files


def test_weights_files_that_are_none_for_this_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.npz"
    save_network(path, some_layers(), ABOUT)
    policy = load(path)
    assert policy.about["game"] == "peasy_v0" and "24 → 12 → 1" in repr(policy)
    with pytest.raises(WeightsError, match="'afterstates'; bits or flat is accepted"):
        load_weights(path)

    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(WeightsError, match="is no weights file"):
        load(path)
    with pytest.raises(WeightsError, match="there is no weights file"):
        load(tmp_path / "missing.npz")
    for key, value in (("game", "school_v0"), ("num_players", 3), ("format", 2)):
        save_network(path, some_layers(), {**ABOUT, key: value})
        with pytest.raises(WeightsError, match=f"{key} is {value!r}"):
            load(path)
    for layers, message in (
        (some_layers()[:2], "give 12 outputs"),
        (some_layers()[1:], "take 24 inputs"),
        (some_layers()[::2], "don't fit together"),
        ([], "no layers"),
    ):
        save_network(path, layers, ABOUT)
        with pytest.raises(WeightsError, match=message):
            load(path)


# ------------------------------------------------------------------------------------------------- training


def test_what_a_lead_is_worth() -> None:
    """Against the sum over all ways in which two more rounds can go."""
    match = script.MatchValue()
    rng = np.random.default_rng(0)
    for _ in range(5):
        match.note(rng.integers(-30, 31, 200))
    chance = match.rounds / match.rounds.sum()
    table, middle, most = match.table(), script.MOST_POINTS * afterstates.NUM_ROUNDS, script.MOST_POINTS
    points = np.arange(-most, most + 1)
    for lead in (-40, -7, 0, 3, 25):
        one = (np.sign(lead + points) * chance).sum()
        two = (np.sign(lead + points[:, None] + points) * np.outer(chance, chance)).sum()
        assert table[:, middle + lead] == pytest.approx([np.sign(lead), one, two], abs=1e-5)
    np.testing.assert_allclose(table, -table[:, ::-1], atol=1e-5)


def test_returns_are_those_of_every_game_alone() -> None:
    """Against the forward view of TD(λ): a weighted mean of what was thought after each number of decisions."""
    rng = np.random.default_rng(1)
    steps, games, td_lambda = 40, 6, 0.7
    rollout = script.Rollout(
        x=np.zeros((steps, games, 1), dtype=np.float16),
        ends_turn=np.ones((steps, games), dtype=np.bool_),
        seat=np.zeros((steps, games), dtype=np.intp),
        worth=rng.normal(size=(steps + 1, games)).astype(np.float32),
        sign=rng.choice([-1.0, 1.0], size=(steps + 1, games)).astype(np.float32),
        is_best=rng.random((steps, games)) < 0.8,
        result=np.where(rng.random((steps, games)) < 0.1, rng.normal(size=(steps, games)), np.nan).astype(np.float32),
    )
    found = script.returns(rollout, td_lambda)
    for g in range(games):
        for t in range(steps):
            expected, weight, at = 0.0, 1.0, t
            while True:
                if np.isfinite(rollout.result[at, g]):
                    expected += weight * rollout.result[at, g]
                    break
                at += 1
                thought = rollout.worth[at, g] * rollout.sign[at, g]
                if at == steps or not rollout.is_best[at, g]:
                    expected += weight * thought
                    break
                expected += weight * (1 - td_lambda) * thought
                weight *= td_lambda
            assert found[t, g] == pytest.approx(expected * rollout.sign[t, g], abs=1e-4)


def test_positions_are_kept_where_turns_end() -> None:
    run_ = script.Run(settings(num_games=64, rollout=80), Path("unused"))
    for has_teacher in (True, False):
        rollout = script.collect(run_, has_teacher)
        follows = rollout.seat[1:] != rollout.seat[:-1]
        ends_round = np.isfinite(rollout.result[:-1])
        assert (rollout.ends_turn[:-1] == (follows | ends_round))[rollout.ends_turn[:-1] | ~ends_round].all()
        assert rollout.ends_turn[:-1][ends_round].all()
        assert ends_round.sum() > 100
        assert np.isfinite(rollout.worth).all() == (not has_teacher)
        assert np.abs(rollout.result[np.isfinite(rollout.result)]).max() <= 1
        assert (rollout.x[rollout.ends_turn] != 0).any(axis=1).all()
        assert 0 < rollout.is_best.mean() < 1


def test_a_run_that_was_interrupted_ends_as_if_it_had_not_been(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    s = settings()
    per_rollout, quiet = s.num_games * s.rollout, Console(quiet=True)
    for name in ("whole", "broken"):
        (tmp_path / name).mkdir()
    whole = script.Run(s, tmp_path / "whole")
    script.train(whole, 5 * per_rollout, 3 * per_rollout, 2, quiet)

    broken = script.Run(s, tmp_path / "broken")
    collect, calls = script.collect, []

    def interrupted(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return collect(*arguments)

    monkeypatch.setattr(script, "collect", interrupted)
    with pytest.raises(KeyboardInterrupt):
        script.train(broken, 5 * per_rollout, 3 * per_rollout, 2, quiet)
    again = script.Run.resume(tmp_path / "broken")
    assert again.steps == 3 * per_rollout and again.settings == s
    script.train(again, 5 * per_rollout, 3 * per_rollout, 2, quiet)
    for mine, other in zip(whole.averaged.parameters(), again.averaged.parameters(), strict=True):
        assert torch.equal(mine, other)
    assert [(e.steps, e.opponent, e.placement) for e in whole.evaluations] == [
        (e.steps, e.opponent, e.placement) for e in again.evaluations
    ]
    policies = [load(tmp_path / name / "weights.npz") for name in ("whole", "broken")]
    games = GAME.batch(50, num_players=2, seed=9)
    for _ in range(12):
        d = decisions(games)
        np.testing.assert_array_equal(policies[0](d), policies[1](d))
        games.step(policies[0](d))


def test_it_learns(tmp_path: Path) -> None:
    """A little of the heuristic's play is enough to beat random; what it judges explains more and more."""
    run_ = script.Run(settings(num_games=256, rollout=80, hidden=(32,), averaging=0.9), tmp_path)
    explained = [script.learn(run_, script.collect(run_, True))["explained"] for _ in range(3)]
    explained.append(script.learn(run_, script.collect(run_, False))["explained"])
    assert explained[0] < 0.1 < explained[2]
    assert evaluate(run_.policy(), "random", GAME, num_players=2, deals=40).placement > 0.6


def test_the_script_leaves_weights_logs_and_a_curve(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    small = ["--evaluate-every", "10000", "--evaluation-deals", "2", "--threads", "1"]
    tiny = ["--num-games", "32", "--rollout", "16", "--hidden", "16", "--teacher-steps", "600"]
    name = "examples/train_afterstates.py"
    out = run(name, "--steps", "1500", "--output", str(folder), *tiny, *small)
    assert "against random" in out and "learning curve" in out
    out = run(name, "--output", str(folder), "--resume", "--steps", "2500", *small)
    about = load(folder / "weights.npz").about
    assert about["steps"] == 2560 and about["seconds"] >= 0
    assert about["command"].startswith("python examples/train_afterstates.py --") and "--hidden 16" in about["command"]
    assert (folder / "learning_curve.png").stat().st_size > 10_000
    assert list((folder / "tensorboard").iterdir())
    assert len(json.loads((folder / "run.json").read_text())["evaluations"]) == 4


# ------------------------------------------------------------------------------------------------- the agent that ships


def test_the_agent_that_ships_beats_the_heuristic() -> None:
    policy = load_policy("trained", GAME)
    assert evaluate(policy, "heuristic", GAME, num_players=2, deals=250, first_seed=5).placement > 0.0
    with pytest.raises(ValueError, match="with 3 players; there are"):
        policy(decisions(GAME.batch(1, num_players=3, seed=0)))
