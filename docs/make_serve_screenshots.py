"""Make the screenshots of serve.md: `python docs/make_serve_screenshots.py`; needs the extras serve and test, and chromium."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from easyenvs.serve.lobby import Lobby
from easyenvs.serve.menu import Menu
from easyenvs.serve.server import Server
from easyenvs.serve.table import Table

FOLDER = Path(__file__).resolve().parent / "_static" / "serve"
DESKTOP = {"width": 1200, "height": 900}
PHONE = {"width": 390, "height": 844}


class SeededLobby(Lobby):
    """Deals games of one seed, so that the pictures stay the same."""

    def deal(self, game: str, seats: list[str], seed: int) -> Table:
        """A game that is open."""
        table = Table(f"game{len(self._tables)}", self.menu.offers[game], seats, seed=seed)
        self._tables[table.id] = table
        return table


def visit(browser: Browser, server: Server, game: str | None, size: Any, scheme: Any) -> Page:
    """A page of the server, when there is something to do."""
    page = browser.new_context(viewport=size, color_scheme=scheme, has_touch=size == PHONE).new_page()
    page.goto(server.entrance(game))
    page.wait_for_selector("body[data-ready]" if game is None else "button.move")
    return page


def play(page: Page, moves: int) -> None:
    """The last legal move, so many times."""
    for _ in range(moves):
        before = page.locator("body").get_attribute("data-version")
        page.locator("button.move").last.click()
        page.wait_for_function("before => document.body.dataset.version !== before", arg=before)
        page.wait_for_selector("button.move")


def ask_for_a_hint(page: Page) -> None:
    """By clicking."""
    page.get_by_role("button", name="Hint").click()
    page.wait_for_selector("button.hinted")


def save(page: Page, name: str) -> None:
    """The whole page, once its picture is there, without a mark of where the mouse and the focus are."""
    page.mouse.move(0, 0)
    page.evaluate("() => document.activeElement.blur()")
    page.wait_for_load_state("load")
    page.wait_for_function("() => [...document.images].every(image => image.complete)")
    page.screenshot(path=FOLDER / f"{name}.png", full_page=True, animations="disabled")
    page.context.close()


def main() -> None:
    """Make them all."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("chromium is not found")
    FOLDER.mkdir(parents=True, exist_ok=True)
    lobby = SeededLobby(Menu([], ["random", "greedy", "heuristic"]))
    peasy = lobby.deal("peasy_v0", ["human", "heuristic", "greedy"], seed=4)
    school = lobby.deal("school_v0", ["human", "heuristic", "heuristic"], seed=11)
    with Server(lobby) as server, sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        page = visit(browser, server, peasy.id, DESKTOP, "light")
        play(page, 8)
        ask_for_a_hint(page)
        save(page, "table")
        page = visit(browser, server, school.id, DESKTOP, "dark")
        play(page, 14)
        ask_for_a_hint(page)
        save(page, "table-dark")
        page = visit(browser, server, peasy.id, PHONE, "light")
        save(page, "phone")
        save(visit(browser, server, None, {"width": 900, "height": 700}, "light"), "start")
        browser.close()


if __name__ == "__main__":
    main()
