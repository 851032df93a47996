"""Easy School as a picture: the table as one seat knows it, or with everything open.

Both are drawn from a `Table`: `of_view` makes one of a view, `of_snapshot` one of a snapshot, and what neither knows is
not in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from easyenvs.core import svg
from easyenvs.school_v0.cards import (
    JOKER,
    KEPT_CARDS,
    NUM_FACE_UP,
    NUM_TYPES,
    STRESS,
    TOP_CARDS,
    Action,
    Phase,
    type_points,
)
from easyenvs.school_v0.notation import action_name
from easyenvs.school_v0.options import Rules
from easyenvs.school_v0.view import View

FACES: Final = tuple(
    svg.Face(letter, path, fill, ink)
    for letter, path, fill, ink in (
        # glasses
        (
            "N",
            "M1.5 12a4.7 4.7 0 1 0 9.4 0a4.7 4.7 0 1 0-9.4 0z M3.5 12a2.7 2.7 0 1 0 5.4 0a2.7 2.7 0 1 0-5.4 0z"
            "M13.1 12a4.7 4.7 0 1 0 9.4 0a4.7 4.7 0 1 0-9.4 0z M15.1 12a2.7 2.7 0 1 0 5.4 0a2.7 2.7 0 1 0-5.4 0z"
            "M10.9 11h2.2v2h-2.2z",
            "#c0322b",
            "#ffffff",
        ),
        # a mask
        (
            "T",
            "M1 9c4-3 8-2 11 0c3-2 7-3 11 0c0 6-3 9-6.5 9c-2.2 0-3.5-2-4.5-3.500c-1 1.5-2.3 3.5-4.5 3.5"
            "c-3.5 0-6.5-3-6.5-9z M5 11.500l5 1.500c-1.2 2.2-4.2 1.5-5-1.500z M19 11.500l-5 1.5"
            "c1.2 2.2 4.2 1.5 5-1.500z",
            "#7b3fa8",
            "#ffffff",
        ),
        # a terminal
        (
            "H",
            "M2 4h20v16h-20z M4 6v12h16v-12z M6 8l1.4-1.400l5 5l-5 5l-1.4-1.400l3.6-3.600z M12 14.600h6v2h-6z",
            "#ee7f1b",
            "#2a1500",
        ),
        # a parcel with a bow
        (
            "G",
            "M3 12h8v9h-8z M13 12h8v9h-8z M2 7h9v3.500h-9z M13 7h9v3.500h-9z M11.5 6c-1-5-7-4.5-7-1.500c0 1.5 3 1.5 7 1.500z"
            "M12.5 6c1-5 7-4.5 7-1.500c0 1.5-3 1.5-7 1.500z",
            "#1f7a48",
            "#ffffff",
        ),
        # a sheet and its copy
        ("C", "M2 2h14v5h-9v10h-5z M9 9h13v13h-13z", "#2160b4", "#ffffff"),
        ("J", svg.SYMBOLS["star"], "#8a5a34", "#ffffff"),
        # lightning
        ("S", "M14 1L3 14h7l-2 9l13-14h-8z", "#23272b", "#ffffff"),
        # a flag
        ("E", "M4 1h2.500v22h-2.500z M8 2h14l-4 5l4 5h-14z", "#f3c52e", "#2a2200"),
    )
)
"""By type."""

FRONT: Final = (*range(NUM_FACE_UP), STRESS)
"""The types that lie in front of a seat."""


@dataclass(frozen=True)
class Seat:
    """What lies in front of a seat."""

    number: int
    front: list[int]  # by type, stress in its place
    victory: list[int]  # by type
    tops: list[int]  # types of the topmost cards of the victory pile, the top first
    score: int
    is_named: bool  # got stress in this turn


@dataclass(frozen=True)
class Table:
    """What is drawn."""

    rules: Rules
    phase: Phase
    actor: int | None
    turn_player: int
    semester: int
    is_closing: bool
    decisions: int
    pool: list[int]
    discard_pile: list[int]
    claimed: list[int]
    examinee: int | None
    stress_drawn: int
    to_discard: int
    deck: list[int]  # by type
    order: list[int] | None  # the deck's types, the next one first; None: unknown
    odds: tuple[float, float] | None  # that the next card is stress, or a semester end
    seats: list[Seat]  # clockwise from the one that sits below
    viewer: int | None  # None: everything is open


def of_view(view: View, seat: int = 0) -> Table:
    """What the view of one seat of one game holds; `seat` is its number."""
    players = view.rules.num_players
    front, victory, tops = view.face_up, view.victory, view.top_cards
    return Table(
        rules=view.rules,
        phase=Phase(view.phase),
        actor=None if view.actor < 0 else (seat + view.actor) % players,
        turn_player=(seat + view.turn_player) % players,
        semester=view.semester,
        is_closing=bool(view.closing),
        decisions=view.decisions,
        pool=view.pool,
        discard_pile=view.discard_pile,
        claimed=view.claimed,
        examinee=None if view.examinee < 0 else (seat + view.examinee) % players,
        stress_drawn=view.stress_drawn,
        to_discard=view.to_discard,
        deck=view.deck,
        order=None,
        odds=(float(view.stress_odds), float(view.special_odds)),
        seats=[
            Seat(
                number=(seat + distance) % players,
                front=[*front[distance], view.stress[distance]],
                victory=victory[distance],
                tops=[kind for kind in tops[distance] if kind < NUM_TYPES],
                score=view.scores[distance],
                is_named=bool(view.named[distance]),
            )
            for distance in range(players)
        ],
        viewer=seat,
    )


def of_snapshot(snapshot: Mapping[str, Any], rules: Rules, seat: int = 0) -> Table:
    """All that a snapshot holds; `seat` sits below."""
    players = rules.num_players
    turn_player = snapshot["turn_player"]
    named = {(turn_player + distance) % players for distance in snapshot.get("named", ())}
    phase = Phase[snapshot["phase"].upper()]
    examinee = snapshot.get("examinee")
    if examinee is None and phase in (Phase.SIXTH, Phase.STACK):
        examinee = snapshot["player"]
    seats = []
    for number in ((seat + distance) % players for distance in range(players)):
        pile = snapshot["victory"][number]
        seats.append(
            Seat(
                number=number,
                front=[*snapshot["face_up"][number], snapshot["stress"][number]],
                victory=[pile.count(kind) for kind in range(NUM_FACE_UP)],
                tops=list(pile[: -TOP_CARDS - 1 : -1]),
                score=snapshot["scores"][number],
                is_named=number in named,
            )
        )
    return Table(
        rules=rules,
        phase=phase,
        actor=snapshot["player"],
        turn_player=turn_player,
        semester=snapshot["semester"],
        is_closing=snapshot.get("closing", phase in (Phase.EXAM, Phase.KEEP)),
        decisions=snapshot["decisions"],
        pool=list(snapshot["pool"]),
        discard_pile=list(snapshot["discard_pile"]),
        claimed=list(snapshot["claimed"]),
        examinee=examinee,
        stress_drawn=snapshot.get("stress_drawn", 0),
        to_discard=snapshot.get("to_discard", 0),
        deck=[snapshot["deck"].count(kind) for kind in range(NUM_TYPES)],
        order=list(snapshot["deck"]),
        odds=None,
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
    """The table with everything open, the deck's order too, as SVG.

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
    ends = " ends" if table.is_closing and table.actor is not None else ""
    progress = f"semester {min(table.semester, 2)} of 2{ends} · decision {table.decisions}"
    made = svg.Picture(theme, f"Easy School, {progress}: {status}")
    caption = svg.Caption(
        game="Easy School",
        progress=progress,
        status=status,
        last_action="" if last_action is None else action_text(last_action, names),
        viewpoint="everything open" if table.viewer is None else f"as {names[table.viewer]} may know it",
    )
    places = svg.lay_table(made, caption, len(table.seats) - 1)
    for area, seat in zip((places.own, *places.others), table.seats, strict=True):
        _draw_seat(made, area, table, seat, names[seat.number], ranks)
    _draw_centre(made, places.centre, table, names)
    return made


