"""Easy School, one game, rule by rule, next to the rulebook.

Cards of a type are indistinguishable, so zones are counts by type, packed into an int as `counts.py` describes it:
`+= ONE[kind]` puts a card there, `-= ONE[kind]` takes one away (FACE_UP[kind] where the top byte counts them all).
Only the deck and the victory piles have an order.

    P seats 0 … n−1      clockwise is +1 modulo n
    t types 0 … 7        0–4 cheats, 5 joker, 6 stress, 7 semester end

A decision leads through forced steps to the next decision: each `_then_…` method is one of these steps and calls the next.
Every step has cards leave the deck, a pointer over the seats move on, or a turn begin with a card less to draw, so no play
can go on for ever (S14; see `_begin_turn`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any, Final

from easyenvs.core import bits, chance
from easyenvs.school_v0.cards import (
    CARDS_UNDER_LAST_SPECIAL,
    COPIES,
    EXAMS,
    JOKER,
    KEPT_CARDS,
    MAX_PLAYERS,
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
from easyenvs.school_v0.counts import ALL_CARDS, BYTE, FILL, ONE, PRESENT, listed, packed
from easyenvs.school_v0.options import Rules

# Random events, for chance.event_key (a game has one round, 0).
DEAL: Final = 0
SECOND_SHUFFLE: Final = 1
MIDDLE: Final = 2
FIRST_PLAYER: Final = 3

ORDINARY: Final = tuple(t for t in range(NUM_TYPES) if t != SPECIAL for _ in range(COPIES[t]))
"""The type of every card but the two specials, by card number 0 … 107."""

# Plain names and ints for what every step compares: a look-up in an enum class costs as much as the comparison itself.
TURN, DRAW, DISCARD, SIXTH, STACK, PRACTICE, RELAX, EXAM, KEEP, OVER = (int(phase) for phase in Phase)
FIRST_TYPE, FIRST_STRESS, FIRST_EXAM = int(Action.TYPE), int(Action.STRESS), int(Action.EXAM)
TO_DRAW, TO_STOP = 1 << Action.DRAW, 1 << Action.STOP

JOKERS_AT, STRESS_AT, POINTS_AT, IN_ALL = 8 * JOKER, 8 * STRESS, 8 * STRESS, 56
FACE_UP: Final = tuple(ONE[kind] + (1 << IN_ALL) for kind in range(NUM_FACE_UP))
"""A card in a word of `front` or `piles`, whose top byte is how many cards there are."""

FACE_UP_TYPES: Final = sum(BYTE << 8 * kind for kind in range(NUM_FACE_UP))
STRESS_CARDS: Final = BYTE << STRESS_AT

TYPE_SETS: Final = tuple(
    tuple(kind for kind in range(NUM_FACE_UP) if held >> kind & 1) for held in range(1 << NUM_FACE_UP)
)
TYPES_OF: Final = {packed([0x80 * (kind in types) for kind in range(NUM_FACE_UP)]): types for types in TYPE_SETS}
"""The types of which there is a card, by `counts + FILL & PRESENT`."""

TYPE_ACTIONS: Final = {key: sum(1 << Action.TYPE + kind for kind in types) for key, types in TYPES_OF.items()}
"""The actions that name these types, by the same."""

CHEATS_PRESENT: Final = PRESENT & (1 << 8 * NUM_CHEATS) - 1
EXAM_ACTIONS: Final = tuple(
    {
        key: sum(
            1 << Action.EXAM + index
            for index, (types, needed) in enumerate(EXAMS)
            if needed <= jokers and set(types) <= set(held)
        )
        for key, held in TYPES_OF.items()
        if JOKER not in held
    }
    for jokers in range(COPIES[JOKER] + 1)
)
"""S9. The examinations that a seat can take: [jokers][counts + FILL & CHEATS_PRESENT]."""

STRESS_ACTIONS: Final = {
    players: tuple(
        sum(1 << Action.STRESS + distance - 1 for distance in range(1, players) if not named >> distance & 1)
        for named in range(1 << players)
    )
    for players in range(2, MAX_PLAYERS + 1)
}
"""S12. A stress card against an opponent: [players][set of those named before]."""

EXAM_CARDS: Final = tuple(sum(FACE_UP[t] for t in types) + jokers * FACE_UP[JOKER] for types, jokers in EXAMS)
EXAM_SIZE: Final = tuple(len(types) + jokers for types, jokers in EXAMS)
EXAM_TYPES: Final = tuple(sum(1 << t for t in types) for types, _ in EXAMS)
POINTS: Final = tuple(type_points(count) for count in range(max(COPIES) + 1))
GAIN: Final = tuple((after - before) << POINTS_AT for before, after in pairwise(POINTS))
"""S18. What one more card of a cheat type brings, in a word of `piles`, by how many there are."""
TOPS_MASK: Final = (1 << 3 * TOP_CARDS) - 1


class Game:
    """One game of Easy School. `deal` starts it; `step` plays one decision of seat `player`."""

    num_actions = NUM_ACTIONS

    # As a plain class it would have more attributes than Python looks up by position.
    __slots__ = (
        "asked",
        "claimed",
        "closing",
        "decisions",
        "deck",
        "discard_pile",
        "exam_types",
        "examinee",
        "front",
        "gains",
        "in_deck",
        "legal",
        "max_decisions",
        "named",
        "num_players",
        "phase",
        "piles",
        "player",
        "pool",
        "reached",
        "rules",
        "seed",
        "semester",
        "stress_drawn",
        "terminated",
        "to_discard",
        "tops",
        "truncated",
        "turn_player",
        "victory",
    )

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.num_players = rules.num_players
        self.max_decisions = rules.max_decisions

        self.seed = 0
        self.decisions = 0  # decisions made in this game
        self.gains: list[float] | None = None  # R3: the points, once the game has ended
        self.terminated = False
        self.truncated = False

        self.phase = OVER  # a Phase, as a plain int
        self.player: int | None = None  # the seat to act
        self.legal = 0  # set of action ids
        self.turn_player = 0  # the seat whose turn it is
        self.semester = 1  # 1, 2, and 3 after the second special

        self.deck: list[int] = []  # types, the next card last
        self.in_deck = 0  # counts
        self.front: list[int] = []  # [P] counts of the cards in front of each seat; the top byte: how many face-up
        self.victory: list[list[int]] = []  # [P] types, bottom to top
        self.piles: list[int] = []  # [P] counts of the victory piles; byte 6: points (S18); the top byte: how many
        self.tops: list[int] = []  # [P] the four topmost cards: 1 + type, or 0, in three bits each, the top lowest
        self.pool = 0  # counts
        self.discard_pile = 0  # counts

        # What a phase still has to do; all of it is 0 or empty at the start of a turn.
        self.stress_drawn = 0  # S7: stress cards drawn in this turn
        self.to_discard = 0  # S8: cards that `player` still owes the pool
        self.named = 0  # S12: set of the opponents (bit d: the d-th clockwise) that got stress in this turn
        self.claimed = 0  # S9: counts of an examination's cards that are not in the victory pile yet
        self.exam_types = 0  # S11: set of the cheat types that the examination named
        self.examinee: int | None = None
        self.asked = 0  # S11: how far clockwise from the examinee seats have been asked for practice
        self.closing = False  # S15, S17: a semester ends
        self.reached = 0  # S13: how far clockwise from the turn's seat the end of the semester has come

    # ------------------------------------------------------------------------------------------ set-up

    def deal(self, seed: int) -> None:
        """S3–S5. Start game `seed`."""
        self.seed = seed
        self.decisions = 0
        self.gains = None
        self.terminated = self.truncated = False
        self.semester = 1
        self.victory = [[] for _ in range(self.num_players)]
        self.piles = [0] * self.num_players
        self.tops = [0] * self.num_players
        self.pool = self.discard_pile = 0
        self._deal_start_cards()
        self._add_specials()
        first = chance.pick(chance.event_key(seed, 0, FIRST_PLAYER), range(self.num_players))  # S5
        self._begin_turn(first)

    def _deal_start_cards(self) -> None:
        """S3. Three face-up cards a seat, stress put aside and replaced; what is left is shuffled again."""
        cards = chance.shuffled_deck(chance.event_key(self.seed, 0, DEAL), len(ORDINARY))
        accepted = (card for card in cards if ORDINARY[card] != STRESS)
        start_cards = list(islice(accepted, START_CARDS * self.num_players))
        self.front = [
            sum(FACE_UP[ORDINARY[card]] for card in start_cards[START_CARDS * seat : START_CARDS * (seat + 1)])
            for seat in range(self.num_players)
        ]
        self.in_deck = ALL_CARDS - sum(cards & FACE_UP_TYPES for cards in self.front)
        order = chance.shuffled_deck(chance.event_key(self.seed, 0, SECOND_SHUFFLE), len(ORDINARY))
        dealt = frozenset(start_cards)  # without them, the others are in random order too
        self.deck = [ORDINARY[card] for card in order[::-1] if card not in dealt]

    def _add_specials(self) -> None:
        """S4. One with ten cards under it, the other near the middle."""
        self.deck.insert(CARDS_UNDER_LAST_SPECIAL, SPECIAL)
        length = len(self.deck)
        shift = chance.pick(chance.event_key(self.seed, 0, MIDDLE), range(2 * SPREAD + 1)) - SPREAD
        above = length // 2 + shift
        self.deck.insert(length - above, SPECIAL)

    # ------------------------------------------------------------------------------------------ decisions

    def step(self, action: int) -> None:
        """Play one decision of seat `player`. `action` is an id that is in `legal`: the caller has checked it."""
        self.gains = None
        self.decisions += 1
        phase = self.phase
        if action >= FIRST_EXAM:
            self._take_exam(action - FIRST_EXAM)
        elif action >= FIRST_STRESS:
            self._play_stress(action - FIRST_STRESS + 1)
        elif action >= FIRST_TYPE:
            self._choose_type(phase, action - FIRST_TYPE)
        elif action:
            self._stop(phase)
        else:
            self._draw()
        if self.decisions >= self.max_decisions and self.player is not None:
            self._truncate()

    def _stop(self, phase: int) -> None:
        """No more drawing (S7), no practice (S11), no more stress (S12), no examination (S15)."""
        if phase == PRACTICE:
            self._then_practice()
        elif phase == EXAM:
            self._then_exams()
        else:
            self._end_turn()

    def _choose_type(self, phase: int, kind: int) -> None:
        """A card by its type: S6, S8, S9, S10, S11 or S15, as the phase says."""
        seat = self.player
        assert seat is not None
        if phase == TURN:  # S6, A2
            self.pool -= ONE[kind]
            self.front[seat] += FACE_UP[kind]
            self._end_turn()
        elif phase == DISCARD:
            self.front[seat] -= FACE_UP[kind]
            self.pool += ONE[kind]
            self.to_discard -= 1
            self._then_discard(seat)
        elif phase == SIXTH:
            self._claim(seat, FACE_UP[kind])
            self._then_lay_jokers()
        elif phase == STACK:
            self.claimed -= ONE[kind]
            self._lay(seat, kind)
            self._then_stack()
        elif phase == PRACTICE:
            self.front[seat] -= FACE_UP[kind]
            self._lay(seat, kind)
            self._then_practice()
        else:  # KEEP
            self.front[seat] -= FACE_UP[kind]
            self.discard_pile += ONE[kind]
            self._then_keep()

    # ------------------------------------------------------------------------------------------ A: draw

    def _turn_up(self) -> int:
        """The type of the deck's top card, which leaves it."""
        kind = self.deck.pop()
        self.in_deck -= ONE[kind]
        return kind

    def _draw(self) -> None:
        """S7. The top card is turned up."""
        seat = self.turn_player
        kind = self._turn_up()
        if kind < STRESS:
            self.front[seat] += FACE_UP[kind]
            self._ask(DRAW, seat)
        elif kind == STRESS:
            self.front[seat] += ONE[STRESS]
            self.stress_drawn += 1
            self.to_discard = self.stress_drawn
            self._then_discard(seat)
        else:
            self._special()

    def _then_discard(self, seat: int) -> None:
        """S8. The seat owes the pool `to_discard` face-up cards of its choice; with fewer or as many all go, and with fewer
        one card from the top of the victory pile."""
        cards, owed = self.front[seat], self.to_discard
        if owed:
            held, types = cards >> IN_ALL, TYPES_OF[cards + FILL & PRESENT]
            if held > owed and len(types) > 1:
                self._ask(DISCARD, seat)
                return
            if held < owed and self.victory[seat]:
                self._lose_top(seat)
            gone = cards & FACE_UP_TYPES if held <= owed else owed * ONE[types[0]]
            self.front[seat] = cards - gone - (min(held, owed) << IN_ALL)
            self.pool += gone
            self.to_discard = 0
        if self.named:
            self._then_relax()
        elif self.stress_drawn == 1:
            self._ask(DRAW, self.turn_player)
        else:
            self._end_turn()

    def _lose_top(self, seat: int) -> None:
        """S8. The topmost card of a victory pile goes to the pool."""
        kind = self.victory[seat].pop()
        pile = self.piles[seat] - FACE_UP[kind]
        if kind != JOKER:
            pile -= GAIN[pile >> 8 * kind & BYTE]
        self.piles[seat] = pile
        self.tops[seat] = _tops(self.victory[seat])
        self.pool += ONE[kind]

    # ------------------------------------------------------------------------------------------ B: examinations

    def _take_exam(self, exam: int) -> None:
        """S9. Three cards need luck, four are enough, five bring a sixth."""
        seat = self.player
        assert seat is not None
        size = EXAM_SIZE[exam]
        if size == 3:
            kind = self._turn_up()
            if kind == SPECIAL:
                self._special()
                return
            if kind == STRESS:  # it fails
                self.front[seat] += ONE[STRESS]
                if self.closing:
                    self._then_exams()
                else:
                    self._end_turn()
                return
            self.pool += ONE[kind]
        self.examinee = seat
        self.exam_types = EXAM_TYPES[exam]
        self._claim(seat, EXAM_CARDS[exam])
        if size == 5:
            self._then_sixth()
        else:
            self._then_lay_jokers()

    def _claim(self, seat: int, cards: int) -> None:
        """Face-up cards (counts, and in the top byte how many) are on their way to the victory pile."""
        self.front[seat] -= cards
        self.claimed += cards & FACE_UP_TYPES

    def _then_sixth(self) -> None:
        """S9. One more of the remaining face-up cards, if there is one."""
        seat = self.examinee
        assert seat is not None
        types = TYPES_OF[self.front[seat] + FILL & PRESENT]
        if len(types) > 1:
            self._ask(SIXTH, seat)
            return
        if types:
            self._claim(seat, FACE_UP[types[0]])
        self._then_lay_jokers()

    def _then_lay_jokers(self) -> None:
        """S10. Jokers go to the very bottom of the victory pile."""
        seat = self.examinee
        assert seat is not None
        jokers = self.claimed >> JOKERS_AT
        if jokers:
            self.victory[seat][:0] = [JOKER] * jokers
            self.tops[seat] = _tops(self.victory[seat])
            self.piles[seat] += jokers * FACE_UP[JOKER]
            self.claimed -= jokers * ONE[JOKER]
        self._then_stack()

    def _then_stack(self) -> None:
        """S10. The cheat cards go on top, in the seat's order, or in order of falling value."""
        seat = self.examinee
        assert seat is not None
        types: Sequence[int] = TYPES_OF[self.claimed + FILL & PRESENT]
        if len(types) > 1:
            if self.rules.stack == "choose":
                self._ask(STACK, seat)
                return
            types = sorted(types, key=lambda t: -self._marginal_value(seat, t))  # stable: ties by lower type
        for kind in types:
            for _ in range(self.claimed >> 8 * kind & BYTE):
                self._lay(seat, kind)
        self.claimed = self.asked = 0
        self._then_practice()

    def _marginal_value(self, seat: int, kind: int) -> int:
        """S10. What the type would lose if one card of it left the pile after this examination."""
        count = (self.piles[seat] + self.claimed) >> 8 * kind & BYTE
        return POINTS[count] - POINTS[count - 1]

    def _lay(self, seat: int, kind: int) -> None:
        """A cheat card on top of a victory pile, which is worth more then (S18)."""
        pile = self.piles[seat]
        self.piles[seat] = pile + FACE_UP[kind] + GAIN[pile >> 8 * kind & BYTE]
        self.victory[seat].append(kind)
        self.tops[seat] = (self.tops[seat] << 3 | kind + 1) & TOPS_MASK

    def _then_practice(self) -> None:
        """S11. The others without stress, clockwise, may lay a card of a type that the examination named."""
        assert self.examinee is not None
        while self.asked + 1 < self.num_players:
            self.asked += 1
            seat = (self.examinee + self.asked) % self.num_players
            if not self.front[seat] & STRESS_CARDS and self._practice_actions(seat):
                self._ask(PRACTICE, seat)
                return
        self.examinee = None
        self.exam_types = self.asked = 0
        if self.closing:
            self._then_exams()
        else:
            self._end_turn()

    def _practice_actions(self, seat: int) -> int:
        return TYPE_ACTIONS[self.front[seat] + FILL & PRESENT] & self.exam_types << FIRST_TYPE

    # ------------------------------------------------------------------------------------------ C: stress

    def _play_stress(self, distance: int) -> None:
        """S12. A stress card against the opponent that sits so far clockwise; it discards one card."""
        seat = self.turn_player
        self.front[seat] -= ONE[STRESS]
        self.discard_pile += ONE[STRESS]
        self.named |= 1 << distance
        self.to_discard = 1
        self._then_discard((seat + distance) % self.num_players)

    def _then_relax(self) -> None:
        """S12. Another stress card against an opponent not yet named, if there are both."""
        if self._stress_actions():
            self._ask(RELAX, self.turn_player)
        else:
            self._end_turn()

    def _stress_actions(self) -> int:
        if not self.front[self.turn_player] & STRESS_CARDS:
            return 0
        return STRESS_ACTIONS[self.num_players][self.named]

    # ------------------------------------------------------------------------------------------ turns and semesters

    def _begin_turn(self, seat: int) -> None:
        """S5, S14. A turn either takes a card from the deck or the pool or lays cards on victory piles (which they leave for
        the pool only by a stress card from the deck), or plays a stress card: so each game ends."""
        self.turn_player = seat
        self.stress_drawn = self.to_discard = self.named = 0
        self.exam_types = self.asked = self.reached = 0
        self.examinee = None
        self.closing = False
        self.claimed = 0
        self._ask(TURN, seat)

    def _end_turn(self) -> None:
        """S14."""
        seat = self.turn_player + 1
        self._begin_turn(seat if seat < self.num_players else 0)

    def _special(self) -> None:
        """S15, S17. A special ends the turn at once, and the semester."""
        self.discard_pile += ONE[SPECIAL]
        self.semester += 1
        self.stress_drawn = 0
        self.closing = True
        self.reached = -1
        self._then_exams()

    def _then_exams(self) -> None:
        """S15 (1), S17. Each seat without stress that can take an examination may take one, in order (S13)."""
        while self.reached + 1 < self.num_players:
            self.reached += 1
            seat = (self.turn_player + self.reached) % self.num_players
            cards = self.front[seat]
            if not cards & STRESS_CARDS and _exams(cards):
                self._ask(EXAM, seat)
                return
        if self.semester == 3:
            self._end_game()
        else:
            self._then_clear()

    def _then_clear(self) -> None:
        """S15 (2), (3). Stress cards and the pool go to the discard pile."""
        self.discard_pile += sum(cards & STRESS_CARDS for cards in self.front) + self.pool
        self.front = [cards & ~STRESS_CARDS for cards in self.front]
        self.pool = 0
        self.reached = 0
        self._then_keep()

    def _then_keep(self) -> None:
        """S15 (4). Each seat with more than three face-up cards discards until three are left."""
        while self.reached < self.num_players:
            seat = (self.turn_player + self.reached) % self.num_players
            cards = self.front[seat]
            extra, types = (cards >> IN_ALL) - KEPT_CARDS, TYPES_OF[cards + FILL & PRESENT]
            if extra > 0 and len(types) > 1:
                self._ask(KEEP, seat)
                return
            if extra > 0:
                self.front[seat] -= extra * FACE_UP[types[0]]
                self.discard_pile += extra * ONE[types[0]]
            self.reached += 1
        self._end_turn()

    # ------------------------------------------------------------------------------------------ what is legal

    def _ask(self, phase: int, seat: int) -> None:
        """Put the next decision to a seat."""
        self.phase = phase
        self.player = seat
        if phase == TURN:
            cards = self.front[seat]
            self.legal = (
                TO_DRAW
                | TYPE_ACTIONS[self.pool + FILL & PRESENT]
                | (self._stress_actions() if cards & STRESS_CARDS else _exams(cards))
            )
        elif phase == DRAW:
            self.legal = TO_DRAW | TO_STOP
        elif phase == STACK:
            self.legal = TYPE_ACTIONS[self.claimed + FILL & PRESENT]
        elif phase == PRACTICE:
            self.legal = TO_STOP | self._practice_actions(seat)
        elif phase == RELAX:
            self.legal = TO_STOP | self._stress_actions()
        elif phase == EXAM:
            self.legal = TO_STOP | _exams(self.front[seat])
        else:  # DISCARD, SIXTH, KEEP
            self.legal = TYPE_ACTIONS[self.front[seat] + FILL & PRESENT]

    # ------------------------------------------------------------------------------------------ the end

    @property
    def scores(self) -> list[int]:
        """S18. Points of the victory piles; cards that are claimed or face-up count nothing."""
        return [pile >> POINTS_AT & BYTE for pile in self.piles]

    def standing(self) -> list[tuple[int, int]]:
        """S19. Every seat's place in the final order, the lower the better: points, then cards in the victory pile."""
        return [(-score, -len(pile)) for score, pile in zip(self.scores, self.victory, strict=True)]

    def _end_game(self) -> None:
        """S17. The game is over after the final examinations."""
        self.terminated = True
        self.gains = [float(score) for score in self.scores]
        self._finish()

    def _finish(self) -> None:
        """R7."""
        self.phase = OVER
        self.player = None
        self.legal = 0

    def _truncate(self) -> None:
        """R6. The game has run for too long; the rewards of this step are 0."""
        self.truncated = True
        self.gains = None
        self._finish()

    # ------------------------------------------------------------------------------------------ hidden cards

    def resample(self, seat: int, key: int) -> None:
        """S20. Redraw the deck's order, which no seat knows: uniformly over the orders that the set-up allows (S4: ten cards
        under the last special, the first one near the middle); a fresh game seed."""
        self.seed = chance.derive(chance.DOMAIN_ROW, key, 0)
        specials = [place for place, kind in enumerate(self.deck) if kind == SPECIAL]  # counted from the bottom
        # Sorted, so that the draw depends on nothing but what the seat knows and its key.
        cards = sorted(kind for kind in self.deck if kind != SPECIAL)
        order = chance.shuffled(chance.derive(chance.DOMAIN_RESAMPLE, key, 0), range(len(cards)))
        deck = [cards[index] for index in order]
        if len(specials) == 2:
            places = self._first_special_places(specials)
            specials[1] = places[chance.pick(chance.derive(chance.DOMAIN_RESAMPLE, key, 1), range(len(places)))]
        for place in specials:
            deck.insert(place, SPECIAL)
        self.deck = deck

    def _first_special_places(self, specials: list[int]) -> list[int]:
        """S4. Where in the deck, counted from the bottom, the first special can be; in a deck made by hand that has it
        elsewhere: anywhere above the last one."""
        whole = len(ORDINARY) + 1 - START_CARDS * self.num_players  # cards when the first special went in
        middle = whole - whole // 2
        places = [place for place in range(middle - SPREAD, middle + SPREAD + 1) if place < len(self.deck)]
        return places if specials[1] in places else list(range(specials[0] + 1, len(self.deck)))

    # ------------------------------------------------------------------------------------------ positions

    def position(self) -> dict[str, Any]:
        """The whole state as a snapshot's plain values (the keys are listed in notation.py)."""
        return {
            "phase": Phase(self.phase).name.lower(),
            "player": self.player,
            "turn_player": self.turn_player,
            "semester": self.semester,
            "deck": self.deck[::-1],
            "face_up": [listed(cards) for cards in self.front],
            "stress": [cards >> STRESS_AT & BYTE for cards in self.front],
            "victory": [list(pile) for pile in self.victory],
            "pool": listed(self.pool),
            "discard_pile": listed(self.discard_pile, NUM_TYPES),
            "scores": self.scores,
            "claimed": listed(self.claimed),
            "decisions": self.decisions,
            "seed": self.seed,
            "stress_drawn": self.stress_drawn,
            "to_discard": self.to_discard,
            "named": bits.members(self.named),
            "examinee": self.examinee,
            "exam_types": bits.members(self.exam_types),
            "closing": self.closing,
            "truncated": self.truncated,
        }

    def set_position(self, position: dict[str, Any]) -> None:
        """Take over a position that `notation.checked_position` has checked and completed."""
        self.seed = position["seed"]
        self.decisions = position["decisions"]
        self.gains = None
        self.turn_player = position["turn_player"]
        self.semester = position["semester"]
        self.deck = list(position["deck"])[::-1]
        self.in_deck = sum(ONE[kind] for kind in self.deck)
        self.front = [
            packed(counts) + (stress << STRESS_AT) + (sum(counts) << IN_ALL)
            for counts, stress in zip(position["face_up"], position["stress"], strict=True)
        ]
        self.victory = [list(pile) for pile in position["victory"]]
        self.tops = [_tops(pile) for pile in self.victory]
        self.piles = [sum(FACE_UP[kind] for kind in pile) for pile in self.victory]
        for seat, pile in enumerate(self.piles):
            self.piles[seat] += sum(POINTS[count] for count in listed(pile, NUM_CHEATS)) << POINTS_AT
        self.pool = packed(position["pool"])
        self.discard_pile = packed(position["discard_pile"])
        self.claimed = packed(position["claimed"])
        self.stress_drawn = position["stress_drawn"]
        self.to_discard = position["to_discard"]
        self.named = bits.set_of(position["named"])
        self.examinee = position["examinee"]
        self.exam_types = bits.set_of(position["exam_types"])
        self.closing = position["closing"]
        phase, seat = int(Phase[position["phase"].upper()]), position["player"]
        self.asked = (seat - self.examinee) % self.num_players if phase == PRACTICE else 0
        at = seat if phase in (EXAM, KEEP) else self.examinee
        self.reached = (at - self.turn_player) % self.num_players if self.closing and at is not None else 0
        if phase == OVER:
            self._finish()
        else:
            self._ask(phase, seat)
        self.truncated = position["truncated"]
        self.terminated = phase == OVER and not self.truncated


def _tops(pile: list[int]) -> int:
    """The topmost cards of a victory pile."""
    return sum(kind + 1 << 3 * place for place, kind in enumerate(pile[: -TOP_CARDS - 1 : -1]))


def _exams(cards: int) -> int:
    """S9. The examinations that these cards allow, as a set of action ids."""
    return EXAM_ACTIONS[cards >> JOKERS_AT & BYTE][cards + FILL & CHEATS_PRESENT]
