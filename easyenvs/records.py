"""Game records: whole games as JSON Lines, one format for every game, and their replay.

A file is UTF-8 text, one JSON object a line, any number of records one after the other and nothing between them. A record
is a header, one line for every decision, and an end:

    {"record": "header", "format": 1, "game": "peasy_v0", "version": "0.1.0", "rules": {"num_players": 2}, "seed": 7}
    {"seat": 1, "action": "up"}
    {"seat": 1, "action": "R8>1"}
    {"record": "end", "decisions": 2, "result": null}

Keys of the header; all are needed but the last two:

    format      FORMAT
    game        the game's id, which is the version of its rules, too
    version     the version of easyenvs that wrote it; any is read
    rules       the rule options by name; one that is left out has its default
    seed        the game seed; or, in its place,
    snapshot    the position that the record begins with (later chance depends on its key `seed`; without one, on seed 0)
    policies    the name of the policy in each seat, null for one without
    notes       an object with anything

Keys of the end; `fault` may be left out:

    decisions   how many lines lie between the header and the end, so that a lost one is noticed
    result      null where the game was not played to its end; otherwise
                {"scores": integers by seat, "ranks": by seat, 1-based, ties averaged, "truncated": ended by R6}
    fault       {"seat": …, "reason": …}: the seat whose policy failed

A reader refuses everything else. Names are data: whoever puts them into a page, a shell or a query has to escape them.

    N games  P seats  M the games of a step
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import pickle
import reprlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from easyenvs.core import bits, rewards, snapshots
from easyenvs.core.batch import check_seed, make_rules
from easyenvs.core.errors import RecordError, SnapshotError
from easyenvs.core.game import Game, GameDefinition
from easyenvs.core.options import RuleOptions, as_integer, refuse_option
from easyenvs.core.policies import Policy, act, load_policy, policy_name
from easyenvs.registry import find_game
from easyenvs.version import __version__

if TYPE_CHECKING:
    from easyenvs.adapters.aec import RawEnv

Source: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes]
"""A file by its path, or open, as text or as bytes."""

FORMAT: Final = 1
MAX_LINE: Final = 1 << 20
"""The longest line, in characters (in a file of bytes: in bytes)."""
MAX_DEPTH: Final = 32
"""How deep lists and objects may be nested."""

_GAMES_AT_ONCE: Final = 4096
_KEPT_EVERY: Final = 32  # decisions; to play one again takes some microseconds
_MAX_TEXT: Final = 500

_SHOWN: Final = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 80


# ------------------------------------------------------------------------------------------------- values


def _text(where: str, value: object) -> str:
    """A text that UTF-8 can hold."""
    if not isinstance(value, str):
        raise RecordError(f"{where} is {_SHOWN.repr(value)}; a text is accepted")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RecordError(
            f"{where} is {_SHOWN.repr(value)}, which holds half a character: UTF-8 can't hold it"
        ) from None
    return value


def _integer(where: str, value: object, low: int, high: int) -> int:
    number = as_integer(value)
    if number is None or not low <= number <= high:
        raise RecordError(f"{where} is {_SHOWN.repr(value)}; an integer {low} … {high} is accepted")
    return number


def _sequence(where: str, value: object, length: int | None = None) -> list[Any]:
    if not isinstance(value, (list, tuple)) or (length is not None and len(value) != length):
        wanted = "a list" if length is None else f"a list of {length}, one for every seat,"
        raise RecordError(f"{where} is {_SHOWN.repr(value)}; {wanted} is accepted")
    return list(value)


def _plain(where: str, value: object, depth: int = 0) -> Any:
    """A copy of a value that JSON can hold: lists for tuples."""
    if depth > MAX_DEPTH:
        raise RecordError(f"{where} is nested more than {MAX_DEPTH} deep")
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return _text(where, value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise RecordError(f"{where} holds {value!r}; finite numbers are accepted")
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(where, item, depth + 1) for item in value]
    if isinstance(value, Mapping):
        return {_text(f"a key of {where}", key): _plain(where, item, depth + 1) for key, item in value.items()}
    raise RecordError(f"{where} holds {_SHOWN.repr(value)}, a {type(value).__name__}, which JSON does not know")


def _object(where: str, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise RecordError(f"{where} is {_SHOWN.repr(value)}; an object is accepted")
    plain: dict[str, Any] = _plain(where, value)
    return plain


def _check_keys(where: str, value: Mapping[str, Any], needed: Sequence[str], others: Sequence[str] = ()) -> None:
    for key in needed:
        if key not in value:
            raise RecordError(f"{where} lacks the key {key!r}")
    for key in value:
        if key not in needed and key not in others:
            known = ", ".join([*needed, *others])
            raise RecordError(f"{where} has the key {_SHOWN.repr(key)}, which is unknown; known are {known}")


def _cut(error: Exception) -> str:
    """The message of an error that may quote the whole of a wrong value."""
    text = str(error)
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "…"


# ------------------------------------------------------------------------------------------------- the record


@dataclass(frozen=True)
class Result:
    """How a game ended.

    scores: points by seat. ranks: 1-based places by seat, ties averaged. truncated: ended by R6 and not by the rules.
    """

    scores: tuple[int, ...]
    ranks: tuple[float, ...]
    truncated: bool

    def __post_init__(self) -> None:
        set_value = object.__setattr__
        limit = snapshots.MAX_COUNTER
        scores = [_integer("a score", score, -limit, limit) for score in _sequence("scores", self.scores)]
        ranks = _sequence("ranks", self.ranks, len(scores))
        for rank in ranks:
            if isinstance(rank, bool) or not isinstance(rank, (int, float)) or not 1 <= rank <= len(scores):
                raise RecordError(f"a rank is {_SHOWN.repr(rank)}; a number 1 … {len(scores)} is accepted")
        if not isinstance(self.truncated, bool):
            raise RecordError(f"truncated is {_SHOWN.repr(self.truncated)}; true or false is accepted")
        set_value(self, "scores", tuple(scores))
        set_value(self, "ranks", tuple(float(rank) for rank in ranks))


@dataclass(frozen=True)
class Fault:
    """The seat whose policy failed, and how."""

    seat: int
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "seat", _integer("seat", self.seat, 0, snapshots.MAX_COUNTER))
        _text("reason", self.reason)


@dataclass(frozen=True)
class Record:
    """One game: where it began, every action, and how it ended. Its structure is checked, its actions are by `replay`.

    Args:
        game: the game's id.
        rules: the rule options by name; those left out are filled in.
        seed: the game seed; None where there is a snapshot.
        snapshot: the position that the record begins with; None where there is a seed.
        policies: the name of the policy in each seat, None for one without; () for no names at all.
        actions: the actions by name, one for each decision.
        players: the seat of each action.
        result: None where the game was not played to its end.
        fault: the seat whose policy failed, or None.
        notes: anything that JSON can hold, by name.
        version: the version of easyenvs that wrote it.
        file, line: where its header was read, None if nowhere; of no effect on equality.

    Raises:
        RecordError: a value that is not accepted.
    """

    game: str
    rules: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    snapshot: Mapping[str, Any] | None = None
    policies: tuple[str | None, ...] = ()
    actions: tuple[str, ...] = ()
    players: tuple[int, ...] = ()
    result: Result | None = None
    fault: Fault | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    version: str = __version__
    file: str | None = field(default=None, compare=False, repr=False)
    line: int | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        options = self._options(self._definition())
        players = options.num_players
        if (self.seed is None) == (self.snapshot is None):
            both = "neither is" if self.seed is None else "both are"
            raise RecordError(f"a record begins with a seed or with a snapshot; {both} given")
        policies = [
            None if name is None else _text("a policy's name", name) for name in _sequence("policies", self.policies)
        ]
        if len(policies) not in (0, players):
            raise RecordError(f"policies are {_SHOWN.repr(policies)}; one for each of {players} seats is accepted")
        actions = [_text("an action", action) for action in _sequence("actions", self.actions)]
        seats = [_integer("a seat", seat, 0, players - 1) for seat in _sequence("players", self.players)]
        if len(actions) != len(seats):
            raise RecordError(
                f"there are {len(actions)} actions of {len(seats)} players: one seat for each is accepted"
            )
        if len(actions) > options.max_decisions:
            raise RecordError(
                f"there are {len(actions)} actions; by these rules a game has {options.max_decisions} (R6)"
            )
        for what, given, accepted in (("result", self.result, Result), ("fault", self.fault, Fault)):
            if given is not None and not isinstance(given, accepted):
                raise RecordError(f"{what} is {_SHOWN.repr(given)}; None or a {accepted.__name__} is accepted")
        if self.result is not None and len(self.result.scores) != players:
            raise RecordError(f"scores are given for {len(self.result.scores)} seats of {players}")
        if self.fault is not None:
            _integer("the seat at fault", self.fault.seat, 0, players - 1)
        _text("version", self.version)
        values = {
            "rules": options.as_dict(),
            "seed": None if self.seed is None else _integer("seed", self.seed, 0, 2**64 - 1),
            "snapshot": None if self.snapshot is None else _object("snapshot", self.snapshot),
            "policies": () if not any(name is not None for name in policies) else tuple(policies),
            "actions": tuple(actions),
            "players": tuple(seats),
            "notes": _object("notes", self.notes),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def num_players(self) -> int:
        """P."""
        return int(self.rules["num_players"])

    def _definition(self) -> GameDefinition:
        try:
            return find_game(_text("game", self.game))
        except RecordError:
            raise
        except ValueError as error:
            raise RecordError(_cut(error)) from error

    def _options(self, game: GameDefinition) -> RuleOptions:
        try:
            options: RuleOptions = make_rules(game, _object("rules", self.rules), ())
        except RecordError:
            raise
        except (TypeError, ValueError) as error:
            raise RecordError(f"rules: {_cut(error)}") from error
        return options

    def _error(self, reason: str, line: int) -> RecordError:
        """An error in the record's line-th line, counted from the header, which is 0."""
        return RecordError(reason, self.file, None if self.line is None else self.line + line)


