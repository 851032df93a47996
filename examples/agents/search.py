"""Search: try the best few actions in many games that could be the one to be decided, play those out, and compare.

What a seat can't see is redrawn (`Decisions.determinize`) for every trial, and all games of a decision, and of many decisions,
are played on one batch. So search plays any game that has a batch, with any number of players. What it knows of a game
besides the rules is a `Guide`: `<game>/_search.py` has one for each game here. Three algorithms:

    FlatMonteCarlo      every candidate in the same redrawn games, and the best mean placement
    SequentialHalving   the same in rounds, after each of which the worse half of the candidates goes
                        (Karnin, Koren & Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013)
    ISMCTS              a tree over the decisions that follow, one tree for all redrawn games
                        (Cowling, Powley & Whitehouse, "Information set Monte Carlo tree search", 2012; single observer)

`policy` is SequentialHalving with its defaults: the agent "search".

The candidates are compared in equal games: the same cards, the same chance to come. What counts is the difference to the
action that the guide likes best; and because the largest of several noisy means flatters itself, another action is
chosen only where it leads by more than its standard error (`Guide.caution`).

    M decisions  C candidates  A actions  P seats  K comparisons (a redrawn game, all candidates in it)
"""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from easyenvs.core.arrays import F64, I64, Flags, Index
from easyenvs.core.options import integer_option, refuse_option
from easyenvs.core.policies import Decisions, decisions

from ._rollouts import Guide, play_out

GAMES_AT_ONCE: Final = 4096
TREE_CELLS: Final = 1 << 22  # nodes times actions of the trees that grow at once
MAX_ROLLOUTS: Final = 10**7
MAX_MILLISECONDS: Final = 10.0**7
DEFAULT_ROLLOUTS: Final = 300
WORTH_DIGITS: Final = 9  # so that no last digit, which may depend on the batch, decides between equals
WAVE: Final = 8  # comparisons between two looks at the clock


@dataclass(frozen=True, kw_only=True)
class Config:
    """How much is searched.

    rollouts: at most so many games played out for a decision. The same budget and the same key give the same action, in
        any batch, split in any way. None and no milliseconds: 300.
    milliseconds: instead, so much time for a decision (of many decisions at once: on average). How far one gets
        depends on the machine, so the choice can't be reproduced.
    candidates: so many of the legal actions are tried, the best by the guide's worths (all, if it has none).
    rounds: of SequentialHalving.
    drop: SequentialHalving drops a candidate early that is behind by more than so many standard errors.
    exploration: ISMCTS's constant of the upper confidence bound.
    wave: ISMCTS evaluates so many leaves of a tree at once; a path that is under way counts as lost meanwhile.

    Raises:
        OptionError: a value out of range, or both budgets.
    """

    rollouts: int | None = None
    milliseconds: float | None = None
    candidates: int = 3
    rounds: int = 3
    drop: float = 0.5
    exploration: float = 0.5
    wave: int = 8

    def __post_init__(self) -> None:
        if self.rollouts is not None and self.milliseconds is not None:
            refuse_option("rollouts", self.rollouts, f"None where milliseconds is given ({self.milliseconds!r})")
        if self.milliseconds is not None:
            _check_number("milliseconds", self.milliseconds, 0.0, MAX_MILLISECONDS)
        elif self.rollouts is None:
            object.__setattr__(self, "rollouts", DEFAULT_ROLLOUTS)
        else:
            integer_option("rollouts", self.rollouts, 1, MAX_ROLLOUTS, also="None or ")
        integer_option("candidates", self.candidates, 1, MAX_ROLLOUTS)
        integer_option("rounds", self.rounds, 1, 64)
        integer_option("wave", self.wave, 1, GAMES_AT_ONCE)
        _check_number("drop", self.drop, 0.0, np.inf)
        _check_number("exploration", self.exploration, 0.0, np.inf)


