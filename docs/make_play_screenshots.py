"""Makes the pictures of `easyenvs play` in the docs: `python docs/make_play_screenshots.py` (needs the extra "play")."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any, Final

from easyenvs.play.session import Session
from easyenvs.play.terminal import PlayApp

IMAGES: Final = Path(__file__).resolve().parent / "images"
SIZE: Final = (118, 36)
SHOTS: Final = {
    # file: game, seats, seed, own decisions before it, keys pressed then
    "play-peasy_v0": ("peasy_v0", ("human", "heuristic", "greedy"), 11, 14, ("h",)),
    "play-school_v0": ("school_v0", ("human", "heuristic", "greedy"), 4, 43, ("h",)),
    "play-rules": ("peasy_v0", ("human", "heuristic"), 11, 0, ("r",)),
}


async def shoot(game: str, seats: tuple[str, ...], seed: int, decisions: int, keys: tuple[str, ...]) -> str:
    """A screen as SVG, after so many decisions that the heuristic agent makes for the human."""
    session = Session(game, seats, seed=seed)
    made = 0
    while made < decisions or not session.human_to_act:
        if session.human_to_act:
            session.act(session.hint("heuristic").action)
            made += 1
        else:
            session.advance()
    app: Any = PlayApp(session, pace=0)
    async with app.run_test(size=SIZE) as pilot:
        for key in keys:
            await pilot.press(key)
            await app.workers.wait_for_complete()
            await pilot.pause()
        app.clear_notifications()
        await pilot.pause()
        svg: str = app.export_screenshot(title=f"easyenvs play {game} --seats {','.join(seats)}")
    return svg


def settled(svg: str) -> str:
    """Without the fonts that a browser would fetch, and with the same names at every run."""
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    names = dict.fromkeys(re.findall(r"terminal-\d+", svg))
    for number, name in enumerate(names):
        svg = svg.replace(name, f"terminal-{number}")
    return svg


def main() -> None:
    """Write the pictures."""
    IMAGES.mkdir(exist_ok=True)
    for name, shot in SHOTS.items():
        (IMAGES / f"{name}.svg").write_text(settled(asyncio.run(shoot(*shot))), encoding="utf-8")


if __name__ == "__main__":
    main()
