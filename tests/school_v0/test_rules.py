"""Easy School's rules, case by case, derived by hand from the rulebook: S1–S20, R1–R7. Both engines play every case.

Cards are letters: nerd N, thief T, hacker H, gift G, copycat C, joker J, stress S, semester end E (positions.py)."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import easyenvs
from easyenvs import school_v0
from easyenvs.core.batch import Batch
from easyenvs.school_v0.cards import COPIES, EXAMS, NUM_ACTIONS, SPECIAL, STRESS, TYPES, type_points
from easyenvs.school_v0.options import Rules
from tests.school_v0.positions import ENGINES, act, cards_of, counts, legal_names, letters, position, table, types

engines = pytest.mark.parametrize("engine", ENGINES)

PLAIN = ["NTH", "NTH", "NTH"]  # three seats that all could take an examination


def play(engine: str, snapshot: dict[str, Any], *names: str, **options: Any) -> tuple[dict[str, Any], Batch]:
    """The position after these actions, and its batch."""
    games = table(engine, snapshot, **options)
    return act(games, *names), games


def at(snapshot: dict[str, Any]) -> tuple[str, int | None]:
    """What is asked of whom."""
    return snapshot["phase"], snapshot["player"]


def face_up(snapshot: dict[str, Any]) -> list[str]:
    return [cards_of(cards) for cards in snapshot["face_up"]]


def victory(snapshot: dict[str, Any]) -> list[str]:
    return [letters(pile) for pile in snapshot["victory"]]


def pool(snapshot: dict[str, Any]) -> str:
    return cards_of(snapshot["pool"])


def assert_likely(met: npt.ArrayLike, share: npt.ArrayLike) -> None:
    """χ² of counts against shares: within five sigma."""
    numbers, shares = np.asarray(met, dtype=float), np.asarray(share, dtype=float)
    expected = numbers.sum() * shares / shares.sum()
    chi2, free = float(((numbers - expected) ** 2 / expected).sum()), len(numbers) - 1
    assert chi2 < free + 5 * np.sqrt(2 * free), f"chi² {chi2:.1f} with {free} degrees of freedom: {numbers}"


# ------------------------------------------------------------------------------------------------- S1–S5 the set-up


def test_s1_the_cards() -> None:
    assert dict(zip(TYPES, COPIES, strict=True)) == {
        "nerd": 16, "thief": 14, "hacker": 14, "gift": 16, "copycat": 16, "joker": 10, "stress": 22, "semester end": 2,
    }  # fmt: skip
    assert sum(COPIES) == 110


def test_s2_two_to_six_players_are_accepted_three_is_the_default() -> None:
    assert [Rules(num_players=n).num_players for n in range(2, 7)] == [2, 3, 4, 5, 6]
    assert Rules().num_players == 3
    for wrong in (0, 1, 7):
        with pytest.raises(easyenvs.OptionError, match=f"num_players={wrong} is not accepted"):
            Rules(num_players=wrong)


@engines
@pytest.mark.parametrize("players", range(2, 7))
def test_s3_s4_the_deal(engine: str, players: int) -> None:
    games = school_v0.batch(60, num_players=players, seed=3, engine=engine)
    length = 108 - 3 * players + 1  # S4: when the first special goes in
    for i in range(60):
        s = games.snapshot(i)
        assert (s["phase"], s["player"], s["semester"], s["decisions"]) == ("turn", s["turn_player"], 1, 0)
        assert [sum(cards) for cards in s["face_up"]] == [3] * players
        assert s["stress"] == s["scores"] == [0] * players
        assert s["victory"] == [[]] * players
        assert s["pool"] == s["claimed"] == [0] * 6
        assert s["discard_pile"] == [0] * 8
        everything = Counter(s["deck"])
        for cards in s["face_up"]:
            everything.update(types(cards_of(cards)))
        assert [everything[kind] for kind in range(8)] == list(COPIES)
        first, last = [place for place, kind in enumerate(s["deck"]) if kind == SPECIAL]
        assert len(s["deck"]) == length + 1 == 110 - 3 * players
        assert len(s["deck"]) - 1 - last == 10
        assert abs(first - length // 2) <= 5


@engines
def test_s4_the_place_of_the_first_special_is_uniform(engine: str) -> None:
    deals = 5500 if engine == "numpy" else 2200
    games = school_v0.batch(deals, num_players=3, seed=8, engine=engine)
    met = Counter(games.snapshot(i)["deck"].index(SPECIAL) for i in range(deals))
    assert set(met) == set(range(45, 56))  # floor(100 / 2) + u
    assert_likely([met[place] for place in range(45, 56)], [1] * 11)


@engines
def test_s3_s4_every_type_is_as_likely_as_its_cards_say_at_every_place(engine: str) -> None:
    deals = 4000 if engine == "numpy" else 1500
    games = school_v0.batch(deals, num_players=2, seed=1, engine=engine)
    dealt, top, bottom, under = (np.zeros(8) for _ in range(4))
    for i in range(deals):
        s = games.snapshot(i)
        for cards in s["face_up"]:  # cards of one deal hang together, but hardly
            dealt[:6] += cards
        top[s["deck"][0]] += 1
        bottom[s["deck"][-1]] += 1
        under[s["deck"][-10]] += 1
    assert dealt[STRESS] == 0
    assert_likely(dealt[:6], COPIES[:6])
    # Six of the 86 cheats and jokers are in front of the seats; all 22 stress cards are in the deck of 102
    share = [copies * 80 / 86 for copies in COPIES[:6]] + [22]
    for place in (top, bottom, under):
        assert_likely(place[:7], share)


@engines
@pytest.mark.parametrize("players", range(2, 7))
def test_s5_the_first_player_is_uniform(engine: str, players: int) -> None:
    deals = 3000 if engine == "numpy" else 1200
    games = school_v0.batch(deals, num_players=players, seed=5, engine=engine)
    assert_likely(np.bincount(games.player, minlength=players), [1] * players)


# ------------------------------------------------------------------------------------------------- S6, S7 draw


@engines
def test_s6_any_face_up_type_of_the_pool_can_be_picked_and_that_ends_the_turn(engine: str) -> None:
    after, games = play(engine, position(["N", "", ""], pool="NNJ"))
    assert legal_names(games) == {"draw", "nerd", "joker"}
    after = act(games, "joker")
    assert (face_up(after), pool(after), at(after)) == (["NJ", "", ""], "NN", ("turn", 1))


@engines
def test_s6_picking_is_allowed_under_stress(engine: str) -> None:
    after, _ = play(engine, position(["", "", ""], pool="C", stress=[1, 0, 0]), "copycat")
    assert (face_up(after), pool(after), after["stress"], at(after)) == (["C", "", ""], "", [1, 0, 0], ("turn", 1))


@engines
def test_s7_a_seat_draws_as_long_as_it_likes_and_stops(engine: str) -> None:
    s = position(["N", "", ""], deck="JNTHGC", pool="N")
    after, games = play(engine, s, "draw")
    assert at(after) == ("draw", 0)
    assert legal_names(games) == {"draw", "stop"}
    after = act(games, "draw", "draw", "draw", "draw", "draw")
    assert (face_up(after)[0], at(after), len(after["deck"])) == ("NNTHGCJ", ("draw", 0), len(s["deck"]) - 6)
    assert after["deck"] == s["deck"][6:]
    after = act(games, "stop")
    assert at(after) == ("turn", 1)
    assert after["decisions"] == 7


@engines
def test_s14_a_turn_cannot_be_passed_and_drawing_is_always_possible(engine: str) -> None:
    for stress in (0, 3):
        games = table(engine, position(["", "", ""], stress=[stress, 0, 0]))
        assert legal_names(games) == {"draw"} | ({"stress +1", "stress +2"} if stress else set())


# ------------------------------------------------------------------------------------------------- S7, S8 stress


@engines
@pytest.mark.parametrize(
    ("own", "pile", "to_pool", "pile_after"),
    [
        ("", "", "", ""),  # nothing to lose
        ("", "JNT", "T", "JN"),  # no face-up card: the top of the victory pile
        ("", "JJ", "J", "J"),  # even a joker
        ("N", "JNT", "N", "JNT"),  # one card: it goes, unasked
        ("J", "", "J", ""),
        ("NN", "T", "N", "T"),  # one type: one option, unasked
    ],
)
def test_s8_the_first_stress_of_a_turn_costs_one_card_unasked(
    engine: str, own: str, pile: str, to_pool: str, pile_after: str
) -> None:
    after, _ = play(engine, position([own, "G", ""], deck="SC", victory=[pile, "", ""]), "draw")
    assert (pool(after), victory(after)[0]) == (to_pool, pile_after)
    assert len(face_up(after)[0]) == max(0, len(own) - 1)
    assert (after["stress"], at(after), after["stress_drawn"], after["to_discard"]) == ([1, 0, 0], ("draw", 0), 1, 0)
    assert after["scores"][0] == sum(type_points(pile_after.count(letter)) for letter in "NTHGC")
    assert after["decisions"] == 1


@engines
def test_s8_of_several_types_the_seat_chooses_and_goes_on_drawing(engine: str) -> None:
    after, games = play(engine, position(["NNJ", "", ""], deck="SC", victory=["T", "", ""]), "draw")
    assert (at(after), after["to_discard"], after["stress"]) == (("discard", 0), 1, [1, 0, 0])
    assert legal_names(games) == {"nerd", "joker"}
    after = act(games, "joker")
    assert (face_up(after)[0], pool(after), victory(after)[0], at(after)) == ("NN", "J", "T", ("draw", 0))
    after = act(games, "draw")
    assert (face_up(after)[0], at(after)) == ("NNC", ("draw", 0))


@engines
@pytest.mark.parametrize(
    ("own", "pile", "to_pool", "own_after", "pile_after"),
    [
        ("", "", "", "", ""),
        ("", "JNT", "T", "", "JN"),  # [gap] c = 2 and f = 0: one card only
        ("", "J", "J", "", ""),  # the lost one is a joker
        ("N", "", "N", "", ""),
        ("N", "JT", "NT", "", "J"),  # fewer than two: that one, and the top of the victory pile
        ("N", "JJ", "NJ", "", "J"),
        ("NT", "JT", "NT", "", "JT"),  # as many as owed: both, unasked
        ("NN", "T", "NN", "", "T"),
        ("NNN", "T", "NN", "N", "T"),  # one type: unasked
    ],
)
def test_s8_the_second_stress_of_a_turn_costs_two_cards_and_ends_it(
    engine: str, own: str, pile: str, to_pool: str, own_after: str, pile_after: str
) -> None:
    """Seat 0 has drawn one stress card in this turn."""
    s = position([own, "G", ""], deck="SC", victory=[pile, "", ""], stress=[1, 0, 0], phase="draw", stress_drawn=1)
    after, _ = play(engine, s, "draw")
    assert (pool(after), face_up(after)[0], victory(after)[0]) == (
        cards_of(counts(to_pool)), own_after, pile_after,
    )  # fmt: skip
    assert (after["stress"], at(after), after["stress_drawn"]) == ([2, 0, 0], ("turn", 1), 0)


@engines
def test_s8_the_second_stress_asks_for_two_cards_one_at_a_time(engine: str) -> None:
    s = position(["NTJJ", "", ""], deck="SC", stress=[1, 0, 0], phase="draw", stress_drawn=1)
    after, games = play(engine, s, "draw")
    assert (at(after), after["to_discard"]) == (("discard", 0), 2)
    assert legal_names(games) == {"nerd", "thief", "joker"}
    after = act(games, "thief")
    assert (at(after), after["to_discard"], pool(after)) == (("discard", 0), 1, "T")
    assert legal_names(games) == {"nerd", "joker"}
    after = act(games, "joker")
    assert (face_up(after)[0], pool(after), at(after)) == ("NJ", "TJ", ("turn", 1))


@engines
def test_s8_a_choice_that_leaves_one_type_settles_the_rest(engine: str) -> None:
    s = position(["NTT", "", ""], deck="SC", stress=[1, 0, 0], phase="draw", stress_drawn=1)
    after, _ = play(engine, s, "draw", "nerd")
    assert (face_up(after)[0], pool(after), at(after), after["decisions"]) == ("T", "NT", ("turn", 1), 2)


@engines
def test_s7_stress_of_an_earlier_turn_does_not_count(engine: str) -> None:
    """Two stress cards in front of the seat; the next one is the first of this turn, the one after it the second."""
    s = position(["NN", "", ""], deck="SHHSC", stress=[2, 0, 0])
    after, games = play(engine, s, "draw")
    assert (at(after), after["stress"], pool(after)) == (("draw", 0), [3, 0, 0], "N")
    after = act(games, "draw", "draw", "draw")
    assert after["stress"] == [4, 0, 0]
    assert (at(after), after["to_discard"]) == (("discard", 0), 2)  # of N H H
    assert at(act(games, "hacker")) == ("discard", 0)
    assert at(act(games, "nerd")) == ("turn", 1)


@engines
def test_s7_stress_drawn_by_another_seat_is_the_first_of_its_own_turn(engine: str) -> None:
    after, _ = play(engine, position(["", "", ""], deck="SSN"), "draw", "stop", "draw")
    assert (at(after), after["stress"], after["stress_drawn"]) == (("draw", 1), [1, 1, 0], 1)


# ------------------------------------------------------------------------------------------------- S9 examinations


@engines
@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("NT", ""),
        ("NNTT", ""),  # different types
        ("JJJJ", ""),  # with at least one cheat
        ("NTH", "NTH"),
        ("NNTTHH", "NTH"),
        ("NTJ", "NTJ"),
        ("NJJ", "NJJ"),
        ("NTJJ", "NTJ NJJ TJJ NTJJ"),
        ("NJJJJ", "NJJ NJJJ NJJJJ"),
        ("NJJJJJ", "NJJ NJJJ NJJJJ"),  # five cards at most
        ("NTHG", "NTH NTG NHG THG NTHG"),
    ],
)
def test_s9_which_examinations_can_be_taken(engine: str, own: str, expected: str) -> None:
    names = {"exam " + " ".join(TYPES[kind] for kind in types(cards)) for cards in expected.split()}
    games = table(engine, position([own, "", ""]))
    assert legal_names(games) - {"draw"} == names
    games = table(engine, position([own, "", ""], stress=[1, 0, 0]))
    assert legal_names(games) == {"draw", "stress +1", "stress +2"}  # never under stress


@engines
def test_s9_with_one_of_each_type_and_jokers_all_86_can_be_taken(engine: str) -> None:
    games = table(engine, position(["NTHGCJJJJ", "", ""]))
    assert sum(name.startswith("exam") for name in legal_names(games)) == 86
    games = table(engine, position(["NTHGC", "", ""]))
    assert sum(name.startswith("exam") for name in legal_names(games)) == 10 + 5 + 1


@engines
@pytest.mark.parametrize("turned_up", "NTHGCJ")
def test_s9_three_cards_succeed_when_no_stress_turns_up_and_that_card_goes_to_the_pool(
    engine: str, turned_up: str
) -> None:
    s = position(["NNTHG", "", ""], deck=turned_up + "S")
    after, _ = play(engine, s, "exam nerd thief hacker", "nerd", "hacker")
    assert (pool(after), face_up(after)[0], victory(after)[0], at(after)) == (turned_up, "NG", "NHT", ("turn", 1))
    assert after["scores"] == [3, 0, 0]
    assert after["deck"] == s["deck"][1:]


@engines
def test_s9_three_cards_fail_when_stress_turns_up(engine: str) -> None:
    """[gap] The stress card stays with the seat, nothing is discarded, nobody practises."""
    s = position(["NTHJ", "NTH", "NTH"], deck="SN", pool="G")
    after, _ = play(engine, s, "exam nerd thief hacker")
    assert (face_up(after), pool(after), victory(after)) == (["NTHJ", "NTH", "NTH"], "G", ["", "", ""])
    assert (after["stress"], at(after), after["claimed"]) == ([1, 0, 0], ("turn", 1), [0] * 6)


@engines
def test_s9_a_special_stops_the_examination_and_its_cards_stay(engine: str) -> None:
    after, _ = play(engine, position(["NTHJ", "NT", ""], deck="EN", thrown=40), "exam nerd thief hacker")
    assert (face_up(after)[0], victory(after)[0], after["semester"]) == ("NTHJ", "", 2)
    assert at(after) == ("exam", 0)  # S15 [gap]: it may try again


@engines
def test_s9_four_cards_succeed_without_the_deck(engine: str) -> None:
    s = position(["NNTHGC", "", ""], deck="S")
    after, _ = play(engine, s, "exam nerd thief hacker gift", "gift", "nerd", "thief")
    assert (face_up(after)[0], victory(after)[0], at(after)) == ("NC", "GNTH", ("turn", 1))
    assert (after["deck"], pool(after)) == (s["deck"], "")


@engines
def test_s9_five_cards_and_no_sixth_is_left(engine: str) -> None:
    after, games = play(engine, position(["NTHGC", "", ""], deck="S"), "exam nerd thief hacker gift copycat")
    assert (at(after), cards_of(after["claimed"])) == (("stack", 0), "NTHGC")
    after = act(games, "copycat", "gift", "hacker", "thief")
    assert (face_up(after)[0], victory(after)[0], at(after)) == ("", "CGHTN", ("turn", 1))


@engines
def test_s9_one_type_left_is_the_sixth_card_unasked(engine: str) -> None:
    after, games = play(engine, position(["NNNTHGC", "", ""]), "exam nerd thief hacker gift copycat")
    assert (at(after), cards_of(after["claimed"]), face_up(after)[0]) == (("stack", 0), "NNTHGC", "N")
    after = act(games, "nerd", "thief", "nerd", "copycat", "hacker")
    assert (victory(after)[0], after["scores"][0], at(after)) == ("NTNCHG", 3 + 4, ("turn", 1))


@engines
def test_s9_the_sixth_card_is_chosen_and_mandatory(engine: str) -> None:
    after, games = play(engine, position(["NNTTHGCJ", "", ""]), "exam nerd thief hacker gift copycat")
    assert (at(after), cards_of(after["claimed"]), face_up(after)[0]) == (("sixth", 0), "NTHGC", "NTJ")
    assert after["scores"] == [0, 0, 0]  # S18: claimed cards count nothing
    assert legal_names(games) == {"nerd", "thief", "joker"}
    after = act(games, "thief")
    assert (at(after), cards_of(after["claimed"]), face_up(after)[0]) == (("stack", 0), "NTTHGC", "NJ")


@engines
def test_s9_a_joker_as_the_sixth_card_goes_to_the_bottom(engine: str) -> None:
    """[gap] It may be a joker."""
    s = position(["NTHGCJJ", "", ""], victory=["JN", "", ""])
    after, _ = play(engine, s, "exam nerd thief hacker gift copycat")
    assert at(after) == ("stack", 0)  # only jokers are left: one goes, unasked
    assert (victory(after)[0], cards_of(after["claimed"]), face_up(after)[0]) == ("JJN", "NTHGC", "J")
    s = position(["NNTHGCJ", "", ""], victory=["JN", "", ""])
    after, _ = play(engine, s, "exam nerd thief hacker gift copycat", "joker")
    assert (victory(after)[0], at(after), face_up(after)[0]) == ("JJN", ("stack", 0), "N")


@engines
@pytest.mark.parametrize("jokers", range(5))
def test_s9_jokers_fill_up_an_examination_of_five(engine: str, jokers: int) -> None:
    cheats = "NTHGC"[: 5 - jokers]
    name = "exam " + " ".join(TYPES[kind] for kind in types(cheats + "J" * jokers))
    after, games = play(engine, position([cheats + "J" * jokers, "", ""]), name)
    while after["phase"] == "stack":
        after = act(games, min(legal_names(games), key=TYPES.index))
    assert (victory(after)[0], at(after)) == ("J" * jokers + cheats, ("turn", 1))
    assert after["scores"][0] == 5 - jokers


# ------------------------------------------------------------------------------------------------- S10 stacking


@engines
def test_s10_jokers_go_to_the_very_bottom_before_the_first_choice(engine: str) -> None:
    s = position(["NTJJ", "", ""], victory=["JGH", "", ""])
    after, games = play(engine, s, "exam nerd thief joker joker")
    assert (at(after), victory(after)[0], cards_of(after["claimed"])) == (("stack", 0), "JJJGH", "NT")
    assert legal_names(games) == {"nerd", "thief"}
    after = act(games, "thief")
    assert (victory(after)[0], at(after)) == ("JJJGHTN", ("turn", 1))  # the last one is laid unasked, and is the top


@engines
def test_s10_one_cheat_card_needs_no_choice(engine: str) -> None:
    after, _ = play(engine, position(["GJJ", "", ""], deck="N", victory=["JT", "", ""]), "exam gift joker joker")
    assert (victory(after)[0], at(after), after["decisions"]) == ("JJJTG", ("turn", 1), 1)


@engines
def test_s10_a_sixth_card_of_a_used_type_may_lie_apart_or_together(engine: str) -> None:
    s = position(["NNTHGC", "", ""])
    exam = "exam nerd thief hacker gift copycat"
    after, games = play(engine, s, exam, "nerd", "nerd")
    assert legal_names(games) == {"thief", "hacker", "gift", "copycat"}
    after, games = play(engine, s, exam, "thief", "hacker", "gift", "copycat")
    assert (victory(after)[0], at(after)) == ("THGCNN", ("turn", 1))  # two of one type: no choice is left


@engines
@pytest.mark.parametrize(
    ("own", "pile", "exam", "sixth", "expected"),
    [
        ("NTH", "", "NTH", "", "NTH"),  # all level: the lower type first
        ("NTH", "HH", "NTH", "", "HHHNT"),  # a third hacker is worth 3, the others 1
        ("NTH", "TTH", "NTH", "", "TTHTHN"),  # 3, 2, 1
        ("NTH", "NNNNN", "NTH", "", "NNNNNNTH"),  # the sixth nerd is worth 6
        ("NTH", "NNNNNN", "NTH", "", "NNNNNNTHN"),  # the seventh nothing
        ("NTH", "NNNNNNTTTTTT", "NTH", "", "NNNNNNTTTTTTHNT"),  # two beyond the sixth are level
        ("NTJ", "JTT", "NTJ", "", "JJTTTN"),
        ("NTHGCC", "", "NTHGC", "", "CCNTHG"),  # both copycats are worth 2
        ("NTHGCCN", "", "NTHGC", "N", "NNTHGC"),
        ("NNTHGC", "NNNNN", "NTHGC", "", "NNNNNTHGCNN"),  # sixth and seventh: without one of them six are left
        ("NNTHGC", "CC", "NTHGC", "", "CCCNNTHG"),
        ("NTHGCCJ", "JN", "NTHGC", "J", "JJNNTHGC"),
    ],
)
def test_s10_automatic_stacking_lays_the_most_valuable_first(
    engine: str, own: str, pile: str, exam: str, sixth: str, expected: str
) -> None:
    s = position([own, "", ""], victory=[pile, "", ""], deck="N")
    names = ["exam " + " ".join(TYPES[kind] for kind in types(exam)), *(TYPES[kind] for kind in types(sixth))]
    after, _ = play(engine, s, *names, stack="auto")
    assert (victory(after)[0], at(after)) == (expected, ("turn", 1))


# ------------------------------------------------------------------------------------------------- S11 practice


@engines
def test_s11_the_others_may_lay_a_card_of_a_named_type_or_pass(engine: str) -> None:
    s = position(["NTJG", "NNTGJ", "TC"], deck="H", victory=["", "C", ""])
    after, games = play(engine, s, "exam nerd thief joker", "nerd")
    assert (at(after), after["examinee"], after["exam_types"]) == (("practice", 1), 0, [0, 1])
    assert after["turn_player"] == 0
    assert legal_names(games) == {"stop", "nerd", "thief"}  # no gift, no joker
    after = act(games, "nerd")
    assert (face_up(after)[1], victory(after)[1], after["scores"]) == ("NTGJ", "CN", [2, 2, 0])
    assert at(after) == ("practice", 2)
    assert legal_names(games) == {"stop", "thief"}  # one type, and it may pass: still a decision
    after = act(games, "stop")
    assert (face_up(after)[2], victory(after)[2], at(after)) == ("TC", "", ("turn", 1))
    assert (after["examinee"], after["exam_types"]) == (None, [])


@engines
def test_s11_clockwise_from_the_examinee_without_seats_under_stress_or_without_such_a_card(engine: str) -> None:
    """Seat 3 of six takes it: 4 is under stress, 5 practises, 0 holds nothing named, 1 declines, 2 practises."""
    s = position(["GCJ", "T", "H", "NTHG", "NTH", "N"], deck="J", stress=[0, 0, 0, 0, 1, 0], player=3, pool="C")
    after, games = play(engine, s, "exam nerd thief hacker", "thief", "nerd")
    assert at(after) == ("practice", 5)
    assert at(act(games, "nerd")) == ("practice", 1)
    assert at(act(games, "stop")) == ("practice", 2)
    after = act(games, "hacker")
    assert at(after) == ("turn", 4)
    assert victory(after) == ["", "", "H", "TNH", "", "N"]
    assert pool(after) == "CJ"


@engines
def test_s11_the_sixth_cards_type_does_not_count(engine: str) -> None:
    """[gap] The examination names nerd alone; the sixth card is a thief."""
    s = position(["NJJJJT", "T", "NT"])
    after, games = play(engine, s, "exam nerd joker joker joker joker", "nerd")
    assert (victory(after)[0], at(after)) == ("JJJJNT", ("practice", 2))  # seat 1 has no nerd
    assert legal_names(games) == {"stop", "nerd"}


@engines
def test_s11_no_practice_after_a_failed_examination_and_the_pool_card_names_nothing(engine: str) -> None:
    after, _ = play(engine, position(PLAIN, deck="S"), "exam nerd thief hacker")
    assert at(after) == ("turn", 1)
    after, _ = play(engine, position(["NJJ", "G", "G"], deck="G"), "exam nerd joker joker")
    assert at(after) == ("turn", 1)


# ------------------------------------------------------------------------------------------------- S12 stress


@engines
def test_s12_against_an_opponent_with_cards_which_chooses_what_to_discard(engine: str) -> None:
    s = position(["N", "NTJ", "HH"], stress=[2, 0, 0], victory=["", "C", "C"])
    after, games = play(engine, s)
    assert legal_names(games) == {"draw", "stress +1", "stress +2"}
    after = act(games, "stress +1")
    assert (at(after), after["turn_player"], after["named"], after["to_discard"]) == (("discard", 1), 0, [1], 1)
    assert (after["stress"], after["discard_pile"][STRESS]) == ([1, 0, 0], 1)
    assert legal_names(games) == {"nerd", "thief", "joker"}
    after = act(games, "joker")
    assert (face_up(after), pool(after), at(after)) == (["N", "NT", "HH"], "J", ("relax", 0))
    assert legal_names(games) == {"stop", "stress +2"}  # not twice against the same
    after = act(games, "stress +2")  # one type: unasked, and the last stress card ends the turn
    assert (face_up(after), pool(after), at(after)) == (["N", "NT", "H"], "HJ", ("turn", 1))
    assert (after["stress"], after["discard_pile"][STRESS], victory(after)) == ([0, 0, 0], 2, ["", "C", "C"])


@engines
@pytest.mark.parametrize(
    ("own", "pile", "to_pool", "pile_after"),
    [("", "JN", "N", "J"), ("", "J", "J", ""), ("", "", "", ""), ("G", "N", "G", "N"), ("GG", "", "G", "")],
)
def test_s12_opponents_without_a_choice(engine: str, own: str, pile: str, to_pool: str, pile_after: str) -> None:
    s = position(["", own, ""], stress=[3, 0, 0], victory=["", pile, "H"])
    after, games = play(engine, s, "stress +1")
    assert (pool(after), victory(after), at(after)) == (to_pool, ["", pile_after, "H"], ("relax", 0))
    after = act(games, "stop")
    assert (at(after), after["stress"], after["named"]) == (("turn", 1), [2, 0, 0], [])


@engines
def test_s12_it_ends_by_itself_when_every_opponent_is_named(engine: str) -> None:
    s = position(["N", "", ""], stress=[5, 1, 0])
    after, games = play(engine, s, "stress +2")
    assert (at(after), after["named"]) == (("relax", 0), [2])
    assert legal_names(games) == {"stop", "stress +1"}
    after = act(games, "stress +1")
    assert (at(after), after["stress"], after["discard_pile"][STRESS]) == (("turn", 1), [3, 1, 0], 2)


@engines
def test_s12_opponents_are_named_clockwise_from_the_seat_and_stress_does_not_protect(engine: str) -> None:
    s = position(["N", "T", "H", "G"], stress=[1, 0, 3, 0], player=2)
    after, games = play(engine, s)
    assert legal_names(games) == {"draw", "stress +1", "stress +2", "stress +3"}
    after = act(games, "stress +2")  # seat 0
    assert (face_up(after), after["stress"], pool(after), after["turn_player"]) == (
        ["", "T", "H", "G"], [1, 0, 2, 0], "N", 2,
    )  # fmt: skip
    after = act(games, "stress +1")  # seat 3
    assert (face_up(after), at(after)) == (["", "T", "H", ""], ("relax", 2))
    after = act(games, "stress +3")  # seat 1, the last one
    assert (face_up(after), at(after)) == (["", "", "H", ""], ("turn", 3))


@engines
def test_s12_the_names_of_one_turn_are_forgotten_in_the_next(engine: str) -> None:
    s = position(["", ""], stress=[2, 1])
    after, games = play(engine, s, "stress +1", "stress +1")  # each seat's only opponent
    assert (at(after), after["stress"]) == (("turn", 0), [1, 0])
    assert legal_names(games) == {"draw", "stress +1"}


# ------------------------------------------------------------------------------------------------- S13–S16 a semester


@engines
def test_s15_nobody_can_take_an_examination(engine: str) -> None:
    """Stress and pool are discarded, nobody has too many cards: at once the next seat's turn."""
    s = position(["NT", "NNN", "G"], deck="EC", stress=[1, 2, 0], pool="NNJ", thrown=30, victory=["N", "", ""])
    after, _ = play(engine, s, "draw")
    assert (at(after), after["semester"], after["closing"]) == (("turn", 1), 2, False)
    assert (after["stress"], after["pool"], face_up(after)) == ([0, 0, 0], [0] * 6, ["NT", "NNN", "G"])
    gained = [a - b for a, b in zip(after["discard_pile"], s["discard_pile"], strict=True)]
    assert gained == [2, 0, 0, 0, 0, 1, 3, 1]
    assert victory(after) == ["N", "", ""]


