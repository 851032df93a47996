"""Policies: what one is given, how it is named, the uniform random policy, and how policies play a batch.

A policy is a function of a batch of M decisions, `policy(d) -> int [M]`, where `d` is a `Decisions`. Its only source of
randomness is `d.keys`; so it plays the same game alone, in any batch, split in any way, and in the AEC environment.

    N games  M decisions  P seats  A actions  W words of 64 action bits
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from easyenvs.core import bits, chance, views
from easyenvs.core.arrays import F64, U64, Flags, Index
from easyenvs.core.encoders import Encoder, make_encoder
from easyenvs.core.options import integer_option
from easyenvs.core.weights import load_weights

if TYPE_CHECKING:
    from easyenvs.core.batch import Batch
    from easyenvs.core.game import GameDefinition

ENTRY_POINTS: Final = "easyenvs.policies"
AGENTS_PACKAGE: Final = "easyenvs_agents"
WEIGHTS_SUFFIX: Final = ".npz"
MAX_COPIES: Final = 10**6


Redraw = Callable[[Index, U64], "Batch"]
"""(numbers of decisions [K], keys [K]) -> a batch of K games: those decisions' games, with everything redrawn by the keys that
their acting seats can't see. It is all that is left of the games once a policy has been asked."""


class Decisions:
    """A batch of M decisions, one in each of M games: all that a policy is given. Nothing hidden is in it.

    Attributes:
        game: the game's id.
        num_players: P.
        rules: the rule options.
        seat: intp [M], the seat to act.
        legal_words: uint64 [M, W], the legal actions, bit a of a row is action a.
        view: what the seat may know, the game's `View` of M games (arrays with the games last).
        keys: uint64 [M], the policy's random keys.
    """

    def __init__(
        self,
        definition: GameDefinition,
        rules: Any,
        seat: Index,
        legal_words: U64,
        view: Any,
        keys: U64,
        encoders: dict[str, Encoder] | None = None,  # by name, made before: to make one takes longer than to use it
        redraw: Redraw | None = None,
    ) -> None:
        self._definition = definition
        self.game = definition.id
        self.rules = rules
        self.num_players: int = rules.num_players
        self.num_actions = len(definition.notation.ACTION_NAMES)
        self.seat = seat
        self.legal_words = legal_words
        self.view = view
        self.keys = keys
        self._legal: Flags | None = None
        self._encoders = {} if encoders is None else encoders
        self._redraw = redraw

    def __len__(self) -> int:
        return len(self.seat)

    @property
    def legal(self) -> Flags:
        """Which actions are legal, bool [M, A]; every row has one at least."""
        if self._legal is None:
            self._legal = bits.unpack(self.legal_words, self.num_actions).view(np.bool_)
        return self._legal

    def observe(self, observation: str | Encoder = "flat") -> Any:
        """The acting seats' observations by an encoder's name or an encoder, the games first."""
        if not isinstance(observation, str):
            return observation(self.view)
        if observation not in self._encoders:
            self._encoders[observation] = make_encoder(self._definition, self.rules, observation)
        return self._encoders[observation](self.view)

    def pick(self, rows: npt.NDArray[np.integer[Any]]) -> Decisions:
        """Some of the decisions, by number [K]."""
        which, view, redraw = np.asarray(rows, dtype=np.intp), self.view, self._redraw
        return Decisions(
            self._definition,
            self.rules,
            self.seat[which],
            self.legal_words[which],
            None if view is None else views.pick(view, which),
            self.keys[which],
            self._encoders,
            None if redraw is None else lambda numbers, keys: redraw(which[numbers], keys),
        )

    def determinize(
        self, copies: int | npt.NDArray[np.integer[Any]], *, rows: npt.NDArray[np.integer[Any]] | None = None
    ) -> Batch:
        """Games that could be the ones to be decided, to search in: whatever the acting seat can't see is redrawn, uniformly
        over the states that give it the same view, and so is all chance to come.

        Args:
            copies: an int c, for copies 0 … c − 1 of every decision, side by side; or numbers of copies [K] of the decisions
                `rows` [K]. The same copy of the same decision is the same game at every call, in any batch, on any engine.
            rows: integers [M'] or [K], which of the decisions (default: all).

        Returns:
            a batch of M · c, or K, games without autoreset, the caller's own.

        Raises:
            OptionError: `copies` is out of range.
            ValueError: the shapes don't match, or nobody knows the games any more (the decisions were made by hand, without
                a view, or their games have gone on).
        """
        which = np.arange(len(self), dtype=np.intp) if rows is None else np.asarray(rows)
        if which.dtype.kind not in "iu" or which.ndim != 1 or not which.size:
            raise ValueError(f"rows are {which.dtype} of shape {which.shape}; integers [M], at least one, are accepted")
        if which.min() < 0 or which.max() >= len(self):
            raise ValueError(f"rows are {which.min()} … {which.max()}; decisions are 0 … {len(self) - 1}")
        number = np.asarray(copies)
        if number.ndim == 0:
            every = integer_option("copies", copies, 1, MAX_COPIES)
            number = np.tile(np.arange(every), len(which))
            which = which.repeat(every)
        if number.dtype.kind not in "iu" or number.shape != which.shape or number.min() < 0:
            raise ValueError(
                f"copies are {number.dtype} of shape {number.shape}; an integer, or integers {which.shape} of at least 0, "
                "are accepted"
            )
        if self._redraw is None or self.view is None:
            raise ValueError(
                "these decisions can't be determinized: they were not made by `decisions` or by an environment's "
                "`decision`, or without a view"
            )
        which = which.astype(np.intp)
        worlds = self._redraw(
            which, chance.derive_array(chance.DOMAIN_RESAMPLE, self.keys[which], number.astype(np.uint64))
        )
        self._check_view(worlds, which)
        return worlds

    def _check_view(self, worlds: Batch, which: Index) -> None:
        """Redrawn games look to the acting seat as its decision does, unless a game has gone on since."""
        decision, first = np.unique(which, return_index=True)
        seen = worlds.view(self.seat[decision], where=first)
        for field in fields(seen):
            if "dtype" in field.metadata and not np.array_equal(
                getattr(seen, field.name), getattr(self.view, field.name)[..., decision]
            ):
                raise ValueError("these decisions can't be determinized any more: their games have gone on since")


