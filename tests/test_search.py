"""Search agents: the same choice alone, in a batch and in the AEC env; honest, legal, within the budget, and able to win."""

from __future__ import annotations

import importlib
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import easyenvs
from benchmarks import search_strength
from easyenvs.core import chance
from easyenvs.core.arrays import F64, Index
from easyenvs.core.batch import Batch
from easyenvs.core.errors import OptionError
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import Decisions, act, agent_names, decisions, load_policy, random_policy
from examples.agents._rollouts import Guide
from examples.agents.search import ISMCTS, Config, FlatMonteCarlo, Search, SequentialHalving, guide_for
from tests.peasy_v0 import positions as peasy
from tests.school_v0 import positions as school

GAMES = list(easyenvs.games().values())
ALGORITHMS: list[type[Search]] = [FlatMonteCarlo, SequentialHalving, ISMCTS]
every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)


class Counting:
    """A judge that ends every rollout after so many decisions, counts it, and finds noise for a value."""

    def __init__(self, depth: int = 0) -> None:
        self.depth = depth
        self.number = 0

    def __call__(self, now: Decisions, root: Decisions, of: Index) -> F64:
        noise = chance.derive_array(chance.DOMAIN_POLICY, now.keys, 3) >> np.uint64(40)
        own = noise.astype(np.float64) / 2.0**23 - 1.0
        own[now.view.decisions - root.view.decisions[of] <= self.depth] = np.nan
        self.number += int((~np.isnan(own)).sum())
        return np.concatenate([own[None], np.repeat(-own[None] / (now.num_players - 1), now.num_players - 1, axis=0)])


def later(game: GameDefinition, players: int, num_games: int, steps: int, seed: int = 1) -> Batch:
    """Games between the random and the heuristic policy, none of them over."""
    games = game.batch(num_games, num_players=players, seed=seed, autoreset=True)
    heuristic = load_policy("heuristic", game)
    for number in range(steps):
        games.step(act(games, [heuristic if number % 2 else random_policy] * players))
    return games


def one_of_each_phase(game: GameDefinition, players: int) -> Batch:
    games = later(game, players, 64, 0)
    found: dict[int, dict[str, Any]] = {}
    for _ in range(150):
        games.step(act(games, [random_policy] * players))
        for phase, row in zip(*np.unique(games.phase, return_index=True), strict=True):
            if phase not in found:
                found[phase] = games.snapshot(int(row))
    batch = game.batch(len(found), num_players=players, seed=2)
    for row, snapshot in enumerate(found.values()):
        batch.restore(row, snapshot)
    assert {snapshot["phase"] for snapshot in found.values()} >= {
        "peasy_v0": {"direction", "turn", "play", "bonus"},
        "school_v0": {"turn", "draw", "discard", "practice", "stack", "sixth"} | ({"relax"} if players > 2 else set()),
    }[game.id]
    return batch


# ------------------------------------------------------------------------------------------------- determinize


@every_game
@pytest.mark.parametrize("players", [2, 3])
def test_a_redrawn_game_depends_on_the_decision_and_its_number_alone(game: GameDefinition, players: int) -> None:
    seeds = [chance.row_seed(5, i) for i in range(4)]
    games = game.batch(4, num_players=players, seed=seeds)
    python = game.batch(1, num_players=players, seed=seeds[2:3], engine="python")
    env = game.env(num_players=players)
    env.reset(seed=seeds[2])
    for number in range(40):
        if number % 8 == 0:
            d = decisions(games, seed=9)
            together = d.determinize(3)
            assert together.num_games == 12 and not together.autoreset
            others = [
                decisions(games, np.array([3, 2]), seed=9).determinize(np.array([1]), rows=np.array([1])),
                d.pick(np.array([1, 2])).determinize(np.array([1, 0]), rows=np.array([1, 1])),
                decisions(python, seed=9).determinize(2).take([1]),
                env.decision(9).determinize(2).take([1]),
            ]
            for other in others:
                assert other.snapshot(0) == together.snapshot(7)
            seat = np.repeat(d.seat, 3)
            np.testing.assert_array_equal(together.observe("bits", seat), games.observe("bits").repeat(3, axis=0))
            assert len({json.dumps(together.snapshot(row)) for row in range(12)}) == 12
            assert not set(together.seeds.tolist()) & set(games.seeds.tolist())
        actions = act(games, [random_policy] * players)
        games.step(actions)
        python.step(actions[2:3])
        env.step(int(actions[2]))


