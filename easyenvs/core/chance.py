"""Chance as a hash: every random event is a pure function of (game seed, round, event)  (R5).

A 64-bit key is derived for each event with the splitmix64 finaliser (Steele, Lea & Flood, "Fast splittable pseudorandom
number generators", OOPSLA 2014). A shuffle sorts one hashed key per card; a pick takes the candidate with the smallest
key. So both are unbiased, a game never depends on its neighbours or on the size of the batch, and no NumPy generator is
involved whose stream could change between versions.

Every function exists for one game (Python ints) and for many (uint64 arrays), bit for bit the same.

Shapes: `N` games, `C` cards.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from easyenvs.core.arrays import U64, Index

MASK64: Final = (1 << 64) - 1
GOLDEN: Final = 0x9E3779B97F4A7C15
_MIX1: Final = 0xBF58476D1CE4E5B9
_MIX2: Final = 0x94D049BB133111EB

# One constant a purpose, so that equal numbers in different roles never give equal streams.
DOMAIN_ROW: Final = 0x243F6A8885A308D3
DOMAIN_NEXT: Final = 0x13198A2E03707344
DOMAIN_ROUND: Final = 0xA4093822299F31D0
DOMAIN_EVENT: Final = 0x082EFA98EC4E6C89
DOMAIN_POLICY: Final = 0x452821E638D01377
DOMAIN_RESAMPLE: Final = 0xBE5466CF34E90C6C
DOMAIN_SEAT: Final = 0xC0AC29B7C97C50DD
DOMAIN_OPPONENT: Final = 0x3F84D5B5B5470917

MAX_CARDS: Final = 128
_CARD_BITS: Final = MAX_CARDS - 1

_U = np.uint64
_GOLDEN_U, _MIX1_U, _MIX2_U = _U(GOLDEN), _U(_MIX1), _U(_MIX2)
_S30, _S27, _S31 = _U(30), _U(27), _U(31)
_STEPS: Final = np.array([(GOLDEN * (i + 1)) & MASK64 for i in range(MAX_CARDS)], dtype=np.uint64)
_IDS: Final = np.arange(MAX_CARDS, dtype=np.uint64)
_KEY_BITS: Final = _U(MASK64 ^ _CARD_BITS)


def mix(z: int) -> int:
    """The splitmix64 finaliser: a bijection of 64-bit integers that looks random."""
    z = ((z ^ (z >> 30)) * _MIX1) & MASK64
    z = ((z ^ (z >> 27)) * _MIX2) & MASK64
    return z ^ (z >> 31)


def mix_array(z: U64) -> U64:
    """`mix` of every element, in place: `z` is overwritten and returned."""
    z ^= z >> _S30
    z *= _MIX1_U
    z ^= z >> _S27
    z *= _MIX2_U
    z ^= z >> _S31
    return z


def derive(domain: int, a: int, b: int) -> int:
    """A 64-bit hash of two 64-bit integers, its own function for every domain."""
    return mix((mix(a ^ domain) + GOLDEN * (b + 1)) & MASK64)


def derive_array(domain: int, a: U64, b: U64 | int) -> U64:
    """`derive` elementwise; `b` may be one integer for all."""
    z = mix_array(a ^ _U(domain))
    if isinstance(b, int):
        z += _U(GOLDEN * (b + 1) & MASK64)
    else:
        z += (b + _U(1)) * _GOLDEN_U
    return mix_array(z)


def row_seed(seed: int, row: int) -> int:
    """The first game seed of a batch's row when the whole batch has one seed."""
    return derive(DOMAIN_ROW, seed, row)


def next_seed(first: int, k: int) -> int:
    """The game seed of a row's k-th later game, k >= 1; k = 0 is the first game itself."""
    return derive(DOMAIN_NEXT, first, k) if k else first


def event_key(seed: int, round_index: int, event: int) -> int:
    """The key of one random event of a game."""
    return derive(DOMAIN_EVENT, derive(DOMAIN_ROUND, seed, round_index), event)


