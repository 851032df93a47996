"""The command `easyenvs serve`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Final

import typer

from easyenvs.core.errors import MissingExtraError
from easyenvs.core.options import refuse_option

if TYPE_CHECKING:
    from easyenvs.serve.server import Server

DEFAULT_PACE: Final = 0.7
LONGEST_PACE: Final = 60.0


def serve(
    games: Annotated[list[str] | None, typer.Argument(metavar="[GAME]...", help="Games to offer; none: all.")] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="A policy to play against: 'random', an agent's name, a weights file, 'module:attribute'. Repeat it for "
            "more. None: 'random' and all agents that ship. The page offers these, and loads no others.",
        ),
    ] = None,
    seats: Annotated[
        str | None,
        typer.Option(help="Deal a first game of the first GAME: 'human' once, and policies, as in 'human,heuristic'."),
    ] = None,
    port: Annotated[int, typer.Option(help="The port; 0: a free one.")] = 0,
    pace: Annotated[float, typer.Option(help="Seconds between the decisions of opponents.")] = DEFAULT_PACE,
) -> None:
    """Play in the browser, on this machine only."""
    try:
        server, first = prepare(games or [], policy or [], seats, port=port, pace=pace)
    except (ValueError, OSError, MissingExtraError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from error
    typer.echo(f"Play at {server.entrance(first)}")
    typer.echo("The address holds the key of this run: keep it to yourself. Ctrl-C ends the server and its games.")
    server.run()


def prepare(
    games: list[str], policies: list[str], seats: str | None = None, *, port: int = 0, pace: float = DEFAULT_PACE
) -> tuple[Server, str | None]:
    """A server that is yet to run, and the id of its first game where seats are given.

    Raises:
        ValueError: there is no such game, policy or table.
        OSError: the port is taken.
        MissingExtraError: the extra "serve" is not installed.
    """
    missing = [module for module in ("starlette", "uvicorn") if find_spec(module) is None]
    if missing:
        raise MissingExtraError(
            f'easyenvs serve needs the extra "serve": pip install "easyenvs[serve]" ({" and ".join(missing)} can\'t be found)'
        )
    from easyenvs.play.session import HUMAN
    from easyenvs.serve.errors import Refusal
    from easyenvs.serve.lobby import Lobby
    from easyenvs.serve.menu import Menu
    from easyenvs.serve.server import Server

    if not 0 <= pace <= LONGEST_PACE:
        refuse_option("pace", pace, f"a number 0 … {LONGEST_PACE:g}")
    sits = [] if seats is None else [seat.strip() for seat in seats.split(",")]
    lobby = Lobby(Menu(games, policies, [seat for seat in sits if seat != HUMAN]), pace=pace)
    if not sits:
        return Server(lobby, port=port), None
    offer = next(iter(lobby.menu.offers.values()))
    shown = {name: label for label, name in offer.policies.items()}
    try:
        table = lobby.open(offer.game.id, [shown.get(seat, seat) for seat in sits])
    except Refusal as refusal:
        refuse_option("seats", seats, f"those of a game: {refusal.message}")
    return Server(lobby, port=port), table.id