@every_game
def test_a_redrawn_game_does_not_depend_on_what_is_hidden(game: GameDefinition) -> None:
    games = later(game, 3, 20, 30)
    for attempt in range(3):
        hidden = games.resample(seed=attempt)
        d, other = decisions(games), decisions(hidden)
        other.keys = d.keys
        drawn, redrawn = d.determinize(1), other.determinize(1)
        assert any(games.snapshot(row) != drawn.snapshot(row) for row in range(20))
        for row in range(20):
            assert drawn.snapshot(row) == redrawn.snapshot(row)


@every_game
def test_decisions_that_are_no_longer_to_be_made_are_not_determinized(game: GameDefinition) -> None:
    games = game.batch(3, num_players=2, seed=1)
    d = decisions(games)
    games.step(games.legal.argmax(axis=1))
    with pytest.raises(ValueError, match="their games have gone on"):
        d.determinize(1)
    with pytest.raises(ValueError, match="without a view"):
        decisions(games, with_view=False).determinize(1)
    by_hand = decisions(games)
    by_hand = Decisions(game, games.rules, by_hand.seat, by_hand.legal_words, by_hand.view, by_hand.keys)
    with pytest.raises(ValueError, match="were not made by `decisions`"):
        by_hand.determinize(1)


def test_wrong_arguments_of_determinize_are_refused() -> None:
    d = decisions(GAMES[0].batch(3, num_players=2, seed=1))
    for copies in (0, -1, 2.0, True):
        with pytest.raises(OptionError, match="copies="):
            d.determinize(copies)
    with pytest.raises(ValueError, match=r"copies are int64 of shape \(2,\); an integer, or integers \(3,\)"):
        d.determinize(np.array([0, 1]))
    with pytest.raises(ValueError, match="copies are"):
        d.determinize(np.array([0, 1, -1]))
    for rows, message in (
        ([3], "decisions are 0 … 2"),
        ([-1], "rows are -1"),
        ([0.0], "float64"),
        ([], "at least one"),
    ):
        with pytest.raises(ValueError, match=message):
            d.determinize(1, rows=np.array(rows))


# ------------------------------------------------------------------------------------------------- the choice


@every_game
@pytest.mark.parametrize("algorithm", [*ALGORITHMS, None], ids=lambda value: getattr(value, "__name__", "as named"))
def test_the_same_choice_alone_in_a_batch_split_and_in_the_aec_env(
    game: GameDefinition, algorithm: type[Search] | None
) -> None:
    if algorithm is None:  # with the rollouts of the agent "search", few and small
        search: Search = SequentialHalving(Config(rollouts=8, rounds=2, candidates=2))
    else:
        search = algorithm(
            Config(rollouts=24, wave=4), replace(guide_for(game.id), judge=Counting(depth=3), caution=0.3)
        )
    games = game.batch(5, num_players=2, seed=[11, 12, 13, 14, 15])
    env = game.env(num_players=2)
    env.reset(seed=13)
    heuristic = load_policy("heuristic", game)
    for number in range(11):
        if number in (4, 10):
            report = search.report(decisions(games))
            for rows in ([2], [4, 2, 0]):
                part = search.report(decisions(games, np.array(rows)))
                np.testing.assert_array_equal(part.action, report.action[rows])
                np.testing.assert_array_equal(part.value, report.value[rows][:, : part.value.shape[1]])
            np.testing.assert_array_equal(search(env.decision()), report.action[[2]])
        actions = heuristic(decisions(games))
        games.step(actions)
        env.step(int(actions[2]))


@every_game
@every_algorithm
def test_search_is_honest(game: GameDefinition, algorithm: type[Search]) -> None:
    """Whatever lies where the seat can't see it: the choice, and all that it is based on, is the same."""
    search = algorithm(Config(rollouts=40), replace(guide_for(game.id), judge=Counting(), caution=0.0))
    games = later(game, 3, 30, 25)
    for attempt in range(3):
        d, other = decisions(games), decisions(games.resample(seed=attempt))
        other.keys = d.keys
        report, same = search.report(d), search.report(other)
        np.testing.assert_array_equal(report.action, same.action)
        np.testing.assert_array_equal(report.value, same.value)
        assert (report.action != report.candidates[:, 0]).any()


