"""Snapshots of Easy School: what is corrupt or impossible is refused and changes nothing; what is accepted plays on, to
the end, alike on both engines."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import easyenvs
from easyenvs import school_v0
from easyenvs.core import chance
from easyenvs.core.batch import Batch
from easyenvs.school_v0.cards import EXAMS, NUM_CHEATS, SPECIAL, STRESS, TYPES, Action, Phase, type_points
from easyenvs.school_v0.notation import NEEDED, OPTIONAL_KEYS, REQUIRED_KEYS
from tests.school_v0.positions import ENGINES, counts, position, table, types

quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
PHASES = tuple(phase.name.lower() for phase in Phase)


def state_of(games: Batch) -> Any:
    """Everything that must not change."""
    return (
        [games.snapshot(i) for i in range(games.num_games)],
        games.legal.tolist(),
        games.rewards.tolist(),
        games.terminated.tolist(),
        games.truncated.tolist(),
        games.final_scores.tolist(),
        games.game_index.tolist(),
    )


# ------------------------------------------------------------------------------------------------- a good one a phase

GOOD: dict[str, dict[str, Any]] = {
    "turn": position(["NTH", "GGJ", "C"], stress=[0, 1, 2], victory=["JNN", "", "T"], pool="NH"),
    "draw": position(["NTH", "GGJ", "C"], stress=[1, 0, 0], phase="draw", stress_drawn=1),
    "discard": position(
        ["NTHJ", "GGJ", "C"], stress=[2, 0, 0], phase="discard", stress_drawn=2, to_discard=2, named=[]
    ),
    "sixth": position(["NT", "GGJ", "C"], claimed="NTHGC", phase="sixth", exam_types=[0, 1, 2, 3, 4], closing=False),
    "stack": position(
        ["NT", "GGJ", "C"], claimed="THG", victory=["JN", "", ""], phase="stack", exam_types=[0, 1, 2, 3], closing=False
    ),
    "practice": position(
        ["NTH", "NGGJ", "C"], phase="practice", player=1, turn_player=0, examinee=0, exam_types=[0, 1, 2], closing=False
    ),
    "relax": position(["NTH", "GGJ", "C"], stress=[1, 0, 0], phase="relax", named=[2], thrown=30),
    "exam": position(
        ["NTH", "GGJ", "NTJ"], stress=[1, 0, 0], phase="exam", player=2, turn_player=1, semester=2, thrown=40
    ),
    "keep": position(["NTH", "GGJ", "NTJHH"], phase="keep", player=2, turn_player=1, semester=2, thrown=40),
    "over": position(["NTH", "GGJ", "C"], stress=[1, 0, 0], phase="over", player=None, semester=3),
}
STRESSED = {  # a discard because of played stress
    **position(["NTH", "GGJ", "C"], stress=[1, 0, 0], phase="discard", player=1, turn_player=0, thrown=30),
    "stress_drawn": 0, "to_discard": 1, "named": [1],
}  # fmt: skip
FINAL = position(["NTH", "GGJ", "NTJ"], phase="exam", player=0, turn_player=1, semester=3)


def changed(of: str = "turn", /, **values: Any) -> dict[str, Any]:
    return {**copy.deepcopy(GOOD[of]), **values}


def without(key: str, phase: str = "turn") -> dict[str, Any]:
    return {k: v for k, v in GOOD[phase].items() if k != key}


def swapped(snapshot: dict[str, Any], one: int, other: int) -> dict[str, Any]:
    """Two cards of the deck change places."""
    deck = list(snapshot["deck"])
    deck[one], deck[other] = deck[other], deck[one]
    return {**snapshot, "deck": deck}


def short(snapshot: dict[str, Any], number: int) -> dict[str, Any]:
    """So many cards of the deck's bottom lie on the discard pile."""
    deck, discards = list(snapshot["deck"]), list(snapshot["discard_pile"])
    for _ in range(number):
        discards[deck.pop()] += 1
    return {**snapshot, "deck": deck, "discard_pile": discards}


