"""chance, bits, rewards, options: the parts that both engines stand on."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyenvs.core import bits, chance
from easyenvs.core.options import as_integer

U64S = st.integers(0, 2**64 - 1)


def u64(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.uint64)


# ------------------------------------------------------------------------------------------------- chance


def test_mix_is_the_published_finaliser() -> None:
    """splitmix64 seeded with 1234567: the first outputs of the reference implementation."""
    state, outputs = 1234567, []
    for _ in range(5):
        state = (state + chance.GOLDEN) & chance.MASK64
        outputs.append(chance.mix(state))
    assert outputs == [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip


@given(st.lists(st.tuples(U64S, U64S, st.integers(0, 10**9)), min_size=1, max_size=20))
def test_scalar_and_vectorised_are_the_same_bit_for_bit(rows: list[tuple[int, int, int]]) -> None:
    a, b, c = (list(column) for column in zip(*rows, strict=True))
    assert chance.mix_array(u64(a)).tolist() == [chance.mix(x) for x in a]
    derived = chance.derive_array(chance.DOMAIN_ROW, u64(a), u64(b)).tolist()
    assert derived == [chance.derive(chance.DOMAIN_ROW, x, y) for x, y in zip(a, b, strict=True)]
    assert chance.derive_array(chance.DOMAIN_ROW, u64(a), b[0]).tolist() == [
        chance.derive(chance.DOMAIN_ROW, x, b[0]) for x in a
    ]
    keys = chance.event_key_array(u64(a), u64(c), 3)
    assert keys.tolist() == [chance.event_key(x, z, 3) for x, z in zip(a, c, strict=True)]


@given(st.lists(U64S, min_size=1, max_size=8), st.integers(1, 128), st.randoms(use_true_random=False))
def test_shuffles_are_the_same_for_one_and_for_many(keys: list[int], cards: int, rng: random.Random) -> None:
    member = np.array([[rng.random() < 0.5 for _ in range(cards)] for _ in keys])
    everyone = chance.shuffled_arrays(u64(keys), None, cards)
    some = chance.shuffled_arrays(u64(keys), member, cards)
    for i, key in enumerate(keys):
        assert everyone[i].tolist() == chance.shuffled(key, range(cards))
        ids = np.flatnonzero(member[i]).tolist()
        assert some[i, : len(ids)].tolist() == chance.shuffled(key, ids)
        assert sorted(everyone[i].tolist()) == list(range(cards))


@given(st.lists(U64S, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_picks_are_the_same_for_one_and_for_many(keys: list[int], rng: random.Random) -> None:
    candidate = np.array([[rng.random() < 0.5 for _ in keys] for _ in range(6)])
    candidate[rng.randrange(6)] = True
    picked = chance.pick_array(u64(keys), candidate)
    for i, key in enumerate(keys):
        assert picked[i] == chance.pick(key, np.flatnonzero(candidate[:, i]).tolist())
        assert candidate[picked[i], i]


def test_hashes_of_different_domains_differ() -> None:
    names = [name for name in vars(chance) if name.startswith("DOMAIN_")]
    assert len({chance.derive(getattr(chance, name), 1, 2) for name in names}) == len(names) >= 6
    assert len({chance.row_seed(s, i) for s in range(50) for i in range(50)}) == 2500
    assert chance.row_seed(1, 2) != chance.next_seed(1, 2)
    assert chance.next_seed(7, 0) == 7


def test_below_is_in_range_and_uniform() -> None:
    keys = chance.mix_array(np.arange(120_000, dtype=np.uint64))
    for bound in (1, 2, 3, 7, 126):
        numbers = chance.below(keys, np.full(len(keys), bound))
        counts = np.bincount(numbers, minlength=bound)
        assert len(counts) == bound
        expected = len(keys) / bound
        assert ((counts - expected) ** 2 / expected).sum() < bound + 6 * np.sqrt(2 * bound)


def test_below_rejects_exactly() -> None:
    """A key whose scaled low half is under the threshold is hashed again: 2^32 mod 3 = 1, so a low half of 0 is rejected."""
    key = u64([0, 1 << 32])
    expected = [chance.below(u64([chance.mix(chance.GOLDEN)]), np.array([3]))[0], 0]
    assert chance.below(key, np.array([3, 3])).tolist() == expected


# ------------------------------------------------------------------------------------------------- bits


@given(st.sets(st.integers(0, 127)))
def test_sets(cards: set[int]) -> None:
    word = bits.set_of(cards)
    assert bits.members(word) == sorted(cards)
    assert bits.unpack_int(word, 16).nonzero()[0].tolist() == sorted(cards)
    words = u64([word & chance.MASK64, word >> 64])[None, :]
    assert bits.unpack(words, 128)[0].nonzero()[0].tolist() == sorted(cards)
    assert bits.count_words(words).tolist() == [len(cards)]


@given(st.lists(st.integers(1, 2**190 - 1), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_select_finds_the_rth_member(sets: list[int], rng: random.Random) -> None:
    words = u64([s >> 64 * w & chance.MASK64 for s in sets for w in range(3)]).reshape(-1, 3)
    ranks = [rng.randrange(s.bit_count()) for s in sets]
    assert bits.select(words, np.array(ranks)).tolist() == [
        bits.members(s)[r] for s, r in zip(sets, ranks, strict=True)
    ]


@given(st.lists(st.tuples(st.integers(1, 64), st.integers(0, 2**64 - 1)), min_size=1, max_size=20))
@settings(max_examples=200)
def test_pack_lays_fields_side_by_side(fields: list[tuple[int, int]]) -> None:
    widths = [width for width, _ in fields]
    values = [value & ((1 << width) - 1) for width, value in fields]
    packed = bits.pack([u64([value, 0]) for value in values], widths, 2)
    expected, offset = 0, 0
    for width, value in zip(widths, values, strict=True):
        expected |= value << offset
        offset += width
    assert sum(int(word) << 64 * i for i, word in enumerate(packed[0])) == expected
    assert not packed[1].any()


def test_member_of() -> None:
    assert bits.member_of(0) is None
    assert bits.member_of(1 << 59) == 59


# ------------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3), (np.int8(3), 3), (np.uint64(2**64 - 1), 2**64 - 1), (np.array(3), 3), (-5, -5),
        (True, None), (np.True_, None), (np.array(True), None), (3.0, None), (np.float32(3), None), (np.array([3]), None),
        ("3", None), (None, None), ([3], None), (3 + 0j, None), (np.array(3.0), None),
    ],
)  # fmt: skip
def test_as_integer(value: object, expected: int | None) -> None:
    assert as_integer(value) == expected
