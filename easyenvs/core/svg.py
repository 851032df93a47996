"""Pictures of a table as SVG: themes, areas, measured text, cards and symbols. It knows no game.

A picture is a tree of areas. Everything is drawn into an area of its own, and text is measured before it is set; so
whether something overlaps or sticks out can be read off the tree: `Picture.faults` does.

    x, y, width, height   in units of the picture, y downwards; one unit is a pixel at the default size
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from easyenvs.core.options import choice_option

WIDTH: Final = 1200
HEIGHT: Final = 800
"""The size of every table's picture."""

# ------------------------------------------------------------------------------------------------- text

FONTS: Final = "FreeSans, Helvetica, Arial, Liberation Sans, Nimbus Sans, sans-serif"
"""Bold faces with the same advance widths, one of which nearly every system has."""

_BY_WIDTH: Final = {
    238: "'",
    278: " ,./I\\ijl·",
    280: "|",
    333: "!()-:;[]`ft",
    389: "*r{}",
    474: '"',
    500: "z",
    556: "#$0123456789J_aceksvxy–",
    584: "+<=>^~×−±",
    611: "?FLTZbdghnopqu",
    667: "EPSVXY",
    722: "&ABCDHKNRU",
    778: "GOQw",
    833: "M",
    889: "%m",
    944: "W",
    975: "@",
    1000: "—…",
}
_ADVANCE: Final = {ord(character): width / 1000 for width, text in _BY_WIDTH.items() for character in text}
_WIDEST: Final = 1.25  # of any character of FreeSans Bold, in ems
_DESCENDING: Final = frozenset("$(),;@Q[]_gjpqy{|}\\/")
_CAPITALS, _ABOVE, _BELOW = 0.72, 0.74, 0.23  # in ems: height of capitals, ink above and below the base line
_SMALLEST: Final = 6.5
_ELLIPSIS: Final = "…"


def text_width(text: str, size: float) -> float:
    """How wide a text is at a font size. A character that the table lacks counts as the widest of the font."""
    return sum(_ADVANCE.get(ord(character), _WIDEST) for character in text) * size


def _text_height(text: str) -> float:
    """In ems, of a text whose capitals are centred."""
    below = _BELOW if not _DESCENDING.isdisjoint(text) else 0.02
    return _CAPITALS + 2 * max(_ABOVE - _CAPITALS, below)


def printable(text: str) -> str:
    """A text on one line, without the characters that XML does not have."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


# ------------------------------------------------------------------------------------------------- themes, faces


@dataclass(frozen=True)
class Theme:
    """The colours of everything but the cards' faces."""

    table: str
    panel: str
    edge: str
    ink: str
    faint: str
    accent: str
    on_accent: str
    slot: str
    back: str
    back_mark: str
    plate: str
    plate_ink: str
    card_edge: str


THEMES: Final = {
    "light": Theme(
        table="#e9ece6",
        panel="#fbfbf8",
        edge="#c9cec4",
        ink="#20262b",
        faint="#5c666d",
        accent="#0b5fb0",
        on_accent="#ffffff",
        slot="#dfe3da",
        back="#4a5a6a",
        back_mark="#8fa0b0",
        plate="#fffdf6",
        plate_ink="#20262b",
        card_edge="#00000055",
    ),
    "dark": Theme(
        table="#14181c",
        panel="#20262c",
        edge="#3a434b",
        ink="#e8ecef",
        faint="#a3aeb7",
        accent="#6db6ff",
        on_accent="#0d1620",
        slot="#2b333a",
        back="#5b6d7f",
        back_mark="#a9bac9",
        plate="#f4f0e4",
        plate_ink="#20262b",
        card_edge="#ffffff40",
    ),
}


def find_theme(theme: object) -> Theme:
    """The theme of that name, or itself; or an OptionError."""
    if isinstance(theme, Theme):
        return theme
    name: str = choice_option("theme", theme, tuple(THEMES))
    return THEMES[name]


@dataclass(frozen=True)
class Face:
    """What a card shows: a colour, and a letter and a symbol that tell it apart without the colour."""

    letter: str
    symbol: str  # a path in a square of 24 × 24
    fill: str
    ink: str  # on `fill`


