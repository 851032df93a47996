"""Easy Peasy in a terminal: the table as one seat knows it, as text panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from easyenvs.core.panels import Card, Line, Panel, Panels, Words
from easyenvs.core.svg import find_theme
from easyenvs.peasy_v0.cards import (
    FIRST_PLAY,
    NUM_CARDS,
    Action,
    Direction,
    card_name,
    cards_in_play,
    colour_of,
    value_of,
)
from easyenvs.peasy_v0.draw import FACES, RowPile, Seat, Table, action_text, of_view, status_text
from easyenvs.peasy_v0.view import View

_THEME: Final = find_theme("dark")
UP_AND_DOWN: Final = {
    Direction.NONE: Card.back("↕ ?"),
    Direction.UP: Card("▲ UP", _THEME.plate, _THEME.plate_ink),
    Direction.DOWN: Card("▼ DOWN", _THEME.plate, _THEME.plate_ink),
}
SPACE: Final = Words("   ")

_MEANING: Final = {
    Action.UP: "the direction is UP",
    Action.DOWN: "the direction is DOWN",
    Action.PASS: "no bonus",
    Action.FLIP: "reverse, draw two",
    Action.TURN_0: "turn your Row pile 0",
    Action.TURN_1: "turn your Row pile 1",
}


def card(number: int) -> Card:
    """`R8` in its colour."""
    return Card.of_face(FACES[colour_of(number)], card_name(number))


def panels(view: View, seat: int, names: Sequence[str]) -> Panels:
    """The table as one seat knows it. `view` is of one game (plain numbers), `seat` its number; names: by number."""
    table = of_view(view, seat)
    rounds = table.rules.num_rounds
    bound = f"to {table.rules.target_score} points" if rounds is None else f"of {rounds}"
    return Panels(
        game="Easy Peasy",
        progress=f"round {table.round + 1} {bound}",
        status=status_text(table, names),
        middle=_middle(table),
        seats=tuple(_seat_panel(table, of_seat, names[of_seat.number]) for of_seat in table.seats),
        actor=table.actor,
    )


def action_line(seat: int, action: int, names: Sequence[str]) -> Line:
    """What an action would do, with its cards."""
    if action < FIRST_PLAY:
        return Line((Words(_MEANING[Action(action)]),))
    pile, number = divmod(action - FIRST_PLAY, NUM_CARDS)
    return Line((card(number), Words(f"on pile {pile}")))


def move_text(seat: int, action: int, names: Sequence[str]) -> str:
    """What somebody did."""
    return action_text((seat, action), names)


def _middle(table: Table) -> Panel:
    size = table.draw_size
    top = Line(
        (
            UP_AND_DOWN[table.direction],
            SPACE,
            Words("pile 0", "strong" if table.bonus_pile == 0 else "plain"),
            card(table.tops[0]),
            SPACE,
            Words("pile 1", "strong" if table.bonus_pile == 1 else "plain"),
            card(table.tops[1]),
            SPACE,
            Card.back("draw" if size else "none"),
            Words(f"{size} card{'' if size == 1 else 's'}"),
        ),
        is_tall=True,
    )
    lines = [top, _by_colour("under the tops", table.buried, table), _by_colour("not seen yet", table.unseen, table)]
    return Panel("discards and draw pile", tuple(lines))


def _by_colour(title: str, numbers: list[int], table: Table) -> Line:
    """`R 2 4 10  P 3 …`"""
    items: list[Words | Card] = [Words(f"{title:<15}", "faint")]
    colours = range(cards_in_play(table.rules.num_players) // 10)
    for colour in colours:
        values = " ".join(str(value_of(number)) for number in numbers if colour_of(number) == colour)
        if values:
            items += [Card.of_face(FACES[colour], FACES[colour].letter), Words(f"{values} ")]
    return Line(tuple(items) if numbers else (items[0], Words("none", "faint")))


def _seat_panel(table: Table, seat: Seat, name: str) -> Panel:
    note = f" · +{seat.last_score}" if table.round else ""
    title = f"{name} · {seat.total} point{'' if seat.total == 1 else 's'}{note}"
    fresh = f", {seat.hand_fresh} fresh" if table.reshuffled else ""
    size = f"{seat.hand_size} card{'' if seat.hand_size == 1 else 's'}{fresh}"
    piles = [_row_cards(pile) for pile in seat.row]
    if seat.hand is None:
        backs = Words("▮" * seat.hand_size, "strong")
        hand = Line((Words("hand", "faint"), backs, Words(size, "faint")))
        return Panel(title, (Line((Words("Row ", "faint"), *piles[0], Words(" "), *piles[1])), hand), seat.number)
    row = Line((Words("Row 0", "faint"), *piles[0], SPACE, Words("Row 1", "faint"), *piles[1]), is_tall=True)
    hand = Line(
        (Words("hand ", "faint"), *(map(card, seat.hand) if seat.hand else [Words("empty", "faint")])), bool(seat.hand)
    )
    return Panel(title, (row, hand), seat.number)


def _row_cards(pile: RowPile) -> list[Words | Card]:
    cards: list[Words | Card] = []
    if pile.up is not None:
        cards.append(card(pile.up))
    if pile.down is not None:
        cards.append(Card.back(f"({card_name(pile.down)})"))
    elif pile.is_hidden:
        cards.append(Card.back())
    return cards or [Words("empty", "faint")]
