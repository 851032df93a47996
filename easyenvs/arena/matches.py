"""Duplicate play: every deal is played once in each rotation of the seats, so that luck in the cards cancels.

D deals  P seats, players of a line-up and rotations  N games of a part  T decisions
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from easyenvs.core import rewards
from easyenvs.core.arrays import F64, I64, Flags, Index
from easyenvs.core.batch import Batch
from easyenvs.core.errors import OptionError
from easyenvs.core.game import GameDefinition
from easyenvs.core.options import choice_option
from easyenvs.core.policies import Policy, checked_choice, decisions
from easyenvs.records import Fault, Record, Result

Advance = Callable[[int], None]
"""Is told how many more games are over."""

OnFailure = Literal["raise", "forfeit"]

GAMES_AT_ONCE: Final = 8192
INTERVAL: Final = 1.96  # standard errors to either side: 95%
MAX_REASON: Final = 500  # characters of a failure's reason that are kept
NOBODY: Final = -1


@dataclass(frozen=True)
class Failure:
    """A game that a policy has lost by a failure.

    Attributes:
        deal, rotation: which game.
        player: the place in the line-up of the policy that failed.
        reason: what it did.
        record: the game up to there.
    """

    deal: int
    rotation: int
    player: int
    reason: str
    record: Record


@dataclass(frozen=True)
class Deals:
    """How the games of some deals ended, by player of the line-up.

    Attributes:
        seeds: uint64 [D], the game seeds.
        seats: int8 [D, P, P] by deal, rotation and player: where each sat.
        ranks: float64 [D, P, P] by deal, rotation and player: 1-based, ties averaged. Whoever forfeits is last.
        scores: int64 [D, P, P] likewise.
        decisions: int64 [D, P] by deal and rotation.
        truncated: bool [D, P] likewise: the game was cut off (R6); its ranks are those so far.
        failures: the games that were forfeited.
        records: all games in order, if they were asked for.
    """

    seeds: npt.NDArray[np.uint64]
    seats: npt.NDArray[np.int8]
    ranks: F64
    scores: I64
    decisions: I64
    truncated: Flags
    failures: tuple[Failure, ...] = ()
    records: tuple[Record, ...] = ()

    @property
    def placements(self) -> F64:
        """R1's reward of every game: [D, P, P] as `ranks`."""
        by_player = np.moveaxis(self.ranks, 2, 0)
        every: F64 = np.moveaxis(
            rewards.placement(by_player.reshape(len(by_player), -1)).reshape(by_player.shape), 0, 2
        )
        return every

    @property
    def placement(self) -> F64:
        """R1's reward by deal and player, the mean over the rotations: [D, P]."""
        mean: F64 = self.placements.mean(axis=1)
        return mean

    @property
    def win_shares(self) -> F64:
        """Whether each player won each game; a shared first place counts its share: [D, P, P] as `ranks`."""
        best = self.ranks == self.ranks.min(axis=2, keepdims=True)
        share: F64 = best / best.sum(axis=2, keepdims=True)
        return share

    @property
    def wins(self) -> F64:
        """Games won by deal and player, the mean over the rotations: [D, P]."""
        mean: F64 = self.win_shares.mean(axis=1)
        return mean

    @classmethod
    def join(cls, parts: Sequence[Deals]) -> Deals:
        """The deals of several, one after the other."""
        failures: list[Failure] = []
        first = 0
        for part in parts:
            failures += [replace(failure, deal=failure.deal + first) for failure in part.failures]
            first += len(part.seeds)
        return cls(
            seeds=np.concatenate([part.seeds for part in parts]),
            seats=np.concatenate([part.seats for part in parts]),
            ranks=np.concatenate([part.ranks for part in parts]),
            scores=np.concatenate([part.scores for part in parts]),
            decisions=np.concatenate([part.decisions for part in parts]),
            truncated=np.concatenate([part.truncated for part in parts]),
            failures=tuple(failures),
            records=tuple(record for part in parts for record in part.records),
        )


def half_width(by_deal: F64) -> F64:
    """Half of the 95% interval of the mean over deals (the games of one deal are not independent): [D, …] -> […]."""
    width: F64 = INTERVAL * np.asarray(by_deal).std(axis=0, ddof=1) / np.sqrt(len(by_deal))
    return width


def seat_order(deal: int, players: int) -> list[int]:
    """Who sits in which seat in rotation 0 of a tournament's deal, by the deal's number: the players by seat, [P].

    Who plays after whom makes a difference as well, and rotations don't change it. So the order goes round from deal to
    deal: in (P − 1)! deals in a row every cyclic order comes once, and in P − 1 everybody plays once right after player 0.
    """
    order, left = [0], list(range(1, players))
    while left:
        deal, which = divmod(deal, len(left))
        order.append(left.pop(which))
    return order