# ------------------------------------------------------------------------------------------------- words


def status_text(table: Table, names: Sequence[str]) -> str:
    """Who is to act, and what is to be decided."""
    if table.actor is None:
        return "the game is over"
    cards = "1 card" if table.to_discard == 1 else f"{table.to_discard} cards"
    what = {
        Phase.TURN: "draw, pick, take an exam, or play stress",
        Phase.DRAW: "draw again, or stop",
        Phase.DISCARD: f"discard {cards} to the pool because of stress",
        Phase.SIXTH: "claim a sixth card",
        Phase.STACK: "lay the next card on the victory pile",
        Phase.PRACTICE: "lay a card in practice, or pass",
        Phase.RELAX: "play another stress card, or stop",
        Phase.EXAM: "take an exam before the semester ends, or pass",
        Phase.KEEP: f"discard down to {KEPT_CARDS} cards",
    }[table.phase]
    return f"{names[table.actor]}: {what}"


def action_text(last_action: tuple[int, int], names: Sequence[str]) -> str:
    """What somebody did."""
    seat, action = last_action
    name, who = action_name(action), names[seat]
    if action >= Action.EXAM:
        return f"{who} took an {name.replace(' ', ' with: ', 1)}"
    if action >= Action.STRESS:
        distance = action - Action.STRESS + 1
        return f"{who} played stress against {names[(seat + distance) % len(names)]}"
    if action >= Action.TYPE:
        return f"{who} chose {name}"
    return f"{who} drew from the deck" if action == Action.DRAW else f"{who} stopped"


