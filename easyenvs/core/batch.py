"""Many games at once: what every batch does, once. Seeding, checking, autoreset, rewards, snapshots, copies.

N games  P seats  A actions  W words of 64 action bits  M the games of a subset
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from easyenvs.core import bits, chance, rewards, snapshots, svg, views
from easyenvs.core.arrays import F32, F64, I64, U8, U64, Flags, Index
from easyenvs.core.encoders import Encoder, make_encoder
from easyenvs.core.errors import ActionTypeError, IllegalActionError
from easyenvs.core.game import Game, Machine, StepEvents
from easyenvs.core.options import as_integer, choice_option, integer_option, refuse_option

if TYPE_CHECKING:
    from easyenvs.core.game import GameDefinition

OVER: Final = 255  # in a machine's `player`: the game is over
MAX_GAMES: Final = 10**8
GAMES_SHOWN: Final = 4  # in notebooks

ENV_OPTIONS: Final[dict[str, Any]] = {
    "reward": "placement",
    "observation": "flat",
    "render_mode": None,
    "engine": "python",
}
BATCH_OPTIONS: Final[dict[str, Any]] = {"seed": None, "reward": "placement", "autoreset": False, "engine": "numpy"}


def make_rules(game: GameDefinition, options: dict[str, Any], others: Sequence[str]) -> Any:
    """The `Rules` of a game from options by name; `others` are the names accepted beside them, for the message."""
    for name in options:
        if name not in game.rule_options:
            accepted = ", ".join([*game.rule_options, *others])
            raise TypeError(f"{game.id} has no option {name!r}; accepted are {accepted}")
    return game.rules_type(**options)


def check_engine(game: GameDefinition, engine: object) -> str:
    """The name of an engine that the game has, or an OptionError."""
    return str(choice_option("engine", engine, game.engines))


def check_seed(seed: object, what: str = "seed") -> int:
    """A game seed as an int 0 … 2^64 − 1, or an OptionError."""
    return integer_option(what, seed, 0, chance.MASK64)


class GameList:
    """A machine made of single games: the Python engine of a batch, and the whole batch of a game without a machine."""

    def __init__(self, num_games: int, rules: Any, game: GameDefinition, games: list[Game] | None = None) -> None:
        self.definition = game
        self.rules = rules
        self.num_games = num_games
        self.games: list[Game] = [game.game_type(rules) for _ in range(num_games)] if games is None else games
        self.num_players = rules.num_players
        self.num_actions = len(game.notation.ACTION_NAMES)
        self._num_words = -(-self.num_actions // 64)
        self.player: U8 = np.full(num_games, OVER, dtype=np.uint8)
        self.legal_words: U64 = np.zeros((num_games, self._num_words), dtype=np.uint64)
        for row in range(num_games):
            self._refresh(row)

    def _refresh(self, row: int) -> None:
        game = self.games[row]
        self.player[row] = OVER if game.player is None else game.player
        self.legal_words[row] = [game.legal >> 64 * word & chance.MASK64 for word in range(self._num_words)]

    @property
    def phase(self) -> I64:
        """[N]"""
        return np.array([game.phase for game in self.games], dtype=np.int64)

    @property
    def decisions(self) -> I64:
        """[N]"""
        return np.array([game.decisions for game in self.games], dtype=np.int64)

    @property
    def seed(self) -> U64:
        """[N]"""
        return np.array([game.seed for game in self.games], dtype=np.uint64)

    @property
    def truncated(self) -> Flags:
        """[N]"""
        return np.array([game.truncated for game in self.games], dtype=np.bool_)

    @property
    def scores(self) -> I64:
        """[P, N]"""
        return np.array([game.scores for game in self.games], dtype=np.int64).reshape(-1, self.num_players).T

    def deal(self, rows: Index, seeds: U64) -> None:
        """Start game `seeds[j]` in row `rows[j]`."""
        for row, seed in zip(rows.tolist(), seeds.tolist(), strict=True):
            self.games[row].deal(seed)
            self._refresh(row)

    def step(self, actions: Index, rows: Index | None = None) -> StepEvents:
        """Play `actions[j]` in row `rows[j]`, or in every row."""
        over: list[int] = []
        scored: list[int] = []
        gains: list[list[float]] = []
        for row, action in zip(range(self.num_games) if rows is None else rows.tolist(), actions.tolist(), strict=True):
            game = self.games[row]
            game.step(action)
            self._refresh(row)
            if game.gains is not None:
                scored.append(row)
                gains.append(game.gains)
            if game.player is None:
                over.append(row)
        return StepEvents(
            over=np.array(over, dtype=np.intp),
            truncated=np.array([self.games[row].truncated for row in over], dtype=np.bool_),
            scored=np.array(scored, dtype=np.intp),
            gains=np.array(gains, dtype=np.float64).reshape(-1, self.num_players).T,
        )

    def standing(self, rows: Index) -> I64:
        """[D, P, K]"""
        return np.array([self.games[row].standing() for row in rows], dtype=np.int64).transpose(2, 1, 0)

    def position(self, row: int) -> dict[str, Any]:
        """One game's state as a snapshot's plain values."""
        return self.games[row].position()

    def set_position(self, row: int, position: dict[str, Any]) -> None:
        """Take over a checked position."""
        self.games[row].set_position(position)
        self._refresh(row)

    def take(self, rows: Index) -> GameList:
        """Copies of these games."""
        copies: list[Game] = []
        for row in rows.tolist():
            game = self.definition.game_type(self.rules)
            game.set_position(self.games[row].position())
            copies.append(game)
        return GameList(len(copies), self.rules, self.definition, copies)

    def select(self, rows: Index) -> GameList:
        """The same games, to read from."""
        return GameList(len(rows), self.rules, self.definition, [self.games[row] for row in rows.tolist()])

    def resample(self, rows: Index, viewer: Index, keys: U64) -> None:
        """Redraw what seat `viewer[j]` of game `rows[j]` can't see."""
        for row, seat, key in zip(rows.tolist(), viewer.tolist(), keys.tolist(), strict=True):
            self.games[row].resample(seat, key)
            self._refresh(row)


