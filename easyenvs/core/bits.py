"""Sets of cards as the bits of a word: bit c is set when card c is in the set.

One game keeps its sets in Python ints, N games in uint64 arrays; the functions say which of the two they take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from easyenvs.core.arrays import U64

_U = np.uint64
_SELECT_STEPS: Final = ((_U(32), _U(0xFFFFFFFF)), (_U(16), _U(0xFFFF)), (_U(8), _U(0xFF)))


def _select_table() -> npt.NDArray[np.uint8]:
    """[8 · 256]: entry 256 · r + byte is the position of the byte's r-th set bit (0 where it has too few)."""
    table = np.zeros((8, 256), dtype=np.uint8)
    for byte in range(256):
        for rank, position in enumerate(i for i in range(8) if byte >> i & 1):
            table[rank, byte] = position
    return table.ravel()


_SELECT: Final = _select_table()


def set_of(cards: Iterable[int]) -> int:
    """The set that holds these cards."""
    word = 0
    for card in cards:
        word |= 1 << card
    return word


def members(word: int) -> list[int]:
    """The cards of a set, ascending."""
    return list(_members(word))


def _members(word: int) -> Iterator[int]:
    while word:
        low = word & -word
        yield low.bit_length() - 1
        word ^= low


def member_of(word: int) -> int | None:
    """The card of a set that holds at most one; None for the empty set."""
    return word.bit_length() - 1 if word else None


def unpack(words: U64, width: int) -> npt.NDArray[np.uint8]:
    """The bits of [N, W] words as 0/1 uint8 [N, width], bit 0 of word 0 first. `words` is C-contiguous."""
    little = words if words.dtype.byteorder != ">" else words.astype("<u8")
    flat = np.unpackbits(little.view(np.uint8), bitorder="little")
    return flat.reshape(len(words), 64 * words.shape[1])[:, :width]


def unpack_int(word: int, num_bytes: int) -> npt.NDArray[np.uint8]:
    """The bits of one Python int as 0/1 uint8 [8 · num_bytes], bit 0 first."""
    # By position: the keyword costs a third of the call.
    return np.unpackbits(np.frombuffer(word.to_bytes(num_bytes, "little"), np.uint8), None, None, "little")


def pack(fields: Sequence[U64], widths: Sequence[int], num_games: int) -> U64:
    """The fields' lowest `width` bits one behind the other, without gaps: uint64 [N] each -> [N, W].

    No field may have a bit at or above its width (that is the caller's promise: masking here would cost every step).
    """
    total = sum(widths)
    out = np.empty((num_games, max(1, -(-total // 64))), dtype=np.uint64)
    current: Any = _U(0)
    used = column = 0
    for field, width in zip(fields, widths, strict=True):
        current = current | (field << _U(used)) if used else field
        used += width
        if used >= 64:
            out[:, column] = current
            column += 1
            used -= 64
            current = field >> _U(width - used) if used else _U(0)
    if column < out.shape[1]:
        out[:, column] = current
    return out


def count_words(words: U64) -> npt.NDArray[np.intp]:
    """How many bits are set in every row of [N, W] words -> [N]."""
    counts: npt.NDArray[np.intp] = np.bitwise_count(words).sum(axis=1, dtype=np.intp)
    return counts


def select(words: U64, rank: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The position of the rank-th set bit (0-based) in every row of [N, W] words -> [N]. rank < count."""
    left = rank
    word = words[:, 0]
    base: Any = 0
    for column in range(1, words.shape[1]):
        here = np.bitwise_count(word).astype(np.intp)
        later = left >= here
        left = left - here * later
        word = np.where(later, words[:, column], word)
        base = base + 64 * later if column == 1 else np.where(later, 64 * column, base)
    word = word.copy()
    position: Any = np.zeros(len(words), dtype=np.uint64)
    remaining = left.astype(np.uint64)
    for step, mask in _SELECT_STEPS:
        here64 = np.bitwise_count(word & mask)
        skip = remaining >= here64
        remaining -= here64 * skip
        shift = skip * step
        word >>= shift
        position += shift
    index = ((remaining << _U(8)) | (word & _U(0xFF))).astype(np.intp)
    result: npt.NDArray[np.intp] = position.astype(np.intp) + _SELECT.take(index) + base
    return result
