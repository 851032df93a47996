"""What one seat of Easy Peasy may know (P13), as named seat-relative fields, from either engine.

This is the only way from a game's state to anything that an agent sees: encoders, policies, texts and pictures read
views. A view never holds another seat's hand, a face-down card that nobody has seen, or the order of the draw pile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from easyenvs.core.arrays import Index
from easyenvs.core.views import known
from easyenvs.peasy_v0.cards import (
    COLOURS_IN_PLAY,
    DISCARD_PILES,
    NUM_CARDS,
    ROW_PILES,
    Direction,
    Phase,
    cards_in_play,
)
from easyenvs.peasy_v0.options import Rules

if TYPE_CHECKING:
    from easyenvs.peasy_v0.game import Game
    from easyenvs.peasy_v0.machine import Machine

BIT = np.array([1 << card for card in range(NUM_CARDS)], dtype=np.uint64)


@dataclass(slots=True)
class View:
    """What a seat knows. Seats are relative to the viewer: 0 is itself, 1 the next clockwise.

    M games (the last axis; absent in a view of one game), P seats, 2 Row piles or discard piles. A set of cards is a
    word: bit c is card c.
    """

    rules: Rules
    phase: Any = known("[M]", np.uint8, "what is to be decided, a `cards.Phase`")
    actor: Any = known("[M]", np.int8, "the seat to act, relative; −1 once the game is over")
    direction: Any = known("[M]", np.uint8, "the Up&Down card, a `cards.Direction`")
    flips: Any = known("[M]", np.uint8, "flips of the Up&Down card in this turn")
    bonus_pile: Any = known("[M]", np.int8, "the discard pile that a bonus is bound to; −1 outside phase BONUS")
    round: Any = known("[M]", np.int32, "0-based")
    totals: Any = known("[P, M]", np.int32, "points so far")
    last_scores: Any = known("[P, M]", np.int32, "points of the last finished round; 0 before")
    decisions: Any = known("[M]", np.int32, "decisions made in this game")
    hand: Any = known("[M]", np.uint64, "set: the viewer's own hand")
    hand_size: Any = known("[P, M]", np.uint8, "cards in each hand")
    hand_fresh: Any = known("[P, M]", np.uint8, "how many of them are fresh")
    row: Any = known("[P, 2, M]", np.uint64, "set: the cards of each Row pile that everyone knows")
    face_up: Any = known("[M]", np.uint64, "set: the Row cards of all seats that lie face-up")
    hidden: Any = known("[P, M]", np.uint8, "bit p: a face-down card that has never been face-up lies in Row pile p")
    tops: Any = known("[2, M]", np.uint64, "set: the top card of each discard pile")
    buried: Any = known("[M]", np.uint64, "set: the discards under both tops")
    draw_size: Any = known("[M]", np.uint8, "cards in the draw pile")
    unseen_fresh: Any = known("[M]", np.uint64, "set: unseen cards that were in the draw pile when it was last formed")
    unseen_old: Any = known("[M]", np.uint64, "set: the other unseen cards")
    reshuffled: Any = known("[M]", np.uint8, "1 once this round has had a reshuffle, else 0")

    @property
    def up(self) -> Any:
        """[P, 2, M] uint64, set: the face-up card of each Row pile."""
        if isinstance(self.row, np.ndarray):
            return self.row & self.face_up
        return [[cards & self.face_up for cards in piles] for piles in self.row]

    @property
    def known_down(self) -> Any:
        """[P, 2, M] uint64, set: the face-down card of each Row pile, where everyone knows it."""
        if isinstance(self.row, np.ndarray):
            return self.row & ~self.face_up
        return [[cards & ~self.face_up for cards in piles] for piles in self.row]

    @property
    def hidden_down(self) -> Any:
        """[P, 2, M] bool: a face-down card that has never been face-up lies in the Row pile."""
        if isinstance(self.hidden, np.ndarray):
            return np.stack([self.hidden & 1, self.hidden >> 1], axis=1).astype(np.bool_)
        return [[bool(piles & 1), bool(piles >> 1)] for piles in self.hidden]


ROTATE = {
    players: [itemgetter(*((seat + d) % players for d in range(players))) for seat in range(players)]
    for players in COLOURS_IN_PLAY
}
"""ROTATE[players][seat](by_seat): the same by distance from `seat`."""


Situation = tuple[Phase, "int | None", int, Direction, "int | None", int, bool]
"""Phase, acting seat, viewing seat, direction, bonus pile, flips, whether the round has had a reshuffle."""

_size = int.bit_count


def of_game(game: Game, seat: int) -> View:
    """The view of one seat of one game, in plain numbers."""
    relative = ROTATE[game.num_players][seat]
    public = game.public
    hands = relative(game.hand)
    hand = hands[0]
    unseen = game.deck & ~(hand | public)
    hand_size = [cards.bit_count() for cards in hands]
    if game.reshuffles:
        fresh, reshuffled = game.fresh, 1
        hand_fresh = [(cards & fresh).bit_count() for cards in hands]
        unseen_fresh = unseen & fresh
    else:
        reshuffled = 0
        hand_fresh, unseen_fresh = hand_size, unseen
    row, hidden = [], []
    for row_0, row_1 in relative(game.row):
        known_0, known_1 = row_0 & public, row_1 & public
        row.append((known_0, known_1))
        hidden.append((known_0 != row_0) + 2 * (known_1 != row_1))
    player, bonus_pile = game.player, game.bonus_pile
    top_0, top_1 = game.tops
    return View(
        game.rules,
        game.phase,
        -1 if player is None else (player - seat) % game.num_players,
        game.direction,
        game.flips,
        -1 if bonus_pile is None else bonus_pile,
        game.round,
        relative(game.totals),
        relative(game.last_scores),
        game.decisions,
        hand,
        hand_size,
        hand_fresh,
        row,
        game.face_up,
        hidden,
        (1 << top_0, 1 << top_1),
        game.buried,
        len(game.pile),
        unseen_fresh,
        unseen ^ unseen_fresh,
        reshuffled,
    )


class PackedView:
    """What `of_game` says and observations hold, as one number: for the encoders of one game, where a View's names cost
    as much as what they name. It reads the public state, the viewer's hand and the sizes of what is hidden. From bit 0:

        the status word, which `status[situation]` gives (a `Situation`)
        for every Row pile a bit: View.hidden
        lanes of as many bits as cards are in play: View.tops, row, face_up, hand, buried, unseen_fresh, unseen_old
    """

    def __init__(self, rules: Rules, status: Mapping[Situation, int], status_width: int) -> None:
        players, cards = rules.num_players, cards_in_play(rules.num_players)
        lanes = ROW_PILES * players
        tops_at = status_width + lanes
        top_0 = [1 << tops_at + card for card in range(cards)]
        self._status = status
        self._clock_tick = rules.clock_tick
        self._last_round = None if rules.num_rounds is None else rules.num_rounds - 1
        self._layout = (cards, lanes * cards, tops_at + DISCARD_PILES * cards, status_width)
        self._tops = top_0, [top << cards for top in top_0]
        # By seat: its rotation, and how many lanes of Row piles come before its own, and how many from there on.
        self._rotation = [
            (ROTATE[players][seat], ROW_PILES * seat, lanes - ROW_PILES * seat) for seat in range(players)
        ]
        self._all_rows, self._all_flags = (1 << lanes * cards) - 1, (1 << lanes) - 1

    def read(self, game: Game, seat: int) -> tuple[int, list[int], tuple[()]]:
        """The packed view, the numbers (hand_size, hand_fresh, totals, draw_size, rounds left, clock), and no zones."""
        relative, before, after = self._rotation[seat]
        cards, row_width, rows_at, hidden_at = self._layout
        hands = relative(game.hand)
        hand = hands[0]
        hand_size = hand_fresh = [*map(_size, hands)]
        word = game.deck ^ hand ^ game.public  # the unseen cards: no card of a hand is public
        is_reshuffled = game.reshuffles > 0
        if is_reshuffled:  # else every card is fresh
            fresh = game.fresh
            hand_fresh = [*map(_size, map(fresh.__and__, hands))]
            unseen_fresh = word & fresh
            word = (word ^ unseen_fresh) << cards | unseen_fresh
        rows, hidden, (top_0, top_1) = game.known_row, game.hidden, game.tops
        if seat:  # its own lanes to the front
            rows = (rows >> before * cards | rows << after * cards) & self._all_rows
            hidden = (hidden >> before | hidden << after) & self._all_flags
        word = ((word << cards | game.buried) << cards | hand) << cards | game.face_up
        by_top_0, by_top_1 = self._tops
        last = self._last_round
        return (
            (word << row_width | rows) << rows_at
            | hidden << hidden_at
            | by_top_0[top_0]
            | by_top_1[top_1]
            | self._status[game.phase, game.player, seat, game.direction, game.bonus_pile, game.flips, is_reshuffled],
            [
                *hand_size,
                *hand_fresh,
                *relative(game.totals),
                len(game.pile),
                0 if last is None else last - game.round,
                game.decisions // self._clock_tick,
            ],
            (),
        )


def of_games(machine: Machine, seat: Index) -> View:
    """The view of seat `seat[i]` of every game i of a machine, in fresh arrays."""
    num_games, players = machine.num_games, machine.num_players
    # [P, N]: where the entry of the seat at each distance is in a flattened [P, N] field
    flat = seat[None, :] + np.arange(players, dtype=np.intp)[:, None]
    flat[flat >= players] -= players
    flat *= num_games
    flat += machine.index
    public, fresh = machine.public, machine.fresh
    hands = machine.hand.reshape(-1).take(flat)
    row = np.empty((players, ROW_PILES, num_games), dtype=np.uint64)
    hidden = np.zeros((players, num_games), dtype=np.uint8)
    for pile in range(ROW_PILES):
        cards = machine.row[pile].reshape(-1).take(flat)
        np.bitwise_and(cards, public, out=row[:, pile])
        hidden |= (cards != row[:, pile]).view(np.uint8) << np.uint8(pile)
    tops = np.stack([BIT.take(machine.top[0]), BIT.take(machine.top[1])])
    unseen = hands[0] | public
    unseen ^= machine.deck
    unseen_fresh = unseen & fresh
    actor = machine.player.astype(np.int8)
    over = actor < 0
    actor -= seat.astype(np.int8)
    actor[actor < 0] += players
    actor[over] = -1
    return View(
        machine.rules,
        machine.phase.copy(),
        actor,
        machine.direction.copy(),
        machine.flips.copy(),
        machine.bonus_pile.astype(np.int8),
        machine.round.copy(),
        machine.totals.reshape(-1).take(flat),
        machine.last_scores.reshape(-1).take(flat),
        machine.decisions.copy(),
        hands[0],
        np.bitwise_count(hands),
        np.bitwise_count(hands & fresh),
        row,
        machine.face_up.copy(),
        hidden,
        tops,
        machine.buried.copy(),
        machine.pile_end - machine.next_card,
        unseen_fresh,
        unseen ^ unseen_fresh,
        (machine.reshuffles > 0).astype(np.uint8),
    )