# ------------------------------------------------------------------------------------------------- seats


def _draw_seat(
    made: svg.Picture, area: svg.Area, table: Table, seat: Seat, name: str, ranks: Sequence[float] | None
) -> None:
    note = svg.places_text(ranks, seat.number)
    if seat.is_named:
        note = "· got stress"
    elif ranks is None and seat.number == table.turn_player and seat.number != table.actor:
        note = "· its turn"
    inside = svg.lay_seat(made, area, svg.Label(name, f"{seat.score} points", seat.number == table.actor, note))
    is_wide = inside.width > 4 * inside.height
    front, victory = inside.columns(None, None, gap=24.0) if is_wide else inside.rows(None, None, gap=6.0)
    heading, cards = front.rows(14.0, None, gap=4.0)
    made.heading(heading, f"in front: {sum(seat.front)}", align="start")
    for kind, place, count in zip(FRONT, _row_of_cards(cards, len(FRONT)), seat.front, strict=True):
        draw_stack(made, place, kind, count)
    heading, cards = victory.rows(14.0, None, gap=4.0)
    _draw_tops(made, heading, seat)
    for kind, place in enumerate(_row_of_cards(cards, len(FRONT))[:NUM_FACE_UP]):
        count = seat.victory[kind]
        points = None if kind == JOKER else f"{type_points(count)} p"
        draw_stack(made, place, kind, count, points)


def _row_of_cards(area: svg.Area, count: int) -> list[svg.Area]:
    """Places of one line, from the left; narrower than cards usually are where there is not enough room."""
    gap = min(14.0, 0.02 * area.width)
    width = min((area.width - (count - 1) * gap) / count, TALL_ASPECT * area.height)
    height = min(area.height, width / FLAT_ASPECT)
    top = area.y + (area.height - height) / 2
    return [area.part("card", area.x + index * (width + gap), top, width, height) for index in range(count)]


TALL_ASPECT: Final = 0.7
FLAT_ASPECT: Final = 0.5
"""Bounds of a card's width to its height here."""


