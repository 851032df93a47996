"""What a user installs: the wheel, bare of extras; what its import pulls in; games and policies from elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run(code: str, *, path: list[Path], cwd: Path) -> str:
    """Run Python code in a process of its own, with these folders before everything else that is importable."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    target = tmp_path_factory.mktemp("wheel")
    build = """
import sys
from hatchling.builders.wheel import WheelBuilder
print(*WheelBuilder(sys.argv[1]).build(directory=sys.argv[2]))
"""
    done = subprocess.run([sys.executable, "-c", build, str(ROOT), str(target)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(target.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, as pip would lay it into site-packages."""
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def test_the_wheel_holds_the_library_the_agents_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"easyenvs", "easyenvs_agents"}
    assert "easyenvs/py.typed" in names
    assert "easyenvs/peasy_v0/playthrough.txt" in names
    assert {f"easyenvs/watch/page.{kind}" for kind in ("html", "css", "js")} <= set(names)
    assert {"easyenvs/peasy_v0/rules.md", "easyenvs/school_v0/rules.md", "easyenvs/serve/static/table.js"} <= set(names)
    assert {"easyenvs_agents/peasy_v0/greedy.py", "easyenvs_agents/peasy_v0/heuristic.py"} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_agents_are_found_by_name_in_the_wheel(installed: Path, tmp_path: Path) -> None:
    code = """
import easyenvs
from easyenvs.core.policies import act, agent_names, load_policy
game = easyenvs.peasy_v0.GAME
assert {"greedy", "heuristic"} <= set(agent_names(game)), agent_names(game)
policies = [load_policy("heuristic", game), load_policy("greedy", game)]
games = easyenvs.peasy_v0.batch(4, seed=0)
while (games.player >= 0).any():
    games.step(act(games, policies))
import easyenvs_agents
print(easyenvs.__file__, easyenvs_agents.__file__, sep="\\n")
"""
    for file in run(code, path=[installed], cwd=tmp_path).split():
        assert Path(file).is_relative_to(installed)


def test_a_bare_install_imports_and_plays(installed: Path, tmp_path: Path) -> None:
    """None of the extras is imported, or needed."""
    code = """
import sys
EXTRAS = {"torch", "pygame", "resvg_py", "stable_baselines3", "sb3_contrib", "matplotlib", "rich", "typer", "textual"}
EXTRAS |= {"pytest", "hypothesis", "PIL"}
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in EXTRAS:
            raise AssertionError(f"{name} is imported")
sys.meta_path.insert(0, Refuse())
import easyenvs, easyenvs.watch
env = easyenvs.peasy_v0.env(render_mode="ansi")
env.reset(seed=1)
while env.agents:
    observation, *_ , terminated, truncated, info = env.last()
    env.step(None if terminated or truncated else env.action_space(env.agent_selection).sample(observation["action_mask"]))
games = easyenvs.peasy_v0.batch(10, seed=1)
print(games.observe("flat").shape[0], easyenvs.__version__)
"""
    assert run(code, path=[installed], cwd=tmp_path).split()[0] == "10"


def test_a_policy_from_an_entry_point_or_a_module(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "plug.py").write_text("def first(d):\n    return d.legal.argmax(axis=1)\n")
    info = tmp_path / "plug-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[easyenvs.policies]\nfirst-legal = plug:first\n")
    code = """
import easyenvs, plug
from easyenvs.core.policies import load_policy
game = easyenvs.peasy_v0.GAME
assert load_policy("first-legal", game) is plug.first
assert load_policy("plug:first", game) is plug.first
assert load_policy(plug.first, game) is plug.first
"""
    run(code, path=[installed, tmp_path], cwd=tmp_path)


def test_the_version_stands_once() -> None:
    import easyenvs

    citation = (ROOT / "CITATION.cff").read_text()
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert f"version: {easyenvs.__version__}\n" in citation
    assert f"## {easyenvs.__version__}" in changelog or "## Unreleased" in changelog
