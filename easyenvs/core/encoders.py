"""Encoders as data: from a view to tensors, by a list of named features.

A game's `encode.py` declares its features once (`features(rules)`): sets, which become one column a member, and counts.
From them come all three array encoders, their spaces and the tables of the docs:

    flat   float32 in [0, 1]   sets as 0/1, counts divided by their maximum
    bits   uint8, 0 or 1 only  sets as they are, counts as thermometers: the fastest
    dict   named float32 arrays, a feature family each: the columns of flat, reshaped

and `text`, which asks the game's notation for the table as a person reads it.

An encoder is any object with `space` (a gymnasium space of one observation) and `__call__(view)`, which takes a view of M
games (arrays with the games last) and returns an array, a dict of arrays or a list, with the games first.
"""

from __future__ import annotations

import string
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import getitem, lshift
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from gymnasium import spaces

from easyenvs.core import bits, views
from easyenvs.core.arrays import F32, U8
from easyenvs.core.options import RuleOptions, refuse_option


@runtime_checkable
class Encoder(Protocol):
    """What turns views into observations."""

    space: spaces.Space[Any]

    def __call__(self, view: Any) -> Any:
        """A view of M games -> observations, the games first."""


@dataclass(frozen=True)
class Part:
    """A run of columns of a word: a set of cards, or flags."""

    name: str
    width: int
    meaning: str


@dataclass(frozen=True)
class Word:
    """A feature that is read as one word of at most 64 bits, made of parts from bit 0 upwards."""

    family: str  # the key under which the dict encoder has it; words of a family have the same width and lie side by side
    parts: tuple[Part, ...]

    @property
    def width(self) -> int:
        """Bits of the word."""
        return sum(part.width for part in self.parts)


@dataclass(frozen=True)
class Count:
    """A feature that is a number 0 … `top`; larger ones read as `top`. `bits` has a column per level: number >= level."""

    family: str
    name: str
    top: int
    levels: tuple[int, ...]
    meaning: str


@dataclass(frozen=True)
class Features:
    """Everything that the array encoders of a game need."""

    words: tuple[Word, ...]
    counts: tuple[Count, ...]
    read_words: Callable[[Any], Sequence[Any]]  # view -> a set a word, in the order of `words`
    read_counts: Callable[[Any], Sequence[Any]]  # view -> a number a count, in the order of `counts`


@dataclass(frozen=True)
class Slice:
    """Columns start … stop − 1 of an encoding."""

    name: str
    start: int
    stop: int
    meaning: str


class _FeatureEncoder:
    """What flat, bits and dict share."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self._read_words, self._read_counts = features.read_words, features.read_counts
        self._word_widths = [word.width for word in features.words]
        self.num_bits = sum(self._word_widths)
        self._offsets = [0, *accumulate(self._word_widths)][:-1]
        self.slices: list[Slice] = []
        column = 0
        for word in features.words:
            for part in word.parts:
                self.slices.append(Slice(part.name, column, column + part.width, part.meaning))
                column += part.width

    def _word_slices_and(self, counts: list[tuple[str, int, str]]) -> None:
        column = self.num_bits
        for name, width, meaning in counts:
            self.slices.append(Slice(name, column, column + width, meaning))
            column += width
        self.num_columns = column


class BitsEncoder(_FeatureEncoder):
    """uint8, 0 or 1 only."""

    def __init__(self, features: Features) -> None:
        super().__init__(features)
        self._tables = [
            [sum((number >= level) << j for j, level in enumerate(count.levels)) for number in range(count.top + 1)]
            for count in features.counts
        ]
        self._arrays = [np.array(table, dtype=np.uint64) for table in self._tables]
        self._word_slices_and(
            [
                (
                    count.name,
                    len(count.levels),
                    f"{count.meaning}; one column per level, 1 where it is at least {', '.join(map(str, count.levels))}",
                )
                for count in features.counts
            ]
        )
        count_widths = [len(count.levels) for count in features.counts]
        self._widths = self._word_widths + count_widths
        self._count_offsets = [self.num_bits + width for width in [0, *accumulate(count_widths)][:-1]]
        self.num_bytes = -(-self.num_columns // 8)
        self.space = spaces.Box(0, 1, (self.num_columns,), np.uint8)

    def __call__(self, view: Any) -> U8:
        words = list(self._read_words(view))
        num_games = len(words[0])
        for count, table, number in zip(self.features.counts, self._arrays, self._read_counts(view), strict=True):
            words.append(table.take(np.minimum(number, count.top)))
        return bits.unpack(bits.pack(words, self._widths, num_games), self.num_columns)

    def pack_one(self, view: Any) -> int:
        """The encoding of one game's view (plain numbers) as the bits of an int."""
        word = sum(map(lshift, self._read_words(view), self._offsets))
        for table, number, offset in zip(self._tables, self._read_counts(view), self._count_offsets, strict=True):
            word |= (table[number] if number < len(table) else table[-1]) << offset
        return word

    def one(self, columns: U8, view: Any) -> U8:
        """The observation of one game, given its `pack_one` bits as 0/1 columns."""
        return columns[: self.num_columns]


