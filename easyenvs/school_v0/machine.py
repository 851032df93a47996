"""Easy School, N games at once: the vectorised state machine.

The same function of (game seed, rules, actions) as `game.py`, decision by decision; each rule stands once in each, under
its id. A step plays the decision of every game, then resolves forced sub-decisions in one forward pass over the ordered
micro-states of `Todo`, each on the games that are in it.

    N games  P seats  A actions  K the games of a subset
    fields are [.., N]: seats first, games last
    counts by type are a uint64, a byte a type
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

import numpy as np

from easyenvs.core import bits, chance
from easyenvs.core.arrays import I32, I64, U8, U16, U64, Flags, Index
from easyenvs.core.game import StepEvents
from easyenvs.core.vectorised import Vectorised
from easyenvs.school_v0.cards import (
    CARDS_UNDER_LAST_SPECIAL,
    COPIES,
    EXAMS,
    JOKER,
    KEPT_CARDS,
    NUM_ACTIONS,
    NUM_CHEATS,
    NUM_FACE_UP,
    NUM_TYPES,
    SPECIAL,
    SPREAD,
    START_CARDS,
    STRESS,
    TOP_CARDS,
    Action,
    Phase,
    type_points,
)
from easyenvs.school_v0.counts import listed, packed
from easyenvs.school_v0.options import Rules

_U = np.uint64
NONE: Final = 255  # in uint8 fields: no seat

EVENT_DEAL: Final = 0
EVENT_SECOND_SHUFFLE: Final = 1
EVENT_MIDDLE: Final = 2
EVENT_FIRST_PLAYER: Final = 3

NUM_CARDS: Final = sum(COPIES)
NUM_ORDINARY: Final = NUM_CARDS - COPIES[SPECIAL]
MAX_HEIGHT: Final = sum(COPIES[:NUM_CHEATS])


class Todo(IntEnum):
    """The micro-states between two decisions, in the order in which one can lead to another."""

    NOTHING = 0
    DISCARD = 1  # S8
    RELAX = 2  # S12
    SIXTH = 3  # S9
    JOKERS = 4  # S10
    STACK = 5  # S10
    PRACTICE = 6  # S11
    EXAMS = 7  # S15 (1), S17
    KEEP = 8  # S15 (4)
    END_TURN = 9  # S14


# ------------------------------------------------------------------------------------------------- tables

ORDINARY: Final[U8] = np.array([t for t in range(NUM_TYPES) if t != SPECIAL for _ in range(COPIES[t])], dtype=np.uint8)
"""[108] The type of every card but the two specials."""

ONE: Final[U64] = np.array([1 << 8 * t for t in range(NUM_TYPES)], dtype=np.uint64)
"""[8] One card of each type, as counts."""

CHEAT_BYTES: Final = _U((1 << 8 * NUM_CHEATS) - 1)
JOKER_SHIFT: Final = _U(8 * JOKER)
BYTE: Final = _U(0xFF)
BYTE_SUM: Final = _U(0x0101010101010101)
BYTE_TOP: Final = _U(56)
BELOW_TOP_BIT: Final = _U(0x7F7F7F7F7F7F7F7F)
SEVEN: Final = _U(7)
TOPS_MASK: Final = np.uint16((1 << 3 * TOP_CARDS) - 1)
GATHER: Final = _U(0x0102040810204080)  # × brings bit 0 of byte i to bit 56 + i

EXAM_COUNTS: Final[U64] = np.array(
    [sum(1 << 8 * t for t in types) + (jokers << 8 * JOKER) for types, jokers in EXAMS], dtype=np.uint64
)
EXAM_TYPES: Final[U8] = np.array([sum(1 << t for t in types) for types, _ in EXAMS], dtype=np.uint8)
EXAM_SIZE: Final[U8] = np.array([len(types) + jokers for types, jokers in EXAMS], dtype=np.uint8)
MARGINAL: Final = np.array(
    [0, *(type_points(c) - type_points(c - 1) for c in range(1, max(COPIES) + 1))], dtype=np.uint8
)


def _exam_words() -> Any:
    """S9. Legal examinations as two words of action ids, by 32 · min(jokers, 4) + held cheat types: complex128 rows,
    because `take` of 16-byte items is one fast copy."""
    rows = np.zeros((5, 1 << NUM_CHEATS, 2), dtype=np.uint64)
    for jokers in range(5):
        for held in range(1 << NUM_CHEATS):
            word = 0
            for index, (types, needed) in enumerate(EXAMS):
                if needed <= jokers and all(held >> t & 1 for t in types):
                    word |= 1 << Action.EXAM + index
            rows[jokers, held] = word & chance.MASK64, word >> 64
    return rows.reshape(-1, 2).view(np.complex128).ravel()


EXAM_WORDS: Final = _exam_words()
NO_EXAM: Final = 0  # its row is empty: no types, no jokers

# What is legal by the phase alone, and which counts the phase's types come from.
PLAIN_LEGAL: Final[U64] = np.zeros(len(Phase), dtype=np.uint64)
for _phase in (Phase.TURN, Phase.DRAW):
    PLAIN_LEGAL[_phase] |= _U(1 << Action.DRAW)
for _phase in (Phase.DRAW, Phase.PRACTICE, Phase.RELAX, Phase.EXAM):
    PLAIN_LEGAL[_phase] |= _U(1 << Action.STOP)
ALL_BITS: Final = _U(chance.MASK64)
FROM_POOL, FROM_CLAIMED, FROM_FACE_UP = (
    np.array([ALL_BITS if phase in phases else 0 for phase in Phase], dtype=np.uint64)
    for phases in (
        (Phase.TURN,),
        (Phase.STACK,),
        (Phase.DISCARD, Phase.SIXTH, Phase.PRACTICE, Phase.KEEP),
    )
)
MAY_TAKE_EXAM: Final[Flags] = np.array([phase in (Phase.TURN, Phase.EXAM) for phase in Phase])
MAY_PLAY_STRESS: Final[Flags] = np.array([phase in (Phase.TURN, Phase.RELAX) for phase in Phase])


def total(counts: U64) -> Index:
    """How many cards: [..] -> intp [..]."""
    return (counts * BYTE_SUM >> BYTE_TOP).astype(np.intp)


def type_set(counts: U64) -> U64:
    """Which types there are, as a set: bit t. Counts are below 128."""
    present = counts + BELOW_TOP_BIT & ~BELOW_TOP_BIT
    present >>= SEVEN
    present *= GATHER
    present >>= BYTE_TOP
    return present


def lowest_type(types: U64) -> Index:
    """The lowest type of a non-empty set."""
    return np.bitwise_count((types & (~types + _U(1))) - _U(1)).astype(np.intp)


def count_of(counts: U64, kind: int) -> Index:
    """How many cards of one type."""
    return (counts >> _U(8 * kind) & BYTE).astype(np.intp)


class Machine(Vectorised):
    """N games of Easy School. A row holds no game until `deal` or `set_position` has put one there."""

    def __init__(self, num_games: int, rules: Rules) -> None:
        players = rules.num_players
        super().__init__(
            num_games,
            rules,
            blocks={
                "words": np.zeros((2 * players + 4, num_games), dtype=np.uint64),
                "bytes": np.zeros((15 + 4 * players, num_games), dtype=np.uint8),
                "tops": np.zeros((players, num_games), dtype=np.uint16),
                "decisions": np.zeros(num_games, dtype=np.int32),
            },
            shared={
                "deck": np.zeros((num_games, NUM_CARDS), dtype=np.uint8),
                "stack": np.zeros((num_games, players, MAX_HEIGHT), dtype=np.uint8),
            },
            num_words=2,
        )
        self.phase[:] = Phase.OVER
        self.player[:] = self.examinee[:] = NONE

    def _configure(self, rules: Rules) -> None:
        self.num_players = rules.num_players
        self.num_actions = NUM_ACTIONS
        self.max_decisions = rules.max_decisions
        self.opponents = _U(sum(1 << d for d in range(1, self.num_players)))  # bit d: the d-th seat clockwise

    def _name_fields(self, blocks: dict[str, Any], shared: dict[str, Any]) -> None:
        players = self.num_players
        words, bytes_ = blocks["words"], blocks["bytes"]
        self.deck: U8 = shared["deck"]  # [N, 110]  types; the deck is deck[game, next_card : deck_end], next card first
        self.stack: U8 = shared["stack"]  # [N, P, 76]  cheats of each victory pile, bottom to top, above its jokers
        self.decisions: I32 = blocks["decisions"]  # [N]

        self.face_up: U64 = words[:players]  # [P, N]  counts: cheats and jokers in front of each seat
        self.victory: U64 = words[players : 2 * players]  # [P, N]  counts: each victory pile
        self.pool: U64 = words[2 * players]  # [N]  counts
        self.discard_pile: U64 = words[2 * players + 1]  # [N]  counts
        self.claimed: U64 = words[2 * players + 2]  # [N]  counts: an examination's cards, on their way
        self.seed: U64 = words[2 * players + 3]  # [N]  the game seed

        self.player: U8 = bytes_[0]  # [N]  the seat to act; NONE once the game is over
        self.phase: U8 = bytes_[1]  # [N]  Phase
        self.turn_player: U8 = bytes_[2]  # [N]
        self.semester: U8 = bytes_[3]  # [N]  1, 2, 3
        self.stress_drawn: U8 = bytes_[4]  # [N]  in this turn (S7)
        self.to_discard: U8 = bytes_[5]  # [N]  cards that `player` owes the pool (S8)
        self.named: U8 = bytes_[6]  # [N]  set of opponents, bit d (S12)
        self.exam_types: U8 = bytes_[7]  # [N]  set of cheat types (S11)
        self.examinee: U8 = bytes_[8]  # [N]  NONE outside an examination
        self.asked: U8 = bytes_[9]  # [N]  how far clockwise from the examinee (S11)
        self.closing: U8 = bytes_[10]  # [N]  0/1: a semester ends
        self.reached: U8 = bytes_[11]  # [N]  how many seats, clockwise from the turn's, are done with (S13)
        self.truncated: U8 = bytes_[12]  # [N]  0/1: ended by R6
        self.next_card: U8 = bytes_[13]  # [N]
        self.deck_end: U8 = bytes_[14]  # [N]
        self.stress: U8 = bytes_[15 : 15 + players]  # [P, N]  stress cards in front of each seat
        self.height: U8 = bytes_[15 + players : 15 + 2 * players]  # [P, N]  cheats in each victory pile
        self.jokers: U8 = bytes_[15 + 2 * players : 15 + 3 * players]  # [P, N]  jokers under them
        self.points: U8 = bytes_[15 + 3 * players :]  # [P, N]  S18, of each victory pile
        self.tops: U16 = blocks["tops"]  # [P, N]  its topmost cards, as in View

    # ------------------------------------------------------------------------------------------ set-up

    def deal(self, rows: Index, seeds: U64) -> None:
        """S3–S5. Start game `seeds[j]` in row `rows[j]`."""
        for block in self._blocks.values():
            block[..., rows] = 0
        self.seed[rows] = seeds
        self.semester[rows] = 1
        self.examinee[rows] = NONE
        left = self._deal_start_cards(rows)
        self._add_specials(rows, left)
        key = chance.event_key_array(seeds, np.zeros_like(seeds), EVENT_FIRST_PLAYER)
        first = chance.pick_array(key, np.ones((self.num_players, len(rows)), dtype=np.bool_))  # S5
        self.turn_player[rows] = self.player[rows] = first
        self.phase[rows] = Phase.TURN
        part = self.select(rows)
        part._find_legal()
        self.legal_words[rows] = part.legal_words

    def _deal_start_cards(self, k: Index) -> U8:
        """S3. Three face-up cards a seat, stress put aside and replaced; returns the types left, shuffled again."""
        seeds = self.seed[k]
        round_0 = np.zeros_like(seeds)
        order = chance.shuffled_arrays(chance.event_key_array(seeds, round_0, EVENT_DEAL), None, NUM_ORDINARY)
        types = ORDINARY.take(order)
        ordinary = types != STRESS
        rank = np.cumsum(ordinary, axis=1)  # 1-based among the cards that are no stress
        cards = ONE.take(types)
        for seat in range(self.num_players):
            dealt = ordinary & (rank > START_CARDS * seat) & (rank <= START_CARDS * (seat + 1))
            self.face_up[seat, k] = np.where(dealt, cards, _U(0)).sum(axis=1)
        left = np.empty(order.shape, dtype=np.bool_)
        np.put_along_axis(left, order.astype(np.intp), ~(ordinary & (rank <= START_CARDS * self.num_players)), axis=1)
        again = chance.shuffled_arrays(chance.event_key_array(seeds, round_0, EVENT_SECOND_SHUFFLE), left, NUM_ORDINARY)
        return ORDINARY.take(again[:, : NUM_ORDINARY - START_CARDS * self.num_players])

    def _add_specials(self, k: Index, types: U8) -> None:
        """S4. One with ten cards under it, the other near the middle."""
        length = types.shape[1]
        seeds = self.seed[k]
        key = chance.event_key_array(seeds, np.zeros_like(seeds), EVENT_MIDDLE)
        shift = chance.pick_array(key, np.ones((2 * SPREAD + 1, len(k)), dtype=np.bool_)) - SPREAD
        first = (length + 1) // 2 + shift  # cards above the first special
        last = length + 1 - CARDS_UNDER_LAST_SPECIAL
        place = np.arange(length + 2)[None, :]
        source = place - (place > first[:, None]) - (place > last)
        deck = np.take_along_axis(types, np.clip(source, 0, length - 1), axis=1)
        deck[:, last] = SPECIAL
        deck[np.arange(len(k)), first] = SPECIAL
        self.deck[self.rows[k], : length + 2] = deck
        self.next_card[k], self.deck_end[k] = 0, length + 2

    # ------------------------------------------------------------------------------------------ decisions

    def _advance(self, action: Index) -> StepEvents:
        """One decision of seat `player` in each of these games."""
        events = StepEvents.none()
        self.decisions += 1
        todo = np.zeros(len(action), dtype=np.uint8)
        phase = self.phase.copy()

        k = np.flatnonzero(action == Action.DRAW)
        if k.size:
            self._draw(k, todo)
        k = np.flatnonzero(action == Action.STOP)
        if k.size:
            todo[k] = AFTER_STOP.take(phase[k])
        k = np.flatnonzero((action >= Action.TYPE) & (action < Action.STRESS))
        if k.size:
            self._choose_type(k, action[k] - Action.TYPE, phase[k], todo)
        k = np.flatnonzero((action >= Action.STRESS) & (action < Action.EXAM))
        if k.size:
            self._play_stress(k, action[k] - Action.STRESS + 1, todo)
        k = np.flatnonzero(action >= Action.EXAM)
        if k.size:
            self._take_exams(k, action[k] - Action.EXAM, todo)

        for state, resolve in (
            (Todo.DISCARD, self._then_discard),
            (Todo.RELAX, self._then_relax),
            (Todo.SIXTH, self._then_sixth),
            (Todo.JOKERS, self._then_lay_jokers),
            (Todo.STACK, self._then_stack),
            (Todo.PRACTICE, self._then_practice),
        ):
            k = np.flatnonzero(todo == state)
            if k.size:
                resolve(k, todo)
        k = np.flatnonzero(todo == Todo.EXAMS)
        if k.size:
            self._then_exams(k, todo, events)
        k = np.flatnonzero(todo == Todo.KEEP)
        if k.size:
            self._then_keep(k, todo)
        k = np.flatnonzero(todo == Todo.END_TURN)
        if k.size:
            self._end_turn(k)
        late = self.decisions >= self.max_decisions
        if late.any():
            late &= self.phase != Phase.OVER
            self._finish(np.flatnonzero(late), events, truncated=True)
        self._find_legal()
        return events

    def _at(self, seat: Any, k: Index) -> Index:
        """Where the entries of these seats of these games are in a flattened [P, N] field."""
        at: Index = seat.astype(np.intp) * len(self.index) + k
        return at

    def _choose_type(self, k: Index, kind: Index, phase: U8, todo: U8) -> None:
        """A card by its type: S6, S8, S9, S10, S11 or S15, as the phase says."""
        card = ONE.take(kind)
        face_up = self.face_up.reshape(-1)
        at = self._at(self.player[k], k)
        todo[k] = AFTER_TYPE.take(phase)
        stacks = phase == Phase.STACK
        gains = phase == Phase.TURN
        taken = np.where(stacks, _U(0), card)
        face_up[at] += np.where(gains, taken, -taken)  # modulo 2^64: −x takes x away
        self.pool[k] += np.where(gains, -card, np.where(phase == Phase.DISCARD, card, _U(0)))
        self.to_discard[k] -= (phase == Phase.DISCARD).astype(np.uint8)
        self.claimed[k] += np.where(phase == Phase.SIXTH, card, np.where(stacks, -card, _U(0)))
        self.discard_pile[k] += np.where(phase == Phase.KEEP, card, _U(0))
        lays = stacks | (phase == Phase.PRACTICE)
        if lays.any():
            self._lay(k[lays], self.player[k[lays]], kind[lays])

    def _lay(self, k: Index, seat: U8, kind: Index) -> None:
        """A cheat card on top of a victory pile."""
        at = self._at(seat, k)
        height = self.height.reshape(-1)
        self.stack[self.rows[k], seat, height[at]] = kind
        height[at] += np.uint8(1)
        victory, points, tops = self.victory.reshape(-1), self.points.reshape(-1), self.tops.reshape(-1)
        pile = victory[at] + ONE.take(kind)
        victory[at] = pile
        points[at] += MARGINAL.take(_of_kind(pile, kind))
        tops[at] = (tops[at] << 3 | kind.astype(np.uint16) + 1) & TOPS_MASK

    # ------------------------------------------------------------------------------------------ A: draw

    def _turn_up(self, k: Index) -> U8:
        """The top card of each deck."""
        position = self.next_card[k]
        self.next_card[k] = position + np.uint8(1)
        return self.deck[self.rows[k], position]

    def _draw(self, k: Index, todo: U8) -> None:
        """S7."""
        kind = self._turn_up(k)
        plain = kind < STRESS
        games = k[plain]
        self.face_up.reshape(-1)[self._at(self.turn_player[games], games)] += ONE.take(kind[plain])
        self.phase[games] = Phase.DRAW
        games = k[kind == STRESS]
        if games.size:
            self.stress.reshape(-1)[self._at(self.turn_player[games], games)] += np.uint8(1)
            self.stress_drawn[games] += np.uint8(1)
            self.to_discard[games] = self.stress_drawn[games]
            todo[games] = Todo.DISCARD
        games = k[kind == SPECIAL]
        if games.size:
            self._special(games, todo)

    def _then_discard(self, k: Index, todo: U8) -> None:
        """S8. The seat owes the pool some face-up cards of its choice; with fewer or as many all go, and with fewer one card
        from the top of the victory pile."""
        seat = self.player[k]
        at = self._at(seat, k)
        cards, owed = self.face_up.reshape(-1)[at], self.to_discard[k]
        held, types = total(cards), type_set(cards)
        asked = (held > owed) & (np.bitwise_count(types) > 1) & (owed > 0)
        self.phase[k[asked]] = Phase.DISCARD
        settled = ~asked
        short = settled & (held < owed)
        if short.any():
            self._lose_top(k[short], seat[short])
        k, at, cards, owed, held, types = (
            k[settled],
            at[settled],
            cards[settled],
            owed[settled],
            held[settled],
            types[settled],
        )
        one_type = ONE.take(lowest_type(types) % NUM_TYPES) * owed  # only used where there is just one type
        gone = np.where(held <= owed, cards, one_type)
        gone[owed == 0] = 0
        self.face_up.reshape(-1)[at] -= gone
        self.pool[k] += gone
        self.to_discard[k] = 0
        todo[k] = Todo.END_TURN
        again = (self.stress_drawn[k] == 1) & (self.named[k] == 0)
        todo[k[self.named[k] != 0]] = Todo.RELAX
        games = k[again]
        todo[games] = Todo.NOTHING
        self.phase[games] = Phase.DRAW
        self.player[games] = self.turn_player[games]

    def _lose_top(self, k: Index, seat: U8) -> None:
        """S8. The topmost card of a victory pile goes to the pool, if there is one."""
        at = self._at(seat, k)
        height, jokers = self.height.reshape(-1), self.jokers.reshape(-1)
        has_cheat = height[at] > 0
        has_joker = ~has_cheat & (jokers[at] > 0)
        top = self.stack[self.rows[k], seat, np.maximum(height[at], 1) - 1]
        card = np.where(has_cheat, ONE.take(top), np.where(has_joker, ONE[JOKER], _U(0)))
        height[at] -= has_cheat.astype(np.uint8)
        jokers[at] -= has_joker.astype(np.uint8)
        victory = self.victory.reshape(-1)
        cheat = at[has_cheat]
        self.points.reshape(-1)[cheat] -= MARGINAL.take(_of_kind(victory[cheat], top[has_cheat]))
        victory[at] -= card
        self.pool[k] += card
        self._find_tops(k, seat)

    def _find_tops(self, k: Index, seat: Any) -> None:
        """The topmost cards of these victory piles."""
        at = self._at(seat, k)
        height = self.height.reshape(-1)[at].astype(np.intp)
        size = height + self.jokers.reshape(-1)[at]
        tops = np.zeros(len(k), dtype=np.uint16)
        for place in range(TOP_CARDS):
            cheat = self.stack[self.rows[k], seat, np.maximum(height - 1 - place, 0)]
            card = np.where(height > place, cheat, JOKER) + np.uint16(1)
            tops |= np.where(size > place, card, 0).astype(np.uint16) << 3 * place
        self.tops.reshape(-1)[at] = tops

    # ------------------------------------------------------------------------------------------ B: examinations

    def _take_exams(self, k: Index, exam: Index, todo: U8) -> None:
        """S9. Three cards need luck, four are enough, five bring a sixth."""
        size = EXAM_SIZE.take(exam)
        success = np.ones(len(k), dtype=np.bool_)
        lucky = np.flatnonzero(size == 3)
        if lucky.size:
            games = k[lucky]
            kind = self._turn_up(games)
            special, stress = kind == SPECIAL, kind == STRESS
            success[lucky] = ~(special | stress)
            fine = ~(special | stress)
            self.pool[games[fine]] += ONE.take(kind[fine])
            failed = games[stress]
            self.stress.reshape(-1)[self._at(self.player[failed], failed)] += np.uint8(1)
            todo[failed] = np.where(self.closing[failed], np.uint8(Todo.EXAMS), np.uint8(Todo.END_TURN))
            if special.any():
                self._special(games[special], todo)
        k, exam, size = k[success], exam[success], size[success]
        self.examinee[k] = self.player[k]
        self.exam_types[k] = EXAM_TYPES.take(exam)
        used = EXAM_COUNTS.take(exam)
        self.face_up.reshape(-1)[self._at(self.player[k], k)] -= used
        self.claimed[k] += used
        todo[k] = np.where(size == 5, np.uint8(Todo.SIXTH), np.uint8(Todo.JOKERS))

    def _then_sixth(self, k: Index, todo: U8) -> None:
        """S9. One more of the remaining face-up cards, if there is one."""
        at = self._at(self.examinee[k], k)
        types = type_set(self.face_up.reshape(-1)[at])
        number = np.bitwise_count(types)
        asked = number > 1
        games = k[asked]
        self.phase[games] = Phase.SIXTH
        self.player[games] = self.examinee[games]
        todo[games] = Todo.NOTHING
        todo[k[~asked]] = Todo.JOKERS
        one = number == 1
        card = ONE.take(lowest_type(types[one]))
        self.face_up.reshape(-1)[at[one]] -= card
        self.claimed[k[one]] += card

    def _then_lay_jokers(self, k: Index, todo: U8) -> None:
        """S10. Jokers go to the very bottom of the victory pile."""
        at = self._at(self.examinee[k], k)
        claimed = self.claimed[k]
        jokers = claimed & ~CHEAT_BYTES
        self.jokers.reshape(-1)[at] += (jokers >> JOKER_SHIFT).astype(np.uint8)
        self.victory.reshape(-1)[at] += jokers
        self.claimed[k] = claimed & CHEAT_BYTES
        shows = (jokers != 0) & (self.height.reshape(-1)[at] < TOP_CARDS)
        if shows.any():
            self._find_tops(k[shows], self.examinee[k[shows]])
        todo[k] = Todo.STACK

    def _then_stack(self, k: Index, todo: U8) -> None:
        """S10. The cheat cards go on top, in the seat's order, or in order of falling value."""
        if self.rules.stack == "choose":
            asked = np.bitwise_count(type_set(self.claimed[k])) > 1
            games = k[asked]
            self.phase[games] = Phase.STACK
            self.player[games] = self.examinee[games]
            todo[games] = Todo.NOTHING
            k = k[~asked]
        todo[k] = Todo.PRACTICE
        self.asked[k] = 0
        left = k[self.claimed[k] != 0]
        while left.size:
            seat = self.examinee[left]
            best = self._most_valuable(left, seat)
            self.claimed[left] -= ONE.take(best)
            self._lay(left, seat, best)
            left = left[self.claimed[left] != 0]

    def _most_valuable(self, k: Index, seat: U8) -> Index:
        """S10. The claimed type whose card is worth most; ties: the lower type."""
        claimed = self.claimed[k]
        after = self.victory.reshape(-1)[self._at(seat, k)] + claimed
        values = np.stack(
            [
                np.where(count_of(claimed, t) > 0, MARGINAL.take(count_of(after, t)), np.int8(-1))
                for t in range(NUM_CHEATS)
            ]
        )
        best: Index = values.argmax(axis=0)
        return best

    def _then_practice(self, k: Index, todo: U8) -> None:
        """S11. The others without stress, clockwise, may lay a card of a type that the examination named."""
        for distance in range(1, self.num_players):
            here = k[self.asked[k] < distance]
            if not here.size:
                continue
            self.asked[here] = distance
            seat = (self.examinee[here].astype(np.intp) + distance) % self.num_players
            at = self._at(seat, here)
            types = type_set(self.face_up.reshape(-1)[at]) & self.exam_types[here]
            may = (self.stress.reshape(-1)[at] == 0) & (types != 0)
            games = here[may]
            self.phase[games] = Phase.PRACTICE
            self.player[games] = seat[may]
            todo[games] = Todo.NOTHING
            k = k[todo[k] == Todo.PRACTICE]
        self.examinee[k] = NONE
        self.exam_types[k] = self.asked[k] = 0
        todo[k] = np.where(self.closing[k], np.uint8(Todo.EXAMS), np.uint8(Todo.END_TURN))

    # ------------------------------------------------------------------------------------------ C: stress

    def _play_stress(self, k: Index, distance: Index, todo: U8) -> None:
        """S12. A stress card against the opponent that sits so far clockwise; it discards one card."""
        seat = self.turn_player[k].astype(np.intp)
        self.stress.reshape(-1)[self._at(seat, k)] -= np.uint8(1)
        self.discard_pile[k] += ONE[STRESS]
        self.named[k] |= (1 << distance).astype(np.uint8)
        self.to_discard[k] = 1
        self.player[k] = (seat + distance) % self.num_players
        todo[k] = Todo.DISCARD

    def _then_relax(self, k: Index, todo: U8) -> None:
        """S12. Another stress card against an opponent not yet named, if there are both."""
        seat = self.turn_player[k]
        more = (self.stress.reshape(-1)[self._at(seat, k)] > 0) & (self.named[k] != self.opponents)
        games = k[more]
        self.phase[games] = Phase.RELAX
        self.player[games] = seat[more]
        todo[games] = Todo.NOTHING
        todo[k[~more]] = Todo.END_TURN

    # ------------------------------------------------------------------------------------------ turns and semesters

    def _end_turn(self, k: Index) -> None:
        """S14. The next seat clockwise takes its turn."""
        seat = self.turn_player[k] + np.uint8(1)
        seat[seat == self.num_players] = 0
        self.turn_player[k] = self.player[k] = seat
        self.phase[k] = Phase.TURN
        self.stress_drawn[k] = self.named[k] = self.closing[k] = self.reached[k] = 0

    def _special(self, k: Index, todo: U8) -> None:
        """S15, S17. A special ends the turn at once, and the semester."""
        self.discard_pile[k] += ONE[SPECIAL]
        self.semester[k] += np.uint8(1)
        self.stress_drawn[k] = 0
        self.closing[k] = 1
        self.reached[k] = 0
        todo[k] = Todo.EXAMS

    def _exam_rows(self, cards: U64) -> Index:
        """S9. The row of EXAM_WORDS for these face-up cards."""
        jokers = np.minimum(cards >> JOKER_SHIFT & BYTE, _U(4))
        rows: Index = ((jokers << _U(NUM_CHEATS)) | type_set(cards & CHEAT_BYTES)).astype(np.intp)
        return rows

    def _then_exams(self, k: Index, todo: U8, events: StepEvents) -> None:
        """S15 (1), S17. Each seat without stress that can take an examination may take one, in order (S13)."""
        for offset in range(self.num_players):
            here = k[self.reached[k] <= offset]
            if not here.size:
                continue
            self.reached[here] = offset + 1
            seat = (self.turn_player[here].astype(np.intp) + offset) % self.num_players
            at = self._at(seat, here)
            can = CAN_TAKE.take(self._exam_rows(self.face_up.reshape(-1)[at])) & (self.stress.reshape(-1)[at] == 0)
            games = here[can]
            self.phase[games] = Phase.EXAM
            self.player[games] = seat[can]
            todo[games] = Todo.NOTHING
            k = k[todo[k] == Todo.EXAMS]
        final = self.semester[k] == 3
        games = k[final]
        if games.size:
            todo[games] = Todo.NOTHING
            events.scored, events.gains = games, self.points[:, games].astype(np.float64)
            self._finish(games, events, truncated=False)
        self._clear(k[~final])
        todo[k[~final]] = Todo.KEEP

    def _clear(self, k: Index) -> None:
        """S15 (2), (3). Stress cards and the pool go to the discard pile."""
        stress = self.stress[:, k].sum(axis=0, dtype=np.uint64)
        self.stress[:, k] = 0
        self.discard_pile[k] += self.pool[k] + (stress << _U(8 * STRESS))
        self.pool[k] = 0
        self.reached[k] = 0

    def _then_keep(self, k: Index, todo: U8) -> None:
        """S15 (4). Each seat with more than three face-up cards discards until three are left."""
        for offset in range(self.num_players):
            here = k[self.reached[k] <= offset]
            if not here.size:
                continue
            self.reached[here] = offset
            seat = (self.turn_player[here].astype(np.intp) + offset) % self.num_players
            at = self._at(seat, here)
            cards = self.face_up.reshape(-1)[at]
            extra, types = total(cards) - KEPT_CARDS, type_set(cards)
            several = np.bitwise_count(types) > 1
            asked = (extra > 0) & several
            games = here[asked]
            self.phase[games] = Phase.KEEP
            self.player[games] = seat[asked]
            todo[games] = Todo.NOTHING
            forced = (extra > 0) & ~several
            gone = ONE.take(lowest_type(types[forced])) * extra[forced].astype(np.uint64)
            self.face_up.reshape(-1)[at[forced]] -= gone
            self.discard_pile[here[forced]] += gone
            self.reached[here[~asked]] = offset + 1
            k = k[todo[k] == Todo.KEEP]
        todo[k] = Todo.END_TURN

    # ------------------------------------------------------------------------------------------ what is legal

    def _find_legal(self) -> None:
        """The legal words of every game."""
        phase = self.phase
        over = phase == Phase.OVER
        seat = np.where(over, 0, self.player) if over.any() else self.player
        at = self._at(seat, self.index)
        cards, stress = self.face_up.reshape(-1).take(at), self.stress.reshape(-1).take(at)
        offered = self.pool & FROM_POOL.take(phase)
        offered |= self.claimed & FROM_CLAIMED.take(phase)
        offered |= cards & FROM_FACE_UP.take(phase)
        types = type_set(offered)
        practice = np.flatnonzero(phase == Phase.PRACTICE)
        if practice.size:
            types[practice] &= self.exam_types[practice]
        may_take = MAY_TAKE_EXAM.take(phase) & (stress == 0)
        exams = EXAM_WORDS.take(np.where(may_take, self._exam_rows(cards), NO_EXAM)).view(np.uint64).reshape(-1, 2)
        first = exams[:, 0] | PLAIN_LEGAL.take(phase)
        first |= types << _U(Action.TYPE)
        may_stress = np.flatnonzero(MAY_PLAY_STRESS.take(phase) & (stress > 0))
        if may_stress.size:
            free = self.opponents & ~self.named[may_stress].astype(np.uint64)
            first[may_stress] |= free << _U(Action.STRESS - 1)
        self.legal_words[:, 0] = first
        self.legal_words[:, 1] = exams[:, 1]

    # ------------------------------------------------------------------------------------------ the end

    def _finish(self, k: Index, events: StepEvents, *, truncated: bool) -> None:
        """R6, R7."""
        if k.size:
            self.phase[k] = Phase.OVER
            self.player[k] = NONE
            self.truncated[k] = truncated
            events.end(k, truncated)

    @property
    def scores(self) -> U8:
        """S18. Points of the victory piles [P, N]."""
        return self.points

    def standing(self, rows: Index) -> I64:
        """S19. The final order, the lower the better: points, then cards in the victory pile -> [2, P, K]."""
        size = self.height[:, rows].astype(np.int64) + self.jokers[:, rows]
        return -np.stack([self.points[:, rows].astype(np.int64), size])

    # ------------------------------------------------------------------------------------------ hidden cards

    def resample(self, rows: Index, viewer: Index, keys: U64) -> None:
        """S20. Redraw the order of each deck `rows[j]`, which no seat knows, uniformly over the orders that the set-up allows
        (S4); `keys[j]` is the draw's only source of randomness."""
        self.seed[rows] = chance.derive_array(chance.DOMAIN_ROW, keys, 0)
        length = (self.deck_end[rows] - self.next_card[rows]).astype(np.intp)
        place = np.arange(NUM_CARDS)[None, :]  # counted from the bottom
        inside = place < length[:, None]
        source = np.where(inside, self.deck_end[rows].astype(np.intp)[:, None] - 1 - place, 0)
        deck = np.take_along_axis(self.deck[self.rows[rows]], source, axis=1)
        special = inside & (deck == SPECIAL)
        ordinary = inside & ~special
        number = ordinary.sum(axis=1)
        # Sorted, so that the draw depends on nothing but what the seat knows and its key; behind the members: no cards.
        cards = np.sort(np.where(ordinary, deck, NONE), axis=1)
        order = chance.shuffled_arrays(
            chance.derive_array(chance.DOMAIN_RESAMPLE, keys, 0), place < number[:, None], NUM_CARDS
        ).astype(np.intp)
        cards = np.take_along_axis(cards, np.minimum(order, NUM_CARDS - 1), axis=1)
        specials = special.sum(axis=1)
        last = np.where(specials > 0, special.argmax(axis=1), NUM_CARDS)
        first = np.where(specials > 1, NUM_CARDS - 1 - special[:, ::-1].argmax(axis=1), NUM_CARDS)
        whole = NUM_ORDINARY + 1 - START_CARDS * self.num_players
        middle = whole - whole // 2
        window = (np.abs(place - middle) <= SPREAD) & inside
        by_hand = ~window[np.arange(len(rows)), np.minimum(first, NUM_CARDS - 1)]
        window[by_hand] = (inside & (place > last[:, None]))[by_hand]
        # The r-th allowed place, r uniform: as `game.py` picks among 0 … count − 1
        count = window.sum(axis=1)
        candidate = np.arange(NUM_CARDS)[:, None] < np.maximum(count, 1)[None, :]
        rank = chance.pick_array(chance.derive_array(chance.DOMAIN_RESAMPLE, keys, 1), candidate)
        chosen = (window & (np.cumsum(window, axis=1) == rank[:, None] + 1)).argmax(axis=1)
        first = np.where(specials > 1, chosen, NUM_CARDS)
        taken = (place > last[:, None]).astype(np.intp) + (place > first[:, None])
        redrawn = np.take_along_axis(cards, np.clip(place - taken, 0, NUM_CARDS - 1), axis=1)
        redrawn[(place == last[:, None]) | (place == first[:, None])] = SPECIAL
        self.deck[self.rows[rows]] = np.take_along_axis(redrawn, np.clip(length[:, None] - 1 - place, 0, None), axis=1)
        self.next_card[rows], self.deck_end[rows] = 0, length

    # ------------------------------------------------------------------------------------------ positions

    def position(self, row: int) -> dict[str, Any]:
        """The whole state of one game as a snapshot's plain values (the keys are listed in notation.py)."""
        player, examinee, at = int(self.player[row]), int(self.examinee[row]), self.rows[row]
        return {
            "phase": Phase(int(self.phase[row])).name.lower(),
            "player": None if player == NONE else player,
            "turn_player": int(self.turn_player[row]),
            "semester": int(self.semester[row]),
            "deck": self.deck[at, self.next_card[row] : self.deck_end[row]].tolist(),
            "face_up": [listed(int(self.face_up[seat, row]), NUM_FACE_UP) for seat in range(self.num_players)],
            "stress": self.stress[:, row].tolist(),
            "victory": [
                [JOKER] * int(self.jokers[seat, row]) + self.stack[at, seat, : self.height[seat, row]].tolist()
                for seat in range(self.num_players)
            ],
            "pool": listed(int(self.pool[row]), NUM_FACE_UP),
            "discard_pile": listed(int(self.discard_pile[row]), NUM_TYPES),
            "scores": self.points[:, row].tolist(),
            "claimed": listed(int(self.claimed[row]), NUM_FACE_UP),
            "decisions": int(self.decisions[row]),
            "seed": int(self.seed[row]),
            "stress_drawn": int(self.stress_drawn[row]),
            "to_discard": int(self.to_discard[row]),
            "named": bits.members(int(self.named[row])),
            "examinee": None if examinee == NONE else examinee,
            "exam_types": bits.members(int(self.exam_types[row])),
            "closing": bool(self.closing[row]),
            "truncated": bool(self.truncated[row]),
        }

    def set_position(self, row: int, position: dict[str, Any]) -> None:
        """Take over a position that `notation.checked_position` has checked and completed."""
        players, at = self.num_players, self.rows[row]
        self.seed[row], self.decisions[row] = position["seed"], position["decisions"]
        deck = position["deck"]
        self.deck[at, : len(deck)] = deck
        self.next_card[row], self.deck_end[row] = 0, len(deck)
        for seat in range(players):
            pile = position["victory"][seat]
            jokers = pile.count(JOKER)
            self.jokers[seat, row], self.height[seat, row] = jokers, len(pile) - jokers
            self.stack[at, seat, : len(pile) - jokers] = pile[jokers:]
            self.victory[seat, row] = sum(1 << 8 * kind for kind in pile)
            self.face_up[seat, row] = packed(position["face_up"][seat])
        self.stress[:, row] = position["stress"]
        self.pool[row] = packed(position["pool"])
        self.discard_pile[row] = packed(position["discard_pile"])
        self.claimed[row] = packed(position["claimed"])
        self.turn_player[row], self.semester[row] = position["turn_player"], position["semester"]
        self.stress_drawn[row], self.to_discard[row] = position["stress_drawn"], position["to_discard"]
        self.named[row] = bits.set_of(position["named"])
        self.exam_types[row] = bits.set_of(position["exam_types"])
        self.closing[row], self.truncated[row] = position["closing"], position["truncated"]
        phase, seat, examinee = Phase[position["phase"].upper()], position["player"], position["examinee"]
        self.phase[row] = phase
        self.player[row] = NONE if seat is None else seat
        self.examinee[row] = NONE if examinee is None else examinee
        self.asked[row] = (seat - examinee) % players if phase == Phase.PRACTICE else 0
        self.reached[row] = 0
        if position["closing"] and phase == Phase.KEEP:
            self.reached[row] = (seat - position["turn_player"]) % players
        elif position["closing"] and phase != Phase.OVER:  # that seat's examination is asked for, or going on
            acting = seat if phase == Phase.EXAM else examinee
            self.reached[row] = (acting - position["turn_player"]) % players + 1
        rows = np.array([row], dtype=np.intp)
        for seat in range(players):
            counts = listed(int(self.victory[seat, row]), NUM_CHEATS)
            self.points[seat, row] = sum(type_points(count) for count in counts)
            self._find_tops(rows, np.array([seat], dtype=np.intp))
        part = self.select(rows)
        part._find_legal()
        self.legal_words[rows] = part.legal_words


def _of_kind(counts: U64, kind: Index | U8) -> Index:
    """How many cards of type `kind[j]` there are in `counts[j]`."""
    return (counts >> (kind.astype(np.uint64) << _U(3)) & BYTE).astype(np.intp)


AFTER_STOP: Final[U8] = np.full(len(Phase), Todo.END_TURN, dtype=np.uint8)
AFTER_STOP[Phase.PRACTICE] = Todo.PRACTICE
AFTER_STOP[Phase.EXAM] = Todo.EXAMS

AFTER_TYPE: Final[U8] = np.zeros(len(Phase), dtype=np.uint8)
AFTER_TYPE[Phase.TURN] = Todo.END_TURN
AFTER_TYPE[Phase.DISCARD] = Todo.DISCARD
AFTER_TYPE[Phase.SIXTH] = Todo.JOKERS
AFTER_TYPE[Phase.STACK] = Todo.STACK
AFTER_TYPE[Phase.PRACTICE] = Todo.PRACTICE
AFTER_TYPE[Phase.KEEP] = Todo.KEEP

CAN_TAKE: Final[Flags] = (EXAM_WORDS.view(np.uint64).reshape(-1, 2) != 0).any(axis=1)
