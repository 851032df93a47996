"""The arena: equal deals in every rotation, honest intervals, the same result however it is split, failures that end nothing."""

from __future__ import annotations

import collections
import itertools
import json
import math
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from rich.console import Console

import easyenvs
from easyenvs import arena
from easyenvs.arena.matches import seat_order
from easyenvs.arena.tournament import Estimate, TournamentResult, line_ups
from easyenvs.core.errors import OptionError
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import Decisions, load_policy

GAMES = list(easyenvs.games().values())
PEASY = easyenvs.find_game("peasy_v0")


def lowest(d: Decisions) -> Any:
    return d.legal.argmax(axis=1)


def highest(d: Decisions) -> Any:
    return d.num_actions - 1 - d.legal[:, ::-1].argmax(axis=1)


def deals(ranks: Any) -> arena.Deals:
    """Deals with these ranks, [D, P, P], and nothing else of interest."""
    array = np.asarray(ranks, dtype=np.float64)
    count, players = array.shape[:2]
    return arena.Deals(
        seeds=np.arange(count, dtype=np.uint64),
        seats=np.tile((np.arange(players) + np.arange(players)[:, None]) % players, (count, 1, 1)).astype(np.int8),
        ranks=array,
        scores=np.zeros(array.shape, dtype=np.int64),
        decisions=np.ones((count, players), dtype=np.int64),
        truncated=np.zeros((count, players), dtype=np.bool_),
    )


# ------------------------------------------------------------------------------------------------- play_deals


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
@pytest.mark.parametrize("players", [2, 3])
def test_every_deal_is_played_once_in_each_rotation(game: GameDefinition, players: int) -> None:
    policies = [load_policy("greedy", game), lowest, highest][:players]
    result = arena.play_deals(game, policies, [5, 9], keep_records=True, names=["a", "b", "c"][:players])
    assert result.ranks.shape == (2, players, players)
    records = iter(result.records)
    for deal, seed in enumerate([5, 9]):
        for rotation in range(players):
            record = next(records)
            assert record.seed == seed
            assert record.policies == tuple("abc"[(seat - rotation) % players] for seat in range(players))
            table = game.raw_env(num_players=players)
            table.reset(seed=seed)
            while not table.over:  # the same game, one by one
                policy = policies[(table.seat_to_act - rotation) % players]
                table.step(int(policy(table.decision())[0]))
            for player in range(players):
                score, rank = table.result((player + rotation) % players)
                assert result.scores[deal, rotation, player] == score
                assert result.ranks[deal, rotation, player] == rank
            assert easyenvs.replay(record).at(len(record.actions))["scores" if game.id == "school_v0" else "totals"]
            assert result.decisions[deal, rotation] == len(record.actions)


def test_equal_policies_are_exactly_level() -> None:
    """What luck there is in a deal cancels: the same policy in both seats comes out at 0, deal by deal."""
    result = arena.play_deals(PEASY, [load_policy("heuristic", PEASY)] * 2, np.arange(30))
    assert (result.placement == 0).all() and (result.wins == 0.5).all()


def test_parts_of_the_deals_give_the_same_as_all_at_once() -> None:
    policies = [load_policy("heuristic", PEASY), load_policy("random", PEASY)]
    whole = arena.play_deals(PEASY, policies, np.arange(20))
    parts = [arena.play_deals(PEASY, policies, np.arange(a, b)) for a, b in ((0, 3), (3, 4), (4, 20))]
    joined = arena.Deals.join(parts)
    for name in ("seeds", "ranks", "scores", "decisions", "truncated"):
        assert np.array_equal(getattr(joined, name), getattr(whole, name))


def crashing(d: Decisions) -> Any:
    if (d.keys % np.uint64(40) == 0).any():
        raise RuntimeError("out of ideas \ud800")
    return lowest(d)


def cheating(d: Decisions) -> Any:
    return np.where(d.keys % np.uint64(40) == 0, d.legal.argmin(axis=1), lowest(d))


def shapeless(d: Decisions) -> Any:
    return lowest(d)[:, None]


