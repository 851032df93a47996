"""Easy Peasy as a picture: the table as one seat knows it, or with everything open.

Both are drawn from a `Table`: `of_view` makes one of a view, `of_snapshot` one of a snapshot, and what neither knows is
not in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from easyenvs.core import bits, svg
from easyenvs.peasy_v0.cards import (
    COLOUR_LETTERS,
    DISCARD_PILES,
    FIRST_PLAY,
    NUM_CARDS,
    NUM_VALUES,
    ROW_PILES,
    Action,
    Direction,
    Phase,
    card_name,
    cards_in_play,
    colour_of,
    value_of,
)
from easyenvs.peasy_v0.notation import action_name
from easyenvs.peasy_v0.options import Rules
from easyenvs.peasy_v0.view import View

FACES: Final = tuple(
    svg.Face(letter, svg.SYMBOLS[symbol], fill, ink)
    for letter, symbol, fill, ink in zip(
        COLOUR_LETTERS,
        ("circle", "diamond", "triangle", "square", "star", "cross"),
        ("#c0322b", "#7b3fa8", "#1f7a48", "#2160b4", "#f3c52e", "#ee7f1b"),
        ("#ffffff", "#ffffff", "#ffffff", "#ffffff", "#2a2200", "#2a1500"),
        strict=True,
    )
)
"""By colour."""

PEEK: Final = 0.3
"""How much of the card below shows, as a part of a card's height."""

TALLEST_LINE: Final = 40.0
MOST_IN_A_LINE: Final = 8
"""More cards than that, in a narrow place, are drawn as their names."""
TAG_ASPECT: Final = 1.4


@dataclass(frozen=True)
class RowPile:
    """A pile of a Row."""

    up: int | None
    down: int | None  # the face-down card, if it is to be drawn with its face
    is_hidden: bool  # a face-down card lies there that has never been face-up


@dataclass(frozen=True)
class Seat:
    """What lies in front of a seat."""

    number: int
    hand: list[int] | None  # None: its backs are seen
    hand_size: int
    hand_fresh: int
    row: list[RowPile]
    total: int
    last_score: int


@dataclass(frozen=True)
class Table:
    """What is drawn."""

    rules: Rules
    phase: Phase
    actor: int | None
    direction: Direction
    bonus_pile: int | None
    flips: int
    round: int
    decisions: int
    reshuffled: bool
    tops: list[int]
    buried: list[int]
    draw_size: int
    draw_pile: list[int] | None  # in order; None: unknown
    unseen: list[int]  # by the viewer; none with everything open
    seats: list[Seat]  # clockwise from the one that sits below
    viewer: int | None  # None: everything is open


def of_view(view: View, seat: int = 0) -> Table:
    """What the view of one seat of one game holds; `seat` is its number."""
    players = view.rules.num_players
    up, down, hidden = view.up, view.known_down, view.hidden_down
    seats = [
        Seat(
            number=(seat + distance) % players,
            hand=bits.members(view.hand) if distance == 0 else None,
            hand_size=view.hand_size[distance],
            hand_fresh=view.hand_fresh[distance],
            row=[
                RowPile(
                    bits.member_of(up[distance][pile]), bits.member_of(down[distance][pile]), hidden[distance][pile]
                )
                for pile in range(ROW_PILES)
            ],
            total=view.totals[distance],
            last_score=view.last_scores[distance],
        )
        for distance in range(players)
    ]
    return Table(
        rules=view.rules,
        phase=Phase(view.phase),
        actor=None if view.actor < 0 else (seat + view.actor) % players,
        direction=Direction(view.direction),
        bonus_pile=None if view.bonus_pile < 0 else view.bonus_pile,
        flips=view.flips,
        round=view.round,
        decisions=view.decisions,
        reshuffled=bool(view.reshuffled),
        tops=[bits.members(top)[0] for top in view.tops],
        buried=bits.members(view.buried),
        draw_size=view.draw_size,
        draw_pile=None,
        unseen=bits.members(view.unseen_fresh | view.unseen_old),
        seats=seats,
        viewer=seat,
    )