def _check_number(name: str, value: object, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        refuse_option(name, value, f"a number {low:g} … {high:g}")


@cache
def guide_for(game: str) -> Guide:
    """What the agents here know of a game, by its id; of an unknown one nothing but its rules."""
    name = f"{__package__}.{game}"
    if importlib.util.find_spec(name) is None or importlib.util.find_spec(f"{name}._search") is None:
        return Guide()
    guide: Guide = importlib.import_module(f"{name}._search").GUIDE
    return guide


@dataclass(frozen=True)
class Report:
    """What a search has found out about M decisions.

    Attributes:
        action: intp [M], the choice.
        candidates: intp [M, C], the actions that were tried, the guide's favourite first; −1 where there are fewer. A
            decision with one candidate is not searched.
        value: float64 [M, C], the mean placement reward by which each leads the first one (ISMCTS: its mean itself); NaN
            where there is none.
        rollouts: int64 [M], games that were played out.
    """

    action: Index
    candidates: Index
    value: F64
    rollouts: I64


class Search:
    """Base of the search policies: which actions are tried, and the clock.

    Args:
        config: how much is searched.
        guide: what is known of the game; None: `guide_for` the game.
    """

    def __init__(self, config: Config | None = None, guide: Guide | None = None) -> None:
        self.config = Config() if config is None else config
        self.guide = guide

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.config!r})"

    def __call__(self, d: Decisions, /) -> Index:
        """Legal action ids, intp [M]."""
        return self.report(d).action

    def report(self, d: Decisions) -> Report:
        """The choice, and what it is based on."""
        guide = guide_for(d.game) if self.guide is None else self.guide
        candidates = best_actions(d, guide, self.config.candidates)
        rows = np.flatnonzero((candidates >= 0).sum(axis=1) > 1)
        value = np.full(candidates.shape, np.nan)
        rollouts = np.zeros(len(d), dtype=np.int64)
        action = candidates[:, 0].copy()
        if rows.size:
            best, value[rows], rollouts[rows] = self._search(d, rows, candidates[rows], guide)
            action[rows] = candidates[rows, best]
        return Report(action, candidates, value, rollouts)

    def _search(self, d: Decisions, rows: Index, candidates: Index, guide: Guide) -> tuple[Index, F64, I64]:
        """Of some decisions with at least two candidates: the best column, the values, the rollouts."""
        raise NotImplementedError


def best_actions(d: Decisions, guide: Guide, most: int) -> Index:
    """The legal actions, the most worth first, as many as there are or `most`; −1 behind them -> [M, C]."""
    legal = d.legal
    if guide.worths is None:
        worth = np.where(legal, 0.0, -np.inf)
        most = d.num_actions
    else:
        worth = np.where(legal, guide.worths(d).round(WORTH_DIGITS), -np.inf)
    order = np.argsort(-worth, axis=1, kind="stable")[:, :most]
    order = np.where(np.take_along_axis(legal, order, axis=1), order, -1)
    widest = int((order >= 0).sum(axis=1).max())
    return order[:, :widest].astype(np.intp)


