"""`env` behaves as `raw_env` inside PettingZoo's own wrappers: both are driven through the same calls, right and wrong."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

import easyenvs
from easyenvs.core.game import GameDefinition

GAMES = list(easyenvs.games().values())


def wrapped(game: GameDefinition, **options: Any) -> Any:
    env: Any = game.raw_env(**options)
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
    env = wrappers.AssertOutOfBoundsWrapper(env)
    return wrappers.OrderEnforcingWrapper(env)


def outcome(call: Callable[[], Any]) -> tuple[type[Exception] | None, Any, list[Any]]:
    """(error type, result, what PettingZoo's logger was told) of a call."""
    EnvLogger.flush()
    try:
        result, error = call(), None
    except Exception as caught:  # whatever it is, the other environment has to raise it too
        result, error = None, type(caught)
    # PettingZoo's handler and its logger each append the message, once a handler is installed: compare the set
    return error, result, sorted(set(EnvLogger.mqueue))


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and a == b


def assert_same(ours: Any, theirs: Any, call: Callable[[Any], Any], what: str) -> None:
    error, result, said = outcome(lambda: call(ours))
    their_error, their_result, they_said = outcome(lambda: call(theirs))
    if their_error is None or error is None:
        assert error is their_error, f"{what}: {error} here, {their_error} in the wrappers"
    else:  # ours may be a more telling kind of the same error
        assert issubclass(error, their_error), f"{what}: {error} here, {their_error} in the wrappers"
    assert same(result, their_result), f"{what}: {result} here, {their_result} in the wrappers"
    assert said == they_said, f"{what}: says {said}, the wrappers {they_said}"


STATE: dict[str, Callable[[Any], Any]] = {
    "agents": lambda e: list(e.agents),
    "agent_selection": lambda e: e.agent_selection,
    "rewards": lambda e: {agent: float(r) for agent, r in e.rewards.items()},
    "cumulative rewards": lambda e: {agent: float(r) for agent, r in e._cumulative_rewards.items()},
    "terminations": lambda e: dict(e.terminations),
    "truncations": lambda e: dict(e.truncations),
    "infos": lambda e: dict(e.infos),
    "num_agents": lambda e: e.num_agents,
    "observations": lambda e: {agent: e.observe(agent) for agent in e.possible_agents},
    "state": lambda e: e.state(),
    "last": lambda e: (*e.last()[:1], float(e.last()[1]), *e.last()[2:]),
    "last without observation": lambda e: e.last(observe=False)[2:],
    "snapshot": lambda e: e.unwrapped.snapshot(),
}


def assert_all_same(ours: Any, theirs: Any, after: str) -> None:
    for name, look in STATE.items():
        assert_same(ours, theirs, look, f"{name} after {after}")


def random_call(rng: random.Random, env: Any) -> tuple[str, Callable[[Any], Any]]:
    """A call to make, by what the environment would accept now; mostly right, often wrong."""
    try:
        legal, over = env.unwrapped.legal_actions(), bool(env.agents) and env.last(observe=False)[2]
    except Exception:
        legal, over = [0], False
    illegal = [a for a in range(env.unwrapped.num_actions) if a not in legal]
    right = None if over else rng.choice(legal or [0])
    wrong: Any = rng.choice(
        [None, -1, env.unwrapped.num_actions, 2**40, 1.0, "flip", True, np.True_, np.float32(0), rng.choice(illegal)]
    )
    if rng.random() < 0.25:
        wrong = rng.choice([np.array([0]), np.array(2.5), [0]])
    kind = rng.random()
    if kind < 0.9:
        kinds: list[Callable[[Any], Any]] = [np.int8, np.int64, np.uint16, np.array, int]
        action = rng.choice(kinds)(right) if right is not None else None
        return f"step({action!r})", lambda e: e.step(action)
    if kind < 0.96:
        return f"step({wrong!r})", lambda e: e.step(wrong)
    if kind < 0.975:
        seed = rng.choice([None, 3, 2**64 - 1])
        if seed is None:  # an unseeded reset of a fresh environment asks the system for its seed
            seed = 5
        return f"reset({seed})", lambda e: e.reset(seed=seed)
    calls: list[tuple[str, Callable[[Any], Any]]] = [
        ("observe of nobody", lambda e: e.observe("nobody")),
        ("reset to the next game", lambda e: e.reset()),
        ("agent_iter twice without step", lambda e: [next(it) for it in [iter(e.agent_iter())] for _ in "ab"]),
        ("render", lambda e: e.render()),
        ("close", lambda e: e.close()),
        ("str", lambda e: str(e)),
    ]
    return rng.choice(calls)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_the_same_calls_have_the_same_effects(game: GameDefinition, seed: int) -> None:
    rng = random.Random(seed)
    options: dict[str, Any] = {
        "num_players": 2 + seed % 3,
        "reward": ("placement", "score", "win")[seed % 3],
        "observation": ("flat", "bits")[seed % 2],
        "engine": ("python", "python", "numpy")[seed % 3],
        "render_mode": "ansi",
    }
    if seed % 4 == 3:
        options["max_cycles"] = 20
    ours: Any = game.env(**options)
    theirs = wrapped(game, **options)
    for env in (ours, theirs):
        env.reset(seed=seed)
    for _ in range(300):
        name, call = random_call(rng, ours)
        assert_same(ours, theirs, call, name)
        assert_all_same(ours, theirs, name)
        if not ours.agents:
            assert_same(ours, theirs, lambda e: e.step(0), "a step after the last agent has left")
            new_seed = rng.randrange(1000)
            for env in (ours, theirs):
                env.reset(seed=new_seed)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.step(0),
        lambda e: e.observe("player_0"),
        lambda e: e.state(),
        lambda e: e.render(),
        lambda e: e.last(),
        lambda e: list(e.agent_iter()),
        *(lambda e, name=name: getattr(e, name) for name in ("rewards", "terminations", "truncations", "infos")),
        *(lambda e, name=name: getattr(e, name) for name in ("agent_selection", "num_agents", "agents", "nonsense")),
        lambda e: e.close(),
        lambda e: e.possible_agents,
        lambda e: e.max_num_agents,
        lambda e: str(e),
    ],
)
def test_before_reset(game: GameDefinition, call: Callable[[Any], Any]) -> None:
    assert_same(game.env(render_mode="ansi"), wrapped(game, render_mode="ansi"), call, "a call before reset")


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_an_illegal_action_in_env_ends_the_game(game: GameDefinition) -> None:
    env = game.env(num_players=3, reward="score")
    env.reset(seed=2)
    for _ in range(10):
        env.step(env.legal_actions()[0])
    offender, before = env.agent_selection, env.snapshot()
    illegal = next(a for a in range(env.num_actions) if a not in env.legal_actions())
    env.step(illegal)
    assert env.rewards == {agent: -1.0 if agent == offender else 0.0 for agent in env.possible_agents}
    assert all(env.terminations.values()) and all(env.truncations.values())
    assert env.snapshot() == before
    left = []
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        assert terminated and truncated
        assert observation is not None
        assert not observation["action_mask"].any() and not info["action_mask"].any()
        assert reward == (-1.0 if agent == offender else 0.0)
        left.append(agent)
        env.step(None)
    assert left == env.possible_agents


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_raw_env_raises_where_env_is_lenient(game: GameDefinition) -> None:
    env: Any = game.raw_env()
    with pytest.raises(easyenvs.NotResetError, match="reset"):
        env.step(0)
    env.reset(seed=1)
    before = env.snapshot()
    illegal = next(a for a in range(env.num_actions) if a not in env.legal_actions())
    for action in (illegal, -1, env.num_actions, 10**40, np.int64(illegal), np.array(illegal)):
        with pytest.raises(easyenvs.IllegalActionError, match=r"seat \d, phase \w+: action .* is illegal; legal are"):
            env.step(action)
    for wrong in (1.0, np.float64(0), "up", True, np.False_, [0], np.array([0]), None, 0j, b"0"):
        with pytest.raises(easyenvs.ActionTypeError, match=r"an integer 0 … \d+ is accepted"):
            env.step(wrong)
    assert env.snapshot() == before
    assert not any(env.terminations.values())
    while env.agents:
        env.step((env.legal_actions() or [None])[-1])
    with pytest.raises(easyenvs.NotResetError, match=r"call reset\(\)"):
        env.step(None)
