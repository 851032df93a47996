"""Encoders as data: from a view to tensors, by a list of named features.

A game's `encode.py` declares its features once (`features(rules)`): sets, which become one column a member, and counts.
From them come all three array encoders, their spaces and the tables of the docs:

    flat   float32 in [0, 1]   sets as 0/1, counts divided by their maximum
    bits   uint8, 0 or 1 only  sets as they are, counts as thermometers: the fastest
    dict   named float32 arrays, a feature family each: the columns of flat, reshaped

and `text`, which asks the game's notation for the table as a person reads it.

An encoder is any object with `space` (a gymnasium space of one observation) and `__call__(view)`, which takes a view of M
games (arrays with the games last) and returns an array, a dict of arrays or a list, with the games first.

One game at a time, an array operation costs more than what it computes. So an encoder may offer the same from Python
ints:
`single(of_game, num_actions, is_python)` returns a function (game, seat, legal) -> (observation, action mask),
where `of_game(game, seat)` is the view of one game, and `is_python` says that games are instances of the folder's `Game`,
so that `Features.read_game` serves. flat and bits have it.
"""

from __future__ import annotations

import string
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import getitem, lshift
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from gymnasium import spaces

from easyenvs.core import bits, views
from easyenvs.core.arrays import F32, I8, U8
from easyenvs.core.options import RuleOptions, refuse_option


@runtime_checkable
class Encoder(Protocol):
    """What turns views into observations."""

    @property
    def space(self) -> spaces.Space[Any]:
        """The space of one game's observation."""

    def __call__(self, view: Any) -> Any:
        """A view of M games -> observations, the games first."""


ReadView = Callable[[Any, int], Any]
"""(game, seat) -> the view of that seat, in plain numbers."""

ReadGame = Callable[[Any, int], "tuple[int, Sequence[int]]"]
"""(game, seat) -> the words of an encoding, packed into one int, and its counts."""

Single = Callable[[Any, int, int], "tuple[Any, I8]"]
"""(game, seat, legal actions as a set) -> observation and action mask, in fresh arrays."""

# One game at a time, NumPy's entry costs as much as its work: no look-up in a module, no keywords, dtypes made before,
# and not through the dispatch to array types of other libraries.
_unpackbits: Any = getattr(np.unpackbits, "_implementation", np.unpackbits)
_frombuffer = np.frombuffer
_INT8, _FLOAT32 = np.dtype(np.int8), np.dtype(np.float32)


@dataclass(frozen=True)
class Part:
    """A run of columns of a word: a set of cards, or flags."""

    name: str
    width: int
    meaning: str


@dataclass(frozen=True)
class Word:
    """A feature that is read as one word of at most 64 bits, made of parts from bit 0 upwards."""

    family: (
        str  # the key under which the dict encoder has it; words of a family have the same width and lie side by side
    )
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
    # Optional, for speed: (the folder's Game, seat) -> what the two read from that seat's view, the words packed into
    # one int. It gets its knowledge from view.py alone, as they do; without it they are asked.
    read_game: ReadGame | None = None


@dataclass(frozen=True)
class Slice:
    """Columns start … stop − 1 of an encoding."""

    name: str
    start: int
    stop: int
    meaning: str


def side_by_side(parts: Iterable[tuple[str, int, str]], start: int = 0) -> list[Slice]:
    """Slices for (name, width, meaning) one behind the other."""
    slices = []
    for name, width, meaning in parts:
        slices.append(Slice(name, start, start + width, meaning))
        start += width
    return slices


class _FeatureEncoder:
    """What flat, bits and dict share."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self._read_words, self._read_counts = features.read_words, features.read_counts
        self._word_widths = [word.width for word in features.words]
        self.num_bits = sum(self._word_widths)
        self.slices = side_by_side((part.name, part.width, part.meaning) for word in features.words for part in word.parts)

    def _word_slices_and(self, counts: list[tuple[str, int, str]]) -> None:
        self.slices += side_by_side(counts, self.num_bits)
        self.num_columns = self.slices[-1].stop

    def _reader(self, of_game: ReadView, is_python: bool) -> ReadGame:
        """What reads one game: the features' own way, or by the view."""
        if is_python and self.features.read_game is not None:
            return self.features.read_game
        return _ReadView(self.features, of_game).read