def event_key_array(seed: U64, round_index: U64, event: U64 | int) -> U64:
    """`event_key` of N games: uint64 [N], [N], [N] or one int -> [N]."""
    return derive_array(DOMAIN_EVENT, derive_array(DOMAIN_ROUND, seed, round_index), event)


def shuffled(key: int, cards: Sequence[int]) -> list[int]:
    """`cards` (distinct ids below 128) in random order: sorted by one hashed key each."""
    ids = np.array(cards, dtype=np.intp)
    keys = mix_array(_STEPS[ids] + _U(key))
    keys &= _KEY_BITS
    keys |= _IDS[ids]
    keys.sort()
    order: list[int] = (keys & _U(_CARD_BITS)).tolist()
    return order


@cache
def _deck(cards: int) -> tuple[U64, ...]:
    """What `shuffled_deck` computes with, in arrays of its length: scalars would make NumPy take twice as long."""
    constants = (_S30, _MIX1_U, _S27, _MIX2_U, _S31, _KEY_BITS, _U(_CARD_BITS))
    return (_STEPS[:cards], _IDS[:cards], *(np.full(cards, constant) for constant in constants))


def shuffled_deck(key: int, cards: int) -> list[int]:
    """The same as `shuffled(key, range(cards))`, faster."""
    steps, ids, s30, mix1, s27, mix2, s31, key_bits, card_bits = _deck(cards)
    keys = steps + _U(key)
    keys ^= keys >> s30
    keys *= mix1
    keys ^= keys >> s27
    keys *= mix2
    keys ^= keys >> s31
    keys &= key_bits
    keys |= ids
    keys.sort()
    keys &= card_bits
    order: list[int] = keys.tolist()
    return order


def shuffled_arrays(key: U64, member: npt.NDArray[np.bool_] | None, cards: int) -> npt.NDArray[np.uint8]:
    """The cards 0 … `cards` − 1 of N games in random order.

    `key` uint64 [N]; `member` bool [N, C] says which cards take part (None: all). Returns uint8 [N, C]; the members come
    first, in the order that `shuffled` gives for them; what follows them is of no meaning.
    """
    keys = mix_array(key[:, None] + _STEPS[None, :cards])
    keys &= _KEY_BITS
    keys |= _IDS[None, :cards]
    if member is not None:
        keys[~member] = MASK64
    keys.sort(axis=1)
    keys &= _U(_CARD_BITS)
    return keys.astype(np.uint8)


def pick(key: int, candidates: Sequence[int]) -> int:
    """One of the candidates (small distinct integers), each as likely as any other."""
    return min(candidates, key=lambda c: mix((key + GOLDEN * (c + 1)) & MASK64))


def pick_array(key: U64, candidate: npt.NDArray[np.bool_]) -> Index:
    """`pick` in N games: `key` uint64 [N], `candidate` bool [K, N] with one or more True a column -> [N]."""
    keys = mix_array(key[None, :] + _STEPS[: len(candidate), None])
    keys[~candidate] = MASK64
    picked: Index = keys.argmin(axis=0)
    return picked


def below(key: U64, bound: npt.NDArray[Any]) -> Index:
    """A number uniform on 0 … bound − 1 for every element: uint64 [N], integers 1 … 65,536 [N] -> [N].

    Multiply-shift on 32 bits with exact rejection (Lemire, "Fast random integer generation in an interval", 2019).
    """
    size = bound.astype(np.uint64)
    scaled = (key >> _U(32)) * size
    low = scaled & _U(0xFFFFFFFF)
    again = low < size  # a cheap bound above the threshold 2^32 mod size, so that the exact one is computed rarely
    if again.any():
        rows = np.flatnonzero(again)
        rows = rows[low[rows] < _U(1 << 32) % size[rows]]
        if rows.size:
            result: Index = (scaled >> _U(32)).astype(np.intp)
            result[rows] = below(mix_array(key[rows] + _GOLDEN_U), bound[rows])
            return result
    return (scaled >> _U(32)).astype(np.intp)


def system_seed() -> int:
    """A game seed from the operating system, for games that were never seeded."""
    return secrets.randbits(64)
