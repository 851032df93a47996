"""One game at the server: its session, what its page may know, and the opponents' thread.

Every decision publishes a new `Shown`, the game as the human's seat knows it, with the next version. Pages read what is
published and never wait for a policy; whatever changes the game holds the table's lock, so one game's slow policy
delays no other game.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from typing import Any, Final
from xml.etree import ElementTree

from easyenvs.core.errors import IllegalActionError
from easyenvs.play.session import HUMAN, Move, PolicyError, Session
from easyenvs.records import Fault, write_records
from easyenvs.serve.errors import Refusal
from easyenvs.serve.menu import Offer

LOCK_SECONDS: Final = 2.0
_TITLE: Final = "{http://www.w3.org/2000/svg}title"
_TARGET: Final = re.compile(r"(.+)>(.+)")


@dataclass(frozen=True)
class Shown:
    """A position as the human's seat knows it. What is drawn and told of it is made when somebody asks.

    Attributes:
        table: the game's.
        version: counts the changes of the game, from 1.
        view: what the seat may know.
        player: the seat to act; None once the game is over.
        legal: the names of the human's legal actions; none in an opponent's turn.
        moves: all that has been played.
        scores, ranks: by seat; ranks are None unless the game has been played to its end.
        fault: the seat whose policy has failed, and why, if that is how the game ended.
        can_undo: whether there is a decision to take back.
    """

    table: Table
    version: int
    view: Any
    player: int | None
    legal: tuple[str, ...]
    moves: tuple[Move, ...]
    scores: list[int]
    ranks: list[float] | None
    fault: Fault | None
    can_undo: bool
    _pictures: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def thinking(self) -> bool:
        """Whether an opponent is to act."""
        return self.player is not None and self.player != self.table.seat

    def picture(self, theme: str) -> str:
        """The table as SVG."""
        if theme not in self._pictures:
            table, draw = self.table, self.table.offer.game.draw
            assert draw is not None
            last_action = (self.moves[-1].seat, self.moves[-1].action) if self.moves else None
            self._pictures[theme] = draw.draw(
                self.view, theme=theme, last_action=last_action, seat=table.seat, names=table.names, ranks=self.ranks
            )
        return self._pictures[theme]

    @cached_property
    def state(self) -> dict[str, Any]:
        """Plain values for JSON."""
        table = self.table
        # A picture's title says in a sentence where the game stands, whichever game it is.
        title = ElementTree.fromstring(self.picture("light")).findtext(_TITLE, "")
        where, _, status = title.partition(": ")
        seats = [
            {
                "name": name,
                "policy": table.seats[seat],
                "score": self.scores[seat],
                "rank": None if self.ranks is None else self.ranks[seat],
                "acts": seat == self.player,
            }
            for seat, name in enumerate(table.names)
        ]
        return {
            "id": table.id,
            "version": self.version,
            "game": table.offer.game.id,
            "title": table.offer.title,
            "you": table.seat,
            "seats": seats,
            "where": where,
            "status": status,
            "text": table.offer.game.notation.view_text(self.view),
            "groups": grouped(self.legal),
            "log": [{"seat": move.seat, "name": move.name} for move in self.moves],
            "over": self.player is None,
            "thinking": self.thinking,
            "fault": None if self.fault is None else {"seat": self.fault.seat, "reason": self.fault.reason},
            "can_undo": self.can_undo,
            "hints": list(table.offer.policies),
        }


class Table:
    """A game of one human against policies.

    Args:
        id: its name in addresses.
        offer: the game.
        seats: "human" once, and the names of policies as `offer.policies` shows them.
        pace: seconds between the decisions of opponents, so that people can follow.
        seed: the game seed; None: one from the system.
    """

    def __init__(
        self, id: str, offer: Offer, seats: Sequence[str], *, pace: float = 0.0, seed: int | None = None
    ) -> None:
        self.id, self.offer, self.seats, self.pace = id, offer, list(seats), pace
        names = [seat if seat == HUMAN else offer.policies[seat] for seat in seats]
        self._session = Session(offer.game, names, seed=seed)
        self.seat = self._session.humans[0]
        self.names = seat_names(seats)
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._listeners: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._shown = self._publish(0)
        self._let_opponents_play()

    # ------------------------------------------------------------------------------------------ what is seen

    @property
    def shown(self) -> Shown:
        """What was published last."""
        return self._shown

    def summary(self) -> dict[str, Any]:
        """A line for a list of games."""
        keys = ("id", "game", "title", "status", "over", "thinking")
        return {**{key: self._shown.state[key] for key in keys}, "seats": self.names}

    async def newer(self, version: int, seconds: float) -> Shown:
        """What is published after this version; or, after so many seconds, what there is."""
        listener = asyncio.get_running_loop(), asyncio.Event()
        self._listeners.add(listener)
        try:
            if self._shown.version <= version:
                await asyncio.wait_for(listener[1].wait(), seconds)
        except TimeoutError:
            pass
        finally:
            self._listeners.discard(listener)
        return self._shown

    def record(self) -> str:
        """The record of a game that is over; of a running one a Refusal: its seed tells every hidden card."""
        with self._held():
            if not self._session.over:
                raise Refusal(409, "not_over", "there is a record once the game is over")
            stream = StringIO()
            write_records(stream, [self._session.record()])
            return stream.getvalue()

    # ------------------------------------------------------------------------------------------ what is done

    def act(self, version: int, name: str) -> Shown:
        """The human plays an action by its name."""
        with self._held():
            self._check_turn(version)
            try:
                self._session.act(self.offer.game.notation.parse_action(name))
            except IllegalActionError as error:
                raise Refusal(
                    422, "illegal_action", f"{name!r} is not legal now; nothing has changed ({error})"
                ) from error
            except ValueError as error:
                raise Refusal(422, "unknown_action", str(error)) from error
            shown = self._publish(version)
            self._let_opponents_play()
            return shown

    def undo(self, version: int) -> Shown:
        """Back to the human's last decision."""
        with self._held():
            self._check_turn(version)
            if not self._session.can_undo(self.seat):
                raise Refusal(409, "nothing_to_undo", "you have not decided anything yet")
            self._session.undo(self.seat)
            return self._publish(version)

    def hint(self, version: int, policy: str) -> dict[str, Any]:
        """What a policy would play in the human's place, and how likely each action, where it says so."""
        with self._held():
            self._check_turn(version)
            try:
                hint = self._session.hint(policy)
            except PolicyError as error:
                raise Refusal(409, "policy_failed", f"this policy has no answer here: {error}") from error
        likely = hint.probabilities
        name_of = self.offer.game.notation.action_name
        return {
            "action": hint.name,
            "probabilities": None if likely is None else {name_of(action): p for action, p in likely.items()},
        }

    def close(self) -> None:
        """The opponents stop playing, and pages that wait for news are answered."""
        self._closed.set()
        self.wake()

    def wake(self) -> None:
        """Answer the pages that wait for news."""
        for loop, event in list(self._listeners):
            loop.call_soon_threadsafe(event.set)

    # ------------------------------------------------------------------------------------------ how

    @contextmanager
    def _held(self) -> Iterator[None]:
        if not self._lock.acquire(timeout=LOCK_SECONDS):
            raise Refusal(409, "busy", "a policy is thinking in this game: try again in a moment")
        try:
            yield
        finally:
            self._lock.release()

    def _check_turn(self, version: int) -> None:
        if version != self._shown.version:
            raise Refusal(
                409,
                "stale",
                f"the game has moved on from version {version} to {self._shown.version}; nothing has changed",
            )
        if self._session.over:
            raise Refusal(409, "over", "the game is over")
        if not self._session.human_to_act:
            raise Refusal(409, "not_your_turn", "an opponent is to act")

    def _let_opponents_play(self) -> None:
        if self._shown.thinking:
            # A daemon: a policy that thinks for minutes must not keep the program from ending.
            threading.Thread(target=self._play_opponents, name=f"game {self.id}", daemon=True).start()

    def _play_opponents(self) -> None:
        while not self._closed.wait(self.pace):
            with self._lock:
                self._session.advance()
                self._publish(self._shown.version)
                if not self._shown.thinking:
                    return

    def _publish(self, version: int) -> Shown:
        session, seat = self._session, self.seat
        self._shown = Shown(
            table=self,
            version=version + 1,
            view=session.view_for(seat),
            player=session.player,
            legal=tuple(session.legal_for(seat).values()),
            moves=session.moves,
            scores=session.scores,
            ranks=session.ranks,
            fault=session.fault,
            can_undo=session.player == seat and session.can_undo(seat),
        )
        self.wake()
        return self._shown


def seat_names(seats: Sequence[str]) -> list[str]:
    """What the seats are called: "you", and the policies, with their seat's number where one sits twice."""
    return [
        "you" if seat == HUMAN else f"{seat} ({number})" if seats.count(seat) > 1 else seat
        for number, seat in enumerate(seats)
    ]


def grouped(names: Sequence[str]) -> list[dict[str, Any]]:
    """Actions that belong together, by the form of their names: `R8>1` by what follows the arrow, `exam nerd gift` by the
    first word; the plain ones come first."""
    groups: dict[str, list[dict[str, str]]] = {"": []}
    for name in names:
        target = _TARGET.fullmatch(name)
        first, _, rest = name.partition(" ")
        title, label = (f"on pile {target[2]}", target[1]) if target else (first, rest) if rest else ("", name)
        groups.setdefault(title, []).append({"name": name, "label": label})
    return [{"title": title, "actions": actions} for title, actions in groups.items() if actions]
