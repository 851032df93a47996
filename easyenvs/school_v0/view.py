"""What one seat of Easy School may know (S20), as named seat-relative fields, from either engine: everything but the
order of the deck.

This is the only way from a game's state to anything that an agent sees: encoders, policies, texts and pictures read views.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from easyenvs.core.arrays import F64, Index
from easyenvs.core.views import known
from easyenvs.school_v0.cards import (
    CARDS_UNDER_LAST_SPECIAL,
    COPIES,
    MAX_PLAYERS,
    NUM_FACE_UP,
    NUM_TYPES,
    SPECIAL,
    SPREAD,
    START_CARDS,
    STRESS,
    TOP_CARDS,
)
from easyenvs.school_v0.counts import ALL_CARDS, BYTE, listed
from easyenvs.school_v0.options import CLOCK_TICKS, Rules

if TYPE_CHECKING:
    from easyenvs.school_v0.game import Game
    from easyenvs.school_v0.machine import Machine

NO_CARD: Final = NUM_TYPES


@dataclass(slots=True)
class View:
    """What a seat knows. Seats are relative to the viewer: 0 is itself, 1 the next clockwise.

    M games (the last axis; absent in a view of one game), P seats, T types (cards.TYPES): 6 face-up ones, 8 in all.
    Zones are words as counts.py describes them, a byte a type; under their plain names, counts by type.
    """

    rules: Rules
    phase: Any = known("[M]", np.uint8, "what is to be decided, a `cards.Phase`")
    actor: Any = known("[M]", np.int8, "the seat to act, relative; −1 once the game is over")
    turn_player: Any = known("[M]", np.int8, "the seat whose turn it is, relative")
    semester: Any = known("[M]", np.uint8, "1, 2, and 3 after the second special")
    closing: Any = known("[M]", np.uint8, "1 while a semester ends, else 0")
    decisions: Any = known("[M]", np.int32, "decisions made in this game")
    face_up_words: Any = known("[P, M]", np.uint64, "packed counts: cards in front of each seat")
    stress: Any = known("[P, M]", np.uint8, "stress cards in front of each seat")
    victory_words: Any = known("[P, M]", np.uint64, "packed counts: cards of each victory pile")
    tops: Any = known("[P, M]", np.uint16, "its four topmost cards, three bits each, the top lowest: 1 + type, or 0")
    scores: Any = known("[P, M]", np.int32, "points of the victory piles")
    pool_words: Any = known("[M]", np.uint64, "packed counts: cards of the pool")
    discard_words: Any = known("[M]", np.uint64, "packed counts: cards of the discard pile")
    deck_words: Any = known("[M]", np.uint64, "packed counts: cards left in the deck")
    deck_size: Any = known("[M]", np.uint8, "cards left in the deck")
    claimed_words: Any = known(
        "[M]", np.uint64, "packed counts: cards of an examination that are not in the victory pile yet"
    )
    exam_types: Any = known("[M]", np.uint8, "set (bit t) of the cheat types that the examination named")
    examinee: Any = known("[M]", np.int8, "the seat whose examination it is, relative; −1 outside of one")
    stress_drawn: Any = known("[M]", np.uint8, "stress cards drawn in this turn")
    to_discard: Any = known("[M]", np.uint8, "cards that the acting seat still owes the pool")
    named: Any = known("[P, M]", np.uint8, "1 for a seat that got a stress card in this turn, else 0")

    @property
    def face_up(self) -> Any:
        """[P, 6, M] uint8: cards in front of each seat, by type."""
        return by_type(self.face_up_words)

    @property
    def victory(self) -> Any:
        """[P, 6, M] uint8: cards of each victory pile, by type."""
        return by_type(self.victory_words)

    @property
    def top_cards(self) -> Any:
        """[P, 4, M] uint8: types of each victory pile's topmost cards, the top first; 8 where there is none."""
        if isinstance(self.tops, np.ndarray):
            return np.stack([TOP_TYPE.take(self.tops >> 3 * place & 7) for place in range(TOP_CARDS)], axis=-2)
        return [[int(TOP_TYPE[tops >> 3 * place & 7]) for place in range(TOP_CARDS)] for tops in self.tops]

    @property
    def pool(self) -> Any:
        """[6, M] uint8: cards of the pool, by type."""
        return by_type(self.pool_words)

    @property
    def discard_pile(self) -> Any:
        """[8, M] uint8: cards of the discard pile, by type."""
        return by_type(self.discard_words, NUM_TYPES)

    @property
    def deck(self) -> Any:
        """[8, M] uint8: cards left in the deck, by type."""
        return by_type(self.deck_words, NUM_TYPES)

    @property
    def claimed(self) -> Any:
        """[6, M] uint8: cards of an examination that are not in the victory pile yet, by type."""
        return by_type(self.claimed_words)

    @property
    def special_odds(self) -> Any:
        """[M] float64: the chance that the deck's next card is a semester end."""
        at = odds_index(self.deck_words, self.deck_size)
        return ODDS[self.rules.num_players][SPECIAL][at]

    @property
    def stress_odds(self) -> Any:
        """[M] float64: the chance that the deck's next card is stress."""
        at = odds_index(self.deck_words, self.deck_size)
        return ODDS[self.rules.num_players][STRESS][at]


