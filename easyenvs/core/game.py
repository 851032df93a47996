"""The contract that a game's folder fulfils.

A game is a package named `NAME_vN` with these modules; discovery finds it, nothing else is edited:

    options.py    `Rules`: the rule options, checked; a frozen dataclass derived from core.options.RuleOptions
    game.py       `Game`: one game in plain Python                                               (class Game below)
    machine.py    `Machine`: many games in NumPy; optional, without it a batch loops single games (class Machine below)
    view.py       `View`, `of_game(game, seat)`, and with a machine `of_games(machine, seats)`: what a seat may know
    encode.py     `features(rules)`: what observations hold; `state_slices(rules)` and `encode_state(position, rules)`
    draw.py       `draw(view, *, theme, last_action, seat, names, ranks)` and `draw_open(snapshot, rules, *, …)`: pictures as
                  SVG, theme "light", "dark" or a core.svg.Theme; optional, without it there is text alone
    panels.py     `panels(view, seat, names)`, `action_line(seat, action, names)`, `move_text(seat, action, names)`: the table in
                  a terminal, as core.panels says; optional, without it `view_text` is shown
    rules.md      the rules as Markdown, for people who play; optional
    notation.py   ACTION_NAMES, ACTION_GROUPS (for the docs), action_name, parse_action, view_text; REQUIRED_KEYS,
                  OPTIONAL_KEYS and checked_position: what a snapshot holds; and, if you like, rotate_seats (for the
                  conformance kit) and PLAYTHROUGH_OPTIONS
    rules.md      the rules in short, for people who play: `# ` and `## ` headings, `- ` items, paragraphs; optional
    playthrough.txt   a golden game, written by `python -m easyenvs.testing NAME_vN`

and its `__init__.py` is the front door: `GAME = define(__name__)`, `env`, `raw_env` and `batch`.

    N games  P seats  A actions  W words of 64 action bits  K the games of a subset
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from easyenvs.core.arrays import F64, I64, U64, Flags, Index
from easyenvs.core.options import RuleOptions

if TYPE_CHECKING:
    from easyenvs.adapters.aec import Env, RawEnv
    from easyenvs.core.batch import Batch


class Game(Protocol):
    """One game: plain numbers, no NumPy in its state."""

    rules: Any
    num_players: int
    num_actions: int
    seed: int
    decisions: int  # decisions made so far
    phase: Any  # an IntEnum; its names, in lower case, are the snapshot's
    player: int | None  # the seat to act; None once the game is over
    legal: int  # set of action ids
    gains: list[float] | None  # R3: points of the round or game that the last step ended, by seat, more is better
    terminated: bool
    truncated: bool

    @property
    def scores(self) -> list[int]:
        """Points so far, by seat."""

    def __init__(self, rules: Any) -> None: ...
    def deal(self, seed: int) -> None:
        """Start game `seed`."""

    def step(self, action: int) -> None:
        """Play one decision; the caller has checked that `action` is legal."""

    def standing(self) -> list[tuple[int, ...]]:
        """By seat, criteria of the final order in falling importance, each the lower the better."""

    def position(self) -> dict[str, Any]:
        """The state as a snapshot's plain values."""

    def set_position(self, position: dict[str, Any]) -> None:
        """Take over a position that the notation has checked."""

    def resample(self, seat: int, key: int) -> None:
        """Redraw what `seat` can't see, uniformly over the states that give it the same view, with a fresh game seed."""


@dataclass(slots=True)
class StepEvents:
    """What a machine's step has ended."""

    over: Index  # [K] rows whose game is over now
    truncated: Flags  # [K] … by R6 and not by the rules
    scored: Index  # [L] rows in which points were made that R3 rewards
    gains: F64  # [P, L] those points, more is better

    @classmethod
    def none(cls) -> StepEvents:
        """Nothing has ended."""
        return cls(_NO_ROWS, _NO_FLAGS, _NO_ROWS, _NO_GAINS)

    def end(self, rows: Index, truncated: bool) -> None:
        """Add games that are over now."""
        self.over = np.concatenate([self.over, rows])
        self.truncated = np.concatenate([self.truncated, np.full(len(rows), truncated)])


_NO_ROWS = np.zeros(0, dtype=np.intp)
_NO_FLAGS = np.zeros(0, dtype=np.bool_)
_NO_GAINS = np.zeros((0, 0), dtype=np.float64)


