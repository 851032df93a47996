"""Gymnasium: one learning seat, alone and vectorised; credit, masks, seeds, autoreset, wrappers, spawned workers."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as vector_wrappers

import easyenvs
from easyenvs.adapters.gym import Env, VectorEnv
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import Decisions, load_policy
from easyenvs.registry import gymnasium_id

GAMES = list(easyenvs.games().values())
MODES = list(AutoresetMode)


def lowest(d: Decisions) -> Any:
    return d.legal.argmax(axis=1)


def same(a: Any, b: Any) -> bool:
    """Equal in value, shape, dtype and keys."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)) or (isinstance(a, np.ndarray) and a.dtype == object):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and a == b


def choose(mask: Any, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
@pytest.mark.parametrize(
    "options", [{}, {"num_players": 4, "seat": "random", "observation": "dict"}, {"engine": "numpy"}]
)
@pytest.mark.filterwarnings("ignore:.*is illegal. the game is lost:UserWarning")  # the checker samples without the mask
def test_the_checker_of_gymnasium_has_nothing_to_say(game: GameDefinition, options: dict[str, Any]) -> None:
    check_env(gymnasium.make(gymnasium_id(game), **options).unwrapped)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_make_finds_the_game_by_id_and_by_module(game: GameDefinition) -> None:
    for name in (gymnasium_id(game), f"easyenvs:{gymnasium_id(game)}"):
        env = gymnasium.make(name, num_players=3, seat=2)
        observation, info = env.reset(seed=1)
        assert env.observation_space.contains(observation)
        assert info["action_mask"].dtype == np.int8
        assert env.get_wrapper_attr("action_masks")().dtype == np.bool_
        assert np.array_equal(env.get_wrapper_attr("action_masks")(), info["action_mask"])
        assert info["action_mask"][env.action_space.sample(info["action_mask"])]
        again = gymnasium.make(env.spec)
        assert same(again.reset(seed=1)[0], observation)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
@pytest.mark.parametrize("reward", ["placement", "win", "score"])
@pytest.mark.parametrize("players", [2, 3])
def test_all_that_a_seat_earns_reaches_the_learner(game: GameDefinition, reward: str, players: int) -> None:
    """Also what it earns, or loses, in others' turns: the sum over an episode is that of the game."""
    greedy = load_policy("greedy", game)
    for seat in range(players):
        env = Env(game, num_players=players, seat=seat, reward=reward, opponents="greedy")
        table = game.raw_env(num_players=players, reward=reward)
        losses = 0
        for seed in range(12):
            rng = np.random.default_rng(seed)
            _, info = env.reset(seed=seed)
            total, over, actions = 0.0, False, []
            while not over:
                actions.append(choose(info["action_mask"], rng))
                _, earned, terminated, truncated, info = env.step(actions[-1])
                total += earned
                over = terminated or truncated
            table.reset(seed=seed)
            expected, mine = 0.0, iter(actions)
            while not table.over:
                own = table.seat_to_act == seat
                table.step(next(mine) if own else int(greedy(table.decision())[0]))
                expected += float(np.float32(table.rewards[f"player_{seat}"]))
            assert total == pytest.approx(expected, abs=1e-12)
            assert (info["score"], info["rank"]) == table.result(seat)
            losses += total < 0
        assert losses  # a loser, who does not make the last move, is told so


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_a_loser_gets_its_minus_one_on_its_last_transition(game: GameDefinition) -> None:
    """PettingZoo's tutorial wrapper hands it to nobody: the learner acts, the other wins, and the reward is lost."""
    found = False
    for seed in range(60):
        env = Env(game, num_players=2, opponents="greedy")
        rng = np.random.default_rng(seed)
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            before = env.snapshot()
            _, reward, over, _, info = env.step(choose(info["action_mask"], rng))
        assert before["player"] == 0
        after = env.snapshot()
        if info["rank"] == 2.0 and after["decisions"] > before["decisions"] + 1:  # the other seat made the last move
            assert reward == -1.0
            assert not info["action_mask"].any()
            found = True
    assert found


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 2, "opponents": "greedy"},
        {"num_players": 3, "seat": "random", "opponents": ["heuristic", lowest], "observation": "bits"},
        {
            "num_players": 4,
            "seat": 3,
            "reward": "score",
            "observation": "dict",
            "opponents": [None, "greedy", lowest, None],
        },
        {"num_players": 2, "max_cycles": 20, "observation": "text", "render_mode": "ansi"},
    ],
    ids=["two", "three", "four", "text"],
)
@pytest.mark.filterwarnings("ignore:.*is illegal. the game is lost:UserWarning")
def test_the_vector_env_is_the_sync_vector_env_value_for_value(
    game: GameDefinition, mode: AutoresetMode, options: dict[str, Any]
) -> None:
    n = 4
    ours: Any = gymnasium.make_vec(
        gymnasium_id(game), num_envs=n, vectorization_mode="vector_entry_point", autoreset_mode=mode, **options
    )
    theirs = SyncVectorEnv([lambda: Env(game, **options)] * n, autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] is mode
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    rng = np.random.default_rng(0)
    result: Any = ours.reset(seed=5)
    assert same(result, theirs.reset(seed=5))
    ends = 0
    for step in range(90):
        actions = np.array([choose(mask, rng) if mask.any() else 0 for mask in ours.action_masks()])
        if step % 30 == 20:
            actions[step // 30] = ours.single_action_space.n - 1  # as good as always illegal
        result = ours.step(actions)
        assert same(result, theirs.step(actions)), step
        assert same(list(ours.action_masks()), list(theirs.call("action_masks")))
        over = result[2] | result[3]
        ends += int(over.sum())
        if ours.render_mode:
            assert ours.render() == theirs.render()
        if mode is AutoresetMode.SAME_STEP and over.any():
            row = int(np.flatnonzero(over)[0])
            assert not result[-1]["final_info"]["action_mask"][row].any()
            assert result[-1]["action_mask"][row].any()
        if mode is AutoresetMode.DISABLED and over.any():
            with pytest.raises(easyenvs.NotResetError, match="reset_mask"):
                ours.step(actions)
            seeds = [step * 10 + row if row % 2 else None for row in range(n)]
            assert same(
                ours.reset(seed=seeds, options={"reset_mask": over}),
                theirs.reset(seed=seeds, options={"reset_mask": over.copy()}),
            )
    assert ends >= 3


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_spawned_workers_play_the_same(game: GameDefinition) -> None:
    name = f"easyenvs:{gymnasium_id(game)}"
    spawned = AsyncVectorEnv([lambda: gymnasium.make(name)] * 2, context="spawn")
    ours: Any = gymnasium.make_vec(name, num_envs=2)
    try:
        assert isinstance(ours.unwrapped, VectorEnv)
        first: Any = ours.reset(seed=3)
        assert same(spawned.reset(seed=3), first)
        rng = np.random.default_rng(1)
        masks = first[1]["action_mask"]
        for _ in range(30):
            actions = np.array([choose(mask, rng) for mask in masks])
            result = ours.step(actions)
            assert same(spawned.step(actions), result)
            masks = result[-1]["action_mask"]
            if not masks.any(axis=1).all():
                break
    finally:
        spawned.close()


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
@pytest.mark.parametrize("make", [Env, lambda game, **options: VectorEnv(game, 3, **options)], ids=["one", "many"])
def test_seeds_give_the_same_games_and_later_ones_too(game: GameDefinition, make: Callable[..., Any]) -> None:
    def games(env: Any) -> list[Any]:
        seen = [env.reset(seed=11)]
        seen += [env.reset() for _ in range(3)]
        return seen

    def generators() -> Any:
        # The old global generator is looked at, not used.
        state: Any = np.random.get_state()  # noqa: NPY002
        return state[1].tolist(), random.getstate()

    state = generators()
    first = games(make(game, seat="random"))
    assert same(first, games(make(game, seat="random")))
    assert not any(same(first[0], later) for later in first[1:])
    assert generators() == state


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_a_random_seat_is_drawn_anew_for_every_game(game: GameDefinition) -> None:
    env = Env(game, num_players=3, seat="random")
    seats = [env.reset(seed=seed)[1]["seat"] for seed in range(200)]
    assert min(np.bincount(seats, minlength=3)) > 40
    many = VectorEnv(game, 200, num_players=3, seat="random")
    assert many.reset(seed=0)[1]["seat"].tolist() == seats


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_opponents_sit_where_they_are_said_to(game: GameDefinition) -> None:
    seen: dict[str, set[int]] = {"a": set(), "b": set()}

    def spy(name: str) -> Any:
        def policy(d: Decisions) -> Any:
            seen[name] |= set(d.seat.tolist())
            return lowest(d)

        return policy

    def seats(**options: Any) -> tuple[set[int], set[int]]:
        for key in seen:
            seen[key] = set()
        for env in (Env(game, num_players=3, **options), VectorEnv(game, 2, num_players=3, **options)):
            info: Any = env.reset(seed=0)[1]
            for _ in range(30):
                mask = info["action_mask"]
                action = choose(mask, np.random.default_rng(0)) if mask.ndim == 1 else mask.argmax(axis=1)
                info = env.step(action)[-1]
                if not info["action_mask"].any():
                    break
        return seen["a"], seen["b"]

    assert seats(seat=1, opponents=[spy("a"), spy("b")]) == ({2}, {0})  # in turn after the learner
    assert seats(seat=1, opponents=[spy("a"), None, spy("b")]) == ({0}, {2})  # by seat
    assert seats(seat=2, opponents=spy("a")) == ({0, 1}, set())


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_a_game_over_before_the_learner_acts_is_skipped_and_counted(game: GameDefinition) -> None:
    """Positions late in a game in which the opponent's next decision ends it."""
    table = game.raw_env(num_players=2)
    found = 0
    for seed in range(8):
        table.reset(seed=seed)
        snapshot = None
        while not table.over:
            snapshot = table.snapshot()
            table.step(int(lowest(table.decision())[0]))
        assert snapshot is not None
        learner = 1 - snapshot["player"]
        one = Env(game, num_players=2, seat=learner, opponents=lowest)
        _, info = one.reset(seed=seed, options={"snapshot": snapshot})
        assert info["skipped_games"] == 1
        assert info["action_mask"].any() and one.snapshot()["phase"] != "over"
        many = VectorEnv(game, 2, num_players=2, seat=learner, opponents=lowest)
        _, infos = many.reset(seed=seed, options={"snapshot": snapshot})
        assert infos["skipped_games"].tolist() == [1, 1]
        assert np.array_equal(infos["action_mask"][0], info["action_mask"])
        found += 1
        table.step(None)
        table.step(None)
        over = game.raw_env(num_players=2)
        over.reset(seed=seed)
        while not over.over:
            over.step(int(lowest(over.decision())[0]))
        for env in (one, many):
            with pytest.raises(easyenvs.SnapshotError, match="is over"):
                env.reset(options={"snapshot": over.snapshot()})
    assert found == 8


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_an_illegal_action_loses_with_one_warning_or_raises(game: GameDefinition) -> None:
    env = Env(game)
    _, info = env.reset(seed=0)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    with pytest.warns(UserWarning, match="is illegal") as caught:
        _, reward, terminated, truncated, info = env.step(illegal)
    assert len(caught) == 1
    assert (reward, terminated, truncated, info["illegal_action"]) == (-1.0, True, False, True)
    assert not info["action_mask"].any() and not env.action_masks().any() and env.legal_actions() == []
    with pytest.raises(easyenvs.NotResetError, match="is over"):
        env.step(0)

    loud: list[Any] = [Env(game, illegal="raise"), VectorEnv(game, 2, illegal="raise")]
    for env_or_many in loud:
        before = env_or_many.reset(seed=0)
        masks = before[1]["action_mask"]
        bad: Any = illegal if isinstance(env_or_many, Env) else np.array([masks[0].argmax(), masks[1].argmin()])
        with pytest.raises(easyenvs.IllegalActionError, match="legal are"):
            env_or_many.step(bad)
        assert same(before[0], env_or_many.reset(seed=0)[0])
    many = VectorEnv(game, 3)
    masks = many.reset(seed=0)[1]["action_mask"]
    with pytest.warns(UserWarning, match="2 such in this step"):
        _, rewards, terminations, _, infos = many.step(
            np.array([masks[0].argmin(), masks[1].argmax(), masks[2].argmin()])
        )
    assert rewards.tolist() == [-1.0, 0.0, -1.0] and terminations.tolist() == [True, False, True]
    assert infos["_illegal_action"].tolist() == [True, False, True]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_bad_input_gets_a_clear_error(game: GameDefinition) -> None:
    for options, text in (
        ({"seat": 2}, "seat=2 is not accepted"),
        ({"seat": "any"}, "'random' or an integer 0 … 1"),
        ({"seat": True}, "seat=True"),
        ({"illegal": "ignore"}, "one of 'lose', 'raise'"),
        ({"opponents": ["random"] * 3}, "opponents="),
        ({"opponents": 3}, "opponents=3"),
        ({"opponents": "grandmaster"}, "names no policy"),
        ({"reward": "money"}, "reward='money'"),
    ):
        for make in (Env, VectorEnv):
            with pytest.raises(ValueError, match=text.replace("(", r"\(")):
                make(game, **{"num_players": 2, **options})
    with pytest.raises(ValueError, match="autoreset_mode"):
        VectorEnv(game, 2, autoreset_mode="never")
    with pytest.raises(ValueError, match="num_games=0"):
        VectorEnv(game, 0)
    env, many = Env(game), VectorEnv(game, 2)
    calls: list[Callable[[], Any]] = [
        lambda: env.step(0),
        lambda: env.action_masks(),
        lambda: env.render(),
        lambda: env.legal_actions(),
        lambda: many.step(np.zeros(2, dtype=int)),
        lambda: many.action_masks(),
        lambda: many.render(),
        lambda: many.reset(options={"reset_mask": np.array([True, False])}),
    ]
    for call in calls:
        with pytest.raises(easyenvs.NotResetError, match="reset"):
            call()
    env.reset(seed=0)
    many.reset(seed=0)
    for action in (1.0, "up", True, None, np.array([0])):
        with pytest.raises(easyenvs.ActionTypeError):
            env.step(action)
    for action in (-1, 10**6):
        with pytest.raises(easyenvs.IllegalActionError, match="ids are 0"):
            env.step(action)
        with pytest.raises(easyenvs.IllegalActionError, match="ids are 0"):
            many.step(np.array([action, 0]))
    for actions in (np.zeros(2), np.zeros(3, dtype=int), np.zeros((2, 1), dtype=int), np.zeros(2, dtype=bool)):
        with pytest.raises(easyenvs.ActionTypeError):
            many.step(actions)
    for mask in (np.array([True]), [True, False], np.array([1, 0]), np.array([False, False])):
        with pytest.raises(ValueError, match="reset_mask"):
            many.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match="3 are given"):
        many.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=-1)
    with pytest.raises(ValueError, match="seed"):
        many.reset(seed=-5)
    for seed in (1.5, "7", True):
        for one in (env, many):
            with pytest.raises(ValueError, match="seed"):
                one.reset(seed=seed)
    shown = [many._games.batch.snapshot(row) for row in range(2)]
    with pytest.raises(ValueError, match="seed"):
        many.reset(seed=[None, -1])
    assert [
        many._games.batch.snapshot(row) for row in range(2)
    ] == shown  # the row without a seed has not been dealt anew
    for snapshot in ({"game": "chess"}, [1], "text"):
        for one in (env, many):
            with pytest.raises(easyenvs.SnapshotError):
                one.reset(options={"snapshot": snapshot})
    assert many.action_masks().any(axis=1).all()  # nothing was lost


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_usual_wrappers_work(game: GameDefinition) -> None:
    env: Any = gymnasium.make(gymnasium_id(game), observation="dict", max_episode_steps=5)
    env = wrappers.RecordEpisodeStatistics(wrappers.FlattenObservation(env))
    observation, info = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    flat, _ = gymnasium.make(gymnasium_id(game)).reset(seed=0)
    assert observation.shape == flat.shape
    for step in range(5):
        _, _, terminated, truncated, info = env.step(choose(info["action_mask"], np.random.default_rng(step)))
    assert truncated and not terminated
    assert info["episode"]["l"] == 5
    many: Any = vector_wrappers.RecordEpisodeStatistics(gymnasium.make_vec(gymnasium_id(game), num_envs=3))
    _, info = many.reset(seed=0)
    lengths = []
    for _ in range(150):
        masks = many.env.action_masks()
        _, _, _, _, info = many.step(np.array([mask.nonzero()[0][-1] if mask.any() else 0 for mask in masks]))
        if "episode" in info:
            lengths += info["episode"]["l"][info["_episode"]].tolist()
    assert lengths and min(lengths) > 1
    scaled: Any = vector_wrappers.RescaleObservation(
        gymnasium.make_vec(gymnasium_id(game), num_envs=2), np.float32(-1), np.float32(1)
    )
    assert scaled.reset(seed=0)[0].min() == -1


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_copies_play_on_alike_and_apart(game: GameDefinition) -> None:
    for env in (Env(game, opponents="greedy"), VectorEnv(game, 3, opponents="greedy", autoreset_mode="SameStep")):
        seen: Any = env.reset(seed=4)
        for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            mine, info = copy.deepcopy(env), seen[1]
            for _ in range(25):
                mask = info["action_mask"]
                action: Any = int(mask.argmax()) if mask.ndim == 1 else mask.argmax(axis=1)
                result = mine.step(action)
                assert same(result, copied.step(action))
                info = result[-1]
                if not info["action_mask"].any():
                    assert same(mine.reset(), copied.reset())
                    break


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_what_was_handed_out_never_changes(game: GameDefinition) -> None:
    for env in (Env(game), VectorEnv(game, 3, autoreset_mode=AutoresetMode.SAME_STEP)):
        result: Any = env.reset(seed=4)
        kept = [(result, copy.deepcopy(result))]
        for _ in range(60):
            mask = result[-1]["action_mask"]
            if not mask.any():
                break
            result = env.step(int(mask.argmax()) if mask.ndim == 1 else mask.argmax(axis=1))
            kept.append((result, copy.deepcopy(result)))
        assert all(same(now, then) for now, then in kept)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_opponents_can_be_replaced_in_the_middle_of_a_game(game: GameDefinition) -> None:
    for env in (Env(game), VectorEnv(game, 2)):
        called: list[int] = []

        def spy(d: Decisions, called: list[int] = called) -> Any:
            called.append(len(d))
            return lowest(d)

        info: Any = env.reset(seed=0)[1]
        env.set_opponents(spy)
        for _ in range(40):
            mask = info["action_mask"]
            info = env.step(int(mask.argmax()) if mask.ndim == 1 else mask.argmax(axis=1))[-1]
            if called or not info["action_mask"].any():
                break
        assert called
        with pytest.raises(ValueError, match="opponents"):
            env.set_opponents(7)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_both_engines_give_the_same(game: GameDefinition) -> None:
    policy = load_policy("heuristic", game)
    envs = [VectorEnv(game, 3, engine=engine, opponents=policy) for engine in ("python", "numpy")]
    results = [env.reset(seed=9) for env in envs]
    assert same(*results)
    for _ in range(60):
        masks = envs[0].action_masks()
        actions = np.array([mask.argmax() for mask in masks])
        stepped = [env.step(actions) for env in envs]
        assert same(*stepped)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
@pytest.mark.parametrize("mode", MODES)
def test_nobody_who_is_to_act_has_an_empty_mask(game: GameDefinition, mode: AutoresetMode) -> None:
    """A masked distribution over nothing would be uniform, or NaN; only finished games have none (and are documented so)."""
    envs: Any = VectorEnv(game, 16, num_players=3, seat="random", autoreset_mode=mode, observation="bits")
    envs.reset(seed=0)
    rng = np.random.default_rng(0)
    over = np.zeros(16, dtype=np.bool_)
    for _ in range(150):
        masks = envs.action_masks()
        assert masks.shape == (16, envs.single_action_space.n) and masks.dtype == np.bool_
        assert np.array_equal(
            masks.any(axis=1), ~over if mode is not AutoresetMode.SAME_STEP else np.ones(16, dtype=bool)
        )
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        _, _, terminated, truncated, _ = envs.step(actions)
        over = terminated | truncated
        if mode is AutoresetMode.DISABLED and over.any():
            envs.reset(options={"reset_mask": over})
            over[:] = False
