"""Writes each game's `rules.md`, the rules that `easyenvs play` shows, out of the game's page: `python docs/make_rules.py`."""

from __future__ import annotations

import re
from pathlib import Path

import easyenvs
from easyenvs.core.game import GameDefinition

ROOT = Path(__file__).resolve().parents[1]


def rules_of(game: GameDefinition) -> str:
    """The rules on a game's page, without what only a page can use: names to link to, links, and daggers."""
    page = (ROOT / "docs" / "games" / f"{game.id}.md").read_text(encoding="utf-8")
    title = page.partition("\n")[0]
    begin, end = page.index("\n## Rules\n"), page.index("\n### Where the published rules are silent\n")
    section = page[page.index("\n### ", begin) : end]
    section = re.sub(r"^\(.*\)=\n", "", section, flags=re.MULTILINE)
    section = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", section)
    return f"{title}\n{section.replace('†', '').replace(chr(10) + '### ', chr(10) + '## ').rstrip()}\n"


def main() -> None:
    """Write the files of the games of this package."""
    for game in easyenvs.games().values():
        if game.package.startswith("easyenvs."):
            (ROOT / "easyenvs" / game.id / "rules.md").write_text(rules_of(game), encoding="utf-8")


if __name__ == "__main__":
    main()