class _ReadView:
    """The reader of a game that offers views only."""

    def __init__(self, features: Features, of_game: Callable[[Any, int], Any]) -> None:
        self._features, self._of_game = features, of_game
        self._offsets = [0, *accumulate(word.width for word in features.words)][:-1]

    def read(self, game: Any, seat: int) -> tuple[int, Sequence[int]]:
        view = self._of_game(game, seat)
        return sum(map(lshift, self._features.read_words(view), self._offsets)), self._features.read_counts(view)


class BitsEncoder(_FeatureEncoder):
    """uint8, 0 or 1 only."""

    def __init__(self, features: Features) -> None:
        super().__init__(features)
        self.tables = [
            [sum((number >= level) << j for j, level in enumerate(count.levels)) for number in range(count.top + 1)]
            for count in features.counts
        ]
        self._arrays = [np.array(table, dtype=np.uint64) for table in self.tables]
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
        self.count_offsets = [self.num_bits + width for width in [0, *accumulate(count_widths)][:-1]]
        self.space = spaces.Box(0, 1, (self.num_columns,), np.uint8)

    def __call__(self, view: Any) -> U8:
        """A view of M games -> [M, num_columns]."""
        words = list(self._read_words(view))
        num_games = len(words[0])
        for count, table, number in zip(self.features.counts, self._arrays, self._read_counts(view), strict=True):
            words.append(table.take(np.minimum(number, count.top)))
        return bits.unpack(bits.pack(words, self._widths, num_games), self.num_columns)

    def single(self, of_game: ReadView, num_actions: int, is_python: bool) -> Single:
        """The encoder of one game at a time, with the action mask."""
        return _SingleBits(self, self._reader(of_game, is_python), num_actions).observe


