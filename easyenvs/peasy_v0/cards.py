"""The deck of Easy Peasy: ids, names and tables of sets (P1, P2), and the action ids."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

NUM_COLOURS: Final = 6
NUM_VALUES: Final = 10
NUM_CARDS: Final = NUM_COLOURS * NUM_VALUES

COLOURS: Final = ("red", "purple", "green", "blue", "yellow", "orange")
COLOUR_LETTERS: Final = "RPGBYO"

HAND_SIZE: Final = 4
ROW_PILES: Final = 2
DISCARD_PILES: Final = 2
CARDS_PER_FLIP: Final = 2

COLOURS_IN_PLAY: Final = {2: 4, 3: 4, 4: 5, 5: 6, 6: 6}
"""P2. How many colours (the first ones) are in play, by number of players."""


class Phase(IntEnum):
    """What the acting seat has to decide."""

    DIRECTION = 0  # P5: UP or DOWN
    TURN = 1  # P7: play a card, or flip the Up&Down card
    PLAY = 2  # P8: after a flip, play a card
    BONUS = 3  # P10: after a colour match
    OVER = 4  # R7


class Direction(IntEnum):
    """The side of the Up&Down card that shows."""

    NONE = 0  # not chosen yet in this round
    UP = 1
    DOWN = 2


class Action(IntEnum):
    """The actions that are not "play a card"; playing card c on pile p is `play_action(c, p)`."""

    UP = 0
    DOWN = 1
    PASS = 2
    FLIP = 3
    TURN_0 = 4
    TURN_1 = 5


FIRST_PLAY: Final = len(Action)
NUM_ACTIONS: Final = FIRST_PLAY + DISCARD_PILES * NUM_CARDS


def play_action(card: int, pile: int) -> int:
    """The id of the action "play `card` on discard pile `pile`"."""
    return FIRST_PLAY + NUM_CARDS * pile + card


def value_of(card: int) -> int:
    """1 … 10"""
    return card % NUM_VALUES + 1


def colour_of(card: int) -> int:
    """Index into COLOURS."""
    return card // NUM_VALUES


def card_name(card: int) -> str:
    """`R8`: the colour's letter and the value."""
    return f"{COLOUR_LETTERS[colour_of(card)]}{value_of(card)}"


def cards_in_play(num_players: int) -> int:
    """P2. Number of cards in the deck: ids 0 … that − 1."""
    return COLOURS_IN_PLAY[num_players] * NUM_VALUES


AT_LEAST: Final = tuple(
    sum(1 << card for card in range(NUM_CARDS) if value_of(card) >= value) for value in range(NUM_VALUES + 1)
)
"""Set of the cards with at least this value, by value 0 … 10."""

AT_MOST: Final = tuple(
    sum(1 << card for card in range(NUM_CARDS) if value_of(card) <= value) for value in range(NUM_VALUES + 1)
)
"""Set of the cards with at most this value, by value 0 … 10."""

OF_COLOUR: Final = tuple(((1 << NUM_VALUES) - 1) << NUM_VALUES * colour for colour in range(NUM_COLOURS))
"""Set of the cards of each colour."""

VALUE_PLANES: Final = tuple(
    sum(1 << card for card in range(NUM_CARDS) if value_of(card) >> plane & 1) for plane in range(4)
)
"""Set of the cards whose value has this binary digit: a set's sum is Σ 2^plane · |set ∩ VALUE_PLANES[plane]|."""
