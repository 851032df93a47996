"""The conformance kit: checks that every game has to pass, for people who add one.

    from easyenvs.testing import check_game
    check_game("peasy_v0")                                          # everything, every engine, every number of players

    from easyenvs.testing import check_masks
    check_masks("peasy_v0", engine="numpy", num_players=4)          # one check, on one of them

Every check is a function of a game and raises an AssertionError whose text is a sentence: in which game, with which
seed, at which decision, what was expected and what was found. Its docstring names the fault that it guards against, one
that users of other libraries have reported. CHECKS lists them; in a test suite:

    @pytest.mark.parametrize(("check", "engine", "num_players"), check_cases(game))
    def test_conformance(check, engine, num_players):
        check(game, engine=engine, num_players=num_players)

`check_spawned_process` starts a process, so a script that calls it has to be guarded by `if __name__ == "__main__":`.

Golden playthroughs are here, too: `playthrough` writes a whole game as text, `replay_playthrough` plays it again line
by line, and `python -m easyenvs.testing [GAME …]` writes the `playthrough.txt` of a game's folder anew.

    N games  P seats  A actions  M the games of a view
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import functools
import importlib
import json
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal, NoReturn, Protocol
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo.utils.conversions import aec_to_parallel
from pettingzoo.utils.env_logger import EnvLogger

from easyenvs import registry
from easyenvs.adapters.aec import Env, RawEnv
from easyenvs.core import bits, chance, policies, views
from easyenvs.core.batch import Batch
from easyenvs.core.encoders import ENCODERS, Encoder, Slice
from easyenvs.core.errors import ActionTypeError, IllegalActionError, MissingExtraError, SnapshotError
from easyenvs.core.game import GameDefinition
from easyenvs.core.options import RuleOptions
from easyenvs.core.rewards import REWARDS

GameLike = GameDefinition | ModuleType | str
Dependence = Literal["engine", "players"]

MAX_PLAYERS: Final = 12
"""Numbers of players that are tried to find out which of them a game accepts."""
TOLERANCE: Final = 1e-6
"""Rewards are float32 in a batch."""
HEAVY_MODULES: Final = (
    "torch",
    "pygame",
    "resvg_py",
    "stable_baselines3",
    "sb3_contrib",
    "matplotlib",
    "tensorflow",
    "jax",
    "typer",
)
"""What a bare `import easyenvs` must not import."""

BATCH_ARRAYS: Final[dict[str, tuple[str, str]]] = {
    "player": ("int64", "N"),
    "legal": ("bool", "NA"),
    "legal_words": ("uint64", "NW"),
    "terminated": ("bool", "N"),
    "truncated": ("bool", "N"),
    "rewards": ("float32", "NP"),
    "scores": ("int64", "NP"),
    "final_scores": ("int64", "NP"),
    "seeds": ("uint64", "N"),
    "first_seeds": ("uint64", "N"),
    "game_index": ("uint64", "N"),
    "decisions": ("int64", "N"),
    "phase": ("int64", "N"),
}
"""What a batch shows: name -> (dtype, axes)."""


# ------------------------------------------------------------------------------------------------- cases, the list


@dataclasses.dataclass(frozen=True)
class Case:
    """What a check runs on: a game, an engine, a number of players, other rule options, and which games are played."""

    game: GameDefinition
    engine: str
    num_players: int
    num_games: int
    seed: int
    rules: Mapping[str, Any]

    def __str__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.rules.items())
        return f"{self.game.id} (engine {self.engine}, {self.num_players} players{options})"

    @property
    def options(self) -> dict[str, Any]:
        """The rule options."""
        return {"num_players": self.num_players, **self.rules}

    @property
    def seeds(self) -> list[int]:
        """The game seeds that are played: those of a batch with the seed `seed`."""
        return [chance.row_seed(self.seed, row) for row in range(self.num_games)]

    def env(self, **options: Any) -> Env:
        """The game's environment, with PettingZoo's checks."""
        return self.game.env(**{"engine": self.engine, **self.options, **options})

    def raw_env(self, **options: Any) -> RawEnv:
        """The game's environment, without them."""
        return self.game.raw_env(**{"engine": self.engine, **self.options, **options})

    def batch(self, num_games: int, **options: Any) -> Batch:
        """Many of the games."""
        return self.game.batch(num_games, **{"seed": self.seed, "engine": self.engine, **self.options, **options})

    def fail(self, sentence: str, *, seed: int | None = None, decision: object = None) -> NoReturn:
        """Raise the AssertionError of a check."""
        where = str(self)
        where += "" if seed is None else f", game seed {seed}"
        where += "" if decision is None else f", decision {decision}"
        raise AssertionError(f"{where}: {sentence}")

    def same(self, what: str, expected: Any, found: Any, *, seed: int | None = None, decision: object = None) -> None:
        """Fail unless two values are the same in type, shape and content; `what` begins the sentence."""
        found_difference = difference(expected, found)
        if found_difference is not None:
            self.fail(f"{what}: {found_difference}", seed=seed, decision=decision)

    def refuses(
        self,
        what: str,
        errors: type[Exception] | tuple[type[Exception], ...],
        call: Callable[..., object],
        *arguments: Any,
        **options: Any,
    ) -> str:
        """The text of the error with which a call is refused; it fails if the call isn't."""
        raised = None
        try:
            call(*arguments, **options)
        except Exception as error:
            raised = error
        if raised is None:
            self.fail(f"{what} should raise {_names_of(errors)}, but was accepted")
        if not isinstance(raised, errors):
            self.fail(f"{what} should raise {_names_of(errors)}, but raised {raised!r}")
        return str(raised)


def _names_of(errors: type[Exception] | tuple[type[Exception], ...]) -> str:
    return " or ".join(error.__name__ for error in (errors if isinstance(errors, tuple) else (errors,)))


class Check(Protocol):
    """A check of CHECKS. `depends_on` says what makes a difference to it, beside the game."""

    __name__: str
    depends_on: tuple[Dependence, ...]

    def __call__(
        self,
        game: GameLike,
        *,
        engine: str = "python",
        num_players: int | None = None,
        num_games: int = 2,
        seed: int = 0,
        **rules: Any,
    ) -> None:
        """Raise an AssertionError if the game doesn't conform."""


CHECKS: Final[list[Check]] = []
"""All checks, in the order in which `check_game` runs them."""


def _check(*depends_on: Dependence) -> Callable[[Callable[[Case], None]], Check]:
    """Makes a check of a function of a case, and puts it on the list."""

    def make(body: Callable[[Case], None]) -> Check:
        @functools.wraps(body)
        def check(
            game: GameLike,
            *,
            engine: str = "python",
            num_players: int | None = None,
            num_games: int = 2,
            seed: int = 0,
            **rules: Any,
        ) -> None:
            definition = registry.find_game(game)
            players = definition.rule_options["num_players"] if num_players is None else num_players
            case = Case(definition, engine, players, num_games, seed, rules)
            try:
                body(case)
            except AssertionError as error:
                error.add_note(f"found by easyenvs.testing.{body.__name__}")
                raise
            except Exception as error:
                raise AssertionError(f"{case}: {body.__name__} could not go on, as {error!r} was raised") from error

        # Readers and the docs shall see the arguments of the check, and not the case that is made of them.
        del check.__wrapped__
        check.depends_on = depends_on  # type: ignore[attr-defined]
        made: Check = check  # type: ignore[assignment]
        CHECKS.append(made)
        return made

    return make


def player_numbers(game: GameLike) -> list[int]:
    """The numbers of players that a game accepts."""
    definition = registry.find_game(game)
    accepted = []
    for number in range(1, MAX_PLAYERS + 1):
        with contextlib.suppress(ValueError):
            definition.rules_type(num_players=number)
            accepted.append(number)
    return accepted


def check_cases(
    game: GameLike, *, engines: Iterable[str] | None = None, num_players: Iterable[int] | None = None
) -> list[tuple[Check, str, int]]:
    """Every (check, engine, number of players) that makes a difference; None: all that the game has."""
    definition = registry.find_game(game)
    numbers = player_numbers(definition) if num_players is None else list(num_players)
    names = definition.engines if engines is None else tuple(engines)
    cases = []
    for check in CHECKS:
        for engine in names if "engine" in check.depends_on else names[:1]:
            for number in numbers if "players" in check.depends_on else numbers[-1:]:
                cases.append((check, engine, number))
    return cases


def check_game(
    game: GameLike,
    *,
    num_games: int = 2,
    seed: int = 0,
    engines: Iterable[str] | None = None,
    num_players: Iterable[int] | None = None,
    skip: Iterable[Check] = (),
    **rules: Any,
) -> None:
    """Run all checks on a game, on all of its engines and with every number of players.

    num_games: whole games played by most checks; seed: which ones. skip: checks that can't apply, such as
    `check_hidden_information` in a game that hides nothing. rules: rule options other than the number of players.

    Raises:
        AssertionError: the first check that fails; a sentence.
    """
    left_out = {check.__name__ for check in skip}
    for check, engine, number in check_cases(game, engines=engines, num_players=num_players):
        if check.__name__ not in left_out:
            check(game, engine=engine, num_players=number, num_games=num_games, seed=seed, **rules)


# ------------------------------------------------------------------------------------------------- comparing


_PLAIN: Final = frozenset((int, str, bool, float, bytes, type(None)))


def difference(expected: Any, found: Any, path: str = "") -> str | None:
    """The first difference between two values of any nesting (arrays by dtype, shape and content), or None."""
    kind = type(expected)
    if kind in _PLAIN and type(found) is kind and expected == found:
        return None
    at = f"at {path}, " if path else ""
    if isinstance(expected, np.ndarray) and isinstance(found, np.ndarray):
        if expected.dtype != found.dtype or expected.shape != found.shape:
            return (
                f"{at}{expected.dtype} {list(expected.shape)} was expected, {found.dtype} {list(found.shape)} was found"
            )
        unequal = expected != found
        if not unequal.any():
            return None
        index = tuple(np.argwhere(np.atleast_1d(unequal))[0].tolist())
        one, other = np.atleast_1d(expected)[index], np.atleast_1d(found)[index]
        return f"at {path}{list(index)}, {one} was expected, {other} was found"
    if type(found) is not kind:
        return f"{at}{expected!r} ({kind.__name__}) was expected, {found!r} ({type(found).__name__}) was found"
    if isinstance(expected, dict):
        if expected.keys() != found.keys():
            return f"{at}the keys {list(expected)} were expected, {list(found)} were found"
        pairs: Iterable[tuple[str, Any, Any]] = ((f"[{key!r}]", expected[key], found[key]) for key in expected)
    elif isinstance(expected, (list, tuple)):
        if len(expected) != len(found):
            return f"{at}{len(expected)} entries were expected, {len(found)} were found"
        kinds = {*map(type, expected), *map(type, found)}
        if len(kinds) == 1 and kinds <= _PLAIN and expected == found:
            return None  # most of a snapshot: entry by entry would take most of the kit's time
        pairs = ((f"[{i}]", one, other) for i, (one, other) in enumerate(zip(expected, found, strict=True)))
    elif dataclasses.is_dataclass(expected) and not isinstance(expected, (type, RuleOptions)):
        names = [field.name for field in dataclasses.fields(expected)]
        pairs = ((f".{name}", getattr(expected, name), getattr(found, name)) for name in names)
    else:
        return None if expected == found else f"{at}{expected!r} was expected, {found!r} was found"
    for step, one, other in pairs:
        inner = difference(one, other, path + step)
        if inner is not None:
            return inner
    return None


def _without(values: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}