@engines
def test_s15_a_special_in_a_first_draw_or_later_in_the_turn_ends_it_at_once(engine: str) -> None:
    for deck, names in (("EC", ["draw"]), ("NEC", ["draw"] * 2), ("SEC", ["draw"] * 2)):
        s = position(["", "", ""], deck=deck, thrown=30)
        after, _ = play(engine, s, *names)
        assert (at(after), after["semester"], after["stress"], after["stress_drawn"]) == (("turn", 1), 2, [0] * 3, 0)


@engines
def test_s15_the_semester_is_two_as_soon_as_the_special_is_drawn(engine: str) -> None:
    after, _ = play(engine, position(PLAIN, deck="E", thrown=30), "draw")
    assert (after["semester"], after["closing"], at(after), after["turn_player"]) == (2, True, ("exam", 0), 0)
    assert after["discard_pile"][SPECIAL] == 1


@engines
def test_s13_s15_s16_the_order_of_the_examinations(engine: str) -> None:
    """Seat 2 of five draws the special. 2 passes; 3 is under stress; 4 can't; 0 takes one, in which 1 practises its
    only hacker away, so that it can take none when its turn comes."""
    s = position(
        ["NTHG", "NTH", "NTH", "NTH", "NT"],
        deck="EJ",
        stress=[0, 0, 0, 1, 0],
        player=2,
        thrown=30,
    )
    after, games = play(engine, s, "draw")
    assert at(after) == ("exam", 2)
    assert legal_names(games) == {"stop", "exam nerd thief hacker"}
    after = act(games, "stop")
    assert (at(after), after["turn_player"]) == (("exam", 0), 2)
    after = act(games, "exam thief hacker gift", "gift", "hacker")
    assert (at(after), pool(after), after["closing"]) == (("practice", 1), "J", True)
    after = act(games, "hacker")
    assert at(after) == ("practice", 2)  # clockwise from the examinee; 3 is under stress
    after = act(games, "stop")
    assert at(after) == ("practice", 4)
    after = act(games, "thief")
    assert (at(after), after["semester"]) == (("turn", 3), 2)  # 1 is not asked; the seat after the drawer goes on
    assert victory(after) == ["GHT", "H", "", "", "T"]
    assert (after["stress"], after["pool"]) == ([0] * 5, [0] * 6)


