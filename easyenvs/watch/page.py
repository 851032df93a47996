"""A recorded game as one HTML page that needs nothing else: no network, no server, no other file.

The page holds the pictures of every position, as each seat may know it and with everything open. Most of a picture is what
the one before it shows, too; so a picture is kept as what has changed since, of pieces (elements of SVG) that are kept
once. Colours are variables, so that one set of pictures serves both themes.

Text of a record can be anything. It goes into the page as JSON without any of the characters that HTML knows, and the
script sets it as text; the page's content-security policy allows its own script and style by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import fields
from importlib.resources import files
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final

from easyenvs.core import svg
from easyenvs.core.options import choice_option
from easyenvs.core.policies import Policy
from easyenvs.records import Record
from easyenvs.watch.film import OPEN, Film, Opinion, Viewer, check_viewer

AS_VARIABLES: Final = svg.Theme(**{field.name: f"var(--{field.name})" for field in fields(svg.Theme)})
"""Pictures that take their colours from the page."""

SCALE: Final = 1000
"""Probabilities are kept as integers, in parts of this."""

_BETWEEN_ELEMENTS: Final = re.compile(r"(?<=>)(?=<)")
_ROOT_STYLE: Final = re.compile(r'^(<svg\b[^>]*?) style="[^"]*"')


def write_html(
    record: Record,
    path: str | os.PathLike[str],
    *,
    policies: Sequence[str | Policy] | None = None,
    seat: Viewer = OPEN,
    theme: str | None = None,
) -> None:
    """Write a page that plays a game. The same arguments give the same bytes.

    Args:
        record: the game.
        path: the file, which is written anew.
        policies: policies or their names: the page shows what each thinks of every decision. Those with a method
            `probabilities` say so; of the others it shows what they would play, with the policy seed 0.
        seat: whose view the page opens with, by number; or "open", everything.
        theme: "light" or "dark", which the page opens with; None: what the reader's system prefers.

    Raises:
        RecordError: the record is not possible by the rules.
        OptionError: a value that is not accepted, or a game without pictures.
        ValueError: a policy that can't be loaded, or that does not play this game.
    """
    viewer = check_viewer(seat, record.num_players)
    chosen: str | None = choice_option("theme", theme, (None, *svg.THEMES))
    film = Film(record)
    text = page(film, film.opinions(policies or ()), viewer, chosen)
    Path(path).write_bytes(text.encode())


def page(film: Film, opinions: Sequence[Opinion], viewer: Viewer, theme: str | None) -> str:
    """The page's HTML."""
    folder = files("easyenvs.watch")
    template, style, script = (
        folder.joinpath(name).read_text(encoding="utf-8") for name in ("page.html", "page.css", "page.js")
    )
    style = style.replace("/* light */", _colours("light")).replace("/* dark */", _colours("dark"))
    record = film.record
    values = {
        "policy": html.escape(
            f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
            "base-uri 'none'; form-action 'none'"
        ),
        "theme": "" if theme is None else f' data-theme="{theme}"',
        "title": html.escape(f"{record.game}, {record.num_players} players: {' – '.join(film.names)}"),
        "style": style,
        "data": embedded(contents(film, opinions, viewer)),
        "script": script,
    }
    # In one pass, so that nothing is looked for within what has been put in.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], template)