def test_the_good_snapshots_are_good_and_there_is_one_a_phase() -> None:
    assert tuple(GOOD) == PHASES
    for snapshot in (*GOOD.values(), STRESSED, FINAL):
        restored = []
        for engine in ENGINES:
            games = table(engine, snapshot)
            restored.append(games.snapshot(0))
            games.restore(0, games.snapshot(0))
            assert games.snapshot(0) == restored[-1]
            assert games.legal.any() == (snapshot["phase"] != "over")
        assert restored[0] == restored[1]
        for key, value in snapshot.items():
            assert restored[0][key] == value, key


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("phase", "key"), [(phase, key) for phase, keys in NEEDED.items() for key in keys])
def test_what_a_phase_needs_is_named(engine: str, phase: str, key: str) -> None:
    games = school_v0.batch(1, seed=1, engine=engine)
    before = state_of(games)
    with pytest.raises(easyenvs.SnapshotError, match=f"the key '{key}' is missing: phase '{phase}' needs it"):
        games.restore(0, without(key, phase))
    assert state_of(games) == before


def test_the_listed_keys_alone_suffice_in_the_other_phases() -> None:
    assert set(NEEDED) == {"draw", "discard", "sixth", "stack", "practice", "relax"}
    for phase in ("turn", "exam", "keep", "over"):
        assert set(GOOD[phase]) == {"game", "num_players", *REQUIRED_KEYS}
        for engine in ENGINES:
            games = school_v0.batch(1, seed=1, engine=engine)
            seed = int(games.seeds[0])
            games.restore(0, GOOD[phase])
            assert games.snapshot(0)["seed"] == seed  # without a seed the row's serves
            assert set(games.snapshot(0)) == {"game", "num_players", "rules", "version", *REQUIRED_KEYS, *OPTIONAL_KEYS}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("key", REQUIRED_KEYS)
def test_every_listed_key_is_needed(engine: str, key: str) -> None:
    with pytest.raises(easyenvs.SnapshotError, match=f"the key '{key}' is missing"):
        table(engine, without(key))


# ------------------------------------------------------------------------------------------------- bad ones

