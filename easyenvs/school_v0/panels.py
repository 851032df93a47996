"""Easy School in a terminal: the table as one seat knows it, as text panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from easyenvs.core.panels import Card, Line, Panel, Panels, Words
from easyenvs.school_v0.cards import EXAMS, JOKER, NUM_FACE_UP, NUM_TYPES, STRESS, TYPES, Action, type_points
from easyenvs.school_v0.draw import FACES, FRONT, Seat, Table, action_text, of_view, status_text
from easyenvs.school_v0.view import View

_MEANING: Final = {Action.DRAW: "the deck's top card", Action.STOP: "no more"}


ALL: Final = range(NUM_TYPES)
STRESS_FILL: Final = "#56606a"
"""Stress is black, and so are most terminals."""


def card(kind: int, count: int = 1) -> Card:
    """`nerd`, or `nerd ×2`, in its colour."""
    return _coloured(kind, TYPES[kind] if count == 1 else f"{TYPES[kind]} ×{count}")


def letter(kind: int, count: int = 1) -> Card:
    """`N`, or `N ×2`, in its colour."""
    return _coloured(kind, FACES[kind].letter if count == 1 else f"{FACES[kind].letter} ×{count}")


def _coloured(kind: int, label: str) -> Card:
    return Card(label, STRESS_FILL if kind == STRESS else FACES[kind].fill, FACES[kind].ink)


def panels(view: View, seat: int, names: Sequence[str]) -> Panels:
    """The table as one seat knows it. `view` is of one game (plain numbers), `seat` its number; names: by number."""
    table = of_view(view, seat)
    ends = " ends" if table.is_closing else ""
    whose = names[table.turn_player]
    return Panels(
        game="Easy School",
        progress=f"semester {min(table.semester, 2)}{ends} · {'your turn' if whose == 'you' else f'turn of {whose}'}",
        status=status_text(table, names),
        middle=_middle(table, names),
        seats=tuple(_seat_panel(of_seat, names[of_seat.number], seat) for of_seat in table.seats),
        actor=table.actor,
    )


def action_line(seat: int, action: int, names: Sequence[str]) -> Line:
    """What an action would do, with its cards."""
    if action >= Action.EXAM:
        kinds, jokers = EXAMS[action - Action.EXAM]
        return Line(tuple(letter(kind) for kind in (*kinds, *[JOKER] * jokers)))
    if action >= Action.STRESS:
        return Line((letter(STRESS), Words(f"against {names[(seat + action - Action.STRESS + 1) % len(names)]}")))
    if action >= Action.TYPE:
        return Line((card(action - Action.TYPE),))
    return Line((Words(_MEANING[Action(action)]),))


def move_text(seat: int, action: int, names: Sequence[str]) -> str:
    """What somebody did."""
    return action_text((seat, action), names)


def _named(title: str, counts: Sequence[int], kinds: Sequence[int], *, is_tall: bool = False) -> Line:
    """Cards with their names."""
    cards: list[Words | Card] = [card(kind, count) for kind, count in zip(kinds, counts, strict=True) if count]
    return Line((Words(f"{title:<9}", "faint"), *(cards or [Words("none", "faint")])), is_tall and bool(cards))


def _lettered(title: str, counts: Sequence[int], kinds: Sequence[int]) -> Line:
    """Cards with their letters: in less room."""
    cards: list[Words | Card] = [letter(kind, count) for kind, count in zip(kinds, counts, strict=True) if count]
    return Line((Words(f"{title:<9}", "faint"), *(cards or [Words("none", "faint")])))


def _middle(table: Table, names: Sequence[str]) -> Panel:
    lines = [_named("pool", table.pool, range(NUM_FACE_UP), is_tall=True)]
    if any(table.claimed):
        lines.append(_named("claimed", table.claimed, range(NUM_FACE_UP)))
    if table.examinee is not None:
        lines.append(Line((Words("exam     ", "faint"), Words(f"taken by {names[table.examinee]}"))))
    size = sum(table.deck)
    lines += [_lettered("deck", table.deck, ALL), _lettered("discards", table.discard_pile, ALL)]
    title = f"pool and deck of {size}"
    if table.odds is not None and size:
        stress, special = table.odds
        title += f" · next is stress {stress:.0%}, semester end {special:.0%}"
    return Panel(title, tuple(lines))


def _seat_panel(seat: Seat, name: str, viewer: int) -> Panel:
    stressed = " · got stress in this turn" if seat.is_named else ""
    title = f"{name} · {seat.score} point{'' if seat.score == 1 else 's'}{stressed}"
    if seat.number == viewer:
        pile: list[Words | Card] = [Words("victory  ", "faint")]
        for kind, count in enumerate(seat.victory):
            if count:
                points = 0 if kind == JOKER else type_points(count)
                pile += [letter(kind, count), Words(f"= {points} ", "faint")]
        victory = Line((*pile, *([] if any(seat.victory) else [Words("none", "faint")])))
        lines = [_named("in front", seat.front, FRONT, is_tall=True), victory]
    else:
        lines = [
            _lettered("in front", seat.front, FRONT),
            _lettered("victory", seat.victory, range(NUM_FACE_UP)),
        ]
    if seat.tops:
        lines.append(Line((Words("its top  ", "faint"), *map(letter, seat.tops))))
    return Panel(title, tuple(lines), seat.number)