@every_game
@pytest.mark.parametrize("players", range(2, 7))
def test_choices_are_legal_in_every_phase(game: GameDefinition, players: int) -> None:
    games = one_of_each_phase(game, players)
    d = decisions(games)
    for algorithm in ALGORITHMS:
        guide = guide_for(game.id) if algorithm is SequentialHalving else replace(guide_for(game.id), judge=Counting())
        report = algorithm(Config(rollouts=8, rounds=1, candidates=3), guide).report(d)
        assert games.legal[np.arange(games.num_games), report.action].all()
        assert (report.rollouts > 0).any()
        tried = report.candidates >= 0
        assert games.legal[np.nonzero(tried)[0], report.candidates[tried]].all()
        assert np.isfinite(report.value[report.rollouts > 0][:, 0]).all()


@every_game
@every_algorithm
@pytest.mark.parametrize("rollouts", [1, 7, 40])
def test_the_budget_is_kept(game: GameDefinition, algorithm: type[Search], rollouts: int) -> None:
    judge = Counting()
    search = algorithm(Config(rollouts=rollouts, candidates=4), replace(guide_for(game.id), judge=judge))
    games = later(game, 2, 30, 20)
    report = search.report(decisions(games))
    assert report.rollouts.max() <= rollouts
    assert judge.number <= report.rollouts.sum()  # those that ended at once are not seen by the judge
    assert judge.number >= 0.9 * report.rollouts.sum()
    several = (report.candidates >= 0).sum(axis=1) > 1
    assert not report.rollouts[~several].any()
    if rollouts == 40 and algorithm is not SequentialHalving:
        assert (report.rollouts[several] > 40 - 4).all()


@every_algorithm
def test_by_the_clock_every_candidate_is_tried(algorithm: type[Search]) -> None:
    game = easyenvs.find_game("school_v0")
    search = algorithm(Config(milliseconds=0.01, wave=4), replace(guide_for(game.id), judge=Counting()))
    games = later(game, 2, 6, 10)
    report = search.report(decisions(games))
    assert games.legal[np.arange(6), report.action].all()
    assert (report.rollouts[(report.candidates >= 0).sum(axis=1) > 1] > 0).all()


@every_game
def test_caution_is_what_another_choice_has_to_be_worth(game: GameDefinition) -> None:
    """With values that are noise alone, a search without caution leaves the favourite often, and a cautious one seldom."""
    d = decisions(later(game, 2, 60, 30))
    changed = []
    for caution in (0.0, 2.5):
        guide = replace(guide_for(game.id), judge=Counting(), caution=caution)
        report = FlatMonteCarlo(Config(rollouts=60), guide).report(d)
        changed.append(int((report.action != report.candidates[:, 0]).sum()))
    assert changed[0] > 4 * changed[1]


# ------------------------------------------------------------------------------------------------- winning

# The last round, all level. G1, the last hand card, ends it with 17 points left, less than the 20 in the other Row: 0 against
# 20. Greedy gets rid of the 9 first, which matches a colour, too.
PEASY_WIN = peasy.position(
    ["G1", "G5 B5 G6 P6"],
    [("R9", "P8"), ("B10", "G10")],
    "R1 B1",
    draw=12,
    round=2,
    totals=[10, 10],
    round_scores=[[0, 10], [10, 0]],
)
# The deck's next card is the last special, by the count of the cards: it ends the game with 10 points to 6, and nobody may take
# an examination, for both are under stress. Greedy plays its stress card first; so will the other, and take one at the end.
SCHOOL_WIN = school.position(["N", "NTHGCJ"], deck="E", semester=2, stress=[1, 1], victory=["NNNN", "TTT"])


@every_algorithm
@pytest.mark.parametrize(
    ("snapshot", "wins"),
    [(PEASY_WIN, {"G1>0", "G1>1"}), (SCHOOL_WIN, {"draw"})],
    ids=["peasy_v0", "school_v0"],
)
@pytest.mark.parametrize("knows", ["the game", "the rules alone"])
def test_finds_the_winning_move_that_greedy_misses(
    algorithm: type[Search], snapshot: dict[str, Any], wins: set[str], knows: str
) -> None:
    game = easyenvs.find_game(snapshot["game"])
    games = game.batch(1, num_players=2, seed=3)
    games.restore(0, snapshot)
    d = decisions(games)
    names = game.notation.ACTION_NAMES
    greedy = load_policy("greedy", game)(d)[0]
    assert names[greedy] not in wins
    guide = guide_for(game.id) if knows == "the game" else Guide()
    report = algorithm(Config(rollouts=400, candidates=30), guide).report(d)
    value = dict(zip(report.candidates[0].tolist(), report.value[0].tolist(), strict=True))
    assert names[report.action[0]] in wins
    assert value[int(report.action[0])] > value[int(greedy)]


