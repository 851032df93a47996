"""The two engines of Easy Peasy side by side: thousands of games, compared after every decision in everything that is
shown, with a count of the rare events that were met. A rule that only one of the engines gets wrong can't pass."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import easyenvs
from easyenvs.core import chance, rewards
from easyenvs.core.batch import Batch
from easyenvs.peasy_v0.cards import FIRST_PLAY, Action, value_of
from tests.peasy_v0.positions import position

STYLES = ("uniform", "flip-happy", "always flip", "bonus-happy", "slow", "equal points")
VARIANTS: tuple[dict[str, Any], ...] = (
    {},
    {"num_rounds": 1, "reward": "win"},
    {"num_rounds": 10, "reward": "score"},
    {"target_score": "standard", "reward": "score"},
    {"target_score": 120},
    {"max_cycles": 13},
    {"max_cycles": 31, "num_rounds": 2, "reward": "score"},
)

ALWAYS_MET = (
    "reshuffle",
    "reshuffle between two drawn cards",
    "only one card to draw",
    "second flip",
    "chain of three or more",
    "row swap",
    "swap back of a known card",
    "single turn-up",
    "round ended by row",
    "round ended by hand",
    "ender scores 0",
    "ender doubled",
    "ender level with the lowest",
    "first player: level Rows in round 1",
    "first player: level totals, the Row decides",
    "first player: level totals and Rows",
    "win by the last round",
    "truncation",
    "truncation right after a round",
)
NOT_WITH_TWO = ("shared win",)  # P17: never by all seats


def choose(rng: np.random.Generator, games: Batch, style: str) -> npt.NDArray[np.intp]:
    """A legal action for every game (0 where one is over)."""
    weight = rng.random(games.legal.shape) * games.legal
    if style == "flip-happy":
        weight[:, Action.FLIP] *= 4
    elif style == "always flip":
        weight[:, Action.FLIP] *= 1000
    elif style == "bonus-happy":
        weight[:, [Action.TURN_0, Action.TURN_1]] *= 3
        weight[:, FIRST_PLAY:] *= np.where(games.phase == 3, 10, 1)[:, None]
    elif style == "slow":  # keeps its cards: passes and flips first
        weight[:, [Action.FLIP, Action.PASS]] *= 20
        weight[:, FIRST_PLAY:] *= rng.random((len(weight), 1))
    elif style == "equal points":  # high cards first, so that the others' scores come close to each other
        weight[:, FIRST_PLAY:] *= np.tile([value_of(c) ** 3 for c in range(60)], 2)
        weight[:, Action.FLIP] *= 0.01
    return weight.argmax(axis=1)


def row_cards(snapshot: dict[str, Any], seat: int) -> list[int]:
    return [p[side] for p in snapshot["rows"][seat] for side in ("up", "down") if p[side] is not None]


class Events:
    """Counts what happened between two snapshots of one game."""

    def __init__(self, num_games: int) -> None:
        self.met: Counter[str] = Counter()
        self.chain = [0] * num_games

    def note(self, game: int, before: dict[str, Any], action: int, after: dict[str, Any]) -> None:
        met, seat = self.met, before["player"]
        if action == Action.FLIP:
            drawn = len(after["hands"][seat]) - len(before["hands"][seat])
            met["reshuffle"] += after["reshuffles"] > before["reshuffles"]
            met["reshuffle between two drawn cards"] += (
                after["reshuffles"] > before["reshuffles"] and len(before["draw_pile"]) == 1 and drawn == 2
            )
            met["only one card to draw"] += drawn == 1
            met["second flip"] += after["flips"] == 2
        if action in (Action.TURN_0, Action.TURN_1):
            pile = before["rows"][seat][action - Action.TURN_0]
            met["row swap"] += pile["up"] is not None
            met["swap back of a known card"] += pile["up"] is not None and pile["known"]
            met["single turn-up"] += pile["up"] is None
        self.chain[game] = self.chain[game] + 1 if action >= FIRST_PLAY else 0
        met["chain of three or more"] += self.chain[game] == 3
        if after["phase"] != "bonus":
            self.chain[game] = 0
        if len(after["round_scores"]) > len(before["round_scores"]):
            self._note_round(before, action, after)
        if after["phase"] == "over":
            self._note_end(after)

    def _note_round(self, before: dict[str, Any], action: int, after: dict[str, Any]) -> None:
        met, seat, scores = self.met, before["player"], after["round_scores"][-1]
        played = {(action - FIRST_PLAY) % 60} if action >= FIRST_PLAY else set()
        hand = set(before["hands"][seat]) - played
        row = set(row_cards(before, seat)) - played
        met["round ended by hand"] += not hand
        met["round ended by row"] += not row
        own = sum(value_of(c) for c in hand | row)
        lowest = min(score for other, score in enumerate(scores) if other != seat)
        met["ender scores 0"] += scores[seat] == 0 < own
        met["ender doubled"] += scores[seat] == 2 * own > 0
        met["ender level with the lowest"] += own == lowest
        if after["phase"] == "direction":
            self.note_deal(after)

    def note_deal(self, dealt: dict[str, Any]) -> None:
        most = max(dealt["totals"])
        leaders = [seat for seat, total in enumerate(dealt["totals"]) if total == most]
        sums = [sum(value_of(p["up"]) for p in row) for row in dealt["rows"]]
        level = sum(sums[seat] == max(sums[s] for s in leaders) for seat in leaders)
        if dealt["round"] == 0:
            self.met["first player: level Rows in round 1"] += level > 1
        elif len(leaders) > 1:
            self.met["first player: level totals, the Row decides"] += level == 1
            self.met["first player: level totals and Rows"] += level > 1

    def _note_end(self, after: dict[str, Any]) -> None:
        if after["truncated"]:
            self.met["truncation"] += 1
            self.met["truncation right after a round"] += len(after["round_scores"]) == after["round"] + 1
            return
        order = sorted(zip(after["totals"], after["round_scores"][-1], strict=True))
        self.met["win by the last round"] += order[0][0] == order[1][0] and order[0][1] < order[1][1]
        self.met["shared win"] += order[0] == order[1]


def compare(fast: Batch, slow: Batch, step: int) -> list[dict[str, Any]]:
    """Everything that a batch shows, from both engines. Returns the snapshots."""
    for name in (
        "player", "legal", "legal_words", "terminated", "truncated", "rewards", "scores", "final_scores", "seeds",
        "decisions", "phase", "game_index", "first_seeds",
    ):  # fmt: skip
        ours, theirs = getattr(fast, name), getattr(slow, name)
        assert ours.dtype == theirs.dtype, name
        np.testing.assert_array_equal(ours, theirs, err_msg=name)
    np.testing.assert_array_equal(fast.ranks(), slow.ranks())
    snapshots = [fast.snapshot(i) for i in range(fast.num_games)]
    for i, snapshot in enumerate(snapshots):
        assert snapshot == slow.snapshot(i)
    seat = None if step % 2 else (step // 2) % fast.num_players
    for name in ("flat", "bits"):
        ours, theirs = fast.observe(name, seat=seat), slow.observe(name, seat=seat)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    if step % 10 == 0:
        assert fast.observe("text", seat=seat) == slow.observe("text", seat=seat)
        ours, theirs = fast.observe("dict", seat=seat), slow.observe("dict", seat=seat)
        assert ours.keys() == theirs.keys()
        for key in ours:
            np.testing.assert_array_equal(ours[key], theirs[key])
    return snapshots


def about_to_be_level(players: int, seed: int, decisions: int) -> dict[str, Any]:
    """Seat 0, with 5 points, can end the round by its next card; the others score 5 then and had none: all are level."""
    hands = ["R9", *(f"{colour}5" for colour in "PGBYO"[: players - 1])]
    rows = [("R1", "")] + [(f"{colour}1", "") for colour in "PGBYO"[: players - 1]]
    scores = [[5] + [0] * (players - 1)]
    return position(
        hands, rows, "B4 R8", draw=8, round=1, totals=scores[0], round_scores=scores, seed=seed, decisions=decisions
    )


def play_in_lockstep(
    players: int, style: str, variant: dict[str, Any], num_games: int, steps: int, seed: int, *, level: bool = False
) -> Counter[str]:
    rng = np.random.default_rng(seed)
    fast, slow = (
        easyenvs.peasy_v0.batch(num_games, num_players=players, seed=seed, engine=engine, **variant)
        for engine in ("numpy", "python")
    )
    for game in range(num_games if level else 0):
        snapshot = about_to_be_level(players, game, fast.rules.max_decisions - 1 if "max_cycles" in variant else 0)
        for games in (fast, slow):
            games.restore(game, snapshot)
    events = Events(num_games)
    before = compare(fast, slow, 0)
    for snapshot in before if not level else ():
        events.note_deal(snapshot)
    for step in range(1, steps):
        actions = choose(rng, fast, style)
        fast.step(actions)
        slow.step(actions)
        after = compare(fast, slow, step)
        for game in range(num_games):
            if before[game]["player"] is not None:
                events.note(game, before[game], int(actions[game]), after[game])
        over = fast.player < 0
        if over.any():
            for games in (fast, slow):
                games.reset(where=over)
            for game in np.flatnonzero(over).tolist():
                after[game] = fast.snapshot(game)
                assert after[game] == slow.snapshot(game)
                events.note_deal(after[game])
        before = after
    return events.met


@pytest.mark.parametrize("players", range(2, 7))
def test_the_engines_are_equal_after_every_decision(players: int) -> None:
    met: Counter[str] = Counter()
    for number, style in enumerate(STYLES):
        for index, variant in enumerate(VARIANTS):
            size, steps = (36, 250) if not variant else (12, 150)
            met += play_in_lockstep(players, style, variant, size, steps, seed=1000 * players + 100 * number + index)
    met += play_in_lockstep(players, "equal points", {}, 120, 12, seed=players, level=True)
    met += play_in_lockstep(players, "equal points", {"max_cycles": 5}, 20, 3, seed=players, level=True)
    required = ALWAYS_MET if players == 2 else ALWAYS_MET + NOT_WITH_TWO
    missing = [event for event in required if not met[event]]
    assert not missing, f"never met with {players} players: {missing}; met: {dict(met)}"
    if players == 2:
        assert not met["shared win"]


@pytest.mark.parametrize("players", [2, 4])
def test_resample_and_copies_are_equal_too(players: int) -> None:
    rng = np.random.default_rng(players)
    fast, slow = (
        easyenvs.peasy_v0.batch(20, num_players=players, seed=3, engine=engine) for engine in ("numpy", "python")
    )
    for step in range(150):
        actions = choose(rng, fast, "flip-happy" if step % 2 else "bonus-happy")
        fast.step(actions)
        slow.step(actions)
        if step % 5 == 0:
            seat = None if step % 2 else step % players
            pair = [games.resample(seat, seed=step).take([3, 3, 7]) for games in (fast, slow)]
            for _ in range(4):
                compare(pair[0], pair[1], 10)
                more = choose(rng, pair[0], "uniform")
                for games in pair:
                    games.step(more)


def test_keys_of_policies_do_not_depend_on_the_engine() -> None:
    fast, slow = (easyenvs.peasy_v0.batch(5, seed=3, engine=engine) for engine in ("numpy", "python"))
    np.testing.assert_array_equal(fast.policy_keys(7), slow.policy_keys(7))
    assert chance.row_seed(3, 2) == int(fast.seeds[2])
    assert rewards.REWARDS == ("placement", "win", "score")