BAD: dict[str, tuple[Any, str]] = {
    "not a dict": (None, "a dict is accepted"),
    "a list": ([1, 2], "a dict is accepted"),
    "other game": (changed(game="peasy_v0"), "game is 'peasy_v0', but 'school_v0'"),
    "no game": (without("game"), "key 'game' is missing"),
    "other players": (changed(num_players=4), "num_players is 4, but 3"),
    "players of no kind": (changed(num_players=3.0), r"num_players is 3\.0, but 3"),
    "unknown key": (changed(hands=[]), "'hands' is unknown"),
    "other rules": (changed(rules={"stack": "auto", "max_cycles": None}), "stack='auto', but stack='choose'"),
    "rules missing": (changed(rules={"stack": "choose"}), "max_cycles"),
    "rules of no kind": (changed(rules=[3]), "rules is"),
    # phase and seats
    "phase": (changed(phase="bonus"), "phase is 'bonus'; one of 'turn', 'draw'"),
    "phase of no kind": (changed(phase=0), "phase is 0"),
    "phase in capitals": (changed(phase="TURN"), "phase is 'TURN'"),
    "player": (changed(player=3), "player is 3; an integer 0 … 2"),
    "player bool": (changed(player=True), "player is True"),
    "player float": (changed(player=0.0), r"player is 0\.0"),
    "no player": (changed(player=None), "player is None in phase 'turn'"),
    "player at the end": (changed("over", player=0), "player is 0 in phase 'over'"),
    "other seat's turn": (changed(player=1), "player is 1 in phase 'turn', but it is the turn of seat 0"),
    "other seat draws": (changed("draw", player=1), "player is 1 in phase 'draw', but it is the turn of seat 0"),
    "other seat relaxes": (changed("relax", player=1), "player is 1 in phase 'relax', but"),
    "turn player": (changed(turn_player=-1), "turn_player is -1"),
    "turn of nobody": (changed(turn_player=None), "turn_player is None"),
    # cards
    "a card too many": (changed(pool=counts("NHH")), "there are 15 cards of the type hacker in all; the game has 14"),
    "a card missing": (changed(pool=counts("N")), "there are 13 cards of the type hacker in all"),
    "a card for another": (changed(pool=counts("NN")), "17 cards of the type nerd"),
    "a stress card too many": (changed(stress=[1, 1, 2]), "23 cards of the type stress"),
    "a deck without a card": (changed(deck=GOOD["turn"]["deck"][1:]), "cards of the type nerd"),
    "three specials": (changed(deck=[SPECIAL, *GOOD["turn"]["deck"]]), "3 cards of the type semester end"),
    "deck of no kind": (changed(deck="NTH"), "deck is 'NTH'; a list"),
    "an unknown type": (changed(deck=[8, *GOOD["turn"]["deck"][1:]]), r"deck\[0\] is 8; an integer 0 … 7"),
    "a float card": (changed(deck=[0.0, *GOOD["turn"]["deck"][1:]]), r"deck\[0\] is 0\.0"),
    "a bool card": (changed(deck=[False, *GOOD["turn"]["deck"][1:]]), r"deck\[0\] is False"),
    "face-up of two": (changed(face_up=GOOD["turn"]["face_up"][:2]), "face_up is .* a list of 3"),
    "face-up of five types": (changed(face_up=[[1, 1, 1, 0, 0]] * 3), r"face_up\[0\] is .* a list of 6"),
    "negative face-up": (changed(face_up=[[-1, 0, 0, 0, 0, 0]] * 3), r"face_up\[0\]\[0\] is -1; an integer 0 … 16"),
    "stress of two": (changed(stress=[1, 1]), "stress is .* a list of 3"),
    "negative stress": (changed(stress=[-1, 2, 2]), r"stress\[0\] is -1"),
    "stress in a victory pile": (
        changed(victory=[[5, 0, 0], [STRESS], [1]]),
        r"victory\[1\]\[0\] is 6; an integer 0 … 5",
    ),
    "victory of two": (changed(victory=[[], []]), "victory is .* a list of 3"),
    "a joker on top": (
        changed(victory=[[0, 0, 5], [], [1]]),
        r"victory\[0\] is \[0, 0, 5\]; jokers \(5\) lie at the very bottom",
    ),
    "a joker in between": (changed(victory=[[0, 5, 0], [], [1]]), r"jokers \(5\) lie at the very bottom"),
    "pool of eight": (changed(pool=[0] * 8), "pool is .* a list of 6"),
    "discards of six": (changed(discard_pile=[0] * 6), "discard_pile is .* a list of 8"),
    "discards text": (changed(discard_pile=["0"] * 8), r"discard_pile\[0\] is '0'"),
    "scores": (changed(scores=[3, 0, 2]), r"scores\[2\] is 2, but the victory pile is worth 1"),
    "scores of two": (changed(scores=[3, 0]), "scores is"),
    "negative scores": (changed(scores=[3, -1, 1]), r"scores\[1\] is -1"),
    # the deck
    "nine cards under the last special": (
        swapped(GOOD["turn"], -11, -10),
        "exactly 10 cards lie under the last special",
    ),
    "eleven cards under it": (swapped(GOOD["turn"], -11, -12), "exactly 10 cards lie under the last special"),
    "a special among the last ten": (
        swapped(GOOD["turn"], GOOD["turn"]["deck"].index(SPECIAL), -3),
        "exactly 10 cards lie under the last special",
    ),
    "ten under neither": (swapped(GOOD["exam"], -11, -5), "exactly 10 cards lie under the last special"),
    "semester 2 too early": (changed(semester=2), "semester is 2, but 0 of the two specials are on the discard pile"),
    "semester 1 too late": (changed("keep", semester=1), "semester is 1, but 1 of the two specials"),
    "semester 0": (changed(semester=0), "semester is 0"),
    "semester 4": (changed("over", semester=4), "semester is 4"),
    "too few cards left at the end": (short(GOOD["over"], 4), "the deck has 6 cards after the second special; 7 … 10"),
    "cards gone that nobody can have turned up": (short({**FINAL, "player": 2}, 2), "the deck has 8 cards"),
    # what a phase has to do
    "claimed in a turn": (
        changed(claimed=counts("N"), pool=counts("H")),
        r"claimed is \[1, 0, 0, 0, 0, 0\] in phase 'turn'",
    ),
    "five claimed of a type": (changed("sixth", claimed=counts("NNNNN")), r"claimed\[0\] is 5; an integer 0 … 4"),
    "three claimed of a type": (
        position(["NT", "", ""], claimed="NNNTH", phase="sixth", exam_types=[0, 1, 2], closing=False),
        "claimed are 3 nerd",
    ),
    "two sixth cards": (
        position(["NT", "", ""], claimed="NNTTH", phase="stack", exam_types=[0, 1, 2, 3], closing=False),
        "claimed are 2 nerd, 2 thief, 1 hacker",
    ),
    "to_discard in a turn": (changed(to_discard=1), "to_discard is 1 in phase 'turn'"),
    "to_discard 3": (changed("discard", to_discard=3), "to_discard is 3; an integer 0 … 2"),
    "stress_drawn in a turn": (changed(stress_drawn=1), "stress_drawn is 1 in phase 'turn'"),
    "stress_drawn bool": (changed("draw", stress_drawn=True), "stress_drawn is True"),
    "two stress cards and still drawing": (
        position(["NTH", "", ""], stress=[2, 0, 0], phase="draw", stress_drawn=2),
        "stress_drawn is 2 in phase 'draw'",
    ),
    "more stress drawn than there is": (
        position(["NTH", "", ""], phase="draw", stress_drawn=1),
        "seat 0 has drawn 1 stress cards .* but holds 0",
    ),
    "more stress drawn than there is, discard": (
        position(["NTH", "", ""], stress=[1, 0, 0], phase="discard", stress_drawn=2, to_discard=2, named=[]),
        "seat 0 has drawn 2 stress cards .* but holds 1",
    ),
    "named in a turn": (changed(named=[1]), r"named is \[1\] in phase 'turn'"),
    "named twice": (changed("relax", named=[1, 1]), "named is .* may stand there once"),
    "named itself": (changed("relax", named=[0]), r"named\[0\] is 0; an integer 1 … 2"),
    "named of no kind": (changed("relax", named=None), "named is None; a list"),
    "nobody named in relax": (changed("relax", named=[]), r"named is \[\] in phase 'relax'"),
    "everybody named in relax": (changed("relax", named=[1, 2]), "no stress card or no unnamed opponent is left"),
    "no stress left in relax": (
        position(["NTH", "GGJ", "C"], phase="relax", named=[2], thrown=30),
        "no stress card or no unnamed opponent is left",
    ),
    "named without a stress card played": (
        position(["NTH", "GGJ", "C"], stress=[1, 0, 0], phase="relax", named=[2]),
        "named is .* but 0 stress cards",
    ),
    "examinee in a turn": (changed(examinee=0), "there is an examination, but the phase is 'turn'"),
    "exam_types in a turn": (changed(exam_types=[0]), "there is an examination, but the phase is 'turn'"),
    "exam_types of jokers": (changed("stack", exam_types=[5]), r"exam_types\[0\] is 5"),
    "exam_types twice": (changed("stack", exam_types=[1, 1]), "exam_types is .* may stand there once"),
    "closing in a turn": (changed(closing=True), "closing is True in phase 'turn'"),
    "closing of no kind": (changed("stack", closing=0), "closing is 0; True or False"),
    "not closing in exam": (changed("exam", closing=False), "closing is False in phase 'exam'"),
    "not closing in keep": (changed("keep", closing=False), "closing is False in phase 'keep'"),
    "closing in semester 1": (changed("practice", closing=True), "closing is True in semester 1"),
    "a turn after the second special": (
        position(["NTH", "", ""], semester=3),
        "semester is 3 in phase 'turn': .* only final examinations",
    ),
    "keep after the second special": (
        position(["NTHH", "", ""], phase="keep", semester=3),
        "semester is 3 in phase 'keep'",
    ),
    "nothing to discard": (changed("discard", to_discard=0), "has nothing to choose: it owes 0 of 4 cards"),
    "all to discard": (
        position(["NT", "", ""], stress=[2, 0, 0], phase="discard", stress_drawn=2, to_discard=2, named=[]),
        "has nothing to choose: it owes 2 of 2 cards",
    ),
    "one type to discard": (
        position(["NNN", "", ""], stress=[2, 0, 0], phase="discard", stress_drawn=2, to_discard=2, named=[]),
        "has nothing to choose: it owes 2 of 3 cards",
    ),
    "owes more than drawn": (changed("discard", stress_drawn=1), "a seat owes as many cards as it has drawn"),
    "owes without stress": (changed("discard", stress_drawn=0), "a seat owes as many cards as it has drawn"),
    "another seat owes": (
        {**STRESSED, "named": [], "stress_drawn": 1},
        "phase is 'discard' for seat 1 in the turn of seat 0",
    ),
    "owes two of one stress card": (
        position(
            ["", "NTH", ""],
            phase="discard",
            player=1,
            turn_player=0,
            stress_drawn=0,
            to_discard=2,
            named=[1],
            thrown=30,
        ),
        "one of those owes 1 card",
    ),
    "owes but is not named": ({**STRESSED, "named": [2]}, "one of those owes 1 card"),
    "owes by drawn and by played stress": ({**STRESSED, "stress_drawn": 1}, "one of those owes 1 card"),
    "four claimed before the sixth": (
        position(["NTH", "", ""], claimed="NTHG", phase="sixth", exam_types=[0, 1, 2, 3], closing=False),
        "five cards are not claimed",
    ),
    "no choice of the sixth": (
        position(["NN", "", ""], claimed="NTHGC", phase="sixth", exam_types=[0, 1, 2, 3, 4], closing=False),
        "nothing to choose",
    ),
    "claimed other types": (changed("sixth", exam_types=[0, 1]), r"exam_types is \[0, 1\], but claimed are"),
    "five claimed, one type twice": (
        position(["NT", "", ""], claimed="NNTHG", phase="sixth", exam_types=[0, 1, 2, 3], closing=False),
        "claimed are",
    ),
    "a claimed joker in stack": (
        position(["", "", ""], claimed="NTJ", phase="stack", exam_types=[0, 1], closing=False),
        "there is no order to choose",
    ),
    "one type in stack": (
        position(["", "", ""], claimed="NN", phase="stack", exam_types=[0, 1], closing=False),
        "there is no order to choose",
    ),
    "claimed what was never named": (
        position(["", "", ""], claimed="NTH", phase="stack", exam_types=[3], closing=False),
        "claimed are",
    ),
    "no examination in stack": (changed("stack", exam_types=[]), r"exam_types is \[\] in phase 'stack'"),
    "other examinee in stack": (changed("stack", examinee=1), "examinee is 1 in phase 'stack', but seat 0"),
    "nobody's examination in practice": (changed("practice", examinee=None), "examinee is None in phase 'practice'"),
    "own examination in practice": (changed("practice", examinee=1), "examinee is 1 in phase 'practice'"),
    "examinee": (changed("practice", examinee=3), "examinee is 3"),
    "practice in the turn of a third": (
        changed("practice", turn_player=2),
        "in the turn of seat 2, and no semester ends",
    ),
    "practice under stress": (
        {
            **position(["", "N", ""], stress=[0, 1, 0], phase="practice", player=1),
            "turn_player": 0,
            "examinee": 0,
            "exam_types": [0],
            "closing": False,
        },
        "seat 1 is under stress or holds none",
    ),
    "practice without such a card": (changed("practice", exam_types=[1, 2]), "holds none of the named types"),
    "an examinee under stress": (
        {
            **position(["", "N", ""], stress=[1, 0, 0], phase="practice", player=1),
            "turn_player": 0,
            "examinee": 0,
            "exam_types": [0],
            "closing": False,
        },
        "seat 0 takes an examination under stress",
    ),
    "exam under stress": (changed("exam", player=0), "seat 0 is under stress or can take no examination"),
    "exam without cards": (changed("exam", player=1), "seat 1 is under stress or can take no examination"),
    "exam with jokers alone": (
        position(["JJJJ", "", ""], phase="exam", semester=2),
        "seat 0 is under stress or can take no examination",
    ),
    "keep with three": (changed("keep", player=0), "seat 0 has nothing to choose: 1 nerd, 1 thief, 1 hacker"),
    "keep of one type": (position(["NNNN", "", ""], phase="keep", semester=2), "seat 0 has nothing to choose"),
    "keep with a pool": (
        position(["NNNT", "", ""], pool="C", phase="keep", semester=2),
        "the pool and the stress cards",
    ),
    "keep under stress": (
        position(["NNNT", "", ""], stress=[0, 1, 0], phase="keep", semester=2),
        "the pool and the stress cards",
    ),
    # the end
    "negative decisions": (changed(decisions=-1), "decisions is -1"),
    "late": (changed(decisions=3000), "fewer than 3000"),
    "decisions float": (changed(decisions=1.0), r"decisions is 1\.0"),
    "seed": (changed(seed=2**64), "seed is"),
    "seed float": (changed(seed=1.0), r"seed is 1\.0"),
    "truncated in play": (changed(truncated=True), "truncated is True, but phase is not 'over'"),
    "truncated of no kind": (changed("over", truncated=1), "truncated is 1"),
    "truncated too early": (changed("over", truncated=True), "truncated is True after 0 decisions"),
    "over too early": (
        position(["", "", ""], phase="over", player=None, semester=2),
        "phase is 'over' in semester 2: a game ends after",
    ),
    "over with claimed cards": (
        position(["", "", ""], claimed="NT", phase="over", player=None, semester=3),
        r"claimed is \[1, 1, 0, 0, 0, 0\]",
    ),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("engine", ENGINES)
def test_bad_snapshots_change_nothing(name: str, engine: str) -> None:
    snapshot, message = BAD[name]
    games = school_v0.batch(2, seed=1, engine=engine)
    before = state_of(games)
    with pytest.raises(easyenvs.SnapshotError, match=message):
        games.restore(1, snapshot)
    assert state_of(games) == before
    env = school_v0.env(engine=engine)
    calls: list[Callable[[], object]] = [
        lambda: env.restore(snapshot),
        lambda: env.reset(options={"snapshot": snapshot}),
    ]
    for call in calls:
        with pytest.raises(easyenvs.SnapshotError, match=message):
            call()
    assert not hasattr(env, "agents")
    env.reset(seed=3)
    env.step(0)
    before_env, infos, player = env.snapshot(), env.infos, env.agent_selection
    calls.append(lambda: env.reset(seed=9, options={"snapshot": snapshot}))
    for call in calls:
        with pytest.raises(easyenvs.SnapshotError, match=message):
            call()
    assert (env.snapshot(), env.agent_selection) == (before_env, player)
    assert env.infos == infos
    env.reset()
    assert env.snapshot()["seed"] == chance.next_seed(3, 1)  # the stream goes on as if nothing had been


@pytest.mark.parametrize("jokers", range(5))
@pytest.mark.parametrize("engine", ENGINES)
def test_a_sixth_card_after_up_to_four_jokers_goes_round(engine: str, jokers: int) -> None:
    cards = "NTHGC"[: 5 - jokers] + "J" * jokers
    games = table(engine, position([cards + "NC", "", ""]))
    games.step([school_v0.GAME.notation.parse_action("exam " + " ".join(TYPES[kind] for kind in types(cards)))])
    snapshot = games.snapshot(0)
    assert (snapshot["phase"], snapshot["claimed"]) == ("sixth", counts(cards))
    assert table(engine, snapshot).snapshot(0) == snapshot
    for other, named in (("N", "nerd"), ("C", "copycat")):
        after = table(engine, snapshot)
        after.step([school_v0.GAME.notation.parse_action(named)])
        expected = [a + b for a, b in zip(counts(cards), counts(other), strict=True)]
        expected[-1] = 0  # S10: the jokers lie in the victory pile already
        assert after.snapshot(0)["claimed"] == (expected if sum(n > 0 for n in expected) > 1 else [0] * 6)
        assert table(engine, after.snapshot(0)).snapshot(0) == after.snapshot(0)


def test_a_final_examination_never_finds_the_deck_empty() -> None:
    """Six seats could turn up six cards: of ten, not of the four that are left when all have done so."""
    final = position(["NTH"] * 4 + ["NTJ"] * 2, phase="exam", player=0, turn_player=0, semester=3)
    with pytest.raises(easyenvs.SnapshotError, match="the deck has 4 cards"):
        table("python", short(final, 6))
    for engine in ENGINES:
        games = table(engine, short({**final, "player": 5}, 5))  # the last seat; each before it has turned up a card
        assert games.player[0] == 5
        with pytest.raises(easyenvs.SnapshotError, match="the deck has 4 cards"):
            table(engine, short({**final, "player": 5}, 6))


# ------------------------------------------------------------------------------------------------- real ones


def exam_happy(rng: np.random.Generator, games: Batch) -> Any:
    weight = rng.random(games.legal.shape) * games.legal
    weight[:, Action.EXAM :] *= [10.0 ** (len(types) + jokers) for types, jokers in EXAMS]
    weight[:, Action.STRESS : Action.EXAM] *= 10
    return weight.argmax(axis=1)


@pytest.mark.parametrize("stack", ["choose", "auto"])
@pytest.mark.parametrize("players", [2, 3, 6])
def test_snapshots_of_every_phase_go_round_through_json_and_both_engines(players: int, stack: str) -> None:
    """Restored by either engine, a game is the same and goes on in the same way."""
    met: Counter[str] = Counter()
    rng = np.random.default_rng(players)
    original = school_v0.batch(16, num_players=players, seed=7, stack=stack)
    copies = [school_v0.batch(16, num_players=players, seed=99, stack=stack, engine=engine) for engine in ENGINES]
    for step in range(320):
        snapshots = [original.snapshot(i) for i in range(16)]
        met.update(snapshot["phase"] + (" closing" if snapshot["closing"] else "") for snapshot in snapshots)
        if step % 8 == 0:
            for i, snapshot in enumerate(snapshots):
                for games in copies:
                    games.restore(i, json.loads(json.dumps(snapshot)))
        for games in copies:
            np.testing.assert_array_equal(games.legal_words, original.legal_words)
            np.testing.assert_array_equal(games.terminated, original.terminated)
            assert [games.snapshot(i) for i in (0, step % 16)] == [snapshots[0], snapshots[step % 16]]
        actions = exam_happy(rng, original)
        for games in (original, *copies):
            games.step(actions)
    expected = {"turn", "draw", "discard", "practice", "exam closing", "keep closing", "over closing"}
    expected |= {"sixth"} if players < 6 else set()
    expected |= {"stack"} if stack == "choose" else set()
    expected |= {"relax"} if players > 2 else set()
    assert expected <= set(met), met
    if stack == "auto":
        assert "stack" not in met


@pytest.mark.parametrize("engine", ENGINES)
def test_a_truncated_game_is_restored_as_truncated(engine: str) -> None:
    games = school_v0.batch(3, seed=2, max_cycles=5, engine=engine)
    rng = np.random.default_rng(0)
    for _ in range(15):
        games.step(exam_happy(rng, games))
    assert games.truncated.all()
    again = school_v0.batch(3, seed=3, max_cycles=5, engine=engine)
    for i in range(3):
        again.restore(i, games.snapshot(i))
    assert state_of(again)[0] == state_of(games)[0]
    assert again.truncated.all()
    assert not again.terminated.any()


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 100), st.floats(allow_nan=False), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=6,
)