def play_deals(
    game: GameDefinition,
    policies: Sequence[Policy],
    seeds: npt.NDArray[np.integer[Any]] | Sequence[int],
    *,
    orders: npt.ArrayLike | None = None,
    policy_seeds: Sequence[int] | None = None,
    names: Sequence[str | None] | None = None,
    on_failure: OnFailure = "raise",
    time_limit: float | None = None,
    keep_records: bool = False,
    advance: Advance | None = None,
    **rules: Any,
) -> Deals:
    """Play every deal in each rotation of the seats, many games at a time.

    Args:
        game: the game.
        policies: the line-up: P of them.
        seeds: the game seeds, [D].
        orders: of each deal, the players by seat in rotation 0, integers [D, P]; in rotation r they sit r seats further on.
            None: player j in seat j.
        policy_seeds: a seed for each policy (default 0).
        names: of the policies, for the records.
        on_failure: what an exception, an illegal action or a time-out of a policy does: "raise", or "forfeit": its game is
            lost, and the others go on.
        time_limit: seconds a decision. A call for M decisions that takes more than M times as long loses them all; it is
            noticed when the call returns.
        keep_records: keep the record of every game.
        advance: is told how many more games are over.
        rules: the game's rule options besides num_players, which is P.
    """
    choice_option("on_failure", on_failure, ("raise", "forfeit"))
    if time_limit is not None and not time_limit > 0:
        raise OptionError(f"time_limit={time_limit!r} is not accepted: time_limit must be None or seconds above 0")
    players = len(policies)
    game_seeds = np.asarray(seeds, dtype=np.uint64)
    by_seat = np.broadcast_to(np.arange(players), (len(game_seeds), players)) if orders is None else np.asarray(orders)
    if by_seat.shape != (len(game_seeds), players) or (np.sort(by_seat, axis=1) != np.arange(players)).any():
        raise OptionError(
            f"orders of shape {by_seat.shape} are not accepted: each of {len(game_seeds)} deals needs players "
            f"0 … {players - 1} in some order"
        )
    per_part = max(1, GAMES_AT_ONCE // players)
    parts = []
    for first in range(0, len(game_seeds), per_part):
        some = slice(first, first + per_part)
        part = _Part(game, policies, game_seeds[some], by_seat[some], policy_seeds, rules)
        part.play(on_failure == "forfeit", time_limit, advance)
        parts.append(part.deals(names or [None] * players, keep_records))
    return Deals.join(parts)


class _Part:
    """Some deals in all rotations on one batch."""

    def __init__(
        self,
        game: GameDefinition,
        policies: Sequence[Policy],
        seeds: npt.NDArray[np.uint64],
        by_seat: npt.NDArray[np.integer[Any]],
        policy_seeds: Sequence[int] | None,
        rules: dict[str, Any],
    ) -> None:
        self.game, self.policies, self.seeds = game, policies, seeds
        self.players = players = len(policies)
        self.policy_seeds = [0] * players if policy_seeds is None else policy_seeds
        self.batch: Batch = game.batch(
            len(seeds) * players, num_players=players, seed=np.repeat(seeds, players), **rules
        )
        rotations = np.arange(players)
        # Whoever sits somewhere in a rotation: where in rotation 0 [rotation, seat], and who that is [game, seat].
        first_seat = (np.arange(players)[None, :] - rotations[:, None]) % players
        self.assignment: Index = by_seat[:, first_seat].reshape(-1, players).astype(np.intp)
        self.forfeit: I64 = np.full(self.batch.num_games, NOBODY, dtype=np.int64)  # the seat that has failed
        self.reasons: dict[int, str] = {}
        # By call: rows, seats, actions.
        self.history: list[tuple[Index, npt.NDArray[np.int8], npt.NDArray[np.int16]]] = []

    def play(self, tolerant: bool, time_limit: float | None, advance: Advance | None) -> None:
        """Play all games to their end."""
        batch = self.batch
        over = 0
        while over < batch.num_games:
            player = batch.player
            running = np.flatnonzero((player >= 0) & (self.forfeit == NOBODY))
            sits = self.assignment[running, player[running]]
            actions = np.zeros(batch.num_games, dtype=np.intp)
            for index, policy in enumerate(self.policies):
                rows = running[sits == index]
                if len(rows):
                    self._ask(policy, self.policy_seeds[index], rows, actions, tolerant, time_limit)
            playing = running[self.forfeit[running] == NOBODY]
            if len(playing):
                batch.step(actions[playing], where=playing)
                self.history.append((playing, player[playing].astype(np.int8), actions[playing].astype(np.int16)))
            now = int(((batch.player < 0) | (self.forfeit != NOBODY)).sum())
            if advance is not None and now > over:
                advance(now - over)
            over = now

    def _ask(
        self, policy: Policy, seed: int, rows: Index, actions: Index, tolerant: bool, time_limit: float | None
    ) -> None:
        """Fill in what a policy plays in these games, or note that it has failed."""
        batch = self.batch
        everywhere = None if len(rows) == batch.num_games else rows
        d = decisions(batch, everywhere, seed=seed, with_view=getattr(policy, "needs_view", True))
        start = time.perf_counter()
        try:
            chosen = checked_choice(policy, d)
        except Exception as error:  # whatever a policy raises
            if not tolerant:
                raise
            if len(rows) == 1:
                self._fail(rows, f"{type(error).__name__}: {error}")
                return
            # Which of them? A policy plays alone as it does in a batch.
            for half in np.array_split(rows, 2):
                self._ask(policy, seed, half, actions, tolerant, time_limit)
            return
        seconds = time.perf_counter() - start
        if time_limit is not None and seconds > time_limit * len(rows):
            reason = f"time-out: {seconds / len(rows):.3g} s a decision, {time_limit:g} s are allowed"
            if not tolerant:
                raise TimeoutError(f"{policy!r}: {reason}")
            self._fail(rows, reason)
            return
        if tolerant:
            legal = (chosen >= 0) & (chosen < d.num_actions)
            legal &= d.legal[np.arange(len(rows)), np.where(legal, chosen, 0)]
            for row, action in zip(rows[~legal].tolist(), chosen[~legal].tolist(), strict=True):
                names = self.game.notation.ACTION_NAMES
                name = f" ({names[action]})" if 0 <= action < len(names) else ""
                self._fail(np.array([row]), f"illegal action {action}{name}")
        actions[rows] = chosen

    def _fail(self, rows: Index, reason: str) -> None:
        self.forfeit[rows] = self.batch.player[rows]
        # A policy's message may hold what no file can: it is cut and cleaned.
        text = reason[:MAX_REASON].encode("utf-8", "replace").decode()
        self.reasons.update(dict.fromkeys(rows.tolist(), text))

    def deals(self, names: Sequence[str | None], keep_records: bool) -> Deals:
        """How they ended."""
        batch, players, count = self.batch, self.players, len(self.seeds)
        ranks = batch.ranks()
        failed = np.flatnonzero(self.forfeit != NOBODY)
        if len(failed):
            own = ranks[failed, self.forfeit[failed]][:, None]
            others = ranks[failed] - (own < ranks[failed]) - 0.5 * (own == ranks[failed])  # without the one that failed
            others[np.arange(len(failed)), self.forfeit[failed]] = players
            ranks[failed] = others
        sits = np.argsort(self.assignment, axis=1)  # the seat of each player
        wanted = range(batch.num_games) if keep_records else failed.tolist()
        records = self._records(wanted, names)
        failures = tuple(
            Failure(
                deal=row // players,
                rotation=row % players,
                player=int(self.assignment[row, self.forfeit[row]]),
                reason=self.reasons[row],
                record=records[row],
            )
            for row in failed.tolist()
        )
        shape = (count, players, players)
        return Deals(
            seeds=self.seeds,
            seats=sits.reshape(shape).astype(np.int8),
            ranks=np.take_along_axis(ranks, sits, axis=1).reshape(shape),
            scores=np.take_along_axis(batch.scores, sits, axis=1).reshape(shape),
            decisions=batch.decisions.reshape(shape[:2]),
            truncated=batch.truncated.reshape(shape[:2]),
            failures=failures,
            records=tuple(records[row] for row in wanted) if keep_records else (),
        )

    def _records(self, rows: Sequence[int], names: Sequence[str | None]) -> dict[int, Record]:
        """The records of these games, by row."""
        if not len(rows):
            return {}
        batch, action_names = self.batch, self.game.notation.ACTION_NAMES
        if self.history:
            row_of, seat_of, action_of = (np.concatenate(column) for column in zip(*self.history, strict=True))
        else:
            row_of, seat_of, action_of = np.zeros((3, 0), dtype=np.intp)
        order = np.argsort(row_of, kind="stable")
        starts = np.searchsorted(row_of[order], np.arange(batch.num_games + 1))
        scores, ranks, truncated = batch.scores, batch.ranks(), batch.truncated
        records = {}
        for row in rows:
            own = order[starts[row] : starts[row + 1]]
            fault = None
            result = None
            if self.forfeit[row] != NOBODY:
                fault = Fault(seat=int(self.forfeit[row]), reason=self.reasons[row])
            else:
                result = Result(
                    scores=tuple(scores[row].tolist()), ranks=tuple(ranks[row].tolist()), truncated=bool(truncated[row])
                )
            records[row] = Record(
                game=self.game.id,
                rules=batch.rules.as_dict(),
                seed=int(batch.seeds[row]),
                policies=tuple(names[player] for player in self.assignment[row].tolist()),
                actions=tuple(action_names[action] for action in action_of[own].tolist()),
                players=tuple(seat_of[own].tolist()),
                result=result,
                fault=fault,
            )
        return records