def by_type(words: Any, types: int = NUM_FACE_UP) -> Any:
    """The counts in words: uint64 [.., M] -> uint8 [.., types, M]; of one game: an int, or a list of them -> lists."""
    if isinstance(words, np.ndarray):
        little = np.ascontiguousarray(words, dtype="<u8")
        counts = little.view(np.uint8).reshape(*words.shape, NUM_TYPES)[..., :types]
        return np.ascontiguousarray(np.moveaxis(counts, -1, -2))
    if isinstance(words, int):
        return listed(words, types)
    return [listed(word, types) for word in words]


TOP_TYPE: Final = np.array([NO_CARD, *range(NUM_FACE_UP), NO_CARD], dtype=np.uint8)


def first_special_places(players: int) -> range:
    """S4. The places of the first special, counted from the bottom of the deck, that the set-up allows."""
    whole = sum(COPIES) - COPIES[SPECIAL] + 1 - START_CARDS * players
    middle = whole - whole // 2
    return range(middle - SPREAD, middle + SPREAD + 1)


NUM_CARDS: Final = sum(COPIES)
SIZES: Final = NUM_CARDS + 1
STRESSES: Final = COPIES[STRESS] + 1
SPECIALS: Final = COPIES[SPECIAL] + 1


def special_odds(players: int, specials: int, size: int) -> float:
    """The chance that the next of `size` cards is one of the `specials` that are left, by the set-up's rules (S4)."""
    if specials == 1:
        return float(size == CARDS_UNDER_LAST_SPECIAL + 1)
    places = first_special_places(players)
    return 1.0 / (size - places.start) if specials and size - 1 in places else 0.0


def odds_tables(players: int) -> dict[int, F64]:
    """The chances that the next card is stress, and that it is a special, both by `odds_index`."""
    special = np.array([[special_odds(players, left, size) for size in range(SIZES)] for left in range(SPECIALS)])
    ordinary = np.maximum(np.arange(SIZES)[None, :] - np.arange(SPECIALS)[:, None], 1)
    stress = (1.0 - special)[:, None, :] * np.arange(STRESSES)[:, None] / ordinary[:, None, :]
    return {STRESS: np.minimum(stress, 1.0).ravel(), SPECIAL: np.repeat(special[:, None, :], STRESSES, axis=1).ravel()}


def odds_index(deck: Any, size: Any) -> Any:
    """Where the odds of a deck with these packed counts, and so many cards, are in an array of `odds_tables`."""
    stress, specials = deck >> STRESS_AT & BYTE, deck >> SPECIAL_AT
    index = (specials * STRESSES + stress) * SIZES + size
    return index.astype(np.intp) if isinstance(index, np.ndarray) else index


STRESS_AT: Final = 8 * STRESS
FACE_UP_TYPES: Final = sum(BYTE << 8 * kind for kind in range(NUM_FACE_UP))
TOP_WIDTH: Final = NUM_FACE_UP * TOP_CARDS
SPECIAL_AT: Final = 8 * SPECIAL
ODDS: Final = {players: odds_tables(players) for players in range(2, MAX_PLAYERS + 1)}

SEATS: Final = {
    players: np.array([[(s + d) % players for s in range(players)] for d in range(players)], dtype=np.intp)
    for players in range(2, MAX_PLAYERS + 1)
}
"""By players: the seat that sits d clockwise from seat s, at [d, s]."""

DISTANCES: Final = {
    players: np.array(
        [(seat - viewer) % players if seat < players else -1 for viewer in range(players) for seat in range(8)],
        dtype=np.int8,
    )
    for players in range(2, MAX_PLAYERS + 1)
}
"""By players: how far clockwise from a viewer a seat sits, at 8 · viewer + seat; a machine's "no seat", 255, counts as 7."""

ROTATE: Final = {
    players: [itemgetter(*((seat + d) % players for d in range(players))) for seat in range(players)]
    for players in range(2, MAX_PLAYERS + 1)
}
"""ROTATE[players][seat](by_seat): the same by distance from `seat`."""


def of_game(game: Game, seat: int) -> View:
    """The view of one seat of one game, in plain numbers."""
    players = game.num_players
    relative = ROTATE[players][seat]
    player, examinee = game.player, game.examinee
    front = relative(game.front)
    return View(
        game.rules,
        game.phase,
        -1 if player is None else (player - seat) % players,
        (game.turn_player - seat) % players,
        game.semester,
        int(game.closing),
        game.decisions,
        [cards & FACE_UP_TYPES for cards in front],
        [cards >> STRESS_AT & BYTE for cards in front],
        [pile & FACE_UP_TYPES for pile in relative(game.piles)],
        list(relative(game.tops)),
        list(relative(game.scores)),
        game.pool,
        game.discard_pile,
        game.in_deck,
        len(game.deck),
        game.claimed,
        game.exam_types,
        -1 if examinee is None else (examinee - seat) % players,
        game.stress_drawn,
        game.to_discard,
        [game.named >> (seat + distance - game.turn_player) % players & 1 for distance in range(players)],
    )