def real_snapshot(data: st.DataObject, players: int) -> dict[str, Any]:
    """Somewhere in a real game; now and then after most of the deck."""
    games = school_v0.batch(1, num_players=players, seed=data.draw(st.integers(0, 50)))
    rng = np.random.default_rng(data.draw(st.integers(0, 50)))
    for _ in range(data.draw(st.one_of(st.integers(0, 120), st.integers(150, 280)))):
        if games.player[0] >= 0:
            games.step(exam_happy(rng, games))
    return games.snapshot(0)


def refused_or_consistent(snapshot: dict[str, Any], players: int, seed: int) -> bool:
    """An error that changes nothing; or a position that both engines hold and play on alike until the game is over,
    each of whose later positions is accepted, too."""
    fast, slow = (school_v0.batch(1, num_players=players, seed=0, engine=engine) for engine in ("numpy", "python"))
    before = state_of(fast)
    try:
        fast.restore(0, snapshot)
    except easyenvs.SnapshotError:
        assert state_of(fast) == before
        with pytest.raises(easyenvs.SnapshotError):
            slow.restore(0, snapshot)
        return False
    slow.restore(0, snapshot)
    fast.observe("text")
    rng = np.random.default_rng(seed)
    again = school_v0.batch(1, num_players=players, seed=5)
    while True:
        now = fast.snapshot(0)
        assert now == slow.snapshot(0)
        assert (fast.legal == slow.legal).all()
        assert fast.legal.any() == (now["phase"] != "over")
        again.restore(0, now)
        assert again.snapshot(0) == now
        if now["phase"] == "over":
            return True
        actions = exam_happy(rng, fast)
        fast.step(actions)
        slow.step(actions)