@engines
def test_s15_a_failed_examination_leaves_stress_that_goes_with_the_others(engine: str) -> None:
    s = position(["NTH", "NTHJ", "C"], deck="ESS", thrown=30)
    after, games = play(engine, s, "draw", "exam nerd thief hacker")
    assert (at(after), after["stress"], face_up(after)[0]) == (("exam", 1), [1, 0, 0], "NTH")
    after = act(games, "exam nerd thief joker")
    assert at(after) == ("keep", 1)
    assert (after["stress"], after["discard_pile"][STRESS] - s["discard_pile"][STRESS]) == ([0, 0, 0], 2)
    assert after["pool"] == [0] * 6


@engines
def test_s15_a_seat_under_stress_by_its_failed_examination_does_not_practise(engine: str) -> None:
    s = position(["NTH", "NTHG", "C"], deck="ESN", thrown=30)
    after, _ = play(
        engine, s, "draw", "exam nerd thief hacker", "exam nerd thief hacker gift", *["nerd", "thief", "gift"]
    )
    assert (at(after), victory(after)) == (("turn", 1), ["", "NTGH", ""])


@engines
def test_s15_a_seat_whose_examination_the_special_stopped_may_take_one(engine: str) -> None:
    """[gap]"""
    s = position(["NTHG", "", ""], deck="EN", thrown=30)
    after, games = play(engine, s, "exam nerd thief hacker")
    assert (at(after), after["semester"]) == (("exam", 0), 2)
    assert "exam nerd thief hacker gift" in legal_names(games)
    after = act(games, "exam nerd thief hacker", "nerd", "thief")
    assert (at(after), victory(after)[0], face_up(after)[0], pool(after)) == (("turn", 1), "NTH", "G", "")


