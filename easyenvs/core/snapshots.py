"""Snapshots: what every game's has in common. A game's own keys are listed and checked by its notation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from easyenvs.core.errors import SnapshotError
from easyenvs.version import __version__

if TYPE_CHECKING:
    from easyenvs.core.game import GameDefinition
    from easyenvs.core.options import RuleOptions


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