@pytest.mark.parametrize(
    ("policy", "reason"),
    [(crashing, "RuntimeError: out of ideas"), (cheating, "illegal action"), (shapeless, "TypeError")],
)
@pytest.mark.parametrize("players", [2, 3])
def test_a_failure_costs_the_game_and_ends_nothing(policy: Any, reason: str, players: int) -> None:
    line_up = [policy, *[load_policy("greedy", PEASY)] * (players - 1)]
    result = arena.play_deals(PEASY, line_up, np.arange(20), on_failure="forfeit", names=["bad", "x", "y"][:players])
    assert result.failures
    assert all(failure.player == 0 and reason in failure.reason for failure in result.failures)
    for failure in result.failures:
        assert result.ranks[failure.deal, failure.rotation, 0] == players
        record = failure.record
        assert record.fault is not None and record.policies[record.fault.seat] == "bad"
        assert record.result is None
        replayed = easyenvs.replay(record)
        assert replayed.at(len(replayed))["player"] == record.fault.seat
    assert np.allclose(result.ranks.sum(axis=2), players * (players + 1) / 2)
    failed = {(failure.deal, failure.rotation) for failure in result.failures}
    if policy is not shapeless:
        assert len(failed) < 20 * players  # others were played to their end
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        arena.play_deals(PEASY, line_up, np.arange(20))


def slow(d: Decisions) -> Any:
    time.sleep(0.02)
    return lowest(d)


def test_a_time_out_costs_the_games_of_the_call() -> None:
    result = arena.play_deals(PEASY, [slow, lowest], [1], on_failure="forfeit", time_limit=0.001)
    assert len(result.failures) == 2 and all("time-out" in failure.reason for failure in result.failures)
    with pytest.raises(TimeoutError, match="time-out"):
        arena.play_deals(PEASY, [slow, lowest], [1], time_limit=0.001)
    assert not arena.play_deals(
        PEASY, [slow, lowest], [1], on_failure="forfeit", time_limit=60.0, max_cycles=20
    ).failures


# ------------------------------------------------------------------------------------------------- tournaments


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_every_order_comes_once_and_all_neighbours_soon(players: int) -> None:
    every = math.factorial(players - 1)
    orders = [tuple(seat_order(deal, players)) for deal in range(every)]
    assert set(orders) == {(0, *rest) for rest in itertools.permutations(range(1, players))}
    assert seat_order(every + 1, players) == seat_order(1, players)
    for first in range(0, every, players - 1):  # who plays after the first player
        assert {order[1] for order in orders[first : first + players - 1]} == set(range(1, players))


def test_who_plays_after_whom_goes_round() -> None:
    names = ["greedy", "heuristic", "random"]
    result = arena.play("peasy_v0", names, 30, num_players=3, seed=4, keep_records=True)
    followers = collections.Counter(
        (one, record.policies[(seat + 1) % 3]) for record in result.records for seat, one in enumerate(record.policies)
    )
    assert followers == dict.fromkeys(itertools.permutations(names, 2), 15)
    (deals,) = result.deals
    for record, deal, rotation in zip(result.records, np.repeat(range(10), 3), [0, 1, 2] * 10, strict=True):
        assert record.result is not None
        seats = deals.seats[deal, rotation]
        assert [record.policies[seat] for seat in seats] == names
        assert [record.result.scores[seat] for seat in seats] == deals.scores[deal, rotation].tolist()
        assert [record.result.ranks[seat] for seat in seats] == deals.ranks[deal, rotation].tolist()
    by_hand = np.zeros((3, 3))
    for record in result.records:
        assert record.result is not None
        for seat, name in enumerate(record.policies):
            assert name is not None
            by_hand[names.index(name), seat] += (2 - record.result.ranks[seat]) / 10
    assert np.allclose([[seat.mean for seat in one] for one in result.placement_by_seat], by_hand)


@pytest.mark.parametrize("orders", [[[0, 1]], [[0, 1, 1]], [[1, 2, 3]], [0, 1, 2], [[0, 1, 2]] * 2])
def test_wrong_orders_are_refused(orders: Any) -> None:
    with pytest.raises(OptionError, match="orders of shape"):
        arena.play_deals(easyenvs.find_game("peasy_v0"), [lowest] * 3, [5], orders=orders)


def test_line_ups() -> None:
    assert line_ups(3, 2) == ((0, 1), (0, 2), (1, 2))
    assert line_ups(4, 3) == ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))
    assert line_ups(2, 4) == ((0, 0, 0, 1), (0, 0, 1, 1), (0, 1, 1, 1))


