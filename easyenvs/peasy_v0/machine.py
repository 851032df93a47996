"""Easy Peasy, N games at once: the vectorised state machine.

The same function of (game seed, rules, actions) as `game.py`, decision by decision; each rule stands once in each, under
its id. Common actions are played at full width, rare ones on the subset of games that `flatnonzero` gives.

    N games  P seats  A actions  C cards in play  K the games of a subset
    fields are [.., N]: seats first, games last, so that whole-field operations are contiguous
    a set of cards is a uint64: bit c is card c
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from easyenvs.core import bits, chance
from easyenvs.core.arrays import I32, I64, U8, U64, Flags, Index
from easyenvs.core.game import StepEvents
from easyenvs.core.vectorised import Vectorised
from easyenvs.peasy_v0.cards import (
    AT_LEAST,
    AT_MOST,
    FIRST_PLAY,
    HAND_SIZE,
    NUM_ACTIONS,
    NUM_CARDS,
    NUM_VALUES,
    VALUE_PLANES,
    Action,
    Direction,
    Phase,
    cards_in_play,
    colour_of,
    value_of,
)
from easyenvs.peasy_v0.options import Rules

_U = np.uint64
NONE: Final = 255  # in uint8 fields: no seat, no pile
NOT_PLAYED: Final = 64  # added to a card's id, it stands for "no card" in BIT

EVENT_DEAL: Final = 0
EVENT_FIRST_PLAYER: Final = 1
EVENT_RESHUFFLE: Final = 2  # the round's k-th reshuffle is event 2 + k

CARDS_PER_SEAT: Final = 4 + HAND_SIZE  # P3: two face-down, two face-up, the hand
MIN_HISTORY: Final = 8

# ------------------------------------------------------------------------------------------------- tables
# By action id. An action that plays no card has an empty set, card 0, an impossible colour and no pile.

_PLAYS: Final = range(FIRST_PLAY, NUM_ACTIONS)
_CARD_OF: Final = {action: (action - FIRST_PLAY) % NUM_CARDS for action in _PLAYS}


def _by_action(entry: Any, otherwise: int, dtype: Any) -> Any:
    return np.array([entry(a) if a in _CARD_OF else otherwise for a in range(NUM_ACTIONS)], dtype=dtype)


ACTION_SET: Final[U64] = _by_action(lambda a: 1 << _CARD_OF[a], 0, np.uint64)
ACTION_CARD: Final[U8] = _by_action(lambda a: _CARD_OF[a], 0, np.uint8)
ACTION_COLOUR: Final[U8] = _by_action(lambda a: colour_of(_CARD_OF[a]), NONE, np.uint8)
ON_PILE_0: Final[U8] = _by_action(lambda a: 255 * (a < FIRST_PLAY + NUM_CARDS), 0, np.uint8)
ON_PILE_1: Final[U8] = _by_action(lambda a: 255 * (a >= FIRST_PLAY + NUM_CARDS), 0, np.uint8)
NO_CARD: Final[U8] = _by_action(lambda a: 0, NOT_PLAYED, np.uint8)
PHASE_AFTER: Final[U8] = np.array(
    [Phase.PLAY if a == Action.FLIP else Phase.TURN for a in range(NUM_ACTIONS)], dtype=np.uint8
)
ENDS_TURN: Final[Flags] = np.array(
    [a in _CARD_OF or a in (Action.PASS, Action.TURN_0, Action.TURN_1) for a in range(NUM_ACTIONS)], dtype=np.bool_
)

# By card id.
BIT: Final[U64] = np.array([1 << c if c < NUM_CARDS else 0 for c in range(2 * NOT_PLAYED)], dtype=np.uint64)
COLOUR: Final[U8] = np.array([colour_of(c) for c in range(NUM_CARDS)], dtype=np.uint8)
TENS: Final = np.array([NUM_VALUES * (value_of(c) - 1) for c in range(NUM_CARDS)], dtype=np.uint16)
UNITS: Final = np.array([value_of(c) - 1 for c in range(NUM_CARDS)], dtype=np.uint16)
COVERS: Final[U64] = np.array(
    [[0] * NUM_CARDS, *([side[value_of(c)] for c in range(NUM_CARDS)] for side in (AT_LEAST, AT_MOST))], dtype=np.uint64
)
"""P6. [direction, top]: the cards that may be played on the card `top`."""

PLANES: Final = tuple(_U(plane) for plane in VALUE_PLANES)
CARD_IDS: Final[U64] = np.arange(NUM_CARDS, dtype=np.uint64)

# A legal set is two words in the order of the action ids: bits 0–5 the plain actions, then card c on pile 0 at bit
# 6 + c (cards 58 and 59 spill into the second word), card c on pile 1 at bit 2 + c of the second word.
SHIFT_0: Final = _U(FIRST_PLAY)
SHIFT_1: Final = _U(FIRST_PLAY + NUM_CARDS - 64)
SPILL: Final = _U(64 - FIRST_PLAY)

# Which plays the position admits, whoever holds the cards: a row for every (mode, top value 0, top value 1).
MODE_BONUS: Final = 2  # modes 0, 1: UP, DOWN, both piles open; 2 + 2 · pile + 0, 1: a bonus on that pile alone
MODE_NO_PLAY: Final = 6


def _play_masks() -> Any:
    """Rows of two words as complex128, because `take` of 16-byte items is one fast copy."""
    rows = np.zeros((MODE_NO_PLAY + 1, NUM_VALUES, NUM_VALUES, 2), dtype=np.uint64)
    for mode in range(MODE_NO_PLAY):
        side = AT_MOST if mode & 1 else AT_LEAST
        piles = (0, 1) if mode < MODE_BONUS else ((mode - MODE_BONUS) // 2,)
        for value_0 in range(NUM_VALUES):
            for value_1 in range(NUM_VALUES):
                word = 0
                if 0 in piles:
                    word |= side[value_0 + 1] << FIRST_PLAY
                if 1 in piles:
                    word |= side[value_1 + 1] << FIRST_PLAY + NUM_CARDS
                rows[mode, value_0, value_1] = word & chance.MASK64, word >> 64
    return rows.reshape(-1, 2).view(np.complex128).ravel()


PLAY_MASKS: Final = _play_masks()
PLAIN_LEGAL: Final[U64] = np.zeros(len(Phase), dtype=np.uint64)
PLAIN_LEGAL[Phase.DIRECTION] = 1 << Action.UP | 1 << Action.DOWN  # P5
PLAIN_LEGAL[Phase.TURN] = 1 << Action.FLIP  # P7
PLAIN_LEGAL[Phase.BONUS] = 1 << Action.PASS  # P10
FLIP_IS_LEGAL: Final = _U(1 << Action.FLIP)
TURN_0_IS_LEGAL: Final = _U(1 << Action.TURN_0)
TURN_1_IS_LEGAL: Final = _U(1 << Action.TURN_1)


def points(cards: U64) -> I32:
    """The sum of the values of every set: uint64 [..] -> int32 [..]."""
    total: I32 = np.bitwise_count(cards & PLANES[0]).astype(np.int32)
    for plane in range(1, len(PLANES)):
        total += np.bitwise_count(cards & PLANES[plane]).astype(np.int32) << plane
    return total


def members(words: U64, cards: int) -> Flags:
    """uint64 [K] -> bool [K, cards]: which cards are in each set."""
    return (words[:, None] >> CARD_IDS[None, :cards] & _U(1)).astype(np.bool_)


class Machine(Vectorised):
    """N games of Easy Peasy. A row holds no game until `deal` or `set_position` has put one there."""

    def __init__(self, num_games: int, rules: Rules) -> None:
        players = rules.num_players
        rounds = MIN_HISTORY if rules.num_rounds is None else min(rules.num_rounds, MIN_HISTORY)
        super().__init__(
            num_games,
            rules,
            blocks={
                "words": np.zeros((3 * players + 5, num_games), dtype=np.uint64),
                "bytes": np.zeros((10, num_games), dtype=np.uint8),
                "ints": np.zeros((4 + 2 * players, num_games), dtype=np.int32),
            },
            shared={
                "pile": np.zeros((num_games, NUM_CARDS), dtype=np.uint8),
                "history": np.zeros((num_games, rounds, players), dtype=np.int32),
            },
            num_words=2,
        )
        self.phase[:] = Phase.OVER
        self.player[:] = self.bonus_pile[:] = NONE

    def _configure(self, rules: Rules) -> None:
        self.num_players = rules.num_players
        self.num_actions = NUM_ACTIONS
        self.cards = cards_in_play(rules.num_players)
        self.deck = _U((1 << self.cards) - 1)
        self.max_decisions = rules.max_decisions

    def _name_fields(self, blocks: dict[str, Any], shared: dict[str, Any]) -> None:
        players = self.num_players
        words, bytes_, ints = blocks["words"], blocks["bytes"], blocks["ints"]
        self.pile: U8 = shared["pile"]  # [N, 60]  the draw pile is pile[game, next_card : pile_end], next one first
        self.history: I32 = shared["history"]  # [N, R, P]  points of each finished round

        self.hand: U64 = words[0 * players : 1 * players]  # [P, N]
        self.row: tuple[U64, U64] = (
            words[players : 2 * players],
            words[2 * players : 3 * players],
        )  # [P, N]  Row piles
        self.face_up: U64 = words[3 * players]  # [N]  the Row cards, of all seats, that lie face-up
        self.public: U64 = words[3 * players + 1]  # [N]  cards that everyone sees or remembers (P13)
        self.buried: U64  # [N]  the discards under both tops
        self.fresh: U64  # [N]  the cards of the draw pile when it was last formed (P13)
        self.seed: U64  # [N]  the game seed
        self.buried, self.fresh, self.seed = words[3 * players + 2 :]
        self.player: U8 = bytes_[0]  # [N]  the seat to act; NONE once the game is over
        self.phase: U8 = bytes_[1]  # [N]  Phase
        self.direction: U8 = bytes_[2]  # [N]  Direction
        self.flips: U8 = bytes_[3]  # [N]  in this turn
        self.bonus_pile: U8 = bytes_[4]  # [N]  NONE outside phase BONUS
        self.top: tuple[U8, U8] = (bytes_[5], bytes_[6])  # [N]  card id
        self.next_card: U8 = bytes_[7]  # [N]
        self.pile_end: U8 = bytes_[8]  # [N]
        self.truncated: U8 = bytes_[9]  # [N]  0/1, ended by R6
        self.round: I32 = ints[0]  # [N]  0-based
        self.decisions: I32 = ints[1]  # [N]
        self.reshuffles: I32 = ints[2]  # [N]  of this round
        self.finished: I32 = ints[3]  # [N]  rounds scored so far
        self.totals: I32 = ints[4 : 4 + players]  # [P, N]
        self.last_scores: I32 = ints[4 + players :]  # [P, N]  points of the last finished round, 0 before

    # ------------------------------------------------------------------------------------------ rounds

    def deal(self, rows: Index, seeds: U64) -> None:
        """Start game `seeds[j]` in row `rows[j]`."""
        self.seed[rows] = seeds
        self.decisions[rows] = self.round[rows] = self.finished[rows] = 0
        self.totals[:, rows] = self.last_scores[:, rows] = 0
        self.truncated[rows] = False
        self._deal_round(rows)
        self.legal_words[rows, 0] = PLAIN_LEGAL[Phase.DIRECTION]
        self.legal_words[rows, 1] = 0

    def _deal_round(self, k: Index) -> None:
        """P3. Rows of two piles, hands of four, two discard piles; the rest is the draw pile."""
        key = chance.event_key_array(self.seed[k], self.round[k].astype(np.uint64), EVENT_DEAL)
        order = chance.shuffled_arrays(key, None, self.cards)
        self.pile[self.rows[k], : self.cards] = order
        dealt = BIT.take(np.ascontiguousarray(order.T[: CARDS_PER_SEAT * self.num_players]))
        face_up = np.zeros(len(k), dtype=np.uint64)
        for seat in range(self.num_players):
            down_0, down_1, up_0, up_1, *hand = dealt[CARDS_PER_SEAT * seat : CARDS_PER_SEAT * (seat + 1)]
            self.row[0][seat, k], self.row[1][seat, k] = down_0 | up_0, down_1 | up_1
            face_up |= up_0 | up_1
            self.hand[seat, k] = hand[0] | hand[1] | hand[2] | hand[3]
        tops = CARDS_PER_SEAT * self.num_players
        self.face_up[k] = face_up
        self.public[k] = face_up | BIT.take(order[:, tops]) | BIT.take(order[:, tops + 1])
        self.top[0][k], self.top[1][k] = order[:, tops], order[:, tops + 1]
        self.next_card[k], self.pile_end[k] = tops + 2, self.cards
        self.buried[k] = 0
        self.fresh[k] = self.deck
        self.reshuffles[k] = 0
        self.direction[k] = Direction.NONE
        self.phase[k] = Phase.DIRECTION
        self.flips[k] = 0
        self.bonus_pile[k] = NONE
        self.player[k] = self._first_player(k)

    def _first_player(self, k: Index) -> Index:
        """P4. Most points so far (none in round 1), then the highest face-up Row cards, then chance."""
        face_up = points((self.row[0][:, k] | self.row[1][:, k]) & self.face_up[k])
        strength = (self.totals[:, k].astype(np.int64) << 8) + face_up
        strongest = strength == strength.max(axis=0)
        first: Index = strongest.argmax(axis=0)
        tied = np.flatnonzero(strongest.sum(axis=0) > 1)
        if tied.size:
            games = k[tied]
            key = chance.event_key_array(self.seed[games], self.round[games].astype(np.uint64), EVENT_FIRST_PLAYER)
            first[tied] = chance.pick_array(key, strongest[:, tied])
        return first

    def _score_round(self, k: Index, ender: Index) -> I32:
        """P15. What every seat scores: the ender nothing or double, the others the larger of hand and Row -> [P, K]."""
        hand = points(self.hand[:, k])
        row = points(self.row[0][:, k] | self.row[1][:, k])
        is_ender = np.arange(self.num_players)[:, None] == ender[None, :]
        others = np.maximum(hand, row)
        lowest_other = np.where(is_ender, np.iinfo(np.int32).max, others).min(axis=0)
        rest = hand + row
        return np.where(is_ender, np.where(rest < lowest_other, 0, 2 * rest), others).astype(np.int32)

    def _end_rounds(self, k: Index, events: StepEvents) -> None:
        """Score the round that seat `player` has ended in these games; then the next one, or the end (P16, R6)."""
        scores = self._score_round(k, self.player[k].astype(np.intp))
        rounds = self.round[k]
        self.history[self.rows[k], rounds] = scores.T
        self.totals[:, k] += scores
        self.last_scores[:, k] = scores
        self.finished[k] += 1
        if self.rules.target_score is not None:
            last = self.totals[:, k].max(axis=0) >= int(self.rules.target_score)
        else:
            last = rounds + 1 == self.rules.num_rounds
        late = ~last & (self.decisions[k] >= self.max_decisions)
        events.scored, events.gains = k[~late], -scores[:, ~late].astype(np.float64)
        self._end_games(k[last], events, truncated=False)
        self._end_games(k[late], events, truncated=True)
        again = k[~(last | late)]
        if again.size:
            self.round[again] += 1
            self._deal_round(again)

    # ------------------------------------------------------------------------------------------ decisions

    def _make_room(self, rows: Index | None) -> None:
        """Let `history` hold one round more than any game is in (target games have no bound on their rounds)."""
        if self.rules.num_rounds is None or self.rules.num_rounds > self.history.shape[1]:
            rounds = self.round if rows is None else self.round[rows]
            self._reserve_history(int(rounds.max(initial=0)) + 1)

    def _reserve_history(self, rounds: int) -> None:
        games, held, players = self.history.shape
        if rounds > held:
            more = np.zeros((games, max(rounds, 2 * held), players), dtype=np.int32)
            more[:, :held] = self.history
            self.history = self._shared["history"] = more

    def _advance(self, action: Index) -> StepEvents:
        """One decision of seat `player` in each of these games."""
        num_games, i = len(action), self.index
        events = StepEvents.none()
        self.decisions += 1

        # P7, P10: a card leaves the hand or the face-up Row and covers a top card. No-ops where no card is played.
        flat = self.player.astype(np.intp) * num_games + i  # where the acting seat's entry is in a [P, N] field
        hands, rows = self.hand.reshape(-1), (self.row[0].reshape(-1), self.row[1].reshape(-1))
        played = ACTION_SET.take(action)
        left = ~played
        hand, row_0, row_1 = hands.take(flat), rows[0].take(flat), rows[1].take(flat)
        hand &= left
        row_0 &= left
        row_1 &= left
        self.face_up &= left
        self.public |= played
        card = ACTION_CARD.take(action)
        on_0, on_1 = ON_PILE_0.take(action), ON_PILE_1.take(action)
        top_0, top_1 = self.top
        covered = top_0 ^ ((top_0 ^ top_1) & on_1)
        matches = ACTION_COLOUR.take(action) == COLOUR.take(covered)
        covered |= NO_CARD.take(action)
        self.buried |= BIT.take(covered)
        top_0 ^= (top_0 ^ card) & on_0
        top_1 ^= (top_1 ^ card) & on_1

        self.phase[:] = PHASE_AFTER.take(action)
        self.bonus_pile[:] = NONE
        ends_turn = ENDS_TURN.take(action)

        flipped = np.flatnonzero(action == Action.FLIP)
        if flipped.size:
            hand[flipped] |= self._flip(flipped)
        chosen = np.flatnonzero(action <= Action.DOWN)
        if chosen.size:  # P5
            self.direction[chosen] = Direction.UP + action[chosen]
        hands[flat] = hand
        rows[0][flat] = row_0
        rows[1][flat] = row_1
        turned = np.flatnonzero(action >> 1 == Action.TURN_0 >> 1)
        if turned.size:  # P11, P13
            pile = np.where(action[turned] == Action.TURN_0, row_0[turned], row_1[turned])
            self.face_up[turned] ^= pile
            self.public[turned] |= pile

        mode = self.direction - np.uint8(Direction.UP)
        bonus = np.flatnonzero(matches)
        if bonus.size:
            face_up = self.face_up[bonus]
            down_0, down_1 = row_0[bonus] & ~face_up, row_1[bonus] & ~face_up
            cards = hand[bonus] | ((row_0[bonus] | row_1[bonus]) & face_up)
            playable = cards & COVERS[self.direction[bonus], card[bonus]]
            asked = (playable | down_0 | down_1) != 0
            bonus = bonus[asked]
            turn_is_legal = TURN_0_IS_LEGAL * (down_0[asked] != 0) + TURN_1_IS_LEGAL * (down_1[asked] != 0)
            pile = on_1[bonus] & 1
            self.phase[bonus] = Phase.BONUS
            self.bonus_pile[bonus] = pile
            mode[bonus] += MODE_BONUS + 2 * pile
            ends_turn[bonus] = False

        # P14: the turn is over; an empty hand or Row ends the round.
        ended = np.flatnonzero(ends_turn & ((hand == 0) | ((row_0 | row_1) == 0)))
        ends_turn[ended] = False
        self.player += ends_turn
        self.player[self.player == self.num_players] = 0
        self.flips *= ~ends_turn
        if ended.size:
            self._end_rounds(ended, events)
            mode[ended] = MODE_NO_PLAY
        late = self.decisions >= self.max_decisions
        if late.any():
            late &= self.phase != Phase.OVER
            self._end_games(np.flatnonzero(late), events, truncated=True)
            mode[late] = MODE_NO_PLAY

        self._find_legal(mode)
        if bonus.size:
            running = self.phase[bonus] == Phase.BONUS  # not truncated just now
            self.legal_words[bonus, 0] |= turn_is_legal * running
        if flipped.size:  # P8: a further flip only where no card can be played
            stuck = flipped[(self.legal_words[flipped] == 0).all(axis=1) & (self.phase[flipped] == Phase.PLAY)]
            self.legal_words[stuck, 0] = FLIP_IS_LEGAL
        return events

    def _flip(self, k: Index) -> U64:
        """P7. The direction is reversed; returns the two cards that each seat draws (P9) -> [K]."""
        self.direction[k] ^= np.uint8(Direction.UP ^ Direction.DOWN)
        self.flips[k] += np.uint8(1)
        position, rows = self.next_card[k], self.rows[k]
        short = position.astype(np.int16) + 2 > self.pile_end[k]
        if not short.any():
            at = rows * NUM_CARDS + position
            pile = self.pile.reshape(-1)
            self.next_card[k] = position + np.uint8(2)
            both: U64 = BIT.take(pile.take(at)) | BIT.take(pile.take(at + 1))
            return both
        drawn: U64 = np.zeros(len(k), dtype=np.uint64)
        for _ in range(2):
            drawn |= self._draw(k)
        return drawn

    def _draw(self, k: Index) -> U64:
        """P9. The top card of each draw pile; an empty one is made anew, if there is anything to shuffle -> [K] sets."""
        empty = self.next_card[k] == self.pile_end[k]
        if empty.any():
            again = k[empty & (self.buried[k] != 0)]
            if again.size:
                self._reshuffle(again)
            empty = self.next_card[k] == self.pile_end[k]
        # An empty pile's position may lie behind the last column; its card is dropped below.
        position = np.minimum(self.next_card[k], NUM_CARDS - 1)
        drawn: U64 = BIT.take(self.pile[self.rows[k], position])
        drawn[empty] = 0
        self.next_card[k] += (~empty).astype(np.uint8)
        return drawn

    def _reshuffle(self, k: Index) -> None:
        """P9, P13. All discards but the two tops become the draw pile, and everyone knows which cards those are."""
        buried = self.buried[k]
        event = (self.reshuffles[k] + EVENT_RESHUFFLE).astype(np.uint64)
        key = chance.event_key_array(self.seed[k], self.round[k].astype(np.uint64), event)
        self.pile[self.rows[k], : self.cards] = chance.shuffled_arrays(key, members(buried, self.cards), self.cards)
        self.next_card[k] = 0
        self.pile_end[k] = np.bitwise_count(buried)
        self.fresh[k] = buried
        self.public[k] ^= buried
        self.buried[k] = 0
        self.reshuffles[k] += 1

    def _find_legal(self, mode: U8) -> None:
        """P6–P8, P10. The legal words of every game, but for a bonus's Row piles and a forced flip."""
        num_games = len(mode)
        seat = np.where(self.player == NONE, 0, self.player) if self.player.max(initial=0) == NONE else self.player
        flat = seat.astype(np.intp) * num_games + self.index
        cards = self.row[0].reshape(-1).take(flat)
        cards |= self.row[1].reshape(-1).take(flat)
        cards &= self.face_up
        cards |= self.hand.reshape(-1).take(flat)
        key = mode * np.uint16(NUM_VALUES * NUM_VALUES)
        key += TENS.take(self.top[0])
        key += UNITS.take(self.top[1])
        masks = PLAY_MASKS.take(key).view(np.uint64).reshape(-1, 2)
        first = cards << SHIFT_0
        first &= masks[:, 0]
        first |= PLAIN_LEGAL.take(self.phase)
        second = cards << SHIFT_1
        second |= cards >> SPILL
        second &= masks[:, 1]
        self.legal_words[:, 0] = first
        self.legal_words[:, 1] = second

    # ------------------------------------------------------------------------------------------ the end

    def _end_games(self, k: Index, events: StepEvents, *, truncated: bool) -> None:
        """R6, R7."""
        if k.size:
            self.phase[k] = Phase.OVER
            self.player[k] = self.bonus_pile[k] = NONE
            self.truncated[k] = truncated
            events.end(k, truncated)

    def standing(self, rows: Index) -> I64:
        """P17. The final order, the lower the better: total, then the last round's score -> [2, P, K]."""
        return np.stack([self.totals[:, rows], self.last_scores[:, rows]]).astype(np.int64)

    @property
    def scores(self) -> I32:
        """The totals so far [P, N]."""
        return self.totals

    # ------------------------------------------------------------------------------------------ hidden cards

    def resample(self, rows: Index, viewer: Index, keys: U64) -> None:
        """Redraw what seat `viewer[j]` of game `rows[j]` can't see, uniformly over the states that give it the same view
        (P13); `keys[j]` is the draw's only source of randomness."""
        self.seed[rows] = chance.derive_array(chance.DOMAIN_ROW, keys, 0)
        unseen = self.deck & ~(self.hand[viewer, rows] | self.public[rows])
        sizes = np.bitwise_count(self.hand[:, rows]), np.bitwise_count(self.hand[:, rows] & self.fresh[rows])
        hidden = [
            [(self.row[pile][seat, rows] & ~self.public[rows]) != 0 for pile in (0, 1)]
            for seat in range(self.num_players)
        ]
        todo = np.arange(len(rows), dtype=np.intp)
        attempt = 0
        while todo.size:
            self._redraw(
                rows[todo],
                viewer[todo],
                chance.derive_array(chance.DOMAIN_RESAMPLE, keys[todo], attempt),
                unseen[todo],
                (sizes[0][:, todo], sizes[1][:, todo]),
                [[flags[todo] for flags in piles] for piles in hidden],
            )
            todo = todo[~self._is_possible(rows[todo])]
            attempt += 1
        part = self.select(rows)
        part._find_all_legal()
        self._put_back(rows, part)

    def _redraw(
        self, k: Index, viewer: Index, key: U64, unseen: U64, sizes: tuple[U8, U8], hidden: list[list[Flags]]
    ) -> None:
        """Deal the unseen fresh cards and the unseen old ones at random to the places that each may be in."""
        fresh = unseen & self.fresh[k]
        streams = []
        for event, group in enumerate((fresh, unseen & ~fresh)):
            order = chance.shuffled_arrays(
                chance.derive_array(chance.DOMAIN_EVENT, key, event), members(group, self.cards), self.cards
            )
            streams.append((BIT[order], np.zeros(len(k), dtype=np.intp)))

        def draw(stream: int, wanted: Flags) -> U64:
            cards, position = streams[stream]
            at = np.minimum(position, self.cards - 1)
            drawn = np.where(wanted, cards[np.arange(len(k)), at], _U(0))
            position += wanted
            return drawn

        all_sizes, fresh_sizes = sizes
        reshuffled = self.reshuffles[k] > 0
        for seat in range(self.num_players):
            other = viewer != seat
            hand = np.zeros(len(k), dtype=np.uint64)
            for stream, count in ((0, fresh_sizes[seat]), (1, all_sizes[seat] - fresh_sizes[seat])):
                for j in range(int(count.max(initial=0))):
                    hand |= draw(stream, other & (j < count))
            self.hand[seat, k] = np.where(other, hand, self.hand[seat, k])
            for pile in (0, 1):
                lies = hidden[seat][pile]
                card = draw(0, lies & ~reshuffled) | draw(1, lies & reshuffled)
                self.row[pile][seat, k] = (self.row[pile][seat, k] & self.public[k]) | card
        # The fresh cards that are left are the draw pile, in this order.
        cards, position = streams[0]
        left = np.bitwise_count(fresh) - position
        columns = position[:, None] + np.arange(self.cards)[None, :]
        ids = np.bitwise_count(np.take_along_axis(cards, np.minimum(columns, self.cards - 1), axis=1) - _U(1))
        self.pile[self.rows[k], : self.cards] = ids
        self.next_card[k] = 0
        self.pile_end[k] = left

    def _is_possible(self, k: Index) -> Flags:
        """What the phase itself says of the acting seat's cards, which are hidden from the others: a bonus is asked only
        where there is one (P10), and after two flips some card can be played (P8) -> [K]."""
        seat = np.where(self.player[k] == NONE, 0, self.player[k]).astype(np.intp)
        row = self.row[0][seat, k] | self.row[1][seat, k]
        cards = self.hand[seat, k] | (row & self.face_up[k])
        direction = self.direction[k]
        plays = [cards & COVERS[direction, self.top[pile][k]] != 0 for pile in (0, 1)]
        on_bonus_pile = np.where(self.bonus_pile[k] == 1, plays[1], plays[0])
        can_turn = row & ~self.face_up[k] != 0
        bonus = self.phase[k] == Phase.BONUS
        twice = (self.phase[k] == Phase.PLAY) & (self.flips[k] == 2)
        possible: Flags = (~bonus | on_bonus_pile | can_turn) & (~twice | plays[0] | plays[1])
        return possible

    # ------------------------------------------------------------------------------------------ positions

    def position(self, row: int) -> dict[str, Any]:
        """The whole state of one game as a snapshot's plain values (the keys are listed in notation.py)."""
        player, bonus_pile = int(self.player[row]), int(self.bonus_pile[row])
        direction = Direction(int(self.direction[row]))
        face_up, public = int(self.face_up[row]), int(self.public[row])
        piles = [[int(self.row[pile][seat, row]) for pile in (0, 1)] for seat in range(self.num_players)]
        return {
            "phase": Phase(int(self.phase[row])).name.lower(),
            "player": None if player == NONE else player,
            "direction": None if direction == Direction.NONE else direction.name.lower(),
            "draw_pile": self.pile[self.rows[row], self.next_card[row] : self.pile_end[row]].tolist(),
            "tops": [int(self.top[0][row]), int(self.top[1][row])],
            "buried": bits.members(int(self.buried[row])),
            "hands": [bits.members(int(self.hand[seat, row])) for seat in range(self.num_players)],
            "rows": [
                [
                    {
                        "up": bits.member_of(cards & face_up),
                        "down": bits.member_of(cards & ~face_up),
                        "known": cards & ~face_up & public != 0,
                    }
                    for cards in seat_piles
                ]
                for seat_piles in piles
            ],
            "bonus_pile": None if bonus_pile == NONE else bonus_pile,
            "flips": int(self.flips[row]),
            "round": int(self.round[row]),
            "totals": self.totals[:, row].tolist(),
            "round_scores": self.history[self.rows[row], : self.finished[row]].tolist(),
            "decisions": int(self.decisions[row]),
            "seed": int(self.seed[row]),
            "fresh": bits.members(int(self.fresh[row])),
            "reshuffles": int(self.reshuffles[row]),
            "truncated": bool(self.truncated[row]),
        }

    def set_position(self, row: int, position: dict[str, Any]) -> None:
        """Take over a position that `notation.checked_position` has checked and completed."""
        finished = len(position["round_scores"])
        self._reserve_history(max(finished, position["round"] + 1))
        self.seed[row] = position["seed"]
        self.decisions[row], self.round[row] = position["decisions"], position["round"]
        self.reshuffles[row], self.finished[row] = position["reshuffles"], finished
        self.totals[:, row] = position["totals"]
        self.last_scores[:, row] = position["round_scores"][-1] if finished else 0
        self.history[self.rows[row], :finished] = np.array(position["round_scores"]).reshape(finished, self.num_players)
        direction = position["direction"]
        self.direction[row] = Direction.NONE if direction is None else Direction[direction.upper()]
        face_up = known = 0
        for seat in range(self.num_players):
            self.hand[seat, row] = bits.set_of(position["hands"][seat])
            for pile, cards in enumerate(position["rows"][seat]):
                up = 0 if cards["up"] is None else 1 << cards["up"]
                down = 0 if cards["down"] is None else 1 << cards["down"]
                self.row[pile][seat, row] = up | down
                face_up |= up
                known |= down if cards["known"] else 0
        self.face_up[row] = face_up
        self.public[row] = face_up | known | bits.set_of(position["buried"]) | bits.set_of(position["tops"])
        self.top[0][row], self.top[1][row] = position["tops"]
        self.buried[row] = bits.set_of(position["buried"])
        self.fresh[row] = bits.set_of(position["fresh"])
        draw_pile = position["draw_pile"]
        self.pile[self.rows[row], : len(draw_pile)] = draw_pile
        self.next_card[row], self.pile_end[row] = 0, len(draw_pile)
        self.player[row] = NONE if position["player"] is None else position["player"]
        self.bonus_pile[row] = NONE if position["bonus_pile"] is None else position["bonus_pile"]
        self.phase[row] = Phase[position["phase"].upper()]
        self.flips[row] = position["flips"]
        self.truncated[row] = position["truncated"]
        rows = np.array([row], dtype=np.intp)
        part = self.select(rows)
        part._find_all_legal()
        self._put_back(rows, part)

    def _find_all_legal(self) -> None:
        """The legal words of every game, from the position alone."""
        running = self.phase != Phase.OVER
        mode = np.where(self.direction == Direction.NONE, MODE_NO_PLAY, self.direction - np.uint8(1)).astype(np.uint8)
        bonus = self.phase == Phase.BONUS
        mode[bonus] += MODE_BONUS + 2 * self.bonus_pile[bonus]
        mode[~running] = MODE_NO_PLAY
        self._find_legal(mode)
        seat = np.where(running, self.player, 0).astype(np.intp)
        for pile, legal in enumerate((TURN_0_IS_LEGAL, TURN_1_IS_LEGAL)):
            self.legal_words[:, 0] |= legal * (bonus & (self.row[pile][seat, self.index] & ~self.face_up != 0))
        stuck = (self.phase == Phase.PLAY) & (self.legal_words == 0).all(axis=1)
        self.legal_words[stuck, 0] = FLIP_IS_LEGAL
