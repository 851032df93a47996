"""The trained agents: networks by game and number of players, played with NumPy alone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from easyenvs.core.arrays import F64, Index
from easyenvs.core.policies import Decisions
from easyenvs.core.weights import NetworkPolicy, load_weights

FOLDER: Final = Path(__file__).parent / "trained"


def weights_files() -> list[Path]:
    """All weights that ship, `GAME-PLAYERSp.npz`."""
    return sorted(FOLDER.glob("*.npz"))


class TrainedPolicy:
    """Plays a game's weights for the number of players at hand; they are read when they are first needed.

    Raises:
        ValueError: none ship for this number of players.
    """

    def __init__(self, game: str) -> None:
        self.game = game
        self._networks: dict[int, NetworkPolicy] = {}

    def __repr__(self) -> str:
        return f"<the trained agent of {self.game}>"

    def __call__(self, d: Decisions, /) -> Index:
        """Legal action ids, intp [M]."""
        return self.network(d.num_players)(d)

    def probabilities(self, d: Decisions) -> F64:
        """The network's probability of every action: [M, A]."""
        return self.network(d.num_players).probabilities(d)

    def network(self, num_players: int) -> NetworkPolicy:
        """The network for so many players, which also knows probabilities and values."""
        if num_players not in self._networks:
            path = FOLDER / f"{self.game}-{num_players}p.npz"
            if not path.is_file():
                made = ", ".join(file.stem for file in weights_files())
                raise ValueError(f"no agent was trained for {self.game} with {num_players} players; there are {made}")
            self._networks[num_players] = load_weights(path)
        return self._networks[num_players]