def test_estimates_by_hand() -> None:
    """Two deals of two players: the first wins both games of one deal and one game of the other."""
    result = TournamentResult("peasy_v0", 2, ("a", "b"), ((0, 1),), (deals([[[1, 2], [1, 2]], [[1, 2], [2, 1]]]),), 0)
    assert [estimate.mean for estimate in result.placement] == [0.5, -0.5]
    assert [estimate.mean for estimate in result.win_rate] == [0.75, 0.25]
    assert (result.placement[0].low, result.placement[0].high) == (0.0, 1.0)  # resamples of {1, 0}
    assert result.payoff[0][1].mean == 0.5 and result.payoff[1][0].mean == -0.5
    assert [estimate.mean for estimate in result.placement_by_seat[0]] == [1.0, 0.0]
    assert result.num_games == 4 and result.num_deals == 2
    assert result.nash == ([1.0, 0.0], [0.0, -0.5])


def test_pairs_of_three_players_by_hand() -> None:
    """One deal of three: ranks 1, 2, 3 in two rotations, and all level in the third."""
    result = TournamentResult(
        "school_v0", 3, ("a", "b", "c"), ((0, 1, 2),), (deals([[[1, 2, 3], [1, 2, 3], [2, 2, 2]]]),), 0
    )
    assert [round(estimate.mean, 6) for estimate in result.placement] == [0.666667, 0.0, -0.666667]
    assert result.payoff[0][1].mean == pytest.approx(2 / 3)
    assert result.win_rate[0].mean == pytest.approx((1 + 1 + 1 / 3) / 3)
    with pytest.raises(ValueError, match="two players"):
        _ = result.nash


def test_nash_averaging_of_rock_paper_scissors_and_a_copy() -> None:
    """Balduzzi et al.: a copy of a strategy changes nothing; its weight is shared."""

    def against(first: int, second: int) -> arena.Deals:
        wins = (first - second) % 3
        one = [[1.5, 1.5]] * 2 if wins == 0 else [[1, 2]] * 2 if wins == 1 else [[2, 1]] * 2
        return deals([one] * 3)

    kinds = (0, 1, 2, 0)
    pairs = line_ups(4, 2)
    result = TournamentResult(
        "peasy_v0", 2, tuple("abcd"), pairs, tuple(against(kinds[i], kinds[j]) for i, j in pairs), 0
    )
    weights, values = result.nash
    assert weights == pytest.approx([1 / 6, 1 / 3, 1 / 3, 1 / 6], abs=1e-3)
    assert values == pytest.approx([0, 0, 0, 0], abs=1e-6)


def test_elo_is_that_of_the_formula() -> None:
    """Three wins of four are 400 · log10(3) points."""
    result = TournamentResult(
        "peasy_v0", 2, ("a", "b"), ((0, 1),), (deals([[[1, 2], [1, 2]], [[1, 2], [2, 1]]] * 500),), 0
    )
    a, b = result.elo
    assert a.mean - b.mean == pytest.approx(400 * math.log10(3), abs=0.5)
    assert (a.mean + b.mean) / 2 == pytest.approx(1500)
    assert a.low < a.mean < a.high
    (mu_a, sigma), (mu_b, _) = result.openskill
    assert mu_a > mu_b and sigma > 0


def test_one_that_nearly_always_loses_does_not_blur_the_other_ratings() -> None:
    even = [[[1, 2], [2, 1]], [[1, 2], [1, 2]], [[2, 1], [2, 1]]] * 100
    # Whether a sample has the last deal makes hundreds of points.
    beaten = [[[1, 2], [1, 2]]] * 299 + [[[1, 2], [2, 1]]]
    pairs = tuple(itertools.combinations(range(4), 2))
    played = tuple(deals(beaten if pair == (2, 3) else beaten[:1] * 300 if 3 in pair else even) for pair in pairs)
    result = TournamentResult("peasy_v0", 2, ("a", "b", "c", "lost"), pairs, played, 0)
    ratings = result.elo
    assert max(rating.half_width for rating in ratings[:3]) < 40 < 500 < 1500 - ratings[3].mean
    assert sorted(rating.mean for rating in ratings)[1:3] == pytest.approx([1500, 1500], abs=15)