SYMBOLS: Final = {
    "circle": "M2 12a10 10 0 1 0 20 0a10 10 0 1 0-20 0z",
    "square": "M3 3h18v18h-18z",
    "triangle": "M12 2L23 21H1z",
    "diamond": "M12 1L22 12L12 23L2 12z",
    "star": "M12 1.5l3.1 7.1l7.7.7l-5.8 5.1l1.7 7.6l-6.7-4l-6.7 4l1.7-7.6l-5.8-5.1l7.7-.7z",
    "cross": "M8.5 2h7v6.5h6.5v7h-6.5v6.5h-7v-6.5h-6.5v-7h6.5z",
    "up": "M12 2L22 13H16V22H8V13H2z",
    "down": "M12 22L22 11H16V2H8V11H2z",
    "back": "M12 1L22 12L12 23L2 12z M12 6L7 12L12 18L17 12z",
}
"""Paths in a square of 24 × 24; where they overlap themselves they are hollow."""

CARD_ASPECT: Final = 0.7
"""A card's width to its height."""

# ------------------------------------------------------------------------------------------------- areas


class Area:
    """A rectangle of a picture. Its parts lie within it and apart from one another."""

    __slots__ = ("height", "name", "parts", "text", "width", "x", "y")

    def __init__(self, name: str, x: float, y: float, width: float, height: float) -> None:
        self.name = name
        self.x, self.y, self.width, self.height = x, y, width, height
        self.parts: list[Area] = []
        self.text: tuple[str, float] | None = None  # what is set in it, and the font size

    def part(self, name: str, x: float, y: float, width: float, height: float) -> Area:
        """A part, by its place in the picture."""
        area = Area(name, x, y, width, height)
        self.parts.append(area)
        return area

    def inset(self, dx: float, dy: float | None = None) -> Area:
        """One part, all but a margin."""
        dy = dx if dy is None else dy
        return self.part("inside", self.x + dx, self.y + dy, self.width - 2 * dx, self.height - 2 * dy)

    def centred(self, name: str, width: float, height: float) -> Area:
        """One part of this size, in the middle."""
        return self.part(name, self.x + (self.width - width) / 2, self.y + (self.height - height) / 2, width, height)

    def columns(self, *widths: float | None, gap: float = 0.0) -> list[Area]:
        """Parts from left to right; those without a width share the rest."""
        return self._split(widths, gap, across=True)

    def rows(self, *heights: float | None, gap: float = 0.0) -> list[Area]:
        """Parts from top to bottom; those without a height share the rest."""
        return self._split(heights, gap, across=False)

    def _split(self, sizes: Sequence[float | None], gap: float, *, across: bool) -> list[Area]:
        whole = self.width if across else self.height
        left = whole - sum(size for size in sizes if size is not None) - gap * (len(sizes) - 1)
        share = left / max(1, sum(size is None for size in sizes))
        parts, at = [], 0.0
        for index, given in enumerate(sizes):
            size = share if given is None else given
            if across:
                parts.append(self.part(f"column {index}", self.x + at, self.y, size, self.height))
            else:
                parts.append(self.part(f"row {index}", self.x, self.y + at, self.width, size))
            at += size + gap
        return parts

    def grid(
        self,
        count: int,
        aspect: float,
        *,
        gap: float = 4.0,
        largest: float = 1e9,
        align: float = 0.0,
        level: float = 0.5,
        fewest: int = 1,
    ) -> list[Area]:
        """`count` parts of one shape (width / height), as large as fits in lines from left to right.

        largest: their height at most. align: where a short line begins, 0 left … 1 right. level: where the lines stand,
        0 at the top … 1 at the bottom. fewest: as if there were so many at least, so that few cards are no larger than some.
        """
        if not count:
            return []
        room = max(count, fewest)
        best, columns = 0.0, 1
        for lines in range(1, room + 1):
            in_line = ceil(room / lines)
            height = min(
                (self.width - (in_line - 1) * gap) / in_line / aspect,
                (self.height - (lines - 1) * gap) / lines,
                largest,
            )
            if height > best:
                best, columns = height, in_line
        width, lines = best * aspect, ceil(count / columns)
        top = self.y + level * (self.height - lines * best - (lines - 1) * gap)
        parts = []
        for index in range(count):
            line, column = divmod(index, columns)
            in_line = min(columns, count - line * columns)
            left = self.x + align * (self.width - in_line * width - (in_line - 1) * gap)
            parts.append(
                self.part(f"cell {index}", left + column * (width + gap), top + line * (best + gap), width, best)
            )
        return parts