class Comparison:
    """Candidates of some decisions, compared with the first of each in the same redrawn games."""

    def __init__(self, d: Decisions, rows: Index, candidates: Index, guide: Guide) -> None:
        self._d, self._rows, self._candidates, self._guide = d, rows, candidates, guide
        self.alive: Flags = candidates >= 0
        self.games = np.zeros(candidates.shape, dtype=np.int64)  # so far
        self.total = np.zeros(candidates.shape)  # of the leads on the first
        self.square = np.zeros(candidates.shape)
        self._copies = np.zeros(len(rows), dtype=np.int64)  # redrawn games so far

    def play(self, k: Index, copies: I64) -> None:
        """Try the candidates that are left of decisions k [K'] in so many more redrawn games [K']."""
        decision = k.repeat(copies)
        offset = (np.cumsum(copies) - copies).repeat(copies)
        copy = np.arange(len(decision)) - offset + self._copies[k].repeat(copies)
        self._copies[k] += copies
        width = self.alive[decision].sum(axis=1)
        part = (np.cumsum(width) - width) // GAMES_AT_ONCE
        for number in range(int(part[-1]) + 1 if len(part) else 0):
            at = np.flatnonzero(part == number)
            self._play_at_once(decision[at], copy[at])

    def _play_at_once(self, decision: Index, copy: I64) -> None:
        rows = self._rows[decision]
        game, column = np.nonzero(self.alive[decision])
        worlds = self._d.determinize(copy, rows=rows).take(game)
        worlds.step(self._candidates[decision[game], column])
        value = play_out(worlds, self._d, rows[game], self._guide)
        own = value[np.arange(len(game)), self._d.seat[rows[game]]]
        lead = own - own[np.flatnonzero(column == 0)[game]]
        at = (decision[game], column)
        np.add.at(self.games, at, 1)
        np.add.at(self.total, at, lead)
        np.add.at(self.square, at, lead**2)

    @property
    def lead(self) -> F64:
        """The mean lead on the first candidate; 0 before the first game -> [K, C]."""
        mean: F64 = self.total / np.maximum(self.games, 1)
        return mean

    @property
    def error(self) -> F64:
        """The standard error of that -> [K, C]."""
        games = np.maximum(self.games, 1)
        error: F64 = np.sqrt(np.maximum(self.square / games - self.lead**2, 0.0) / games)
        return error

    def best(self, caution: float) -> Index:
        """The column with the largest lead, less its error by `caution` times; the first column's is 0 -> [K]."""
        tried = self.alive & (self.games > 0)
        tried[:, 0] = True
        best: Index = np.where(tried, self.lead - caution * self.error, -np.inf).argmax(axis=1)
        return best

    def found(self, guide: Guide) -> tuple[Index, F64, I64]:
        """What `Search._search` returns."""
        caution = guide.caution if guide.worths is not None else 0.0
        value = np.where(self.games > 0, self.lead, np.nan)
        return self.best(caution), value, self.games.sum(axis=1)


class FlatMonteCarlo(Search):
    """Every candidate in the same redrawn games, as many as the budget allows; the best mean placement."""

    def _search(self, d: Decisions, rows: Index, candidates: Index, guide: Guide) -> tuple[Index, F64, I64]:
        comparison = Comparison(d, rows, candidates, guide)
        everything = np.arange(len(rows))
        rollouts = self.config.rollouts
        if rollouts is not None:
            copies = rollouts // comparison.alive.sum(axis=1)
            some = np.flatnonzero(copies > 0)
            comparison.play(some, copies[some])
        else:
            for _ in _until(time.perf_counter(), self.config, len(rows), 1.0):
                comparison.play(everything, np.full(len(rows), WAVE))
        return comparison.found(guide)