def embedded(value: Any) -> str:
    """A value as JSON that can stand anywhere in HTML: ASCII, without <, > and &."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _colours(theme: str) -> str:
    """A theme as CSS."""
    return " ".join(f"--{field.name}: {getattr(svg.THEMES[theme], field.name)};" for field in fields(svg.Theme))


# ------------------------------------------------------------------------------------------------- contents


def contents(film: Film, opinions: Sequence[Opinion], viewer: Viewer) -> dict[str, Any]:
    """What the page's script is given."""
    record, result = film.record, film.record.result
    legal = [film.legal(k) for k in range(len(film))]
    names = {action: film.game.notation.action_name(action) for actions in legal for action in actions}
    numbers = {action: number for number, action in enumerate(sorted(names))}
    pieces: dict[str, int] = {}
    pictures = [list(_changes(film, who, pieces)) for who in (OPEN, *range(record.num_players))]
    return {
        "game": record.game,
        "version": record.version,
        "rules": {name: value for name, value in record.rules.items() if name != "num_players"},
        "seed": None if record.seed is None else str(record.seed),  # it may be larger than a number of JavaScript
        "notes": json.dumps(record.notes, indent=2) if record.notes else None,
        "seats": film.names,
        "policies": [None if name is None else svg.printable(name) for name in record.policies],
        "scores": film.scores,
        "result": None if result is None else {"ranks": result.ranks, "truncated": result.truncated},
        "fault": None
        if record.fault is None
        else {"seat": record.fault.seat, "reason": svg.printable(record.fault.reason)},
        "viewer": viewer,
        "actions": [names[action] for action in sorted(names)],
        "players": film.players,
        "actor": film.actor(len(film)),
        "played": [numbers[action] for action in film.actions],
        "legal": [[numbers[action] for action in actions] for actions in legal],
        "opinions": [_opinion(opinion, legal, numbers) for opinion in opinions],
        "pieces": list(pieces),
        "pictures": pictures,
    }


def _opinion(opinion: Opinion, legal: list[list[int]], numbers: dict[int, int]) -> dict[str, Any]:
    made: dict[str, Any] = {"policy": opinion.policy}
    if opinion.choices is not None:
        made["choices"] = [numbers[action] for action in opinion.choices.tolist()]
    if opinion.probabilities is not None:
        scaled = (opinion.probabilities * SCALE).round().astype(int).tolist()
        made["probabilities"] = [
            [row[action] for action in actions] for row, actions in zip(scaled, legal, strict=True)
        ]
    return made


def _changes(film: Film, viewer: Viewer, pieces: dict[str, int]) -> Iterator[list[list[int]]]:
    """For every position, how its picture comes of the one before, which first is empty."""
    drawn = (_pieces_of(film.picture(k, viewer, AS_VARIABLES), pieces) for k in range(len(film) + 1))
    return (edits(before, after) for before, after in pairwise(chain([[]], drawn)))


def edits(before: Sequence[int], after: Sequence[int]) -> list[list[int]]:
    """How a list comes of another: [start in `before`, how many are taken out, what is put in …] from left to right."""
    at = {item: index for index, item in enumerate(_numbered(after))}
    common = [(index, at[item]) for index, item in enumerate(_numbered(before)) if item in at]
    kept = _increasing([new for _, new in common])
    pairs = [common[index] for index in kept]
    made: list[list[int]] = []
    old_end = new_end = 0
    for old, new in [*pairs, (len(before), len(after))]:
        if old > old_end or new > new_end:
            made.append([old_end, old - old_end, *after[new_end:new]])
        old_end, new_end = old + 1, new + 1
    return made


def _numbered(items: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Every item, and how often it has been there before."""
    seen: dict[int, int] = {}
    for item in items:
        seen[item] = seen.get(item, -1) + 1
        yield item, seen[item]


def _increasing(values: Sequence[int]) -> list[int]:
    """The indices of a longest increasing subsequence of different values."""
    ends: list[int] = []  # by length − 1: the smallest value that a subsequence ends with
    holders: list[int] = []  # its index
    previous: list[int] = []
    for index, value in enumerate(values):
        length = bisect_left(ends, value)
        ends[length : length + 1] = [value]
        holders[length : length + 1] = [index]
        previous.append(holders[length - 1] if length else -1)
    chosen = []
    index = holders[-1] if holders else -1
    while index >= 0:
        chosen.append(index)
        index = previous[index]
    return chosen[::-1]


def _pieces_of(picture: str, pieces: dict[str, int]) -> list[int]:
    # The page's policy allows no style attributes: it sets the picture's size itself.
    plain = _ROOT_STYLE.sub(r"\1", picture)
    return [pieces.setdefault(piece, len(pieces)) for piece in _BETWEEN_ELEMENTS.split(plain)]