# ------------------------------------------------------------------------------------------------- writing


def _lines_of(record: Record) -> Iterator[str]:
    header: dict[str, Any] = {
        "record": "header",
        "format": FORMAT,
        "game": record.game,
        "version": record.version,
        "rules": record.rules,
    }
    if record.seed is not None:
        header["seed"] = record.seed
    else:
        header["snapshot"] = record.snapshot
    if record.policies:
        header["policies"] = record.policies
    if record.notes:
        header["notes"] = record.notes
    result, fault = record.result, record.fault
    end: dict[str, Any] = {"record": "end", "decisions": len(record.actions), "result": None}
    if result is not None:
        end["result"] = {"scores": result.scores, "ranks": result.ranks, "truncated": result.truncated}
    if fault is not None:
        end["fault"] = {"seat": fault.seat, "reason": fault.reason}
    moves = ({"seat": seat, "action": name} for seat, name in zip(record.players, record.actions, strict=True))
    for value in (header, *moves, end):
        # ASCII alone, so that no text can hold anything that a reader takes for the end of a line.
        line = json.dumps(value, ensure_ascii=True, allow_nan=False) + "\n"
        if len(line) > MAX_LINE:
            raise RecordError(f"a line of this record has {len(line)} characters; {MAX_LINE} are accepted")
        yield line


