"""Reinforcement-learning environments for real card games.

import easyenvs

env = easyenvs.peasy_v0.env(num_players=4)         # one game, PettingZoo AEC
games = easyenvs.peasy_v0.batch(4096, seed=0)      # many games at once
"""

import importlib
from typing import Any

from easyenvs.core.errors import (
    ActionTypeError,
    IllegalActionError,
    MissingExtraError,
    NotResetError,
    OptionError,
    RecordError,
    SnapshotError,
)
from easyenvs.records import Record, read_records, replay, write_records
from easyenvs.registry import find_game, find_games, games, register
from easyenvs.version import __version__

__all__ = [
    "ActionTypeError",
    "IllegalActionError",
    "MissingExtraError",
    "NotResetError",
    "OptionError",
    "Record",
    "RecordError",
    "SnapshotError",
    "__version__",
    "find_game",
    "games",
    "read_records",
    "register",
    "replay",
    "write_records",
]

_ON_DEMAND = (
    "arena",
    "sb3",
    "selfplay",
    "testing",
)  # imported when they are first asked for: they take long, or an extra

find_games()


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return importlib.import_module(f"easyenvs.{name}")
    # Games are found, not listed: each is an attribute of this package all the same, `easyenvs.peasy_v0`.
    raise AttributeError(f"module 'easyenvs' has no attribute {name!r}; games are {', '.join(games())}")
