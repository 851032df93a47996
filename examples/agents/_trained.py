"""The trained agents: networks by game and number of players, played with NumPy alone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from easyenvs.core.arrays import F64, Index
from easyenvs.core.policies import Decisions
from easyenvs.core.weights import NetworkPolicy, WeightsError, load_network

from .peasy_v0 import _afterstates

FOLDER: Final = Path(__file__).parent / "trained"


def weights_files() -> list[Path]:
    """All weights that ship, `GAME-PLAYERSp.npz`."""
    return sorted(FOLDER.glob("*.npz"))


Trained = NetworkPolicy | _afterstates.AfterstatePolicy


def load(path: Path) -> Trained:
    """The policy of a weights file: a network that chooses actions, or one that judges what a turn leaves behind.

    Raises:
        WeightsError: no such file, or it is corrupt.
    """
    layers, about = load_network(path)
    try:
        if about.get("observation") == _afterstates.OBSERVATION:
            return _afterstates.AfterstatePolicy(layers, about)
        return NetworkPolicy(layers, about)
    except WeightsError as error:
        raise WeightsError(f"{str(path)!r}: {error}") from error


class TrainedPolicy:
    """Plays a game's weights for the number of players at hand; they are read when they are first needed.

    Raises:
        ValueError: none ship for this number of players.
    """

    def __init__(self, game: str) -> None:
        self.game = game
        self._policies: dict[int, Trained] = {}

    def __repr__(self) -> str:
        return f"<the trained agent of {self.game}>"

    def __call__(self, d: Decisions, /) -> Index:
        """Legal action ids, intp [M]."""
        return self.of(d.num_players)(d)

    def plays_with(self, num_players: int) -> bool:
        """Whether weights ship for this number of players."""
        return (FOLDER / f"{self.game}-{num_players}p.npz").is_file()

    def of(self, num_players: int) -> Trained:
        """The policy for so many players."""
        if num_players not in self._policies:
            path = FOLDER / f"{self.game}-{num_players}p.npz"
            if not path.is_file():
                made = ", ".join(file.stem for file in weights_files())
                raise ValueError(f"no agent was trained for {self.game} with {num_players} players; there are {made}")
            self._policies[num_players] = load(path)
        return self._policies[num_players]


class TrainedNetworks(TrainedPolicy):
    """A trained agent whose weights are networks that choose actions: it also says how likely it finds each."""

    def network(self, num_players: int) -> NetworkPolicy:
        """The network for so many players, which also knows probabilities and values."""
        network = self.of(num_players)
        assert isinstance(network, NetworkPolicy)
        return network

    def probabilities(self, d: Decisions) -> F64:
        """The network's probability of every action: [M, A]."""
        return self.network(d.num_players).probabilities(d)
