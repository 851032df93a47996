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
from easyenvs.core.arrays import F32, I8, U8, U16, U64
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

ReadGame = Callable[[Any, int], "tuple[int, Sequence[int], Sequence[int]]"]
"""(game, seat) -> the words of an encoding, packed into one int, its counts, and its zones."""

Single = Callable[[Any, int, int], "tuple[Any, I8]"]
"""(game, seat, legal actions as a set) -> observation and action mask, in fresh arrays."""

# One game at a time, NumPy's entry costs as much as its work: no look-up in a module, no keywords, dtypes made before,
# and not through the dispatch to array types of other libraries.
_unpackbits: Any = getattr(np.unpackbits, "_implementation", np.unpackbits)
_frombuffer = np.frombuffer
_divide = np.divide
_INT8, _FLOAT32 = np.dtype(np.int8), np.dtype(np.float32)

ZONE_SIZE: Final = 8
"""Counts of a zone, a byte each in a word of 64 bits; and columns of each in `bits`."""
MAX_ZONE_COUNT: Final = 127  # the top bit of its byte says, on the way, whether a level has been reached


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
class Zone:
    """Eight counts that are read as one word, a byte each from bit 0 upwards: eight go through every operation at once.

    A count is never above its `top`, which is at most 127: that is the game's promise (to saturate here would cost every
    step). It has at most eight levels; `bits` has eight columns a count, of which those without a level are 0.
    """

    family: str
    counts: tuple[Count, ...]

    def __post_init__(self) -> None:
        if len(self.counts) != ZONE_SIZE or any(
            count.top > MAX_ZONE_COUNT or len(count.levels) > ZONE_SIZE or sorted(set(count.levels)) != [*count.levels]
            for count in self.counts
        ):
            raise ValueError(f"the zone {self.family!r} is not of eight counts up to 127 with up to eight levels each")


def _no_zones(view: Any) -> Sequence[Any]:
    return ()


