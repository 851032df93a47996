"""Easy Peasy, one game, rule by rule, next to the rulebook.

Sets of cards are Python ints: bit c is card c. A Row pile is the set of its one or two cards; which cards of all Rows are
face-up is one set more, so that to flip a pile is to toggle its cards in that set.

    P seats 0 … n−1      clockwise is +1 modulo n
    pile 0, 1            of a seat's Row, and of the discards
    lanes                in a number for all Row piles: pile p of seat s has lane 2s + p
"""

from __future__ import annotations

from typing import Any, Final

from easyenvs.core import bits, chance
from easyenvs.peasy_v0.cards import (
    AT_LEAST,
    AT_MOST,
    CARDS_PER_FLIP,
    DISCARD_PILES,
    FIRST_PLAY,
    HAND_SIZE,
    NUM_ACTIONS,
    NUM_CARDS,
    OF_COLOUR,
    ROW_PILES,
    VALUE_PLANES,
    Action,
    Direction,
    Phase,
    cards_in_play,
    colour_of,
    value_of,
)
from easyenvs.peasy_v0.options import Rules

# Random events of a round, for chance.event_key: the deal, the draw among tied first players, then the reshuffles.
DEAL: Final = 0
FIRST_PLAYER: Final = 1
FIRST_RESHUFFLE: Final = 2

PLAY_SHIFT: Final = tuple(FIRST_PLAY + NUM_CARDS * pile for pile in range(DISCARD_PILES))
FLIP_IS_LEGAL: Final = 1 << Action.FLIP
DIRECTION_IS_LEGAL: Final = 1 << Action.UP | 1 << Action.DOWN
PASS_IS_LEGAL: Final = 1 << Action.PASS
TURN_0_IS_LEGAL: Final = 1 << Action.TURN_0
TURN_1_IS_LEGAL: Final = 1 << Action.TURN_1

COVERS: Final = {
    Direction.UP: tuple(AT_LEAST[value_of(card)] for card in range(NUM_CARDS)),
    Direction.DOWN: tuple(AT_MOST[value_of(card)] for card in range(NUM_CARDS)),
}
"""P6. COVERS[direction][top]: the cards that may be played on the card `top`."""

SAME_COLOUR: Final = tuple(OF_COLOUR[colour_of(card)] for card in range(NUM_CARDS))
OPPOSITE: Final = {Direction.UP: Direction.DOWN, Direction.DOWN: Direction.UP}

# Plain names for what every step compares: a look-up in an enum class costs as much as the comparison itself.
DIRECTION, TURN, PLAY, BONUS, OVER = Phase
UP, DOWN, PASS, FLIP, TURN_0, TURN_1 = map(int, Action)
NO_CARDS: Final = (0, 0)
CARDS_PER_SEAT: Final = 2 * ROW_PILES + HAND_SIZE  # P3