class Policy(Protocol):
    """Chooses an action in each of M decisions.

    A policy may say what it thinks: by a method `probabilities(d)`, float [M, A], its probability of every action, 0 for
    illegal ones. What shows games to people asks for it (`probabilities_of`); nothing else does.
    """

    def __call__(self, d: Decisions, /) -> npt.NDArray[Any]:
        """Legal action ids, integers [M]."""


class RandomPolicy:
    """Every legal action is as likely as any other."""

    needs_view: Final = False

    def __call__(self, d: Decisions, /) -> Index:
        """Legal action ids, intp [M]."""
        return bits.select(d.legal_words, chance.below(d.keys, bits.count_words(d.legal_words)))

    def probabilities(self, d: Decisions) -> F64:
        """One over the number of legal actions: [M, A]."""
        return d.legal / bits.count_words(d.legal_words)[:, None]


random_policy: Final = RandomPolicy()


def decisions(batch: Batch, rows: Index | None = None, *, seed: int = 0, with_view: bool = True) -> Decisions:
    """The decisions to be made in these rows of a batch (None: all), none of which is over. `seed` is the policy's."""
    words, keys, player = batch.legal_words, batch.policy_keys(seed), batch.player
    view = batch.view(where=rows) if with_view else None
    if rows is not None:
        words, keys, player = words[rows], keys[rows], player[rows]
    seat = player.astype(np.intp)

    def redraw(which: Index, keys: U64) -> Batch:
        return batch.redrawn(which if rows is None else rows[which], seat[which], keys)

    return Decisions(batch.game, batch.rules, seat, words, view, keys, batch.encoders, redraw)


def act(
    batch: Batch,
    policies: Sequence[Policy],
    assignment: npt.NDArray[np.integer[Any]] | None = None,
    *,
    seeds: Sequence[int] | None = None,
) -> Index:
    """Every game's next action: intp [N], 0 where a game is over.

    policies: one a seat; or any number, where `assignment` [N, P] says which of them sits where.
    seeds: a seed for each policy (default 0).
    """
    if seeds is not None and len(seeds) != len(policies):
        raise ValueError(f"{len(seeds)} seeds are given for {len(policies)} policies: one each")
    player = batch.player
    running = np.flatnonzero(player >= 0)
    chosen = np.zeros(batch.num_games, dtype=np.intp)
    if assignment is None:
        if len(policies) != batch.num_players:
            raise ValueError(
                f"{len(policies)} policies are given for {batch.num_players} seats: one a seat, or an assignment"
            )
        sits = player
    else:
        sits = np.full(batch.num_games, -1, dtype=np.int64)
        sits[running] = assignment[running, player[running]]
    for index, policy in enumerate(policies):
        rows = np.flatnonzero(sits == index)
        if rows.size:
            everywhere = None if len(rows) == batch.num_games else rows
            seed = 0 if seeds is None else seeds[index]
            d = decisions(batch, everywhere, seed=seed, with_view=getattr(policy, "needs_view", True))
            chosen[rows] = checked_choice(policy, d)
    return chosen


def checked_choice(policy: Policy, d: Decisions) -> Index:
    """What a policy chooses, or an error that names it: integers [M] are accepted (whether they are legal, `step` says)."""
    choice = np.asarray(policy(d))
    if choice.dtype.kind not in "iu" or choice.shape != (len(d),):
        raise TypeError(
            f"the policy {policy!r} returned {choice.dtype} of shape {choice.shape}; integers [{len(d)}] are accepted"
        )
    return choice.astype(np.intp)