def of_snapshot(snapshot: Mapping[str, Any], rules: Rules, seat: int = 0) -> Table:
    """All that a snapshot holds; `seat` sits below."""
    players = rules.num_players
    fresh = set(snapshot.get("fresh", range(NUM_CARDS)))
    rounds = snapshot["round_scores"]
    direction = snapshot["direction"]
    seats = []
    for number in ((seat + distance) % players for distance in range(players)):
        hand = snapshot["hands"][number]
        seats.append(
            Seat(
                number=number,
                hand=list(hand),
                hand_size=len(hand),
                hand_fresh=len(fresh.intersection(hand)),
                row=[
                    RowPile(pile["up"], pile["down"], pile["down"] is not None and not pile["known"])
                    for pile in snapshot["rows"][number]
                ],
                total=snapshot["totals"][number],
                last_score=rounds[-1][number] if rounds else 0,
            )
        )
    return Table(
        rules=rules,
        phase=Phase[snapshot["phase"].upper()],
        actor=snapshot["player"],
        direction=Direction.NONE if direction is None else Direction[direction.upper()],
        bonus_pile=snapshot["bonus_pile"],
        flips=snapshot["flips"],
        round=snapshot["round"],
        decisions=snapshot["decisions"],
        reshuffled=snapshot.get("reshuffles", 0) > 0,
        tops=list(snapshot["tops"]),
        buried=list(snapshot["buried"]),
        draw_size=len(snapshot["draw_pile"]),
        draw_pile=list(snapshot["draw_pile"]),
        unseen=[],
        seats=seats,
        viewer=None,
    )


# ------------------------------------------------------------------------------------------------- the public functions


def draw(
    view: View,
    *,
    theme: str | svg.Theme = "light",
    last_action: tuple[int, int] | None = None,
    seat: int | None = None,
    names: Sequence[str] | None = None,
    ranks: Sequence[float] | None = None,
) -> str:
    """The table as one seat knows it, as SVG. `view` is of one game (plain numbers).

    theme: "light", "dark", or a `Theme`. last_action: the seat that acted last, and its action. seat: the viewer's number
    (None: 0, and the seats are called by their distance). names: what the seats are called, by number. ranks: places in
    the final order, by number, once the game is over.
    """
    return picture(
        of_view(view, seat or 0), theme, last_action, svg.seat_names(view.rules.num_players, seat, names), ranks
    ).svg()


def draw_open(
    snapshot: Mapping[str, Any],
    rules: Rules,
    *,
    theme: str | svg.Theme = "light",
    last_action: tuple[int, int] | None = None,
    seat: int = 0,
    names: Sequence[str] | None = None,
    ranks: Sequence[float] | None = None,
) -> str:
    """The table with everything open, as SVG.

    snapshot: one that `Batch.snapshot` or `env.unwrapped.snapshot` gives. rules: those it was made with. seat: who sits
    below. The rest: as of `draw`.
    """
    return picture(
        of_snapshot(snapshot, rules, seat), theme, last_action, svg.seat_names(rules.num_players, seat, names), ranks
    ).svg()


def picture(
    table: Table,
    theme: str | svg.Theme,
    last_action: tuple[int, int] | None,
    names: Sequence[str],
    ranks: Sequence[float] | None,
) -> svg.Picture:
    """The picture of a table."""
    status = status_text(table, names)
    rounds = table.rules.num_rounds
    bound = f"to {table.rules.target_score} points" if rounds is None else f"of {rounds}"
    progress = f"round {table.round + 1} {bound} · decision {table.decisions}"
    made = svg.Picture(theme, f"Easy Peasy, {progress}: {status}")
    caption = svg.Caption(
        game="Easy Peasy",
        progress=progress,
        status=status,
        last_action="" if last_action is None else action_text(last_action, names),
        viewpoint="everything open" if table.viewer is None else f"as {names[table.viewer]} may know it",
    )
    places = svg.lay_table(made, caption, len(table.seats) - 1)
    for area, seat in zip((places.own, *places.others), table.seats, strict=True):
        _draw_seat(made, area, table, seat, names[seat.number], ranks)
    _draw_centre(made, places.centre, table)
    return made


# ------------------------------------------------------------------------------------------------- words


def status_text(table: Table, names: Sequence[str]) -> str:
    """Whose turn it is, and what is to be decided."""
    if table.actor is None:
        return "the game is over"
    who = names[table.actor]
    what = {
        Phase.DIRECTION: "choose the direction",
        Phase.TURN: "play a card, or flip",
        Phase.PLAY: "play a card after the flip",
        Phase.BONUS: f"a bonus card on pile {table.bonus_pile}, turn a Row pile, or pass",
    }[table.phase]
    return f"{who}: {what}"