class FlatEncoder(_FeatureEncoder):
    """float32 in [0, 1]."""

    def __init__(self, features: Features) -> None:
        super().__init__(features)
        self._arrays = [(np.arange(count.top + 1) / count.top).astype(np.float32) for count in features.counts]
        self._tables: list[list[float]] = [table.tolist() for table in self._arrays]
        self._word_slices_and([(count.name, 1, f"{count.meaning}, divided by {count.top}") for count in features.counts])
        self.num_bytes = -(-self.num_bits // 8)
        self._write = struct.Struct(f"={len(features.counts)}f").pack_into  # a list assigned to a slice takes twice as long
        self._write_at = np.dtype(np.float32).itemsize * self.num_bits
        self._all = slice(0, self.num_columns)
        self.space = spaces.Box(0.0, 1.0, (self.num_columns,), np.float32)

    def __call__(self, view: Any) -> F32:
        words = self._read_words(view)
        num_games = len(words[0])
        columns = bits.unpack(bits.pack(words, self._word_widths, num_games), self.num_bits)
        out = np.empty((num_games, self.num_columns), dtype=np.float32)
        out[:, : self.num_bits] = columns
        numbers = self._read_counts(view)
        for column, count, table, number in zip(
            range(self.num_bits, self.num_columns), self.features.counts, self._arrays, numbers, strict=True
        ):
            out[:, column] = table.take(np.minimum(number, count.top))
        return out

    def pack_one(self, view: Any) -> int:
        """The sets of one game's view (plain numbers) as the bits of an int."""
        return sum(map(lshift, self._read_words(view), self._offsets))

    def one(self, columns: U8, view: Any) -> F32:
        """The observation of one game, given its `pack_one` bits as 0/1 columns."""
        out = columns[self._all].astype(np.float32)
        numbers = self._read_counts(view)
        try:
            self._write(out, self._write_at, *map(getitem, self._tables, numbers))
        except IndexError:  # a number above its maximum
            for column, table, number in zip(range(self.num_bits, self.num_columns), self._tables, numbers, strict=True):
                out[column] = table[min(number, len(table) - 1)]
        return out


class DictEncoder:
    """The columns of flat as named float32 arrays [members, width], a feature family each; counts are [members]."""

    def __init__(self, features: Features) -> None:
        self.flat = FlatEncoder(features)
        self.shapes: dict[str, tuple[int, int, tuple[int, ...]]] = {}  # family -> (start, stop, shape)
        column = 0
        for family, width in [(w.family, w.width) for w in features.words] + [(c.family, 0) for c in features.counts]:
            start, stop, shape = self.shapes.get(family, (column, column, (0, width) if width else (0,)))
            if stop != column or shape[1:] != ((width,) if width else ()):
                raise ValueError(f"the feature family {family!r} is not of one width and side by side")
            column += width or 1
            self.shapes[family] = (start, column, (shape[0] + 1, *shape[1:]))
        self.space = spaces.Dict(
            {family: spaces.Box(0.0, 1.0, shape, np.float32) for family, (_, _, shape) in self.shapes.items()}
        )

    def __call__(self, view: Any) -> dict[str, F32]:
        flat = self.flat(view)
        return {
            family: flat[:, start:stop].reshape(len(flat), *shape) for family, (start, stop, shape) in self.shapes.items()
        }


class TextEncoder:
    """The table as a person reads it."""

    def __init__(self, view_text: Callable[[Any], str]) -> None:
        self._view_text = view_text
        charset = string.printable + "−·–…"
        self.space = spaces.Text(min_length=0, max_length=8192, charset=charset)

    def __call__(self, view: Any) -> list[str]:
        return [self._view_text(views.unstack(view, game)) for game in range(len(view.phase))]


ENCODERS: Final = ("flat", "bits", "dict", "text")


def make_encoder(game: Any, rules: RuleOptions, observation: object) -> Encoder:
    """The encoder that an `observation` option names: one of ENCODERS, or an encoder object itself."""
    if isinstance(observation, str):
        if observation == "text":
            return TextEncoder(game.notation.view_text)
        kinds: dict[str, Callable[[Features], Encoder]] = {"flat": FlatEncoder, "bits": BitsEncoder, "dict": DictEncoder}
        if observation in kinds:
            return kinds[observation](game.encode.features(rules))
    elif isinstance(observation, Encoder) and isinstance(observation.space, spaces.Space):
        return observation
    names = ", ".join(map(repr, ENCODERS))
    refuse_option(
        "observation", observation, f"one of {names}, or an encoder: an object with `space` (a gymnasium space) and `__call__`"
    )


def column_names(encoder: Any) -> list[str]:
    """A name for every column of a flat or bits encoder, `slice[i]` where a slice has several."""
    return [
        part.name if part.stop - part.start == 1 else f"{part.name}[{i}]"
        for part in encoder.slices
        for i in range(part.stop - part.start)
    ]