def draw_stack(made: svg.Picture, area: svg.Area, kind: int, count: int, note: str | None = None) -> None:
    """So many cards of a type, or the place for them."""
    if count:
        made.card(area, FACES[kind], value=None if note is None else f"{count}", note=note or f"×{count}")
    else:
        made.slot(area, FACES[kind].letter)


def _draw_tops(made: svg.Picture, area: svg.Area, seat: Seat) -> None:
    """How large the victory pile is, and which cards lie on its top."""
    size = sum(seat.victory)
    words = f"victory pile: {size}{', its top:' if seat.tops else ''}"
    width = min(svg.text_width(words, 12.0), area.width - TOP_CARDS * (TAG + 3.0) - 4.0)
    made.heading(area.part("title", area.x, area.y, width, area.height), words, align="start")
    for index, kind in enumerate(seat.tops):
        place = area.part("top", area.x + width + 4.0 + index * (TAG + 3.0), area.y, TAG, area.height)
        made.tag(place, FACES[kind], FACES[kind].letter)


TAG: Final = 16.0


# ------------------------------------------------------------------------------------------------- the centre


def _draw_centre(made: svg.Picture, area: svg.Area, table: Table, names: Sequence[str]) -> None:
    deck, pool, claimed, discards = area.columns(None, 280.0, 230.0, 320.0, gap=8.0)
    _draw_deck(made, deck, table)
    made.panel(pool)
    heading, cards = pool.inset(8.0).rows(16.0, None, gap=6.0)
    made.heading(heading, f"pool: {sum(table.pool)}", align="start")
    for kind, place in enumerate(cards.grid(NUM_FACE_UP, svg.CARD_ASPECT, gap=8.0, align=0.5)):
        draw_stack(made, place, kind, table.pool[kind])
    made.panel(claimed, marked=table.examinee is not None)
    heading, cards = claimed.inset(8.0).rows(16.0, None, gap=6.0)
    whose = "no exam" if table.examinee is None else f"exam of {names[table.examinee]}"
    made.heading(heading, whose, align="start")
    laid = [kind for kind, count in enumerate(table.claimed) for _ in range(count)]
    for kind, place in zip(laid, cards.grid(len(laid), svg.CARD_ASPECT, gap=8.0, align=0.5, fewest=4), strict=True):
        made.card(place, FACES[kind])
    made.panel(discards)
    heading, cards = discards.inset(8.0).rows(16.0, None, gap=6.0)
    made.heading(heading, f"discard pile: {sum(table.discard_pile)}", align="start")
    for kind, place in enumerate(cards.grid(NUM_TYPES, svg.CARD_ASPECT, gap=8.0, align=0.5)):
        draw_stack(made, place, kind, table.discard_pile[kind])


def _draw_deck(made: svg.Picture, area: svg.Area, table: Table) -> None:
    made.panel(area)
    size = sum(table.deck)
    heading, rest = area.inset(8.0).rows(16.0, None, gap=6.0)
    made.heading(heading, f"deck: {size}" + ("" if table.odds is not None else ", the next card first"), align="start")
    if table.order is not None:
        for kind, place in zip(table.order, rest.grid(size, 0.9, gap=2.0, largest=26.0, level=0.0), strict=True):
            made.tag(place, FACES[kind], FACES[kind].letter)
        return
    cards, odds = rest.rows(None, 34.0, gap=6.0)
    for kind, place in enumerate(cards.grid(NUM_TYPES, svg.CARD_ASPECT, gap=8.0, align=0.5)):
        draw_stack(made, place, kind, table.deck[kind])
    if table.odds is not None and table.actor is not None:
        stress, special = odds.rows(None, None)
        made.text(stress, f"next is stress: {table.odds[0]:.0%}", 13.0, align="start")
        made.text(special, f"next is the semester's end: {table.odds[1]:.0%}", 13.0, align="start")
