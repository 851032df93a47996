"""Render modes: which a game has, its pictures as frames of pixels, and a window that shows them.

The modes "rgb_array" and "human" need the extra "render": resvg draws the pictures' SVG, with the font that comes with
pygame-ce, so that a frame is the same on every machine; pygame-ce opens the window.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from easyenvs.core.errors import MissingExtraError
from easyenvs.core.game import GameDefinition
from easyenvs.core.options import choice_option, refuse_option

Frame = npt.NDArray[np.uint8]

TEXT_MODES: Final = ("ansi",)
PICTURE_MODES: Final = ("rgb_array", "human")
RENDER_FPS: Final = 2
TILES: Final = 4
"""How many games of many the window shows."""

_FONT_FILE: Final = "freesansbold.ttf"
_FONT_FAMILY: Final = "FreeSans"


def render_modes(game: GameDefinition) -> tuple[str, ...]:
    """The render modes that a game has."""
    return TEXT_MODES if game.draw is None else TEXT_MODES + PICTURE_MODES


def check_render_mode(game: GameDefinition, render_mode: object) -> str | None:
    """A render mode that works, or an OptionError; a MissingExtraError where it needs an extra that is not there."""
    if game.draw is None and isinstance(render_mode, str) and render_mode in PICTURE_MODES:
        accepted = ", ".join(map(repr, (None, *TEXT_MODES)))
        refuse_option("render_mode", render_mode, f"one of {accepted}: {game.id} has no module draw, so no pictures")
    mode: str | None = choice_option("render_mode", render_mode, (None, *render_modes(game)))
    if mode in PICTURE_MODES:
        need_extra(mode)
    return mode


def need_extra(mode: str) -> None:
    """Raise a MissingExtraError unless the extra "render" is installed."""
    missing = [module for module in ("resvg_py", "pygame") if find_spec(module) is None]
    if missing:
        raise MissingExtraError(
            f'render_mode={mode!r} needs the extra "render": pip install "easyenvs[render]" '
            f"({' and '.join(missing)} can't be found)"
        )


def _pygame() -> Any:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import pygame

    return pygame


@cache
def _font() -> str:
    return str(Path(_pygame().__file__).with_name(_FONT_FILE))


def rasterise(svg: str, *, width: int | None = None) -> Frame:
    """A picture as pixels: uint8 [height, width, 3]; `width` in pixels (None: as the picture says)."""
    import resvg_py

    png = resvg_py.svg_to_bytes(
        svg_string=svg,
        width=width,
        font_files=[_font()],
        skip_system_fonts=True,
        sans_serif_family=_FONT_FAMILY,
    )
    pygame = _pygame()
    columns = pygame.surfarray.array3d(pygame.image.load(io.BytesIO(png), "frame.png"))
    return np.ascontiguousarray(columns.swapaxes(0, 1))


def tiled(pictures: Sequence[str]) -> Frame:
    """The first pictures of many as one frame of the size of one: two in a line, half as large."""
    if len(pictures) == 1:
        return rasterise(pictures[0])
    whole = rasterise(pictures[0])
    height, width = whole.shape[0] // 2, whole.shape[1] // 2
    tiles = np.zeros_like(whole)
    for index, picture in enumerate(pictures[:TILES]):
        line, column = divmod(index, 2)
        frame = rasterise(picture, width=width)
        tiles[line * height : (line + 1) * height, column * width : (column + 1) * width] = frame[:height]
    return tiles


# ------------------------------------------------------------------------------------------------- the window


_open: dict[int, Window] = {}  # by the number that pygame gives a window: events name it


class Window:
    """A window that shows pictures, at no more than `fps` of them a second.

    It opens with the first picture. Once somebody has closed it, nothing is shown any more, until `close` has been called.
    A copy of it is one that has not been opened.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.is_dismissed = False  # somebody has closed it
        self._window: Any = None
        self._clock: Any = None
        self._number = -1
        self._shown: list[str] = []

    def __reduce__(self) -> tuple[Callable[[str], Window], tuple[str]]:
        return Window, (self.title,)

    @property
    def is_open(self) -> bool:
        """Whether it is on the screen."""
        return self._window is not None

    def show(self, pictures: Sequence[str], fps: float) -> None:
        """Show the first of these pictures (SVG), then wait until the next ones are due (`fps` 0: don't).

        Those that it shows already are not drawn again, and not waited for.
        """
        if self.is_dismissed:
            return
        pygame = _pygame()
        if self.is_open and not self._is_alive():
            self._forget()
        if self.is_open:
            _pump()
            if not self.is_open or self._shown == list(pictures):
                return
        frame = tiled(pictures)
        if not self.is_open:
            self._open(frame.shape[1], frame.shape[0])
            _pump()  # so that it appears
            if not self.is_open:
                return
        pixels = pygame.surfarray.make_surface(frame.swapaxes(0, 1))
        self._window.get_surface().blit(pixels, (0, 0))
        self._window.flip()
        self._shown = list(pictures)
        self._clock.tick(fps)

    def _open(self, width: int, height: int) -> None:
        pygame = _pygame()
        pygame.display.init()
        self._window = pygame.window.Window(self.title, (width, height))
        self._window.get_surface()  # without it the window shows nothing
        self._clock = pygame.time.Clock()
        self._number = self._window.id
        _open[self._number] = self

    def _is_alive(self) -> bool:
        """Whether the system still knows it: another part of the program may have called `pygame.quit`."""
        try:
            return bool(self._window.id == self._number)
        except _pygame().error:
            return False

    def dismiss(self) -> None:
        """What happens when somebody closes it."""
        self.close()
        self.is_dismissed = True

    def close(self) -> None:
        """Take it off the screen; may be called any number of times. The next picture opens it again."""
        self.is_dismissed = False
        if not self.is_open:
            return
        display = _pygame().display
        if self._is_alive():
            self._window.destroy()
        self._forget()
        if not _open and display.get_init() and display.get_surface() is None:
            display.quit()

    def _forget(self) -> None:
        if _open.get(self._number) is self:  # the number may be another's by now
            del _open[self._number]
        self._window = self._clock = None


def _pump() -> None:
    """Take what has happened to the windows, so that the system sees that they respond."""
    pygame = _pygame()
    for event in pygame.event.get((pygame.WINDOWCLOSE, pygame.QUIT)):
        if event.type == pygame.QUIT:
            closed = list(_open.values())
        else:
            number = getattr(event.window, "id", None)
            closed = [window for key, window in _open.items() if key == number]
        for window in closed:
            window.dismiss()
    if pygame.display.get_init() and pygame.display.get_surface() is None:
        pygame.event.clear()  # nobody else reads them, and a full queue would take no more