class SequentialHalving(Search):
    """In rounds, each with the same part of the budget; after each the worse half of the candidates goes.

    The guide's favourite, with which the others are compared, stays to the end. A candidate goes early when it is clearly
    behind (`Config.drop`), and the search ends when none is left: often with much of the budget unspent.
    """

    def _search(self, d: Decisions, rows: Index, candidates: Index, guide: Guide) -> tuple[Index, F64, I64]:
        comparison = Comparison(d, rows, candidates, guide)
        rounds, rollouts = self.config.rounds, self.config.rollouts
        start = time.perf_counter()
        for number in range(rounds):
            k = np.flatnonzero(comparison.alive.sum(axis=1) > 1)
            if not k.size:
                break
            if rollouts is not None:
                left = rollouts - comparison.games[k].sum(axis=1)
                copies = left // (rounds - number) // comparison.alive[k].sum(axis=1)
                some = copies > 0
                comparison.play(k[some], copies[some])
            else:
                for _ in _until(start, self.config, len(rows), (number + 1) / rounds):
                    comparison.play(k, np.full(len(k), WAVE))
            if number < rounds - 1:
                self._halve(comparison)
        return comparison.found(guide)

    def _halve(self, comparison: Comparison) -> None:
        alive, lead = comparison.alive, comparison.lead
        others = alive.copy()
        others[:, 0] = False
        others &= lead + self.config.drop * comparison.error >= 0.0
        place = np.argsort(np.argsort(np.where(others, -lead, np.inf), axis=1, kind="stable"), axis=1, kind="stable")
        half = -(-(alive.sum(axis=1) - 1) // 2)
        alive[:, 1:] = (others & (place < half[:, None]))[:, 1:]


class ISMCTS(Search):
    """A tree over the decisions that follow, shared by all redrawn games; its leaves are played out in waves.

    A node is a sequence of actions; each game that passes it brings its own legal actions, of which the best `candidates`
    are open. Every seat goes for its own reward (max^n). Where another seat is to act than when the node was met first
    (a drawn card may end a turn), the game is played out from there.
    """

    def _search(self, d: Decisions, rows: Index, candidates: Index, guide: Guide) -> tuple[Index, F64, I64]:
        config = self.config
        start = time.perf_counter()
        most = DEFAULT_NODES if config.rollouts is None else config.rollouts
        at_once = max(1, min(TREE_CELLS // ((most + 1) * d.num_actions), GAMES_AT_ONCE // config.wave))
        best = np.zeros(len(rows), dtype=np.intp)
        value = np.full(candidates.shape, np.nan)
        rollouts = np.zeros(len(rows), dtype=np.int64)
        for first in range(0, len(rows), at_once):
            part = slice(first, first + at_once)
            forest = Forest(d, rows[part], most, config, guide)
            if config.rollouts is not None:
                while forest.rollouts < most:
                    forest.grow(min(config.wave, most - forest.rollouts))
            else:
                share = min(first + at_once, len(rows)) / len(rows)
                for _ in _until(start, config, len(rows), share):
                    forest.grow(config.wave)
            rollouts[part] = forest.rollouts
            best[part], value[part] = forest.choice(candidates[part], guide)
        return best, value, rollouts


DEFAULT_NODES: Final = 4096  # of a tree that grows by the clock; beyond them nothing is added to it


class Forest:
    """The trees of some decisions, one each, node 0 the decision itself.

    T trees  V nodes  B games of a tree in a wave
    """

    def __init__(self, d: Decisions, rows: Index, most: int, config: Config, guide: Guide) -> None:
        self._d, self._rows, self._config, self._guide = d, rows, config, guide
        shape = (len(rows), most + 1, d.num_actions)
        self._size = np.ones(len(rows), dtype=np.intp)  # nodes of each tree
        self._seat = np.full(shape[:2], -1, dtype=np.int8)  # who was to act when the node was met first
        self._child = np.zeros(shape, dtype=np.int32)  # node; 0: none yet
        self._visits = np.zeros(shape, dtype=np.int32)
        self._open = np.zeros(shape, dtype=np.int32)  # how often the action could have been chosen
        self._total = np.zeros(shape)  # of the acting seat's values
        self._square = np.zeros(shape[::2])  # the root's
        self.rollouts = 0  # of each tree

    def grow(self, wave: int) -> None:
        """Play so many more redrawn games of every tree: down the tree to a leaf, and on by the guide's rollouts."""
        trees = np.arange(len(self._rows)).repeat(wave)
        copies = np.tile(np.arange(self.rollouts, self.rollouts + wave), len(self._rows))
        worlds = self._d.determinize(copies, rows=self._rows[trees])
        node = np.zeros(len(trees), dtype=np.intp)
        walking = np.arange(len(trees))
        path: list[tuple[Index, Index, Index, Index]] = []  # games, their nodes, seats and actions
        while walking.size:
            now = decisions(worlds, walking)
            met = self._seat[trees[walking], node[walking]]
            new = met < 0
            self._seat[trees[walking[new]], node[walking[new]]] = now.seat[new]
            same = self._seat[trees[walking], node[walking]] == now.seat
            if not same.all():
                walking = walking[same]
                if not walking.size:
                    break
                now = decisions(worlds, walking)
            action, leaf = self._choose(now, trees[walking], node[walking], walking % wave)
            path.append((walking, node[walking], now.seat, action))
            worlds.step(action, where=walking)
            node[walking] = self._child[trees[walking], node[walking], action]
            walking = walking[~leaf & (worlds.player[walking] >= 0)]
        values = play_out(worlds, self._d, self._rows[trees], self._guide)
        for depth, (games, nodes, seats, actions) in enumerate(path):
            at = (trees[games], nodes, actions)
            value = values[games, seats]
            np.add.at(self._total, at, value + 1.0)  # the loss that `_choose` has assumed is taken back
            if depth == 0:
                np.add.at(self._square, (trees[games], actions), value**2)
        self.rollouts += wave

    def _choose(self, now: Decisions, tree: Index, node: Index, turn: Index) -> tuple[Index, Flags]:
        """An action in every game and whether it leads to a leaf. The games of a tree choose in turn, so that each sees the
        visits of those before it, which count as lost until they are played out."""
        order = best_actions(now, self._guide, self._config.candidates)
        action = np.zeros(len(now), dtype=np.intp)
        leaf = np.zeros(len(now), dtype=np.bool_)
        for number in range(int(turn.max()) + 1):
            k = np.flatnonzero(turn == number)
            if not k.size:
                continue
            at_tree, at_node = tree[k, None], node[k, None]
            tried = np.maximum(order[k], 0)
            real = order[k] >= 0
            np.add.at(self._open, (at_tree, at_node, tried), real)  # action 0 stands for no action, too
            visits = self._visits[at_tree, at_node, tried]
            mean = self._total[at_tree, at_node, tried] / np.maximum(visits, 1)
            times = np.log(np.maximum(self._open[at_tree, at_node, tried], 1))
            bound = mean + self._config.exploration * np.sqrt(times / np.maximum(visits, 1))
            bound = np.where(visits == 0, np.inf, bound).round(9)
            column = np.where(real, bound, -np.inf).argmax(axis=1)
            chosen = tried[np.arange(len(k)), column]
            action[k] = chosen
            at = (tree[k], node[k], chosen)
            grows = (self._child[at] == 0) & (self._size[tree[k]] < self._child.shape[1])
            self._child[tree[k][grows], node[k][grows], chosen[grows]] = self._size[tree[k][grows]]
            self._size[tree[k][grows]] += 1
            leaf[k] = (self._visits[at] == 0) | (self._child[at] == 0)
            self._visits[at] += 1
            self._total[at] -= 1.0
        return action, leaf

    def choice(self, candidates: Index, guide: Guide) -> tuple[Index, F64]:
        """The column of the best root action, and the mean values of all; as everywhere, not the favourite only where
        another is ahead by more than the error -> [T], [T, C]."""
        at = (np.arange(len(candidates))[:, None], np.maximum(candidates, 0))
        visits = np.where(candidates >= 0, self._visits[at[0], 0, at[1]], 0)
        games = np.maximum(visits, 1)
        mean = self._total[at[0], 0, at[1]] / games
        variance = np.maximum(self._square[at] / games - mean**2, 0.0) / games
        error = np.sqrt(variance + variance[:, :1])
        error[:, 0] = 0.0
        caution = guide.caution if guide.worths is not None else 0.0
        best: Index = np.where(visits > 0, mean - caution * error, -np.inf).argmax(axis=1)
        return best, np.where(visits > 0, mean, np.nan)


def _until(start: float, config: Config, decisions: int, share: float) -> Iterator[None]:
    """Once, and again until this share of the time of so many decisions has passed."""
    assert config.milliseconds is not None
    end = start + share * decisions * config.milliseconds / 1000.0
    yield
    while time.perf_counter() < end:
        yield


policy: Final = SequentialHalving()
