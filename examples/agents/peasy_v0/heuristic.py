"""Heuristic: look at every way to finish the turn (`_turns.py`), and take the one with the most promising position.

Promising means: the points by which the others are expected to finish the round above the seat. A line that ends the round
is scored by what ending brings (P15): nothing if the seat is strictly lowest, which is the less likely the more points it
keeps and the fewer cards the others hold, and the double otherwise. Any other line is scored by a weighted sum of what makes
a position good or bad; `WEIGHTS` names each and says why. The weights are the least-squares fit of how rounds went on from
such positions when this agent played itself, with 2 and with 4 players.

    M decisions  P seats  K lines
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from easyenvs.core.arrays import F64, U64, Index
from easyenvs.core.policies import Decisions
from easyenvs.peasy_v0.cards import AT_LEAST, AT_MOST, Direction

from ._tools import MEAN_VALUE, SAME_COLOUR, hidden_cards, points, row_known
from ._turns import COVERS, Lines, choose

WEIGHTS: Final = {
    "constant": -3.105,
    # Own points. The larger of hand and Row scores (P15), but whoever wants to end the round has to get rid of both.
    "hand points": -0.134,
    "face-up points": -0.329,
    "known face-down points": -0.694,  # worse: they can't be played before a bonus turns them up
    "larger total": -0.203,
    "hidden cards": -4.449,  # worst: unknown points under the Row, of which only a bonus gets rid
    "turned up": 2.845,  # one of those, turned up in this turn, takes most of that back
    # Own way to the end of the round.
    "hand cards": -0.837,
    "lone face-down piles": 0.564,  # a bonus turns these up at no price
    "easy cards": 0.652,  # high ones while the direction is UP, low ones while it is DOWN
    "hard cards": 0.503,  # … and the opposite, for when somebody flips it
    "matches": 0.031,  # cards that would open a bonus now
    "end by hand": -0.049,  # what ending the round would bring if only the Row were left
    "end by hand, one card": 0.07,  # … and the hand is down to one card
    # The others.
    "their hand cards": 1.65,
    "their Row cards": 1.487,
    "their score": 0.217,
    "their Row points": 0.29,
    "others with one card": 1.649,
    "threat": -0.13,  # points at risk to those with one card whose Row is likely to be lower
    "next can play": -0.763,  # face-up cards that the next seat could play: a direction that starves it is better
    "next can end": -0.1,  # points at risk if the next seat has one card and something to play
}

SPREAD: Final = 2.8  # standard deviation of an unknown card's value
KEPT_LOW: Final = 0.06  # players shed high cards: a hand is lighter by this share for every card each has played …
KEPT_LOW_CARDS: Final = 0.04  # … and for every card above three
ENOUGH_PLAYED: Final = 5.0

EASY_UP: Final = np.uint64(AT_LEAST[8])
EASY_DOWN: Final = np.uint64(AT_MOST[3])


def policy(d: Decisions) -> Index:
    """The first action of the most promising line -> intp [M]."""
    return choose(d, evaluate)


def evaluate(d: Decisions, lines: Lines) -> F64:
    """By how many points the others are expected to finish above the seat -> [K]."""
    others = Others(d)
    mine = Mine(d, lines, others)
    worth = np.zeros(len(lines))
    for name, value in features(d, lines, mine, others).items():
        worth += WEIGHTS[name] * value
    ends = (mine.hand_cards == 0) | (mine.row_cards == 0)  # P14
    return np.where(ends, others.worth_of_ending(lines.game, mine.hand + mine.row, mine.spread), worth)


class Others:
    """What the seat can tell of every seat's score from its cards' number, its known cards and the unseen ones."""

    def __init__(self, d: Decisions) -> None:
        view = d.view
        fresh, old = mean_value(view.unseen_fresh), mean_value(view.unseen_old)
        self.hidden_value = np.where(view.reshuffled != 0, old, fresh)  # P13
        size, fresh_cards = view.hand_size.astype(float), view.hand_fresh.astype(float)
        played = np.bitwise_count(view.buried) / d.num_players
        lighter = KEPT_LOW * np.minimum(np.where(view.reshuffled != 0, ENOUGH_PLAYED, played), ENOUGH_PLAYED)
        lighter = lighter + KEPT_LOW_CARDS * np.maximum(size - 3, 0) * (view.buried != 0)
        hidden = hidden_cards(view)
        known = row_known(view)
        self.hand_cards = size  # [P, M] and so on
        self.hand = (fresh_cards * fresh + (size - fresh_cards) * old) * (1 - lighter)
        self.hand_spread = SPREAD * np.sqrt(size)
        self.row_cards = np.bitwise_count(known) + hidden
        self.row = points(known) + hidden * self.hidden_value
        self.row_spread = SPREAD * np.sqrt(hidden)
        self.score = mean_of_larger(self.hand, self.hand_spread, self.row, self.row_spread)  # P15

    def chance_of_lowest(self, game: Index, rest: F64, spread: F64) -> F64:
        """The chance that every other seat's score is above `rest`: each one's larger total has to be -> [K]."""
        lowest = np.ones(len(game))
        for seat in range(1, len(self.hand)):
            hand_below = below(rest - self.hand[seat][game], np.hypot(self.hand_spread[seat][game], spread))
            row_below = below(rest - self.row[seat][game], np.hypot(self.row_spread[seat][game], spread))
            lowest *= 1 - hand_below * row_below
        return lowest

    def worth_of_ending(self, game: Index, rest: F64, spread: F64) -> F64:
        """P15. Ending the round with so many points left: the others' score, less twice the rest unless lowest -> [K]."""
        lost = 1 - self.chance_of_lowest(game, rest, spread)
        worth: F64 = self.score[1:].mean(axis=0)[game] - 2 * rest * lost
        return worth


