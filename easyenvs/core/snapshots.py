"""Snapshots: what every game's has in common. A game's own keys are listed and checked by its notation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NoReturn

from easyenvs.core.errors import SnapshotError
from easyenvs.core.options import as_integer
from easyenvs.version import __version__

if TYPE_CHECKING:
    from easyenvs.core.game import GameDefinition
    from easyenvs.core.options import RuleOptions

MAX_COUNTER: Final = 2**31 - 1
"""The largest number of decisions, rounds or points that a snapshot may hold."""


def make(game: GameDefinition, rules: RuleOptions, position: dict[str, Any]) -> dict[str, Any]:
    """A position with the game's id, its rules and the version: a snapshot."""
    options = rules.as_dict()
    return {
        "game": game.id,
        "num_players": options.pop("num_players"),
        **position,
        "rules": options,
        "version": __version__,
    }


def check(game: GameDefinition, rules: RuleOptions, snapshot: object, seed: int) -> dict[str, Any]:
    """The position of a snapshot, complete and possible; or a SnapshotError. `seed` serves where it has none."""
    if not isinstance(snapshot, dict):
        raise SnapshotError(f"{game.id} snapshot: {snapshot!r} is a {type(snapshot).__name__}; a dict is accepted")
    for key, expected in (("game", game.id), ("num_players", rules.num_players)):
        if key not in snapshot:
            raise SnapshotError(f"{game.id} snapshot: the key {key!r} is missing")
        value = snapshot[key]
        if type(value) is not type(expected) or value != expected:
            raise SnapshotError(f"{game.id} snapshot: {key} is {value!r}, but {expected!r} is played here")
    accepted = {"game", "num_players", "rules", "version", *game.notation.REQUIRED_KEYS, *game.notation.OPTIONAL_KEYS}
    for key in snapshot:
        if key not in accepted:
            raise SnapshotError(
                f"{game.id} snapshot: the key {key!r} is unknown; known are {', '.join(sorted(accepted))}"
            )
    if "rules" in snapshot:
        options = rules.as_dict()
        del options["num_players"]
        given = snapshot["rules"]
        if not isinstance(given, dict):
            raise SnapshotError(f"{game.id} snapshot: rules is {given!r}; a dict of options is accepted")
        for name in {**options, **given}:
            if name not in options or name not in given or given[name] != options[name]:
                raise SnapshotError(
                    f"{game.id} snapshot: it was made with {name}={given.get(name)!r}, "
                    f"but {name}={options.get(name)!r} is played here"
                )
    position: dict[str, Any] = game.notation.checked_position(snapshot, rules, seed)
    return position


class Reader:
    """Takes a snapshot's values out, each checked for its type and range. A game's notation adds what its cards need."""

    def __init__(self, refuse: Callable[[str], NoReturn]) -> None:
        self.refuse = refuse

    def integer(self, where: str, value: object, low: int, high: int) -> int:
        """An integer low … high."""
        number = as_integer(value)
        if number is None or not low <= number <= high:
            self.refuse(f"{where} is {value!r}; an integer {low} … {high} is accepted")
        return number

    def optional(self, where: str, value: object, low: int, high: int) -> int | None:
        """None, or an integer low … high."""
        return None if value is None else self.integer(where, value, low, high)

    def sequence(self, where: str, value: object, length: int | None = None) -> list[Any]:
        """A list (of this length)."""
        if not isinstance(value, (list, tuple)) or (length is not None and len(value) != length):
            wanted = "a list" if length is None else f"a list of {length}"
            self.refuse(f"{where} is {value!r}; {wanted} is accepted")
        return list(value)

    def flag(self, where: str, value: object) -> bool:
        """True or False."""
        if not isinstance(value, bool):
            self.refuse(f"{where} is {value!r}; True or False is accepted")
        return value
