"""The table as text panels: what a game's module `panels` gives to interfaces that set it in characters.

A game says what stands in which panel; how a card looks in a terminal is the interface's affair. The module has

    panels(view, seat, names) -> Panels       the table as this seat knows it; `view` is of one game, `names` are by seat
    action_line(seat, action, names) -> Line  what an action would do, beside its name
    move_text(seat, action, names) -> str     what it has done
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from easyenvs.core.svg import Face, find_theme

Tone: TypeAlias = Literal["plain", "faint", "strong"]


@dataclass(frozen=True)
class Words:
    """Some text."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Card:
    """A card: a label that tells it apart without its colours, which are "#rrggbb"."""

    label: str
    fill: str
    ink: str

    @classmethod
    def of_face(cls, face: Face, label: str) -> Card:
        """A card with the colours of a face."""
        return cls(label, face.fill, face.ink)

    @classmethod
    def back(cls, label: str = "??") -> Card:
        """A card that lies face down; a label says what is known of it."""
        theme = find_theme("dark")
        return cls(label, theme.back, "#ffffff")


@dataclass(frozen=True)
class Line:
    """Words and cards from left to right, which may be wrapped. is_tall: the cards are as large as they can be."""

    items: tuple[Words | Card, ...]
    is_tall: bool = False


@dataclass(frozen=True)
class Panel:
    """A framed part of the table."""

    title: str
    lines: tuple[Line, ...]
    seat: int | None = None  # whose it is; None: everybody's


@dataclass(frozen=True)
class Panels:
    """The table as one seat knows it.

    game: its name. progress: the round, the semester. status: what is to be decided, and by whom. middle: what belongs to
    nobody. seats: clockwise, the viewer first.
    """

    game: str
    progress: str
    status: str
    middle: Panel
    seats: tuple[Panel, ...]
    actor: int | None  # the seat to act
