"""`resample` draws uniformly among the states that give a seat the same view: against exact enumeration on tiny deals."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from easyenvs.core.batch import Batch
from easyenvs.peasy_v0.cards import card_name
from tests.peasy_v0.positions import ENGINES, card, cards, play, position, table

engines = pytest.mark.parametrize("engine", ENGINES)
DRAWS = {"numpy": 12_000, "python": 3_000}


def hidden(snapshot: dict[str, Any], viewer: int) -> tuple[Any, ...]:
    """What the viewer can't see of a position: the others' hands, the never-seen face-down cards, the draw pile's order."""
    return (
        tuple(tuple(hand) for seat, hand in enumerate(snapshot["hands"]) if seat != viewer),
        tuple(p["down"] for row in snapshot["rows"] for p in row if p["down"] is not None and not p["known"]),
        tuple(snapshot["draw_pile"]),
    )


def draws(games: Batch, viewer: int, number: int) -> Counter[tuple[Any, ...]]:
    many = games.take(np.zeros(number, dtype=int)).resample(seat=viewer, seed=4)
    return Counter(hidden(many.snapshot(i), viewer) for i in range(number))


def assert_uniform(met: Counter[tuple[Any, ...]], expected: set[tuple[Any, ...]]) -> None:
    assert set(met) == expected
    number, mean = sum(met.values()), sum(met.values()) / len(expected)
    chi2 = sum((met[state] - mean) ** 2 / mean for state in expected)
    free = len(expected) - 1
    assert chi2 < free + 5 * np.sqrt(2 * free), f"chi² {chi2:.1f} with {free} degrees of freedom, {number} draws"


def test_the_positions_here_are_tiny() -> None:
    """Two cards in the other hand, one hidden in its Row, two in the draw pile: 5! / 2! = 60 states."""
    assert len(before_a_reshuffle()) == 60


TINY = position(["R2 R3", "P1 P6"], [("R8", "B9/B2!"), ("P2/P7", "P3")], "P4 G9", draw=2)


def before_a_reshuffle() -> set[tuple[Any, ...]]:
    """Every state that looks to seat 0 like TINY."""
    unseen = [*cards("P1 P6 P7"), *TINY["draw_pile"]]
    return {((tuple(sorted(order[:2])),), (order[2],), order[3:]) for order in itertools.permutations(unseen)}


@engines
def test_before_a_reshuffle_all_unseen_cards_are_alike(engine: str) -> None:
    assert_uniform(draws(table(engine, TINY), 0, DRAWS[engine]), before_a_reshuffle())


@engines
def test_after_a_reshuffle_fresh_and_old_cards_keep_apart(engine: str) -> None:
    """Seat 1 holds one fresh card and an old one; the draw pile's two are fresh, the hidden Row card is old."""
    fresh = sorted([*TINY["draw_pile"], card("P6"), card("B10")])
    snapshot = {**TINY, "fresh": fresh, "reshuffles": 1}
    assert card("B10") in snapshot["buried"]  # a fresh card that was drawn and discarded since
    expected = set()
    for drawn in itertools.permutations([*TINY["draw_pile"], card("P6")]):
        for old, down in itertools.permutations(cards("P1 P7")):
            expected.add(((tuple(sorted((drawn[0], old))),), (down,), drawn[1:]))
    assert len(expected) == 12
    assert_uniform(draws(table(engine, snapshot), 0, DRAWS[engine]), expected)


@engines
def test_a_bonus_that_is_asked_tells_that_there_is_one(engine: str) -> None:
    """Seat 1 has a bonus on pile 1 (UP on a G9) and no Row pile to flip: so its last card can be played there."""
    snapshot = position(
        ["R2 R3", "G10"],
        [("R8/B5", "B9/B2!"), ("P2", "P3")],
        "P4 G9",
        draw="R10 R9 B3",
        phase="bonus",
        bonus_pile=1,
        player=1,
    )
    unseen = cards("G10 B5 R10 R9 B3")
    expected = {
        (((order[0],),), (order[1],), order[2:])
        for order in itertools.permutations(unseen)
        if card_name(order[0]) in {"G10", "R10", "R9"}
    }
    assert_uniform(draws(table(engine, snapshot), 0, DRAWS[engine]), expected)


@engines
def test_after_two_flips_some_card_can_be_played(engine: str) -> None:
    """Seat 1 must play DOWN on 2 and 2 after two flips: one of its two cards is a 1 or a 2."""
    snapshot = position(
        ["R10 R9", "G1 B8"], [("R8/B5", "B9/B2!"), ("P9", "P10")], "P2 G2", draw="B1", phase="play", flips=2, player=1,
        direction="down",
    )  # fmt: skip
    unseen = cards("G1 B8 B5 B1")
    expected = {
        ((tuple(sorted(order[:2])),), (order[2],), order[3:])
        for order in itertools.permutations(unseen)
        if {card_name(c) for c in order[:2]} & {"G1", "B1"}
    }
    assert_uniform(draws(table(engine, snapshot), 0, DRAWS[engine]), expected)


@engines
def test_the_view_stays_and_the_future_is_new(engine: str) -> None:
    rng = np.random.default_rng(0)
    games = table(engine, TINY).take([0] * 30)
    for _ in range(6):
        games.step((rng.random(games.legal.shape) * games.legal).argmax(axis=1))
    for seat in (0, 1, None):
        again = games.resample(seat=seat, seed=9)
        rows = np.flatnonzero(games.player >= 0)
        for encoder in ("flat", "bits"):
            np.testing.assert_array_equal(
                again.observe(encoder, seat=seat)[rows], games.observe(encoder, seat=seat)[rows]
            )
        assert (again.seeds != games.seeds)[rows].all()
        assert len(set(again.seeds.tolist())) == 30
        np.testing.assert_array_equal(games.resample(seat=seat, seed=9).seeds, again.seeds)
        assert (games.resample(seat=seat, seed=10).seeds != again.seeds)[rows].all()


@engines
def test_a_game_that_is_over_has_no_acting_seat_and_stays(engine: str) -> None:
    snapshot = position(["R9", "P5"], [("R1", ""), ("P1", "")], "B4 G9", draw=8)
    games = table(engine, snapshot, num_rounds=1)
    games.step([play("R9", 0)])
    assert games.terminated[0]
    before = games.snapshot(0)
    assert games.resample(seed=1).snapshot(0) == before
