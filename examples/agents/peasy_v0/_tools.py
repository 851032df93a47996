"""What the agents of this folder share: tables by card and by action, and sums of card sets.

K positions  C cards  A actions
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from easyenvs.core.arrays import F64, I64, U64, Flags
from easyenvs.peasy_v0.cards import (
    FIRST_PLAY,
    NUM_ACTIONS,
    NUM_CARDS,
    OF_COLOUR,
    VALUE_PLANES,
    colour_of,
    value_of,
)
from easyenvs.peasy_v0.view import View

MEAN_VALUE: Final = 5.5
"""What a card is worth of which nothing is known."""

# By card.
BIT: Final[U64] = np.array([1 << card for card in range(NUM_CARDS)], dtype=np.uint64)
VALUE: Final[I64] = np.array([value_of(card) for card in range(NUM_CARDS)], dtype=np.int64)
SAME_COLOUR: Final[U64] = np.array([OF_COLOUR[colour_of(card)] for card in range(NUM_CARDS)], dtype=np.uint64)

PLAYS: Final = slice(FIRST_PLAY, NUM_ACTIONS)
"""The actions that play a card: first every card on discard pile 0, then every card on pile 1."""

_PLANES: Final = tuple(np.uint64(plane) for plane in VALUE_PLANES)


def points(cards: U64) -> F64:
    """The sum of the values of every set: [..] -> [..]."""
    total: F64 = np.bitwise_count(cards & _PLANES[0]).astype(np.float64)
    for plane in range(1, len(_PLANES)):
        total += (1 << plane) * np.bitwise_count(cards & _PLANES[plane]).astype(np.float64)
    return total


def count(cards: U64) -> F64:
    """How many cards are in every set: [..] -> [..]."""
    return np.bitwise_count(cards).astype(np.float64)


def hidden_cards(view: View) -> F64:
    """How many face-down cards of each Row nobody has seen yet -> [P, M]."""
    number: F64 = np.bitwise_count(view.hidden).astype(np.float64)
    return number


def row_known(view: View) -> U64:
    """The cards of each Row that everyone knows, face-up or turned down before -> [P, M]."""
    words: U64 = view.up[:, 0] | view.up[:, 1] | view.known_down[:, 0] | view.known_down[:, 1]
    return words


def members(words: U64) -> Flags:
    """Which cards are in each set: [K] -> bool [K, C]."""
    inside: Flags = (words[:, None] & BIT != 0).astype(np.bool_)
    return inside


def card_in(words: U64) -> npt.NDArray[np.intp]:
    """The card of every set of one: [..] -> [..]. (0 for an empty set.)"""
    return np.bitwise_count(np.maximum(words, np.uint64(1)) - np.uint64(1)).astype(np.intp)