def write_records(file: Source, records: Iterable[Record]) -> int:
    """Write records as JSON Lines, each in one piece, so that what is written before an error can be read.

    file: a path, which is written anew; or an open file, text (its encoding has to be UTF-8 or ASCII) or bytes, which is
    written to from where it stands and left open.

    Returns:
        How many there were.
    """
    if isinstance(file, (str, os.PathLike)):
        with open(file, "wb") as opened:
            return write_records(opened, records)
    number = 0
    for record in records:
        if not isinstance(record, Record):
            raise TypeError(f"{record!r} is a {type(record).__name__}; a Record is accepted")
        text = "".join(_lines_of(record))
        stream: Any = file
        stream.write(text if hasattr(file, "encoding") else text.encode())
        number += 1
    return number


# ------------------------------------------------------------------------------------------------- reading


@contextlib.contextmanager
def _located(file: str | None, line: int) -> Iterator[None]:
    """Says where a RecordError is."""
    try:
        yield
    except RecordError as error:
        raise RecordError(error.reason, file, line) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {_SHOWN.repr(next(n for n in names if names.count(n) > 1))} is there twice")
    return value


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _parsed(line: str | bytes) -> dict[str, Any]:
    """The object of one line."""
    if len(line) > MAX_LINE:
        raise RecordError(f"the line has more than {MAX_LINE} characters")
    try:
        text = line.decode() if isinstance(line, bytes) else line
        if not text.strip():
            raise RecordError("the line is blank")
        value = json.loads(text.rstrip("\r\n"), parse_constant=_no_number, object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        raise RecordError(f"the line is not UTF-8: {error.reason} at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise RecordError(f"the line is not JSON, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise RecordError(f"the line is nested more than {MAX_DEPTH} deep") from error
    except RecordError:
        raise
    except ValueError as error:
        raise RecordError(f"the line is not JSON: {_cut(error)}") from error
    return _object("the line", value)


def _values(stream: Any, file: str | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line from 1, object) of every line."""
    for number in itertools.count(1):
        with _located(file, number):
            try:
                line = stream.readline(MAX_LINE + 1)
            except UnicodeDecodeError as error:  # a text file is decoded in blocks
                raise RecordError(f"what follows is not UTF-8: {error.reason}") from error
            if not line:
                return
            value = _parsed(line)
        yield number, value


def _header(value: dict[str, Any], file: str | None, line: int) -> Record:
    """A record without actions."""
    if value.get("record") != "header":
        raise RecordError(f'the line is {_SHOWN.repr(value)}; a record begins with {{"record": "header", …}}')
    # First, as another format may have other keys.
    if "format" in value and (type(value["format"]) is not int or value["format"] != FORMAT):
        raise RecordError(f"format is {_SHOWN.repr(value['format'])}; this version of easyenvs reads format {FORMAT}")
    starts = ("seed", "snapshot")
    _check_keys("the header", value, ("record", "format", "game", "version", "rules"), (*starts, "policies", "notes"))
    for key in (*starts, "policies", "notes"):
        if key in value and (value[key] is None or value[key] == []):
            raise RecordError(f"{key} is {json.dumps(value[key])}; it has a value, or is left out")
    fields = {key: value[key] for key in value if key not in ("record", "format")}
    return Record(**fields, file=file, line=line)


def _finished(record: Record, value: dict[str, Any], actions: list[str], players: list[int]) -> Record:
    """The whole record, at its end."""
    _check_keys("the end", value, ("record", "decisions", "result"), ("fault",))
    decisions = as_integer(value["decisions"])
    if decisions != len(actions):
        raise RecordError(f"decisions is {_SHOWN.repr(value['decisions'])}, but the record has {len(actions)}")
    result: Result | None = None
    fault: Fault | None = None
    if value["result"] is not None:
        ending = _object("result", value["result"])
        _check_keys("result", ending, ("scores", "ranks", "truncated"))
        result = Result(**ending)
    if "fault" in value:
        failed = _object("fault", value["fault"])
        _check_keys("fault", failed, ("seat", "reason"))
        fault = Fault(**failed)
    return replace(record, actions=tuple(actions), players=tuple(players), result=result, fault=fault)


def _read(stream: Any, file: str | None) -> Iterator[Record]:
    record: Record | None = None
    actions: list[str] = []
    players: list[int] = []
    first = last = limit = 0
    for last, value in _values(stream, file):
        finished = None
        with _located(file, last):
            if record is None:
                record = _header(value, file, last)
                actions, players, first = [], [], last
                limit = record._options(record._definition()).max_decisions
            elif "record" not in value:
                _check_keys("a decision", value, ("seat", "action"))
                players.append(_integer("seat", value["seat"], 0, record.num_players - 1))
                actions.append(_text("action", value["action"]))
                if len(actions) > limit:
                    raise RecordError(f"this is decision {len(actions)}; by these rules a game has {limit} (R6)")
            elif value["record"] == "end":
                finished = _finished(record, value, actions, players)
            elif value["record"] == "header":
                raise RecordError(f"a header, but the record that begins in line {first} has no end yet")
            else:
                raise RecordError(f"record is {_SHOWN.repr(value['record'])}; 'header' and 'end' are accepted")
        if finished is not None:
            record = None
            yield finished
    if record is not None:
        raise RecordError(f"the record that begins in line {first} has no end: the file is cut off", file, last)


def read_records(file: Source) -> Generator[Record, None, None]:
    """The records of a file, one after the other as they are asked for; the actions are checked by `replay` only.

    file: a path, which is opened when the first record is asked for; or an open file, text or bytes, which is read from
    where it stands (lines count from there) and left open.

    Raises:
        RecordError: at the line that is wrong. The records before it have been given out.
    """
    if not isinstance(file, (str, os.PathLike)) and not hasattr(file, "readline"):
        raise TypeError(f"{file!r} is a {type(file).__name__}; a path or an open file is accepted")
    return _records_of(file)


def _records_of(file: Source) -> Generator[Record, None, None]:
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            yield from _read(opened, os.fspath(file))
    else:
        name = getattr(file, "name", None)
        yield from _read(file, name if isinstance(name, str) else None)


# ------------------------------------------------------------------------------------------------- replay


def _started(record: Record, game: GameDefinition, rules: RuleOptions) -> Game:
    """The game at the record's beginning."""
    played = game.game_type(rules)
    if record.snapshot is None:
        assert record.seed is not None
        played.deal(record.seed)
    else:
        try:
            played.set_position(snapshots.check(game, rules, dict(record.snapshot), 0))
        except SnapshotError as error:
            raise record._error(_cut(error), 0) from error
    return played


def _result(game: Game) -> Result | None:
    """The result of a game; None while it runs."""
    if game.player is not None:
        return None
    return Result(tuple(game.scores), tuple(rewards.ranks_one(game.standing())), game.truncated)


class Replay:
    """A record played again, in which one can go to any decision. Position k is the one after k decisions, 0 … len.

    Attributes:
        record: the record.
        game: the game.
        actions: the actions by name, as the game spells them.
        action_ids: the same, by id.
        players: the seat of each action.

    Raises:
        RecordError: the record is not possible by the rules; with the line, if it was read from a file.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self.game = record._definition()
        self.players = record.players
        self._rules = record._options(self.game)
        ids: list[int] = []
        # As bytes: a game may go on to use what it is given.
        self._kept: list[bytes] = []
        game = _started(record, self.game, self._rules)
        for k, (name, seat) in enumerate(zip(record.actions, record.players, strict=True)):
            if k % _KEPT_EVERY == 0:
                self._kept.append(pickle.dumps(game.position()))
            ids.append(self._checked(game, k, name, seat))
            game.step(ids[-1])
        if len(ids) % _KEPT_EVERY == 0:
            self._kept.append(pickle.dumps(game.position()))
        self.action_ids = tuple(ids)
        self.actions: tuple[str, ...] = tuple(self.game.notation.action_name(action) for action in ids)
        self._check_end(game)

    def _checked(self, game: Game, k: int, name: str, seat: int) -> int:
        """The id of decision k's action."""
        record, shown = self.record, _SHOWN.repr(name)
        if game.player is None:
            raise record._error(f"decision {k}: {shown}, but the game is over after {k} decisions", k + 1)
        if seat != game.player:
            raise record._error(f"decision {k}: seat {seat} plays {shown}, but seat {game.player} is to act", k + 1)
        try:
            action: int = self.game.notation.parse_action(name)
        except ValueError as error:
            raise record._error(f"decision {k}: {_cut(error)}", k + 1) from error
        if not game.legal >> action & 1:
            legal = ", ".join(self._names(game))
            raise record._error(f"decision {k}: seat {seat} can't play {shown}; legal are {legal}", k + 1)
        return action

    def _check_end(self, game: Game) -> None:
        record, end = self.record, len(self.action_ids) + 1
        expected = _result(game)
        if record.result is not None and expected is None:
            reason = f"there is a result, but after {end - 1} decisions the game is not over: actions are missing"
            raise record._error(reason, end)
        if record.result is None and expected is not None:
            raise record._error(f"the game is over after {end - 1} decisions, but there is no result", end)
        for name in ("scores", "ranks", "truncated"):
            given, right = getattr(record.result, name, None), getattr(expected, name, None)
            if given != right:
                given, right = (list(v) if isinstance(v, tuple) else v for v in (given, right))
                raise record._error(f"{name} is {_SHOWN.repr(given)}, but the game gives {right!r}", end)

    def __len__(self) -> int:
        """How many decisions there are; positions are one more."""
        return len(self.action_ids)

    def __repr__(self) -> str:
        return f"<replay of {self.game.id}: {len(self)} decisions, {self.record.num_players} players>"

    def _names(self, game: Game) -> list[str]:
        return [self.game.notation.action_name(action) for action in bits.members(game.legal)]

    def _snapshot(self, game: Game) -> dict[str, Any]:
        return snapshots.make(self.game, self._rules, game.position())

    def _game(self, k: int) -> Game:
        """A game of its own at position k."""
        number = as_integer(k)
        if number is None or not 0 <= number <= len(self):
            raise IndexError(f"{k!r} is no position of this replay; positions are 0 … {len(self)}")
        kept = number // _KEPT_EVERY
        game = self.game.game_type(self._rules)
        game.set_position(pickle.loads(self._kept[kept]))
        for action in self.action_ids[kept * _KEPT_EVERY : number]:
            game.step(action)
        return game

    def at(self, k: int) -> dict[str, Any]:
        """The position after k decisions, a snapshot of its own.

        Raises:
            IndexError: k is not in 0 … len.
        """
        return self._snapshot(self._game(k))

    def legal(self, k: int) -> list[str]:
        """The names of the legal actions after k decisions, by id; none once the game is over."""
        return self._names(self._game(k))

    def env(self, k: int = 0, *, raw: bool = False, **options: Any) -> RawEnv:
        """A PettingZoo environment that stands after k decisions; it plays on from there.

        raw: a `raw_env`. options: those of `env` that are no rules: reward, observation, render_mode, engine.
        """
        for name in options:
            if name in self.record.rules:
                raise TypeError(
                    f"{name}={options[name]!r} is a rule, and this record was played by its own: leave it out"
                )
        game = self._game(k)
        make = self.game.raw_env if raw else self.game.env
        env = make(**self.record.rules, **options)
        # The seed, so that what a later reset() deals is a function of the record, too.
        env.reset(seed=game.seed, options={"snapshot": self._snapshot(game)})
        return env

    def positions(self) -> Iterator[dict[str, Any]]:
        """The positions from first to last, snapshots: one more than there are decisions."""
        game = self._game(0)
        yield self._snapshot(game)
        for action in self.action_ids:
            game.step(action)
            yield self._snapshot(game)


def replay(record: Record | Source, index: int = 0) -> Replay:
    """A record played again, every action and the result checked.

    record: a `Record`, or a file of them (a path, or an open file): then the one with this index, from 0.

    Raises:
        RecordError: the file is corrupt or empty, or the record not possible by the rules; with line and reason.
        IndexError: the file has fewer records.
    """
    if isinstance(record, Record):
        if index != 0:
            raise IndexError(f"index={index!r} is for files; a Record is one")
        return Replay(record)
    number = as_integer(index)
    if number is None or number < 0:
        raise IndexError(f"index={index!r} is not accepted: records of a file are 0, 1 …")
    found = read_records(record)
    count = 0
    with contextlib.closing(found):
        for count, one in enumerate(found, 1):
            if count > number:
                return Replay(one)
    if count == 0:
        name = record if isinstance(record, (str, os.PathLike)) else getattr(record, "name", None)
        raise RecordError("there is no record in the file", None if name is None else str(name))
    raise IndexError(f"index={index!r}, but the file has {count} records: 0 … {count - 1}")


# ------------------------------------------------------------------------------------------------- recording


class Recording:
    """Records the game that a PettingZoo environment is in, from its position now on; steps have to go through here::

        env.reset(seed=7)
        recording = Recording(env)
        while not env.unwrapped.over:
            recording.step(choose(env))
        record = recording.record()

    Args:
        env: an environment of easyenvs, wrapped or not, that has been reset. Its next game needs a recording of its own.
        policies: the name of the policy in each seat, None for one without; () for no names at all.
        notes: anything that JSON can hold, by name.
    """

    def __init__(
        self, env: Any, *, policies: Sequence[str | None] = (), notes: Mapping[str, Any] | None = None
    ) -> None:
        raw = getattr(env, "unwrapped", None)
        if not isinstance(getattr(raw, "game", None), GameDefinition):
            raise TypeError(f"{env!r} is a {type(env).__name__}; a PettingZoo environment of easyenvs is accepted")
        assert raw is not None
        self.env = env
        self._raw: Any = raw
        self._definition: GameDefinition = raw.game
        position, seed = raw.snapshot(), raw.game_seed
        dealt = self._definition.game_type(raw.rules)
        dealt.deal(seed)
        is_deal = self._position(dealt) == position
        self._start = Record(
            self._definition.id,
            raw.rules.as_dict(),
            seed=seed if is_deal else None,
            snapshot=None if is_deal else position,
            policies=tuple(policies),
            notes={} if notes is None else notes,
        )
        self._game = dealt if is_deal else _started(self._start, self._definition, raw.rules)
        self._actions: list[str] = []
        self._players: list[int] = []
        self._fault: Fault | None = None

    def _position(self, game: Game) -> dict[str, Any]:
        return snapshots.make(self._definition, self._raw.rules, game.position())

    def step(self, action: int | None) -> None:
        """`env.step(action)`; recorded if it is played. An illegal one that ends the game is the record's fault."""
        raw, game = self._raw, self._game
        over, seat = raw.over, game.player
        if not over:
            self._check_is_here()
        self.env.step(action)
        if over:  # a seat has left
            return
        number = as_integer(action)
        assert number is not None and seat is not None
        name = self._definition.notation.action_name(number)
        if not game.legal >> number & 1:
            self._fault = Fault(seat, f"illegal action: {name}")
            return
        game.step(number)
        self._actions.append(name)
        self._players.append(seat)

    def _check_is_here(self) -> None:
        if self._raw.snapshot() != self._position(self._game):
            raise RuntimeError(
                f"the environment is elsewhere than this recording after {len(self._actions)} decisions: "
                "it was reset, restored or stepped without it"
            )

    def record(self, fault: Fault | None = None) -> Record:
        """The record so far; with its result once the game is over.

        fault: the seat whose policy failed, if that is why the game ends here.
        """
        self._check_is_here()
        return replace(
            self._start,
            actions=tuple(self._actions),
            players=tuple(self._players),
            result=_result(self._game),
            fault=self._fault if fault is None else fault,
        )


def _checked_assignment(assignment: npt.ArrayLike | None, policies: int, games: int, players: int) -> npt.NDArray[Any]:
    """Which policy sits where, [N, P]."""
    if assignment is None:
        if policies != players:
            raise ValueError(f"{policies} policies are given for {players} seats: one a seat, or an assignment")
        return np.tile(np.arange(players), (games, 1))
    sits = np.asarray(assignment)
    if sits.dtype.kind not in "iu" or sits.shape != (games, players):
        accepted = f"integers [{games}, {players}]: a policy for each game and seat"
        refuse_option("assignment", f"{sits.dtype} of shape {sits.shape}", accepted)
    if sits.min() < 0 or sits.max() >= policies:
        wrong = sits[(sits < 0) | (sits >= policies)][0]
        refuse_option("assignment", int(wrong), f"indices of policies, 0 … {policies - 1}")
    return sits


def play_recorded(
    game: str | GameDefinition | ModuleType,
    policies: Sequence[str | Policy],
    seeds: Sequence[int] | npt.NDArray[Any],
    rules: Mapping[str, Any] | None = None,
    assignment: npt.ArrayLike | None = None,
    policy_seeds: Sequence[int] | None = None,
    *,
    names: Sequence[str] | None = None,
    engine: str | None = None,
) -> list[Record]:
    """Play games to their end, many at once, and record all of them.

    Args:
        game: the game, its id or its module.
        policies: policies or their names, one a seat; or any number, where `assignment` says which of them sits where.
        seeds: the game seeds, [N].
        rules: the rule options.
        assignment: integers [N, P], an index into `policies` for each game and seat.
        policy_seeds: a seed for each policy (default 0). If given, the records' notes say which seat had which.
        names: how the records name the policies (default: by the names given, or by where they are defined).
        engine: the batch's; of no effect on the games.

    Returns:
        N records, in the order of `seeds`.

    What a policy raises comes out, and so does the IllegalActionError where one plays an illegal action.
    """
    definition = find_game(game)
    options = make_rules(definition, dict(rules or {}), ())
    players = options.num_players
    if np.ndim(seeds) != 1:
        refuse_option("seeds", seeds, "a sequence of integers, one for each game")
    first_seeds = [check_seed(seed, f"seeds[{j}]") for j, seed in enumerate(seeds)]
    called = [policy_name(policy) for policy in policies] if names is None else list(names)
    for what, values in (("names", called), ("policy_seeds", policy_seeds)):
        if values is not None and len(values) != len(policies):
            refuse_option(what, values, f"one for each of {len(policies)} policies")
    if not first_seeds:
        return []
    loaded = [load_policy(policy, definition) for policy in policies]
    sits = _checked_assignment(assignment, len(loaded), len(first_seeds), players)
    records: list[Record] = []
    for start in range(0, len(first_seeds), _GAMES_AT_ONCE):
        part = slice(start, start + _GAMES_AT_ONCE)
        games = definition.batch(len(first_seeds[part]), seed=first_seeds[part], engine=engine, **options.as_dict())
        played = []  # of every step: rows, seats and actions, [3, M]
        while True:
            seat = games.player
            running = np.flatnonzero(seat >= 0)
            if not len(running):
                break
            actions = act(games, loaded, sits[part], seeds=policy_seeds)
            played.append(np.stack([running, seat[running], actions[running]]).astype(np.int32))
            games.step(actions)
        moves = np.concatenate(played, axis=1)
        moves = moves[:, np.argsort(moves[0], kind="stable")]
        ends = np.cumsum(np.bincount(moves[0], minlength=games.num_games))
        scores, ranks, truncated = games.scores.tolist(), games.ranks().tolist(), games.truncated.tolist()
        for row, (_, by, what_was_played) in enumerate(np.split(moves, ends[:-1], axis=1)):
            seated = sits[start + row].tolist()
            notes = {} if policy_seeds is None else {"policy_seeds": [int(policy_seeds[j]) for j in seated]}
            records.append(
                Record(
                    definition.id,
                    options.as_dict(),
                    seed=first_seeds[start + row],
                    policies=tuple(called[j] for j in seated),
                    actions=tuple(definition.notation.ACTION_NAMES[action] for action in what_was_played.tolist()),
                    players=tuple(by.tolist()),
                    result=Result(tuple(scores[row]), tuple(ranks[row]), truncated[row]),
                    notes=notes,
                )
            )
    return records