@engines
def test_s15_everyone_keeps_exactly_three_of_its_own_choice(engine: str) -> None:
    """From the drawer clockwise; of one type unasked; jokers too; three or fewer stay."""
    s = position(
        ["NNNNT", "NNTTJ", "GGGGG", "CCCH", "J"], deck="E", player=1, thrown=30, stress=[0, 1, 0, 0, 0], pool="N"
    )
    after, games = play(engine, s, "draw")
    assert (at(after), after["stress"], pool(after)) == (("keep", 1), [0] * 5, "")  # (2), (3) come before (4)
    assert legal_names(games) == {"nerd", "thief", "joker"}
    after = act(games, "joker")
    assert at(after) == ("keep", 1)
    assert legal_names(games) == {"nerd", "thief"}
    after = act(games, "nerd")
    assert at(after) == ("keep", 3)  # seat 2 lost two gifts, unasked
    after = act(games, "hacker")
    assert at(after) == ("keep", 0)
    after = act(games, "thief")
    assert at(after) == ("turn", 2)
    assert face_up(after) == ["NNN", "NTT", "GGG", "CCC", "J"]
    gained = [a - b for a, b in zip(after["discard_pile"], s["discard_pile"], strict=True)]
    assert gained == [1 + 1 + 1, 1, 1, 2, 0, 1, 1, 1]  # the pool's nerd among them


