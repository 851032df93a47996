"""A recorded game as an animated GIF. It needs the extra "render"."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from easyenvs.adapters.frames import rasterise
from easyenvs.core.errors import MissingExtraError
from easyenvs.core.options import as_integer, refuse_option
from easyenvs.records import Record
from easyenvs.watch.film import OPEN, Film, Viewer, check_viewer

COLOURS: Final = 64
MIN_WIDTH, MAX_WIDTH = 120, 2400
MAX_FPS: Final = 50
"""Browsers show none faster."""
LAST_SECONDS: Final = 3.0
"""How long the last picture stays at least."""
_SAMPLES: Final = 5


def write_gif(
    record: Record,
    path: str | os.PathLike[str],
    *,
    seat: Viewer = OPEN,
    width: int = 720,
    fps: float = 2.0,
    theme: str = "light",
) -> int:
    """Write an animation of a game: a picture for every position, over and over.

    Args:
        record: the game.
        path: the file, which is written anew.
        seat: whose view is shown, by number; or "open", everything.
        width: of the pictures, in pixels, 120 … 2400.
        fps: decisions a second, above 0 and at most 50.
        theme: "light" or "dark".

    Returns:
        The number of pictures, one more than there are decisions.

    Raises:
        RecordError: the record is not possible by the rules.
        OptionError: a value that is not accepted, or a game without pictures.
        MissingExtraError: the extra "render" is not installed.
    """
    viewer = check_viewer(seat, record.num_players)
    pixels = as_integer(width)
    if pixels is None or not MIN_WIDTH <= pixels <= MAX_WIDTH:
        refuse_option("width", width, f"an integer {MIN_WIDTH} … {MAX_WIDTH}")
    if isinstance(fps, bool) or not isinstance(fps, (int, float)) or not 0 < fps <= MAX_FPS:
        refuse_option("fps", fps, f"a number above 0 and at most {MAX_FPS}")
    missing = [module for module in ("resvg_py", "pygame", "PIL") if find_spec(module) is None]
    if missing:
        raise MissingExtraError(
            'an animation needs the extra "render": pip install "easyenvs[render]" '
            f"({' and '.join(missing)} can't be found)"
        )
    from PIL import Image

    film = Film(record)
    frames = [Image.fromarray(rasterise(film.picture(k, viewer, theme), width=pixels)) for k in range(len(film) + 1)]
    # One palette for all, so that what does not change between two pictures is the same in both, and is left out.
    palette = _palette(frames)
    pictures = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    duration = round(1000 / fps)
    durations = [duration] * (len(pictures) - 1) + [max(duration, round(1000 * LAST_SECONDS))]
    pictures[0].save(
        path,
        format="GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=durations if len(pictures) > 1 else durations[0],
        loop=0,
        disposal=1,
        optimize=True,  # what stays is transparent, which takes little room
    )
    return len(pictures)


def _palette(frames: list[Any]) -> Any:
    """The colours that some of the pictures, from the first to the last, have most of.

    Pictures are flat: these are their colours exactly, and what lies between two of them at an edge is the nearest.
    """
    from PIL import Image

    count = min(_SAMPLES, len(frames))
    chosen = {round(index * (len(frames) - 1) / max(1, count - 1)) for index in range(count)}
    pixels = np.concatenate([np.asarray(frames[index]).reshape(-1, 3) for index in sorted(chosen)])
    colours, often = np.unique(pixels, axis=0, return_counts=True)
    most = np.argsort(-often, kind="stable")[:COLOURS]
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours[most].astype(np.uint8).tobytes())
    return palette
