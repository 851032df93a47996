"""Tournaments: any number of policies and players on equal deals, with intervals, ratings and records.

All line-ups play the same deals, each deal once in each rotation of the seats; the order in which the players sit goes round from
deal to deal (`seat_order`). What is uncertain is the deals: so every interval is a bootstrap over deals, never over games, which
are not independent within a deal.

    K policies  L line-ups  P seats  D deals  B resamples
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from easyenvs.arena.matches import Deals, OnFailure, play_deals, seat_order
from easyenvs.core import chance
from easyenvs.core.arrays import F64
from easyenvs.core.batch import check_seed, make_rules
from easyenvs.core.errors import MissingExtraError, OptionError
from easyenvs.core.game import GameDefinition
from easyenvs.core.options import integer_option, refuse_option
from easyenvs.core.policies import Policy, load_policy, plays_with
from easyenvs.records import Record
from easyenvs.registry import find_game
from easyenvs.version import __version__

DEALS_A_PART: Final = 256
"""Deals of a line-up that are played in one piece, by one process; fixed, so that a result does not depend on their number."""

DEALS_A_LOOK: Final = 2 * DEALS_A_PART
"""With a target: deals of a line-up between looks at the intervals; fixed for the same reason."""

RESAMPLES: Final = 1000
RATING_RESAMPLES: Final = 200
CONFIDENCE: Final = (2.5, 97.5)  # percentiles
MAX_GAMES: Final = 10**9
ELO_MEDIAN: Final = 1500.0  # not the mean: one that loses everything has no certain rating, and would move all others
ELO_SCALE: Final = 400.0 / math.log(10.0)


@dataclass(frozen=True)
class Estimate:
    """A mean and its 95% interval."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.half_width:.3f}"


@dataclass(frozen=True)
class Forfeit:
    """A game that a policy has lost by an exception, an illegal action or a time-out."""

    policy: str
    reason: str
    record: Record