def _number(value: float) -> str:
    return f"{value:.1f}"


class Picture:
    """A picture that is being drawn.

    Args:
        theme: "light", "dark", or a `Theme`.
        title: what it shows, for readers that can't see it.
        width, height: of the whole.
    """

    def __init__(self, theme: str | Theme, title: str, width: float = WIDTH, height: float = HEIGHT) -> None:
        self.theme = find_theme(theme)
        self.title = printable(title)
        self.all = Area("picture", 0.0, 0.0, width, height)
        self._drawn: list[str] = []
        self.rect(self.all, self.theme.table, radius=0.0)

    # ------------------------------------------------------------------------------------------ drawing

    def rect(
        self,
        area: Area,
        fill: str,
        *,
        edge: str | None = None,
        radius: float = 6.0,
        line: float = 1.0,
        dashed: bool = False,
    ) -> None:
        """Fill an area; its edge is drawn within it."""
        inside = line / 2 if edge is not None else 0.0
        stroke = "" if edge is None else f' stroke="{edge}" stroke-width="{_number(line)}"'
        if dashed:
            stroke += ' stroke-dasharray="5 4"'
        self._drawn.append(
            f'<rect x="{_number(area.x + inside)}" y="{_number(area.y + inside)}" '
            f'width="{_number(max(0.0, area.width - 2 * inside))}" height="{_number(max(0.0, area.height - 2 * inside))}" '
            f'rx="{_number(radius)}" fill="{fill}"{stroke}/>'
        )

    def symbol(self, area: Area, path: str, colour: str) -> None:
        """A path of a square of 24 × 24, as large as the area, in its middle."""
        size = min(area.width, area.height)
        x, y = area.x + (area.width - size) / 2, area.y + (area.height - size) / 2
        self._drawn.append(
            f'<path transform="translate({x:.2f} {y:.2f}) scale({size / 24:.4f})" '
            f'd="{path}" fill="{colour}" fill-rule="evenodd"/>'
        )

    def text(
        self,
        area: Area,
        text: str,
        size: float = 14.0,
        *,
        colour: str | None = None,
        align: str = "middle",
        whole: bool = False,
    ) -> None:
        """A line of text in an area: smaller where it would stick out, and shortened where it would be too small.

        align: "start", "middle" or "end". whole: never shortened.
        """
        text = printable(text)
        if not text:
            return
        largest = min(size, area.height / _text_height(text))
        size = min(largest, area.width / text_width(text, 1.0))
        smallest = min(largest, max(_SMALLEST, 0.62 * largest))
        if size < smallest and not whole:
            size = smallest
            while text and text_width(text + _ELLIPSIS, size) > area.width:
                text = text[:-1]
            text = text.rstrip() + _ELLIPSIS
        width = text_width(text, size)
        x = area.x + {"start": 0.0, "middle": (area.width - width) / 2, "end": area.width - width}[align]
        area.text = (text, size)
        # The length is stated for systems that have none of the fonts: theirs is stretched to it.
        self._drawn.append(
            f'<text x="{x:.2f}" y="{area.y + area.height / 2 + _CAPITALS / 2 * size:.2f}" font-size="{size:.2f}" '
            f'textLength="{width:.2f}" lengthAdjust="spacingAndGlyphs" '
            f'fill="{self.theme.ink if colour is None else colour}">{escape(text)}</text>'
        )

    # ------------------------------------------------------------------------------------------ things on a table

    def panel(self, area: Area, *, marked: bool = False) -> None:
        """The ground of a part of the table; `marked` draws the eye to it."""
        theme = self.theme
        self.rect(
            area, theme.panel, edge=theme.accent if marked else theme.edge, radius=9.0, line=3.0 if marked else 1.0
        )

    def heading(self, area: Area, text: str, size: float = 12.0, align: str = "middle") -> None:
        """What a part of the table is called."""
        self.text(area, text, size, colour=self.theme.faint, align=align)

    def card(self, area: Area, face: Face, *, value: str | None = None, note: str | None = None) -> None:
        """A card: letter and symbol of its face above; `value`, or else a large symbol, in the middle; `note` below.

        Without a note the symbol stands there once more.
        """
        width, height = area.width, area.height
        self.rect(area, face.fill, edge=self.theme.card_edge, radius=0.1 * width, line=max(0.5, 0.015 * height))
        side, strip = 0.09 * width, 0.24 * height
        inner = area.part("face", area.x + side, area.y + 0.01 * height, width - 2 * side, 0.98 * height)
        top, plate, bottom = inner.rows(strip, None, strip)
        left, right = top.columns(None, None)
        self.text(left, face.letter, 0.8 * strip, colour=face.ink, whole=True)
        mark = right.centred("mark", min(right.width, 0.62 * strip), 0.62 * strip)
        self.symbol(mark, face.symbol, face.ink)
        self.rect(plate, self.theme.plate, radius=0.1 * width)
        middle = plate.inset(0.04 * width, 0.03 * height)
        if value is None:
            self.symbol(middle.inset(0.04 * width, 0.03 * height), face.symbol, self.theme.plate_ink)
        else:
            self.text(middle, value, 0.5 * height, colour=self.theme.plate_ink, whole=True)
        if note is None:
            self.symbol(bottom.centred("mark", 0.62 * strip, 0.62 * strip), face.symbol, face.ink)
        else:
            self.text(bottom, note, 0.8 * strip, colour=face.ink, whole=True)

    def back(self, area: Area, face: Face | None = None, name: str = "") -> None:
        """A card that lies face down; where it is known, with its face and its name."""
        theme, width = self.theme, area.width
        self.rect(area, theme.back, edge=theme.card_edge, radius=0.1 * width, line=max(0.5, 0.015 * area.height))
        inner = area.inset(0.1 * width)
        self.rect(inner, "none", edge=theme.back_mark, radius=0.06 * width, line=max(0.5, 0.02 * width))
        inside = inner.inset(0.08 * width)
        if face is None:
            self.symbol(inside.inset(0.06 * width), SYMBOLS["back"], theme.back_mark)
        else:
            self.tag(inside.centred("name", inside.width, 0.5 * inside.width), face, name)

    def slot(self, area: Area, note: str = "") -> None:
        """The place of a card that is not there."""
        self.rect(area, "none", edge=self.theme.edge, radius=0.1 * area.width, line=1.2, dashed=True)
        self.text(area.inset(0.1 * area.width), note, 12.0, colour=self.theme.faint)

    def tag(self, area: Area, face: Face, text: str) -> None:
        """A card as small as its name."""
        self.rect(area, face.fill, edge=self.theme.card_edge, radius=0.18 * area.height)
        name = area.inset(0.1 * area.width, 0.06 * area.height)
        self.text(name, text, 0.62 * area.height, colour=face.ink, whole=True)

    def badge(self, area: Area, text: str) -> None:
        """A word that draws the eye."""
        self.rect(area, self.theme.accent, radius=area.height / 2)
        self.text(area.inset(0.4 * area.height, 1.0), text, 0.66 * area.height, colour=self.theme.on_accent)

    # ------------------------------------------------------------------------------------------ what comes of it

    def svg(self) -> str:
        """The picture as SVG: one element, without references to anything outside."""
        width, height = f"{self.all.width:g}", f"{self.all.height:g}"
        title = escape(self.title)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label={quoteattr(self.title)} font-family="{FONTS}" font-weight="700" '
            f'style="max-width:100%;height:auto"><title>{title}</title>{"".join(self._drawn)}</svg>'
        )

    def faults(self, tolerance: float = 0.01) -> list[str]:
        """Sentences about all that sticks out or overlaps; a good picture has none."""
        found: list[str] = []
        todo = [self.all]
        while todo:
            area = todo.pop()
            parts = area.parts
            todo += parts
            if area.width <= 0 or area.height <= 0:
                found.append(f"{area.name} is {area.width:.1f} × {area.height:.1f}")
            if area.text is not None:
                text, size = area.text
                if parts:
                    found.append(f"{area.name} holds the text {text!r} and has parts as well")
                if (
                    text_width(text, size) > area.width + tolerance
                    or _text_height(text) * size > area.height + tolerance
                ):
                    found.append(f"the text {text!r} sticks out of {area.name}")
            right, bottom = area.x + area.width + tolerance, area.y + area.height + tolerance
            for part in parts:
                inside = part.x >= area.x - tolerance and part.y >= area.y - tolerance
                if not (inside and part.x + part.width <= right and part.y + part.height <= bottom):
                    found.append(f"{part.name} sticks out of {area.name}")
            in_order = sorted(parts, key=_left)
            for index, part in enumerate(in_order):
                end = part.x + part.width - tolerance
                for other in in_order[index + 1 :]:
                    if other.x >= end:
                        break
                    if part.y < other.y + other.height - tolerance and other.y < part.y + part.height - tolerance:
                        found.append(f"{part.name} and {other.name} of {area.name} overlap")
        return found