def _arrays_of(value: Any, path: str = "") -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Every array in nested containers and dataclasses, with where it is."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _arrays_of(inner, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for i, inner in enumerate(value):
            yield from _arrays_of(inner, f"{path}[{i}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, (type, RuleOptions)):
        for field in dataclasses.fields(value):
            yield from _arrays_of(getattr(value, field.name), f"{path}.{field.name}")


def _held_arrays(thing: Any, path: str, seen: set[int]) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Every writeable array that an object holds, directly or in the objects that it holds."""
    if id(thing) in seen or isinstance(thing, (type, ModuleType, GameDefinition, RuleOptions, spaces.Space, str, int)):
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        if thing.flags.writeable and thing.size:
            yield path, thing
        return
    if isinstance(thing, dict):
        inner = [(f"{path}[{key!r}]", value) for key, value in thing.items()]
    elif isinstance(thing, (list, tuple)):
        inner = [(f"{path}[{i}]", value) for i, value in enumerate(thing)]
    elif isinstance(thing, Encoder):
        return  # tables only: an encoder has no state
    else:
        slots = [name for base in type(thing).__mro__ for name in getattr(base, "__slots__", ())]
        names = [*getattr(thing, "__dict__", {}), *slots]
        inner = [(f"{path}.{name}", getattr(thing, name)) for name in names if hasattr(thing, name)]
    for where, value in inner:
        yield from _held_arrays(value, where, seen)


# ------------------------------------------------------------------------------------------------- playing


def _pick(legal: Sequence[int], *keys: int) -> int:
    """One of the legal actions, as good as at random."""
    key = 0
    for number in keys:
        key = chance.derive(chance.DOMAIN_POLICY, key, number)
    return legal[key % len(legal)]


def _is_over(env: RawEnv) -> bool:
    return any(env.terminations.values()) or any(env.truncations.values())


def _to_decide(case: Case, env: RawEnv) -> Iterator[int]:
    """The number of decisions made, before each of a game's; the caller plays them."""
    decision = 0
    while not _is_over(env):
        if decision >= env.rules.max_decisions:
            case.fail(f"the game goes on after {decision} decisions, but R6 ends it after {env.rules.max_decisions}")
        if not env.legal_actions():
            case.fail(f"{env.agent_selection} is to act, but has no legal action", decision=decision)
        yield decision
        decision += 1


def _played(case: Case, env: RawEnv, key: int = 0) -> Iterator[int]:
    """Plays a game with random legal actions: yields the number of decisions made, before each of them."""
    for decision in _to_decide(case, env):
        yield decision
        env.step(_pick(env.legal_actions(), key, decision))


def _random_actions(batch: Batch, seed: int = 0) -> npt.NDArray[np.intp]:
    """Uniform random legal actions of every game, 0 where a game is over."""
    seats = np.zeros((batch.num_games, batch.num_players), dtype=np.intp)
    return policies.act(batch, [policies.random_policy], seats, seeds=[seed])


def _to_step(batch: Batch, games: int = 1) -> Iterator[int]:
    """The number of calls made, until every row has ended a game (with autoreset: `games`); the caller makes them."""
    call = 0
    while (batch.game_index < np.uint64(games)).any() if batch.autoreset else (batch.player >= 0).any():
        yield call
        call += 1


def _stepped(batch: Batch, games: int = 1) -> Iterator[int]:
    """Plays a batch with random legal actions: yields the number of calls made, before each of them."""
    for call in _to_step(batch, games):
        yield call
        batch.step(_random_actions(batch))


def _shown(env: RawEnv) -> dict[str, Any]:
    """All that an environment shows, in values of their own."""
    return {
        "agents": list(env.agents),
        "agent_selection": env.agent_selection,
        "rewards": dict(env.rewards),
        "cumulative rewards": dict(env._cumulative_rewards),
        "terminations": dict(env.terminations),
        "truncations": dict(env.truncations),
        "infos": copy.deepcopy(dict(env.infos)),
        "observations": {agent: env.observe(agent) for agent in env.agents},
        "state": env.state(),
        "snapshot": env.snapshot(),
        "legal actions": env.legal_actions(),
    }


def _batch_shown(batch: Batch, encoders: Sequence[str] = ENCODERS) -> dict[str, Any]:
    """All that a batch shows."""
    shown: dict[str, Any] = {name: getattr(batch, name) for name in BATCH_ARRAYS}
    shown |= {"ranks": batch.ranks(), "policy keys": batch.policy_keys(1), "view": batch.view()}
    shown["observations"] = {name: batch.observe(name) for name in encoders}
    shown["snapshots"] = [batch.snapshot(row) for row in range(batch.num_games)]
    return shown


def _future(env: RawEnv, *, games: int = 1, key: int = 1) -> list[Any]:
    """Plays an environment to its end, and on through later deals: everything that happens, to be compared."""
    trace: list[Any] = []
    for game in range(games):
        if game:
            env.reset()
        trace.append(env.snapshot())
        while env.agents:
            observation, reward, terminated, truncated, info = env.last()
            seen = [array.tobytes() for _, array in _arrays_of([observation, info])]
            trace.append((env.agent_selection, reward, terminated, truncated, seen))
            env.step(None if terminated or truncated else _pick(env.legal_actions(), key, len(trace)))
        trace.append(env.snapshot())
    return trace


def _batch_future(batch: Batch, calls: int = 60) -> list[Any]:
    """Plays a batch on for a while, then deals anew: everything that happens, to be compared."""
    trace: list[Any] = []
    for call in range(calls):
        where = np.arange(batch.num_games) % 2 == 0 if call % 3 == 0 else None  # now and then only some of the games
        batch.step(_random_actions(batch, 1), where)
        trace.append([batch.player.tolist(), batch.rewards.tolist(), batch.final_scores.tolist(), batch.seeds.tolist()])
    trace += [batch.snapshot(row) for row in range(batch.num_games)]
    batch.reset()
    return trace + [batch.snapshot(row) for row in range(batch.num_games)]


def _telling_positions(case: Case, num_games: int = 12) -> list[dict[str, Any]]:
    """Snapshots that together show each feature of an observation, in every phase, that random play meets; and ends."""
    batch = case.game.batch(num_games, seed=case.seed, **case.options)
    starts = [part.start for part in _slices(batch.encoder("flat"))]
    positions: list[dict[str, Any]] = []
    seen: dict[int, npt.NDArray[np.bool_]] = {}
    for _ in _stepped(batch):
        shows = np.logical_or.reduceat(batch.observe("flat") != 0, starts, axis=1)
        phases, players = batch.phase.tolist(), batch.player.tolist()
        for row in range(num_games):
            known = seen.setdefault(phases[row], np.zeros(len(starts), dtype=np.bool_))
            if players[row] >= 0 and (shows[row] & ~known).any():
                known |= shows[row]
                positions.append(batch.snapshot(row))
    return positions + [batch.snapshot(row) for row in range(min(2, num_games))]


def _slices(encoder: Any) -> list[Slice]:
    slices: list[Slice] = encoder.slices
    return slices


# ------------------------------------------------------------------------------------------------- seats, rewards, ends


@_check("engine", "players")
def check_turns(case: Case) -> None:
    """Seats are asked and leave as PettingZoo's AEC API has it.

    Fault: agents that leave one by one while others play on, an acting seat that is not the position's, an end that
    only the last mover hears of.
    """
    for seed in case.seeds:
        env = case.env()
        env.reset(seed=seed)
        agents = [f"player_{seat}" for seat in range(case.num_players)]
        case.same("possible_agents", agents, list(env.possible_agents), seed=seed)
        case.same("agents after reset", agents, list(env.agents), seed=seed)
        case.same("rewards after reset", dict.fromkeys(agents, 0.0), dict(env.rewards), seed=seed)
        for decision in _played(case, env):
            player = env.snapshot()["player"]
            case.same("agent_selection", f"player_{player}", env.agent_selection, seed=seed, decision=decision)
            case.same("agents during the game", agents, list(env.agents), seed=seed, decision=decision)
            for name in ("terminations", "truncations"):
                case.same(f"{name} during the game", dict.fromkeys(agents, False), dict(getattr(env, name)), seed=seed)
        snapshot = env.snapshot()
        case.same("the phase at the end", "over", snapshot["phase"], seed=seed)
        case.same("the seat to act at the end", None, snapshot["player"], seed=seed)
        flags = [set(env.terminations.values()), set(env.truncations.values())]
        if flags not in ([{True}, {False}], [{False}, {True}]):
            case.fail(
                f"at the end all seats should be terminated, or all truncated; terminations are {env.terminations} and "
                f"truncations {env.truncations}",
                seed=seed,
            )
        ranks = case.game.batch(1, seed=[seed], **case.options)
        ranks.restore(0, snapshot)
        for agent in list(agents):
            case.same("the seat that leaves next", agent, env.agent_selection, seed=seed)
            case.same("the agents that are left", agents[agents.index(agent) :], list(env.agents), seed=seed)
            seat = agents.index(agent)
            info = env.last()[4]
            case.same(f"the score of {agent}", int(ranks.scores[0, seat]), info.get("score"), seed=seed)
            case.same(f"the rank of {agent}", float(ranks.ranks()[0, seat]), info.get("rank"), seed=seed)
            env.step(None)
        case.same("agents after all have left", [], list(env.agents), seed=seed)


def _expected_rewards(case: Case, reward: str, seed: int, actions: Sequence[int]) -> list[float]:
    """What R1–R3 pay the seats for a whole game, worked out from the bare game by other means than the library's."""
    game = case.game.game_type(case.game.rules_type(**case.options))
    game.deal(seed)
    players = range(case.num_players)
    points = [0.0] * case.num_players
    for action in actions:
        game.step(action)
        if game.gains is not None:
            points = [points[seat] + game.gains[seat] for seat in players]
    if reward == "score":
        return [(points[seat] - (sum(points) - points[seat]) / (case.num_players - 1)) / 10 for seat in players]
    if not game.terminated:
        return [0.0] * case.num_players
    order = [tuple(criteria) for criteria in game.standing()]
    if reward == "placement":
        ranks = [1 + sum(other < own for other in order) + (order.count(own) - 1) / 2 for own in order]
        return [1 - 2 * (rank - 1) / (case.num_players - 1) for rank in ranks]
    winners = order.count(min(order))
    if winners == case.num_players:
        return [0.0] * case.num_players
    return [1 / winners if own == min(order) else -1 / (case.num_players - winners) for own in order]


@_check("engine", "players")
def check_rewards(case: Case) -> None:
    """The sums of `last()`'s rewards, of `rewards` and of a batch's are the rules' result (R1–R3), for every seat.

    Fault: a reward credited to the wrong seat, or lost for the seats that don't move last.
    """
    for reward in REWARDS:
        batch = case.batch(case.num_games, reward=reward)
        by_row = np.zeros((case.num_games, case.num_players))
        played: list[list[int]] = []
        for row, seed in enumerate(case.seeds):
            env = case.env(reward=reward)
            env.reset(seed=seed)
            by_last = dict.fromkeys(env.possible_agents, 0.0)
            by_step = dict.fromkeys(env.possible_agents, 0.0)
            actions: list[int] = []
            for agent in env.agent_iter():
                _, earned, terminated, truncated, _ = env.last()
                by_last[agent] += earned
                if terminated or truncated:
                    env.step(None)
                    continue
                actions.append(_pick(env.legal_actions(), seed, len(actions)))
                env.step(actions[-1])
                for other, amount in env.rewards.items():
                    by_step[other] += amount
            played.append(actions)
            expected = _expected_rewards(case, reward, seed, actions)
            for what, sums in (("last()", by_last), ("rewards", by_step)):
                _check_payment(case, f"the rewards ({reward}) of {what}", expected, list(sums.values()), seed)
            if abs(sum(expected)) > TOLERANCE:
                case.fail(f"the rewards ({reward}) add up to {sum(expected)}; R1–R3 are zero-sum", seed=seed)
            by_row[row] = expected
        paid = np.zeros((case.num_games, case.num_players))
        for call in range(max(map(len, played))):
            running = np.array([row for row, actions in enumerate(played) if call < len(actions)])
            batch.step([played[row][call] for row in running], where=running)
            paid += batch.rewards
        for row, seed in enumerate(case.seeds):
            _check_payment(case, f"the rewards ({reward}) of the batch", by_row[row].tolist(), paid[row].tolist(), seed)


def _check_payment(case: Case, what: str, expected: list[float], found: list[float], seed: int) -> None:
    for seat, (one, other) in enumerate(zip(expected, found, strict=True)):
        if abs(one - other) > TOLERANCE * max(1.0, abs(one)):
            case.fail(f"{what} add up to {other:g} for seat {seat}; the game's result gives it {one:g}", seed=seed)


@_check("engine", "players")
def check_truncation(case: Case) -> None:
    """A game that runs into `max_cycles` is truncated for all seats, and pays nothing for it (R6).

    Fault: a limit that only the last mover hears of, that pays a half-finished game, or that counts as termination.
    """
    if "max_cycles" not in case.game.rule_options or "max_cycles" in case.rules:
        return
    for max_cycles in (1, 3):
        bound = max_cycles * case.num_players
        for reward in REWARDS:
            for row, seed in enumerate(case.seeds):
                env = case.env(max_cycles=max_cycles, reward=reward)
                env.reset(seed=seed)
                batch = case.batch(1, seed=[seed], max_cycles=max_cycles, reward=reward, autoreset=bool(row % 2))
                made = 0
                for decision in _to_decide(case, env):
                    action = _pick(env.legal_actions(), seed, decision)
                    env.step(action)
                    batch.step([action])
                    made = decision + 1
                truncated = all(env.truncations.values())
                if truncated and (made != bound or any(env.terminations.values())):
                    case.fail(
                        f"with max_cycles={max_cycles} a game should be truncated, and not terminated, after {bound} "
                        f"decisions; it was after {made}, with terminations {env.terminations}",
                        seed=seed,
                    )
                if truncated and any(env.rewards.values()):
                    case.fail(f"truncation should pay nothing; rewards ({reward}) are {env.rewards}", seed=seed)
                if truncated and env.snapshot().get("truncated") is not True:
                    case.fail("the snapshot of a truncated game should say so: truncated is not True", seed=seed)
                case.same("truncated in the batch", [truncated], batch.truncated.tolist(), seed=seed)
                case.same("terminated in the batch", [not truncated], batch.terminated.tolist(), seed=seed)
                scores = [info["score"] for info in env.infos.values()]
                case.same("final_scores of the batch", [scores], batch.final_scores.tolist(), seed=seed)
                rewards = np.array([list(env.rewards.values())], dtype=np.float32)
                case.same("rewards of the batch's last call", rewards, batch.rewards, seed=seed)


# ------------------------------------------------------------------------------------------------- what is seen


@_check("engine", "players")
def check_spaces(case: Case) -> None:
    """Every observation of every encoder lies in its space, with the space's dtype, for every seat, to the end.

    Fault: an observation whose dtype, shape or bounds are not what its space says; a space that is a new object at each
    call; a Dict observation that can't be flattened.
    """
    for seed in case.seeds:
        envs = {name: case.env(observation=name) for name in ENCODERS}
        for env in envs.values():
            env.reset(seed=seed)
        first = envs["flat"]
        for agent in first.possible_agents:
            if first.observation_space(agent) is not first.observation_space(agent):
                case.fail(f"observation_space({agent!r}) should be the same object at every call")
            if first.action_space(agent) is not first.action_space(agent):
                case.fail(f"action_space({agent!r}) should be the same object at every call")
            case.same("the number of actions", len(case.game.notation.ACTION_NAMES), int(first.action_space(agent).n))
        decision = 0
        while True:
            agents = [first.agent_selection, first.possible_agents[decision % case.num_players]]
            for name, env in envs.items():
                for agent in env.agents if decision == 0 or _is_over(env) else agents:
                    observation = env.observe(agent)
                    problem = _outside(env.observation_space(agent), observation, f"the {name} observation of {agent}")
                    if problem is not None:
                        case.fail(problem, seed=seed, decision=decision)
            problem = _outside(first.state_space, first.state(), "state()")
            if problem is not None:
                case.fail(problem, seed=seed, decision=decision)
            agent = agents[0]
            flat = envs["flat"].observe(agent)["observation"]
            named = envs["dict"].observe(agent)["observation"]
            space = envs["dict"].observation_space(agent)["observation"]  # type: ignore[index]
            flattened: Any = spaces.flatten(space, named)
            if np.sort(flattened).tobytes() != np.sort(flat).tobytes():
                case.fail("the dict observation doesn't hold the numbers of the flat one", seed=seed, decision=decision)
            if _is_over(first):
                break
            action = _pick(first.legal_actions(), seed, decision)
            for env in envs.values():
                env.step(action)
            decision += 1
    for name in ("flat", "bits"):
        encoder: Any = case.batch(1).encoder(name)
        _check_slices(case, f"the {name} encoder", _slices(encoder), encoder.space.shape[0])
    rules = case.game.rules_type(**case.options)
    state_space: Any = case.env().state_space
    _check_slices(case, "state()", case.game.encode.state_slices(rules), state_space.shape[0])


def _check_slices(case: Case, what: str, slices: Sequence[Slice], width: int) -> None:
    """Named slices lie side by side and cover all columns."""
    column = 0
    for part in slices:
        if part.start != column or part.stop <= part.start:
            case.fail(
                f"the slice {part.name!r} of {what} should begin at column {column}; it is {part.start} … {part.stop}"
            )
        column = part.stop
    names = [part.name for part in slices]
    if len(set(names)) < len(names):
        case.fail(f"{what} has two slices of the same name: {names}")
    if column != width:
        case.fail(f"the slices of {what} cover {column} columns; its space has {width}")


def _outside(space: spaces.Space[Any], value: Any, what: str) -> str | None:
    """What is wrong with a member of a space, stricter than `contains`: dtypes have to be equal."""
    if isinstance(space, spaces.Dict):
        if not isinstance(value, dict) or set(value) != set(space.spaces):
            return f"{what} should be a dict with the keys {sorted(space.spaces)}; it is {value!r}"
        problems = (_outside(inner, value[key], f"{what} under {key!r}") for key, inner in space.spaces.items())
        return next((problem for problem in problems if problem is not None), None)
    if isinstance(space, spaces.Box):
        if not isinstance(value, np.ndarray) or value.dtype != space.dtype or value.shape != space.shape:
            found = f"{value.dtype} {list(value.shape)}" if isinstance(value, np.ndarray) else repr(value)
            return f"{what} should be {space.dtype} {list(space.shape)}; it is {found}"
        within = (value >= space.low) & (value <= space.high)  # NaN is not, either
        if not within.all():
            index = tuple(np.argwhere(~within)[0].tolist())
            low, high = space.low[index], space.high[index]
            return f"{what} should lie in {low} … {high} at {list(index)}; it is {value[index]}"
        return None
    return None if space.contains(value) else f"{what} is not in {space}: {value!r}"


@_check("engine", "players")
def check_views(case: Case) -> None:
    """The fields of a view have the dtypes and shapes that they declare, the games last, for any seats.

    Fault: an undocumented or engine-dependent layout, on which a network or a policy silently goes wrong.
    """
    batch = case.batch(5)
    sizes = {"M": 5, "P": case.num_players}
    for call in _stepped(batch):
        if call % 7:
            continue
        for seat in (None, call % case.num_players, np.arange(5) % case.num_players):
            view = batch.view(seat)
            for field in dataclasses.fields(view):
                if "dtype" not in field.metadata:
                    continue
                shape = [int(sizes.get(axis, axis)) for axis in field.metadata["shape"].strip("[]").split(", ")]
                value = getattr(view, field.name)
                expected = f"{field.metadata['dtype']} {shape}"
                found = f"{value.dtype} {list(value.shape)}" if isinstance(value, np.ndarray) else repr(value)
                case.same(f"dtype and shape of the view's field {field.name}", expected, found, decision=call)


@_check("engine", "players")
def check_masks(case: Case) -> None:
    """Masks are 0/1 of one type and shape, the same in observation, info and batch; empty only for who is not to act.

    Faults: masks whose type differs between reset and step or observation and info; masks of shape (n, n, A); an
    all-False mask for a seat that is to act, which a masked distribution plays uniformly; a mask that changes when it
    is asked for.
    """
    num_actions = len(case.game.notation.ACTION_NAMES)
    for seed in case.seeds:
        env = case.env()
        env.reset(seed=seed)
        batch = case.batch(3, seed=[seed, *case.seeds[:1], seed])
        decision = 0
        while True:
            over = _is_over(env)
            legal = env.legal_actions()
            if over == bool(legal):
                case.fail(f"over is {over}, but the legal actions are {legal}", seed=seed, decision=decision)
            expected = np.zeros(num_actions, dtype=np.int8)
            for agent in env.agents:
                expected[:] = 0
                expected[legal if agent == env.agent_selection else []] = 1
                for again in ("", " asked for again"):
                    where = f"of {agent}{again}"
                    observed = env.observe(agent)["action_mask"]
                    case.same(f"the observation's mask {where}", expected, observed, seed=seed, decision=decision)
                    informed = env.infos[agent]["action_mask"]
                    case.same(f"the info's mask {where}", expected, informed, seed=seed, decision=decision)
            expected[:] = 0
            expected[legal] = 1
            for _ in range(2):
                observation, _, _, _, info = env.last()
                assert observation is not None
                case.same("last()'s mask", expected, observation["action_mask"], seed=seed, decision=decision)
                case.same("the mask in last()'s info", expected, info["action_mask"], seed=seed, decision=decision)
            masks = batch.legal
            case.same("the batch's mask", expected.astype(np.bool_), masks[0], seed=seed, decision=decision)
            words = np.zeros((3, -(-num_actions // 64)), dtype=np.uint64)
            for row, action in np.argwhere(masks).tolist():
                words[row, action // 64] |= np.uint64(1 << action % 64)
            case.same("the batch's legal_words", words, batch.legal_words, seed=seed, decision=decision)
            case.same("rows with a legal action", batch.player >= 0, masks.any(axis=1), decision=decision)
            if over:
                break
            sampled = int(env.action_space(env.agent_selection).sample(informed if legal == [] else expected))
            if sampled not in legal:
                case.fail(f"action_space.sample(mask) gave {sampled}; legal are {legal}", seed=seed, decision=decision)
            action = _pick(legal, seed, decision)
            env.step(action)
            actions = _random_actions(batch)
            actions[[0, 2]] = action
            batch.step(actions)
            decision += 1


@_check("engine", "players")
def check_legal_actions(case: Case) -> None:
    """Every legal action can be played, and leads to a possible position; others are refused, and change nothing.

    Faults: rules and mask disagree; an illegal move is played silently, or half of it.
    """
    positions = _telling_positions(case)
    num_actions = len(case.game.notation.ACTION_NAMES)
    env = case.raw_env()
    for position in positions:
        decision = f"{position['decisions']} (phase {position['phase']})"
        env.restore(position)
        legal = env.legal_actions()
        if position["phase"] == "over":
            case.same("the legal actions at the end", [], legal)
            continue
        for action in legal:
            name = env.action_name(action)
            case.same("the id of an action's name", action, env.parse_action(name))
            try:
                env.step(action)
            except Exception as error:
                case.fail(f"the legal action {name!r} should be accepted, but raised {error!r}", decision=decision)
            after = env.snapshot()
            case.same(f"decisions after {name!r}", position["decisions"] + 1, after["decisions"], decision=decision)
            try:
                env.restore(after)
            except SnapshotError as error:
                case.fail(f"the legal action {name!r} led to an impossible position: {error}", decision=decision)
            env.restore(position)
        before = _shown(env)
        illegal = [action for action in range(num_actions) if action not in legal] + [-1, num_actions, 2**70]
        for action in illegal:
            text = case.refuses(f"the illegal action {action}", IllegalActionError, env.step, action)
            for word in (position["phase"], str(position["player"]), str(action)):
                if word not in text:
                    case.fail(f"the error of an illegal action should name {word!r}; it says: {text}")
        for wrong in (float(legal[0]), str(legal[0]), True, np.bool_(True), None, np.array([legal[0]])):
            case.refuses(f"the action {wrong!r}", (ActionTypeError,), env.step, wrong)
        found = difference(before, _shown(env))
        if found is not None:
            case.fail(f"a refused action has changed something: {found}", decision=decision)
    for integer in (np.int64, np.uint8, np.int32, np.array):
        env.restore(positions[0])
        step: Callable[[Any], None] = env.step
        step(integer(env.legal_actions()[-1]))
    _check_batch_refusals(case, positions)


def _check_batch_refusals(case: Case, positions: list[dict[str, Any]]) -> None:
    """A batch refuses the whole call before anything changes, and says which game it is about."""
    batch = case.batch(len(positions))
    for row, position in enumerate(positions):
        batch.restore(row, position)
    before = _batch_shown(batch, ("flat",))
    legal = batch.legal
    for row in np.flatnonzero(batch.player >= 0).tolist():
        actions = _random_actions(batch)
        illegal = np.flatnonzero(~legal[row])
        for action in [batch.num_actions, -1, *([] if not len(illegal) else [illegal[row % len(illegal)]])]:
            actions[row] = action
            for where in (None, np.arange(len(positions))[::-1]):
                chosen = actions if where is None else actions[where]
                what = f"the illegal action {action} in a batch"
                text = case.refuses(what, IllegalActionError, batch.step, chosen, where)
                for word in (f"game {row}", f"seat {positions[row]['player']}", positions[row]["phase"], str(action)):
                    if word not in text:
                        case.fail(f"the error of an illegal action in a batch should name {word!r}; it says: {text}")
    actions = _random_actions(batch)
    for wrong in (actions.astype(np.float64), legal[:, 0], actions[:-1], actions[:, None]):
        case.refuses(f"actions of {wrong.dtype} {wrong.shape}", IllegalActionError, batch.step, wrong)
    for wrong in (np.array([0, 0]), np.array([len(positions)]), np.array([-1]), legal[:-1, 0], np.array([0.0])):
        case.refuses(f"where={wrong!r}", ValueError, batch.step, actions[: len(wrong)], wrong)
    found = difference(before, _batch_shown(batch, ("flat",)))
    if found is not None:
        case.fail(f"a refused call has changed something in the batch: {found}")


@_check("engine", "players")
def check_illegal_action_ends_env(case: Case) -> None:
    """In `env`, who plays an illegal action gets −1, the others 0; everything is over, and the position stays.

    Fault: an illegal move that is played, that costs the wrong seat, or after which the game goes on.
    """
    with _quiet():
        for position in _telling_positions(case)[::3]:
            env = case.env()
            env.reset(seed=0, options={"snapshot": position})
            illegal = [action for action in range(env.num_actions) if action not in env.legal_actions()]
            if position["phase"] == "over" or not illegal:
                continue
            decision = position["decisions"]
            before, offender, agents = env.snapshot(), env.agent_selection, list(env.agents)
            env.step(illegal[decision % len(illegal)])
            expected = {agent: -1.0 if agent == offender else 0.0 for agent in agents}
            case.same("the rewards after an illegal action", expected, dict(env.rewards), decision=decision)
            for name in ("terminations", "truncations"):
                flags = dict(getattr(env, name))
                case.same(f"{name} after an illegal action", dict.fromkeys(agents, True), flags, decision=decision)
            case.same("the position after an illegal action", before, env.snapshot(), decision=decision)
            case.same("the legal actions after an illegal one", [], env.legal_actions(), decision=decision)
            for agent in agents:
                case.same("the seat that leaves next after an illegal action", agent, env.agent_selection)
                observation, reward, _, _, info = env.last()
                assert observation is not None
                case.same(f"the reward that {agent} hears of", expected[agent], reward, decision=decision)
                if observation["action_mask"].any() or info["action_mask"].any():
                    case.fail(f"after an illegal action the mask of {agent} should be all zeros", decision=decision)
                env.step(None)
            env.reset()
            case.same("agents after the next reset", agents, list(env.agents))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without PettingZoo's printed warnings."""
    EnvLogger.suppress_output()
    try:
        yield
    finally:
        EnvLogger.unsuppress_output()
        EnvLogger.flush()


@_check("engine", "players")
def check_kept_arrays(case: Case) -> None:
    """What an environment or a batch has returned never changes later, and writing into it changes nothing in there.

    Fault: one buffer that is filled anew at every step, so that a replay buffer holds the last observation many times.
    """
    kept: list[tuple[str, npt.NDArray[Any], npt.NDArray[Any]]] = []

    def keep(what: str, value: Any) -> None:
        kept.extend((f"{what}{path}", array, array.copy()) for path, array in _arrays_of(value))

    def unchanged() -> None:
        for what, array, as_it_was in kept:
            found = difference(as_it_was, array)
            if found is not None:
                case.fail(f"an array that was returned has changed later: {what}: {found}")

    for name in ("flat", "bits", "dict"):
        env = case.env(observation=name)
        env.reset(seed=case.seeds[0])
        for decision in _played(case, env):
            what = f"decision {decision}, {name}"
            keep(f"{what}, last()", env.last())
            keep(f"{what}, infos", dict(env.infos))
            agent = env.possible_agents[decision % case.num_players]
            keep(f"{what}, observe({agent!r})", env.observe(agent))
            keep(f"{what}, state()", env.state())
            if decision % 8 == 0:
                before = copy.deepcopy(_shown(env))
                for _, array in _arrays_of([env.observe(agent), env.last()[0], env.state()]):
                    if array.flags.writeable:
                        array[...] = 99
                found = difference(before, _shown(env))
                if found is not None:
                    case.fail(f"writing into a returned array has changed the environment: {found}", decision=decision)
        keep(f"{name}, at the end", [env.observe(agent) for agent in env.agents])
        env.reset()
        unchanged()
        kept.clear()

    batch = case.batch(4, autoreset=True)
    for call in _stepped(batch, games=2):
        if call < 20 or call % 5 == 0:
            for name in (*BATCH_ARRAYS, "ranks", "policy_keys", "view"):
                value = getattr(batch, name)
                keep(f"call {call}, {name}", value() if callable(value) else value)
            for name in ("flat", "bits", "dict"):
                keep(f"call {call}, observe({name!r})", batch.observe(name))
                keep(f"call {call}, observe({name!r}, seat=0)", batch.observe(name, seat=0))
        if call % 40 == 0:
            shown = copy.deepcopy(_batch_shown(batch))
            for _, array in _arrays_of(_batch_shown(batch)):
                if array.flags.writeable:
                    array[...] = 1
            found = difference(shown, _batch_shown(batch))
            if found is not None:
                case.fail(f"writing into a returned array has changed the batch: {found}", decision=call)
    unchanged()


@_check("engine", "players")
def check_hidden_information(case: Case) -> None:
    """Whatever a seat can't see may change, and nothing that it sees does: view, mask, info, encodings, texts.

    What is hidden is redrawn by `resample`, in positions of every phase, for every seat.

    Fault: hidden information leaks, often in one phase only.
    """
    positions = _telling_positions(case)
    batch = case.batch(len(positions))
    for row, position in enumerate(positions):
        batch.restore(row, position)
    player = batch.player
    legal = batch.legal
    redrawn_rows = np.zeros(len(positions), dtype=np.bool_)
    envs = {name: (case.env(observation=name), case.env(observation=name)) for name in ("flat", "text")}
    for seat in range(case.num_players):
        view = batch.view(seat)
        observations = {name: batch.observe(name, seat=seat) for name in ENCODERS}
        for attempt in range(_attempts(positions)):
            other = batch.resample(seat if attempt else np.full(len(positions), seat), seed=attempt)
            for row, position in enumerate(positions):
                redrawn = other.snapshot(row)
                redrawn_rows[row] |= _without(position, "seed") != _without(redrawn, "seed")
            what = f"what is hidden from seat {seat} was redrawn, and yet its"
            for field in dataclasses.fields(view):
                if "dtype" in field.metadata:  # the games are a view's last axis
                    one, two = (np.moveaxis(getattr(seen, field.name), -1, 0) for seen in (view, other.view(seat)))
                    _check_unseen(case, f"{what} view changed in {field.name}", one, two, positions)
            for name in ENCODERS:
                one, two = observations[name], other.observe(name, seat)
                _check_unseen(case, f"{what} {name} observation changed", one, two, positions)
            mine = player == seat
            _check_unseen(case, f"{what} mask changed", legal & mine[:, None], other.legal & mine[:, None], positions)
            case.same(f"{what} neighbours' turn changed", player, other.player)
            for row in range(seat, len(positions) if attempt < 2 else 0, case.num_players):
                for name, (one_env, two_env) in envs.items():
                    one_env.restore(positions[row])
                    two_env.restore(other.snapshot(row))
                    agent = one_env.possible_agents[seat]
                    where = positions[row]["decisions"]
                    for source in ("observe", "infos"):
                        one, two = (
                            env.observe(agent) if source == "observe" else env.infos[agent]
                            for env in (one_env, two_env)
                        )
                        case.same(f"{what} {source} ({name}) changed in the environment", one, two, decision=where)
    acting = batch.resample(seed=5)
    case.same("the acting seats' views after resample()", batch.view(), acting.view())
    if not redrawn_rows.any():
        case.fail(
            "resample() has changed nothing anywhere, so this check can't tell whether something hidden leaks; "
            "in a game that hides nothing, leave it out"
        )
    _check_redrawn_games_go_on(case, batch)


def _check_unseen(case: Case, what: str, expected: Any, found: Any, positions: list[dict[str, Any]]) -> None:
    """Fail, for the first position that differs, unless what is seen of all positions is the same."""
    if difference(expected, found) is None:
        return
    for row, position in enumerate(positions):
        here = difference(_row_of(expected, row), _row_of(found, row))
        if here is not None:
            case.fail(f"{what}: {here}", decision=f"{position['decisions']} (phase {position['phase']})")
    case.fail(f"{what}: {difference(expected, found)}")


def _row_of(seen: Any, row: int) -> Any:
    """One game's part of an observation of many, or of a view's field with the games first."""
    if isinstance(seen, dict):
        return {key: values[row] for key, values in seen.items()}
    return np.asarray(seen[row]) if isinstance(seen, np.ndarray) else seen[row]


def _check_redrawn_games_go_on(case: Case, batch: Batch) -> None:
    """Redrawn positions are possible ones, can be played to their end, and draw anew what comes."""
    redrawn = batch.resample(seat=0, seed=7)
    fresh = case.batch(batch.num_games)
    for row in range(batch.num_games):
        snapshot = redrawn.snapshot(row)
        try:
            fresh.restore(row, snapshot)
        except SnapshotError as error:
            case.fail(f"resample() has made an impossible position: {error}")
    case.same("the legal actions of a redrawn position", fresh.legal, redrawn.legal)
    if len(np.unique(redrawn.seeds)) < batch.num_games or np.isin(redrawn.seeds, batch.seeds).any():
        case.fail("resample() should give every game a fresh seed, so that later draws are new as well")
    again = batch.resample(seat=0, seed=7)
    case.same("resample() with the same seed", _batch_shown(redrawn, ("flat",)), _batch_shown(again, ("flat",)))
    for _ in _stepped(redrawn):
        pass


@_check("engine", "players")
def check_seats_are_relative(case: Case) -> None:
    """If everybody moves on by some seats, everybody sees the same as before.

    Only for games whose notation has `rotate_seats(snapshot, by)`, the same game with everybody `by` seats further.

    Fault: an observation in absolute seats, or from the wrong perspective, so that one network can't play every seat.
    """
    rotate_seats = getattr(case.game.notation, "rotate_seats", None)
    if rotate_seats is None:
        return
    positions = _telling_positions(case)
    batch = case.batch(len(positions))
    turned = case.batch(len(positions))
    for by in range(1, case.num_players):
        for row, position in enumerate(positions):
            batch.restore(row, position)
            turned.restore(row, rotate_seats(copy.deepcopy(position), by))
        case.same("the masks after everybody has moved on", batch.legal, turned.legal)
        for seat in range(case.num_players):
            moved = (seat + by) % case.num_players
            what = f"what seat {seat} saw, and what it sees as seat {moved},"
            case.same(f"{what} as a view", batch.view(seat), turned.view(moved))
            for name in ENCODERS:
                case.same(f"{what} as {name}", batch.observe(name, seat), turned.observe(name, moved))


@_check("engine", "players")
def check_state(case: Case) -> None:
    """`state()` holds where every card is, and no seed.

    Fault: a global state for a central critic that is one seat's observation, misses what is hidden, or holds the seed.
    """
    positions = _telling_positions(case)
    batch = case.batch(len(positions))
    for row, position in enumerate(positions):
        batch.restore(row, position)
    env = case.env()
    states = []
    for position in positions:
        env.restore(position)
        states.append(env.state())
        where = position["decisions"]
        case.same("state() asked for again", states[-1], env.state(), decision=where)
        if "seed" in position:
            env.restore({**position, "seed": position["seed"] ^ chance.MASK64})
            case.same("state() with another seed", states[-1], env.state(), decision=where)
    for attempt in range(_attempts(positions)):
        for seat in range(case.num_players):
            redrawn = batch.resample(seat, seed=attempt)
            for row, position in enumerate(positions):
                other = redrawn.snapshot(row)
                moved = difference(_without(position, "seed"), _without(other, "seed"))
                if moved is not None and np.array_equal(states[row], case.game.encode.encode_state(other, env.rules)):
                    case.fail(
                        f"two positions have the same state(), but differ: {moved}", decision=position["decisions"]
                    )


def _attempts(positions: Sequence[Any]) -> int:
    """How often what is hidden is redrawn: a game of a few cards falls on the same ones too often."""
    return max(2, 60 // len(positions))


# ------------------------------------------------------------------------------------------------- seeds and copies


@_check("engine", "players")
def check_seeds(case: Case) -> None:
    """The same seed gives the same games, in an environment and in a batch, over all games of a stream.

    Faults: a seed that doesn't reproduce, or for the first episode only; options that get lost on a seeded reset.
    """
    for seed in (0, 2**64 - 1, *case.seeds):
        env, other = case.env(), case.raw_env()
        env.reset(seed=seed)
        other.reset(seed=seed)
        case.same("the same seed again", _future(env, games=3), _future(other, games=3), seed=seed)
        batch = case.batch(1, seed=[seed])
        for game in range(3):
            game_seed = chance.next_seed(seed, game)
            expected = case.env()
            expected.reset(seed=game_seed)
            env.reset(seed=seed)
            for later in range(game):
                for decision in _played(case, env, key=later):  # left at another decision each time
                    if decision == 3 + 2 * later:
                        break
                env.reset()
            what = f"the deal of game {game} of the stream"
            case.same(f"{what} in the environment", expected.snapshot(), env.snapshot(), seed=seed)
            case.same(f"{what} in a batch", expected.snapshot(), batch.snapshot(0), seed=seed)
            case.same("seeds", np.array([game_seed], dtype=np.uint64), batch.seeds, seed=seed)
            batch.step(_random_actions(batch))
            batch.reset()
        env.reset(seed=np.uint64(seed), options={"an option": "of somebody else's"})  # type: ignore[arg-type]
        case.same("the deal with an option that is ignored", _deal(case, seed), env.snapshot(), seed=seed)
    batch = case.batch(4)
    for row in range(4):
        case.same("a row's deal", _deal(case, chance.row_seed(case.seed, row)), batch.snapshot(row))
    dealt = [_without(batch.snapshot(row), "seed") for row in range(4)]
    if all(deal == dealt[0] for deal in dealt):
        case.fail("four seeds have dealt the same game")
    unseeded = (
        case.game.batch(2, engine=case.engine, **case.options),
        case.game.batch(2, engine=case.engine, **case.options),
    )
    if len({*unseeded[0].seeds.tolist(), *unseeded[1].seeds.tolist()}) < 4:
        case.fail("games without a seed should be seeded by the system; two of them have the same seed")
    env = case.env()
    env.reset(seed=1)
    before = env.snapshot()
    for wrong in (-1, 2**64, 1.5, "1", True):
        case.refuses(f"the seed {wrong!r}", ValueError, env.reset, seed=wrong)
        case.refuses(f"the seed {wrong!r} of a batch", ValueError, case.batch, 2, seed=wrong)
    case.same("the game after a refused seed", before, env.snapshot())


def _deal(case: Case, seed: int) -> dict[str, Any]:
    """The first position of a game."""
    env = case.env()
    env.reset(seed=seed)
    return env.snapshot()


@_check("engine", "players")
def check_global_random_state(case: Case) -> None:
    """NumPy's and Python's global random generators are neither used nor seeded.

    Fault: an environment that seeds or draws from global generators, and so disturbs the training around it.
    """
    before = random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002 - the global one is what is watched
    env = case.env()
    env.reset()
    env.reset(seed=3)
    for decision in _played(case, env):
        if decision % 5 == 0:
            _shown(env)
            policies.random_policy(env.decision())
    env.reset()
    batch = case.batch(3, autoreset=True)
    for _ in _stepped(batch, games=2):
        batch.observe("flat")
    batch.resample(seed=1)
    batch.resample()
    batch.reset()
    case.game.batch(2, engine=case.engine, **case.options)
    after = random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002
    for name, one, other in zip(("Python's", "NumPy's"), before, after, strict=True):
        if one != other:
            case.fail(
                f"the state of {name} global random generator has changed: the game draws from it, or has seeded it"
            )


@_check("engine", "players")
def check_copies(case: Case) -> None:
    """A `deepcopy` or a pickle taken at any moment has the same future, later deals included, and is independent.

    Fault: copies that lose the game or its random state, break in mid-game, or stay tied to the original.
    """
    seed = case.seeds[0]

    def played(moment: int | None) -> tuple[RawEnv, int]:
        """The second game of a stream after `moment` steps (None: at its end), and how many that are."""
        env = case.env() if moment is None or moment % 2 else case.raw_env()
        env.reset(seed=seed)
        env.reset()
        step = 0
        while not _is_over(env) if moment is None else step < moment:
            env.step(None if _is_over(env) else _pick(env.legal_actions(), 0, step))
            step += 1
        return env, step

    ways: dict[str, Callable[[Any], Any]] = {"deepcopy": copy.deepcopy, "pickle": _through_pickle}
    length = played(None)[1]
    for moment in (0, length // 2, length, length + 1):
        expected = _future(played(moment)[0], games=2)
        for way in ways:
            env = played(moment)[0]
            before = _shown(env)
            twin, other = (_copied(case, "the environment", way, ways[way], env) for _ in range(2))
            at: dict[str, Any] = {"seed": seed, "decision": moment}
            case.same(f"what the {way} shows", before, _shown(twin), **at)
            case.same(f"the future of the {way}", expected, _future(twin, games=2), **at)
            case.same(f"the original after its {way} was played", before, _shown(env), **at)
            _future(env, key=99)
            case.same(f"the {way} after the original was played", before, _shown(other), **at)
            case.same(f"the future of the {way} after the original was played", expected, _future(other, games=2), **at)
    ways |= {"copy()": lambda thing: thing.copy(), "take()": lambda thing: thing.take(np.arange(thing.num_games))}
    for autoreset in (False, True):
        batch = case.batch(3, autoreset=autoreset)
        calls = length if autoreset else length // 2
        for _ in range(calls):
            batch.step(_random_actions(batch))
        shown = _batch_shown(batch)
        twins = {way: _copied(case, "the batch", way, copied, batch) for way, copied in ways.items()}
        for way, twin in twins.items():
            case.same(f"what the batch's {way} shows", shown, _batch_shown(twin), decision=calls)
        expected = _batch_future(batch)
        for way, twin in twins.items():
            case.same(f"the batch's {way} after the original was played", shown, _batch_shown(twin), decision=calls)
            case.same(f"the future of the batch's {way}", expected, _batch_future(twin), decision=calls)


def _through_pickle(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def _copied(case: Case, what: str, way: str, copied: Callable[[Any], Any], thing: Any) -> Any:
    try:
        return copied(thing)
    except Exception as error:
        case.fail(f"the {way} of {what} should be made, but raised {error!r}")


@_check("engine")
def check_spawned_process(case: Case) -> None:
    """Environments, batches and games can be sent to a freshly started process, and play on there identically.

    Fault: worker processes started with `spawn` can't unpickle the environment, or don't know the game.
    """
    env = case.env()
    env.reset(seed=case.seeds[0])
    for decision in _played(case, env):
        if decision == 5:
            break
    batch = case.batch(3, autoreset=True)
    for _ in range(5):
        batch.step(_random_actions(batch))
    try:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            future, batch_future, game_id = pool.submit(_spawned, env, batch, case.game).result()
    except Exception as error:
        case.fail(f"an environment and a batch should be played on by a spawned process, but that raised {error!r}")
    case.same("the future of an environment in a spawned process", _future(env, games=2), future)
    case.same("the future of a batch in a spawned process", _batch_future(batch), batch_future)
    case.same("the game's id in a spawned process", case.game.id, game_id)


def _spawned(env: RawEnv, batch: Batch, game: GameDefinition) -> tuple[list[Any], list[Any], str]:
    """What another process makes of them."""
    return _future(env, games=2), _batch_future(batch), game.id


@_check("engine", "players")
def check_nothing_is_shared(case: Case) -> None:
    """Copies, redrawn batches, snapshots and what was restored from them share no memory with one another.

    Fault: two games, one buffer, after `copy()`, `take()`, `resample()`, `snapshot()` or `restore()`.
    """
    batch = case.batch(4)
    for _ in range(7):
        batch.step(_random_actions(batch))
    rows = np.array([0, 1, 2, 3, 1, 0])  # repeats: two rows of one game
    makers: dict[str, Callable[[], Batch]] = {
        "copy()": batch.copy,
        "take()": lambda: batch.take(rows),
        "resample()": lambda: batch.resample(0, seed=1),
        "deepcopy": lambda: copy.deepcopy(batch),
    }
    for way, make in makers.items():
        twin = make()
        _check_separate(case, f"a batch and its {way}", batch, twin)
        before, twin_before = _batch_shown(batch), _batch_shown(twin)
        _batch_future(twin.copy() if way == "copy()" else make())
        twin.step(_random_actions(twin)[[1]], where=[1])
        case.same(f"the batch after a step in its {way}", before, _batch_shown(batch))
        after = _batch_shown(twin)
        for row in range(twin.num_games):
            if row != 1:
                what = f"game {row} after a step of game 1 in the {way}"
                case.same(what, twin_before["snapshots"][row], after["snapshots"][row])
        _batch_future(twin)
        case.same(f"the batch after its {way} was played", before, _batch_shown(batch))
    env = case.env()
    env.reset(seed=case.seeds[0])
    for decision in _played(case, env):
        if decision % 12:
            continue
        snapshot = env.snapshot()
        text = json.dumps(snapshot)
        _scramble(snapshot)
        case.same(
            "the position after its snapshot was overwritten", json.loads(text), env.snapshot(), decision=decision
        )
        one, two, snapshot = case.raw_env(), case.raw_env(), json.loads(text)
        one.restore(snapshot)
        two.reset(seed=1, options={"snapshot": snapshot})
        row = decision // 12 % 4
        batch.restore(row, snapshot)
        _check_separate(case, "two environments with one snapshot", one, two)
        _scramble(snapshot)
        case.same("what was restored, after the snapshot was overwritten", json.loads(text), one.snapshot())
        case.same("what a batch restored, after the snapshot was overwritten", json.loads(text), batch.snapshot(row))
        _future(one)
        case.same("what was restored twice, after one was played", json.loads(text), two.snapshot(), decision=decision)
        case.same(
            "the original after what was restored was played", json.loads(text), env.snapshot(), decision=decision
        )
        _check_separate(case, "an environment and its deepcopy", env, copy.deepcopy(env))


def _check_separate(case: Case, what: str, one: Any, other: Any) -> None:
    """No writeable array of one is in the memory of the other."""
    theirs = list(_held_arrays(other, "", set()))
    for path, array in _held_arrays(one, "", set()):
        for other_path, other_array in theirs:
            if np.may_share_memory(array, other_array):
                case.fail(
                    f"{what} share memory: {path} and {other_path} (a table that never changes has to be read-only: "
                    "array.flags.writeable = False)"
                )


def _scramble(value: Any) -> None:
    """Overwrites a snapshot's nested values in place."""
    entries = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    for key, inner in entries:
        if isinstance(inner, (dict, list)):
            _scramble(inner)
        value[key] = None
    if isinstance(value, list):
        value.clear()


@_check("engine", "players")
def check_snapshots(case: Case) -> None:
    """A snapshot survives JSON, and what it is restored to goes on exactly like the original, on every engine.

    Faults: snapshots that miss something which only shows later; ends that can't be restored; bad ones taken half.
    """
    fresh = {engine: case.raw_env(engine=engine) for engine in case.game.engines}
    hidden_keys = ("cumulative rewards", "rewards")  # a restore counts as a reset
    for seed in case.seeds:
        env = case.raw_env()
        env.reset(seed=seed)
        batch = case.batch(2, seed=case.seed)
        decision = 0
        while True:
            snapshot = env.snapshot()
            to_its_end = decision in (0, 10, 30, 70, 150, 300)
            if to_its_end:
                finished = _future(copy.deepcopy(env))
            through_json = json.loads(json.dumps(snapshot, allow_nan=False))
            case.same("the snapshot after JSON", snapshot, through_json, seed=seed, decision=decision)
            shown = _without(_shown(env), *hidden_keys)
            for engine, other in fresh.items():
                other.restore(through_json)
                what = f"what a snapshot was restored to by engine {engine}"
                case.same(what, shown, _without(_shown(other), *hidden_keys), seed=seed, decision=decision)
                if any(other.rewards.values()) or any(other._cumulative_rewards.values()):
                    case.fail("restore() counts as a reset: all rewards should be 0", seed=seed, decision=decision)
            neighbour = batch.snapshot(0)
            batch.restore(1, through_json)
            case.same("what a batch restored", snapshot, batch.snapshot(1), seed=seed, decision=decision)
            case.same("the row beside it", neighbour, batch.snapshot(0), seed=seed, decision=decision)
            case.same(
                "terminated", _is_over(env) and any(env.terminations.values()), bool(batch.terminated[1]), seed=seed
            )
            case.same("truncated", any(env.truncations.values()), bool(batch.truncated[1]), seed=seed)
            if _is_over(env):
                break
            if to_its_end:
                for engine, other in fresh.items():
                    what = f"the rest of the game after restore() by engine {engine}"
                    case.same(what, finished, _future(other), seed=seed, decision=decision)
                    other.restore(through_json)
            action = _pick(env.legal_actions(), seed, decision)
            for other in (env, *fresh.values()):
                other.step(action)
            for engine, other in fresh.items():
                what = f"the position one decision after restore() by engine {engine}"
                case.same(what, env.snapshot(), other.snapshot(), seed=seed, decision=decision)
            decision += 1
        reset = case.env()
        reset.reset(seed=seed, options={"snapshot": snapshot})
        case.same("what reset(options={'snapshot': …}) starts from", snapshot, reset.snapshot(), seed=seed)
    _check_bad_snapshots(case)


def _check_bad_snapshots(case: Case) -> None:
    """Incomplete snapshots, and those of other rules, are refused by name, and nothing changes."""
    env = case.raw_env()
    env.reset(seed=case.seeds[0])
    batch = case.batch(2)
    before, batch_before = _shown(env), _batch_shown(batch, ())
    good = env.snapshot()
    bad: list[tuple[str, Any]] = [
        (key, _without(good, key)) for key in ("game", "num_players", *case.game.notation.REQUIRED_KEYS)
    ]
    bad += [("game", {**good, "game": "another_v0"}), ("num_players", {**good, "num_players": case.num_players + 1})]
    bad += [("no such key", {**good, "no such key": 1}), ("dict", [good])]
    bad += [(name, {**good, "rules": {**good["rules"], name: -7}}) for name in good["rules"]]
    bad += [("phase", {**good, "phase": "no such phase"}), ("player", {**good, "player": case.num_players})]
    for word, snapshot in bad:
        for restore in (env.restore, functools.partial(batch.restore, 1)):
            text = case.refuses(f"a snapshot with a wrong {word}", ValueError, restore, snapshot)
            if word not in text:
                case.fail(f"the error of a snapshot with a wrong {word!r} should name it; it says: {text}")
    case.same("the environment after refused snapshots", before, _shown(env))
    case.same("the batch after refused snapshots", batch_before, _batch_shown(batch, ()))


# ------------------------------------------------------------------------------------------------- many games


@_check("engine", "players")
def check_batch_arrays(case: Case) -> None:
    """All that a batch shows has the dtype and shape that it always has, whatever has happened in its rows.

    Faults: masks of shape (n, n, A); observations of finished rows that are left over from the game before.
    """
    sizes = {"N": 5, "P": case.num_players, "A": len(case.game.notation.ACTION_NAMES)}
    sizes["W"] = -(-sizes["A"] // 64)
    for autoreset in (False, True):
        batch = case.batch(5, autoreset=autoreset)
        ended = np.zeros(5, dtype=np.bool_)
        calls = 0
        while calls == 0 or not ended.all():
            over = batch.player < 0
            for name, (dtype, axes) in BATCH_ARRAYS.items():
                array = getattr(batch, name)
                found = f"{array.dtype} {list(array.shape)}"
                case.same(f"the batch's {name}", f"{dtype} {[sizes[axis] for axis in axes]}", found, decision=calls)
            if calls % 16 == 0 or (batch.terminated | batch.truncated).any():
                for name in ENCODERS:
                    space = batch.encoder(name).space
                    for seat in (None, calls % case.num_players):
                        _check_batch_observation(
                            case, f"{name} of seat {seat}", space, batch.observe(name, seat), over, seat
                        )
            case.same("rows that are over", over, batch.terminated | batch.truncated if not autoreset else over)
            if batch.step(_random_actions(batch)) is not None:  # type: ignore[func-returns-value]
                case.fail("step() should return None")
            ended |= batch.terminated | batch.truncated
            calls += 1


def _check_batch_observation(
    case: Case, what: str, space: spaces.Space[Any], observation: Any, over: npt.NDArray[np.bool_], seat: int | None
) -> None:
    """The rows of an observation lie in the space; those of finished games are zeros, unless a seat was named."""
    arrays = list(_arrays_of(observation))
    num_games = len(over)
    for row in range(num_games):
        member = _row_of(observation, row)
        problem = _outside(space, member, f"the batch's observation {what} in row {row}")
        if problem is not None:
            case.fail(problem)
        if (
            over[row]
            and seat is None
            and (any(array[row].any() for _, array in arrays) or (isinstance(member, str) and member))
        ):
            case.fail(f"the batch's observation {what} should be zeros in row {row}, whose game is over")
    lengths = {len(array) for _, array in arrays} or {len(observation)}
    case.same(f"the number of rows of the batch's observation {what}", {num_games}, lengths)


@_check("engine", "players")
def check_batch_independence(case: Case) -> None:
    """A game is the same alone, in any batch, and however the calls are split with `where=`.

    Fault: games that depend on their neighbours, on the batch's size or on the order of the rows.
    """
    num_games = 5
    whole = case.batch(num_games, reward="score")
    seeds = whole.first_seeds.tolist()
    alone = [case.batch(1, seed=[seed], reward="score") for seed in seeds]
    order = np.array([3, 1, 4, 0, 2])
    larger = case.batch(num_games + 4, seed=[99, *(seeds[row] for row in order), 98, 97, 96], reward="score")
    split = {kind: case.batch(num_games, seed=seeds, reward="score") for kind in ("masks", "indices")}
    for call in _to_step(whole):
        actions = _random_actions(whole)
        whole.step(actions)
        rewards, flags = whole.rewards, whole.terminated
        for row, batch in enumerate(alone):
            batch.step(actions[[row]])
            case.same("the rewards of a game alone", rewards[[row]], batch.rewards, seed=seeds[row], decision=call)
        more = _random_actions(larger)
        more[1:6] = actions[order]
        larger.step(more)
        case.same("the rewards in a larger batch", rewards[order], larger.rewards[1:6], decision=call)
        case.same("terminated in a larger batch", flags[order], larger.terminated[1:6], decision=call)
        first = (np.arange(num_games) + call) % 2 == 0
        for kind, batch in split.items():
            paid = np.zeros_like(rewards)
            for chosen in (first, ~first):
                if kind == "masks":
                    batch.step(actions, where=chosen)
                else:
                    rows = np.flatnonzero(chosen)[::-1]
                    batch.step(actions[rows], where=rows)
                if batch.rewards[~chosen].any():
                    case.fail(f"games that were not stepped have rewards (where= with {kind})", decision=call)
                paid += batch.rewards
            case.same(f"the rewards of a step split by {kind}", rewards, paid, decision=call)
            case.same(f"the seats to act after a step split by {kind}", whole.player, batch.player, decision=call)
        case.same("the seats to act in a larger batch", whole.player[order], larger.player[1:6], decision=call)
        if call % 12 == 0 or (whole.player < 0).all():
            snapshots = [whole.snapshot(row) for row in range(num_games)]
            case.same("games alone", snapshots, [batch.snapshot(0) for batch in alone], decision=call)
            case.same(
                "a larger batch", [snapshots[row] for row in order], [larger.snapshot(row) for row in range(1, 6)]
            )
            for kind, batch in split.items():
                found = [batch.snapshot(row) for row in range(num_games)]
                case.same(f"a batch that is split by {kind}", snapshots, found, decision=call)
    observed = whole.observe("flat", seat=0)
    case.same("observations in a larger batch", observed[order], larger.observe("flat", seat=0)[1:6])
    batch = split["masks"]
    shown = [batch.snapshot(row) for row in range(num_games)]
    batch.step(np.zeros(0, dtype=np.int64), where=np.zeros(0, dtype=np.int64))
    case.same("a batch after a step of no game", shown, [batch.snapshot(row) for row in range(num_games)])
    batch.reset(where=[4, 1])
    for row in range(num_games):
        expected = _deal(case, chance.next_seed(seeds[row], 1)) if row in (1, 4) else shown[row]
        case.same(f"row {row} after reset(where=[4, 1])", expected, batch.snapshot(row))
    over = batch.terminated | batch.truncated
    case.same("the games that are over after reset(where=[4, 1])", np.array([True, False, True, True, False]), over)
    batch.reset(seed=[7], where=np.arange(num_games) == 2)
    case.same("row 2 after reset(seed=[7], where=…)", _deal(case, 7), batch.snapshot(2))


@_check("engine", "players")
def check_autoreset(case: Case) -> None:
    """With autoreset a game is dealt anew in the step that ends it; what it ended with is told once, in that call.

    Fault: autoreset that loses the last rewards, scores or flags, keeps them for too long, or deals a wrong game.
    """
    limits: tuple[dict[str, Any], ...] = ({}, {"max_cycles": 2}) if "max_cycles" in case.game.rule_options else ({},)
    for limit in limits:
        for reward in ("placement", "score"):
            options = {"reward": reward, **limit, **case.rules}
            batch = case.batch(3, autoreset=True, **options)
            plain = case.batch(3, **options)  # the same games, dealt anew by hand
            firsts = batch.first_seeds.tolist()
            for call in _to_step(batch, games=2):
                actions = _random_actions(plain)
                case.same("the actions", actions, _random_actions(batch), decision=call)
                batch.step(actions)
                plain.step(actions)
                over = plain.player < 0
                for name in ("rewards", "terminated", "truncated", "final_scores"):
                    what = f"{name} with autoreset, in the call that ends games"
                    case.same(what, getattr(plain, name), getattr(batch, name), decision=call)
                scores = np.where(over[:, None], plain.scores, -1)
                case.same("final_scores", scores, batch.final_scores, decision=call)
                plain.reset(where=over)
                for row in np.flatnonzero(over).tolist():
                    deal = case.batch(1, seed=[chance.next_seed(firsts[row], int(batch.game_index[row]))], **options)
                    case.same("the next game after autoreset", deal.snapshot(0), batch.snapshot(row), decision=call)
                case.same("decisions after autoreset", plain.decisions, batch.decisions, decision=call)
                case.same("the seat to act after autoreset", plain.player, batch.player, decision=call)
                if (batch.player < 0).any():
                    case.fail("with autoreset no row should ever wait for a reset", decision=call)
            last = np.array([0])
            batch.step(_random_actions(batch)[last], where=last)
            if batch.final_scores[1:].max() != -1 or batch.rewards[1:].any() or batch.terminated[1:].any():
                case.fail("flags, rewards and final_scores should be of the last call only")


@_check("players")
def check_engines_agree(case: Case) -> None:
    """Batches of every engine and environments on every engine are the same game, value by value, at every decision.

    Fault: rules and mask disagree; an observation depends on which interface or engine it comes from.
    """
    num_games = 2 * case.num_games
    batches = {engine: case.batch(num_games, engine=engine, reward="score") for engine in case.game.engines}
    envs = {
        (engine, name): case.raw_env(engine=engine, observation=name, reward="score")
        for engine in case.game.engines
        for name in ENCODERS
    }
    reference = batches["python"]
    seed = int(reference.first_seeds[0])
    for env in envs.values():
        env.reset(seed=seed)
    for call in range(reference.rules.max_decisions + 1):
        encoders = ENCODERS if call % 5 == 0 else ("flat", "bits")  # the other two are made of the same view
        expected = _batch_shown(reference, encoders)
        seats = (np.arange(num_games) + call) % case.num_players
        for name in encoders:
            expected["observations"][f"{name} of some seat"] = reference.observe(name, seats)
        for engine, batch in batches.items():
            if batch is not reference:
                shown = _batch_shown(batch, encoders)
                for name in encoders:
                    shown["observations"][f"{name} of some seat"] = batch.observe(name, seats)
                case.same(f"engine {engine} against python", expected, shown, seed=seed, decision=call)
        over = bool(reference.player[0] < 0)
        for (engine, name), env in envs.items():
            what = f"the environment (engine {engine}, {name}) against the batch"
            case.same(f"{what}: snapshot", expected["snapshots"][0], env.snapshot(), seed=seed, decision=call)
            case.same(
                f"{what}: legal", np.flatnonzero(expected["legal"][0]).tolist(), env.legal_actions(), decision=call
            )
            if call == env.snapshot()["decisions"]:  # the batch's rewards are those of the last call
                rewards = np.array(list(env.rewards.values()), dtype=np.float32)
                case.same(f"{what}: rewards", expected["rewards"][0], rewards, seed=seed, decision=call)
            case.same(
                f"{what}: terminated", bool(expected["terminated"][0]), all(env.terminations.values()), decision=call
            )
            case.same(
                f"{what}: truncated", bool(expected["truncated"][0]), all(env.truncations.values()), decision=call
            )
            if name not in encoders:
                continue
            seat = 0 if over else int(reference.player[0])
            for agent, key in (
                (env.possible_agents[seat], name),
                (env.possible_agents[seats[0]], f"{name} of some seat"),
            ):
                observed = expected["observations"][key]
                first = {k: v[0] for k, v in observed.items()} if isinstance(observed, dict) else observed[0]
                if not (over and key == name):
                    found = env.observe(agent)["observation"]
                    case.same(f"{what}: observation of {agent}", first, found, seed=seed, decision=call)
        if len(case.game.engines) > 1:
            states = [envs[engine, "flat"].state() for engine in case.game.engines]
            case.same("state() of the engines", states[0], states[1], seed=seed, decision=call)
        if (reference.player < 0).all():
            break
        actions = _random_actions(reference)
        for batch in batches.values():
            batch.step(actions)
        if not over:
            for env in envs.values():
                env.step(int(actions[0]))


# ------------------------------------------------------------------------------------------------- policies


class _Probe:
    """A policy that depends on all that it is given, so that a difference anywhere shows in what it plays."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    def __call__(self, d: policies.Decisions, /) -> npt.NDArray[np.intp]:
        columns = d.observe(self.encoder).astype(np.uint64)
        seen = d.keys ^ d.seat.astype(np.uint64)
        seen ^= chance.mix_array(columns @ np.arange(1, 2 * columns.shape[1], 2, dtype=np.uint64))
        for field in dataclasses.fields(d.view):
            if "dtype" in field.metadata:
                values = getattr(d.view, field.name).astype(np.int64).view(np.uint64).reshape(-1, len(d))
                seen = seen * np.uint64(chance.GOLDEN) + np.arange(1, 2 * len(values), 2, dtype=np.uint64) @ values
        return bits.select(d.legal_words, chance.below(chance.mix_array(seen), d.legal.sum(axis=1)))


@_check("engine", "players")
def check_policies(case: Case) -> None:
    """A policy plays the same games alone, in any batch, split in any way, on any engine and in the environment.

    Faults: a policy that sees more or less in one interface than in another; play that depends on the batch; a mask
    that is forgotten when a policy is evaluated.
    """
    num_games, games = 3, 2
    probe = _Probe(case.batch(1).encoder("bits"))
    for policy, policy_seed in ((policies.random_policy, 0), (probe, 5)):
        batch = case.batch(num_games, autoreset=True)
        firsts = batch.first_seeds.tolist()
        played: list[list[int]] = [[] for _ in range(num_games)]
        for call in range(games * batch.rules.max_decisions):
            if (batch.game_index >= np.uint64(games)).all():
                break
            d = policies.decisions(batch, seed=policy_seed)
            case.same("the seats of the decisions", batch.player.astype(np.intp), d.seat, decision=call)
            case.same("the mask of the decisions", batch.legal, d.legal, decision=call)
            if call % 20 == 0:
                case.same("the observation of the decisions", batch.observe("flat"), d.observe("flat"), decision=call)
            actions = policies.checked_choice(policy, d)
            rows = np.array([2, 0]) if call % 2 else np.array([1])
            part = policies.checked_choice(policy, policies.decisions(batch, rows, seed=policy_seed))
            case.same("what a policy plays in some of the games", actions[rows], part, decision=call)
            for row in np.flatnonzero(batch.game_index < np.uint64(games)).tolist():
                played[row].append(int(actions[row]))
            batch.step(actions)
        alone = case.batch(1, seed=firsts[:1], autoreset=True)
        moves = []
        while alone.game_index[0] < np.uint64(games):
            moves.append(int(policies.checked_choice(policy, policies.decisions(alone, seed=policy_seed))[0]))
            alone.step(moves[-1:])
        case.same("what a policy plays in a game alone", played[0], moves, seed=firsts[0])
        env = case.env()
        moves = []
        for game in range(games):
            env.reset(seed=None if game else firsts[0])
            while not _is_over(env):
                moves.append(int(policy(env.decision(policy_seed))[0]))
                env.step(moves[-1])
        case.same("what a policy plays in the environment", played[0], moves, seed=firsts[0])
    mine, theirs = batch.policy_keys(1), batch.policy_keys(2)
    if np.isin(mine, theirs).any() or len(np.unique(mine)) < num_games:
        case.fail("a policy's random keys should differ by game and by the policy's seed")


# ------------------------------------------------------------------------------------------------- around the game


@_check("engine")
def check_errors_before_reset(case: Case) -> None:
    """Calls that come too early, or too late, say that `reset` is missing.

    Fault: an AttributeError about a private name, or None where a dict was expected.
    """
    calls: dict[str, Callable[[RawEnv], object]] = {
        "step": lambda env: env.step(0),
        "observe": lambda env: env.observe(env.possible_agents[0]),
        "last": lambda env: env.last(),
        "agent_iter": lambda env: list(env.agent_iter()),
        "state": lambda env: env.state(),
        "render": lambda env: env.render(),
        "snapshot": lambda env: env.snapshot(),
        "legal_actions": lambda env: env.legal_actions(),
        "decision": lambda env: env.decision(),
    }
    for name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "num_agents"):
        calls[name] = functools.partial(lambda name, env: getattr(env, name), name)
    for make in (case.env, case.raw_env):
        for name, call in calls.items():
            env = make(render_mode="ansi")
            text = case.refuses(f"{name} before reset", Exception, call, env)
            if "reset" not in text:
                case.fail(f"{name} before reset should say that reset is missing; it says: {text!r}")
            env.close()
    for make in (case.env, case.raw_env):
        env = make()
        env.reset(seed=1)
        for _ in _played(case, env):
            pass
        text = case.refuses("decision() at the end", Exception, env.decision)
        while env.agents:
            env.step(None)
        if make == case.raw_env:
            text = case.refuses("step() after all have left", Exception, env.step, None)
            if "reset" not in text:
                case.fail(f"step() after all have left should say that reset is missing; it says: {text!r}")
        else:
            with _quiet():
                env.step(None)
                warned = [str(message) for message in EnvLogger.mqueue]
            if not any("reset" in message for message in warned):
                case.fail(f"step() after all have left should warn that reset is missing; it warned: {warned}")


@_check("engine")
def check_options(case: Case) -> None:
    """A bad option is refused by name, with the value and what is accepted.

    Fault: options that are swallowed, misspelt ones included, or an error from deep inside.
    """
    wrong: dict[str, Any] = {
        "reward": "glory",
        "observation": "telepathy",
        "engine": "steam",
        "num_players": -3,
        "seed": "s",
    }
    wrong |= {"autoreset": "yes", "render_mode": "hologram"}
    of_envs = ("reward", "observation", "engine", "render_mode", "num_players")
    of_batches = ("reward", "engine", "seed", "autoreset", "num_players")
    makers: tuple[tuple[Callable[..., object], tuple[str, ...]], ...] = (
        (case.env, of_envs),
        (case.raw_env, of_envs),
        (functools.partial(case.batch, 2), of_batches),
    )
    for make, names in makers:
        for name in names:
            text = case.refuses(f"{name}={wrong[name]!r}", ValueError, make, **{name: wrong[name]})
            for word in (name, repr(wrong[name])):
                if word not in text:
                    case.fail(f"the error of {name}={wrong[name]!r} should name {word}; it says: {text}")
        text = case.refuses("an unknown option", TypeError, make, no_such_option=1)
        if "no_such_option" not in text:
            case.fail(f"the error of an unknown option should name it; it says: {text}")
    text = case.refuses("a batch of 0 games", ValueError, case.batch, 0)
    if "num_games" not in text:
        case.fail(f"the error of a batch of 0 games should name num_games; it says: {text}")


@_check("engine")
def check_not_parallelizable(case: Case) -> None:
    """The metadata say that a turn-based game can't be played in parallel, and PettingZoo's converter says why.

    Fault: a turn-based game is forced through the parallel API.
    """
    env = case.env()
    case.same("metadata['is_parallelizable']", False, env.metadata["is_parallelizable"])
    case.same("metadata['name']", case.game.id, env.metadata["name"])
    text = case.refuses("aec_to_parallel", Exception, lambda: aec_to_parallel(env))
    if "is_parallelizable" not in text:
        case.fail(f"aec_to_parallel should say why it refuses; it says: {text}")


@_check("engine")
def check_render(case: Case) -> None:
    """Every render mode that the metadata list gives something to look at, and closing twice is fine.

    Fault: rendering that needs a display, is blank, or fails when it is closed twice.
    """
    for mode in case.env().metadata["render_modes"]:
        if mode == "human":
            continue  # opens a window
        try:
            env = case.env(render_mode=mode)
        except MissingExtraError:
            continue
        env.reset(seed=case.seeds[0])
        pictures = []
        every = 10 if mode == "ansi" else 60  # a frame takes a thousand times as long as a text
        for decision in _played(case, env):
            if decision % every == 0:
                pictures.append(env.render())
        pictures.append(env.render())
        for picture in pictures:
            if mode == "ansi" and not (isinstance(picture, str) and picture.strip()):
                case.fail(f"render() with render_mode='ansi' should be a text; it is {picture!r}")
            if mode == "rgb_array":
                frame = np.asarray(picture)
                if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3 or frame.min() == frame.max():
                    case.fail(
                        f"a frame should be uint8 [height, width, 3] and not blank; it is {frame.dtype} {frame.shape}"
                    )
        if len(pictures) > 1 and difference(pictures[0], pictures[-1]) is None:
            case.fail(f"render() with render_mode={mode!r} shows the same at the beginning and at the end")
        env.close()
        env.close()


@_check("players")
def check_pictures(case: Case) -> None:
    """The pictures of a game that has any are well-formed, differ, and show nothing that is hidden from their seat.

    Fault: a name that breaks the XML, a picture that stands still, or a card that is in its source though nobody sees it.
    """
    draw = case.game.draw
    if draw is None:
        return
    by_phase: dict[str, list[dict[str, Any]]] = {}
    for position in _telling_positions(case):
        by_phase.setdefault(position["phase"], []).append(position)
    positions = [position for found in by_phase.values() for position in found[:2]]
    batch = case.batch(len(positions))
    for row, position in enumerate(positions):
        batch.restore(row, position)
    for seat in range(case.num_players):
        seen, redrawn = batch.view(seat), batch.resample(np.full(len(positions), seat), seed=seat).view(seat)
        pictures = []
        for row, position in enumerate(positions):
            at = position["decisions"]
            pictures.append(draw.draw(views.unstack(seen, row), seat=seat))
            _check_xml(case, pictures[-1], at)
            if draw.draw(views.unstack(redrawn, row), seat=seat) != pictures[-1]:
                case.fail(f"what is hidden from seat {seat} was redrawn, and yet its picture changed", decision=at)
        if len(set(pictures)) < 2:
            case.fail(f"the pictures of {len(pictures)} positions in different phases are the same for seat {seat}")
    for position in positions:
        for theme in ("light", "dark"):
            names = [f'<{seat} & "{theme}">' for seat in range(case.num_players)]
            _check_xml(case, draw.draw_open(position, batch.rules, theme=theme, names=names), position["decisions"])


def _check_xml(case: Case, picture: str, decision: int) -> None:
    try:
        root = ElementTree.fromstring(picture)
    except ElementTree.ParseError as error:
        case.fail(f"a picture should be XML, but {error}", decision=decision)
    if root.tag != "{http://www.w3.org/2000/svg}svg" or "viewBox" not in root.attrib:
        case.fail(f"a picture should be an svg element with a viewBox; it is {root.tag}", decision=decision)


@_check()
def check_imports(case: Case) -> None:
    """Importing easyenvs and the game, and playing it, imports no heavy package.

    Fault: a bare import pulls in torch or pygame, or fails because they are missing.
    """
    code = (
        "import sys, importlib\n"
        f"game = importlib.import_module({case.game.package!r}).GAME\n"
        f"env = game.env(num_players={case.num_players})\n"
        "env.reset(seed=0); env.last(); env.step(env.legal_actions()[0])\n"
        f"game.batch(3, num_players={case.num_players}, seed=0).observe()\n"
        f"print(*[name for name in {HEAVY_MODULES!r} if name in sys.modules])\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        case.fail(f"a fresh interpreter should import and play the game; it said:\n{done.stderr}")
    if done.stdout.split():
        case.fail(f"importing and playing the game has imported {', '.join(done.stdout.split())}")


@_check()
def check_playthrough(case: Case) -> None:
    """The golden game in the game's folder is still what is played.

    Fault: a change of the rules, the deals, the action ids or the observations that nobody meant (it needs a `_v1`).
    """
    path = playthrough_path(case.game)
    if not path.is_file():
        case.fail(f"{path} is missing: `python -m easyenvs.testing {case.game.id}` writes it")
    replay_playthrough(case.game, path.read_text(encoding="utf-8"))


# ------------------------------------------------------------------------------------------------- golden playthroughs

PLAYTHROUGH_FILE: Final = "playthrough.txt"
SEEDS_TO_CHOOSE_FROM: Final = 256
_ACTION_MARK: Final = "> "


def playthrough_path(game: GameLike) -> Path:
    """Where a game's golden playthrough lies."""
    file = importlib.import_module(registry.find_game(game).package).__file__
    assert file is not None
    return Path(file).parent / PLAYTHROUGH_FILE


def playthrough(game: GameLike, *, seed: int | None = None, num_players: int | None = None, **rules: Any) -> str:
    """A whole game of uniform random legal actions as text, with every position and every observation.

    seed: the game seed; None chooses the game that shows most (`telling_seed`). Rule options that aren't given are
    those of the game's `notation.PLAYTHROUGH_OPTIONS`, if it has any.
    """
    definition = registry.find_game(game)
    options = _playthrough_options(definition, num_players, rules)
    if seed is None:
        seed = telling_seed(definition, **options)

    def choose(env: RawEnv, _line: int) -> int:
        return int(policies.random_policy(env.decision())[0])

    return "".join(f"{line}\n" for line in _playthrough_lines(definition, options, seed, choose))


def _playthrough_options(game: GameDefinition, num_players: int | None, rules: Mapping[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = {**getattr(game.notation, "PLAYTHROUGH_OPTIONS", {}), **rules}
    if num_players is not None:
        options["num_players"] = num_players
    return game.rules_type(**options).as_dict()


def telling_seed(game: GameLike, **options: Any) -> int:
    """Of the game seeds 0 … 255, that of the game which shows most phases, then features in them; then the shortest."""
    definition = registry.find_game(game)
    num_games = SEEDS_TO_CHOOSE_FROM
    batch = definition.batch(num_games, seed=list(range(num_games)), **options)
    starts = [part.start for part in _slices(batch.encoder("flat"))]
    shown: list[set[tuple[int, int]]] = [set() for _ in range(num_games)]
    for _ in _stepped(batch):
        phases = batch.phase.tolist()
        running = batch.player >= 0
        shows = np.logical_or.reduceat(batch.observe("flat") != 0, starts, axis=1)
        for row, part in np.argwhere(shows & running[:, None]).tolist():
            shown[row].add((phases[row], part))
    lengths = batch.decisions.tolist()
    phases_shown = [len({phase for phase, _ in pairs}) for pairs in shown]
    return min(range(num_games), key=lambda row: (-phases_shown[row], -len(shown[row]), lengths[row], row))


def _playthrough_lines(
    game: GameDefinition, options: dict[str, Any], seed: int, choose: Callable[[RawEnv, int], int]
) -> Iterator[str]:
    """The lines of a playthrough. `choose` is asked for every action, with the number of lines before it."""
    envs = {reward: game.raw_env(reward=reward, **options) for reward in REWARDS}
    for env in envs.values():
        env.reset(seed=seed)
    env = envs[REWARDS[0]]
    earned = {reward: np.zeros(len(env.possible_agents)) for reward in REWARDS}
    count = 0

    def lines(texts: Iterable[str], indent: str = "  ") -> Iterator[str]:
        nonlocal count
        for text in texts:
            count += 1
            yield (indent + text).rstrip()

    yield from lines(
        [
            f"# A game of {game.id} by uniform random legal actions, replayed by the tests.",
            f"# Written by: python -m easyenvs.testing {game.id}",
            f"game: {game.id}",
            f"options: {json.dumps(options)}",
            f"seed: {seed}",
            "",
            "the deal",
        ],
        "",
    )
    yield from lines(_position_lines(env))
    while not _is_over(env):
        yield from lines(["", f"decision {env.snapshot()['decisions']}"], "")
        yield from lines(_seen_lines(env, env.agent_selection))
        yield from lines(["legal: " + ", ".join(env.action_name(action) for action in env.legal_actions())])
        action = choose(env, count)
        what = f"{env.agent_selection}, phase {env.snapshot()['phase']}: {env.action_name(action)}"
        yield from lines([what], _ACTION_MARK)
        for reward, other in envs.items():
            other.step(action)
            amounts = list(other.rewards.values())
            earned[reward] += amounts
            if any(amounts):
                yield from lines([f"reward {reward}: {' '.join(f'{amount:+.3f}' for amount in amounts)}"])
    how = "terminated" if all(env.terminations.values()) else "truncated"
    yield from lines(["", f"the end: {how}"], "")
    yield from lines(_position_lines(env))
    for agent in env.possible_agents:
        yield from lines(_seen_lines(env, agent))
    infos = env.infos.values()
    yield from lines([f"scores: {' '.join(str(info['score']) for info in infos)}"], "")
    yield from lines([f"ranks: {' '.join(format(info['rank'], 'g') for info in infos)}"], "")
    for reward, sums in earned.items():
        yield from lines([f"rewards {reward}: {' '.join(f'{amount:+.3f}' for amount in sums)}"], "")


def _position_lines(env: RawEnv) -> list[str]:
    """The whole position, a key a line."""
    position = _without(env.snapshot(), "game", "num_players", "rules", "version", "seed")
    return [f"{key}: {json.dumps(value)}" for key, value in position.items()]


def _seen_lines(env: RawEnv, agent: str) -> list[str]:
    """What an agent sees: the table as text, and the features of its observation that are not 0."""
    seat = env.possible_agents.index(agent)
    batch = env.game.batch(1, seed=0, engine="python", **env.rules.as_dict())
    batch.restore(0, env.snapshot())
    observation = batch.observe("flat", seat=seat)[0]
    features = _features_text(_slices(batch.encoder("flat")), observation)
    return [
        f"{agent} sees",
        *(f"  {line}" for line in batch.observe("text", seat=seat)[0].split("\n")),
        f"observation: {features}",
    ]


def _features_text(slices: Sequence[Slice], observation: npt.NDArray[Any]) -> str:
    """The features that are not 0: `hand[3 17]` is 1 in columns 3 and 17 of its slice, `total 0=0.25` is a number."""
    texts = []
    for part in slices:
        values = observation[part.start : part.stop].tolist()
        ones = " ".join(str(i) for i, value in enumerate(values) if value == 1)
        others = [(i, value) for i, value in enumerate(values) if value not in (0, 1)]
        wide = len(values) > 1
        if ones:
            texts.append(f"{part.name}[{ones}]" if wide else part.name)
        texts += [f"{part.name}[{i}]={value:.4g}" if wide else f"{part.name}={value:.4g}" for i, value in others]
    return ", ".join(texts)


def replay_playthrough(game: GameLike, text: str) -> None:
    """Play a playthrough again, with its options, seed and actions.

    Raises:
        AssertionError: a sentence that names the first line that is different now.
    """
    definition = registry.find_game(game)
    expected = text.splitlines()

    def fail(sentence: str) -> NoReturn:
        raise AssertionError(f"the playthrough of {definition.id}: {sentence}")

    header: dict[str, str] = {}
    for line in expected:
        key, colon, value = line.partition(": ")
        if not line:
            break
        if colon:
            header[key] = value
    for key in ("game", "options", "seed"):
        if key not in header:
            fail(f"its header has no line {key!r}")
    if header["game"] != definition.id:
        fail(f"it is one of {header['game']}")
    actions = iter([(number, line) for number, line in enumerate(expected) if line.startswith(_ACTION_MARK)])

    def choose(env: RawEnv, count: int) -> int:
        number, line = next(actions, (len(expected), ""))
        if number != count or not line:
            fail(f"line {count + 1} should be an action, as the game goes on there")
        name = line.partition(": ")[2]
        try:
            action = env.parse_action(name)
        except ValueError as error:
            fail(f"line {count + 1}: {error}")
        if action not in env.legal_actions():
            names = ", ".join(env.action_name(legal) for legal in env.legal_actions())
            fail(f"line {count + 1}: {name} is not legal there; legal are {names}")
        return action

    found = 0
    for found, line in enumerate(
        _playthrough_lines(definition, json.loads(header["options"]), int(header["seed"]), choose), 1
    ):
        if found > len(expected):
            fail(f"it ends after line {len(expected)}, but the game goes on: {line!r}")
        if line != expected[found - 1]:
            fail(f"line {found} reads {expected[found - 1]!r}, but the game gives {line!r}")
    if found < len(expected):
        fail(f"the game is over after line {found}, but the text goes on: {expected[found]!r}")


def write_playthrough(game: GameLike, folder: Path | None = None, *, seed: int | None = None) -> Path:
    """Write a game's golden playthrough anew; `folder` instead of the game's own."""
    definition = registry.find_game(game)
    path = playthrough_path(definition) if folder is None else folder / PLAYTHROUGH_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(playthrough(definition, seed=seed), encoding="utf-8")
    return path


def main(arguments: Sequence[str] | None = None, *, root: Path | None = None) -> int:
    """`python -m easyenvs.testing [GAME …]`; `root`: write to `root/GAME/` instead of the games' folders."""
    parser = argparse.ArgumentParser(prog="python -m easyenvs.testing", description="Write golden playthroughs anew.")
    parser.add_argument("games", nargs="*", metavar="GAME", help="a game's id (default: every game of easyenvs)")
    parser.add_argument("--seed", type=int, help="the game seed (default: of the first 256, the one that shows most)")
    given = parser.parse_args(arguments)
    built_in = [game.id for game in registry.games().values() if game.package.startswith("easyenvs.")]
    for name in given.games or built_in:
        try:
            game = registry.find_game(name)
        except ValueError as error:
            parser.error(str(error))
        path = write_playthrough(game, None if root is None else root / game.id, seed=given.seed)
        print(f"{path}: {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