@dataclass(frozen=True)
class TournamentResult:
    """All games of a tournament, and what they say.

    Attributes:
        game: the game's id.
        num_players: P.
        policies: their names, [K].
        line_ups: [L], the policies of each, P numbers.
        deals: [L], how each line-up's games ended; all on the same seeds.
        seed: of the deals.
        rules: the rule options.
    """

    game: str
    num_players: int
    policies: tuple[str, ...]
    line_ups: tuple[tuple[int, ...], ...]
    deals: tuple[Deals, ...]
    seed: int
    rules: dict[str, Any] = field(default_factory=dict)

    # -------------------------------------------------------------------------------------- counts

    @property
    def num_deals(self) -> int:
        """D."""
        return len(self.deals[0].seeds)

    @property
    def num_games(self) -> int:
        """All games that were played."""
        return self.num_deals * self.num_players * len(self.line_ups)

    @property
    def truncated(self) -> int:
        """Games that were cut off (R6); they count with the ranks that they had then."""
        return int(sum(deals.truncated.sum() for deals in self.deals))

    @property
    def forfeits(self) -> list[Forfeit]:
        """Games lost by a policy's failure."""
        return [
            Forfeit(self.policies[line_up[failure.player]], failure.reason, failure.record)
            for line_up, deals in zip(self.line_ups, self.deals, strict=True)
            for failure in deals.failures
        ]

    @property
    def records(self) -> list[Record]:
        """All games, if they were kept."""
        return [record for deals in self.deals for record in deals.records]

    # -------------------------------------------------------------------------------------- estimates

    def _resampled(self, resamples: int) -> F64:
        """How often each deal is in each resample, as weights: [B, D]."""
        rng = np.random.default_rng(self.seed)
        count = self.num_deals
        return rng.multinomial(count, np.full(count, 1.0 / count), size=resamples) / count

    def _estimate(self, by_deal: F64) -> Estimate:
        """The mean over deals of one figure, [D], and its interval; deals without the figure are NaN."""
        known = ~np.isnan(by_deal)
        if not known.any():
            return Estimate(math.nan, math.nan, math.nan)
        values = np.where(known, by_deal, 0.0)
        weights = self._weights
        totals = weights @ known.astype(np.float64)
        means = (weights @ values)[totals > 0] / totals[totals > 0]
        low, high = np.percentile(means, CONFIDENCE)
        return Estimate(float(values.sum() / known.sum()), float(low), float(high))

    @cached_property
    def _weights(self) -> F64:
        return self._resampled(RESAMPLES)

    def _by_deal(self, figure: Callable[[Deals], npt.NDArray[Any]], policy: int, seat: int | None = None) -> F64:
        """A figure of every game, [D, P, P], averaged over the games of a policy (in one seat): [D]."""
        total, count = np.zeros(self.num_deals), 0
        for line_up, deals in zip(self.line_ups, self.deals, strict=True):
            values = figure(deals)
            for player, one in enumerate(line_up):
                if one == policy:
                    if seat is None:
                        total += values[:, :, player].sum(axis=1)
                        count += self.num_players
                    else:  # once in the rotations of every deal
                        total += np.where(deals.seats[:, :, player] == seat, values[:, :, player], 0).sum(axis=1)
                        count += 1
        return total / count if count else np.full(self.num_deals, np.nan)

    @property
    def placement(self) -> list[Estimate]:
        """Mean placement reward (R1) of each policy: [K]."""
        return [self._estimate(self._by_deal(lambda d: d.placements, k)) for k in range(len(self.policies))]

    @property
    def win_rate(self) -> list[Estimate]:
        """Share of games won, a shared first place by its share: [K]."""
        return [self._estimate(self._by_deal(lambda d: d.win_shares, k)) for k in range(len(self.policies))]

    @property
    def score(self) -> list[Estimate]:
        """Mean score of each policy, in the game's points: [K]."""
        return [self._estimate(self._by_deal(lambda d: d.scores, k)) for k in range(len(self.policies))]

    @property
    def placement_by_seat(self) -> list[list[Estimate]]:
        """Mean placement reward of each policy in each seat: [K][P]."""
        return [
            [self._estimate(self._by_deal(lambda d: d.placements, k, seat)) for seat in range(self.num_players)]
            for k in range(len(self.policies))
        ]

    @cached_property
    def _pairs(self) -> tuple[F64, F64]:
        """By deal: games in which i came before j, half of them where level; and games of both: [D, K, K], [K, K]."""
        size = len(self.policies)
        before, games = np.zeros((self.num_deals, size, size)), np.zeros((size, size))
        for line_up, deals in zip(self.line_ups, self.deals, strict=True):
            for a, b in itertools.permutations(range(self.num_players), 2):
                i, j = line_up[a], line_up[b]
                if i != j:
                    first, second = deals.ranks[:, :, a], deals.ranks[:, :, b]
                    before[:, i, j] += ((first < second) + 0.5 * (first == second)).sum(axis=1)
                    games[i, j] += self.num_players
        return before, games

    @property
    def payoff(self) -> list[list[Estimate]]:
        """Of each policy against each other one: how much oftener it came before it, −1 … 1; with two players that is the
        mean placement reward: [K][K], NaN where two never met."""
        before, games = self._pairs
        size = len(self.policies)
        return [
            [
                self._estimate(
                    2 * before[:, i, j] / games[i, j] - 1 if games[i, j] else np.full(self.num_deals, np.nan)
                )
                if i != j
                else Estimate(0.0, 0.0, 0.0)
                for j in range(size)
            ]
            for i in range(size)
        ]

    # -------------------------------------------------------------------------------------- ratings

    @property
    def elo(self) -> list[Estimate]:
        """Elo ratings, median 1,500, by maximum likelihood of the Bradley–Terry model (choix) on all pairs: [K].

        Weak regularisation keeps them finite where somebody has won everything. Intervals: bootstrap over deals.
        """
        try:
            import choix
        except ImportError as error:
            raise _missing(error) from error
        before, _ = self._pairs

        def fit(wins: F64) -> F64:
            strength: F64 = choix.ilsr_pairwise_dense(wins, alpha=1e-3)
            ratings: F64 = ELO_MEDIAN + ELO_SCALE * (strength - np.median(strength))
            return ratings

        rng = np.random.default_rng(self.seed)
        count = self.num_deals
        resampled = np.array(
            [
                fit(np.tensordot(rng.multinomial(count, np.full(count, 1.0 / count)), before, axes=1))
                for _ in range(RATING_RESAMPLES)
            ]
        )
        low, high = np.percentile(resampled, CONFIDENCE, axis=0)
        means = fit(before.sum(axis=0))
        return [Estimate(*map(float, row)) for row in zip(means, low, high, strict=True)]

    @property
    def openskill(self) -> list[tuple[float, float]]:
        """OpenSkill ratings (Plackett–Luce; Weng & Lin 2011), μ and σ of each policy, from all games in a fixed random order."""
        try:
            from openskill.models import PlackettLuce
        except ImportError as error:
            raise _missing(error) from error
        model = PlackettLuce()
        ratings = [model.rating(name=name) for name in self.policies]
        games = [
            (line_up, deals.ranks[deal, rotation])
            for line_up, deals in zip(self.line_ups, self.deals, strict=True)
            for deal in range(self.num_deals)
            for rotation in range(self.num_players)
        ]
        for index in np.random.default_rng(self.seed).permutation(len(games)).tolist():
            line_up, ranks = games[index]
            if len(set(line_up)) < len(line_up):
                # A policy that sits in several seats counts with its best one, so that it does not play against itself.
                best = {
                    policy: min(r for p, r in zip(line_up, ranks, strict=True) if p == policy) for policy in line_up
                }
                line_up, ranks = tuple(best), np.array(list(best.values()))
            rated = model.rate([[ratings[policy]] for policy in line_up], ranks=ranks.tolist())
            for policy, (rating,) in zip(line_up, rated, strict=True):
                ratings[policy] = rating
        return [(float(rating.mu), float(rating.sigma)) for rating in ratings]

    @property
    def nash(self) -> tuple[list[float], list[float]]:
        """Nash averaging (Balduzzi et al. 2018): the maximum-entropy equilibrium of the payoff matrix, and what each policy
        earns against it: [K] each. With two players only.

        Raises:
            ValueError: the game has more players.
        """
        if self.num_players != 2:
            raise ValueError(f"Nash averaging is for two players; these games have {self.num_players}")
        try:
            from scipy.optimize import minimize
        except ImportError as error:
            raise _missing(error) from error
        matrix = np.array([[estimate.mean for estimate in row] for row in self.payoff])
        matrix = np.nan_to_num((matrix - matrix.T) / 2)
        size = len(matrix)

        def negative_entropy(p: F64) -> float:
            return float((p * np.log(np.maximum(p, 1e-12))).sum())

        found = minimize(
            negative_entropy,
            _equilibrium(matrix),
            method="SLSQP",
            bounds=[(0.0, 1.0)] * size,
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1.0},
                {"type": "ineq", "fun": lambda p: -(matrix @ p)},
            ],
            options={"maxiter": 500, "ftol": 1e-10},
        )
        p = np.maximum(found.x, 0.0)
        p /= p.sum()
        return p.tolist(), (matrix @ p).tolist()

    # -------------------------------------------------------------------------------------- output

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values, NaN as None."""

        def plain(value: Any) -> Any:
            if isinstance(value, Estimate):
                return {key: plain(getattr(value, key)) for key in ("mean", "low", "high")}
            if isinstance(value, list):
                return [plain(one) for one in value]
            return None if isinstance(value, float) and math.isnan(value) else value

        result = {
            "easyenvs": __version__,
            "game": self.game,
            "num_players": self.num_players,
            "rules": self.rules,
            "seed": self.seed,
            "policies": list(self.policies),
            "games": self.num_games,
            "deals": self.num_deals,
            "truncated": self.truncated,
            "forfeits": [{"policy": forfeit.policy, "reason": forfeit.reason} for forfeit in self.forfeits],
            "placement": plain(self.placement),
            "win_rate": plain(self.win_rate),
            "score": plain(self.score),
            "placement_by_seat": plain(self.placement_by_seat),
            "payoff": plain(self.payoff),
            "elo": plain(self.elo),
            "openskill": [{"mu": mu, "sigma": sigma} for mu, sigma in self.openskill],
        }
        if self.num_players == 2:
            weights, values = self.nash
            result["nash"] = {"weights": weights, "values": values}
        return result

    def to_json(self, path: str | Path | None = None) -> str:
        """`as_dict` as JSON text, written into a file if a path is given."""
        text = json.dumps(self.as_dict(), indent=2, allow_nan=False) + "\n"
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text


def _missing(error: ImportError) -> MissingExtraError:
    return MissingExtraError(f'ratings need the extra "arena": pip install "easyenvs[arena]" ({error})')


def _equilibrium(matrix: F64) -> F64:
    """Some equilibrium of a symmetric zero-sum game: p with matrix @ p <= 0, by linear programming."""
    from scipy.optimize import linprog

    size = len(matrix)
    solved = linprog(
        np.zeros(size),
        A_ub=matrix,
        b_ub=np.zeros(size),
        A_eq=np.ones((1, size)),
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * size,
    )
    assert solved.success, solved.message  # a symmetric zero-sum game has one
    p: F64 = solved.x
    return p


# ------------------------------------------------------------------------------------------------- playing


def line_ups(num_policies: int, num_players: int) -> tuple[tuple[int, ...], ...]:
    """Who plays with whom: all sets of P policies; with fewer than P of them, all mixtures of at least two."""
    numbers = range(num_policies)
    if num_policies >= num_players:
        return tuple(itertools.combinations(numbers, num_players))
    return tuple(
        mixture for mixture in itertools.combinations_with_replacement(numbers, num_players) if len(set(mixture)) > 1
    )


def play(
    game: str | GameDefinition,
    policies: Sequence[str | Policy],
    num_games: int = 2000,
    *,
    num_players: int | None = None,
    names: Sequence[str] | None = None,
    seed: int = 0,
    until: str | float | None = None,
    on_failure: OnFailure = "forfeit",
    time_limit: float | None = None,
    keep_records: bool = False,
    n_jobs: int = 1,
    advance: Callable[[int], None] | None = None,
    **rules: Any,
) -> TournamentResult:
    """Play policies against each other, every deal in each line-up and each rotation of the seats.

    With three players and more the order in which they sit goes round from deal to deal: who plays after whom counts, too.

    Args:
        game: the game or its id.
        policies: two at least, by name or as objects.
        num_games: how many games to play; rounded up to whole deals of all line-ups. With `until`, at most so many: give
            enough.
        num_players: P; default: the game's own.
        names: of the policies, for the result; default: as they were given.
        seed: of the deals.
        until: stop as soon as every policy's mean placement is known this well: "±0.02" or 0.02, half of the 95% interval.
            (To look again and again makes the interval a little too narrow.)
        on_failure, time_limit, keep_records: see `play_deals`.
        n_jobs: processes, −1 for all cores. The games are spread by joblib: inside `joblib.parallel_config(backend=…)`
            they run on a Dask or Ray cluster. However they are spread, the result is the same.
        advance: is told how many more games are over.
        rules: the game's rule options.

    Raises:
        ValueError: an option that is not accepted.
    """
    definition = find_game(game)
    num_games = integer_option("num_games", num_games, 1, MAX_GAMES)
    seed = check_seed(seed)
    if len(policies) < 2:
        refuse_option("policies", list(policies), "two policies at least")
    players: int = (
        definition.rule_options["num_players"]
        if num_players is None
        else integer_option("num_players", num_players, 2, 64)
    )
    make_rules(definition, {"num_players": players, **rules}, [])
    for policy in policies:
        if not plays_with(load_policy(policy, definition), players):
            raise ValueError(f"the policy {policy!r} does not play {definition.id} with {players} players")
    shown = _names(policies, names)
    pairs = line_ups(len(policies), players)
    wanted = -(-num_games // (players * len(pairs)))
    target = None if until is None else half_width_of(until)
    parts: list[list[Deals]] = [[] for _ in pairs]
    played = 0
    while played < wanted:
        # Without a target everything is spread at once.
        more = wanted - played if target is None else min(DEALS_A_LOOK, wanted - played)
        tasks = [
            (index, np.arange(first, min(first + DEALS_A_PART, played + more), dtype=np.uint64))
            for first in range(played, played + more, DEALS_A_PART)
            for index in range(len(pairs))
        ]
        done = _spread(
            n_jobs,
            [
                (
                    definition.package,
                    [policies[k] for k in pairs[index]],
                    [shown[k] for k in pairs[index]],
                    _deal_seeds(seed, numbers),
                    [seat_order(number, players) for number in numbers.tolist()],
                    {"on_failure": on_failure, "time_limit": time_limit, "keep_records": keep_records, **rules},
                )
                for index, numbers in tasks
            ],
        )
        for (index, _), deals in zip(tasks, done, strict=True):
            parts[index].append(deals)
            if advance is not None:
                advance(len(deals.seeds) * players)
        played += more
        result = TournamentResult(
            definition.id, players, tuple(shown), pairs, tuple(map(Deals.join, parts)), seed, dict(rules)
        )
        if target is not None and all(estimate.half_width <= target for estimate in result.placement):
            break
    return result


def _deal_seeds(seed: int, numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The game seeds of these deals of a tournament."""
    base = np.full(len(numbers), seed, dtype=np.uint64)
    return chance.derive_array(chance.DOMAIN_ROW, base, numbers)