# ------------------------------------------------------------------------------------------------- names, options, script


@every_game
def test_the_agent_has_a_name(game: GameDefinition) -> None:
    assert "search" in agent_names(game)
    assert {"greedy", "heuristic"} <= set(agent_names(game))
    search: Any = load_policy("search", game)
    assert type(search).__name__ == "SequentialHalving"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rollouts": 0}, "rollouts=0 is not accepted: rollouts must be None or an integer 1"),
        ({"rollouts": 1.5}, "rollouts=1.5"),
        ({"rollouts": 10, "milliseconds": 5}, "rollouts=10 is not accepted: rollouts must be None where milliseconds"),
        ({"milliseconds": -1}, "milliseconds=-1"),
        ({"milliseconds": True}, "milliseconds=True"),
        ({"milliseconds": float("nan")}, "milliseconds=nan"),
        ({"candidates": 0}, "candidates=0"),
        ({"rounds": 0}, "rounds=0"),
        ({"wave": 0}, "wave=0"),
        ({"drop": -0.5}, "drop=-0.5"),
        ({"exploration": "much"}, "exploration='much'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Config(**options)


def test_another_process_unpickles_an_agent_from_the_same_files() -> None:
    from easyenvs.core.policies import agent_module

    module = importlib.import_module(agent_module("search", easyenvs.find_game("peasy_v0")))
    sent = pickle.dumps(module.SequentialHalving(module.Config(rollouts=7)))
    code = (
        "import pickle, sys, easyenvs; policy = pickle.load(sys.stdin.buffer); "
        "print(policy.config.rollouts, sys.modules[type(policy).__module__].__file__)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=False)
    assert done.stdout.decode().split() == ["7", module.__file__], done.stderr.decode()


def run(*arguments: str) -> Any:
    app = typer.Typer()
    app.command()(search_strength.main)
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments)


def test_the_benchmark_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def quick(game: str) -> Guide:
        return replace(guide_for(game), judge=Counting())

    monkeypatch.setattr("examples.agents.search.guide_for", quick)
    done = run(
        "--game", "peasy_v0", "--deals", "2", "--budgets", "4 8", "--candidates", "2", "--against", "greedy",
        "--json", str(tmp_path / "r.json"), "--plot", str(tmp_path / "r.png"),
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "placement" in done.output
    results = json.loads((tmp_path / "r.json").read_text())["results"]
    assert [(r["game"], r["budget"], r["games"]) for r in results] == [("peasy_v0", 4.0, 4), ("peasy_v0", 8.0, 4)]
    assert all(0 < r["rollouts"] <= r["budget"] and r["milliseconds"] > 0 for r in results)
    assert (tmp_path / "r.png").stat().st_size > 5_000
    again = run("--from", str(tmp_path / "r.json"), "--plot", str(tmp_path / "again.png"))
    assert again.exit_code == 0, again.output
    assert [line for line in done.output.splitlines() if "±" in line] == [
        line for line in again.output.splitlines() if "±" in line
    ]
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / "r.png").read_bytes()
    other = (tmp_path / "r.json").read_text().replace('"greedy"', '"random"')
    (tmp_path / "other.json").write_text(other)
    both = ["--from", str(tmp_path / "r.json"), "--from", str(tmp_path / "other.json")]
    assert run(*both).exit_code == 0
    mixed = run(*both, "--plot", str(tmp_path / "mixed.png"))
    assert mixed.exit_code == 2 and "against greedy, random" in mixed.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--unit", "hours"], "'hours' is no unit"),
        (["--algorithm", "minimax"], "'minimax' is no algorithm"),
        (["--budgets", "0"], "rollouts=0"),
        (["--players", "9"], "num_players=9"),
        (["--against", "nobody"], "'nobody' names no policy"),
        (["--from", "pyproject.toml"], "holds no results"),
        (["--from", "docs/search/peasy_v0.json", "--json", "copy.json"], "plays nothing"),
    ],
)
def test_wrong_arguments_end_with_a_message(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.output
