"""The baseline agents are as strong as the documentation says: fixed deals, every seat, so that each run gives the same."""

from __future__ import annotations

import pytest

import easyenvs
from benchmarks.random_vs_heuristic import Result, play_match


def result(game: str, players: int, policy: str, against: str, deals: int) -> Result:
    return play_match(
        easyenvs.find_game(game),
        players,
        policy,
        against,
        deals=deals,
        seed=2026,
        engine="batch",
        advance=lambda more: None,
    )


@pytest.mark.parametrize(
    ("game", "players", "policy", "deals", "wins"),
    [
        ("peasy_v0", 2, "greedy", 600, 0.95),
        ("peasy_v0", 2, "heuristic", 600, 0.98),
        ("peasy_v0", 4, "heuristic", 150, 0.90),
        ("school_v0", 2, "heuristic", 300, 0.97),
        ("school_v0", 3, "heuristic", 200, 0.85),
    ],
)
def test_wins_against_random(game: str, players: int, policy: str, deals: int, wins: float) -> None:
    assert result(game, players, policy, "random", deals).win_rate >= wins


@pytest.mark.parametrize(
    ("game", "players", "deals", "placement"), [("peasy_v0", 2, 600, 0.2), ("school_v0", 2, 400, 0.3)]
)
def test_the_heuristic_beats_greedy(game: str, players: int, deals: int, placement: float) -> None:
    match = result(game, players, "heuristic", "greedy", deals)
    assert match.placement >= placement
    assert match.placement - match.interval > 0
    assert match.truncated == 0


@pytest.mark.parametrize("players", [3, 5, 6])
def test_the_agents_play_with_any_number_of_players_and_any_rules(players: int) -> None:
    for game in easyenvs.games().values():
        for policy in ("greedy", "heuristic"):
            match = play_match(
                game, players, policy, "random", deals=10, seed=1, engine="batch", advance=lambda more: None
            )
            assert match.placement > 0.2