def _left(area: Area) -> float:
    return area.x


# ------------------------------------------------------------------------------------------------- a table


@dataclass(frozen=True)
class Caption:
    """The words around a table."""

    game: str  # its name
    progress: str  # the round, the semester
    status: str  # what is to be decided, and by whom
    last_action: str
    viewpoint: str  # who sees this


@dataclass(frozen=True)
class Label:
    """What stands above a seat's cards."""

    name: str
    points: str
    acts: bool = False
    note: str = ""


@dataclass(frozen=True)
class Places:
    """The parts of a table."""

    others: list[Area]  # the opponents, clockwise from left to right
    centre: Area
    own: Area  # the viewer, or the first seat


def lay_table(picture: Picture, caption: Caption, opponents: int) -> Places:
    """Draw a table's captions and give the places for what lies on it."""
    header, others, centre, own, footer = picture.all.inset(10.0, 8.0).rows(36.0, 224.0, None, 230.0, 28.0, gap=8.0)
    left, middle, right = header.inset(6.0, 0.0).columns(300.0, None, 300.0, gap=10.0)
    picture.text(left, caption.game, 20.0, align="start")
    picture.text(middle, caption.status, 18.0, colour=picture.theme.accent)
    picture.heading(right, caption.progress, 15.0, "end")
    below, seen = footer.inset(6.0, 0.0).columns(None, 320.0, gap=10.0)
    picture.text(below, caption.last_action, 15.0, align="start")
    picture.heading(seen, caption.viewpoint, 14.0, "end")
    return Places(others.columns(*[None] * opponents, gap=8.0), centre, own)


