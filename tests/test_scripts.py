"""The examples and benchmarks run as they stand, on tiny budgets; both engines of the benchmark give the same results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import easyenvs
from benchmarks.league import competitors

ROOT = Path(__file__).resolve().parents[1]


def run(*command: str, cwd: Path = ROOT) -> str:
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "COLUMNS": "200"}
    done = subprocess.run([sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("game", [[], ["peasy_v0"], ["school_v0"]])
def test_play_one_game(game: list[str]) -> None:
    out = run("examples/play_one_game.py", *game)
    assert "player_0: reward" in out
    assert "is to act" in out  # the table is shown at the first decision at least


def test_random_vs_heuristic_on_both_engines(tmp_path: Path) -> None:
    results = {}
    for engine in ("batch", "aec"):
        file = tmp_path / f"{engine}.json"
        out = run(
            "benchmarks/random_vs_heuristic.py", "--deals", "3", "--players", "2 3", "--seed", "4",
            "--engine", engine, "--json", str(file), "--plot", str(tmp_path / f"{engine}.png"),
        )  # fmt: skip
        assert "heuristic" in out and "win rate" in out
        results[engine] = json.loads(file.read_text())["results"]
        assert (tmp_path / f"{engine}.png").stat().st_size > 10_000
    for match in [*results["batch"], *results["aec"]]:
        del match["decisions_per_second"]
    assert results["batch"] == results["aec"]
    assert {(r["game"], r["players"], r["policy"], r["against"]) for r in results["batch"]} >= {
        ("peasy_v0", 3, "heuristic", "random"), ("peasy_v0", 2, "greedy", "random"), ("peasy_v0", 2, "heuristic", "greedy"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["benchmarks/random_vs_heuristic.py", "--game", "chess"], "'chess' is no game"),
        (["benchmarks/random_vs_heuristic.py", "--players", "9"], "num_players=9"),
        (["benchmarks/random_vs_heuristic.py", "--players", "two"], "two"),
        (["benchmarks/random_vs_heuristic.py", "--engine", "gpu"], "'gpu' is no engine"),
        (["benchmarks/random_vs_heuristic.py", "--deals", "1"], "--deals"),
        (["benchmarks/speed.py", "--repeats", "3"], "--repeats"),
        (["benchmarks/speed.py", "--game", "go"], "'go' is no game"),
        (["benchmarks/training.py", "--game", "go"], "'go' is no game"),
        (["docs/make_screenshots.py", "chess"], "no name begins with 'chess'"),
        (["examples/quickstart.py", "--game", "go"], "'go' is no game"),
        (["examples/train_maskable_ppo.py", "--observation", "text"], "neither bits nor flat"),
        (["examples/train_maskable_ppo.py", "--resume", "--output", "nowhere"], "no run.json"),
        (["examples/train_selfplay_ppo.py", "--players", "9"], "num_players=9"),
        (["examples/train_selfplay_ppo.py", "--imitate", "kasparov"], "names no policy"),
        (["examples/train_selfplay_ppo.py", "--precision", "int4"], "neither float32 nor bfloat16"),
        (["examples/train_selfplay_ppo.py", "--resume", "--output", "nowhere"], "no checkpoint.pt"),
        (["examples/train_afterstates.py", "--hidden", "wide"], "'wide' are no sizes"),
        (["examples/train_afterstates.py", "--resume", "--output", "nowhere"], "no checkpoint.pt"),
    ],
)
def test_wrong_arguments_end_with_a_message_and_no_traceback(arguments: list[str], message: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"}
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_league_writes_tables_and_plots(tmp_path: Path) -> None:
    run(
        "benchmarks/league.py", "--game", "peasy_v0", "--players", "2", "--games", "2", "--budgets", "3",
        "--jobs", "1", "--output", str(tmp_path),
    )  # fmt: skip
    two = json.loads((tmp_path / "peasy_v0-2p.json").read_text())["results"]
    assert two["policies"] == ["random", "greedy", "heuristic", "trained", "search 3"]
    # Nobody was trained for three.
    three = competitors(easyenvs.find_game("peasy_v0"), 3, [3, 9])
    assert list(three) == ["random", "greedy", "heuristic", "search 3", "search 9"]
    assert two["games"] == 20
    for name in ("peasy_v0-2p-elo.png", "peasy_v0-2p-payoff.png"):
        assert (tmp_path / name).stat().st_size > 5_000
