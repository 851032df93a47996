"""Cards of a zone, counted by type and packed: byte t of a word is how many cards of type t there are.

One game keeps such words in Python ints, N games in uint64 arrays; an expression serves both, one operation for all types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from easyenvs.school_v0.cards import COPIES, NUM_FACE_UP, NUM_TYPES

BYTE: Final = 0xFF
EACH: Final = 0x0101010101010101
"""1 of each type; a product with it has the sum of all types in its top byte."""

ONE: Final = tuple(1 << 8 * kind for kind in range(NUM_TYPES))
"""One card of each type."""

ALL_CARDS: Final = sum(copies << 8 * kind for kind, copies in enumerate(COPIES))

# Which types there are: 127 more sets the top bit of the byte of every type that there is.
FILL: Final = sum(0x7F << 8 * kind for kind in range(NUM_FACE_UP))
PRESENT: Final = sum(0x80 << 8 * kind for kind in range(NUM_FACE_UP))


def packed(counts: Sequence[int]) -> int:
    """Counts by type as a word."""
    return sum(count << 8 * kind for kind, count in enumerate(counts))


def listed(word: int, types: int = NUM_FACE_UP) -> list[int]:
    """The counts of a word, by type."""
    return [word >> 8 * kind & BYTE for kind in range(types)]
