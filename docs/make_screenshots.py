"""Make the pictures of the documentation that show pages in a browser, and the animations, into docs/_static.

    python docs/make_screenshots.py            all of them
    python docs/make_screenshots.py watch      those whose names begin with it

It needs the extras "render" and "test", and a Chromium on the path (or named by --chromium).
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import sync_playwright

from easyenvs.records import Record, play_recorded
from easyenvs.watch import write_gif, write_html

STATIC: Final = Path(__file__).resolve().parent / "_static"
DESKTOP: Final = {"width": 1280, "height": 860}
PHONE: Final = {"width": 390, "height": 844}

Maker = Callable[[Any, Path], None]
MAKERS: Final[dict[str, Maker]] = {}
"""By the name of the file: what makes it, given the browser and where it goes. A new picture is a new entry."""


def makes(name: str) -> Callable[[Maker], Maker]:
    """Enters a function into `MAKERS`."""

    def enter(maker: Maker) -> Maker:
        MAKERS[name] = maker
        return maker

    return enter


def peasy() -> Record:
    """A game of Easy Peasy between two heuristics."""
    return play_recorded("peasy_v0", ["heuristic", "greedy"], [1])[0]


def school() -> Record:
    """A game of Easy School between the trained agent and the heuristic."""
    return play_recorded("school_v0", ["trained", "heuristic"], [1], {"num_players": 2})[0]


def shoot(
    browser: Any, target: Path, record: Record, k: int, *, size: dict[str, int], scheme: str, scale: int, **options: Any
) -> None:
    """A screenshot of a record's page at position k."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "game.html"
        write_html(record, file, **options)
        context = browser.new_context(viewport=size, color_scheme=scheme, device_scale_factor=scale)
        page = context.new_page()
        page.goto(file.as_uri())
        page.locator("#slider").fill(str(k))
        page.locator("#slider").blur()
        page.screenshot(path=target, full_page=size is DESKTOP)
        context.close()


@makes("watch-light.png")
def watch_light(browser: Any, target: Path) -> None:
    """The page on a desk, with what the trained agent thinks."""
    options: dict[str, Any] = {"policies": ["trained", "heuristic"]}
    shoot(browser, target, school(), 88, size=DESKTOP, scheme="light", scale=1, **options)


@makes("watch-dark.png")
def watch_dark(browser: Any, target: Path) -> None:
    """The same in dark colours, as one seat may know it."""
    shoot(browser, target, peasy(), 20, size=DESKTOP, scheme="dark", scale=1, seat=1, policies=["random", "heuristic"])


@makes("watch-phone.png")
def watch_phone(browser: Any, target: Path) -> None:
    """The page on a phone."""
    shoot(browser, target, peasy(), 20, size=PHONE, scheme="light", scale=2, policies=["heuristic"])


@makes("peasy_v0.gif")
def peasy_animation(browser: Any, target: Path) -> None:
    """A game of Easy Peasy."""
    write_gif(peasy(), target, width=640)


@makes("school_v0.gif")
def school_animation(browser: Any, target: Path) -> None:
    """A game of Easy School."""
    write_gif(school(), target, width=640)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Make the documentation's screenshots and animations.")
    parser.add_argument("beginning", nargs="?", default="", help="make those whose names begin with this")
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="the browser")
    arguments = parser.parse_args()
    chosen = {name: maker for name, maker in MAKERS.items() if name.startswith(arguments.beginning)}
    if not chosen:
        parser.error(f"no name begins with {arguments.beginning!r}; there are {', '.join(MAKERS)}")
    if arguments.chromium is None:
        parser.error("there is no chromium on the path; name one by --chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox"])
        for name, maker in chosen.items():
            maker(browser, STATIC / name)
            print(f"{name}: {(STATIC / name).stat().st_size / 1000:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main()