Situation = tuple[int, "int | None", int, int, int, bool, int, int]
"""Phase, acting seat, viewing seat, whose turn it is, semester, closing, stress_drawn, to_discard."""


Dealings = tuple["int | None", int, int, int, int]
"""Examinee, exam_types, named, whose turn it is, viewing seat: most of the time there is neither of the first three."""


class PackedView:
    """What `of_game` says and observations hold, as few numbers: for the encoders of one game, where a View's names cost
    as much as what they name. All it reads is public (S20).

    Zones: View.face_up_words with stress in byte 6 and the sum in byte 7, victory_words with scores and the sum,
    pool_words with deck_size and the clock, claimed_words with the two bytes that `odds[odds_index(…)]` gives,
    discard_words, deck_words. One word: the status (by situation, and what `dealings` add to it), above it
    `top_words[View.tops[seat]]` of every seat.
    """

    def __init__(
        self,
        rules: Rules,
        status: Mapping[Situation, int],
        dealings: Mapping[Dealings, int],
        status_width: int,
        top_words: Sequence[int],
        odds: Sequence[int],
    ) -> None:
        self._relative = ROTATE[rules.num_players]
        self._status, self._dealings, self._status_width = status, dealings, status_width
        self._top_words, self._odds = top_words, odds
        self._clock_tick = rules.clock_tick

    def read(self, game: Game, seat: int) -> tuple[int, tuple[()], list[int]]:
        """The word, no counts, and the zones."""
        relative = self._relative[seat]
        top_words, word = self._top_words, 0
        for tops in relative(game.tops)[::-1]:
            word = word << TOP_WIDTH | top_words[tops]
        status = self._status[
            game.phase,
            game.player,
            seat,
            game.turn_player,
            game.semester,
            game.closing,
            game.stress_drawn,
            game.to_discard,
        ]
        if game.named or game.exam_types or game.examinee is not None:
            status |= self._dealings[game.examinee, game.exam_types, game.named, game.turn_player, seat]
        deck, size, clock = game.in_deck, len(game.deck), game.decisions // self._clock_tick
        if clock > CLOCK_TICKS:  # a position made by hand
            clock = CLOCK_TICKS
        return (
            word << self._status_width | status,
            (),
            [
                *relative(game.front),
                *relative(game.piles),
                game.pool | size << 48 | clock << 56,
                game.claimed
                | self._odds[((deck >> SPECIAL_AT) * STRESSES + (deck >> STRESS_AT & BYTE)) * SIZES + size],
                game.discard_pile,
                deck,
            ],
        )


def of_games(machine: Machine, seat: Index) -> View:
    """The view of seat `seat[i]` of every game i of a machine, in fresh arrays."""
    num_games, players = machine.num_games, machine.num_players
    # [P, N]: where the entry of the seat at each distance is in a flattened [P, N] field
    order = SEATS[players].take(seat, axis=1)
    flat = order * num_games
    flat += machine.index
    stress = machine.stress.reshape(-1).take(flat)
    # Every card is in the deck or in a zone that all can see.
    deck = ALL - machine.discard_pile
    deck -= machine.pool
    deck -= machine.claimed
    for seen in (*machine.face_up, *machine.victory):
        deck -= seen
    in_front = machine.stress[0].copy()
    for cards in machine.stress[1:]:
        in_front += cards
    deck -= in_front.astype(np.uint64) << np.uint64(STRESS_AT)
    viewer = seat.astype(np.uint8)
    viewer <<= np.uint8(3)
    distances = DISTANCES[players]
    turn = distances.take(viewer | machine.turn_player & 7)
    if machine.named.any():
        named = machine.named >> distances.take(machine.turn_player.astype(np.intp) << 3 | order).view(np.uint8) & 1
    else:
        named = np.zeros((players, num_games), dtype=np.uint8)
    return View(
        machine.rules,
        machine.phase.copy(),
        distances.take(viewer | machine.player & 7),
        turn,
        machine.semester.copy(),
        machine.closing.copy(),
        machine.decisions.copy(),
        machine.face_up.reshape(-1).take(flat),
        stress,
        machine.victory.reshape(-1).take(flat),
        machine.tops.reshape(-1).take(flat),
        machine.points.reshape(-1).take(flat).astype(np.int32),
        machine.pool.copy(),
        machine.discard_pile.copy(),
        deck,
        machine.deck_end - machine.next_card,
        machine.claimed.copy(),
        machine.exam_types.copy(),
        distances.take(viewer | machine.examinee & 7),
        machine.stress_drawn.copy(),
        machine.to_discard.copy(),
        named,
    )


ALL: Final = np.uint64(ALL_CARDS)
