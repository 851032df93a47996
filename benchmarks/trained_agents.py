"""How strong are the trained agents that ship, on deals that no training has seen?

    python benchmarks/trained_agents.py

Each plays as one against all others, every deal once from each seat; intervals come from the deals.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

try:
    import typer
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table
except ImportError as error:
    raise SystemExit(f'this script needs the extra "cli": pip install "easyenvs[cli]" ({error})') from error

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import easyenvs
from benchmarks.common import machine_text, write_json
from easyenvs.arena import evaluate
from examples.agents._trained import load, weights_files

OPPONENTS = ("random", "heuristic")
FRESH_SEEDS = 2 * 10**9  # apart from those of the evaluations while training


def main(
    games: Annotated[int, typer.Option(min=6, help="Games of a match, at least.")] = 10_000,
    json: Annotated[Path | None, typer.Option(help="Write the results to this file.")] = None,
) -> None:
    """Play the trained agents against random and against the heuristic."""
    console = Console()
    console.print(machine_text(), style="dim")
    table = Table(title="trained agents, as one against all others", box=None)
    for name in ("game", "players", "against"):
        table.add_column(name)
    for name in ("placement (95%)", "win rate", "games"):
        table.add_column(name, justify="right")
    results: list[dict[str, Any]] = []
    matches = [(path, opponent) for path in weights_files() for opponent in OPPONENTS]
    for path, opponent in track(matches, description="playing", console=console, transient=True):
        policy = load(path)
        game, players = easyenvs.find_game(policy.about["game"]), policy.about["num_players"]
        evaluation = evaluate(
            policy,
            opponent,
            game,
            num_players=players,
            deals=-(-games // players),
            steps=policy.about["steps"],
            seconds=policy.about["seconds"],
            first_seed=FRESH_SEEDS,
        )
        results.append({"weights": path.name, "game": game.id, "players": players, **asdict(evaluation)})
        table.add_row(
            game.id,
            str(players),
            opponent if players == 2 else f"{players - 1} × {opponent}",
            f"{evaluation.placement:+.3f} ± {evaluation.interval:.3f}",
            f"{100 * evaluation.win_rate:.1f}%",
            f"{evaluation.games:,}",
        )
    console.print(table)
    if json is not None:
        write_json(json, results)
        console.print(f"results: {json}")


if __name__ == "__main__":
    typer.run(main)