@engines
def test_s15_a_special_after_a_stress_of_the_same_turn(engine: str) -> None:
    after, games = play(engine, position(["G", "NTH", ""], deck="SECN", thrown=30), "draw", "draw")
    assert (at(after), after["turn_player"], after["stress"]) == (("exam", 1), 0, [1, 0, 0])
    assert (after["stress_drawn"], after["to_discard"], pool(after)) == (0, 0, "G")
    after = act(games, "exam nerd thief hacker", "nerd", "thief")
    assert (at(after), after["stress"], pool(after), victory(after)[1]) == (("turn", 1), [0, 0, 0], "", "NTH")


@engines
def test_s15_a_choice_that_leaves_one_type_settles_what_to_keep(engine: str) -> None:
    s = position(["NTTTTT", "", ""], deck="E", thrown=30)
    after, _ = play(engine, s, "draw", "nerd")
    assert (at(after), face_up(after)[0], after["decisions"]) == (("turn", 1), "TTT", 2)


@engines
def test_s15_practice_at_the_end_of_the_semester_comes_before_the_examination_of_that_seat(engine: str) -> None:
    s = position(["NTHG", "NTHG", ""], deck="E", thrown=30)
    after, games = play(engine, s, "draw", "exam nerd thief hacker gift", "nerd", "thief", "hacker")
    assert at(after) == ("practice", 1)
    after = act(games, "gift")
    assert at(after) == ("exam", 1)
    assert legal_names(games) == {"stop", "exam nerd thief hacker"}