def test_intervals_come_from_deals_and_cover() -> None:
    """Games of a deal that always end alike are no more evidence than one: the interval is that of the deals."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(100):
        wins = rng.random(150) < 0.6
        ranks = np.where(wins[:, None, None], [[1, 2], [1, 2]], [[2, 1], [2, 1]])
        estimate = TournamentResult("peasy_v0", 2, ("a", "b"), ((0, 1),), (deals(ranks),), 0).placement[0]
        covered += estimate.low <= 0.2 <= estimate.high
    assert 88 <= covered <= 100


def test_the_result_does_not_depend_on_how_it_is_spread() -> None:
    def played(**options: Any) -> Any:
        return arena.play("peasy_v0", ["random", "greedy", lowest], 3200, seed=3, **options).as_dict()

    alone = played()
    assert played(n_jobs=2) == alone
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert played() == alone


def test_it_stops_when_the_interval_is_small_enough() -> None:
    rough = arena.play("peasy_v0", ["random", "greedy"], 100_000, until="±0.1")
    assert rough.num_games == 1024  # one look
    assert max(estimate.half_width for estimate in rough.placement) <= 0.1
    assert arena.play("peasy_v0", ["random", "greedy"], 600, until=1e-9).num_games == 600
    for until in ("wide", "±0", -1, 3.0, True):
        with pytest.raises(ValueError, match="until"):
            arena.play("peasy_v0", ["random", "greedy"], 10, until=until)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
@pytest.mark.parametrize("players", [2, 4])
def test_a_whole_tournament(game: GameDefinition, players: int, tmp_path: Path) -> None:
    told: list[int] = []
    result = arena.play(
        game,
        ["random", "greedy", crashing],
        60,
        num_players=players,
        names=["r", "g", "c"],
        keep_records=True,
        advance=told.append,
        max_cycles=50,
    )
    assert sum(told) == result.num_games == len(result.records) >= 60
    assert result.truncated > 0
    assert {forfeit.policy for forfeit in result.forfeits} <= {"c"}
    text = result.to_json(tmp_path / "result.json")
    data = json.loads((tmp_path / "result.json").read_text())
    assert data == json.loads(text)
    assert data["policies"] == ["r", "g", "c"] and len(data["payoff"]) == 3
    assert ("nash" in data) == (players == 2)
    console = Console(width=140, record=True, file=(tmp_path / "out.txt").open("w"))
    console.print(arena.table(result))
    shown = console.export_text()
    console.file.close()
    assert "OpenSkill" in shown and "cut off" in shown
    for plot in (arena.plot_payoff, arena.plot_ratings):
        plot(result, tmp_path / "plot.png")
        assert (tmp_path / "plot.png").stat().st_size > 5_000
    easyenvs.write_records(tmp_path / "games.jsonl", result.records)
    assert list(easyenvs.read_records(tmp_path / "games.jsonl")) == result.records


def test_the_best_response_is_found_and_bounded() -> None:
    found = arena.best_response("peasy_v0", "greedy", candidates=["random", "heuristic"], deals=150)
    assert found.name == "heuristic"
    assert found.candidates["random"] < 0 < found.lower_bound < found.evaluation.placement
    itself = arena.best_response("peasy_v0", lowest, candidates=[lowest], deals=20)
    assert itself.lower_bound == 0.0


def test_training_against_a_policy_finds_its_weakness() -> None:
    found = arena.best_response("peasy_v0", "random", candidates=[lowest], train_steps=20_000, deals=60)
    assert found.name == "trained against it"
    assert found.candidates["trained against it"] > found.candidates["candidate 0"]


def test_bad_options_are_refused() -> None:
    for call, text in (
        (lambda: arena.play("chess", ["random", "greedy"]), "is no game"),
        (lambda: arena.play("peasy_v0", ["random"]), "two policies"),
        (lambda: arena.play("peasy_v0", ["random", "deep blue"]), "names no policy"),
        (lambda: arena.play("peasy_v0", ["random", "greedy"], 0), "num_games=0"),
        (lambda: arena.play("peasy_v0", ["random", "greedy"], num_players=9), "num_players=9"),
        (lambda: arena.play("peasy_v0", ["random", "greedy"], names=["a", "a"]), "different names"),
        (lambda: arena.play("peasy_v0", ["random", "greedy"], 4, n_jobs=0), "n_jobs=0"),
        (lambda: arena.play("peasy_v0", ["random", "greedy"], 4, on_failure="ignore"), "on_failure"),
        (lambda: arena.play("peasy_v0", ["random", "greedy"], 4, time_limit=0), "time_limit"),
        (lambda: arena.best_response("peasy_v0", "greedy", deals=1), "deals=1"),
    ):
        with pytest.raises(ValueError, match=text):
            call()


def test_an_estimate_reads_well() -> None:
    assert str(Estimate(0.25, 0.2, 0.32)) == "+0.250 ± 0.060"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")  # of Dask's own
def test_two_workers_of_a_dask_cluster_give_the_same() -> None:
    distributed = pytest.importorskip("distributed")
    alone = arena.play("peasy_v0", ["random", "greedy"], 1500).as_dict()
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        assert arena.play("peasy_v0", ["random", "greedy"], 1500).as_dict() == alone
