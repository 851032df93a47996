"""The documentation: its code runs, its tables are complete, every rule is told, and it builds without a warning.

A code block that is not to be run is marked ```text, or begins with the comment `# not run`.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import easyenvs
from easyenvs.core.encoders import make_encoder
from easyenvs.core.game import GameDefinition

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)]
GAMES = [game for game in easyenvs.games().values() if game.package.startswith("easyenvs.")]
COMMON_RULES = [f"R{number}" for number in range(1, 8)]
RULES = {
    "peasy_v0": [*(f"P{number}" for number in range(1, 19)), *COMMON_RULES],
    "school_v0": [*(f"S{number}" for number in range(1, 21)), *COMMON_RULES],
}

PYTHON = re.compile(r"^( *)```(?:python|\{easyenvs-run\})[ \t]*\n(.*?)^\1```[ \t]*$", re.MULTILINE | re.DOTALL)
NOT_RUN = "# not run"

RUN_BLOCKS = """
import json, sys
namespace = {"__name__": "__main__"}
for line, code in json.load(sys.stdin):
    exec(compile("\\n" * line + code, sys.argv[1], "exec"), namespace)
"""

BUILD_SECONDS = 55
PAGE_SECONDS = 55


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def game_page(game: GameDefinition) -> Path:
    return DOCS / "games" / f"{game.id}.md"


def blocks(text: str) -> list[tuple[int, str]]:
    """(line before the code, code) of a page's Python blocks, but for those that are not run."""
    found = []
    for match in PYTHON.finditer(text):
        code = textwrap.dedent(re.sub(r"^ *:[\w-]+:.*\n", "", match[2]))
        if not code.lstrip().startswith(NOT_RUN):
            found.append((text.count("\n", 0, match.end()) - match[2].count("\n"), code))
    return found