# ------------------------------------------------------------------------------------------------- S17–S19 the end


def second_special(hands: list[str], deck: str = "E", **more: Any) -> dict[str, Any]:
    return position(hands, deck=deck, semester=2, **more)


@engines
def test_s17_final_examinations_then_the_game_is_over(engine: str) -> None:
    s = second_special(["NTHGG", "NT", "NTJ"], "EC", player=1, stress=[0, 1, 0], pool="HH")
    after, games = play(engine, s, "draw")
    assert (at(after), after["semester"], after["closing"], after["turn_player"]) == (("exam", 2), 3, True, 1)
    after = act(games, "stop")
    assert at(after) == ("exam", 0)
    after = act(games, "exam nerd thief hacker", "thief", "nerd")
    assert (at(after), victory(after)[0]) == (("practice", 2), "TNH")
    assert not games.terminated[0]
    after = act(games, "nerd")
    assert games.terminated[0]
    assert not games.truncated[0]
    assert games.scores[0].tolist() == [3, 0, 1]
    assert games.rewards[0].tolist() == [1.0, -1.0, 0.0]
    # R7: everything else keeps its last value
    assert (after["phase"], after["player"], after["semester"], after["turn_player"]) == ("over", None, 3, 1)
    assert (face_up(after), pool(after), after["stress"]) == (["GG", "NT", "TJ"], "HHC", [0, 1, 0])
    assert after["discard_pile"][SPECIAL] == 2
    assert not games.legal.any()
    assert games.player[0] == -1


@engines
def test_s17_without_anybody_able_the_game_ends_with_the_special(engine: str) -> None:
    after, games = play(engine, second_special(["NN", "NT", "JJJJ"], victory=["", "JN", ""]), "draw")
    assert games.terminated[0]
    assert games.scores[0].tolist() == [0, 1, 0]
    assert face_up(after) == ["NN", "NT", "JJJJ"]  # nothing is trimmed any more


@engines
def test_s17_a_seat_whose_examination_the_second_special_stopped_may_take_its_final_one(engine: str) -> None:
    after, games = play(engine, second_special(["NTH", "", ""], "ES"), "exam nerd thief hacker")
    assert (at(after), after["semester"]) == (("exam", 0), 3)
    after = act(games, "exam nerd thief hacker")  # and fails
    assert games.terminated[0]
    assert (after["stress"], face_up(after)[0], games.scores[0].tolist()) == ([1, 0, 0], "NTH", [0, 0, 0])


@engines
@pytest.mark.parametrize(
    ("number", "points"), [(0, 0), (1, 1), (2, 3), (3, 6), (4, 10), (5, 15), (6, 21), (7, 21), (12, 21)]
)
def test_s18_points_of_a_type(engine: str, number: int, points: int) -> None:
    assert type_points(number) == points
    for kind in "NTHGC":
        games = table(engine, position(["", ""], victory=["J" + number * kind, ""]))
        assert games.scores[0].tolist() == [points, 0]


@engines
def test_s18_the_rulebooks_example_has_20_points(engine: str) -> None:
    s = position(["NTHGCJ", "", ""], victory=["JJ" + "HHHH" + "CCC" + "TT" + "N", "", ""], pool="NNN")
    assert table(engine, s).scores[0].tolist() == [20, 0, 0]  # face-up cards count nothing


def ended(engine: str, piles: list[str], reward: str = "placement") -> Batch:
    games = table(engine, second_special([""] * len(piles), victory=piles), reward=reward)
    act(games, "draw")
    assert games.terminated[0]
    return games