def action_text(last_action: tuple[int, int], names: Sequence[str]) -> str:
    """What somebody did."""
    seat, action = last_action
    name, who = action_name(action), names[seat]
    if action >= FIRST_PLAY:
        card, _, pile = name.partition(">")
        return f"{who} played {card} on pile {pile}"
    return {
        Action.UP: f"{who} chose UP",
        Action.DOWN: f"{who} chose DOWN",
        Action.PASS: f"{who} passed",
        Action.FLIP: f"{who} flipped the Up&Down card",
        Action.TURN_0: f"{who} turned Row pile 0",
        Action.TURN_1: f"{who} turned Row pile 1",
    }[Action(action)]


# ------------------------------------------------------------------------------------------------- seats


def _draw_seat(
    made: svg.Picture, area: svg.Area, table: Table, seat: Seat, name: str, ranks: Sequence[float] | None
) -> None:
    points = f"{seat.total} points"
    note = svg.places_text(ranks, seat.number)
    if ranks is None and table.round:
        note = f"(last {seat.last_score})"
    label = svg.Label(name, points, seat.number == table.actor, note)
    inside = svg.lay_seat(made, area, label)
    is_wide = inside.width > 1.9 * inside.height
    if is_wide:
        card = (inside.height - 20.0) / (1.0 + PEEK)
        row, hand = inside.columns(min(0.42 * inside.width, 2 * card * svg.CARD_ASPECT + 12.0), None, gap=18.0)
    else:
        row, hand = inside.rows(0.55 * inside.height, None, gap=6.0)
    _draw_row(made, row, seat)
    fresh = f" ({seat.hand_fresh} fresh)" if table.reshuffled else ""
    heading, cards = hand.rows(14.0, None, gap=4.0)
    made.heading(heading, f"hand: {seat.hand_size}{fresh}", align="start")
    if seat.hand is not None and not is_wide and seat.hand_size > MOST_IN_A_LINE:
        for place, card_id in zip(cards.grid(seat.hand_size, TAG_ASPECT, gap=3.0), seat.hand, strict=True):
            made.tag(place, FACES[colour_of(card_id)], card_name(card_id))
        return
    places = cards.grid(
        seat.hand_size,
        svg.CARD_ASPECT,
        largest=0.86 * cards.height,
        level=0.0,
        fewest=MOST_IN_A_LINE if cards.width > 2 * cards.height else 6,
    )
    for index, place in enumerate(places):
        if seat.hand is None:
            made.back(place)
        else:
            draw_card(made, place, seat.hand[index])


def draw_card(made: svg.Picture, area: svg.Area, card: int) -> None:
    """A card, face up."""
    made.card(area, FACES[colour_of(card)], value=str(value_of(card)))


def _draw_row(made: svg.Picture, area: svg.Area, seat: Seat) -> None:
    heading, piles = area.rows(14.0, None, gap=4.0)
    made.heading(heading, "Row", align="start")
    for pile, place in zip(
        seat.row, piles.grid(ROW_PILES, svg.CARD_ASPECT / (1.0 + PEEK), gap=10.0, level=0.0), strict=True
    ):
        width, height = place.width, place.height / (1.0 + PEEK)
        card, below = place.rows(height, None)
        has_down = pile.down is not None or pile.is_hidden
        if pile.up is not None:
            if has_down:
                peek = below.part("below", below.x + 0.05 * width, below.y, 0.9 * width, 0.94 * below.height)
                _draw_peek(made, peek, pile)
            draw_card(made, card, pile.up)
        elif has_down:
            _draw_down(made, card, pile)
        else:
            made.slot(card, "empty")


def _draw_down(made: svg.Picture, area: svg.Area, pile: RowPile) -> None:
    """A face-down card that no other covers."""
    if pile.down is None:
        made.back(area)
    else:
        made.back(area, FACES[colour_of(pile.down)], _down_text(pile))


def _down_text(pile: RowPile) -> str:
    """What is written on a face-down card that is known: its name, with a question mark if no seat knows it."""
    assert pile.down is not None
    return card_name(pile.down) + ("?" if pile.is_hidden else "")


