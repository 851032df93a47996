"""How fast? Decisions a second on one core, many games at once and one game through PettingZoo.

Many games: random legal play with autoreset, games out of step with one another, deals included. What is timed: the step;
step and bool mask; the same and the `bits` or the `flat` observation; and all of that with a random policy choosing the
actions (elsewhere they are chosen outside the clock).

One game: PettingZoo's usual loop (agent_iter, last, a random legal action, step; resets included) on `raw_env` and `env`,
beside PettingZoo's own connect four and tic-tac-toe in the same run, turn by turn, because machines are noisy.

    python benchmarks/speed.py            # everything, about ten minutes
    python benchmarks/speed.py --quick    # a minute
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Annotated, Any

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import numpy as np

try:
    import typer
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table
except ImportError as error:
    raise SystemExit(f'this script needs the extra "cli": pip install "easyenvs[cli]" ({error})') from error

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import easyenvs
from benchmarks.common import machine_text, write_json
from easyenvs.core.batch import Batch
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import decisions, random_policy

SIZES = (1, 64, 1024, 8192, 65536)
PLAYERS = (2, 4, 6)
DECISIONS_PER_REPEAT = 400_000
STEPS_PER_REPEAT = (4, 400)  # at least, at most


def choose(games: Batch, seed: int) -> Any:
    """Uniform random legal actions."""
    return random_policy(decisions(games, seed=seed, with_view=False))


def step(games: Batch, actions: Any) -> None:
    """One decision in every game."""
    games.step(actions)


def step_mask(games: Batch, actions: Any) -> None:
    """… and who may do what."""
    games.step(actions)
    _ = games.legal


def step_mask_bits(games: Batch, actions: Any) -> None:
    """… and what the acting seats see, as bits."""
    games.step(actions)
    _ = games.legal
    games.observe("bits")


def step_mask_flat(games: Batch, actions: Any) -> None:
    """… or as floats."""
    games.step(actions)
    _ = games.legal
    games.observe("flat")


def policy_step_mask_bits(games: Batch, actions: Any) -> None:
    """Everything, the choice of the actions included."""
    games.step(choose(games, 1))
    _ = games.legal
    games.observe("bits")


KINDS: dict[str, Callable[[Batch, Any], None]] = {
    "step": step,
    "+ mask": step_mask,
    "+ mask + bits": step_mask_bits,
    "+ mask + flat": step_mask_flat,
    "random policy + step + mask + bits": policy_step_mask_bits,
}


def out_of_step(game: GameDefinition, num_games: int, players: int, rounds: int) -> Batch:
    """A batch whose games are at all stages: in every round of warming up, a random half of them has moved."""
    games = game.batch(num_games, num_players=players, seed=0, autoreset=True)
    rng = np.random.default_rng(0)
    for number in range(rounds):
        games.step(choose(games, number), where=rng.random(num_games) < 0.5 if num_games > 1 else None)
    return games


def measure(games: Batch, kind: Callable[[Batch, Any], None], repeats: int, share: float) -> list[float]:
    """Decisions a second of every repeat, the fastest first."""
    steps = int(np.clip(share * DECISIONS_PER_REPEAT / games.num_games, *STEPS_PER_REPEAT))
    rates = []
    for _ in range(repeats):
        seconds = 0.0
        for number in range(steps):
            actions = choose(games, number)
            start = time.perf_counter()
            kind(games, actions)
            seconds += time.perf_counter() - start
        rates.append(steps * games.num_games / seconds)
    return sorted(rates, reverse=True)


def usual_loop(env: Any, seconds: float) -> float:
    """Decisions a second of the loop that PettingZoo's documentation shows, with a random legal action."""
    made, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        env.reset()
        for _agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(random.choice(np.flatnonzero(observation["action_mask"]).tolist()))
            made += 1
    return made / (time.perf_counter() - start)


def single_games(games: list[str]) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """What to compare: name -> (module, function, options)."""
    envs: dict[str, tuple[str, str, dict[str, Any]]] = {}
    for kind in ("raw_env", "env"):
        for peer in ("connect_four", "tictactoe"):
            envs[f"{peer}_v3.{kind}"] = (f"pettingzoo.classic.{peer}.{peer}", kind, {})
        for game in games:
            envs[f"{game}.{kind}"] = (easyenvs.find_game(game).package, kind, {})
    for game in games:
        package = easyenvs.find_game(game).package
        envs[f"{game}.raw_env, bits"] = (package, "raw_env", {"observation": "bits"})
        envs[f"{game}.raw_env, 4 players"] = (package, "raw_env", {"num_players": 4})
    return envs


_env: Any = None  # in a process that measures one environment: that one


def make_env(module: str, kind: str, options: dict[str, Any]) -> None:
    """Make the environment of this process."""
    global _env
    _env = getattr(importlib.import_module(module), kind)(**options)


def measure_env(seconds: float) -> float:
    """Run the usual loop with it."""
    return usual_loop(_env, seconds)