@dataclass(frozen=True)
class Features:
    """Everything that the array encoders of a game need."""

    words: tuple[Word, ...]
    counts: tuple[Count, ...]
    read_words: Callable[[Any], Sequence[Any]]  # view -> a set a word, in the order of `words`
    read_counts: Callable[[Any], Sequence[Any]]  # view -> a number a count, in the order of `counts`
    # Optional, for speed: (the folder's Game, seat) -> what these read from that seat's view, the words packed into
    # one int. It gets its knowledge from view.py alone, as they do; without it they are asked.
    read_game: ReadGame | None = None
    zones: tuple[Zone, ...] = ()
    read_zones: Callable[[Any], Sequence[Any]] = _no_zones  # view -> a word a zone, in the order of `zones`


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
    """What flat, bits and dict share. Their columns: zones, words, counts."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self._read_words, self._read_counts = features.read_words, features.read_counts
        self._read_zones = features.read_zones
        self._word_widths = [word.width for word in features.words]
        self.num_zones = len(features.zones)
        self.num_bits = sum(self._word_widths)

    def _slice_columns(self, zone_counts: list[tuple[str, int, str]], counts: list[tuple[str, int, str]]) -> None:
        parts = [(part.name, part.width, part.meaning) for word in self.features.words for part in word.parts]
        self.slices = side_by_side((*zone_counts, *parts, *counts))
        self.num_columns = self.slices[-1].stop

    @property
    def zone_counts(self) -> list[Count]:
        """The counts of all zones."""
        return [count for zone in self.features.zones for count in zone.counts]

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

    def read(self, game: Any, seat: int) -> tuple[int, Sequence[int], Sequence[int]]:
        view = self._of_game(game, seat)
        features = self._features
        words = sum(map(lshift, features.read_words(view), self._offsets))
        return words, features.read_counts(view), features.read_zones(view)


def _levels_reached(count: Count) -> Any:
    """uint16 [256] By number: bit j is 1 where it is at least the j-th level."""
    number = np.arange(256)
    return sum(((number >= level) << j for j, level in enumerate(count.levels)), 0 * number).astype(np.uint16)


class _Thermometers:
    """Zones as `bits` has them: bit 8·c + j of a word is 1 where count c is at least its j-th level.

    Of many games, by look-ups for two counts at once (a table has 128 KB, but counts are small: they use little of it).
    Of one game, all zones side by side in one int: with 128 − level added to it, a count's byte has its top bit set
    exactly if it has reached the level, so an addition and an AND compare all counts.
    """

    def __init__(self, zones: Sequence[Zone]) -> None:
        tables: dict[Any, U16] = {}
        self._tables: list[
            tuple[U16, list[tuple[int, U16]]]
        ] = []  # by zone: for most pairs; (pair, table) of the others
        for zone in zones:
            keys = []
            for low, high in zip(zone.counts[::2], zone.counts[1::2], strict=True):
                keys.append((low.levels, high.levels))
                if keys[-1] not in tables:
                    tables[keys[-1]] = (_levels_reached(high)[:, None] << 8 | _levels_reached(low)).ravel()
            most = max(keys, key=keys.count)
            self._tables.append((tables[most], [(pair, tables[key]) for pair, key in enumerate(keys) if key != most]))
        self._num_levels = max((len(count.levels) for zone in zones for count in zone.counts), default=0)
        counts = [count for zone in zones for count in zone.counts]
        self._biases = [  # 0 where there is no such level: 127 at most
            _joined([MAX_ZONE_COUNT + 1 - count.levels[j] if j < len(count.levels) else 0 for count in counts])
            for j in range(self._num_levels)
        ]
        self._tops = _joined([MAX_ZONE_COUNT + 1] * len(counts))

    def of_games(self, zones: Sequence[Any]) -> list[U64]:
        """uint64 [N] a zone -> the same of its columns."""
        out = []
        for zone, (table, others) in zip(zones, self._tables, strict=True):
            pairs = np.ascontiguousarray(zone, dtype="<u8").view("<u2")
            columns = table.take(pairs)
            for pair, other in others:
                columns[pair::4] = other.take(pairs[pair::4])
            out.append(columns.astype("<u2", copy=False).view("<u8"))
        return out

    def of_game(self, zones: int) -> int:
        """All zones of one game side by side in one int -> the same of their columns."""
        tops, columns = self._tops, 0
        for bias in self._biases:  # a byte's top bits move down as further levels come
            columns = columns >> 1 | zones + bias & tops
        return columns >> ZONE_SIZE - self._num_levels


def _joined(numbers: Sequence[int]) -> int:
    """Bytes side by side in one int, the first one lowest."""
    return int.from_bytes(bytes(numbers), "little")


class BitsEncoder(_FeatureEncoder):
    """uint8, 0 or 1 only."""

    def __init__(self, features: Features) -> None:
        super().__init__(features)
        self.thermometers = _Thermometers(features.zones)
        self.tables = [
            [sum((number >= level) << j for j, level in enumerate(count.levels)) for number in range(count.top + 1)]
            for count in features.counts
        ]
        self._arrays = [np.array(table, dtype=np.uint64) for table in self.tables]

        def part(count: Count, width: int) -> tuple[str, int, str]:
            rest = ", 0 in the others" if width > len(count.levels) else ""
            levels = ", ".join(map(str, count.levels))
            return count.name, width, f"{count.meaning}; one column per level, 1 where it is at least {levels}{rest}"

        self._slice_columns(
            [part(count, ZONE_SIZE) for count in self.zone_counts],
            [part(count, len(count.levels)) for count in features.counts],
        )
        count_widths = [len(count.levels) for count in features.counts]
        self._widths = [64] * self.num_zones + self._word_widths + count_widths
        self.words_at = 64 * self.num_zones
        first = self.words_at + self.num_bits
        self.count_offsets = [first + width for width in [0, *accumulate(count_widths)][:-1]]
        self.space = spaces.Box(0, 1, (self.num_columns,), np.uint8)

    def __call__(self, view: Any) -> U8:
        """A view of M games -> [M, num_columns]."""
        zones = self._read_zones(view)
        words = list(self._read_words(view))
        num_games = len(words[0])
        for count, table, number in zip(self.features.counts, self._arrays, self._read_counts(view), strict=True):
            words.append(table.take(np.minimum(number, count.top)))
        if self.num_zones:
            words[:0] = self.thermometers.of_games(zones)
        return bits.unpack(bits.pack(words, self._widths, num_games), self.num_columns)

    def single(self, of_game: ReadView, num_actions: int, is_python: bool) -> Single:
        """The encoder of one game at a time, with the action mask."""
        kind = _SingleZoneBits if self.num_zones else _SingleBits
        return kind(self, self._reader(of_game, is_python), num_actions).observe


class _Single:
    """Observation and action mask of one game: their bits are unpacked by one call, which takes as long as for one."""

    def __init__(self, encoder: Any, read: ReadGame, num_actions: int) -> None:
        self._made_of = encoder, read, num_actions
        self._read, self._tables = read, encoder.tables
        self._columns = slice(0, encoder.num_columns)
        self._mask_at, self._num_actions = encoder.num_columns, num_actions
        self._num_bytes = -(-(encoder.num_columns + num_actions) // 8)
        self._bytes = np.zeros(self._num_bytes, dtype=np.uint8)  # scratch: to fill it is faster than to make an array
        self._fill: Any = self._bytes.data
        self._write_zones = struct.Struct(f"<{encoder.num_zones}Q").pack_into

    def __reduce__(self) -> tuple[type[_Single], tuple[Any, ReadGame, int]]:
        return type(self), self._made_of  # a memoryview can't be pickled

    def __deepcopy__(self, memo: dict[int, Any]) -> _Single:
        return type(self)(*self._made_of)  # all but the scratch is constant


class _SingleBits(_Single):
    def __init__(self, encoder: BitsEncoder, read: ReadGame, num_actions: int) -> None:
        super().__init__(encoder, read, num_actions)
        self._offsets = encoder.count_offsets

    def observe(self, game: Any, seat: int, legal: int) -> tuple[U8, I8]:
        word, numbers, _ = self._read(game, seat)
        word |= legal << self._mask_at
        for table, number, offset in zip(self._tables, numbers, self._offsets, strict=True):
            word |= (table[number] if number < len(table) else table[-1]) << offset
        self._fill[:] = word.to_bytes(self._num_bytes, "little")
        columns = _unpackbits(self._bytes, None, None, "little")
        return columns[self._columns], _frombuffer(columns, _INT8, self._num_actions, self._mask_at)


class _SingleZoneBits(_SingleBits):
    def __init__(self, encoder: BitsEncoder, read: ReadGame, num_actions: int) -> None:
        super().__init__(encoder, read, num_actions)
        self._of_game, self._words_at = encoder.thermometers.of_game, encoder.words_at
        self._zones = bytearray(ZONE_SIZE * encoder.num_zones)

    def observe(self, game: Any, seat: int, legal: int) -> tuple[U8, I8]:
        word, numbers, zones = self._read(game, seat)
        self._write_zones(self._zones, 0, *zones)
        word = self._of_game(int.from_bytes(self._zones, "little")) | word << self._words_at | legal << self._mask_at
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

        def part(count: Count) -> tuple[str, int, str]:
            return count.name, 1, f"{count.meaning}, divided by {count.top}"

        self._slice_columns([part(count) for count in self.zone_counts], [part(count) for count in features.counts])
        self.zone_tops = np.array([count.top for count in self.zone_counts], dtype=np.float32)
        self.words_at = ZONE_SIZE * self.num_zones
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
        first_count = self.words_at + self.num_bits
        out[:, self.words_at : first_count] = columns
        if self.num_zones:
            zones = np.stack(self._read_zones(view), axis=1).astype("<u8", copy=False)
            np.divide(zones.view(np.uint8), self.zone_tops, out=out[:, : self.words_at])
        for column, count, table, number in zip(
            range(first_count, self.num_columns),
            self.features.counts,
            self._arrays,
            self._read_counts(view),
            strict=True,
        ):
            out[:, column] = table.take(np.minimum(number, count.top))
        return out

    def single(self, of_game: ReadView, num_actions: int, is_python: bool) -> Single:
        """The encoder of one game at a time, with the action mask."""
        kind = _SingleZoneFlat if self.num_zones else _SingleFlat
        return kind(self, self._reader(of_game, is_python), num_actions).observe


class _SingleFlat(_Single):
    def __init__(self, encoder: FlatEncoder, read: ReadGame, num_actions: int) -> None:
        super().__init__(encoder, read, num_actions)
        # Assigned to a slice, a list takes twice as long.
        self._write_counts = struct.Struct(f"={len(self._tables)}f").pack_into
        self._counts_at = _FLOAT32.itemsize * (encoder.words_at + encoder.num_bits)
        # Read at once, because one attribute after the other takes a twentieth of the time that this has.
        self._constants = (self._fill, self._bytes, self._num_bytes, self._columns, self._mask_at, self._num_actions)

    def observe(self, game: Any, seat: int, legal: int) -> tuple[F32, I8]:
        fill, buffer, num_bytes, flat_columns, mask_at, num_actions = self._constants
        word, numbers, _ = self._read(game, seat)
        fill[:] = (word | legal << mask_at).to_bytes(num_bytes, "little")
        columns = _unpackbits(buffer, None, None, "little")
        out = columns[flat_columns].astype(_FLOAT32)
        try:
            self._write_counts(out, self._counts_at, *map(getitem, self._tables, numbers))
        except IndexError:  # a number above its maximum
            self._write_counts(out, self._counts_at, *self._saturated(numbers))
        return out, _frombuffer(columns, _INT8, num_actions, mask_at)

    def _saturated(self, numbers: Sequence[int]) -> list[float]:
        return [table[min(number, len(table) - 1)] for table, number in zip(self._tables, numbers, strict=True)]


class _SingleZoneFlat(_SingleFlat):
    def __init__(self, encoder: FlatEncoder, read: ReadGame, num_actions: int) -> None:
        super().__init__(encoder, read, num_actions)
        self._words_at = encoder.words_at
        self._zone_columns = slice(0, encoder.words_at)
        self._zones = bytearray(encoder.words_at)  # scratch, as _bytes
        self._zone_bytes = _frombuffer(self._zones, dtype=np.uint8)
        self._zone_tops = encoder.zone_tops

    def observe(self, game: Any, seat: int, legal: int) -> tuple[F32, I8]:
        word, numbers, zones = self._read(game, seat)
        self._fill[:] = (word << self._words_at | legal << self._mask_at).to_bytes(self._num_bytes, "little")
        columns = _unpackbits(self._bytes, None, None, "little")
        out = columns[self._columns].astype(_FLOAT32)
        self._write_zones(self._zones, 0, *zones)
        _divide(self._zone_bytes, self._zone_tops, out[self._zone_columns])
        if numbers:
            self._write_counts(out, self._counts_at, *self._saturated(numbers))
        return out, _frombuffer(columns, _INT8, self._num_actions, self._mask_at)


class DictEncoder:
    """The columns of flat as named float32 arrays [members, width], a feature family each; counts are [members]."""

    def __init__(self, features: Features) -> None:
        self.flat = FlatEncoder(features)
        self.shapes: dict[str, tuple[int, int, tuple[int, ...]]] = {}  # family -> (start, stop, shape)
        column = 0
        widths = [(zone.family, ZONE_SIZE) for zone in features.zones]
        widths += [(word.family, word.width) for word in features.words]
        widths += [(count.family, 0) for count in features.counts]
        for family, width in widths:
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