class Batch:
    """N games at once.

    Args:
        game: the game, as `easyenvs.peasy_v0.GAME`; `easyenvs.peasy_v0.batch(…)` fills it in.
        num_games: N.
        seed: a game seed for the whole batch (row i then has `row_seed(seed, i)`), one for every row, or None: from the
            system.
        reward: "placement", "win" or "score" (R1–R3).
        autoreset: deal a finished game anew within the same step.
        engine: "numpy", the vectorised machine, or "python", a loop over single games; the results are the same.
        rules: the game's rule options.

    Arrays that are handed out are the caller's to keep: a later step never changes them.
    """

    def __init__(
        self,
        game: GameDefinition,
        num_games: int,
        *,
        seed: int | Sequence[int] | npt.NDArray[Any] | None = None,
        reward: str = "placement",
        autoreset: bool = False,
        engine: str | None = None,
        **rules: Any,
    ) -> None:
        self.game = game
        self.num_games = integer_option("num_games", num_games, 1, MAX_GAMES)
        self.rules = make_rules(game, rules, list(BATCH_OPTIONS))
        self.reward: str = choice_option("reward", reward, rewards.REWARDS)
        self.autoreset: bool = choice_option("autoreset", autoreset, (False, True))
        self.engine = check_engine(game, game.engines[-1] if engine is None else engine)
        self.num_players: int = self.rules.num_players
        self.num_actions = len(game.notation.ACTION_NAMES)
        first_seeds = self._seeds(seed, np.arange(self.num_games, dtype=np.intp))
        machine_type = game.machine_type
        self._machine: Machine = (
            machine_type(self.num_games, self.rules)
            if self.engine == "numpy" and machine_type is not None
            else GameList(self.num_games, self.rules, game)
        )
        self.encoders: dict[str, Encoder] = {}  # those that have been asked for, by name
        self._rows = np.arange(self.num_games, dtype=np.intp)
        self._first_seed = first_seeds
        self._game_index = np.zeros(self.num_games, dtype=np.uint64)
        self._machine.deal(self._rows, first_seeds)
        self._clear_results()

    def __repr__(self) -> str:
        return f"<{self.game.id} batch: {self.num_games} games, {self.num_players} players, engine {self.engine!r}>"

    def _repr_html_(self) -> str:
        """What notebooks show: the first tables as their acting seats see them, and how many more there are."""
        rows = self._rows[:GAMES_SHOWN]
        view, player = self.view(where=rows), self.player[rows].tolist()
        ranks = self.ranks()[rows].tolist() if min(player) < 0 else []
        figures = []
        for row, acting in enumerate(player):
            one = views.unstack(view, row)
            if self.game.draw is None:
                figures.append(f"<pre>{escape(self.game.notation.view_text(one))}</pre>")
            else:
                places = ranks[row] if acting < 0 else None
                figures.append(self.game.draw.draw(one, seat=max(acting, 0), ranks=places))
        more = self.num_games - len(rows)
        shown = "1 game" if len(rows) == 1 else f"{len(rows)} games"
        return svg.side_by_side(figures, f"{self!r}: {shown} shown" + (f", {more:,} more" if more else ""))

    # ------------------------------------------------------------------------------------------ what it shows

    @property
    def player(self) -> I64:
        """The seat to act, int64 [N]; −1 once a game is over."""
        player: I64 = self._machine.player.astype(np.int8).astype(np.int64)
        return player

    @property
    def legal(self) -> Flags:
        """Which actions are legal, bool [N, A]; all False once a game is over."""
        return bits.unpack(self._machine.legal_words, self.num_actions).view(np.bool_)

    @property
    def legal_words(self) -> U64:
        """The same, packed: uint64 [N, W], bit a of the row is action a."""
        return self._machine.legal_words.copy()

    @property
    def terminated(self) -> Flags:
        """Ended by the rules, bool [N]."""
        return self._terminated.copy()

    @property
    def truncated(self) -> Flags:
        """Ended by R6, bool [N]."""
        return self._truncated.copy()

    @property
    def rewards(self) -> F32:
        """Earned in the last call, by seat: float32 [N, P]; 0 in games that were not stepped."""
        return self._rewards.copy()

    @property
    def scores(self) -> I64:
        """Points so far, int64 [N, P]."""
        return np.ascontiguousarray(self._machine.scores.T).astype(np.int64)

    @property
    def final_scores(self) -> I64:
        """Scores of the games that ended in the last call, int64 [N, P]; −1 in the other rows."""
        scores = np.full((self.num_games, self.num_players), -1, dtype=np.int64)
        scores[self._ended] = self._ended_scores
        return scores

    @property
    def seeds(self) -> U64:
        """The game seed of every row's current game, uint64 [N]."""
        return self._machine.seed.copy()

    @property
    def first_seeds(self) -> U64:
        """The seed that every row's stream of games began with, uint64 [N]."""
        return self._first_seed.copy()

    @property
    def game_index(self) -> U64:
        """How many games came before the current one in every row's stream, uint64 [N]."""
        return self._game_index.copy()

    @property
    def decisions(self) -> I64:
        """Decisions made in every row's current game, int64 [N]."""
        decisions: I64 = self._machine.decisions.astype(np.int64)
        return decisions

    @property
    def phase(self) -> I64:
        """The phase of every game, an int of the game's `Phase`: int64 [N]."""
        phase: I64 = self._machine.phase.astype(np.int64)
        return phase

    def policy_keys(self, seed: int = 0) -> U64:
        """A policy's source of randomness: a hash of (`seed`, row's seed, game index, decision), uint64 [N]."""
        key = chance.derive_array(chance.DOMAIN_POLICY, self._first_seed, check_seed(seed))
        key = chance.derive_array(chance.DOMAIN_POLICY, key, self._game_index)
        return chance.derive_array(chance.DOMAIN_POLICY, key, self._machine.decisions.astype(np.uint64))

    @property
    def nbytes(self) -> int:
        """Memory of the games' state in bytes; 0 with the Python engine, which can't tell."""
        return int(getattr(self._machine, "nbytes", 0))

    def encoder(self, observation: str | Encoder) -> Encoder:
        """The encoder of that name, made once; an encoder object is its own."""
        if not isinstance(observation, str):
            return make_encoder(self.game, self.rules, observation)
        if observation not in self.encoders:
            self.encoders[observation] = make_encoder(self.game, self.rules, observation)
        return self.encoders[observation]

    def view(self, seat: Any = None, *, where: Index | None = None) -> Any:
        """What seats may know, as the game's `View` of N games: the acting seat (0 where a game is over), or `seat`.

        `where`: intp indices [M]; then the view is of those games, and `seat` int or [M].
        """
        machine = self._machine if where is None else self._machine.select(where)
        if seat is None:
            player = machine.player
            seats = np.where(player == OVER, 0, player).astype(np.intp)
        else:
            seats = self._checked_seats(seat, machine.num_games)
        if isinstance(machine, GameList):
            of_game = self.game.view.of_game
            return views.stack([of_game(game, s) for game, s in zip(machine.games, seats.tolist(), strict=True)])
        return self.game.view.of_games(machine, seats)

    def observe(self, observation: str | Encoder = "flat", seat: Any = None) -> Any:
        """Observations by an encoder's name or an encoder: the games first.

        Of the acting seat, zeros (or "") where a game is over; with `seat` (int or int [N]) of that seat, always.
        """
        encoder = self.encoder(observation)
        encoded = encoder(self.view(seat))
        if seat is None and self._machine.player.max() == OVER:
            over = self._machine.player == OVER
            if isinstance(encoded, dict):
                for values in encoded.values():
                    values[over] = 0
            elif isinstance(encoded, list):
                return ["" if ended else text for text, ended in zip(encoded, over.tolist(), strict=True)]
            else:
                encoded[over] = 0
        return encoded

    def _checked_seats(self, seat: Any, num_games: int) -> Index:
        seats = np.asarray(seat)
        if seats.dtype.kind not in "iu" or seats.shape not in ((), (num_games,)):
            refuse_option("seat", seat, f"an integer or integers [{num_games}]")
        if seats.size and (seats.min() < 0 or seats.max() >= self.num_players):
            refuse_option("seat", seat, f"in 0 … {self.num_players - 1}")
        return np.broadcast_to(seats, (num_games,)).astype(np.intp)

    # ------------------------------------------------------------------------------------------ stepping

    def step(self, actions: npt.ArrayLike, where: npt.ArrayLike | None = None) -> None:
        """One decision in every game that is not over; entries of games that are over are ignored.

        actions: integers [N]. where: only these games: a bool mask [N] (actions [N]), or unique indices [M] (actions
        [M], actions[j] is for game where[j]). The other games stay as they are.

        Raises:
            IllegalActionError: an illegal action anywhere; no game has changed.
        """
        machine = self._machine
        chosen, rows = self._checked_actions(actions, where)
        if machine.player.max() == OVER:
            if rows is None:
                rows = np.flatnonzero(machine.player != OVER)
                chosen = chosen[rows]
            else:
                running = machine.player[rows] != OVER
                rows, chosen = rows[running], chosen[running]
        chosen = self._legal_actions(chosen, rows)
        self._clear_results()
        if rows is None or len(rows):
            self._note(machine.step(chosen, rows))

    def _clear_results(self) -> None:
        self._rewards = np.zeros((self.num_games, self.num_players), dtype=np.float32)
        self._ended = self._rows[:0]
        self._ended_scores = np.zeros((0, self.num_players), dtype=np.int64)
        if self.autoreset or not hasattr(self, "_terminated"):
            self._terminated = np.zeros(self.num_games, dtype=np.bool_)
            self._truncated = np.zeros(self.num_games, dtype=np.bool_)

    def _note(self, events: StepEvents) -> None:
        """Rewards and flags of a step, and the next game where one has ended (autoreset)."""
        machine = self._machine
        if self.reward == "score" and len(events.scored):
            self._rewards[events.scored] = rewards.score(events.gains).T
        over = events.over
        if not len(over):
            return
        self._terminated[over] = ~events.truncated
        self._truncated[over] = events.truncated
        self._ended, self._ended_scores = over, machine.scores[:, over].T.astype(np.int64)
        finished = over[~events.truncated]
        if len(finished) and self.reward != "score":
            place = rewards.ranks(machine.standing(finished))
            self._rewards[finished] = (rewards.placement(place) if self.reward == "placement" else rewards.win(place)).T
        if self.autoreset:
            self._deal_next(over)

    def ranks(self) -> F64:
        """The 1-based place of every seat in the order so far, ties averaged: float64 [N, P]. Final once a game is over."""
        return np.ascontiguousarray(rewards.ranks(self._machine.standing(self._rows)).T)

    def _deal_next(self, rows: Index) -> None:
        self._game_index[rows] += np.uint64(1)
        self._machine.deal(
            rows, chance.derive_array(chance.DOMAIN_NEXT, self._first_seed[rows], self._game_index[rows])
        )

    def _checked_rows(self, where: npt.ArrayLike) -> tuple[Index, bool]:
        """Row indices of a `where`, and whether it was a mask."""
        given = np.asarray(where)
        if given.dtype == np.bool_:
            if given.shape != (self.num_games,):
                raise ValueError(f"where is a mask of shape {given.shape}; a mask has shape ({self.num_games},)")
            return np.flatnonzero(given), True
        if given.size == 0 and given.ndim == 1:
            return self._rows[:0], False
        if given.dtype.kind not in "iu" or given.ndim != 1:
            raise ValueError(
                f"where is {given.dtype} of shape {given.shape}; "
                f"a bool mask [{self.num_games}] or integer indices [M] are accepted"
            )
        if given.min() < 0 or given.max() >= self.num_games:
            wrong = given[(given < 0) | (given >= self.num_games)][0]
            raise ValueError(f"where holds the index {wrong}; games are 0 … {self.num_games - 1}")
        rows = given.astype(np.intp)
        if len(np.unique(rows)) < len(rows):
            values, counts = np.unique(rows, return_counts=True)
            raise ValueError(f"where holds the index {values[counts > 1][0]} more than once; indices have to be unique")
        return rows, False

    def _checked_actions(
        self, actions: npt.ArrayLike, where: npt.ArrayLike | None
    ) -> tuple[npt.NDArray[Any], Index | None]:
        """The actions to play and the rows to play them in (None: all), by type and shape."""
        try:
            chosen = np.asarray(actions)
        except ValueError as error:
            raise ActionTypeError(f"actions are no array: {error}") from error
        if where is None:
            rows, expected = None, (self.num_games,)
        else:
            rows, is_mask = self._checked_rows(where)
            expected = (self.num_games,) if is_mask else (len(rows),)
        if chosen.size == 0 and expected == (0,) and chosen.ndim == 1:
            return self._rows[:0], rows
        if chosen.dtype.kind not in "iu" or chosen.shape != expected:
            raise ActionTypeError(
                f"actions are {chosen.dtype} of shape {chosen.shape}; integers of shape {expected} are accepted"
            )
        if (
            rows is not None
            and expected == (self.num_games,)
            and where is not None
            and np.asarray(where).dtype == np.bool_
        ):
            chosen = chosen[rows]
        return chosen, rows

    def _legal_actions(self, chosen: npt.NDArray[Any], rows: Index | None) -> Index:
        """The actions as indices, if all of them are legal."""
        if not len(chosen):
            return chosen.astype(np.intp)
        in_range = chosen.min() >= 0 and chosen.max() < self.num_actions
        if in_range:
            action = chosen.astype(np.intp, copy=False)
            words = self._machine.legal_words
            at = (self._rows if rows is None else rows) * words.shape[1]
            at = at + (action >> 6)
            legal = (
                words.reshape(-1).take(at) >> (action & 63).view(np.uint64)
                if action.dtype == np.int64
                else (words.reshape(-1).take(at) >> (action & 63).astype(np.uint64))
            )
            legal &= np.uint64(1)
            if legal.all():
                return action
        for j, number in enumerate(chosen.tolist()):
            row = j if rows is None else int(rows[j])
            if not (0 <= number < self.num_actions and self._is_legal(row, number)):
                raise IllegalActionError(self._illegal_text(row, number))
        raise AssertionError("an illegal action was found, and then was not")

    def _is_legal(self, row: int, action: int) -> bool:
        return bool(int(self._machine.legal_words[row, action >> 6]) >> (action & 63) & 1)

    def _illegal_text(self, row: int, action: int) -> str:
        position = self._machine.position(row)
        legal = [a for a in range(self.num_actions) if self._is_legal(row, a)]
        return illegal_text(self.game, action, legal, position["player"], position["phase"], game_row=row)

    # ------------------------------------------------------------------------------------------ resets

    def reset(
        self, *, seed: int | Sequence[int] | npt.NDArray[Any] | None = None, where: npt.ArrayLike | None = None
    ) -> None:
        """Deal new games, in every row or in those of `where` (a bool mask [N] or unique indices).

        seed: None deals the next game of each row's stream; an int gives row i `row_seed(seed, i)`, a sequence one seed a
        reset row; both begin the row's stream anew.
        """
        rows = self._rows if where is None else self._checked_rows(where)[0]
        seeds = None if seed is None else self._seeds(seed, rows)
        if not len(rows):
            return
        if seeds is None:
            self._deal_next(rows)
        else:
            self._first_seed[rows] = seeds
            self._game_index[rows] = 0
            self._machine.deal(rows, seeds)
        self._forget_results(rows)

    def _forget_results(self, rows: Index) -> None:
        """Back to the results of a fresh game in these rows."""
        keep = ~np.isin(self._ended, rows)
        self._ended, self._ended_scores = self._ended[keep], self._ended_scores[keep]
        self._rewards[rows] = 0
        self._terminated[rows] = self._truncated[rows] = False

    def _seeds(self, seed: Any, rows: Index) -> U64:
        if seed is None:
            return chance.derive_array(
                chance.DOMAIN_ROW, np.full(len(rows), chance.system_seed(), dtype=np.uint64), rows.astype(np.uint64)
            )
        if as_integer(seed) is not None or np.ndim(seed) == 0:
            number = check_seed(seed)
            return chance.derive_array(
                chance.DOMAIN_ROW, np.full(len(rows), number, dtype=np.uint64), rows.astype(np.uint64)
            )
        if len(seed) != len(rows):
            refuse_option(
                "seed", seed, f"an integer, or {len(rows)} integers: one for every row ({len(seed)} are given)"
            )
        return np.array([check_seed(value, f"seed[{j}]") for j, value in enumerate(seed)], dtype=np.uint64)

    # ------------------------------------------------------------------------------------------ snapshots and copies

    def _checked_row(self, row: object) -> int:
        number = as_integer(row)
        if number is None or not 0 <= number < self.num_games:
            raise IndexError(f"{row!r} is no game of this batch; games are 0 … {self.num_games - 1}")
        return number

    def snapshot(self, row: int) -> dict[str, Any]:
        """One game as a plain dict that JSON can hold; its keys are listed in the game's notation."""
        number = self._checked_row(row)
        return snapshots.make(self.game, self.rules, self._machine.position(number))

    def restore(self, row: int, snapshot: dict[str, Any]) -> None:
        """Put a snapshot's game into a row. The row's stream of later games stays.

        Raises:
            SnapshotError: corrupt, impossible, or of other rules; nothing has changed.
        """
        number = self._checked_row(row)
        position = snapshots.check(self.game, self.rules, snapshot, int(self._machine.seed[number]))
        self._machine.set_position(number, position)
        rows = np.array([number], dtype=np.intp)
        self._forget_results(rows)
        if self._machine.player[number] == OVER:
            self._truncated[number] = position["truncated"]
            self._terminated[number] = not position["truncated"]

    def take(self, indices: npt.ArrayLike) -> Batch:
        """A new batch of copies of these games (repeats allowed), which shares nothing with this one that can change."""
        given = np.asarray(indices)
        if given.dtype.kind not in "iu" or given.ndim != 1 or not given.size:
            raise ValueError(
                f"indices are {given.dtype} of shape {given.shape}; integers [M], at least one, are accepted"
            )
        if given.min() < 0 or given.max() >= self.num_games:
            raise ValueError(f"indices are {given.min()} … {given.max()}; games are 0 … {self.num_games - 1}")
        rows = given.astype(np.intp)
        copy: Batch = object.__new__(Batch)
        copy.__dict__.update(self.__dict__)
        copy.num_games = len(rows)
        copy._machine = self._machine.take(rows)
        copy._rows = np.arange(len(rows), dtype=np.intp)
        copy._first_seed, copy._game_index = self._first_seed[rows], self._game_index[rows]
        copy._rewards = self._rewards[rows]
        copy._terminated, copy._truncated = self._terminated[rows], self._truncated[rows]
        final = self.final_scores[rows]
        copy._ended = np.flatnonzero(np.isin(rows, self._ended))
        copy._ended_scores = final[copy._ended]
        return copy

    def copy(self) -> Batch:
        """An independent copy that plays on identically, next deals included."""
        return self.take(self._rows)

    def __deepcopy__(self, memo: dict[int, Any]) -> Batch:
        return self.copy()

    def resample(self, seat: Any = None, *, seed: int | None = None) -> Batch:
        """A new batch whose hidden cards are redrawn, uniformly over the states that give a seat the same view.

        seat: int or int [N]; None is the acting one (games that are over stay as they are). The games get fresh seeds, so
        what is drawn later is new as well.
        """
        number = chance.system_seed() if seed is None else check_seed(seed)
        if seat is None:
            player = self._machine.player
            rows = np.flatnonzero(player != OVER)
            viewer = player[rows].astype(np.intp)
        else:
            rows, viewer = self._rows, self._checked_seats(seat, self.num_games)
        base = np.full(len(rows), number, dtype=np.uint64)
        keys = chance.derive_array(chance.DOMAIN_RESAMPLE, base, rows.astype(np.uint64))
        redrawn = self.copy()
        redrawn._redraw(rows, viewer, keys)
        return redrawn

    def redrawn(self, rows: Index, viewer: Index, keys: U64) -> Batch:
        """A new batch of copies of these games (repeats allowed), each redrawn as `resample` does, with a key of its own.

        rows, viewer: intp [M], the games and whose view of them stays. keys: uint64 [M], copy j's only source of randomness:
        it is the same wherever it stands in a batch. Copies never deal anew (autoreset is off).
        """
        copies = self.take(rows)
        copies.autoreset = False
        copies._redraw(copies._rows, viewer, keys)
        return copies

    def _redraw(self, rows: Index, viewer: Index, keys: U64) -> None:
        if len(rows):
            self._machine.resample(rows, viewer, keys)
        self._first_seed = self._machine.seed.copy()
        self._game_index = np.zeros(self.num_games, dtype=np.uint64)


def illegal_text(
    game: GameDefinition, action: int, legal: list[int], player: int | None, phase: str, game_row: int | None = None
) -> str:
    """What an IllegalActionError says: game, seat, phase, action, and what is legal."""
    names = game.notation.ACTION_NAMES
    name = f" ({names[action]})" if 0 <= action < len(names) else f" (ids are 0 … {len(names) - 1})"
    where = f"{game.id}, seat {player}" if game_row is None else f"{game.id}, game {game_row}, seat {player}"
    accepted = ", ".join(f"{a} ({names[a]})" for a in legal[:12]) + (
        f" and {len(legal) - 12} more" if len(legal) > 12 else ""
    )
    return f"{where}, phase {phase}: action {action}{name} is illegal; legal are {accepted}"
