"""A game that humans and policies play together: what every interface for people stands on.

A session knows no interface. What a seat may know leaves it through `view_for(seat)` and `legal_for(seat)` alone; moves,
scores and ranks are public. (`record` and `seed` are not: from either the hidden cards can be worked out.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import numpy as np

from easyenvs.core import bits, chance, views
from easyenvs.core.batch import check_seed, make_rules
from easyenvs.core.errors import IllegalActionError
from easyenvs.core.game import GameDefinition
from easyenvs.core.options import as_integer, refuse_option
from easyenvs.core.policies import Policy, checked_choice, decisions, load_policy
from easyenvs.records import Fault, Record, Recording
from easyenvs.registry import find_game

HUMAN: Final = "human"
MAX_REASON: Final = 500  # characters of a failure's reason that are kept


class PolicyError(RuntimeError):
    """A policy that has raised an error, or chosen what it may not."""


@dataclass(frozen=True)
class Move:
    """One decision of a game: who made it, and what was played."""

    seat: int
    action: int
    name: str


@dataclass(frozen=True)
class Hint:
    """What a policy would play, and how likely, for each legal action; None for a policy that has no probabilities."""

    action: int
    name: str
    probabilities: dict[int, float] | None


class Session:
    """One game of humans and policies.

    Args:
        game: the game, its id or its module.
        seats: by seat "human", or a policy or its name.
        seed: the game seed; None: one from the system.
        policy_seed: the seed of all policies.
        rules: the game's rule options, but `num_players`, which is the number of seats.

    Raises:
        ValueError: seats, a seed or rules that are not accepted.
        TypeError: a rule that the game does not have.
    """

    def __init__(
        self,
        game: str | GameDefinition | ModuleType,
        seats: Sequence[str | Policy],
        *,
        seed: int | None = None,
        policy_seed: int = 0,
        **rules: Any,
    ) -> None:
        self.game = find_game(game)
        if isinstance(seats, str):
            refuse_option("seats", seats, f"a sequence with {HUMAN!r}, a policy or its name for each seat")
        self.seats = tuple(seats)
        self.rules = make_rules(self.game, {"num_players": len(self.seats), **rules}, ())
        if self.rules.num_players != len(self.seats):
            refuse_option("num_players", rules["num_players"], f"the number of seats, {len(self.seats)}")
        self.seed = chance.system_seed() if seed is None else check_seed(seed)
        self.policy_seed = check_seed(policy_seed, "policy_seed")
        self._policies = [None if seat == HUMAN else load_policy(seat, self.game) for seat in self.seats]
        self._batch = self.game.batch(1, seed=[self.seed], engine="python", **self.rules.as_dict())
        self._moves: list[Move] = []
        self._fault: Fault | None = None

    # ------------------------------------------------------------------------------------------ who, and what

    @property
    def num_players(self) -> int:
        """P."""
        return len(self.seats)

    @property
    def humans(self) -> tuple[int, ...]:
        """The seats of humans."""
        return tuple(seat for seat, policy in enumerate(self._policies) if policy is None)

    @property
    def over(self) -> bool:
        """Whether the game has ended, by the rules or by a policy's failure."""
        return self._fault is not None or int(self._batch.player[0]) < 0

    @property
    def player(self) -> int | None:
        """The seat to act; None once the game is over."""
        return None if self.over else int(self._batch.player[0])

    @property
    def human_to_act(self) -> bool:
        """Whether a human is to act."""
        return self.player in self.humans

    @property
    def fault(self) -> Fault | None:
        """The seat whose policy has failed, and how, if that is why the game is over."""
        return self._fault

    @property
    def moves(self) -> tuple[Move, ...]:
        """All that has been played; public."""
        return tuple(self._moves)

    @property
    def scores(self) -> list[int]:
        """Points so far, by seat."""
        scores: list[int] = self._batch.scores[0].tolist()
        return scores

    @property
    def ranks(self) -> list[float] | None:
        """Places by seat, 1-based, ties averaged; None unless the game has been played to its end."""
        if self._fault is not None or not self.over:
            return None
        ranks: list[float] = self._batch.ranks()[0].tolist()
        return ranks

    def seat_name(self, seat: int) -> str:
        """ "human", or the policy's name."""
        name = self.seats[self._checked_seat(seat)]
        if isinstance(name, str):
            return name
        named: Any = name if hasattr(name, "__qualname__") else type(name)
        return f"{named.__module__}:{named.__qualname__}"

    def view_for(self, seat: int) -> Any:
        """What a seat may know: the game's `View` of one game, in plain numbers."""
        return views.unstack(self._batch.view(self._checked_seat(seat)), 0)

    def legal_for(self, seat: int) -> dict[int, str]:
        """The legal actions of a seat, names by id, ascending; none if it is not to act."""
        if self._checked_seat(seat) != self.player:
            return {}
        legal = bits.members(sum(int(word) << 64 * index for index, word in enumerate(self._batch.legal_words[0])))
        return {action: self.game.notation.action_name(action) for action in legal}

    def _checked_seat(self, seat: object) -> int:
        number = as_integer(seat)
        if number is None or not 0 <= number < self.num_players:
            refuse_option("seat", seat, f"an integer 0 … {self.num_players - 1}")
        return number

    # ------------------------------------------------------------------------------------------ to play

    def act(self, action: int) -> Move:
        """Play an action for the human who is to act.

        Raises:
            RuntimeError: no human is to act.
            IllegalActionError: nothing has changed.
        """
        seat = self._acting_human()
        number = as_integer(action)
        legal = self.legal_for(seat)
        if number not in legal:
            names = ", ".join(f"{id} ({name})" for id, name in legal.items())
            raise IllegalActionError(f"{self.game.id}, seat {seat}: {action!r} is not legal; legal are {names}")
        return self._play(seat, number)

    def advance(self) -> Move | None:
        """Let the policy that is to act play one decision. None: it has failed, the game is over, and `fault` says why.

        Raises:
            RuntimeError: no policy is to act.
        """
        seat = self.player
        policy = None if seat is None else self._policies[seat]
        if seat is None or policy is None:
            raise RuntimeError(
                "no policy is to act: " + ("the game is over" if seat is None else f"seat {seat} is, a human")
            )
        try:
            action = self._ask(policy).action
        except PolicyError as error:
            self._fault = Fault(seat, str(error))
            return None
        return self._play(seat, action)

    def hint(self, policy: str | Policy) -> Hint:
        """What a policy would play for the human who is to act, knowing what that seat knows.

        Raises:
            RuntimeError: no human is to act.
            ValueError: there is no such policy.
            PolicyError: it has failed; the game goes on.
        """
        self._acting_human()
        return self._ask(load_policy(policy, self.game), with_probabilities=True)

    def undo(self, seat: int | None = None) -> Move:
        """Back to the position before the last decision of a human seat; whatever came after it is taken back, too.

        seat: None: the human who is to act; if there is none, the one who acted last.

        Raises:
            RuntimeError: there is no such decision.
        """
        index = self._undone(seat)
        if index is None:
            raise RuntimeError("there is nothing to take back")
        undone = self._moves[index]
        moves, self._moves, self._fault = self._moves[:index], [], None
        self._batch.reset(seed=[self.seed])
        for move in moves:
            self._play(move.seat, move.action)
        return undone

    def can_undo(self, seat: int | None = None) -> bool:
        """Whether `undo(seat)` has something to take back."""
        return self._undone(seat) is not None

    def next_game(self) -> Session:
        """A new game of the same seats and rules, the next of this one's stream of seeds."""
        seed, rules = chance.next_seed(self.seed, 1), self.rules.as_dict()
        return Session(self.game, self.seats, seed=seed, policy_seed=self.policy_seed, **rules)

    def record(self) -> Record:
        """The game so far as a record; with its result once it has been played to its end."""
        env = self.game.raw_env(**self.rules.as_dict())
        env.reset(seed=self.seed)
        recording = Recording(
            env,
            policies=[None if seat in self.humans else self.seat_name(seat) for seat in range(self.num_players)],
            notes={"policy_seed": self.policy_seed},
        )
        for move in self._moves:
            recording.step(move.action)
        return recording.record(fault=self._fault)

    # ------------------------------------------------------------------------------------------ how

    def _acting_human(self) -> int:
        seat = self.player
        if seat is None or seat not in self.humans:
            raise RuntimeError(
                "no human is to act: " + ("the game is over" if seat is None else f"seat {seat} is, a policy")
            )
        return seat

    def _play(self, seat: int, action: int) -> Move:
        self._batch.step([action])
        move = Move(seat, action, self.game.notation.action_name(action))
        self._moves.append(move)
        return move

    def _undone(self, seat: int | None) -> int | None:
        """The index of the move that `undo(seat)` takes back."""
        seats = self.humans
        if seat is not None:
            seats = tuple({self._checked_seat(seat)} & set(seats))
        elif self.human_to_act:
            seats = (self._acting_human(),)
        return next((i for i in reversed(range(len(self._moves))) if self._moves[i].seat in seats), None)

    def _ask(self, policy: Policy, *, with_probabilities: bool = False) -> Hint:
        seat = self.player
        assert seat is not None
        legal = self.legal_for(seat)
        probabilities = None
        try:
            d = decisions(self._batch, seed=self.policy_seed)
            action = int(checked_choice(policy, d)[0])
            tell = getattr(policy, "probabilities", None)
            if with_probabilities and tell is not None:
                row = np.asarray(tell(d), dtype=np.float64)[0]
                probabilities = {legal_action: float(row[legal_action]) for legal_action in legal}
        except Exception as error:  # whatever a policy does wrong is its own failure, and never the session's
            raise PolicyError(_printable(f"{type(error).__name__}: {error}")) from error
        if action not in legal:
            known = 0 <= action < len(self.game.notation.ACTION_NAMES)
            name = self.game.notation.action_name(action) if known else str(action)
            raise PolicyError(f"illegal action: {name}")
        return Hint(action, legal[action], probabilities)


def _printable(text: str) -> str:
    """A reason that a record can hold: not too long, and without halves of characters."""
    return text[:MAX_REASON].encode("utf-8", "replace").decode()