class Mine:
    """The seat's own cards at the end of each line, all [K]."""

    def __init__(self, d: Decisions, lines: Lines, others: Others) -> None:
        game, view = lines.game, d.view
        down = [view.known_down[0, pile][game] for pile in (0, 1)]
        hidden = [view.hidden_down[0, pile][game] for pile in (0, 1)]
        self.hidden = hidden_cards(view)[0][game]
        known = lines.up_0 | lines.up_1 | down[0] | down[1]
        self.hand, self.hand_cards = points(lines.hand), np.bitwise_count(lines.hand).astype(float)
        self.row = points(known) + self.hidden * others.hidden_value[game]
        self.row_cards = np.bitwise_count(known) + self.hidden
        self.spread = np.sqrt(SPREAD**2 * self.hidden + 0.3)
        # P11. A flipped pile's known cards change places; a hidden card that turns up is a card all the same.
        self.up: list[U64] = []
        self.down: list[U64] = []
        self.turned_up = np.zeros(len(lines))
        self.lone = np.zeros(len(lines))
        for pile, up in enumerate((lines.up_0, lines.up_1)):
            flips = lines.turned == pile
            self.up.append(np.where(flips, down[pile], up))
            self.down.append(np.where(flips, up, down[pile]))
            self.turned_up += flips & hidden[pile]
            shows = (self.up[pile] != 0) | (flips & hidden[pile])
            covered = (self.down[pile] != 0) | (~flips & hidden[pile])
            self.lone += covered & ~shows


def features(d: Decisions, lines: Lines, mine: Mine, others: Others) -> dict[str, F64 | NDArray[np.uint8]]:
    """What `WEIGHTS` weighs, by name, all [K]."""
    view, game = d.view, lines.game
    rising = lines.direction == Direction.UP
    larger = np.maximum(mine.hand, mine.row)
    own = lines.hand | mine.up[0] | mine.up[1]
    covers = [COVERS[lines.direction, top] for top in (lines.top_0, lines.top_1)]
    playable = covers[0] | covers[1]
    matching = (SAME_COLOUR[lines.top_0] & covers[0]) | (SAME_COLOUR[lines.top_1] & covers[1])
    end_by_hand = others.worth_of_ending(game, mine.row, mine.spread)
    one_card = others.hand_cards[1:] == 1

    threat = np.zeros(len(lines))
    for seat in range(1, d.num_players):
        spread = np.sqrt(others.row_spread[seat][game] ** 2 + mine.spread**2 + 1.7)
        threat += one_card[seat - 1][game] * below(larger - others.row[seat][game], spread)

    unseen = (view.unseen_fresh | view.unseen_old)[game]
    next_up = (view.up[1, 0] | view.up[1, 1])[game]
    next_plays = np.bitwise_count(next_up & playable)
    share = np.bitwise_count(unseen & playable) / np.maximum(np.bitwise_count(unseen), 1)
    next_stuck = (next_plays == 0) * (1 - share) ** others.hand_cards[1][game]

    easy, hard = np.where(rising, EASY_UP, EASY_DOWN), np.where(rising, EASY_DOWN, EASY_UP)
    return {
        "constant": np.ones(len(lines)),
        "hand points": mine.hand,
        "face-up points": points(mine.up[0] | mine.up[1]),
        "known face-down points": points(mine.down[0] | mine.down[1]),
        "larger total": larger,
        "hidden cards": mine.hidden,
        "turned up": mine.turned_up,
        "hand cards": mine.hand_cards,
        "lone face-down piles": mine.lone,
        "easy cards": np.bitwise_count(own & easy),
        "hard cards": np.bitwise_count(own & hard),
        "matches": np.bitwise_count(own & matching),
        "end by hand": end_by_hand,
        "end by hand, one card": (mine.hand_cards == 1) * end_by_hand,
        "their hand cards": others.hand_cards[1:].mean(axis=0)[game],
        "their Row cards": others.row_cards[1:].mean(axis=0)[game],
        "their score": others.score[1:].mean(axis=0)[game],
        "their Row points": others.row[1:].mean(axis=0)[game],
        "others with one card": one_card.sum(axis=0)[game].astype(float),
        "threat": threat * larger,
        "next can play": next_plays,
        "next can end": one_card[0][game] * (1 - next_stuck) * larger,
    }


def mean_value(cards: U64) -> F64:
    """The mean value of every set's cards; of an empty one, that of the deck -> [M]."""
    size = np.bitwise_count(cards)
    return np.where(size > 0, points(cards) / np.maximum(size, 1), MEAN_VALUE)


def below(distance: F64, spread: F64) -> F64:
    """The normal distribution function, near enough (the logistic one of like slope)."""
    result: F64 = 1 / (1 + np.exp(-1.702 * np.clip(distance / np.maximum(spread, 1e-6), -8, 8)))
    return result


def mean_of_larger(a: F64, a_spread: F64, b: F64, b_spread: F64) -> F64:
    """The mean of the larger of two normal variables (Clark, "The greatest of a finite set of random variables", 1961)."""
    spread = np.hypot(a_spread, b_spread) + 1e-6
    distance = (a - b) / spread
    a_larger = below(a - b, spread)
    result: F64 = a * a_larger + b * (1 - a_larger) + spread * np.exp(-(distance**2) / 2) / np.sqrt(2 * np.pi)
    return result