def lay_seat(picture: Picture, area: Area, label: Label) -> Area:
    """Draw a seat's panel and its label, and give the place for its cards."""
    picture.panel(area, marked=label.acts)
    top, rest = area.inset(10.0, 8.0).rows(22.0, None, gap=6.0)
    left, points = top.columns(None, 0.46 * top.width, gap=4.0)
    if label.acts:
        width = min(text_width(label.name, 15.0) + 1.0, left.width - 58.0)
        name = left.part("name", left.x, left.y, width, left.height)
        picture.badge(left.part("badge", left.x + width + 4.0, left.y + 1.5, 54.0, left.height - 3.0), "to act")
    else:
        name = left
    picture.text(name, label.name, 15.0, align="start")
    picture.text(points, f"{label.points} {label.note}", 14.0, align="end")
    return rest


def seat_names(players: int, seat: int | None, names: Sequence[str] | None) -> list[str]:
    """What the seats are called, by number: `names`, or player_0 …; or, where the viewer's number is unknown, by distance.

    Raises:
        ValueError: not as many names as seats.
    """
    if names is not None:
        if len(names) != players:
            raise ValueError(f"{len(names)} names are given for {players} seats: one each")
        return [str(name) for name in names]
    if seat is None:
        return ["you", *(f"+{distance}" for distance in range(1, players))]
    return [f"player_{number}" for number in range(players)]


def side_by_side(pictures: Sequence[str], note: str, width: int = 560) -> str:
    """Pictures as HTML, several in a line, with a note below."""
    figures = "".join(f'<div style="width:{width}px;max-width:100%">{picture}</div>' for picture in pictures)
    return f'<div style="display:flex;flex-wrap:wrap;gap:8px">{figures}</div><p>{escape(note)}</p>'


def places_text(ranks: Sequence[float] | None, seat: int) -> str:
    """A seat's place in the final order, if there is one."""
    return "" if ranks is None else f"· rank {ranks[seat]:g}"
