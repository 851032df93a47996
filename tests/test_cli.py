"""The command line: what it prints, its JSON, its exit codes, and errors without tracebacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import easyenvs
from easyenvs import cli


def run(*arguments: str, code: int = 0) -> str:
    """Its standard output, or where it fails its standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "easyenvs", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "120"},
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr if code else done.stdout


def test_list_and_info() -> None:
    found = {one["game"]: one for one in json.loads(run("list", "--json"))}
    assert set(found) >= {"peasy_v0", "school_v0"}
    assert found["peasy_v0"]["players"] == [2, 3, 4, 5, 6]
    agents = found["school_v0"]["agents"]
    assert {"random", "greedy", "heuristic", "trained", "search"} <= set(agents)
    assert agents["heuristic"] == found["school_v0"]["players"] and agents["trained"] == [2, 3]
    listed = run("list")
    assert "heuristic, " in listed and "trained (2 players)" in listed and "trained (2, 3 players)" in listed
    facts = json.loads(run("info", "school_v0", "--rule", "num_players=4", "--rule", "stack=auto", "--json"))
    assert facts["rules"]["num_players"] == 4 and facts["rules"]["stack"] == "auto"
    width = easyenvs.school_v0.batch(1, num_players=4).observe("flat").shape[1]
    assert facts["observations"]["flat"] == f"float32 [{width}]"
    assert "num_players: 4" in run("info", "school_v0", "--rule", "num_players=4")


def test_match_writes_what_it_is_asked_for(tmp_path: Path) -> None:
    records, plot = tmp_path / "games.jsonl", tmp_path / "ratings.png"
    out = run(
        "match", "peasy_v0", "greedy", "random", "random", "--games", "30", "--seed", "5",
        "--records", str(records), "--plot", str(plot), "--rule", "num_rounds=1",
    )  # fmt: skip
    assert "greedy" in out and "random #2" in out and "3 players" in out
    games = list(easyenvs.read_records(records))
    assert len(games) == 30 and games[0].rules["num_rounds"] == 1
    assert all(len(easyenvs.replay(game)) for game in games)
    assert plot.stat().st_size > 5_000


def test_tournament_in_json_is_the_arena_s_result() -> None:
    text = run("tournament", "peasy_v0", "greedy", "random", "heuristic", "--games", "60", "--json", "--jobs", "2")
    result: dict[str, Any] = json.loads(text)
    expected = easyenvs.arena.play("peasy_v0", ["greedy", "random", "heuristic"], 60)
    assert result == json.loads(expected.to_json())


def test_speed_measures_something() -> None:
    result = json.loads(run("speed", "peasy_v0", "--players", "3", "--seconds", "0.01", "--json"))
    assert [one["game"] for one in result] == ["peasy_v0"] * 3
    assert all(one["decisions_per_second"] > 100 and one["players"] == 3 for one in result)
    assert "PettingZoo" in run("speed", "school_v0", "--seconds", "0.01")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "chess"], "'chess' is no game"),
        (["match", "peasy_v0", "greedy"], "two policies"),
        (["match", "peasy_v0", "greedy", "kasparov"], "'kasparov' names no policy"),
        (["match", "peasy_v0", *["random"] * 7], "num_players=7"),
        (["tournament", "peasy_v0", "greedy", "random", "--until", "wide"], "until='wide'"),
        (["tournament", "peasy_v0", "greedy", "random", "--rule", "speed"], "NAME=VALUE"),
        (["tournament", "peasy_v0", "greedy", "random", "--rule", "speed=3"], "has no option 'speed'"),
        (["match", "peasy_v0", "greedy", "random", "--games", "0"], "--games"),
        (
            ["match", "peasy_v0", "greedy", "random", "--games", "4", "--records", "/no/such/folder/x"],
            "/no/such/folder",
        ),
        (["match", "peasy_v0", "missing.npz", "random"], "missing.npz"),
        (["match", "peasy_v0", "os:path", "random"], "not a function of decisions"),
        (["tournament", "peasy_v0", "greedy", "trained", "--players", "3"], "does not play peasy_v0 with 3 players"),
        (["fly"], "fly"),
    ],
)
def test_errors_have_a_message_a_code_and_no_traceback(arguments: list[str], message: str) -> None:
    said = run(*arguments, code=2)
    assert message in said and said.count("Error: ") == 1


def test_rule_options() -> None:
    assert cli.rule_options(["a=1", "b-c=null", "d=text", "e=true", "f="]) == {
        "a": 1, "b_c": None, "d": "text", "e": True, "f": "",
    }  # fmt: skip
    assert cli.rule_options(None) == {}


def test_without_its_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['typer'] = None; from easyenvs.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert 'pip install "easyenvs[cli]"' in done.stderr and "Traceback" not in done.stderr


def test_starting_up_imports_no_heavy_library() -> None:
    heavy = {"textual", "starlette", "uvicorn", "PIL", "torch", "resvg_py", "pygame", "matplotlib", "scipy"}
    code = f"import sys, easyenvs.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_replay_checks_and_prints_a_record(tmp_path: Path) -> None:
    records = tmp_path / "games.jsonl"
    run("match", "school_v0", "greedy", "random", "--games", "2", "--records", str(records))
    out = run("replay", str(records), "--index", "1")
    assert "school_v0" in out and "greedy" in out
    run("replay", str(records), "--html", str(tmp_path / "game.html"))
    assert "<html" in (tmp_path / "game.html").read_text(encoding="utf-8")
    records.write_text(records.read_text().replace('"action"', '"deed"', 1))
    assert "line 2" in run("replay", str(records), code=2)


def test_all_commands_are_there() -> None:
    out = run("--help")
    for command in ("list", "info", "match", "tournament", "speed", "replay", "play", "serve"):
        assert f"{command} " in out


def test_the_version_and_a_target_that_was_missed() -> None:
    assert run("--version").strip() == f"easyenvs {easyenvs.__version__}"
    out = run("tournament", "peasy_v0", "random", "greedy", "--games", "20", "--until", "0.001")
    assert "stopped at 20 games" in out
