"""One learning seat a game, policies in the others: what Gymnasium's and Stable-Baselines3's environments share.

Credit is exact: a step of the learner joins two of its own decisions. What it earns in between, while others move, and the
final reward, a loser's too, belong to that step; the observation is always the learner's.

    N games  P seats  A actions  M the games of a subset
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from easyenvs.adapters.aec import table_picture, table_text
from easyenvs.core import chance, rewards, views
from easyenvs.core.arrays import F64, I64, U64, Flags, Index
from easyenvs.core.batch import Batch, check_seed
from easyenvs.core.errors import ActionTypeError, IllegalActionError, NotResetError, SnapshotError
from easyenvs.core.game import GameDefinition
from easyenvs.core.options import as_integer, choice_option, refuse_option
from easyenvs.core.policies import Policy, checked_choice, decisions, load_policy, random_policy

ILLEGAL: Final = ("lose", "raise")
ILLEGAL_REWARD: Final = -1.0
LEARNER: Final = -1  # in an assignment: the seat that learns


@runtime_checkable
class OpponentPool(Protocol):
    """Opponents that change from game to game, such as `easyenvs.selfplay.Pool`."""

    @property
    def policies(self) -> Sequence[Policy]:
        """All that may play: the numbers that `draw` gives."""

    def draw(self, keys: U64) -> Index:
        """For each new game the index of the policy that plays all the other seats; `keys` [M] are its randomness."""

    def note(self, members: Index, placement: F64) -> None:
        """Games are over: which policy played, and what the learner's place was worth (R1, whatever the reward is): [M]."""


Opponents = Policy | str | None | Sequence[Policy | str | None] | OpponentPool


class Field:
    """Who plays the seats that don't learn.

    Args:
        opponents: None (uniform random); a policy or its name, for all other seats; a sequence of P − 1, the first for the
            seat after the learner's and so on round the table; a sequence of P, by seat, of which the learner's own is
            not used (it may be None); or an OpponentPool.
    """

    def __init__(self, opponents: Opponents, game: GameDefinition, players: int) -> None:
        self.pool: OpponentPool | None = None
        self._by_seat = self._in_turn = False
        self._players = players
        if opponents is None:
            self._policies: Sequence[Policy] = [random_policy]
        elif isinstance(opponents, OpponentPool):
            self.pool = opponents
        elif isinstance(opponents, str) or callable(opponents):
            self._policies = [load_policy(opponents, game)]
        elif isinstance(opponents, Sequence) and len(opponents) in (players - 1, players):
            self._policies = [random_policy if one is None else load_policy(one, game) for one in opponents]
            self._by_seat = len(opponents) == players
            self._in_turn = not self._by_seat
        else:
            refuse_option(
                "opponents",
                opponents,
                f"None, a policy or its name, {players - 1} of them in turn after the learner, {players} of them by seat, "
                "or a pool",
            )

    @property
    def policies(self) -> Sequence[Policy]:
        """All that may sit somewhere: the numbers of an assignment."""
        return self._policies if self.pool is None else self.pool.policies

    def assign(self, seat: Index, keys: U64) -> Index:
        """Who sits where in new games: [M, P], LEARNER in the learner's seat [M]."""
        rows = np.arange(len(seat))
        everyone = np.arange(self._players)[None, :]
        if self.pool is not None:
            assignment = np.repeat(np.asarray(self.pool.draw(keys), dtype=np.intp)[:, None], self._players, axis=1)
        elif self._by_seat:
            assignment = np.repeat(everyone, len(seat), axis=0)
        elif self._in_turn:
            assignment = (everyone - seat[:, None] - 1) % self._players
        else:
            assignment = np.zeros((len(seat), self._players), dtype=np.intp)
        assignment[rows, seat] = LEARNER
        return assignment.astype(np.intp)


def check_seat(seat: object, players: int) -> int | None:
    """A fixed learning seat, or None for "random"; else an OptionError."""
    if isinstance(seat, str) and seat == "random":
        return None
    number = as_integer(seat)
    if number is None or not 0 <= number < players:
        refuse_option("seat", seat, f"'random' or an integer 0 … {players - 1}")
    return number


def seats_for(seeds: U64, fixed: int | None, players: int) -> Index:
    """The learner's seat in the games with these seeds: fixed, or drawn anew for every game."""
    if fixed is not None:
        return np.full(len(seeds), fixed, dtype=np.intp)
    keys = chance.derive_array(chance.DOMAIN_SEAT, seeds, np.zeros(len(seeds), dtype=np.uint64))
    return chance.below(keys, np.full(len(seeds), players, dtype=np.uint64)).astype(np.intp)


