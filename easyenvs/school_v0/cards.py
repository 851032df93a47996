"""The deck of Easy School: types, names and tables (S1), and the action ids."""

from __future__ import annotations

from enum import IntEnum
from itertools import combinations
from typing import Final

TYPES: Final = ("nerd", "thief", "hacker", "gift", "copycat", "joker", "stress", "semester end")
NUM_CHEATS: Final = 5
JOKER: Final = 5
STRESS: Final = 6
SPECIAL: Final = 7
NUM_FACE_UP: Final = 6  # the types that lie face-up: cheats and jokers
NUM_TYPES: Final = len(TYPES)

COPIES: Final = (16, 14, 14, 16, 16, 10, 22, 2)
"""S1. Cards of each type: 110 in all."""

START_CARDS: Final = 3
CARDS_UNDER_LAST_SPECIAL: Final = 10
SPREAD: Final = 5  # S4: the first special is this far from the middle at most
KEPT_CARDS: Final = 3  # S15
TOP_CARDS: Final = 4
"""How many cards from the top of each victory pile views and observations hold in order."""

PILE_POINTS: Final = (0, 1, 3, 6, 10, 15, 21)
"""S18. Points for m cards of a cheat type; 21 beyond the sixth."""


class Phase(IntEnum):
    """What the acting seat has to decide."""

    TURN = 0  # S6: draw, pick from the pool, take an examination, play stress
    DRAW = 1  # S7: draw again, or stop
    DISCARD = 2  # S8: a face-up card, because of stress
    SIXTH = 3  # S9: one more card for the victory pile
    STACK = 4  # S10: the card laid next
    PRACTICE = 5  # S11: a card for the own victory pile, or pass
    RELAX = 6  # S12: another stress card, or stop
    EXAM = 7  # S15, S17: an examination at the end of a semester, or pass
    KEEP = 8  # S15: a card to discard until three are left
    OVER = 9  # R7


class Action(IntEnum):
    """The first id of each kind of action."""

    DRAW = 0
    STOP = 1
    TYPE = 2  # + type 0 … 5
    STRESS = 8  # + distance − 1, 1 … 5
    EXAM = 13  # + index into EXAMS


MAX_PLAYERS: Final = 6


def exam_list() -> tuple[tuple[tuple[int, ...], int], ...]:
    """(cheat types, jokers) of every examination, in the order of the action ids: by size, jokers, then types."""
    exams = []
    for size in (3, 4, 5):
        for jokers in range(size):
            exams += [(types, jokers) for types in combinations(range(NUM_CHEATS), size - jokers)]
    return tuple(exams)


EXAMS: Final = exam_list()
NUM_ACTIONS: Final = Action.EXAM + len(EXAMS)


def exam_name(exam: int) -> str:
    """`exam nerd gift joker`"""
    types, jokers = EXAMS[exam]
    return " ".join(["exam", *(TYPES[t] for t in types), *["joker"] * jokers])


def type_points(count: int) -> int:
    """S18. Points for so many cards of one cheat type."""
    return PILE_POINTS[min(count, len(PILE_POINTS) - 1)]