def probabilities_of(policy: Policy, d: Decisions) -> F64 | None:
    """The policy's probability of every action, [M, A]; None if it has no method `probabilities`.

    Raises:
        TypeError: it gives something else than floats [M, A].
        ValueError: a number that is no probability, an illegal action with more than 0, or a sum that is not 1.
    """
    method = getattr(policy, "probabilities", None)
    if method is None:
        return None
    given = np.asarray(method(d))
    if given.dtype.kind != "f" or given.shape != d.legal.shape:
        raise TypeError(
            f"the probabilities of {policy!r} are {given.dtype} of shape {given.shape}; "
            f"floats {list(d.legal.shape)} are accepted"
        )
    probabilities = given.astype(np.float64)
    if not ((probabilities >= 0).all() and np.allclose(probabilities.sum(axis=1), 1.0, atol=1e-3)):
        raise ValueError(f"the probabilities of {policy!r} are no distributions: each at least 0, with the sum 1")
    if probabilities[~d.legal].any():
        raise ValueError(f"the probabilities of {policy!r} are above 0 for illegal actions")
    return probabilities


def policy_name(policy: str | Policy) -> str:
    """What records and pages call a policy: its name, or where it is defined."""
    if isinstance(policy, str):
        return policy
    if policy is random_policy:
        return "random"
    named: Any = policy if hasattr(policy, "__qualname__") else type(policy)
    return f"{named.__module__}:{named.__qualname__}"


# ------------------------------------------------------------------------------------------------- names


def _agents() -> ModuleType | None:
    """The package of the agents that ship with easyenvs: installed with the wheel, or `examples/agents` of a checkout."""
    if AGENTS_PACKAGE in sys.modules:
        return sys.modules[AGENTS_PACKAGE]
    # The checkout first: an editable install has a copy of the agents, which grows stale.
    folder = Path(__file__).resolve().parents[2] / "examples" / "agents"
    source = folder / "__init__.py"
    if not (source.is_file() and (folder.parents[1] / "pyproject.toml").is_file()):
        installed = importlib.util.find_spec(AGENTS_PACKAGE) is not None
        return importlib.import_module(AGENTS_PACKAGE) if installed else None
    spec = importlib.util.spec_from_file_location(AGENTS_PACKAGE, source, submodule_search_locations=[str(folder)])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[AGENTS_PACKAGE] = module
    spec.loader.exec_module(module)
    return module


def agent_names(game: GameDefinition) -> list[str]:
    """The agents that ship for a game: those that `load_policy` finds by a plain name."""
    return sorted(_agent_modules(game))


def agent_module(name: str, game: GameDefinition) -> str:
    """The module of an agent that ships for a game."""
    return _agent_modules(game)[name]


def _agent_modules(game: GameDefinition) -> dict[str, str]:
    """By name: the agents for every game, a file each in the agents' folder, and in the game's own folder those for it."""
    agents = _agents()
    if agents is None:
        return {}
    found = {}
    for root in agents.__path__:
        for folder, package in ((Path(root), AGENTS_PACKAGE), (Path(root) / game.id, f"{AGENTS_PACKAGE}.{game.id}")):
            names = [file.stem for file in folder.glob("*.py") if not file.stem.startswith("_")]
            found.update({name: f"{package}.{name}" for name in names})
    return found


def plays_with(policy: Policy, num_players: int) -> bool:
    """Whether a policy plays with so many: what its method `plays_with` says, if it has one; others play with any number."""
    says = getattr(policy, "plays_with", None)
    return says is None or bool(says(num_players))


def load_policy(policy: str | Policy, game: GameDefinition) -> Policy:
    """A policy by name, or itself.

    Names: "random"; an agent that ships ("greedy", "heuristic" …: see `agent_names`); a weights file ("….npz", see
    `easyenvs.core.weights`); an entry point of the group `easyenvs.policies`; "module:attribute".

    Raises:
        ValueError: no policy has this name, or it is none for this game.
    """
    if not isinstance(policy, str):
        if not callable(policy):
            raise ValueError(f"{policy!r} is no policy: a name, or a function of decisions")
        return policy
    if policy == "random":
        return random_policy
    if policy.endswith(WEIGHTS_SUFFIX):
        network = load_weights(policy)
        if network.about["game"] != game.id:
            raise ValueError(f"the weights {policy!r} play {network.about['game']}, not {game.id}")
        return network
    if policy in agent_names(game):
        return importlib.import_module(agent_module(policy, game)).policy  # type: ignore[no-any-return]
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS, name=policy):
        return entry.load()  # type: ignore[no-any-return]
    module_name, colon, attribute = policy.partition(":")
    if colon:
        try:
            found = getattr(importlib.import_module(module_name), attribute)
        except (ImportError, AttributeError) as error:
            raise ValueError(f"the policy {policy!r} can't be loaded: {error}") from error
        if not callable(found):
            raise ValueError(f"the policy {policy!r} is {found!r}, not a function of decisions")
        return found  # type: ignore[no-any-return]
    known = [
        "random",
        *agent_names(game),
        *(entry.name for entry in importlib.metadata.entry_points(group=ENTRY_POINTS)),
    ]
    raise ValueError(
        f"{policy!r} names no policy of {game.id}; known are {', '.join(known)}, a weights file "
        "'….npz', and 'module:attribute'"
    )


# Now, and not when an agent is first asked for by name: a policy that another process has sent is unpickled before that, and
# has to come from the same files.
_agents()
