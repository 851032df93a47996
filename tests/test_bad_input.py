"""Bad input: a clear error that names the value and what is accepted, and nothing half done. Driven by hypothesis."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import easyenvs
from easyenvs.core.batch import Batch
from easyenvs.core.policies import load_policy
from tests.peasy_v0.positions import position

peasy = easyenvs.peasy_v0
quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

NOT_INTEGERS = st.one_of(
    st.floats(), st.text(), st.booleans(), st.lists(st.integers()), st.complex_numbers(), st.binary()
)


def state_of(games: Batch) -> Any:
    """Everything that must not change."""
    return (
        [games.snapshot(i) for i in range(games.num_games)],
        games.rewards.tolist(),
        games.terminated.tolist(),
        games.truncated.tolist(),
        games.final_scores.tolist(),
        games.game_index.tolist(),
    )


# ------------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 1}, r"num_players=1 is not accepted: num_players must be an integer 2 … 6"),
        ({"num_players": 7}, r"num_players=7 .* 2 … 6"),
        ({"num_players": 2.0}, r"num_players=2\.0 .* an integer"),
        ({"num_players": True}, r"num_players=True"),
        ({"num_players": "2"}, r"num_players='2'"),
        ({"num_rounds": 0}, r"num_rounds=0 .* None or an integer 1 …"),
        ({"num_rounds": -3}, r"num_rounds=-3"),
        ({"num_rounds": 2.5}, r"num_rounds=2\.5"),
        ({"target_score": 0}, r"target_score=0 .* \"standard\" or an integer 1 …"),
        ({"target_score": "Standard"}, r"target_score='Standard'"),
        ({"target_score": 50, "num_rounds": 3}, r"num_rounds=3 .*target_score=50.* the two exclude each other \(P16\)"),
        ({"target_score": "standard", "num_rounds": 3}, r"exclude each other"),
        ({"max_cycles": 0}, r"max_cycles=0 .* None or an integer 1 …"),
        ({"reward": "points"}, r"reward='points' .* one of 'placement', 'win', 'score'"),
        ({"reward": None}, r"reward=None"),
        ({"engine": "c++"}, r"engine='c\+\+' .* one of 'python', 'numpy'"),
    ],
)
def test_options_of_env_and_batch(options: dict[str, Any], message: str) -> None:
    for make in (peasy.env, peasy.raw_env, lambda **o: peasy.batch(2, **o)):
        with pytest.raises(ValueError, match=message) as caught:
            make(**options)
        assert isinstance(caught.value, easyenvs.OptionError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"observation": "flatt"}, r"observation='flatt' .* one of 'flat', 'bits', 'dict', 'text', or an encoder"),
        ({"observation": 3}, r"observation=3"),
        ({"observation": type("Half", (), {"__call__": lambda self, view: view, "space": None})()}, "an encoder"),
        ({"render_mode": "rgb"}, r"render_mode='rgb' .* one of None, 'ansi', 'rgb_array', 'human'"),
        ({"render_mode": "ANSI"}, r"render_mode='ANSI' .* one of None, 'ansi'"),
        ({"render_mode": 1}, r"render_mode=1"),
    ],
)
def test_options_of_env(options: dict[str, Any], message: str) -> None:
    for make in (peasy.env, peasy.raw_env):
        with pytest.raises(easyenvs.OptionError, match=message):
            make(**options)


@pytest.mark.parametrize(
    ("num_games", "options", "message"),
    [
        (0, {}, r"num_games=0 .* an integer 1 …"),
        (-1, {}, r"num_games=-1"),
        (2.0, {}, r"num_games=2\.0"),
        (2, {"autoreset": 1}, r"autoreset=1 .* one of False, True"),
        (2, {"seed": -1}, r"seed=-1 .* 0 … 18446744073709551615"),
        (2, {"seed": 2**64}, r"seed=18446744073709551616"),
        (2, {"seed": 1.5}, r"seed=1\.5"),
        (2, {"seed": True}, r"seed=True"),
        (2, {"seed": [1]}, r"seed=\[1\] .* 2 integers"),
        (2, {"seed": [1, -2]}, r"seed\[1\]=-2"),
        (2, {"seed": [1, 2.0]}, r"seed\[1\]=2\.0"),
    ],
)
def test_options_of_batch(num_games: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(easyenvs.OptionError, match=message):
        peasy.batch(num_games, **options)


def test_unknown_options_are_named() -> None:
    for make in (peasy.env, peasy.raw_env, lambda **o: peasy.batch(2, **o)):
        with pytest.raises(TypeError, match=r"peasy_v0 has no option 'players'; accepted are num_players, num_rounds"):
            make(players=2)
    with pytest.raises(TypeError):
        peasy.env(2)


def test_integers_of_every_kind_are_fine() -> None:
    env = peasy.env(num_players=np.int8(3), num_rounds=np.array(2))
    assert env.rules.num_players == 3
    env.reset(seed=np.uint64(2**64 - 1))
    env.step(np.uint8(env.legal_actions()[0]))
    env.step(np.array(env.legal_actions()[0]))
    json.dumps(env.snapshot())
    peasy.batch(2, seed=np.array([1, 2**64 - 1], dtype=np.uint64)).step(np.zeros(2, dtype=np.uint16))


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", True, [1]])
def test_seeds_of_env(seed: Any) -> None:
    env = peasy.env()
    with pytest.raises(easyenvs.OptionError, match="seed="):
        env.reset(seed=seed)
    env.reset(seed=1)
    before = env.snapshot()
    with pytest.raises(easyenvs.OptionError, match="seed="):
        env.reset(seed=seed)
    assert env.snapshot() == before


# ------------------------------------------------------------------------------------------------- actions


@pytest.fixture(params=["python", "numpy"])
def games(request: pytest.FixtureRequest) -> Batch:
    games: Batch = peasy.batch(4, seed=1, engine=request.param, num_rounds=1)
    rng = np.random.default_rng(0)
    for _ in range(9):
        games.step((rng.random(games.legal.shape) * games.legal).argmax(axis=1))
    return games


@given(actions=st.lists(st.integers(-(2**70), 2**70), min_size=4, max_size=4))
@quick
def test_out_of_range_and_illegal_actions_of_a_batch(games: Batch, actions: list[int]) -> None:
    before = state_of(games)
    legal = games.legal
    if all(0 <= a < 126 and legal[i, a] for i, a in enumerate(actions)):
        return
    with pytest.raises(easyenvs.IllegalActionError):
        games.step(actions)
    assert state_of(games) == before


@given(actions=st.lists(st.integers(0, 125), min_size=4, max_size=4))
@quick
def test_one_illegal_action_refuses_the_whole_call(games: Batch, actions: list[int]) -> None:
    before = state_of(games)
    legal = games.legal
    wrong = [i for i, a in enumerate(actions) if not legal[i, a]]
    if not wrong:
        return
    with pytest.raises(
        easyenvs.IllegalActionError, match=rf"game {wrong[0]}, seat \d, phase \w+: action {actions[wrong[0]]} "
    ):
        games.step(actions)
    assert state_of(games) == before


@pytest.mark.parametrize(
    "actions",
    [
        [0.0] * 4, [True] * 4, ["up"] * 4, [None] * 4, 0, [0, 0, 0], [0] * 5, [[0]] * 4, [[0, 1], [2], [3], [4]], [],
        np.zeros(4, dtype=np.float32), np.zeros((4, 1), dtype=np.int64), np.zeros(4, dtype=object), {"a": 1},
    ],
)  # fmt: skip
def test_wrong_dtypes_and_shapes_of_actions(games: Batch, actions: Any) -> None:
    before = state_of(games)
    with pytest.raises(easyenvs.ActionTypeError, match=r"integers of shape|no array") as caught:
        games.step(actions)
    assert isinstance(caught.value, (ValueError, TypeError))
    assert state_of(games) == before


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ([0, 0], r"index 0 more than once"),
        ([4], r"index 4; games are 0 … 3"),
        ([-1], r"index -1"),
        ([True, False], r"mask of shape \(2,\)"),
        ([0.0, 1.0], r"float64"),
        ([[0, 1]], r"shape \(1, 2\)"),
        ("all", r"where is"),
    ],
)
def test_wrong_where(games: Batch, where: Any, message: str) -> None:
    before = state_of(games)
    size = np.size(where)
    for call in (lambda: games.step([0] * size, where=where), lambda: games.reset(where=where)):
        with pytest.raises(ValueError, match=message):
            call()
    assert state_of(games) == before


@given(action=NOT_INTEGERS)
@quick
def test_what_is_no_integer_is_no_action_of_an_env(action: Any) -> None:
    raw = peasy.raw_env()
    raw.reset(seed=1)
    before = raw.snapshot()
    with pytest.raises(easyenvs.ActionTypeError):
        raw.step(action)
    env = peasy.env()
    env.reset(seed=1)
    with pytest.raises((AssertionError, easyenvs.ActionTypeError)):
        env.step(action)
    assert raw.snapshot() == env.snapshot() == before


@pytest.mark.parametrize("seat", [-1, 2, 0.5, True, "0", [0, 1], [0, 1, 2, 0]])
def test_wrong_seats(games: Batch, seat: Any) -> None:
    for call in (lambda: games.observe("flat", seat=seat), lambda: games.resample(seat=seat, seed=1)):
        with pytest.raises(easyenvs.OptionError, match="seat="):
            call()


@pytest.mark.parametrize("row", [-1, 4, 1.0, True, "0", None])
def test_wrong_rows(games: Batch, row: Any) -> None:
    snapshot = games.snapshot(0)
    for call in (lambda: games.snapshot(row), lambda: games.restore(row, snapshot)):
        with pytest.raises(IndexError, match=r"games are 0 … 3"):
            call()
    for indices in ([row], row, []):
        with pytest.raises(ValueError, match="indices are"):
            games.take(indices)


# ------------------------------------------------------------------------------------------------- snapshots

GOOD = position(["R2 R3", "P1 P6"], [("R8/B1", "B9/B2!"), ("P2/P7", "P3")], "P4 G9", draw=5)


def changed(**values: Any) -> dict[str, Any]:
    return {**copy.deepcopy(GOOD), **values}


def moved(take_from: str, give_to: str) -> dict[str, Any]:
    """A card more here, one less there, so that only the one mistake is in it."""
    snapshot = copy.deepcopy(GOOD)
    snapshot[give_to].append(snapshot[take_from][0])
    return snapshot


def row(**pile: Any) -> list[Any]:
    rows = copy.deepcopy(GOOD["rows"])
    rows[0][0] = {**rows[0][0], **pile}
    return rows


BAD: dict[str, tuple[Any, str]] = {
    "not a dict": (None, "a dict is accepted"),
    "a list": ([1, 2], "a dict is accepted"),
    "other game": (changed(game="school_v0"), r"game is 'school_v0', but 'peasy_v0'"),
    "no game": ({k: v for k, v in GOOD.items() if k != "game"}, "key 'game' is missing"),
    "other players": (changed(num_players=3), "num_players is 3, but 2"),
    "unknown key": (changed(hnads=[]), "'hnads' is unknown"),
    "other rules": (changed(rules={"num_rounds": 5, "target_score": None, "max_cycles": None}), "num_rounds=5, but num_rounds=3"),
    "rules of no kind": (changed(rules=[3]), "rules is"),
    "a card twice": (moved("tops", "draw_pile"), r"is twice: in draw_pile and in tops\[0\]"),
    "a card in two places": (moved("draw_pile", "buried"), "is twice"),
    "a card twice in a hand": (changed(hands=[[1, 1, 2], [10, 15]]), r"hands\[0\] holds a card twice"),
    "a hand in two places": (changed(hands=[GOOD["hands"][0]] * 2), "is twice"),
    "a card missing": (changed(draw_pile=GOOD["draw_pile"][1:]), "39 cards are there and 40 are in play"),
    "a card out of play": (changed(tops=[13, 45]), r"tops holds 45; card ids 0 … 39"),
    "three tops": (changed(tops=[13, 28, 0]), "tops is .* a list of 2"),
    "one hand": (changed(hands=[[1]]), "hands is .* a list of 2"),
    "three row piles": (changed(rows=[GOOD["rows"][0] + GOOD["rows"][0][:1], GOOD["rows"][1]]), r"rows\[0\] is"),
    "a row pile without known": (
        changed(rows=[[{"up": 7, "down": 30}, GOOD["rows"][0][1]], GOOD["rows"][1]]),
        r"rows\[0\]\[0\] is",
    ),
    "known nothing": (changed(rows=row(down=None, known=True)), "is known, but no card is face-down"),
    "a float card": (changed(tops=[13.0, 28]), "tops holds 13.0"),
    "a bool card": (changed(tops=[True, 28]), "tops holds True"),
    "a text card": (changed(tops=["P4", 28]), "tops holds 'P4'"),
    "phase": (changed(phase="playing"), "phase is 'playing'; one of"),
    "phase of no kind": (changed(phase=1), "phase is 1"),
    "player": (changed(player=2), "player is 2"),
    "player bool": (changed(player=True), "player is True"),
    "no player": (changed(player=None), "player is None in phase 'turn'"),
    "player at the end": (changed(phase="over"), "after 0 decisions|player is 0 in phase 'over'"),
    "no direction": (changed(direction=None), "direction is None in phase 'turn'"),
    "direction too early": (changed(phase="direction"), "direction is 'up' in phase 'direction'"),
    "direction of no kind": (changed(direction="left"), "direction is 'left'"),
    "bonus pile in a turn": (changed(bonus_pile=0), "bonus_pile is 0 in phase 'turn'"),
    "no bonus pile": (changed(phase="bonus"), "bonus_pile is None in phase 'bonus'"),
    "flips in a turn": (changed(flips=1), "flips is 1 in phase 'turn'"),
    "no flip before play": (changed(phase="play"), "flips is 0 in phase 'play'"),
    "three flips": (changed(phase="play", flips=3), "flips is 3"),
    "negative round": (changed(round=-1), "round is -1"),
    "round too late": (changed(round=3, round_scores=[[0, 0]] * 3), "with num_rounds=3 rounds are 0 … 2"),
    "totals": (changed(totals=[1, 0]), r"totals are \[1, 0\], but round_scores add up to \[0, 0\]"),
    "negative totals": (changed(totals=[-1, 0]), r"totals\[0\] is -1"),
    "rounds without scores": (changed(round=1), "round_scores has 0 rounds"),
    "scores without rounds": (changed(round_scores=[[0, 0]]), "round_scores has 1 rounds"),
    "scores of three": (changed(round=1, round_scores=[[0, 0, 0]]), r"round_scores\[0\] is"),
    "negative decisions": (changed(decisions=-1), "decisions is -1"),
    "late": (changed(decisions=2000), "fewer than 2000"),
    "seed": (changed(seed=2**64), "seed is"),
    "seed float": (changed(seed=1.0), "seed is 1.0"),
    "stale draw pile": (changed(fresh=[0], reshuffles=1), "draw pile holds cards that are not fresh"),
    "fresh without reshuffle": (changed(fresh=GOOD["draw_pile"]), "before the first reshuffle all cards are fresh"),
    "fresh row": (changed(reshuffles=1), r"rows\[0\]\[0\] up is fresh after a reshuffle"),
    "truncated in play": (changed(truncated=True), "truncated is True, but phase is not 'over'"),
    "truncated of no kind": (changed(truncated=1), "truncated is 1"),
    "over too early": (changed(phase="over", player=None), "the game has not ended"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("engine", ["python", "numpy"])
def test_bad_snapshots_change_nothing(name: str, engine: str) -> None:
    snapshot, message = BAD[name]
    games = peasy.batch(2, seed=1, engine=engine)
    before = state_of(games)
    with pytest.raises(easyenvs.SnapshotError, match=message):
        games.restore(1, snapshot)
    assert state_of(games) == before
    env = peasy.env(engine=engine)
    for call in (lambda: env.restore(snapshot), lambda: env.reset(options={"snapshot": snapshot})):
        with pytest.raises(easyenvs.SnapshotError, match=message):
            call()
    assert not hasattr(env, "agents")
    env.reset(seed=3)
    env.step(0)
    before_env, infos, player = env.snapshot(), env.infos, env.agent_selection
    for call in (lambda: env.restore(snapshot), lambda: env.reset(seed=9, options={"snapshot": snapshot})):
        with pytest.raises(easyenvs.SnapshotError, match=message):
            call()
    assert (env.snapshot(), env.agent_selection) == (before_env, player)
    assert env.infos == infos
    env.reset()
    assert env.snapshot()["seed"] == easyenvs.core.chance.next_seed(3, 1)  # the stream goes on as if nothing had been


def test_the_good_snapshot_is_good() -> None:
    for engine in ("python", "numpy"):
        games = peasy.batch(1, seed=1, engine=engine)
        games.restore(0, GOOD)
        games.restore(0, games.snapshot(0))


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 100), st.floats(allow_nan=False), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=6,
)


@given(data=st.data())
@quick
def test_a_snapshot_with_something_replaced_is_refused_or_consistent(data: st.DataObject) -> None:
    """Whatever stands in one place of a real snapshot: an error that changes nothing, or a position that holds together."""
    games = peasy.batch(1, seed=data.draw(st.integers(0, 50)))
    rng = np.random.default_rng(data.draw(st.integers(0, 50)))
    for _ in range(data.draw(st.integers(0, 60))):
        games.step((rng.random(games.legal.shape) * games.legal).argmax(axis=1))
    snapshot = games.snapshot(0)
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
    before = state_of(games)
    try:
        games.restore(0, snapshot)
    except easyenvs.SnapshotError:
        assert state_of(games) == before
        return
    restored = games.snapshot(0)
    again = peasy.batch(1, seed=0, engine="python")
    again.restore(0, restored)
    assert again.snapshot(0) == restored
    assert (again.legal == games.legal).all()
    assert games.legal.any() or restored["phase"] == "over"


# ------------------------------------------------------------------------------------------------- names


def test_unknown_games_policies_and_actions() -> None:
    with pytest.raises(ValueError, match=r"'chess' is no game; games are peasy_v0"):
        easyenvs.find_game("chess")
    with pytest.raises(ValueError, match=r"is no game: it needs an attribute GAME"):
        easyenvs.register(json)
    for name, message in (
        ("gready", r"'gready' names no policy of peasy_v0; known are random, .*greedy.*'module:attribute'"),
        ("json:nothing", r"'json:nothing' can't be loaded"),
        ("no_such_module:policy", r"can't be loaded"),
        (3, r"3 is no policy"),
    ):
        with pytest.raises(ValueError, match=message):
            load_policy(name, peasy.GAME)
    env = peasy.raw_env()
    for text, kind in (
        ("R11>0", ValueError),
        ("X1>0", ValueError),
        ("R1>2", ValueError),
        ("", ValueError),
        (3, TypeError),
    ):
        with pytest.raises(kind, match="no action"):
            env.parse_action(text)
    for action in (-1, 126, 1.5, True):
        with pytest.raises(ValueError, match="ids are 0 … 125"):
            env.action_name(action)
    env.reset(seed=0)
    with pytest.raises(KeyError, match="agents are player_0, player_1"):
        env.observe("player_9")


def test_a_custom_encoder_is_used_as_it_is() -> None:
    class HandSize:
        space = spaces.Box(0, 60, (1,), np.int64)

        def __call__(self, view: Any) -> Any:
            return view.hand_size[0].astype(np.int64)[:, None]

    env = peasy.env(observation=HandSize())
    env.reset(seed=1)
    assert env.observe("player_0")["observation"].tolist() == [4]
    assert peasy.batch(3, seed=1).observe(HandSize()).tolist() == [[4], [4], [4]]