class _Single:
    """Observation and action mask of one game: their bits are unpacked by one call, which takes as long as for one."""

    def __init__(self, encoder: Any, read: ReadGame, num_actions: int) -> None:
        self._made_of = encoder, read, num_actions
        self._read, self._tables = read, encoder.tables
        self._columns = slice(0, encoder.num_columns)
        self._mask_at, self._num_actions = encoder.num_columns, num_actions
        self._num_bytes = -(-(encoder.num_columns + num_actions) // 8)
        self._bytes = np.zeros(self._num_bytes, dtype=np.uint8)  # scratch: to fill it is faster than to make an array
        self._fill = self._bytes.data

    def __reduce__(self) -> tuple[type[_Single], tuple[Any, ReadGame, int]]:
        return type(self), self._made_of  # a memoryview can't be pickled

    def __deepcopy__(self, memo: dict[int, Any]) -> _Single:
        return type(self)(*self._made_of)  # all but the scratch is constant


class _SingleBits(_Single):
    def __init__(self, encoder: BitsEncoder, read: ReadGame, num_actions: int) -> None:
        super().__init__(encoder, read, num_actions)
        self._offsets = encoder.count_offsets

    def observe(self, game: Any, seat: int, legal: int) -> tuple[U8, I8]:
        word, numbers = self._read(game, seat)
        word |= legal << self._mask_at
        for table, number, offset in zip(self._tables, numbers, self._offsets, strict=True):
            word |= (table[number] if number < len(table) else table[-1]) << offset
        self._fill[:] = word.to_bytes(self._num_bytes, "little")
        columns = _unpackbits(self._bytes, None, None, "little")
        return columns[self._columns], _frombuffer(columns, _INT8, self._num_actions, self._mask_at)


class FlatEncoder(_FeatureEncoder):
    """float32 in [0, 1]."""

    def __init__(self, features: Features) -> None:
        super().__init__(features)
        self._arrays = [(np.arange(count.top + 1) / count.top).astype(np.float32) for count in features.counts]
        self._word_slices_and(
            [(count.name, 1, f"{count.meaning}, divided by {count.top}") for count in features.counts]
        )
        self.space = spaces.Box(0.0, 1.0, (self.num_columns,), np.float32)

    @property
    def tables(self) -> list[list[float]]:
        """What each number of each count reads as."""
        return [table.tolist() for table in self._arrays]

    def __call__(self, view: Any) -> F32:
        """A view of M games -> [M, num_columns]."""
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

    def single(self, of_game: ReadView, num_actions: int, is_python: bool) -> Single:
        """The encoder of one game at a time, with the action mask."""
        return _SingleFlat(self, self._reader(of_game, is_python), num_actions).observe


class _SingleFlat(_Single):
    def __init__(self, encoder: FlatEncoder, read: ReadGame, num_actions: int) -> None:
        super().__init__(encoder, read, num_actions)
        # Assigned to a slice, a list takes twice as long.
        self._write_counts = struct.Struct(f"={len(self._tables)}f").pack_into
        self._counts_at = _FLOAT32.itemsize * encoder.num_bits

    def observe(self, game: Any, seat: int, legal: int) -> tuple[F32, I8]:
        word, numbers = self._read(game, seat)
        self._fill[:] = (word | legal << self._mask_at).to_bytes(self._num_bytes, "little")
        columns = _unpackbits(self._bytes, None, None, "little")
        out = columns[self._columns].astype(_FLOAT32)
        try:
            self._write_counts(out, self._counts_at, *map(getitem, self._tables, numbers))
        except IndexError:  # a number above its maximum
            values = [table[min(number, len(table) - 1)] for table, number in zip(self._tables, numbers, strict=True)]
            self._write_counts(out, self._counts_at, *values)
        return out, _frombuffer(columns, _INT8, self._num_actions, self._mask_at)


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
        """A view of M games -> by family [M, ..]."""
        flat = self.flat(view)
        return {
            family: flat[:, start:stop].reshape(len(flat), *shape)
            for family, (start, stop, shape) in self.shapes.items()
        }


class TextEncoder:
    """The table as a person reads it."""

    def __init__(self, view_text: Callable[[Any], str]) -> None:
        self._view_text = view_text
        charset = string.printable + "−·–…"
        self.space = spaces.Text(min_length=0, max_length=8192, charset=charset)

    def __call__(self, view: Any) -> list[str]:
        """A view of M games -> M texts."""
        return [self._view_text(views.unstack(view, game)) for game in range(len(view.phase))]


ENCODERS: Final = ("flat", "bits", "dict", "text")


def make_encoder(game: Any, rules: RuleOptions, observation: object) -> Encoder:  # noqa: RET503 refuse_option never returns
    """The encoder that an `observation` option names: one of ENCODERS, or an encoder object itself."""
    if isinstance(observation, str):
        if observation == "text":
            return TextEncoder(game.notation.view_text)
        kinds: dict[str, Callable[[Features], Encoder]] = {
            "flat": FlatEncoder,
            "bits": BitsEncoder,
            "dict": DictEncoder,
        }
        if observation in kinds:
            return kinds[observation](game.encode.features(rules))
    elif isinstance(observation, Encoder) and isinstance(observation.space, spaces.Space):
        return observation
    names = ", ".join(map(repr, ENCODERS))
    refuse_option(
        "observation",
        observation,
        f"one of {names}, or an encoder: an object with `space` (a gymnasium space) and `__call__`",
    )


def column_names(encoder: Any) -> list[str]:
    """A name for every column of a flat or bits encoder, `slice[i]` where a slice has several."""
    return [
        part.name if part.stop - part.start == 1 else f"{part.name}[{i}]"
        for part in encoder.slices
        for i in range(part.stop - part.start)
    ]
