"""`resample` draws uniformly among the orders of the deck that give a seat the same view: against exact enumeration on
decks with few different orders."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from easyenvs import school_v0
from easyenvs.core.batch import Batch
from easyenvs.school_v0.cards import SPECIAL
from easyenvs.school_v0.view import first_special_places
from tests.school_v0.positions import ENGINES, act, letters, position, table

engines = pytest.mark.parametrize("engine", ENGINES)
DRAWS = {"numpy": 8_000, "python": 3_000}
Shares = dict[str, Fraction]


def draws(games: Batch, seat: int | None, number: int) -> Counter[str]:
    many = games.take(np.zeros(number, dtype=int)).resample(seat=seat, seed=4)
    return Counter(letters(many.snapshot(i)["deck"]) for i in range(number))


def orders(deck: str) -> Shares:
    """Every order of these cards, each with its share: all of them look alike, as cards of a type do."""
    met = {"".join(order) for order in _distinct(deck)}
    return {order: Fraction(1, len(met)) for order in met}


def _distinct(deck: str) -> set[str]:
    """The different orders, by choosing places for all types but the last."""
    kinds = sorted(set(deck), key=deck.count)
    if len(kinds) == 1:
        return {deck}
    rest = _distinct(deck.replace(kinds[0], ""))
    found = set()
    for places in itertools.combinations(range(len(deck)), deck.count(kinds[0])):
        for other in rest:
            left = iter(other)
            found.add("".join(kinds[0] if place in places else next(left) for place in range(len(deck))))
    return found


def assert_drawn_by(shares: Shares, met: Counter[str]) -> None:
    assert sum(shares.values()) == 1
    assert set(met) <= set(shares)
    number = sum(met.values())
    chi2 = sum((met[deck] - number * float(share)) ** 2 / (number * float(share)) for deck, share in shares.items())
    free = len(shares) - 1
    assert chi2 < free + 5 * math.sqrt(2 * free), f"chi² {chi2:.1f} with {free} degrees of freedom"


# Everything but the named cards lies on the discard pile.
ENDGAME = position(["NTH", "NT", ""], phase="exam", deck="JGGGGGGGGN", semester=3)
ONE_ABOVE = position(["NTH", "NT", ""], deck="JE" + "G" * 8 + "NN", semester=2)
SEVERAL_ABOVE = position(["NTH", "NT", ""], deck="GGJE" + "G" * 9 + "S", semester=2)


@engines
@pytest.mark.parametrize("seat", [None, 0, 2])
def test_after_the_second_special_all_orders_are_alike(engine: str, seat: int | None) -> None:
    shares = orders("JGGGGGGGGN")
    assert len(shares) == 90
    assert_drawn_by(shares, draws(table(engine, ENDGAME), seat, DRAWS[engine]))


@engines
def test_before_it_the_special_stays_over_ten_cards(engine: str) -> None:
    shares = {order[0] + "E" + order[1:]: share for order, share in orders("JGGGGGGGGNN").items()}
    assert len(shares) == 11 * 45
    assert_drawn_by(shares, draws(table(engine, ONE_ABOVE), None, DRAWS[engine]))
    shares = {order[:3] + "E" + order[3:]: share for order, share in orders("GGJGGGGGGGGGS").items()}
    assert len(shares) == 13 * 12
    assert_drawn_by(shares, draws(table(engine, SEVERAL_ABOVE), 1, DRAWS[engine]))


@engines
def test_a_card_is_anywhere_in_the_deck_with_the_same_chance(engine: str) -> None:
    """The specials' places aside, every place is as good as any other for the one thief that is left."""
    snapshot = position(["T" * 13, "", ""], semester=2, thrown=40)
    deck = snapshot["deck"]
    assert deck.count(1) == 1
    number = DRAWS[engine] // 2
    many = table(engine, snapshot).take(np.zeros(number, dtype=int)).resample(seed=3)
    met = Counter(many.snapshot(i)["deck"].index(1) for i in range(number))
    assert len(deck) - 11 not in met  # the special is there
    mean = number / (len(deck) - 1)
    chi2 = sum((met[place] - mean) ** 2 / mean for place in range(len(deck)) if place != len(deck) - 11)
    assert chi2 < len(deck) - 2 + 5 * math.sqrt(2 * (len(deck) - 2))


def in_the_first_semester(players: int, left: int) -> dict[str, Any]:
    """The first special is in its place, with `left` cards in the deck, one of them a thief."""
    return position(["T" * 13, *[""] * (players - 1)], thrown=108 - 13 - (left - 2), shuffle=1)


@engines
@pytest.mark.parametrize("players", [2, 3, 6])
def test_the_first_special_is_anywhere_in_what_is_left_of_its_window(engine: str, players: int) -> None:
    """S4: uniform over the places that the set-up allows and that have not been passed. The other cards are uniform
    over what remains, whichever place it is."""
    window = first_special_places(players)
    assert len(window) == 11
    number = DRAWS[engine] // 2
    for left in (window[-1] + 12, window[-1] + 1, window[6] + 1):
        snapshot = in_the_first_semester(players, left)
        assert len(snapshot["deck"]) == left
        assert snapshot["deck"].count(SPECIAL) == 2
        many = table(engine, snapshot).take(np.zeros(number, dtype=int)).resample(seat=players - 1, seed=5)
        places = [place for place in window if place < left]
        first, thief = Counter[int](), Counter[int]()
        for i in range(number):
            deck = many.snapshot(i)["deck"]
            assert deck[-11] == SPECIAL
            first[left - 1 - deck.index(SPECIAL)] += 1
            thief[[kind for kind in deck if kind != SPECIAL].index(1)] += 1
        for met, possible in ((first, places), (thief, range(left - 2))):
            assert set(met) <= set(possible)
            mean, free = number / len(possible), len(possible) - 1
            chi2 = sum((met[place] - mean) ** 2 / mean for place in possible)
            assert chi2 < free + 5 * math.sqrt(2 * free), (left, met)