class Game:
    """One game of Easy Peasy. `deal` starts it; `step` plays one decision of seat `player`."""

    # As a plain class it would have more attributes than Python looks up by position.
    __slots__ = (
        "bonus_pile",
        "buried",
        "decisions",
        "deck",
        "direction",
        "face_up",
        "flips",
        "fresh",
        "gains",
        "hand",
        "hidden",
        "known_row",
        "last_scores",
        "legal",
        "max_decisions",
        "next_seat",
        "num_actions",
        "num_cards",
        "num_players",
        "phase",
        "pile",
        "player",
        "public",
        "reshuffles",
        "round",
        "round_scores",
        "row",
        "rules",
        "seed",
        "terminated",
        "tops",
        "totals",
        "truncated",
    )

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.num_players = rules.num_players
        self.num_actions = NUM_ACTIONS
        self.next_seat = [*range(1, rules.num_players), 0]  # clockwise
        self.max_decisions = rules.max_decisions
        self.num_cards = cards_in_play(rules.num_players)
        self.deck = (1 << self.num_cards) - 1  # P2: the cards in play

        self.seed = 0
        self.decisions = 0  # decisions made in this game
        self.round = 0  # 0-based
        self.totals: list[int] = []  # by seat
        self.round_scores: list[list[int]] = []  # of the finished rounds, by seat
        self.last_scores: list[int] = []  # of the last finished round, 0 before
        self.gains: list[float] | None = None  # R3: points of the round that the last step ended, more is better
        self.terminated = False
        self.truncated = False

        self.phase = OVER
        self.player: int | None = None  # the seat to act
        self.legal = 0  # set of action ids
        self.direction = Direction.NONE
        self.flips = 0  # flips of the Up&Down card in this turn
        self.bonus_pile: int | None = None  # the discard pile that a bonus is bound to

        self.hand: list[int] = []  # [P] sets
        self.row: list[tuple[int, int]] = []  # [P][2] sets: the cards of each Row pile
        self.face_up = 0  # the Row cards, of all seats, that lie face-up
        self.public = 0  # cards that everyone sees or remembers: discards, Row cards that are or were face-up (P13)
        self.known_row = 0  # P13: the Row cards in `public`, in lanes of `num_cards` bits
        self.hidden = 0  # P13: which Row piles hold a card that has never been face-up, in lanes of one bit
        self.tops = [0, 0]  # card ids
        self.buried = 0  # the discards under both tops
        self.pile: list[int] = []  # the draw pile, next card last
        self.fresh = 0  # P13: the cards of the draw pile when it was last formed
        self.reshuffles = 0  # of this round

    # ------------------------------------------------------------------------------------------ rounds

    def deal(self, seed: int) -> None:
        """Start game `seed`."""
        self.seed = seed
        self.decisions = self.round = 0
        self.totals = [0] * self.num_players
        self.last_scores = [0] * self.num_players
        self.round_scores = []
        self.gains = None
        self.terminated = self.truncated = False
        self._deal_round()

    def _deal_round(self) -> None:
        """P3. Rows of two piles, hands of four, two discard piles; the rest is the draw pile."""
        cards = chance.shuffled_deck(chance.event_key(self.seed, self.round, DEAL), self.num_cards)
        self.hand, self.row, self.face_up, self.known_row = [], [], 0, 0
        for seat in range(self.num_players):
            first = CARDS_PER_SEAT * seat
            down_0, down_1, up_0, up_1, *hand = [1 << card for card in cards[first : first + CARDS_PER_SEAT]]
            self.row.append((down_0 | up_0, down_1 | up_1))
            self.face_up |= up_0 | up_1
            self.known_row |= (up_0 | up_1 << self.num_cards) << self._lane(seat, 0)
            self.hand.append(sum(hand))
        self.hidden = (1 << ROW_PILES * self.num_players) - 1
        rest = cards[CARDS_PER_SEAT * self.num_players :]
        self.tops = rest[:DISCARD_PILES]
        self.pile = rest[: DISCARD_PILES - 1 : -1]
        self.public = self.face_up | 1 << self.tops[0] | 1 << self.tops[1]
        self.buried = self.reshuffles = 0
        self.fresh = self.deck
        self.direction = Direction.NONE
        self.player = self._first_player()
        self._ask_direction()

    def _first_player(self) -> int:
        """P4. Most points so far (none in round 1), then the highest face-up Row cards, then chance."""
        strength = [(self.totals[seat], points(self._row(seat) & self.face_up)) for seat in range(self.num_players)]
        most = max(strength)
        tied = [seat for seat in range(self.num_players) if strength[seat] == most]
        if len(tied) == 1:
            return tied[0]
        return chance.pick(chance.event_key(self.seed, self.round, FIRST_PLAYER), tied)

    def _end_round(self, ender: int) -> None:
        """P15. Score the round; then the next one, or the end of the game (P16)."""
        in_hand = [points(cards) for cards in self.hand]
        in_row = [points(row_0 | row_1) for row_0, row_1 in self.row]
        scores = list(map(max, in_hand, in_row))
        rest = in_hand[ender] + in_row[ender]
        lowest_other = min(scores[:ender] + scores[ender + 1 :])
        scores[ender] = 0 if rest < lowest_other else 2 * rest

        self.round_scores.append(scores)
        self.last_scores = scores
        self.totals = [total + score for total, score in zip(self.totals, scores, strict=True)]
        self.gains = [-score for score in scores]
        if self._is_last_round():
            self.terminated = True
            self._end_game()
        elif self.decisions >= self.max_decisions:
            self._truncate()
        else:
            self.round += 1
            self._deal_round()

    def _is_last_round(self) -> bool:
        """P16. The round that was just scored was the last one."""
        if self.rules.target_score is not None:
            return max(self.totals) >= int(self.rules.target_score)
        return self.round + 1 == self.rules.num_rounds

    def standing(self) -> list[tuple[int, int]]:
        """P17. Every seat's place in the final order, the lower the better: total, then the last round's score."""
        return list(zip(self.totals, self.last_scores, strict=True))

    @property
    def scores(self) -> list[int]:
        """The totals so far."""
        return list(self.totals)

    # ------------------------------------------------------------------------------------------ decisions

    def step(self, action: int) -> None:
        """Play one decision of seat `player`. `action` is an id that is in `legal`: the caller has checked it."""
        self.gains = None
        self.decisions += 1
        if action >= FIRST_PLAY + NUM_CARDS:
            self._play(action - FIRST_PLAY - NUM_CARDS, 1)
        elif action >= FIRST_PLAY:
            self._play(action - FIRST_PLAY, 0)
        elif action == FLIP:
            self._flip()
        elif action == PASS:
            self._end_turn()
        elif action >= TURN_0:
            self._turn_pile(action - TURN_0)
        else:
            self._choose(Direction.UP if action == UP else Direction.DOWN)
        if self.decisions >= self.max_decisions and self.player is not None:
            self._truncate()

    def _choose(self, direction: Direction) -> None:
        """P5. The first player sets the Up&Down card, then takes the first turn."""
        self.direction = direction
        self._ask_turn()

    def _play(self, card: int, pile: int) -> None:
        """P7, P10. A card from the hand or the face-up Row goes on a discard pile; a colour match may earn a bonus."""
        seat = self.player
        assert seat is not None
        bit = 1 << card
        hand = self.hand
        if hand[seat] & bit:
            hand[seat] ^= bit
        else:  # P11: what lies under it stays face-down
            row_0, row_1 = self.row[seat]
            self.row[seat] = (row_0 & ~bit, row_1 & ~bit)
            self.face_up ^= bit
            self.known_row ^= bit << self._lane(seat, 0 if row_0 & bit else 1)
        tops = self.tops
        covered = tops[pile]
        tops[pile] = card
        self.buried |= 1 << covered
        self.public |= bit
        if SAME_COLOUR[covered] & bit:
            bonus = self._bonus_actions(pile)
            if bonus:
                self._ask_bonus(pile, bonus)
                return
        self._end_turn()

    def _flip(self) -> None:
        """P7, P8. The direction is reversed, the seat draws two cards and must play."""
        seat = self.player
        assert seat is not None
        self.direction = OPPOSITE[self.direction]
        self._draw(seat, CARDS_PER_FLIP)
        self.flips += 1
        self._ask_play()

    def _draw(self, seat: int, count: int) -> None:
        """P9. Top cards of the draw pile; an empty one is made anew, if there is anything to shuffle."""
        for _ in range(count):
            if not self.pile and self.buried:
                self._reshuffle()
            if self.pile:
                self.hand[seat] |= 1 << self.pile.pop()

    def _reshuffle(self) -> None:
        """P9, P13. All discards but the two tops become the draw pile, and everyone knows which cards those are."""
        key = chance.event_key(self.seed, self.round, FIRST_RESHUFFLE + self.reshuffles)
        self.pile = chance.shuffled(key, bits.members(self.buried))[::-1]
        self.fresh = self.buried
        self.public ^= self.buried
        self.buried = 0
        self.reshuffles += 1

    def _turn_pile(self, pile: int) -> None:
        """P11. Two cards change places, a single face-down card turns up; a card turned down is known to all (P13)."""
        seat = self.player
        assert seat is not None
        cards = self.row[seat][pile]
        self.face_up ^= cards
        self.public |= cards
        self.known_row |= cards << self._lane(seat, pile)
        self.hidden &= ~(1 << ROW_PILES * seat + pile)
        self._end_turn()

    def _end_turn(self) -> None:
        """P14. An empty hand or Row ends the round; otherwise the next seat clockwise takes its turn."""
        seat = self.player
        assert seat is not None
        if not self.hand[seat] or self.row[seat] == NO_CARDS:
            self._end_round(ender=seat)
        else:
            self.player = self.next_seat[seat]
            self._ask_turn()

    # ------------------------------------------------------------------------------------------ what is legal

    def _ask(self, phase: Phase, bonus_pile: int | None = None) -> None:
        """Put the decision of a phase to seat `player`."""
        if phase is TURN:
            self._ask_turn()
        elif phase is PLAY:
            self._ask_play()
        elif phase is BONUS:
            assert bonus_pile is not None
            self._ask_bonus(bonus_pile, self._bonus_actions(bonus_pile))
        else:
            self._ask_direction()

    def _ask_direction(self) -> None:
        """P5. Up or down."""
        self.phase, self.bonus_pile, self.flips = DIRECTION, None, 0
        self.legal = DIRECTION_IS_LEGAL

    def _ask_turn(self) -> None:
        """P7. Play a card, or flip the Up&Down card."""
        self.phase, self.bonus_pile, self.flips = TURN, None, 0
        self.legal = self._plays() | FLIP_IS_LEGAL

    def _ask_play(self) -> None:
        """P8. After a flip a card has to be played; only who can't flips again."""
        self.phase, self.bonus_pile = PLAY, None
        self.legal = self._plays() or FLIP_IS_LEGAL

    def _ask_bonus(self, pile: int, actions: int) -> None:
        """P10. One of the bonus's `actions`, or none."""
        self.phase, self.bonus_pile = BONUS, pile
        self.legal = actions | PASS_IS_LEGAL

    def _plays(self) -> int:
        """P6. The legal actions that play a card, of the hand or the face-up Row, on either pile that it covers."""
        seat = self.player
        assert seat is not None
        row_0, row_1 = self.row[seat]
        cards = self.hand[seat] | (row_0 | row_1) & self.face_up
        covers, (top_0, top_1) = COVERS[self.direction], self.tops
        return (cards & covers[top_0] | (cards & covers[top_1]) << NUM_CARDS) << FIRST_PLAY

    def _bonus_actions(self, pile: int) -> int:
        """P10. A bonus's actions but for passing: (a) another card on the same pile, (b) a Row pile to flip."""
        seat = self.player
        assert seat is not None
        row_0, row_1 = self.row[seat]
        face_up = self.face_up
        cards = self.hand[seat] | (row_0 | row_1) & face_up
        actions = (cards & COVERS[self.direction][self.tops[pile]]) << PLAY_SHIFT[pile]
        if row_0 & ~face_up:  # P11: a single face-up card cannot be flipped
            actions |= TURN_0_IS_LEGAL
        if row_1 & ~face_up:
            actions |= TURN_1_IS_LEGAL
        return actions

    def _row(self, seat: int) -> int:
        """All cards of a seat's Row, face-up and face-down."""
        row_0, row_1 = self.row[seat]
        return row_0 | row_1

    def _lane(self, seat: int, pile: int) -> int:
        """Where a Row pile's cards begin in `known_row`."""
        return (ROW_PILES * seat + pile) * self.num_cards

    # ------------------------------------------------------------------------------------------ the end

    def _end_game(self) -> None:
        """R7."""
        self.phase = OVER
        self.player = self.bonus_pile = None
        self.legal = 0

    def _truncate(self) -> None:
        """R6. The game has run for too long; the rewards of this step are 0."""
        self.truncated = True
        self.gains = None
        self._end_game()

    # ------------------------------------------------------------------------------------------ hidden cards

    def resample(self, seat: int, key: int) -> None:
        """P13. Redraw what `seat` can't see, uniformly over the states that give it the same view; a fresh game seed."""
        self.seed = chance.derive(chance.DOMAIN_ROW, key, 0)
        unseen = self.deck & ~(self.hand[seat] | self.public)
        fresh_in_hand = [(hand & self.fresh).bit_count() for hand in self.hand]
        old_in_hand = [(hand & ~self.fresh).bit_count() for hand in self.hand]
        hidden = [[cards & ~self.public != 0 for cards in row] for row in self.row]
        attempt = 0
        while True:
            draw = chance.derive(chance.DOMAIN_RESAMPLE, key, attempt)
            fresh, old = (
                iter(chance.shuffled(chance.derive(chance.DOMAIN_EVENT, draw, event), bits.members(group)))
                for event, group in enumerate((unseen & self.fresh, unseen & ~self.fresh))
            )
            for other in range(self.num_players):
                if other != seat:
                    cards = [next(fresh) for _ in range(fresh_in_hand[other])]
                    cards += [next(old) for _ in range(old_in_hand[other])]
                    self.hand[other] = bits.set_of(cards)
                row_0, row_1 = (
                    cards & self.public | (1 << next(old if self.reshuffles else fresh) if is_hidden else 0)
                    for cards, is_hidden in zip(self.row[other], hidden[other], strict=True)
                )
                self.row[other] = (row_0, row_1)
            self.pile = list(fresh)[::-1]
            if self._is_possible():
                break
            attempt += 1
        if self.player is not None:
            flips = self.flips
            self._ask(self.phase, self.bonus_pile)
            self.flips = flips

    def _is_possible(self) -> bool:
        """What the phase says of the acting seat's cards, which the others don't see: a bonus is asked only where there
        is one (P10), and after two flips some card can be played (P8)."""
        if self.phase is BONUS:
            assert self.bonus_pile is not None
            return self._bonus_actions(self.bonus_pile) != 0
        return self.phase is not PLAY or self.flips < 2 or self._plays() != 0

    # ------------------------------------------------------------------------------------------ positions

    def position(self) -> dict[str, Any]:
        """The whole state as a snapshot's plain values (the keys are listed in notation.py)."""
        return {
            "phase": self.phase.name.lower(),
            "player": self.player,
            "direction": None if self.direction == Direction.NONE else self.direction.name.lower(),
            "draw_pile": self.pile[::-1],
            "tops": list(self.tops),
            "buried": bits.members(self.buried),
            "hands": [bits.members(hand) for hand in self.hand],
            "rows": [
                [
                    {
                        "up": bits.member_of(cards & self.face_up),
                        "down": bits.member_of(cards & ~self.face_up),
                        "known": cards & ~self.face_up & self.public != 0,
                    }
                    for cards in row
                ]
                for row in self.row
            ],
            "bonus_pile": self.bonus_pile,
            "flips": self.flips,
            "round": self.round,
            "totals": list(self.totals),
            "round_scores": [list(scores) for scores in self.round_scores],
            "decisions": self.decisions,
            "seed": self.seed,
            "fresh": bits.members(self.fresh),
            "reshuffles": self.reshuffles,
            "truncated": self.truncated,
        }

    def set_position(self, position: dict[str, Any]) -> None:
        """Take over a position that `notation.checked_position` has checked and completed."""
        self.seed = position["seed"]
        self.decisions = position["decisions"]
        self.round = position["round"]
        self.totals = list(position["totals"])
        self.round_scores = [list(scores) for scores in position["round_scores"]]
        self.last_scores = list(position["round_scores"][-1]) if position["round_scores"] else [0] * self.num_players
        self.gains = None
        direction = position["direction"]
        self.direction = Direction.NONE if direction is None else Direction[direction.upper()]
        self.hand = [bits.set_of(cards) for cards in position["hands"]]
        self.row = [(_pile_set(pile_0), _pile_set(pile_1)) for pile_0, pile_1 in position["rows"]]
        piles = [pile for row in position["rows"] for pile in row]
        self.face_up = bits.set_of(pile["up"] for pile in piles if pile["up"] is not None)
        self.tops = list(position["tops"])
        self.buried = bits.set_of(position["buried"])
        known = bits.set_of(pile["down"] for pile in piles if pile["known"])
        self.public = self.buried | bits.set_of(self.tops) | self.face_up | known
        self.known_row = self.hidden = 0
        for seat, row in enumerate(self.row):
            for pile, cards in enumerate(row):
                self.known_row |= (cards & self.public) << self._lane(seat, pile)
                self.hidden |= (cards & ~self.public != 0) << ROW_PILES * seat + pile
        self.pile = list(position["draw_pile"])[::-1]
        self.fresh = bits.set_of(position["fresh"])
        self.reshuffles = position["reshuffles"]
        self.player = position["player"]
        phase = Phase[position["phase"].upper()]
        if phase is OVER:
            self._end_game()
        else:
            self._ask(phase, position["bonus_pile"])
        self.flips = position["flips"]
        self.truncated = position["truncated"]
        self.terminated = phase is OVER and not self.truncated


def points(cards: int) -> int:
    """The sum of the cards' values."""
    plane_0, plane_1, plane_2, plane_3 = VALUE_PLANES
    return (
        (cards & plane_0).bit_count()
        + 2 * (cards & plane_1).bit_count()
        + 4 * (cards & plane_2).bit_count()
        + 8 * (cards & plane_3).bit_count()
    )


def _pile_set(pile: dict[str, Any]) -> int:
    """The cards of a snapshot's Row pile."""
    return bits.set_of(card for card in (pile["up"], pile["down"]) if card is not None)