def check_start(game: GameDefinition, snapshot: Any) -> None:
    """A SnapshotError for a position in which nobody can begin; what else may be wrong with it, `restore` says."""
    if isinstance(snapshot, dict) and snapshot.get("phase") == "over":
        raise SnapshotError(f"the snapshot's game is over; {game.id} can't be reset to it")


@dataclass(frozen=True)
class Outcome:
    """What a step of the learner led to, in the M games that were stepped."""

    reward: F64  # [M]
    terminated: Flags
    truncated: Flags
    illegal: Flags  # the learner's action was illegal (only with illegal="lose")


class LearnerGames:
    """N games with one learning seat each: it is always the learner's turn, or the game is over.

    Args:
        game: the game.
        num_games: N.
        seat: the learning seat, or "random": drawn anew for every game.
        opponents: see `Field`.
        reward, observation: as of `env`.
        illegal: "lose" (−1 and the game is over) or "raise".
        engine: "numpy", "python", or None: the faster one for this number of games.
        rules: the game's rule options.
    """

    def __init__(
        self,
        game: GameDefinition,
        num_games: int,
        *,
        seat: int | str,
        opponents: Opponents,
        reward: str,
        observation: Any,
        illegal: str,
        engine: str | None = None,
        **rules: Any,
    ) -> None:
        self.game = game
        self.batch: Batch = game.batch(num_games, reward=reward, engine=engine or game.engines[-1], **rules)
        self.illegal: str = choice_option("illegal", illegal, ILLEGAL)
        self._fixed = check_seat(seat, self.batch.num_players)
        self.field = Field(opponents, game, self.batch.num_players)
        self.observation = observation
        self.encoder = self.batch.encoder(observation)
        n = num_games
        self.seat: Index = np.zeros(n, dtype=np.intp)
        self.over: Flags = np.ones(n, dtype=np.bool_)
        self._assignment: Index = np.zeros((n, self.batch.num_players), dtype=np.intp)
        self._is_dealt = False  # the batch's first games have been handed out

    def set_opponents(self, opponents: Opponents) -> None:
        """Let others play from now on, in running games too."""
        field = Field(opponents, self.game, self.batch.num_players)
        self.field = field
        if self._is_dealt:
            self._assignment = field.assign(self.seat, self.batch.seeds)

    # ------------------------------------------------------------------------------------------ reset

    def reset(
        self,
        rows: Index,
        seeds: Sequence[int | None] | None = None,
        snapshots: Sequence[dict[str, Any] | None] | None = None,
    ) -> I64:
        """New games in these rows: [M] → how many games were skipped in each, because they ended before the learner's turn.

        seeds: a game seed a row; None goes on with the row's stream. snapshots: a position a row instead of a deal.
        """
        batch = self.batch
        # All is checked before anything is dealt.
        given = [None] * len(rows) if seeds is None else [None if seed is None else check_seed(seed) for seed in seeds]
        fresh = np.array([seed is None for seed in given], dtype=np.bool_)
        if snapshots is not None:
            for snapshot in snapshots:
                check_start(self.game, snapshot)
            before = batch.copy()
        if self._is_dealt:
            batch.reset(where=rows[fresh])
        if not fresh.all():
            batch.reset(seed=[seed for seed in given if seed is not None], where=rows[~fresh])
        if snapshots is not None:
            try:
                for row, snapshot in zip(rows.tolist(), snapshots, strict=True):
                    if snapshot is not None:
                        batch.restore(row, snapshot)
            except SnapshotError:
                self.batch = before
                raise
        self._is_dealt = True
        return self._begin(rows)

    def _begin(self, rows: Index) -> I64:
        """Seats and opponents of the games in these rows, played up to the learner's first decision."""
        batch = self.batch
        skipped = np.zeros(len(rows), dtype=np.int64)
        due = np.arange(len(rows))
        while len(due):
            now = rows[due]
            seeds = batch.seeds[now]
            self.seat[now] = seats_for(seeds, self._fixed, batch.num_players)
            self._assignment[now] = self.field.assign(self.seat[now], seeds)
            self.over[now] = False
            self._play_others(now)
            due = due[batch.player[now] < 0]
            if len(due):
                skipped[due] += 1
                batch.reset(where=rows[due])
        return skipped

    # ------------------------------------------------------------------------------------------ step

    def step(self, actions: npt.NDArray[Any], rows: Index) -> Outcome:
        """The learner's action in each of these games, none of which is over, and the others' until its next turn.

        Raises:
            IllegalActionError: with illegal="raise"; and an action out of range or of a wrong type, always. Nothing has
                changed.
        """
        self.check_running(rows)
        batch = self.batch
        chosen = np.asarray(actions)
        if chosen.dtype.kind not in "iu" or chosen.shape != rows.shape:
            raise ActionTypeError(
                f"actions are {chosen.dtype} of shape {chosen.shape}; integers of shape {rows.shape} are accepted"
            )
        outside = (chosen < 0) | (chosen >= batch.num_actions)
        if outside.any():
            raise IllegalActionError(
                f"{self.game.id}, game {rows[outside][0]}: action {chosen[outside][0]} is none; "
                f"ids are 0 … {batch.num_actions - 1}"
            )
        illegal = np.zeros(len(rows), dtype=np.bool_)
        if self.illegal == "lose":
            words = batch.legal_words[rows, chosen >> 6]
            illegal = (words >> (chosen & 63).astype(np.uint64) & np.uint64(1)) == 0
        legal_rows = rows[~illegal]
        batch.step(chosen[~illegal], where=legal_rows)
        earned = np.zeros(batch.num_games, dtype=np.float64)
        earned[legal_rows] = batch.rewards[legal_rows, self.seat[legal_rows]]
        self._play_others(legal_rows, earned)
        earned[rows[illegal]] = ILLEGAL_REWARD
        terminated, truncated = batch.terminated[rows] | illegal, batch.truncated[rows]
        over = terminated | truncated
        self.over[rows] = over
        pool = self.field.pool
        if pool is not None and over.any():
            ended = rows[over & ~illegal]
            others = (self.seat[ended] + 1) % batch.num_players
            place = batch.ranks()[ended, self.seat[ended]]
            pool.note(self._assignment[ended, others], rewards.placement_of(place, batch.num_players))
        return Outcome(earned[rows], terminated, truncated, illegal)

    def check_running(self, rows: Index) -> None:
        """A NotResetError if a game has not been dealt or is over."""
        over = rows[self.over[rows]]
        if len(over):
            what = "is over" if self._is_dealt else "has not begun"
            raise NotResetError(f"{self.game.id}: game {over[0]} {what}: call reset()")

    def _play_others(self, rows: Index, earned: F64 | None = None) -> None:
        """Let the policies play in these games until it is the learner's turn, or the game is over."""
        batch, seat = self.batch, self.seat
        while len(rows):
            player = batch.player[rows]
            due = (player >= 0) & (player != seat[rows])
            rows, player = rows[due], player[due]
            if not len(rows):
                return
            sits = self._assignment[rows, player]
            actions = np.zeros(len(rows), dtype=np.intp)
            for index in np.unique(sits).tolist():  # a pool holds many more than are at the tables now
                policy = self.field.policies[index]
                here = np.flatnonzero(sits == index)
                d = decisions(batch, rows[here], with_view=getattr(policy, "needs_view", True))
                actions[here] = checked_choice(policy, d)
            batch.step(actions, where=rows)
            if earned is not None:
                earned[rows] += batch.rewards[rows, seat[rows]]

    # ------------------------------------------------------------------------------------------ what the learner sees

    def observe(self) -> Any:
        """The learner's observation in every game, by the encoder: the games first."""
        return self.batch.observe(self.encoder, seat=self.seat)

    def masks(self) -> Flags:
        """The learner's legal actions, bool [N, A]; all False where its game is over."""
        masks = self.batch.legal
        masks[self.over] = False
        return masks

    def texts(self) -> tuple[str, ...]:
        """The table as the learner sees it in every game; with scores and ranks once it is over."""
        batch, masks = self.batch, self.masks()
        view = batch.view(self.seat)
        scores, ranks = batch.scores.tolist(), batch.ranks().tolist()
        return tuple(
            table_text(
                self.game,
                views.unstack(view, row),
                int(self.seat[row]),
                np.flatnonzero(masks[row]).tolist(),
                list(zip(scores[row], ranks[row], strict=True)) if self.over[row] else [],
            )
            for row in range(batch.num_games)
        )

    def pictures(self, rows: Index) -> list[str]:
        """The table as the learner sees it in each of these games, as SVG; with the ranks once it is over."""
        batch = self.batch
        view = batch.view(self.seat[rows], where=rows)
        ranks = batch.ranks().tolist() if self.over[rows].any() else []
        return [
            table_picture(
                self.game,
                views.unstack(view, index),
                int(self.seat[row]),
                ranks=ranks[row] if self.over[row] else None,
            )
            for index, row in enumerate(rows.tolist())
        ]

    def results(self, rows: Index) -> tuple[I64, F64]:
        """The learner's score and rank (1-based, ties averaged) in these games: [M] each."""
        batch = self.batch
        return batch.scores[rows, self.seat[rows]], batch.ranks()[rows, self.seat[rows]]
