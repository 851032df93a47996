"""Greedy: shed the most points of whichever weighs more, hand or Row, and never ask what comes of it.

It looks at its own cards and at the discard piles: not at the opponents, nor at how the round may end.

    M decisions  A actions
"""

from __future__ import annotations

from typing import Final

import numpy as np

from easyenvs.core.arrays import F64, U64, Index
from easyenvs.core.policies import Decisions
from easyenvs.peasy_v0.cards import Action

from ._tools import MEAN_VALUE, PLAYS, SAME_COLOUR, VALUE, hidden_cards, members, points, row_known

# A match goes first, for it earns a bonus (P10); then the heavier zone, for the larger sum scores (P15); then the value.
MATCH: Final = 10.0
HEAVIER: Final = 20.0
TURN_UP: Final = 0.5  # in a bonus without a card to play: a face-down card that may be played one day
TURN_DOWN: Final = -0.5  # … but not at the price of a face-up one
FLIP: Final = -2.0  # two cards more: only when nothing can be played


def policy(d: Decisions) -> Index:
    """The legal action with the highest worth -> intp [M]."""
    worth = np.where(d.legal, worths(d), -np.inf)
    best: Index = worth.argmax(axis=1)
    return best


def worths(d: Decisions) -> F64:
    """What every action seems to be worth, legal or not -> [M, A]."""
    view = d.view
    worth = np.zeros((len(d), d.num_actions))
    in_row: U64 = view.up[0, 0] | view.up[0, 1]
    row = points(row_known(view)[0]) + MEAN_VALUE * hidden_cards(view)[0]
    heavier = members(np.where(row > points(view.hand), in_row, view.hand))
    for pile, plays in enumerate(np.split(worth[:, PLAYS], 2, axis=1)):
        matching = view.tops[pile][:, None] & SAME_COLOUR != 0
        plays += MATCH * matching + HEAVIER * heavier + VALUE
    own = view.hand | in_row
    worth[:, Action.UP] = points(own) - MEAN_VALUE * np.bitwise_count(own)
    worth[:, Action.FLIP] = FLIP
    worth[:, [Action.TURN_0, Action.TURN_1]] = np.where(view.up[0] != 0, TURN_DOWN, TURN_UP).T
    return worth
