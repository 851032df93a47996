"""The command `easyenvs replay`. It needs the extra "cli"."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from easyenvs.core import svg
from easyenvs.records import Record, Replay
from easyenvs.records import replay as replay_file
from easyenvs.watch.film import OPEN, Viewer
from easyenvs.watch.gif import write_gif
from easyenvs.watch.page import write_html

EXIT_BAD_INPUT = 2


def replay(
    file: Annotated[Path, typer.Argument(help="A file of game records.")],
    index: Annotated[int, typer.Option(help="Which record of the file, from 0.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write a page that plays the game.")] = None,
    gif: Annotated[Path | None, typer.Option(help='Write an animation (extra "render").')] = None,
    seat: Annotated[str, typer.Option(help="Whose view is shown: a seat's number, or 'open', everything.")] = OPEN,
    policy: Annotated[
        list[str] | None, typer.Option(help="A policy whose thoughts the page shows; may be given again.")
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print the game, even if a file is written.")] = False,
) -> None:
    """Check a recorded game, and show it: in the terminal, as a web page, or as an animation."""
    try:
        played = replay_file(file, index)
        if policy and html is None:
            raise ValueError("--policy is for the page: give --html, too")
        viewer = _viewer(seat)
        if html is not None:
            write_html(played.record, html, policies=policy, seat=viewer)
            typer.echo(f"{html}: {len(played)} decisions")
        if gif is not None:
            pictures = write_gif(played.record, gif, seat=viewer)
            typer.echo(f"{gif}: {pictures} pictures")
        if text or (html is None and gif is None):
            print_game(played, Console())
    except (ValueError, IndexError, ImportError, OSError) as error:
        # RecordError, OptionError and MissingExtraError are among them. They say all that there is to say.
        typer.echo(f"Error: {svg.printable(str(error))}", err=True)
        raise typer.Exit(EXIT_BAD_INPUT) from error


def _viewer(seat: str) -> Viewer:
    """What `--seat` says; whether the game has such a seat is checked by what shows it."""
    if seat == OPEN:
        return OPEN
    if not (seat.isascii() and seat.isdigit()):
        raise ValueError(f"--seat is {seat!r}; a seat's number or {OPEN!r} is accepted")
    return int(seat)


def print_game(played: Replay, console: Console) -> None:
    """Print a game: its header, every decision with its seat and action, and the result.

    Text of the record is printed without control characters, and never as markup.
    """
    record = played.record
    rules = ", ".join(f"{name}={value}" for name, value in record.rules.items())
    start = f"seed {record.seed}" if record.seed is not None else "from a position"
    console.print(Text(f"{record.game}: {rules}; {start}; written by easyenvs {svg.printable(record.version)}"))
    for k, (seat, action) in enumerate(zip(played.players, played.actions, strict=True)):
        console.print(Text.assemble((f"{k:>5}  ", "dim"), f"seat {seat}  ", (action, "bold")))
    console.print(_seats(record))
    result, fault = record.result, record.fault
    if fault is not None:
        console.print(Text(f"seat {fault.seat} failed: {svg.printable(fault.reason)}"))
    if result is None:
        console.print(Text(f"not played to its end: {len(played)} decisions"))
    else:
        cut = "cut off" if result.truncated else "over"
        console.print(Text(f"{cut} after {len(played)} decisions"))


def _seats(record: Record) -> Table:
    table = Table(box=None)
    table.add_column("seat")
    table.add_column("policy")
    policies: tuple[Any, ...] = record.policies or (None,) * record.num_players
    if record.result is not None:
        table.add_column("score", justify="right")
        table.add_column("place", justify="right")
    for seat, name in enumerate(policies):
        cells = [Text(str(seat)), Text("–" if name is None else svg.printable(name))]
        if record.result is not None:
            cells += [Text(str(record.result.scores[seat])), Text(f"{record.result.ranks[seat]:g}")]
        table.add_row(*cells)
    return table
