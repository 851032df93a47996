"""The command `easyenvs play`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from easyenvs.core.errors import MissingExtraError
from easyenvs.play.session import HUMAN, Session

try:
    import typer
except ImportError as error:
    raise MissingExtraError(
        f'`easyenvs play` needs the extra "play": pip install "easyenvs[play]" ({error})'
    ) from error


def parse_rules(texts: Sequence[str]) -> dict[str, Any]:
    """Rule options out of texts `name=value`: an integer is one, `none` is None, everything else a text.

    Raises:
        ValueError: a text without a name or "=", or a name that is there twice.
    """
    rules: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not name or not equals:
            raise ValueError(f"the rule {text!r} is not accepted: name=value is, such as num_rounds=1")
        if name in rules:
            raise ValueError(f"the rule {name!r} is given twice")
        if value.lower() == "none":
            rules[name] = None
        else:
            rules[name] = int(value) if value.removeprefix("-").isdecimal() else value
    return rules


def _refused(reason: object) -> typer.BadParameter:
    """A message on the error output, and exit code 2."""
    return typer.BadParameter(str(reason))


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def play(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game, such as peasy_v0.")],
    seats: Annotated[
        str,
        typer.Option(
            help="Who sits where, separated by commas: human, or an agent (heuristic, greedy, random, a weights file, "
            "module:attribute)."
        ),
    ] = f"{HUMAN},heuristic",
    seed: Annotated[int | None, typer.Option(help="The game seed; without one, chance decides.")] = None,
    hint: Annotated[str | None, typer.Option(metavar="AGENT", help="Who gives the hints.")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the records go when a game and the program ends.")
    ] = None,
    rule: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="A rule option; any number.")] = None,
) -> None:
    """Play a game in the terminal, against agents or with others at the same keyboard."""
    try:
        from easyenvs.play.terminal import PlayApp
    except MissingExtraError as error:
        raise _refused(error) from error
    if save is not None and save.exists():
        raise _refused(f"{save} exists already: give a new name")
    try:
        session = Session(game, [seat.strip() for seat in seats.split(",")], seed=seed, **parse_rules(rule or []))
        app = PlayApp(session, hint=hint, save=save)
    except (ValueError, TypeError, OSError) as error:
        raise _refused(error) from error
    if not _is_terminal():
        raise _refused("to play needs a terminal: input and output may not be redirected")
    app.run()
    raise typer.Exit(app.return_code or 0)