@engines
@pytest.mark.parametrize(
    ("piles", "ranks"),
    [
        (["NN", "N", "T"], [1, 2.5, 2.5]),  # a shared second place
        (["T", "NNNNN", "NNNN"], [3, 1, 2]),
        (["JGG", "NTH", "C"], [1.5, 1.5, 3]),  # 3 points and 3 cards each
    ],
)
def test_s19_the_highest_score_wins(engine: str, piles: list[str], ranks: list[float]) -> None:
    assert ended(engine, piles).ranks()[0].tolist() == ranks


@engines
def test_s19_a_tie_goes_to_the_larger_victory_pile_jokers_included(engine: str) -> None:
    games = ended(engine, ["GG", "NTH", "JJGG"])  # 3 points each; 2, 3 and 4 cards
    assert games.scores[0].tolist() == [3, 3, 3]
    assert games.ranks()[0].tolist() == [3, 2, 1]
    assert games.rewards[0].tolist() == [-1.0, 0.0, 1.0]


@engines
def test_s19_points_come_before_cards(engine: str) -> None:
    assert ended(engine, ["NN", "JJJJJT"]).ranks()[0].tolist() == [1, 2]


@engines
@pytest.mark.parametrize(
    ("reward", "expected"),
    [("placement", [0.5, 0.5, -1.0]), ("win", [0.5, 0.5, -1.0]), ("score", [0.1, 0.1, -0.2])],
)
def test_s19_r1_r2_r3_a_shared_win(engine: str, reward: str, expected: list[float]) -> None:
    """Scores 3, 3 and 1, the first two with three cards each."""
    games = ended(engine, ["JGG", "NTH", "N"], reward)
    assert games.ranks()[0].tolist() == [1.5, 1.5, 3]
    np.testing.assert_allclose(games.rewards[0], expected, rtol=1e-6)


@engines
@pytest.mark.parametrize("reward", ["placement", "win", "score"])
def test_s19_when_all_are_level_nobody_gains(engine: str, reward: str) -> None:
    assert ended(engine, ["N", "T", "H", "G"], reward).rewards[0].tolist() == [0.0] * 4


@engines
@pytest.mark.parametrize(
    ("reward", "expected"),
    [
        ("placement", [-1.0, 1 / 3, 1.0, -1 / 3]),
        ("win", [-1 / 3, -1 / 3, 1.0, -1 / 3]),
        ("score", [(0 - 10 / 3) / 10, (3 - 7 / 3) / 10, (6 - 4 / 3) / 10, (1 - 3) / 10]),
    ],
)
def test_r1_r2_r3_four_players(engine: str, reward: str, expected: list[float]) -> None:
    """Scores 0, 3, 6, 1."""
    np.testing.assert_allclose(ended(engine, ["", "NN", "TTT", "G"], reward).rewards[0], expected, rtol=1e-6, atol=1e-7)


# ------------------------------------------------------------------------------------------------- S20 knowledge


@engines
@pytest.mark.parametrize("viewer", range(3))
def test_s20_everything_but_the_decks_order_is_known_to_every_seat(engine: str, viewer: int) -> None:
    s = position(
        ["NTJ", "HH", ""], deck="SNG", stress=[0, 2, 1], victory=["JN", "GCTTH", ""], pool="NCC", thrown=5, player=1
    )
    view = table(engine, s).view(viewer)
    order = [(viewer + distance) % 3 for distance in range(3)]
    assert view.face_up[:, :, 0].tolist() == [s["face_up"][seat] for seat in order]
    assert view.stress[:, 0].tolist() == [s["stress"][seat] for seat in order]
    assert view.victory[:, :, 0].tolist() == [counts(letters(s["victory"][seat])) for seat in order]
    top = {0: [0, 5, 8, 8], 1: [2, 1, 1, 4], 2: [8] * 4}
    assert view.top_cards[:, :, 0].tolist() == [top[seat] for seat in order]
    assert view.scores[:, 0].tolist() == [s["scores"][seat] for seat in order]
    assert view.pool[:, 0].tolist() == s["pool"]
    assert view.discard_pile[:, 0].tolist() == s["discard_pile"]
    assert view.deck[:, 0].tolist() == [s["deck"].count(kind) for kind in range(8)]
    assert int(view.deck_size[0]) == len(s["deck"])
    assert (int(view.actor[0]), int(view.turn_player[0])) == ((1 - viewer) % 3,) * 2
    assert int(view.semester[0]) == 1


@engines
def test_s20_the_order_of_the_deck_is_in_no_view(engine: str) -> None:
    ordered = position(["NTJ", "HH", ""], victory=["JN", "", ""], stress=[1, 0, 0])
    shuffled = position(["NTJ", "HH", ""], victory=["JN", "", ""], stress=[1, 0, 0], shuffle=1)
    assert ordered["deck"] != shuffled["deck"]
    for encoder in ("flat", "bits", "text"):
        for seat in range(3):
            assert np.array_equal(
                table(engine, ordered).observe(encoder, seat=seat), table(engine, shuffled).observe(encoder, seat=seat)
            )


@engines
def test_s20_odds_of_the_next_card(engine: str) -> None:
    """With three players 45 … 55 cards of 101 lay above the first special at the start: it is the 46th … 56th."""
    games = school_v0.batch(1, seed=2, engine=engine)
    met = 0
    while games.player[0] >= 0:
        view, s = games.view(), games.snapshot(0)
        gone, specials = 101 - len(s["deck"]), s["deck"].count(SPECIAL)
        expected = 0.0
        if specials == 2 and gone >= 45:
            expected = 1 / (56 - gone)
        if specials == 1 and len(s["deck"]) == 11:
            expected = 1.0
        assert float(view.special_odds[0]) == pytest.approx(expected)
        stress = s["deck"].count(STRESS) / (len(s["deck"]) - specials) * (1 - expected)
        assert float(view.stress_odds[0]) == pytest.approx(stress)
        met += expected > 0
        games.step([int(games.legal[0].argmax())])  # draws where it can
    assert met >= 2


# ------------------------------------------------------------------------------------------------- R4–R7


@engines
def test_r6_a_game_is_truncated_after_its_last_decision(engine: str) -> None:
    games = school_v0.batch(1, seed=1, engine=engine, max_cycles=7, reward="score")
    for decision in range(21):
        assert not games.truncated[0]
        assert games.player[0] >= 0
        before = games.snapshot(0)
        games.step([int(games.legal[0].nonzero()[0][-1])])
        assert games.snapshot(0)["decisions"] == decision + 1
    assert games.truncated[0]
    assert not games.terminated[0]
    assert games.rewards[0].tolist() == [0.0] * 3
    after = games.snapshot(0)
    assert (after["phase"], after["player"], after["truncated"]) == ("over", None, True)
    assert before["phase"] != "over"
    assert not games.legal.any()