def _draw_peek(made: svg.Picture, area: svg.Area, pile: RowPile) -> None:
    """What shows of a face-down card under a face-up one, which is drawn after it and covers its upper end."""
    theme, tucked = made.theme, area.height
    card = svg.Area("the card below", area.x, area.y - tucked, area.width, area.height + tucked)
    made.rect(card, theme.back, edge=theme.card_edge, radius=0.1 * area.width)
    if pile.down is None:
        made.symbol(area.inset(2.0, 0.2 * area.height), svg.SYMBOLS["back"], theme.back_mark)
    else:
        name = area.inset(0.14 * area.width, 0.12 * area.height)
        made.tag(name, FACES[colour_of(pile.down)], _down_text(pile))


# ------------------------------------------------------------------------------------------------- the centre


def _draw_centre(made: svg.Picture, area: svg.Area, table: Table) -> None:
    draw_pile, direction, *discards, rest = area.columns(112.0, 112.0, 128.0, 128.0, None, gap=8.0)
    _draw_pile(made, draw_pile, table.draw_size)
    _draw_direction(made, direction, table)
    for pile, place in zip(range(DISCARD_PILES), discards, strict=True):
        marked = table.bonus_pile == pile
        made.panel(place, marked=marked)
        heading, card = place.inset(8.0).rows(16.0, None, gap=6.0)
        made.heading(heading, f"pile {pile}: bonus" if marked else f"discard pile {pile}")
        draw_card(made, card.grid(1, svg.CARD_ASPECT, align=0.5)[0], table.tops[pile])
    under, others = rest.columns(None, None, gap=8.0)
    _draw_set(made, under, f"under the discard piles: {len(table.buried)}", table.buried, table.rules.num_players)
    if table.draw_pile is None:
        title = f"not seen by this seat: {len(table.unseen)}"
        _draw_set(made, others, title, table.unseen, table.rules.num_players)
    else:
        _draw_order(made, others, table.draw_pile)


def _draw_pile(made: svg.Picture, area: svg.Area, size: int) -> None:
    made.panel(area)
    heading, card, count = area.inset(8.0).rows(16.0, None, 18.0, gap=6.0)
    made.heading(heading, "draw pile")
    place = card.grid(1, svg.CARD_ASPECT, align=0.5)[0]
    if size:
        made.back(place)
    else:
        made.slot(place, "empty")
    made.text(count, f"{size} cards" if size != 1 else "1 card", 14.0)


def _draw_direction(made: svg.Picture, area: svg.Area, table: Table) -> None:
    made.panel(area)
    theme = made.theme
    heading, card, flips = area.inset(8.0).rows(16.0, None, 18.0, gap=6.0)
    made.heading(heading, "Up&Down card")
    place = card.grid(1, svg.CARD_ASPECT, align=0.5)[0]
    if table.direction == Direction.NONE:
        made.slot(place, "not yet")
    else:
        made.rect(place, theme.accent, edge=theme.card_edge, radius=9.0)
        arrow, word = place.inset(10.0, 12.0).rows(None, 22.0, gap=4.0)
        made.symbol(arrow, svg.SYMBOLS["up" if table.direction == Direction.UP else "down"], theme.on_accent)
        made.text(word, table.direction.name, 18.0, colour=theme.on_accent)
    times = {0: "", 1: "flipped once", 2: "flipped twice"}[table.flips]
    made.heading(flips, times)


def _draw_set(made: svg.Picture, area: svg.Area, title: str, cards: Sequence[int], players: int) -> None:
    """Which cards of the deck are somewhere: a line a colour, a column a value."""
    made.panel(area)
    heading, table = area.inset(8.0).rows(16.0, None, gap=6.0)
    made.heading(heading, title, align="start")
    there = set(cards)
    lines = cards_in_play(players) // NUM_VALUES
    height = min(TALLEST_LINE, (table.height - 3.0 * (lines - 1)) / lines)
    for colour, line in enumerate(table.rows(*[height] * lines, gap=3.0)):
        for value, place in enumerate(line.columns(*[None] * NUM_VALUES, gap=3.0)):
            card = colour * NUM_VALUES + value
            if card in there:
                made.tag(place, FACES[colour], card_name(card))
            else:
                made.rect(place, made.theme.slot, radius=4.0)


def _draw_order(made: svg.Picture, area: svg.Area, cards: Sequence[int]) -> None:
    made.panel(area)
    heading, table = area.inset(8.0).rows(16.0, None, gap=6.0)
    made.heading(heading, "the draw pile, the next card first", align="start")
    for place, card in zip(table.grid(len(cards), TAG_ASPECT, gap=3.0, largest=24.0, level=0.0), cards, strict=True):
        made.tag(place, FACES[colour_of(card)], card_name(card))