@engines
def test_the_place_of_the_first_special_and_the_order_are_independent(engine: str) -> None:
    """With the last two places of the window left and one thief in the deck: every pair of places, equally often. The
    thief stands for every card."""
    window = first_special_places(3)
    left = window[1] + 1
    snapshot = in_the_first_semester(3, left)
    deck = snapshot["deck"]
    deck.remove(SPECIAL)
    deck.insert(0, SPECIAL)
    number = DRAWS[engine]
    many = table(engine, snapshot).take(np.zeros(number, dtype=int)).resample(seed=6)
    met: Counter[tuple[int, int]] = Counter()
    for i in range(number):
        deck = many.snapshot(i)["deck"]
        met[deck.index(SPECIAL), [kind for kind in deck if kind != SPECIAL].index(1)] += 1
    assert {first for first, _ in met} == {0, 1}
    mean, free = number / (2 * (left - 2)), 2 * (left - 2) - 1
    chi2 = sum((met[first, card] - mean) ** 2 / mean for first in (0, 1) for card in range(left - 2))
    assert chi2 < free + 5 * math.sqrt(2 * free)


@engines
def test_in_a_deck_made_by_hand_the_first_special_is_anywhere_above_the_last_one(engine: str) -> None:
    """Only where it lies outside its window: no game comes there."""
    snapshot = position(["NTH", "NT", ""], deck="JEGGE" + "G" * 10)
    shares = {}
    for order, share in orders("J" + "G" * 12).items():
        for place in range(4):
            above = order[:3]
            shares[above[:place] + "E" + above[place:] + "E" + order[3:]] = share / 4
    assert_drawn_by(shares, draws(table(engine, snapshot), None, DRAWS[engine]))


def test_both_engines_draw_the_same() -> None:
    for players in range(2, 7):
        fast, slow = (
            school_v0.batch(12, num_players=players, seed=players, engine=engine) for engine in ("numpy", "python")
        )
        rng = np.random.default_rng(players)
        for step in range(150):
            actions = (rng.random(fast.legal.shape) * fast.legal).argmax(axis=1)
            for games in (fast, slow):
                games.step(actions)
            if step % 15 == 0:
                seat = None if step % 2 else np.arange(12) % players
                pair = [games.resample(seat, seed=step) for games in (fast, slow)]
                for i in range(12):
                    assert pair[0].snapshot(i) == pair[1].snapshot(i)
        for snapshot in (ENDGAME, ONE_ABOVE, SEVERAL_ABOVE):
            pair = [table(engine, snapshot).take([0] * 20).resample(seed=2) for engine in ENGINES]
            assert [pair[0].snapshot(i) for i in range(20)] == [pair[1].snapshot(i) for i in range(20)]


@engines
@pytest.mark.parametrize("players", [2, 3, 6])
def test_the_view_stays_and_the_future_is_new(engine: str, players: int) -> None:
    rng = np.random.default_rng(players)
    games = school_v0.batch(20, num_players=players, seed=8, engine=engine)
    moved = 0
    for step in range(300):
        if step % 30 == 0:
            for seat in (0, players - 1, None):
                again = games.resample(seat=seat, seed=9)
                rows = np.flatnonzero(games.player >= 0)
                for encoder in ("flat", "bits"):
                    for viewer in range(players):  # S20: everybody knows the same
                        np.testing.assert_array_equal(
                            again.observe(encoder, seat=viewer)[rows], games.observe(encoder, seat=viewer)[rows]
                        )
                np.testing.assert_array_equal(again.legal, games.legal)
                assert (again.seeds != games.seeds)[rows].all()
                assert len(set(again.seeds[rows].tolist())) == len(rows)
                np.testing.assert_array_equal(games.resample(seat=seat, seed=9).seeds, again.seeds)
                assert (games.resample(seat=seat, seed=10).seeds != again.seeds)[rows].all()
                for i in rows.tolist():
                    old, new = games.snapshot(i), again.snapshot(i)
                    moved += old["deck"] != new["deck"]
                    assert sorted(old.pop("deck")) == sorted(new.pop("deck"))
                    del old["seed"], new["seed"]
                    assert old == new
                    games_again = school_v0.batch(1, num_players=players, engine=engine)
                    games_again.restore(0, again.snapshot(i))  # such a position is accepted
        games.step((rng.random(games.legal.shape) * games.legal).argmax(axis=1))
    assert moved > 100


@engines
def test_a_game_that_is_over_has_no_acting_seat_and_stays(engine: str) -> None:
    games = table(engine, position(["", "", ""], deck="E", semester=2))
    act(games, "draw")
    assert games.terminated[0]
    before = games.snapshot(0)
    assert games.resample(seed=1).snapshot(0) == before
