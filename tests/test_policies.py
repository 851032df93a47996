"""What policies are given, and that one plays the same game alone, in any batch, split in any way, and in the AEC env."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import easyenvs
from easyenvs.core import chance
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import Decisions, act, agent_names, checked_choice, decisions, load_policy, random_policy

GAMES = list(easyenvs.games().values())
# "search" is as every other, but slow: tests/test_search.py asks the same of it with small budgets.
NAMED = [(game, name) for game in GAMES for name in ("random", *agent_names(game)) if name != "search"]
named = pytest.mark.parametrize(("game", "name"), NAMED, ids=lambda value: getattr(value, "id", value))


def can_play(policy: Any, players: int) -> bool:
    """Trained agents are for some numbers of players only."""
    return bool(getattr(policy, "plays_with", lambda number: True)(players))


def players_for(policy: Any, wanted: int) -> int:
    """So many players if the policy can play with them, else the most that it can."""
    return next(number for number in range(wanted, 1, -1) if can_play(policy, number))


def play_out(games: Any, policies: list[Any], seeds: list[int] | None = None) -> list[dict[str, Any]]:
    while (games.player >= 0).any():
        games.step(act(games, policies, seeds=seeds))
    return [games.snapshot(i) for i in range(games.num_games)]


@named
@pytest.mark.parametrize("players", [2, 3])
def test_the_same_game_alone_in_a_batch_split_and_in_the_aec_env(game: GameDefinition, name: str, players: int) -> None:
    policy = load_policy(name, game)
    if not can_play(policy, players):
        with pytest.raises(ValueError, match=f"with {players} players"):
            policy(decisions(game.batch(1, num_players=players, seed=0)))
        return
    policies = [policy] * players
    seeds = [chance.row_seed(5, i) for i in range(6)]
    together = play_out(game.batch(6, num_players=players, seed=seeds), policies)
    alone = play_out(game.batch(1, num_players=players, seed=seeds[2:3]), policies)
    python = play_out(game.batch(2, num_players=players, seed=seeds[2:4], engine="python"), policies)
    assert alone[0] == python[0] == together[2]
    assert python[1] == together[3]

    split = game.batch(6, num_players=players, seed=seeds)
    while (split.player >= 0).any():
        for rows in (np.array([4, 1]), np.array([0, 2, 3]), np.array([5])):
            running = rows[split.player[rows] >= 0]
            if running.size:
                split.step(checked_choice(policy, decisions(split, running)), where=running)
    assert [split.snapshot(i) for i in range(6)] == together

    env = game.env(num_players=players)
    env.reset(seed=seeds[2])
    while not env.terminations[env.agent_selection]:
        env.step(int(policy(env.decision())[0]))
    assert env.snapshot() == together[2]


@named
def test_a_policy_is_a_function_of_its_decision_alone(game: GameDefinition, name: str) -> None:
    """The order of the batch, or what else is in it, changes no choice; nothing that is given is written to."""
    policy = load_policy(name, game)
    players = players_for(policy, 4)
    games = game.batch(200, num_players=players, seed=1, autoreset=True)
    for number in range(60):
        chance_plays = act(games, [random_policy] * players, seeds=[number] * players)
        games.step(chance_plays if number % 3 else act(games, [policy] * players))
        if number % 6 == 0:
            d = decisions(games, seed=3)
            kept = {f: np.copy(v) for f, v in vars(d).items() if isinstance(v, np.ndarray)}
            choice = checked_choice(policy, d)
            assert games.legal[np.arange(200), choice].all()
            for f, v in kept.items():
                np.testing.assert_array_equal(getattr(d, f), v)
            order = np.random.default_rng(number).permutation(200)
            np.testing.assert_array_equal(checked_choice(policy, decisions(games, order, seed=3)), choice[order])
            np.testing.assert_array_equal(
                checked_choice(policy, decisions(games, order[:7], seed=3)), choice[order[:7]]
            )


@named
def test_a_policy_is_honest(game: GameDefinition, name: str) -> None:
    """Whatever lies where the seat can't see it: the choice is the same."""
    policy = load_policy(name, game)
    players = players_for(policy, 3)
    games = game.batch(300, num_players=players, seed=2, autoreset=True)
    for number in range(80):
        games.step(act(games, [random_policy, *[policy] * (players - 1)]))
        if number % 8 == 0:
            d, other = decisions(games, seed=1), decisions(games.resample(seed=number), seed=1)
            other.keys = d.keys
            np.testing.assert_array_equal(policy(d), policy(other))


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_random_is_uniform_over_the_legal_actions(game: GameDefinition) -> None:
    games = game.batch(1, seed=3)
    for _ in range(7):
        games.step(act(games, [random_policy] * games.num_players))
    legal = np.flatnonzero(games.legal[0])
    many = games.take(np.zeros(40_000, dtype=int))
    d = decisions(many, with_view=False)
    d.keys = chance.mix_array(np.arange(40_000, dtype=np.uint64))
    counts = np.bincount(random_policy(d), minlength=games.num_actions)
    assert set(np.flatnonzero(counts)) == set(legal)
    expected = 40_000 / len(legal)
    assert ((counts[legal] - expected) ** 2 / expected).sum() < len(legal) + 5 * np.sqrt(2 * len(legal))


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_keys_depend_on_policy_seed_row_seed_game_and_decision(game: GameDefinition) -> None:
    games = game.batch(3, seed=3, autoreset=True)
    keys = [games.policy_keys(0), games.policy_keys(1)]
    games.step(games.legal.argmax(axis=1))
    keys.append(games.policy_keys(0))
    games.reset()
    keys.append(games.policy_keys(0))
    games.reset(seed=4)
    keys.append(games.policy_keys(0))
    assert len({int(key) for row in keys for key in row}) == 15
    games.reset(seed=3)
    np.testing.assert_array_equal(games.policy_keys(0), keys[0])


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_decisions_hold_nothing_hidden_and_nothing_of_the_batch(game: GameDefinition) -> None:
    games = game.batch(4, num_players=3, seed=1)
    d = decisions(games)
    assert (d.game, d.num_players, len(d)) == (game.id, 3, 4)
    assert d.legal.shape == (4, games.num_actions)
    np.testing.assert_array_equal(d.legal, games.legal)
    np.testing.assert_array_equal(d.observe("flat"), games.observe("flat"))
    reachable = [d, *vars(d).values()]
    assert not any(type(value).__name__ in {"Batch", "Machine", "GameList"} for value in reachable)
    before = d.observe("bits").copy()
    games.step(games.legal.argmax(axis=1))
    np.testing.assert_array_equal(d.observe("bits"), before)


def test_what_policies_return_is_checked() -> None:
    game = GAMES[0]
    games = game.batch(2, seed=1)
    for wrong in (lambda d: [0.0, 1.0], lambda d: 0, lambda d: [0], lambda d: [True, False]):
        with pytest.raises(TypeError, match=r"the policy .* returned .*; integers \[2\] are accepted"):
            checked_choice(wrong, decisions(games))
    with pytest.raises(ValueError, match="3 policies are given for 2 seats"):
        act(games, [random_policy] * 3)
    with pytest.raises(ValueError, match="1 seeds are given for 2 policies"):
        act(games, [random_policy] * 2, seeds=[3])

    def illegal(d: Decisions, /) -> Any:
        return np.full(len(d), games.num_actions - 1)

    with pytest.raises(easyenvs.IllegalActionError):
        games.step(act(games, [illegal, illegal]))