def environment() -> dict[str, str]:
    """For a subprocess: the checkout and the tests' game can be imported, and what is printed is UTF-8."""
    paths = [str(ROOT), str(ROOT / "tests" / "games"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONIOENCODING": "utf-8"}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_the_code_on_a_page_runs(page: Path, tmp_path: Path) -> None:
    """A page's blocks run in order, in one namespace and a process of their own; a warning is an error."""
    code = blocks(page.read_text(encoding="utf-8"))
    if not code:
        return
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN_BLOCKS, page_name(page)],
        input=json.dumps(code),
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env=environment(),
        timeout=PAGE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_blocks_are_found() -> None:
    text = textwrap.dedent(
        """\
        ```python
        a = 1
        ```
        ```python
        # not run
        b = 2
        ```
        ```text
        c = 3
        ```
        - in a list
          ```python
          if True:
              d = 4
          ```
        ```{easyenvs-run}
        :hide-code:
        e = 5
        ```
        """
    )
    assert blocks(text) == [(1, "a = 1\n"), (12, "if True:\n    d = 4\n"), (16, "e = 5\n")]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_every_rule_is_told(game: GameDefinition) -> None:
    """Each rule has its paragraph, and a name to link to."""
    text = game_page(game).read_text(encoding="utf-8")
    told = re.findall(r"^\(rule-(\w+)\)=\n\*\*(\w+)\*\* ", text, re.MULTILINE)
    assert [name for name, _ in told] == [rule.lower() for _, rule in told]
    assert [rule for _, rule in told] == RULES[game.id]


class Tables(HTMLParser):
    """The cells of the tables of a page by their class `easyenvs-KIND`; code is in backticks, as in Markdown."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            kinds = re.findall(r"easyenvs-(\S+)", dict(attrs).get("class") or "")
            self._rows = self.tables.setdefault(kinds[0], []) if kinds else None
        elif self._rows is not None and tag == "tr":
            self._rows.append([])
        elif self._rows is not None and tag in ("td", "th"):
            self._rows[-1].append("")
        elif tag == "code":
            self.handle_data("`")

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._rows = None
        elif tag == "code":
            self.handle_data("`")

    def handle_data(self, data: str) -> None:
        if self._rows and self._rows[-1]:
            self._rows[-1][-1] += data.strip("\n")


def tables_of(page: Path) -> dict[str, list[list[str]]]:
    parser = Tables()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser.tables


def generated() -> Any:
    """The module docs/generated.py."""
    spec = importlib.util.spec_from_file_location("easyenvs_docs_generated", DOCS / "generated.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_no_page_has_the_name_of_one_that_sphinx_makes() -> None:
    """Sphinx would write its own over it without a word."""
    assert not {"search", "genindex", "py-modindex"} & {page.stem for page in PAGES}


def test_the_documentation_builds_and_its_tables_are_complete(tmp_path: Path) -> None:
    for needed in ("sphinx", "furo", "myst_parser"):
        pytest.importorskip(needed)
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", "doctrees", str(DOCS), "html"],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env=environment(),
        timeout=BUILD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    names_in = generated().names_in
    batch_options = tables_of(tmp_path / "html" / "batch.html")["batch-options"]
    for game in GAMES:
        module = sys.modules[game.package]
        tables = tables_of(tmp_path / "html" / "games" / f"{game.id}.html")
        ids = {int(row[0]) + i: name for row in tables["action-ids"][1:] for i, name in enumerate(row[1:]) if name}
        assert ids == dict(enumerate(game.notation.ACTION_NAMES))
        options = [row[0].strip("`") for row in tables["options"][1:]]
        assert options == list(inspect.signature(module.env).parameters)
        assert options == list(inspect.signature(module.raw_env).parameters)
        if game is GAMES[0]:
            options = [row[0].strip("`") for row in batch_options[1:]]
            assert options == list(inspect.signature(module.batch).parameters)[1:]
        for name in ("flat", "bits"):
            check_slices(game, name, tables[name], names_in)


def check_slices(game: GameDefinition, name: str, table: list[list[str]], names_in: Any) -> None:
    """Every slice is in the table's row that names it, at its place, for every number of players."""
    for column, head in enumerate(table[0][2:], start=2):
        encoder: Any = make_encoder(game, game.rules_type(num_players=int(re.sub(r"\D", "", head))), name)
        by_name = {part.name: (part.start, part.stop) for part in encoder.slices}
        shown: dict[str, tuple[int, int]] = {}
        for row in table[1:]:
            numbers = [int(number) for number in re.findall(r"\d+", row[column])]
            names = names_in(row[0])
            distance = numbers.pop() if row[column].endswith("N") else 0  # "0–7 + 64 N"
            start, stop = numbers[0], numbers[min(1, len(numbers) - 1)] + 1
            if distance:
                members = [name for name in names if name in by_name]
                shown |= {name: (start + i * distance, stop + i * distance) for i, name in enumerate(members)}
                continue
            there = [part.name for part in encoder.slices if start <= part.start < stop]
            width = (stop - start) // len(there)
            for position, part in enumerate(name for name in names if name in there):
                shown[part] = (start + position * width, start + (position + 1) * width)
        assert shown == by_name, (name, head)


def test_the_readme_tells_the_trained_agents_strength_as_measured() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    folder = ROOT / "examples" / "agents" / "trained"
    results = json.loads((folder / "evaluation.json").read_text())["results"]
    for weights in {result["weights"] for result in results}:
        own = {r["opponent"]: r for r in results if r["weights"] == weights}
        cells = [f"{own[o]['placement']:+.3f} ± {own[o]['interval']:.3f}" for o in ("heuristic", "random")]
        row = f"| `{own['random']['game']}` | {own['random']['players']} | {cells[0]} | {cells[1]} |"
        assert row in text


def test_the_readme_tells_the_league_as_it_was_played() -> None:
    table = generated().league_overview(GAMES).markdown().strip()
    assert table.startswith("| agent |") and len(table.splitlines()) >= 8
    assert table in (ROOT / "README.md").read_text(encoding="utf-8"), f"README.md should have:\n{table}"


def test_the_page_of_the_search_agents_tells_the_commands_that_gave_its_figures() -> None:
    page = (DOCS / "search_agents.md").read_text(encoding="utf-8")
    lines = page.replace("\\\n", "").splitlines()
    told = [shlex.split(line) for line in lines if line.startswith("python benchmarks/search_strength.py")]
    files = sorted((DOCS / "search").glob("*.json"))
    for file in files:
        assert shlex.split(json.loads(file.read_text(encoding="utf-8"))["command"]) in told, file.name
    tables = {game.id: generated().search(game).rows for game in GAMES}
    assert len(files) >= len(GAMES) and all(
        any(row[1] == "halving" and int(row[5].replace(",", "")) >= 1000 for row in rows) for rows in tables.values()
    )


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
@pytest.mark.parametrize("players", [2, 3])
def test_the_league_is_whole(game: GameDefinition, players: int) -> None:
    played = json.loads((DOCS / "league" / f"{game.id}-{players}p.json").read_text(encoding="utf-8"))
    results = played["results"]
    assert (results["game"], results["num_players"]) == (game.id, players)
    assert {"random", "greedy", "heuristic"} < set(results["policies"])
    assert sum(name.startswith("search ") for name in results["policies"]) == 2
    shipped = (ROOT / "examples" / "agents" / "trained" / f"{game.id}-{players}p.npz").is_file()
    assert ("trained" in results["policies"]) == shipped
    assert played["command"].startswith("python benchmarks/league.py")
    page = (DOCS / "league.md").read_text(encoding="utf-8")
    for plot in ("elo", "payoff"):
        name = f"league/{game.id}-{players}p-{plot}.png"
        assert (DOCS / name).is_file() and f"]({name})" in page
