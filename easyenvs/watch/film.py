"""A recorded game, position by position: its pictures, its scores, and what policies think of its decisions.

K the decisions of the game; positions are K + 1  P seats  A actions
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from easyenvs.core import svg, views
from easyenvs.core.arrays import F64, Index
from easyenvs.core.errors import IllegalActionError
from easyenvs.core.options import as_integer, refuse_option
from easyenvs.core.policies import (
    Decisions,
    Policy,
    checked_choice,
    decisions,
    load_policy,
    policy_name,
    probabilities_of,
)
from easyenvs.records import Record, replay

OPEN: Final = "open"
MAX_NAME: Final = 28
"""The longest name of a policy, in characters, that a picture shows in full."""
Viewer: TypeAlias = int | Literal["open"]
"""Who knows what: a seat's view by its number, or everything open."""


def check_viewer(seat: object, players: int) -> Viewer:
    """A seat's number or "open", or an OptionError."""
    if isinstance(seat, str) and seat == OPEN:
        return OPEN
    number = as_integer(seat)
    if number is None or not 0 <= number < players:
        refuse_option("seat", seat, f"a seat, 0 … {players - 1}, or {OPEN!r}")
    return number


def _short(name: str) -> str:
    """A name that leaves room for other words."""
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…"


@dataclass(frozen=True)
class Opinion:
    """What a policy thinks of every decision: its probabilities [K, A]; if it has none, what it would play [K]."""

    policy: str
    probabilities: F64 | None
    choices: Index | None


def _opinion(policy: Policy, name: str, d: Decisions) -> Opinion:
    probabilities = probabilities_of(policy, d)
    if probabilities is not None:
        return Opinion(name, probabilities, None)
    choices = checked_choice(policy, d)
    is_legal = (choices >= 0) & (choices < d.num_actions)
    is_legal[is_legal] = d.legal[is_legal, choices[is_legal]]
    if not is_legal.all():
        k = int(np.argmin(is_legal))
        raise IllegalActionError(f"decision {k}: the policy {name!r} would play {choices[k]}, which is not legal")
    return Opinion(name, None, choices)


class Film:
    """A record that has been played again, with pictures.

    Attributes:
        record: the record; it is possible by the rules.
        game: its game.
        names: what the seats are called in the pictures, by number: with their policies, shortened.
        actions, players: the actions by id, and who played them.
        snapshots: the positions, K + 1.
        scores: points so far after each, K + 1 times P.

    Raises:
        RecordError: the record is not possible by the rules.
        OptionError: the game has no pictures.
    """

    def __init__(self, record: Record) -> None:
        played = replay(record)
        self.record = record
        self.game = played.game
        if self.game.draw is None:
            refuse_option("record", record.game, f"one of a game with pictures: {record.game} has no module draw")
        self.players = played.players
        self.actions = played.action_ids
        self.snapshots = list(played.positions())
        policies = record.policies or (None,) * record.num_players
        self.names = [
            f"player_{seat}" if name is None else f"{seat} · {_short(svg.printable(name))}"
            for seat, name in enumerate(policies)
        ]
        # A row for every position: so views and decisions come of one call for the whole game.
        seed = record.seed if record.seed is not None else self.snapshots[0].get("seed", 0)
        self._batch = self.game.batch(len(self.snapshots), seed=[seed] * len(self.snapshots), **record.rules)
        for row, snapshot in enumerate(self.snapshots):
            self._batch.restore(row, snapshot)
        self.scores: list[list[int]] = self._batch.scores.tolist()
        self._views: dict[int, Any] = {}

    def __len__(self) -> int:
        """K."""
        return len(self.actions)

    def actor(self, k: int) -> int | None:
        """The seat to act after k decisions; None once the game is over."""
        seat = int(self._batch.player[k])
        return seat if seat >= 0 else None

    def legal(self, k: int) -> list[int]:
        """The legal actions after k decisions."""
        actions: list[int] = np.flatnonzero(self._batch.legal[k]).tolist()
        return actions

    def picture(self, k: int, viewer: Viewer, theme: str | svg.Theme) -> str:
        """The table after k decisions as SVG."""
        ended = self.actor(k) is None
        ranks = self.record.result.ranks if self.record.result is not None and ended else None
        last = (self.players[k - 1], self.actions[k - 1]) if k else None
        draw: Any = self.game.draw
        picture: str
        if viewer == OPEN:
            picture = draw.draw_open(
                self.snapshots[k], self._batch.rules, theme=theme, last_action=last, names=self.names, ranks=ranks
            )
        else:
            if viewer not in self._views:
                self._views[viewer] = self._batch.view(viewer)
            picture = draw.draw(
                views.unstack(self._views[viewer], k),
                theme=theme,
                last_action=last,
                seat=viewer,
                names=self.names,
                ranks=ranks,
            )
        return picture

    def opinions(self, policies: Sequence[str | Policy]) -> list[Opinion]:
        """What policies think of the decisions, each from what the acting seat may know; their policy seed is 0.

        Raises:
            ValueError: a policy that can't be loaded or does not play this game, or one that would play an illegal action.
        """
        loaded = [load_policy(policy, self.game) for policy in policies]
        running = np.flatnonzero(self._batch.player >= 0)[: len(self)]
        if not len(running):
            return []
        d = decisions(self._batch, running)
        return [
            _opinion(policy, svg.printable(policy_name(named)), d)
            for named, policy in zip(policies, loaded, strict=True)
        ]
