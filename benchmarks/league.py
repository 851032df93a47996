"""The league: all agents against each other in both games, with two and with three players; tables and plots for the docs.

    python benchmarks/league.py

Every deal is played by all line-ups and in each rotation of the seats. Search takes nearly all of the time: `--games` says how
many games a line-up plays. Writes `docs/league/GAME-PLAYERSp.json`, `…-payoff.png` and `…-elo.png`, from which
`docs/league.md` and the README are made.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

try:
    import typer
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
except ImportError as error:
    raise SystemExit(f'this script needs the extra "arena": pip install "easyenvs[arena]" ({error})') from error

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import easyenvs
from benchmarks.common import machine_text, write_json
from easyenvs import arena
from easyenvs.arena.tournament import line_ups
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import Policy, agent_module, agent_names, load_policy, plays_with

ROOT = Path(__file__).resolve().parents[1]
PLAIN = ("random", "greedy", "heuristic", "trained")


def searcher(game: GameDefinition, rollouts: int) -> Policy:
    """The agent "search" with this budget a decision."""
    search = importlib.import_module(agent_module("search", game))
    policy: Policy = search.SequentialHalving(search.Config(rollouts=rollouts))
    return policy


def competitors(game: GameDefinition, players: int, budgets: list[int]) -> dict[str, str | Policy]:
    """Who plays, by name: all agents that ship and can play with so many, search once for each budget."""
    found: dict[str, str | Policy] = {}
    for name in PLAIN:
        if name in ("random", *agent_names(game)) and plays_with(load_policy(name, game), players):
            found[name] = name
    return found | {f"search {budget}": searcher(game, budget) for budget in budgets}


def play(
    game: GameDefinition,
    players: int,
    budgets: list[int],
    games: int,
    seed: int,
    jobs: int,
    advance: Callable[[int], None],
) -> arena.TournamentResult:
    """One table of the league."""
    who = competitors(game, players, budgets)
    return arena.play(
        game,
        list(who.values()),
        games * len(line_ups(len(who), players)),
        num_players=players,
        names=list(who),
        seed=seed,
        n_jobs=jobs,
        advance=advance,
    )


def main(
    game: Annotated[list[str] | None, typer.Option(help="Game ids (default: all games).")] = None,
    players: Annotated[str, typer.Option(help="Numbers of players, as in '2 3'.")] = "2 3",
    games: Annotated[int, typer.Option(min=2, help="Games of each line-up.")] = 200,
    budgets: Annotated[str, typer.Option(help="Rollouts a decision of the search agents.")] = "30 100",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the deals.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes; −1: as many as there are cores.")] = -1,
    output: Annotated[Path, typer.Option(help="Folder for tables and plots.")] = ROOT / "docs" / "league",
) -> None:
    """Play the league and write its tables and plots."""
    console = Console()
    try:
        tables = [
            (easyenvs.find_game(name), int(number))
            for name in game or easyenvs.games()
            for number in players.replace(",", " ").split()
        ]
        rollouts = [int(budget) for budget in budgets.replace(",", " ").split()]
        for definition, number in tables:
            definition.rules_type(num_players=number)
            for budget in rollouts:
                searcher(definition, budget)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    console.print(machine_text(), style="dim")
    output.mkdir(parents=True, exist_ok=True)
    columns: tuple[Any, ...] = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        for definition, number in tables:
            count = len(line_ups(len(competitors(definition, number, rollouts)), number))
            total = -(-games // number) * number * count
            task = progress.add_task(f"{definition.id}, {number} players", total=total)
            result = play(
                definition,
                number,
                rollouts,
                games,
                seed,
                jobs,
                lambda more, task=task: progress.advance(task, more),  # type: ignore[misc]
            )
            stem = output / f"{definition.id}-{number}p"
            write_json(stem.with_suffix(".json"), result.as_dict())
            arena.plot_payoff(result, f"{stem}-payoff.png")
            arena.plot_ratings(result, f"{stem}-elo.png")
            console.print(arena.table(result))
    console.print(f"tables and plots: {output}")


if __name__ == "__main__":
    typer.run(main)