def _names(policies: Sequence[str | Policy], names: Sequence[str] | None) -> list[str]:
    if names is not None:
        if len(names) != len(policies) or len(set(names)) < len(names):
            refuse_option("names", names, f"{len(policies)} different names, one a policy")
        return list(names)
    shown: list[str] = []
    for policy in policies:
        name = policy if isinstance(policy, str) else getattr(policy, "__name__", None) or repr(policy)
        if isinstance(policy, str) and policy.endswith(".npz"):
            name = Path(policy).stem
        again = sum(other == name or other.startswith(f"{name} #") for other in shown)
        shown.append(f"{name} #{again + 1}" if again else name)
    return shown


def half_width_of(until: str | float) -> float:
    """`until` as a number, or an OptionError."""
    given = until
    if isinstance(until, str):
        match = re.fullmatch(r"\s*(?:±|\+/-|\+-)?\s*(\d*\.?\d+)\s*", until)
        given = float(match[1]) if match else math.nan
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 < given < 2:
        refuse_option("until", until, "None, or the half-width of an interval as '±0.02' or 0.02")
    return float(given)


def _task(
    package: str, policies: list[Any], names: list[str], seeds: Any, orders: list[list[int]], options: dict[str, Any]
) -> Deals:
    """One part, in whichever process."""
    import importlib

    game: GameDefinition = importlib.import_module(package).GAME
    return play_deals(
        game, [load_policy(policy, game) for policy in policies], seeds, orders=orders, names=names, **options
    )


def _spread(n_jobs: int, tasks: list[tuple[Any, ...]]) -> Any:
    """The parts' results in order, as they come."""
    if n_jobs == 1 and not _joblib_is_configured():
        return (_task(*task) for task in tasks)
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise MissingExtraError(
            f'n_jobs={n_jobs} needs the extra "arena": pip install "easyenvs[arena]" ({error})'
        ) from error
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise OptionError(f"n_jobs={n_jobs!r} is not accepted: n_jobs must be an integer other than 0")
    from joblib.parallel import get_active_backend

    jobs = None if n_jobs == 1 else n_jobs  # None: what `parallel_config` says
    streams = getattr(get_active_backend()[0], "supports_return_generator", False)
    return Parallel(n_jobs=jobs, return_as="generator" if streams else "list")(delayed(_task)(*task) for task in tasks)


def _joblib_is_configured() -> bool:
    """Whether the caller has chosen a backend by `joblib.parallel_config`."""
    import sys

    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import get_active_backend

    backend, n_jobs = get_active_backend()
    return (n_jobs or 1) != 1 or type(backend).__name__ not in ("LokyBackend", "SequentialBackend")
