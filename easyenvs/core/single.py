"""One game on either engine: what the single-game interfaces drive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from easyenvs.core import views
from easyenvs.core.batch import OVER
from easyenvs.core.game import Game, GameDefinition

if TYPE_CHECKING:
    from easyenvs.core.arrays import Index


class MachineGame:
    """A machine of one game, driven as a `Game`: the option engine="numpy" of the single-game interfaces."""

    def __init__(self, rules: Any, definition: GameDefinition) -> None:
        assert definition.machine_type is not None
        self.definition = definition
        self.rules = rules
        self.num_players: int = rules.num_players
        self.num_actions = len(definition.notation.ACTION_NAMES)
        self.machine = definition.machine_type(1, rules)
        self.gains: list[float] | None = None
        self.terminated = False
        self.truncated = False
        self._row: Index = np.zeros(1, dtype=np.intp)
        self._refresh()

    def _refresh(self) -> None:
        player = int(self.machine.player[0])
        self.player = None if player == OVER else player
        self.legal = int.from_bytes(self.machine.legal_words[0].astype("<u8").tobytes(), "little")
        self.seed = int(self.machine.seed[0])
        self.decisions = int(self.machine.decisions[0])
        self.phase = self.machine.phase[0]

    @property
    def scores(self) -> list[int]:
        """Points so far, by seat."""
        scores: list[int] = self.machine.scores[:, 0].tolist()
        return scores

    def deal(self, seed: int) -> None:
        """Start game `seed`."""
        self.machine.deal(self._row, np.array([seed], dtype=np.uint64))
        self.gains, self.terminated, self.truncated = None, False, False
        self._refresh()

    def step(self, action: int) -> None:
        """Play one decision."""
        events = self.machine.step(np.array([action], dtype=np.intp))
        self.gains = events.gains[:, 0].tolist() if len(events.scored) else None
        if len(events.over):
            self.truncated = bool(events.truncated[0])
            self.terminated = not self.truncated
        self._refresh()

    def standing(self) -> list[tuple[int, ...]]:
        """By seat, criteria of the final order, each the lower the better."""
        return [tuple(seat) for seat in self.machine.standing(self._row)[:, :, 0].T.tolist()]

    def position(self) -> dict[str, Any]:
        """The state as a snapshot's plain values."""
        return self.machine.position(0)

    def set_position(self, position: dict[str, Any]) -> None:
        """Take over a checked position."""
        self.machine.set_position(0, position)
        self.gains = None
        self._refresh()
        self.truncated = self.player is None and bool(self.machine.truncated[0])
        self.terminated = self.player is None and not self.truncated

    def resample(self, seat: int, key: int) -> None:
        """Redraw what `seat` can't see."""
        self.machine.resample(self._row, np.array([seat], dtype=np.intp), np.array([key], dtype=np.uint64))
        self._refresh()

    def view(self, seat: int) -> Any:
        """What a seat may know, in plain numbers."""
        return views.unstack(self.definition.view.of_games(self.machine, np.array([seat], dtype=np.intp)), 0)


def make_game(definition: GameDefinition, rules: Any, engine: str) -> Game:
    """One game on the engine of that name."""
    return MachineGame(rules, definition) if engine == "numpy" else definition.game_type(rules)
