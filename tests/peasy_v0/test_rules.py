"""Easy Peasy's rules, case by case, derived by hand from the rulebook: P1–P18, R1–R7. Both engines play every case."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

import easyenvs
from easyenvs.core import rewards
from easyenvs.peasy_v0.cards import (
    COLOURS,
    NUM_ACTIONS,
    Action,
    card_name,
    cards_in_play,
    colour_of,
    value_of,
)
from easyenvs.peasy_v0.options import Rules
from tests.peasy_v0.positions import ENGINES, card, cards, legal_names, play, position, table

FLIP, PASS, TURN_0, TURN_1 = Action.FLIP, Action.PASS, Action.TURN_0, Action.TURN_1

engines = pytest.mark.parametrize("engine", ENGINES)


# ------------------------------------------------------------------------------------------------- P1, P2 the deck


def test_p1_sixty_cards_six_colours_ten_values() -> None:
    assert COLOURS[:3] == ("red", "purple", "green")
    assert Counter((colour_of(c), value_of(c)) for c in range(60)) == Counter(itertools.product(range(6), range(1, 11)))
    assert [card_name(c) for c in (0, 9, 13, 29, 30, 46, 52)] == ["R1", "R10", "P4", "G10", "B1", "Y7", "O3"]


@pytest.mark.parametrize(("players", "number"), [(2, 40), (3, 40), (4, 50), (5, 60), (6, 60)])
@engines
def test_p2_p3_the_deal(engine: str, players: int, number: int) -> None:
    assert cards_in_play(players) == number
    games = easyenvs.peasy_v0.batch(50, num_players=players, seed=3, engine=engine)
    for i in range(50):
        s = games.snapshot(i)
        assert s["phase"] == "direction"
        assert s["direction"] is None
        assert [len(hand) for hand in s["hands"]] == [4] * players
        assert all(p["up"] is not None and p["down"] is not None and not p["known"] for row in s["rows"] for p in row)
        assert s["buried"] == []
        everything = s["draw_pile"] + s["tops"] + [c for hand in s["hands"] for c in hand]
        everything += [p[side] for row in s["rows"] for p in row for side in ("up", "down")]
        assert sorted(everything) == list(range(number))


@engines
def test_p3_every_card_is_equally_likely_everywhere(engine: str) -> None:
    deals = 4000 if engine == "numpy" else 1500
    games = easyenvs.peasy_v0.batch(deals, num_players=2, seed=1, engine=engine)
    counts = np.zeros((3, 40))
    for i in range(deals):
        s = games.snapshot(i)
        counts[0, s["tops"][0]] += 1
        counts[1, s["rows"][1][0]["down"]] += 1
        counts[2, s["draw_pile"][0]] += 1
    expected = deals / 40
    chi2 = ((counts - expected) ** 2 / expected).sum(axis=1)
    assert (chi2 < 39 + 5 * np.sqrt(2 * 39)).all(), chi2  # 5 sigma, 39 degrees of freedom


# ------------------------------------------------------------------------------------------------- P4 first player


@engines
def test_p4_first_round_highest_face_up_row_starts(engine: str) -> None:
    games = easyenvs.peasy_v0.batch(300, num_players=3, seed=0, engine=engine)
    ties = 0
    for i in range(300):
        s = games.snapshot(i)
        sums = [sum(value_of(p["up"]) for p in row) for row in s["rows"]]
        assert sums[s["player"]] == max(sums)
        ties += sums.count(max(sums)) > 1
    assert ties > 10


def test_p4_the_rulebooks_example_10_13_9_starts_seat_1() -> None:
    """Rows of 9 + 1, 8 + 5 and 7 + 2: the second seat starts."""
    from easyenvs.peasy_v0.game import Game

    game = Game(Rules(num_players=3))
    game.deal(0)
    game.row = [
        (1 << card("R9"), 1 << card("P1")),
        (1 << card("R8"), 1 << card("P5")),
        (1 << card("R7"), 1 << card("P2")),
    ]
    game.face_up = sum(a | b for a, b in game.row)
    assert game._first_player() == 1

    from easyenvs.peasy_v0.machine import Machine

    machine = Machine(1, Rules(num_players=3))
    rows = np.array([0])
    machine.deal(rows, np.array([0], dtype=np.uint64))
    for seat, (a, b) in enumerate(game.row):
        machine.row[0][seat, 0], machine.row[1][seat, 0] = a, b
    machine.face_up[0] = game.face_up
    assert machine._first_player(rows).tolist() == [1]


@engines
def test_p4_ties_are_broken_uniformly(engine: str) -> None:
    number = 6000 if engine == "numpy" else 2500
    games = easyenvs.peasy_v0.batch(number, num_players=2, seed=7, engine=engine)
    first = []
    for i in range(number):
        s = games.snapshot(i)
        sums = [sum(value_of(p["up"]) for p in row) for row in s["rows"]]
        if sums[0] == sums[1]:
            first.append(s["player"])
    assert len(first) > 80
    assert abs(np.mean(first) - 0.5) < 5 * 0.5 / np.sqrt(len(first))


@engines
def test_p4_later_rounds_most_points_so_far_starts(engine: str) -> None:
    """Seat 1 gets 26 points, seat 0 none for ending the round: seat 1 starts, whatever the new Rows say."""
    for seed in range(20):
        s = position(["R9", "B10 B9"], [("/R1", ""), ("B8/B7", "B6/B5")], "P1 P2", draw=20, seed=seed)
        games = table(engine, s)
        games.step([play("R9", 0)])
        after = games.snapshot(0)
        assert (after["round"], after["totals"], after["player"]) == (1, [0, 26], 1)
        assert after["phase"] == "direction"


@engines
def test_p4_later_rounds_a_tie_goes_to_the_new_face_up_row(engine: str) -> None:
    """Seats 1 and 2 tie with most points: of those two the one with the higher new Row starts."""
    met = Counter[str]()
    for seed in range(60):
        s = position(["R9", "B10", "G10"], [("R1", "R2"), ("B2", "B1"), ("G2", "G1")], "P1 P2", draw=10, seed=seed)
        games = table(engine, s)
        games.step([play("R9", 0)])
        after = games.snapshot(0)
        assert after["totals"] == [0, 10, 10]
        sums = [sum(value_of(p["up"]) for p in row) for row in after["rows"]]
        if sums[1] == sums[2]:
            met["level"] += 1
            assert after["player"] in (1, 2)
        else:
            met["decided"] += 1
            assert after["player"] == (1 if sums[1] > sums[2] else 2)
        met["seat 0 had the highest Row"] += sums[0] > max(sums[1:])
    assert min(met.values()) > 0
    assert len(met) == 3


# ------------------------------------------------------------------------------------------------- P5–P9 a turn


@engines
@pytest.mark.parametrize(("action", "direction"), [(0, "up"), (1, "down")])
def test_p5_the_first_player_chooses_then_takes_the_first_turn(engine: str, action: int, direction: str) -> None:
    games = easyenvs.peasy_v0.batch(1, seed=4, engine=engine)
    first = games.player[0]
    assert legal_names(games) == {"up", "down"}
    games.step([action])
    s = games.snapshot(0)
    assert (s["direction"], s["player"], s["phase"], s["decisions"]) == (direction, first, "turn", 1)


@engines
@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("up", {"R5>0", "R9>0", "R9>1", "B5>0", "B8>0", "B8>1", "flip"}),
        ("down", {"R2>0", "R2>1", "R5>0", "R5>1", "B5>0", "B5>1", "B8>1", "flip"}),
    ],
)
def test_p6_p7_equal_or_higher_going_up_equal_or_lower_going_down(
    engine: str, direction: str, expected: set[str]
) -> None:
    """Tops P5 and G8; a hand of R2, R5, R9 and the face-up Row cards B5 and B8; nothing face-down is playable."""
    s = position(["R2 R5 R9", "P1"], [("B5/R10", "B8/R1"), ("P2", "P3")], "P5 G8", direction=direction, draw=5)
    assert legal_names(table(engine, s)) == expected


@engines
def test_p6_p7_the_rulebooks_example_red_8_on_purple_4(engine: str) -> None:
    s = position(["R2 R3", "P1"], [("R8/B1", "B9/B2"), ("P2", "P3")], "P4 G9", draw=5)
    games = table(engine, s)
    games.step([play("R8", 0)])
    after = games.snapshot(0)
    assert (after["player"], after["phase"], after["tops"]) == (1, "turn", cards("R8 G9"))
    assert card("P4") in after["buried"]
    assert after["rows"][0][0] == {"up": None, "down": card("B1"), "known": False}  # P11: it stays face-down


@engines
def test_p7_flip_reverses_draws_two_and_asks_for_a_play(engine: str) -> None:
    s = position(["R2 R3", "P1"], [("R8/B1", "B9/B2"), ("P2", "P3")], "P4 G9", draw="B5 B6 B7")
    games = table(engine, s)
    games.step([FLIP])
    after = games.snapshot(0)
    assert (after["player"], after["phase"], after["direction"], after["flips"]) == (0, "play", "down", 1)
    assert after["hands"][0] == cards("R2 R3 B5 B6")
    assert after["draw_pile"] == cards("B7")
    assert "flip" not in legal_names(games)
    assert legal_names(games) == {"R2>0", "R3>0", "R2>1", "R3>1", "R8>1", "B9>1", "B5>1", "B6>1"}


@engines
def test_p7_when_no_card_can_be_played_flipping_is_the_only_legal_action(engine: str) -> None:
    s = position(["R2 R3", "P1"], [("B4/B1", "B5/B2"), ("P2", "P3")], "P9 G9", draw=5)
    assert legal_names(table(engine, s)) == {"flip"}


@engines
def test_p8_a_second_flip_only_when_no_card_can_be_played_and_then_something_can(engine: str) -> None:
    """DOWN with tops 8 and 9 and low cards: flipping to UP leaves nothing to play, unless a 10 is drawn."""
    rows = [("B4/B1", "B5/B2"), ("P2", "P3")]
    s = position(["R2 R3", "P1"], rows, "P8 G9", direction="down", draw="R4 R5 R6 R7")
    games = table(engine, s)
    games.step([FLIP])
    assert legal_names(games) == {"flip"}
    assert games.snapshot(0)["phase"] == "play"
    games.step([FLIP])
    after = games.snapshot(0)
    assert (after["direction"], after["flips"], after["player"]) == ("down", 2, 0)
    assert after["hands"][0] == cards("R2 R3 R4 R5 R6 R7")
    assert "flip" not in legal_names(games)
    assert "R2>0" in legal_names(games)
    games.step([play("R2", 0)])
    assert games.snapshot(0)["flips"] == 0

    lucky = position(["R2 R3", "P1"], rows, "P8 G9", direction="down", draw="R4 R10 R6 R7")
    games = table(engine, lucky)
    games.step([FLIP])
    assert legal_names(games) == {"R10>0", "R10>1"}


@engines
def test_p9_an_empty_draw_pile_is_made_of_all_but_the_tops_when_a_card_is_needed(engine: str) -> None:
    s = position(["R2 R3", "P1"], [("R8/B1", "B9/B2"), ("P2", "P3")], "P4 G9", draw="")
    games = table(engine, s)
    games.step([play("R8", 0)])  # playing needs no card: the empty pile stays
    assert games.snapshot(0)["draw_pile"] == []
    games = table(engine, s)
    games.step([FLIP])
    after = games.snapshot(0)
    assert after["buried"] == []
    assert after["reshuffles"] == 1
    drawn = set(after["hands"][0]) - set(cards("R2 R3"))
    assert len(drawn) == 2
    assert drawn | set(after["draw_pile"]) == set(s["buried"]) == set(after["fresh"])


@engines
def test_p9_the_reshuffle_can_come_between_the_two_cards(engine: str) -> None:
    s = position(["R2 R3", "P1"], [("R8/B1", "B9/B2"), ("P2", "P3")], "P4 G9", draw="B5")
    games = table(engine, s)
    games.step([FLIP])
    after = games.snapshot(0)
    assert card("B5") in after["hands"][0]
    assert after["reshuffles"] == 1
    other = set(after["hands"][0]) - set(cards("R2 R3 B5"))
    assert len(other) == 1
    assert other <= set(s["buried"])
    assert card("B5") not in after["fresh"]


ALL_BUT_41 = " ".join(f"{c}{v}" for c in "RPGB" for v in range(1, 11))


def nearly_everything_in_hands(left: str) -> dict[str, object]:
    """Seat 0 to act UP on 1 and 1; all cards but `left` (the draw pile) are in hands, Rows and tops."""
    used = {"R1", "P1", "R2", "R3", "G1", "G2", "G3", "G4", "B1", "B2", *left.split()}
    other = " ".join(name for name in ALL_BUT_41.split() if name not in used)
    return position(["R2 R3", other], [("G1/G2", "G3/G4"), ("B1", "B2")], "R1 P1", draw=left, buried="")


@engines
def test_p9_with_one_card_left_anywhere_one_is_drawn(engine: str) -> None:
    games = table(engine, nearly_everything_in_hands("R10"))
    games.step([FLIP])
    after = games.snapshot(0)
    assert after["hands"][0] == cards("R2 R3 R10")
    assert (after["draw_pile"], after["buried"], after["phase"], after["reshuffles"]) == ([], [], "play", 0)


@engines
def test_p9_with_no_card_left_anywhere_none_is_drawn_and_flipping_stays_legal(engine: str) -> None:
    games = table(engine, nearly_everything_in_hands(""))
    assert "flip" in legal_names(games)
    games.step([FLIP])
    after = games.snapshot(0)
    assert after["hands"][0] == cards("R2 R3")
    assert (after["direction"], after["flips"], after["phase"]) == ("down", 1, "play")
    assert legal_names(games) == {"G1>0", "G1>1"}


# ------------------------------------------------------------------------------------------------- P10–P12 bonus


@engines
def test_p10_the_rulebooks_chain_g8_on_g7_g9_on_g8_then_turning_the_card_under_it(engine: str) -> None:
    """A chain: G8 from the hand on G7, G9 from the Row on G8, then the face-down card under the G9 is turned up."""
    s = position(["G8 R1", "P1"], [("G9/B2", "B3/B4"), ("P2", "P3")], "R10 G7", draw=5)
    games = table(engine, s)
    games.step([play("G8", 1)])
    assert legal_names(games) == {"pass", "turn 0", "turn 1", "G9>1"}
    assert games.snapshot(0)["bonus_pile"] == 1
    games.step([play("G9", 1)])
    assert legal_names(games) == {"pass", "turn 0", "turn 1"}
    assert games.player[0] == 0
    games.step([TURN_0])
    after = games.snapshot(0)
    assert after["rows"][0] == [
        {"up": card("B2"), "down": None, "known": False},
        {"up": card("B3"), "down": card("B4"), "known": False},
    ]
    assert (after["player"], after["phase"], after["tops"], after["bonus_pile"]) == (1, "turn", cards("R10 G9"), None)


@engines
def test_p10_a_bonus_card_goes_on_the_same_pile_and_obeys_the_direction(engine: str) -> None:
    s = position(["G5 G4 R6 R9", "P1"], [("B1/B2", "B3/B4"), ("P2", "P3")], "G3 R1", draw=5)
    games = table(engine, s)
    games.step([play("G5", 0)])
    assert legal_names(games) == {"pass", "turn 0", "turn 1", "R6>0", "R9>0"}  # not G4 (lower), nothing on pile 1
    games.step([play("R6", 0)])  # no match: the turn ends
    assert games.player[0] == 1


@engines
def test_p10_no_match_no_bonus_and_passing_ends_the_turn(engine: str) -> None:
    s = position(["G5 R6", "P1"], [("B1/B2", "B3/B4"), ("P2", "P3")], "G3 R1", draw=5)
    games = table(engine, s)
    games.step([play("R6", 0)])
    assert games.player[0] == 1
    games = table(engine, s)
    games.step([play("G5", 0)])
    games.step([PASS])
    assert (games.player[0], games.snapshot(0)["phase"]) == (1, "turn")


@engines
def test_p10_no_bonus_is_asked_where_there_is_none(engine: str) -> None:
    """A match, but no other card can follow and both Row piles are single face-up cards: the turn ends at once."""
    s = position(["G9 R1", "P1"], [("B1", "B3"), ("P2", "P3")], "G3 R10", draw=5)
    games = table(engine, s)
    games.step([play("G9", 0)])
    after = games.snapshot(0)
    assert (after["player"], after["phase"], after["decisions"]) == (1, "turn", 1)


@engines
def test_p10_a_bonus_can_follow_a_flip(engine: str) -> None:
    s = position(["G2 R9", "P1"], [("B1/B2", "B3/B4"), ("P2", "P3")], "G3 R10", draw=5)
    games = table(engine, s)
    games.step([FLIP])
    games.step([play("G2", 0)])
    after = games.snapshot(0)
    assert (after["phase"], after["flips"], after["player"]) == ("bonus", 1, 0)


@engines
@pytest.mark.parametrize(
    ("pile", "expected"),
    [
        ("B1/B2", {"up": "B2", "down": "B1", "known": True}),  # swapped; the card turned down is known
        ("B1/B2!", {"up": "B2", "down": "B1", "known": True}),
        ("/B2", {"up": "B2", "down": None, "known": False}),  # a single face-down card turns up
        ("/B2!", {"up": "B2", "down": None, "known": False}),
    ],
)
def test_p11_p13_flipping_a_row_pile(engine: str, pile: str, expected: dict[str, object]) -> None:
    s = position(["G5 R6", "P1"], [(pile, "B3/B4"), ("P2", "P3")], "G3 R1", draw=5)
    games = table(engine, s)
    games.step([play("G5", 0)])
    games.step([TURN_0])
    after = games.snapshot(0)["rows"][0][0]
    named = {k: card_name(v) if isinstance(v, int) and not isinstance(v, bool) else v for k, v in after.items()}
    assert named == expected
    view = games.view(1)  # the other seat knows what was turned down
    known = [card_name(c) for c in range(40) if int(view.known_down[1, 0, 0]) >> c & 1]
    assert known == ([expected["down"]] if expected["down"] else [])


@engines
def test_p11_a_single_face_up_card_and_an_empty_pile_cannot_be_flipped(engine: str) -> None:
    s = position(["G5 R6", "P1"], [("B1", ""), ("P2", "P3")], "G3 R1", draw=5)
    games = table(engine, s)
    games.step([play("G5", 0)])
    assert legal_names(games) == {"pass", "R6>0"}
    s = position(["G5 R6", "P1"], [("", "/B1"), ("P2", "P3")], "G3 R1", draw=5)
    games = table(engine, s)
    games.step([play("G5", 0)])
    assert legal_names(games) == {"pass", "R6>0", "turn 1"}


@engines
def test_p12_a_turned_up_card_cannot_be_played_in_that_turn(engine: str) -> None:
    s = position(["G5 R6", "P1"], [("B1/G10", "B3/B4"), ("P2", "P3")], "G3 R1", draw=5)
    games = table(engine, s)
    games.step([play("G5", 0)])
    games.step([TURN_0])
    assert games.player[0] == 1


# ------------------------------------------------------------------------------------------------- P13 knowledge


@engines
def test_p13_views_hold_what_everyone_knows(engine: str) -> None:
    s = position(["R2 R3", "P1 P6"], [("R8/B1", "B9/B2!"), ("P2/P7", "P3")], "P4 G9", draw=5)
    view = table(engine, s).view(1)
    assert [int(v) for v in view.hand_size[:, 0]] == [2, 2]
    assert int(view.hand[0]) == sum(1 << c for c in cards("P1 P6"))
    assert [int(v) for v in view.known_down[1, :, 0]] == [0, 1 << card("B2")]
    assert view.hidden_down[:, :, 0].tolist() == [[True, False], [True, False]]
    unseen = set(range(40)) - set(cards("P1 P6 R8 B9 B2 P2 P3 P4 G9")) - set(s["buried"])
    assert int(view.unseen_fresh[0]) == sum(1 << c for c in unseen)
    assert int(view.unseen_old[0]) == 0
    assert int(view.draw_size[0]) == 5


@engines
def test_p13_after_a_reshuffle_unseen_cards_fall_into_fresh_and_old(engine: str) -> None:
    s = position(["R2 R3", "P1 P6"], [("R8/B1", "B9/B2"), ("P2/P7", "P3")], "P4 G9", draw="B5")
    games = table(engine, s)
    games.step([FLIP])
    view = games.view(1)
    after = games.snapshot(0)
    assert view.reshuffled[0]
    assert view.hand_fresh[:, 0].tolist() == [0, 1]  # of seat 0's four cards, only the second drawn one is fresh
    assert int(view.unseen_fresh[0]) == sum(1 << c for c in s["buried"])
    # Old and unseen by seat 1: seat 0's dealt cards, the B5 drawn before the reshuffle, and what nobody has seen
    assert int(view.unseen_old[0]) == sum(1 << c for c in cards("R2 R3 B5 B1 B2 P7"))
    assert set(after["draw_pile"]) < set(after["fresh"])


# ------------------------------------------------------------------------------------------------- P14, P15 round end


@engines
def test_p14_p15_the_rulebooks_example_ender_with_8_against_18_and_12(engine: str) -> None:
    """Seat 0 empties its hand with a Row of 6 + 2; the others have 18 (hand 2 + 6 + 10, Row 2 + 2) and 12 -> 0, 18, 12."""
    s = position(["R9", "B2 B6 B10", "P5 P7"], [("R6", "P2"), ("G2", "R2"), ("P1/P3", "P4")], "B4 G9", draw=8, round=0)
    games = table(engine, s)
    games.step([play("R9", 0)])
    assert games.snapshot(0)["round_scores"] == [[0, 18, 12]]
    assert games.scores[0].tolist() == [0, 18, 12]


@engines
def test_p14_p15_the_rulebooks_example_ender_with_8_against_8_scores_16(engine: str) -> None:
    """Level with the lowest is not strictly lower: 6 + 2 is doubled."""
    s = position(["R9", "B2 B6", "P5 P7"], [("R6", "P2"), ("G2", "R2"), ("P1/P3", "P4")], "B4 G9", draw=8, round=0)
    games = table(engine, s)
    games.step([play("R9", 0)])
    assert games.snapshot(0)["round_scores"] == [[16, 8, 12]]


@engines
def test_p14_an_empty_row_ends_the_round_and_the_hand_counts(engine: str) -> None:
    s = position(["R1 R2", "B2 B6"], [("R9", ""), ("G2", "R3/R10")], "B4 G9", draw=8)
    games = table(engine, s)
    games.step([play("R9", 0)])
    assert games.snapshot(0)["round_scores"] == [[0, 15]]  # hand 1 + 2 < max(8, 2 + 3 + 10)


@engines
def test_p14_a_lone_face_down_card_keeps_the_row_alive(engine: str) -> None:
    s = position(["R1 R2", "B2 B6"], [("R9/P9", ""), ("G2", "R3/R10")], "B4 G9", draw=8)
    games = table(engine, s)
    games.step([play("R9", 0)])
    assert games.snapshot(0)["round_scores"] == []


@engines
def test_p14_a_round_never_ends_in_the_middle_of_a_chain(engine: str) -> None:
    """The hand is empty, but the bonus is still to be decided; the round ends after it."""
    s = position(["G9", "B2 B6"], [("R9/P9", "G10"), ("G2", "R3/R10")], "G4 G1", draw=8)
    games = table(engine, s)
    games.step([play("G9", 0)])
    assert games.snapshot(0)["round_scores"] == []
    assert legal_names(games) == {"pass", "turn 0", "G10>0", "R9>0"}
    games.step([play("G10", 0)])
    assert games.snapshot(0)["phase"] == "bonus"
    games.step([TURN_0])
    assert games.snapshot(0)["round_scores"] == [[36, 15]]


@engines
def test_p15_all_that_the_ender_still_has_is_added_up_face_down_cards_too(engine: str) -> None:
    s = position(["R9", "B2 B6"], [("R6/R7", "P2/P3"), ("G2", "R3/R10")], "B4 G9", draw=8)
    games = table(engine, s)
    games.step([play("R9", 0)])
    assert games.snapshot(0)["round_scores"] == [[36, 15]]


# ------------------------------------------------------------------------------------------------- P16–P18, R1–R7


def last_turn(round_scores: list[list[int]], seat_1: str, own_row: str = "R1") -> dict[str, object]:
    """Seat 0 ends the last of three rounds with a 9; it keeps `own_row`, seat 1 scores its hand."""
    totals = [sum(scores[seat] for scores in round_scores) for seat in range(2)]
    return position(
        ["R9", seat_1],
        [(own_row, ""), ("P1", "")],
        "B4 G9",
        draw=8,
        round=len(round_scores),
        totals=totals,
        round_scores=round_scores,
    )


@engines
def test_p16_three_rounds_then_the_lowest_total_wins(engine: str) -> None:
    games = table(engine, last_turn([[10, 4], [0, 0]], "P5"))
    games.step([play("R9", 0)])
    assert games.terminated[0]
    assert not games.truncated[0]
    assert games.scores[0].tolist() == [10, 9]
    assert games.rewards[0].tolist() == [-1.0, 1.0]
    s = games.snapshot(0)
    assert (s["phase"], s["player"], s["bonus_pile"], s["round"]) == ("over", None, None, 2)  # R7
    assert s["round_scores"] == [[10, 4], [0, 0], [0, 5]]
    assert s["hands"] == [[], cards("P5")]  # hands and Rows stay as they were
    assert not games.legal.any()
    assert games.player[0] == -1


@engines
@pytest.mark.parametrize(("rounds", "over"), [(1, True), (2, False), (5, False)])
def test_p16_any_number_of_rounds(engine: str, rounds: int, over: bool) -> None:
    s = position(["R9", "P5"], [("R1", ""), ("P1", "")], "B4 G9", draw=8)
    games = table(engine, s, num_rounds=rounds)
    games.step([play("R9", 0)])
    assert games.terminated[0] == over


@engines
@pytest.mark.parametrize(("hand", "over"), [("P10 B10 B9", False), ("P10 B10 B9 B1", True), ("P10 B10 B9 B2", True)])
def test_p16_target_score_ends_when_reached_or_exceeded(engine: str, hand: str, over: bool) -> None:
    s = position(["R9", hand], [("R1", ""), ("P1", "")], "B4 G9", draw=8)
    games = table(engine, s, target_score="standard")  # 30 with two players
    games.step([play("R9", 0)])
    assert games.terminated[0] == over


def test_p16_the_standard_targets() -> None:
    assert {n: Rules(num_players=n, target_score="standard").target_score for n in range(2, 7)} == {
        2: 30, 3: 50, 4: 50, 5: 50, 6: 50,
    }  # fmt: skip


@engines
def test_p17_a_tie_goes_to_the_lower_last_round(engine: str) -> None:
    games = table(engine, last_turn([[5, 0], [0, 0]], "P5"))
    games.step([play("R9", 0)])
    assert games.scores[0].tolist() == [5, 5]
    assert games.ranks()[0].tolist() == [1.0, 2.0]  # 0 in the last round against 5
    assert games.rewards[0].tolist() == [1.0, -1.0]


@engines
def test_p17_a_tie_in_total_and_last_round_is_a_shared_win(engine: str) -> None:
    """Seats 1 and 2 win together, behind them seat 0, whose remainder is doubled."""
    s = position(
        ["R9", "B5", "G5"],
        [("R10", "R8"), ("B1", ""), ("G1", "")],
        "B4 B9",
        draw=8,
        round=2,
        totals=[0, 3, 3],
        round_scores=[[0, 3, 3], [0, 0, 0]],
    )
    for reward, expected in (("placement", [-1.0, 0.5, 0.5]), ("win", [-1.0, 0.5, 0.5]), ("score", [-3.1, 1.55, 1.55])):
        games = table(engine, s, reward=reward)
        games.step([play("R9", 0)])
        assert games.scores[0].tolist() == [36, 8, 8]
        assert games.ranks()[0].tolist() == [3.0, 1.5, 1.5]
        np.testing.assert_allclose(games.rewards[0], expected, rtol=1e-6)


@engines
def test_p18_r6_two_players_can_flip_for_ever_until_the_game_is_truncated(engine: str) -> None:
    games = easyenvs.peasy_v0.batch(1, seed=1, engine=engine, max_cycles=20)
    for decision in range(40):
        assert not games.truncated[0]
        legal = games.legal[0]
        games.step([FLIP if legal[FLIP] else int(legal.argmax())])
        assert games.snapshot(0)["decisions"] == decision + 1
    assert games.truncated[0]
    assert not games.terminated[0]
    assert games.rewards[0].tolist() == [0.0, 0.0]
    s = games.snapshot(0)
    assert (s["phase"], s["player"], s["truncated"]) == ("over", None, True)


def test_r6_the_default_bound() -> None:
    assert Rules(num_players=2).max_decisions == 2 * 1000
    assert Rules(num_players=3, num_rounds=25).max_decisions == 3 * 2500
    assert Rules(num_players=4, target_score=500).max_decisions == 4 * 5000
    assert Rules(num_players=5, max_cycles=7).max_decisions == 5 * 7


@engines
def test_r6_a_game_that_ends_by_the_rules_with_its_last_decision_is_terminated(engine: str) -> None:
    s = last_turn([[10, 4], [0, 0]], "P5")
    games = table(engine, {**s, "decisions": 1999}, max_cycles=1000)
    games.step([play("R9", 0)])
    assert games.terminated[0]
    assert not games.truncated[0]
    assert games.rewards[0].tolist() == [-1.0, 1.0]


@engines
@pytest.mark.parametrize("reward", rewards.REWARDS)
def test_r6_a_round_that_ends_with_the_last_decision_is_scored_and_nothing_is_dealt(engine: str, reward: str) -> None:
    s = position(["R9", "P5"], [("R1", ""), ("P1", "")], "B4 G9", draw=8, decisions=1999)
    games = table(engine, s, max_cycles=1000, reward=reward)
    games.step([play("R9", 0)])
    after = games.snapshot(0)
    assert games.truncated[0]
    assert (after["round"], after["round_scores"], after["totals"]) == (0, [[0, 5]], [0, 5])
    assert after["hands"] == [[], cards("P5")]
    assert games.rewards[0].tolist() == [0.0, 0.0]


def test_r1_to_r3_by_hand() -> None:
    standing = np.array([[[3], [1], [1], [7]], [[0], [0], [0], [0]]])  # one criterion decides, the other is level
    place = rewards.ranks(standing)
    assert place[:, 0].tolist() == [3.0, 1.5, 1.5, 4.0]
    np.testing.assert_allclose(rewards.placement(place)[:, 0], [1 - 2 * 2 / 3, 1 - 2 * 0.5 / 3, 1 - 2 * 0.5 / 3, -1.0])
    np.testing.assert_allclose(rewards.win(place)[:, 0], [-0.5, 0.5, 0.5, -0.5])
    assert rewards.win(rewards.ranks(np.zeros((2, 3, 1), dtype=np.int64)))[:, 0].tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(rewards.score(np.array([[-4.0], [-10.0], [-1.0]]))[:, 0], [0.15, -0.75, 0.6])


@engines
def test_r3_score_rewards_come_after_every_round(engine: str) -> None:
    s = position(["R9", "P5"], [("R1", ""), ("P1", "")], "B4 G9", draw=8)
    games = table(engine, s, reward="score")
    games.step([play("R9", 0)])
    np.testing.assert_allclose(games.rewards[0], [0.5, -0.5])
    assert games.player[0] >= 0


@engines
def test_r4_an_illegal_action_changes_nothing_and_the_error_names_everything(engine: str) -> None:
    games = easyenvs.peasy_v0.batch(3, seed=1, engine=engine)
    before = [games.snapshot(i) for i in range(3)]
    with pytest.raises(
        easyenvs.IllegalActionError,
        match=r"game 1, seat \d, phase direction: action 3 \(flip\) is illegal; legal are 0 \(up\), 1 \(down\)",
    ):
        games.step([0, 3, 0])
    assert [games.snapshot(i) for i in range(3)] == before


@engines
def test_r5_the_same_seed_and_decisions_give_the_same_game_alone_or_in_a_batch(engine: str) -> None:
    many = easyenvs.peasy_v0.batch(7, seed=[5, 6, 7, 8, 9, 10, 11], engine=engine)
    alone = easyenvs.peasy_v0.batch(1, seed=[9], engine=engine)
    for _ in range(150):
        legal = many.legal
        actions = np.where(legal.any(axis=1), legal.argmax(axis=1), 0)
        if many.player[4] < 0:
            break
        many.step(actions)
        alone.step(actions[4:5])
        assert many.snapshot(4) == alone.snapshot(0)


@engines
def test_r5_play_never_changes_later_deals(engine: str) -> None:
    """Two ways of playing round 0 of the same game: round 1's deal is the same."""
    deals = []
    for skip in (0, 1):
        games = easyenvs.peasy_v0.batch(1, seed=[123], engine=engine)
        while games.snapshot(0)["round"] == 0:
            legal = games.legal[0].nonzero()[0]
            games.step([int(legal[-1 - skip]) if len(legal) > skip else int(legal[0])])
        s = games.snapshot(0)
        deals.append((s["hands"], s["rows"], s["tops"], s["draw_pile"]))
    assert deals[0] == deals[1]


def test_action_table() -> None:
    names = easyenvs.peasy_v0.GAME.notation.ACTION_NAMES
    assert len(names) == NUM_ACTIONS == 126
    assert names[:6] == ("up", "down", "pass", "flip", "turn 0", "turn 1")
    assert names[6 + 60 * 1 + card("R8")] == "R8>1"
    assert names[6 + card("O10")] == "O10>0"
    env = easyenvs.peasy_v0.raw_env()
    for action, name in enumerate(names):
        assert env.action_name(action) == name
        assert env.parse_action(name) == action
        assert env.parse_action(f"  {name.upper()} ".replace(">", " > ")) == action
