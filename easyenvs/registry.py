"""Which games there are: the folders NAME_vN of this package, those of installed packages, and those registered by hand."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import gymnasium

from easyenvs.core.game import GameDefinition

ENTRY_POINTS: Final = "easyenvs.games"
_GAME_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*_v\d+")

_games: dict[str, GameDefinition] = {}


def games() -> dict[str, GameDefinition]:
    """All games by id, in the order in which they were found."""
    return dict(_games)


def find_game(game: str | GameDefinition | ModuleType) -> GameDefinition:
    """A game by its id, its module, or itself."""
    if isinstance(game, GameDefinition):
        return game
    if isinstance(game, ModuleType) and isinstance(getattr(game, "GAME", None), GameDefinition):
        return game.GAME  # type: ignore[no-any-return]
    if isinstance(game, str) and game in _games:
        return _games[game]
    raise ValueError(
        f"{game!r} is no game; games are {', '.join(_games)}. One from elsewhere: easyenvs.register(module)"
    )


def register(module: ModuleType) -> GameDefinition:
    """Add a game from elsewhere: a package with the files that easyenvs.core.game lists, whose `GAME` is `define(__name__)`.

    Registering the same package again changes nothing; another one under a taken id is an error.
    """
    game = getattr(module, "GAME", None)
    if not isinstance(game, GameDefinition):
        raise ValueError(f"{module!r} is no game: it needs an attribute GAME = easyenvs.core.game.define(__name__)")
    if _GAME_NAME.fullmatch(game.id) is None:
        raise ValueError(f"{game.id!r} is no id of a game: names such as 'peasy_v0' are accepted")
    if game.id in _games:
        if _games[game.id].package != game.package:
            raise ValueError(f"{game.id!r} is taken by {_games[game.id].package}; {game.package} needs another name")
        return _games[game.id]
    _games[game.id] = game
    _register_with_pettingzoo(game)
    _register_with_gymnasium(game)
    return game


def _register_with_pettingzoo(game: GameDefinition) -> None:
    """PettingZoo has a registry from 1.27 on."""
    import pettingzoo

    add: Any = getattr(pettingzoo, "register", None)
    if add is not None:
        add("aec", f"easyenvs/{game.id}", entry_point=f"{game.package}:env")


def gymnasium_id(game: GameDefinition) -> str:
    """The id under which Gymnasium knows a game: `easyenvs/Peasy-v0` for peasy_v0."""
    name, _, version = game.id.rpartition("_v")
    return f"easyenvs/{''.join(part.capitalize() for part in name.split('_'))}-v{version}"


def _register_with_gymnasium(game: GameDefinition) -> None:
    gymnasium.register(
        gymnasium_id(game),
        entry_point="easyenvs.adapters.gym:Env",
        vector_entry_point="easyenvs.adapters.gym:VectorEnv",
        kwargs={"game": game.id},
    )


def find_games() -> None:
    """Register the games of this package and those that installed packages offer."""
    for folder in sorted(Path(__file__).parent.iterdir()):
        if _GAME_NAME.fullmatch(folder.name) and (folder / "__init__.py").is_file():
            register(importlib.import_module(f"easyenvs.{folder.name}"))
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            register(entry.load())
        except Exception as error:  # a broken plug-in must not take the other games with it, but it must be heard
            warnings.warn(
                f"the game {entry.name!r} ({entry.value}) can't be used: {error!r}", RuntimeWarning, stacklevel=2
            )
