"""What every batch does, for every game: where=, autoreset, seeds, copies. (The conformance kit checks more.)"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import easyenvs
from easyenvs.core.batch import Batch
from easyenvs.core.chance import next_seed, row_seed
from easyenvs.core.game import GameDefinition

GAMES = list(easyenvs.games().values())
every = pytest.mark.parametrize(
    ("game", "engine"),
    [(game, engine) for game in GAMES for engine in game.engines],
    ids=lambda value: getattr(value, "id", value),
)


def random_actions(games: Batch, rng: np.random.Generator) -> Any:
    return (rng.random(games.legal.shape) * games.legal).argmax(axis=1)


def snapshots(games: Batch) -> list[dict[str, Any]]:
    return [games.snapshot(i) for i in range(games.num_games)]


@every
def test_shapes_and_dtypes(game: GameDefinition, engine: str) -> None:
    games = game.batch(5, num_players=3, seed=0, engine=engine)
    assert (games.num_games, games.num_players, games.num_actions) == (5, 3, len(game.notation.ACTION_NAMES))
    assert games.player.shape == (5,) and games.player.dtype.kind == "i"
    assert games.legal.shape == (5, games.num_actions) and games.legal.dtype == np.bool_
    assert games.rewards.shape == (5, 3) and games.rewards.dtype == np.float32
    assert games.scores.shape == (5, 3) and games.scores.dtype.kind == "i"
    assert games.final_scores.tolist() == [[-1] * 3] * 5
    assert games.seeds.shape == (5,) and games.seeds.dtype == np.uint64
    assert games.terminated.dtype == games.truncated.dtype == np.bool_
    games.step(random_actions(games, np.random.default_rng(0)))
    env = game.env(num_players=3)
    for name in ("flat", "bits"):
        observed = games.observe(name)
        assert observed.shape == (5, *(game.env(num_players=3, observation=name).encoder.space.shape or ()))
    env_of_dicts: Any = game.env(num_players=3, observation="dict")
    assert set(games.observe("dict")) == set(env_of_dicts.encoder.space.spaces)
    assert [type(text) for text in games.observe("text")] == [str] * 5
    assert env.num_actions == games.num_actions


@every
def test_seeds(game: GameDefinition, engine: str) -> None:
    games = game.batch(4, seed=9, engine=engine)
    assert games.seeds.tolist() == [row_seed(9, i) for i in range(4)]
    one_by_one = game.batch(4, seed=[row_seed(9, i) for i in range(4)], engine=engine)
    assert snapshots(one_by_one) == snapshots(games)
    env = game.env()
    env.reset(seed=row_seed(9, 2))
    assert env.snapshot() == games.snapshot(2)

    games.reset(where=[1, 3])
    first = [row_seed(9, i) for i in range(4)]
    assert games.seeds.tolist() == [first[0], next_seed(first[1], 1), first[2], next_seed(first[3], 1)]
    games.reset()
    assert games.seeds.tolist() == [next_seed(seed, 1 + i % 2) for i, seed in enumerate(first)]
    games.reset(seed=5, where=np.array([False, False, True, False]))
    assert games.seeds[2] == row_seed(5, 2)
    games.reset(seed=[7, 8], where=[3, 0])
    assert games.seeds[[3, 0]].tolist() == [7, 8]
    games.reset(where=[3])
    assert games.seeds[3] == next_seed(7, 1)
    games.reset(seed=1)
    assert games.seeds.tolist() == [row_seed(1, i) for i in range(4)]
    assert game.batch(1).seeds != game.batch(1).seeds


@every
def test_where(game: GameDefinition, engine: str) -> None:
    """A mask, or indices in any order: those games move, the others stay, whatever stands in their entries."""
    rng = np.random.default_rng(1)
    games, masked, indexed = (game.batch(6, seed=2, engine=engine, num_players=3) for _ in range(3))
    for _ in range(60):
        actions = random_actions(games, rng)
        mask = rng.random(6) < 0.5
        before = snapshots(masked)
        garbage = np.where(mask, actions, 10**6)
        masked.step(garbage, where=mask)
        for i in range(6):
            if not mask[i]:
                assert masked.snapshot(i) == before[i]
                assert not masked.rewards[i].any()
        masked.step(np.where(~mask, actions, -5), where=~mask)
        order = rng.permutation(6)
        indexed.step(actions[order[:4]], where=order[:4])
        indexed.step(actions[order[4:]].tolist(), where=order[4:].tolist())
        games.step(actions)
        assert snapshots(games) == snapshots(masked) == snapshots(indexed)
    before = snapshots(games)
    games.step([], where=[])
    games.step(np.zeros(6, dtype=int), where=np.zeros(6, dtype=bool))
    assert snapshots(games) == before


@every
def test_without_autoreset_flags_persist_and_finished_games_are_left_alone(game: GameDefinition, engine: str) -> None:
    rng = np.random.default_rng(3)
    games = game.batch(5, seed=1, engine=engine)
    while (games.player >= 0).any():
        before, over = snapshots(games), games.player < 0
        actions = random_actions(games, rng)
        actions[over] = 12345  # ignored
        games.step(actions)
        for i in np.flatnonzero(over):
            assert games.snapshot(i) == before[i]
            assert not games.rewards[i].any()
        assert (games.terminated | games.truncated).tolist() == (games.player < 0).tolist()
        assert games.legal.any(axis=1).tolist() == (games.player >= 0).tolist()
    last = snapshots(games)
    games.step(np.zeros(5, dtype=int))
    assert snapshots(games) == last
    assert games.observe("flat").any() == games.observe("bits").any() == False  # noqa: E712 the sentence reads better
    assert games.observe("text") == [""] * 5
    assert games.observe("flat", seat=0).any(axis=1).all()
    games.reset(where=[2])
    assert games.player[2] >= 0
    assert not games.terminated[2]
    assert games.terminated[[0, 1, 3, 4]].all()


@every
@pytest.mark.parametrize("reward", ["placement", "win", "score"])
def test_autoreset_is_the_same_games_one_after_the_other(game: GameDefinition, engine: str, reward: str) -> None:
    """Flags, rewards and final scores of the last call only; the next deal within the same step."""
    rng = np.random.default_rng(4)
    auto = game.batch(4, seed=6, engine=engine, autoreset=True, reward=reward, max_cycles=70)
    manual = game.batch(4, seed=6, engine=engine, reward=reward, max_cycles=70)
    ended = 0
    for _ in range(700):
        actions = random_actions(auto, rng)
        auto.step(actions)
        manual.step(actions)
        over = manual.player < 0
        ended += int(over.sum())
        np.testing.assert_array_equal(auto.terminated, manual.terminated)
        np.testing.assert_array_equal(auto.truncated, manual.truncated)
        np.testing.assert_array_equal(auto.rewards, manual.rewards)
        np.testing.assert_array_equal(auto.final_scores, np.where(over[:, None], manual.scores, -1))
        np.testing.assert_array_equal(manual.final_scores, auto.final_scores)
        manual.reset(where=over)
        assert snapshots(auto) == snapshots(manual)
        np.testing.assert_array_equal(auto.game_index, manual.game_index)
    assert ended > 8


@every
def test_arrays_handed_out_never_change(game: GameDefinition, engine: str) -> None:
    rng = np.random.default_rng(5)
    games = game.batch(8, seed=6, engine=engine, autoreset=True, num_players=3)
    names = ("player", "legal", "legal_words", "rewards", "terminated", "truncated", "scores", "final_scores", "seeds",
             "first_seeds", "game_index", "decisions", "phase")  # fmt: skip
    kept: list[tuple[Any, Any]] = []
    for _ in range(120):
        for name in names:
            array = getattr(games, name)
            kept.append((array, array.copy()))
        for array in (games.observe("flat"), games.observe("bits"), *games.observe("dict", seat=1).values()):
            kept.append((array, array.copy()))
        view = games.view(2)
        for name in view.__dataclass_fields__:
            array = getattr(view, name)
            if isinstance(array, np.ndarray):
                kept.append((array, array.copy()))
        games.step(random_actions(games, rng))
    for array, copy in kept:
        np.testing.assert_array_equal(array, copy)
    for name in names:  # and writing into them does no harm either
        getattr(games, name)[...] = 0
    assert games.legal.any(axis=1).all()
    assert games.seeds.all()


@every
def test_copies_are_independent_and_have_the_same_future(game: GameDefinition, engine: str) -> None:
    rng = np.random.default_rng(6)
    games = game.batch(3, seed=8, engine=engine, autoreset=True, num_players=2, max_cycles=60)
    for _ in range(50):
        games.step(random_actions(games, rng))
    copies = {
        "copy": games.copy(),
        "take": games.take([0, 1, 2]),
        "pickle": pickle.loads(pickle.dumps(games)),
    }
    twice = games.take([2, 2, 0])
    assert snapshots(twice) == [games.snapshot(2), games.snapshot(2), games.snapshot(0)]
    before = snapshots(games)
    for _ in range(60):
        twice.step(random_actions(twice, rng))
    assert snapshots(games) == before
    for _ in range(300):
        actions = random_actions(games, rng)
        games.step(actions)
        for name, other in copies.items():
            other.step(
                actions, where=[0, 1, 2]
            )  # a subset is gathered and put back: that has to reach the copy's memory
            np.testing.assert_array_equal(other.final_scores, games.final_scores, err_msg=name)
    for name, other in copies.items():
        assert snapshots(other) == snapshots(games), name
        np.testing.assert_array_equal(other.policy_keys(), games.policy_keys())


@every
def test_restore_counts_as_a_reset(game: GameDefinition, engine: str) -> None:
    rng = np.random.default_rng(7)
    games = game.batch(2, seed=8, engine=engine)
    start = games.snapshot(0)
    while games.player[0] >= 0:
        games.step(random_actions(games, rng), where=[True, False])
    assert games.rewards[0].any() or games.truncated[0]
    end = games.snapshot(0)
    games.restore(0, start)
    assert not games.terminated[0]
    assert not games.rewards.any()
    games.restore(1, end)
    assert games.terminated[1] or games.truncated[1]
    assert games.player[1] == -1
    assert not games.rewards.any()
    games.reset(where=[1])
    assert games.seeds[1] == next_seed(row_seed(8, 1), 1)  # the row's own stream goes on