def rate(value: float) -> str:
    """1,234 or 1.23M."""
    return f"{value / 1e6:.2f}M" if value >= 1e6 else f"{value:,.0f}"


def batch_table(
    game: GameDefinition, players: list[int], sizes: list[int], repeats: int, share: float, console: Console
) -> tuple[Table, list[Any]]:
    """Measure many games at once."""
    table = Table(title=f"{game.id}: decisions/s on one core, best / median of {repeats} repeats")
    table.add_column("players", justify="right")
    table.add_column("games", justify="right")
    for name in KINDS:
        table.add_column(name, justify="right")
    table.add_column("bytes/game", justify="right")
    results = []
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=console, transient=True
    ) as progress:
        task = progress.add_task("", total=len(players) * len(sizes) * len(KINDS))
        for number in players:
            for size in sizes:
                games = out_of_step(game, size, number, rounds=300 if size < 65536 else 150)
                cells = []
                for name, kind in KINDS.items():
                    progress.update(task, description=f"{game.id}, {number} players, {size:,} games: {name}")
                    rates = measure(games, kind, repeats, share)
                    best, median = rates[0], rates[len(rates) // 2]
                    cells.append(f"{rate(best)} / {rate(median)}")
                    results.append(
                        {
                            "game": game.id,
                            "players": number,
                            "games": size,
                            "what": name,
                            "best": best,
                            "median": median,
                        }
                    )
                    progress.advance(task)
                table.add_row(str(number), f"{size:,}", *cells, f"{games.nbytes / size:,.0f}")
                results.append(
                    {"game": game.id, "players": number, "games": size, "bytes per game": games.nbytes / size}
                )
    return table, results


def loop_table(games: list[str], repeats: int, seconds: float, console: Console) -> tuple[Table, list[Any]]:
    """Measure one game through PettingZoo, the environments in turn.

    Each has a process of its own, as in use: Python runs code faster that has met one kind of environment only.
    """
    envs = single_games(games)
    rates: dict[str, list[float]] = {name: [] for name in envs}
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    spawn = multiprocessing.get_context("spawn")
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(Progress(*columns, console=console, transient=True))
        task = progress.add_task("starting a process for each environment", total=(repeats + 1) * len(envs))
        workers = {}
        for name, arguments in envs.items():
            worker = ProcessPoolExecutor(1, mp_context=spawn, initializer=make_env, initargs=arguments)
            workers[name] = stack.enter_context(worker)
            worker.submit(measure_env, seconds).result()  # warm up, and let a missing extra be heard here
            progress.advance(task)
        for _ in range(repeats):
            for name, worker in workers.items():
                progress.update(task, description=f"PettingZoo's loop: {name}")
                rates[name].append(worker.submit(measure_env, seconds).result())
                progress.advance(task)
    table = Table(title=f"PettingZoo's usual loop, one game: decisions/s, best / median of {repeats} repeats")
    table.add_column("environment")
    table.add_column("decisions/s", justify="right")
    table.add_column("× connect_four_v3 of its kind (best / median)", justify="right")
    results = []
    for name, values in rates.items():
        kind = ".env" if name.endswith(".env") else ".raw_env"
        peer = rates["connect_four_v3" + kind]
        best, median = max(values), float(np.median(values))
        ratios = best / max(peer), median / float(np.median(peer))
        table.add_row(name, f"{rate(best)} / {rate(median)}", f"{ratios[0]:.2f} / {ratios[1]:.2f}")
        results.append(
            {"environment": name, "best": best, "median": median, "ratio best": ratios[0], "ratio median": ratios[1]}
        )
    return table, results


def main(
    game: Annotated[list[str] | None, typer.Option(help="Game ids (default: all games).")] = None,
    repeats: Annotated[int, typer.Option(min=7, help="Repeats of every measurement.")] = 9,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and shorter repeats: a minute.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the results to this file.")] = None,
) -> None:
    """Measure the speed on this machine."""
    console = Console()
    console.print(machine_text(), style="dim")
    try:
        games = [easyenvs.find_game(name) for name in game or easyenvs.games()]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    results: dict[str, Any] = {}
    for definition in games:
        if "numpy" not in definition.engines:
            continue
        usual = definition.rule_options["num_players"]
        players, sizes = ([usual], [1, 8192]) if quick else (sorted({usual, *PLAYERS}), list(SIZES))
        table, results[definition.id] = batch_table(definition, players, sizes, repeats, 0.3 if quick else 1.0, console)
        console.print(table)
    if importlib.util.find_spec("pygame") is None:
        raise SystemExit('PettingZoo\'s classic games need the extra "render": pip install "easyenvs[render]"')
    table, results["PettingZoo loop"] = loop_table([game.id for game in games], repeats, 0.2 if quick else 0.6, console)
    console.print(table)
    if json is not None:
        write_json(json, results)
        console.print(f"results: {json}")


if __name__ == "__main__":
    typer.run(main)