class Machine(Protocol):
    """N games at once. Rows hold no game until `deal` or `set_position` has put one there."""

    rules: Any
    num_games: int
    num_players: int
    num_actions: int

    @property
    def player(self) -> Any:
        """The seat to act, uint8 [N]; 255 once a game is over."""

    @property
    def phase(self) -> Any:
        """Integers [N]."""

    @property
    def decisions(self) -> Any:
        """Decisions made so far, integers [N]."""

    @property
    def seed(self) -> U64:
        """Game seeds, [N]."""

    @property
    def truncated(self) -> Any:
        """0/1 [N]: ended by R6."""

    @property
    def legal_words(self) -> U64:
        """[N, W], bit a of a row is action a."""

    @property
    def scores(self) -> Any:
        """Points so far, integers [P, N]."""

    def __init__(self, num_games: int, rules: Any) -> None: ...
    def deal(self, rows: Index, seeds: U64) -> None:
        """Start game `seeds[j]` in row `rows[j]`."""

    def step(self, actions: Index, rows: Index | None = None) -> StepEvents:
        """Play `actions[j]` in row `rows[j]`, or in every row; legal, and in games that are not over."""

    def standing(self, rows: Index) -> I64:
        """Criteria of the final order in falling importance, each the lower the better: [D, P, K]."""

    def position(self, row: int) -> dict[str, Any]:
        """One game's state as a snapshot's plain values."""

    def set_position(self, row: int, position: dict[str, Any]) -> None:
        """Take over a position that the notation has checked."""

    def take(self, rows: Index) -> Machine:
        """Copies of these games, repeats allowed, as a new machine."""

    def select(self, rows: Index) -> Machine:
        """These games as a machine to read from, which may share memory with this one."""

    def resample(self, rows: Index, viewer: Index, keys: U64) -> None:
        """Redraw what seat `viewer[j]` of game `rows[j]` can't see; `keys[j]` is the only source of randomness."""


def _optional(package: str, name: str) -> ModuleType | None:
    found = importlib.util.find_spec(f"{package}.{name}")
    return importlib.import_module(f"{package}.{name}") if found is not None else None


@dataclass(frozen=True)
class GameDefinition:
    """A game, put together from its folder."""

    id: str  # the package's last name, `NAME_vN`
    package: str
    rules_type: type[RuleOptions]
    game_type: Callable[[Any], Game]
    machine_type: Callable[[int, Any], Machine] | None
    view: ModuleType
    encode: ModuleType
    notation: ModuleType
    draw: ModuleType | None = None

    def __reduce__(self) -> tuple[Callable[[str], GameDefinition], tuple[str]]:
        # Modules can't be pickled: another process finds the game again by its package.
        return _imported, (self.package,)

    def __deepcopy__(self, memo: dict[int, Any]) -> GameDefinition:
        return self

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that this game has."""
        return ("python", "numpy") if self.machine_type is not None else ("python",)

    @property
    def rule_options(self) -> dict[str, Any]:
        """The rule options with their defaults."""
        return {field.name: field.default for field in fields(self.rules_type)}

    def env(self, **options: Any) -> Env:
        """The game as a PettingZoo AEC environment that checks every call as PettingZoo's usual wrappers do.

        Options: `easyenvs.adapters.aec.RawEnv` lists them.
        """
        from easyenvs.adapters.aec import Env

        return Env(self, **options)

    def raw_env(self, **options: Any) -> RawEnv:
        """The game as a PettingZoo AEC environment without the wrappers' checks.

        Options: `easyenvs.adapters.aec.RawEnv` lists them.
        """
        from easyenvs.adapters.aec import RawEnv

        return RawEnv(self, **options)

    def batch(self, num_games: int, **options: Any) -> Batch:
        """Many games at once: a `easyenvs.core.batch.Batch`, which lists the options."""
        from easyenvs.core.batch import Batch

        return Batch(self, num_games, **options)


def _imported(package: str) -> GameDefinition:
    game: GameDefinition = importlib.import_module(package).GAME
    return game


def define(package: str) -> GameDefinition:
    """Put a game together from the modules of its folder."""
    needed = {
        name: importlib.import_module(f"{package}.{name}") for name in ("options", "game", "view", "encode", "notation")
    }
    machine = _optional(package, "machine")
    return GameDefinition(
        id=package.rpartition(".")[2],
        package=package,
        rules_type=needed["options"].Rules,
        game_type=needed["game"].Game,
        machine_type=machine.Machine if machine is not None else None,
        view=needed["view"],
        encode=needed["encode"],
        notation=needed["notation"],
        draw=_optional(package, "draw"),
    )


def front_door(game: GameDefinition) -> tuple[Callable[..., Env], Callable[..., RawEnv], Callable[..., Batch]]:
    """`env`, `raw_env` and `batch` of a game, with signatures that name every option."""
    from easyenvs.core.batch import BATCH_OPTIONS, ENV_OPTIONS

    def env(**options: Any) -> Env:
        return game.env(**options)

    def raw_env(**options: Any) -> RawEnv:
        return game.raw_env(**options)

    def batch(num_games: int, **options: Any) -> Batch:
        return game.batch(num_games, **options)

    first = inspect.Parameter("num_games", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    batch_options = {**BATCH_OPTIONS, "engine": game.engines[-1]}
    functions: tuple[tuple[Any, dict[str, Any], list[inspect.Parameter]], ...] = (
        (env, ENV_OPTIONS, []),
        (raw_env, ENV_OPTIONS, []),
        (batch, batch_options, [first]),
    )
    for function, own, leading in functions:
        defaults = {**game.rule_options, **own}
        keywords = [inspect.Parameter(k, inspect.Parameter.KEYWORD_ONLY, default=v) for k, v in defaults.items()]
        function.__signature__ = inspect.Signature([*leading, *keywords])
        function.__module__ = game.package
        function.__doc__ = getattr(GameDefinition, function.__name__).__doc__
    return env, raw_env, batch