@given(data=st.data())
@quick
def test_a_snapshot_with_something_replaced_is_refused_or_consistent(data: st.DataObject) -> None:
    snapshot = real_snapshot(data, 3)
    node: Any = snapshot
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        if isinstance(node[key], (dict, list)) and data.draw(st.booleans()):
            node = node[key]
            continue
        node[key] = data.draw(JSON)
        break
    refused_or_consistent(snapshot, 3, 1)


ZONES = ("deck", "face_up", "victory", "pool", "discard_pile", "claimed")
NUMBERS = ("player", "turn_player", "examinee", "stress_drawn", "to_discard", "semester")


def put(snapshot: dict[str, Any], zone: str, seat: int, place: int, kind: int, number: int) -> None:
    """A card more (or less) somewhere, if there can be one."""
    cards = snapshot[zone][seat] if zone in ("face_up", "victory") else snapshot[zone]
    if zone == "stress":
        cards[seat] += number
    elif zone not in ("deck", "victory"):
        cards[kind if kind < len(cards) else 0] += number
    elif number > 0:
        cards.insert(place % (len(cards) + 1), kind)
    elif kind in cards:
        cards.remove(kind)


@given(data=st.data())
@settings(max_examples=120, deadline=None)
def test_a_snapshot_with_cards_moved_and_numbers_changed_is_refused_or_consistent(data: st.DataObject) -> None:
    """Changes that keep every type's number of cards, so that more than the count has to be checked."""
    players = data.draw(st.integers(2, 6))
    snapshot = real_snapshot(data, players)
    seats, places, kinds = st.integers(0, players - 1), st.integers(0, 110), st.integers(0, 7)
    for _ in range(data.draw(st.integers(1, 3))):
        what = data.draw(st.sampled_from(("move", "swap", "number", "phase", "list", "short")))
        if what == "move":
            kind = data.draw(kinds)
            for number in (-1, 1):
                in_front = kind == STRESS and data.draw(st.booleans())
                zone = "stress" if in_front else data.draw(st.sampled_from(ZONES))
                put(snapshot, zone, data.draw(seats), data.draw(places), kind, number)
        elif what == "swap" and snapshot["deck"]:
            deck = snapshot["deck"]
            one, other = (data.draw(places) % len(deck) for _ in range(2))
            if SPECIAL in deck and data.draw(st.booleans()):
                one, other = deck.index(SPECIAL), len(deck) - 1 - other % 12 % len(deck)
            deck[one], deck[other] = deck[other], deck[one]
        elif what == "number":
            key = data.draw(st.sampled_from(NUMBERS))
            snapshot[key] = data.draw(st.one_of(st.none(), st.integers(0, players)))
        elif what == "short":
            snapshot = short(snapshot, min(data.draw(st.integers(1, 7)), len(snapshot["deck"])))
        elif what == "phase":
            snapshot["phase"] = data.draw(st.sampled_from(PHASES))
            snapshot["closing"] = data.draw(st.booleans())
        else:
            key = data.draw(st.sampled_from(("named", "exam_types")))
            snapshot[key] = data.draw(st.lists(st.integers(0, 5), max_size=3))
    snapshot["scores"] = [
        sum(type_points(pile.count(kind)) for kind in range(NUM_CHEATS)) for pile in snapshot["victory"]
    ]
    refused_or_consistent(snapshot, players, 1)