@engines
def test_r6_r7_truncation_in_the_middle_of_an_examination_keeps_everything(engine: str) -> None:
    s = position(["NTHGCJ", "NT", "NT"], decisions=29)
    after, games = play(engine, s, "exam nerd thief hacker gift copycat", max_cycles=10)
    assert games.truncated[0]
    assert (cards_of(after["claimed"]), victory(after)[0], face_up(after)[0]) == ("NTHGC", "J", "")
    assert (after["examinee"], after["exam_types"], after["turn_player"]) == (0, [0, 1, 2, 3, 4], 0)
    assert games.scores[0].tolist() == [0, 0, 0]
    again = table(engine, after, max_cycles=10)
    assert again.snapshot(0) == after
    assert again.truncated[0]


@engines
@pytest.mark.parametrize("reward", ["placement", "score"])
def test_r6_a_game_that_ends_by_the_rules_with_its_last_decision_is_terminated(engine: str, reward: str) -> None:
    s = second_special(["", "", ""], victory=["NN", "", ""], decisions=29)
    after, games = play(engine, s, "draw", max_cycles=10, reward=reward)
    assert games.terminated[0]
    assert not games.truncated[0]
    assert (after["truncated"], after["decisions"]) == (False, 30)
    np.testing.assert_allclose(games.rewards[0], [1.0, -0.5, -0.5] if reward == "placement" else [0.3, -0.15, -0.15])


@engines
def test_r6_a_last_decision_that_ends_the_first_semester_truncates(engine: str) -> None:
    s = position(["NNNN", "", ""], deck="E", thrown=30, pool="N", stress=[1, 0, 0], decisions=29)
    after, games = play(engine, s, "draw", max_cycles=10)
    assert games.truncated[0]
    assert (after["semester"], after["stress"], pool(after), face_up(after)[0]) == (2, [0, 0, 0], "", "NNN")


def test_r6_the_default_bound() -> None:
    assert Rules().max_decisions == 3000
    assert Rules(num_players=6).max_decisions == 6000
    assert Rules(num_players=5, max_cycles=7).max_decisions == 35


@engines
def test_r4_an_illegal_action_changes_nothing_and_the_error_names_everything(engine: str) -> None:
    games = school_v0.batch(3, num_players=4, seed=1, engine=engine)
    s = position(["N", "", "", ""], stress=[1, 0, 0, 0], pool="J", phase="turn")
    games.restore(1, s)
    before = [games.snapshot(i) for i in range(3)]
    message = (
        r"school_v0, game 1, seat 0, phase turn: action 1 \(stop\) is illegal; "
        r"legal are 0 \(draw\), 7 \(joker\), 8 \(stress \+1\), 9 \(stress \+2\), 10 \(stress \+3\)$"
    )
    with pytest.raises(easyenvs.IllegalActionError, match=message) as caught:
        games.step([0, 1, 0])
    assert isinstance(caught.value, ValueError)
    for wrong in (-1, 11, 12, 13, 99, 10**6):  # 11: seat 0 itself with four players; 13: an examination
        with pytest.raises(easyenvs.IllegalActionError, match=f"game 1, seat 0, phase turn: action {wrong} "):
            games.step([0, wrong, 0])
    assert [games.snapshot(i) for i in range(3)] == before


@engines
def test_r4_raw_env_names_everything_too(engine: str) -> None:
    env = school_v0.raw_env(engine=engine)
    env.reset(seed=1, options={"snapshot": position(["N", "", ""])})
    before = env.snapshot()
    with pytest.raises(
        easyenvs.IllegalActionError, match=r"school_v0, seat 0, phase turn: action 2 \(nerd\) is illegal"
    ):
        env.step(2)
    assert env.snapshot() == before


@engines
def test_r5_the_same_seed_and_decisions_give_the_same_game_alone_or_in_a_batch(engine: str) -> None:
    many = school_v0.batch(7, seed=[5, 6, 7, 8, 9, 10, 11], engine=engine)
    alone = school_v0.batch(1, seed=[9], engine=engine)
    rng = np.random.default_rng(1)
    while many.player[4] >= 0:
        actions = (rng.random(many.legal.shape) * many.legal).argmax(axis=1)
        many.step(actions)
        alone.step(actions[4:5])
        assert many.snapshot(4) == alone.snapshot(0)
    assert alone.terminated[0]


@engines
def test_r5_play_never_changes_the_deck(engine: str) -> None:
    """Chance is in the deal alone: whatever is played, the deck only loses its top cards."""
    games = school_v0.batch(30, seed=[5] * 30, engine=engine)
    deck = games.snapshot(0)["deck"]
    rng = np.random.default_rng(2)
    for _ in range(120):
        games.step((rng.random(games.legal.shape) * games.legal).argmax(axis=1))
    lengths = set()
    for i in range(30):
        left = games.snapshot(i)["deck"]
        assert left == deck[len(deck) - len(left) :]
        lengths.add(len(left))
    assert len(lengths) > 5


# ------------------------------------------------------------------------------------------------- the action table


def test_the_action_table_is_as_specified() -> None:
    notation = school_v0.GAME.notation
    names = notation.ACTION_NAMES
    assert len(names) == NUM_ACTIONS == 99
    assert names[:8] == ("draw", "stop", "nerd", "thief", "hacker", "gift", "copycat", "joker")
    assert names[8:13] == tuple(f"stress +{distance}" for distance in range(1, 6))
    exams = [
        (types_, jokers)
        for size in (3, 4, 5)
        for jokers in range(size)
        for types_ in itertools.combinations(range(5), size - jokers)
    ]
    assert len(exams) == 25 + 30 + 31 == 86
    assert list(EXAMS) == exams
    for action, (types_, jokers) in enumerate(exams, 13):
        assert names[action] == " ".join(["exam", *(TYPES[t] for t in types_), *["joker"] * jokers])
    assert names[13] == "exam nerd thief hacker"
    assert names[13 + 10] == "exam nerd thief joker"
    assert names[98] == "exam copycat joker joker joker joker"
    assert school_v0.batch(1, num_players=6).num_actions == 99


def test_names_are_read_back_whatever_their_case_and_spaces() -> None:
    env = school_v0.raw_env()
    for action, name in enumerate(school_v0.GAME.notation.ACTION_NAMES):
        assert env.action_name(action) == name
        assert env.parse_action(name) == action
        assert env.parse_action(f"  {name.upper()}  ".replace(" ", "  ")) == action
    assert env.parse_action("exam joker gift nerd") == env.parse_action("exam nerd gift joker")
    assert env.parse_action("stress+2") == env.parse_action("Stress  +2") == 9
    for text in (
        "",
        "exam",
        "exam nerd thief",
        "exam nerd nerd thief",
        "exam joker joker joker",
        "stress",
        "stress +6",
        "semester end",
    ):
        with pytest.raises(ValueError, match="is no action of school_v0"):
            env.parse_action(text)
    with pytest.raises(TypeError, match="is no action's name"):
        env.parse_action(3)
    for wrong in (-1, 99, 1.5, True):
        with pytest.raises(ValueError, match="ids are 0 … 98"):
            env.action_name(wrong)
