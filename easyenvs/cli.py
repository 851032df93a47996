"""The command line: `easyenvs list`, `info`, `match`, `tournament`, `speed`, `replay`, `play` and `serve`.

Needs the extra "cli" ("arena" for matches and tournaments, "render" for animations, "play" and "serve"). Errors
end with a message and exit code 2.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
from gymnasium import spaces

import easyenvs
from easyenvs.core.batch import make_rules
from easyenvs.core.encoders import ENCODERS, make_encoder
from easyenvs.core.errors import MissingExtraError
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import act, agent_names, load_policy, plays_with
from easyenvs.core.rewards import REWARDS

try:
    import typer
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Table

    from easyenvs.play.command import play
    from easyenvs.serve.command import serve
    from easyenvs.watch.command import replay
except ImportError as error:
    raise MissingExtraError(f'the command line needs the extra "cli": pip install "easyenvs[cli]" ({error})') from error

app = typer.Typer(
    name="easyenvs",
    help="Reinforcement-learning environments for card games.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

app.command("replay")(replay)
app.command("play")(play)
app.command("serve")(serve)

SPEED_GAMES: Final = 8192
WARM_UP: Final = 200  # steps that bring the games out of step with one another

DEFAULT_GAMES: Final = 2000
MOST_GAMES: Final = 1_000_000  # with --until, which ends before

GameName = Annotated[str, typer.Argument(help="The game's id, as `easyenvs list` shows it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Rule = Annotated[
    list[str] | None, typer.Option("--rule", help="A rule option, NAME=VALUE; may be given several times.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the deals.")]
NumGames = Annotated[
    int | None,
    typer.Option(
        "--games",
        min=1,
        help=f"How many games to play, rounded up to whole deals; with --until, at most. [default: {DEFAULT_GAMES:,}; "
        f"with --until {MOST_GAMES:,}]",
    ),
]
Until = Annotated[
    str | None, typer.Option(help="Stop as soon as every mean placement is known so well, as in '±0.02'.")
]
Jobs = Annotated[int, typer.Option(help="Processes; −1: as many as there are cores.")]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds a decision; more loses the game.")]
RecordsTo = Annotated[Path | None, typer.Option("--records", help="Write the record of every game into this file.")]
PlotTo = Annotated[Path | None, typer.Option("--plot", help="Draw the ratings into this PNG or SVG file.")]


def rule_options(rules: list[str] | None) -> dict[str, Any]:
    """NAME=VALUE texts as options: integers, true, false and null as in JSON, everything else as text.

    Raises:
        ValueError: not of that form.
    """
    options: dict[str, Any] = {}
    for rule in rules or []:
        name, equals, value = rule.partition("=")
        if not equals or not name:
            raise ValueError(f"--rule {rule!r} is not of the form NAME=VALUE")
        try:
            options[name.replace("-", "_")] = json.loads(value)
        except json.JSONDecodeError:
            options[name.replace("-", "_")] = value
    return options


def print_json(value: Any) -> None:
    """On standard output, for other programs."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


def players_of(game: GameDefinition) -> list[int]:
    """The numbers of players that a game accepts."""
    accepted = []
    for number in range(1, 13):
        try:
            game.rules_type(num_players=number)
        except ValueError:
            continue
        accepted.append(number)
    return accepted


def agents_of(game: GameDefinition) -> dict[str, list[int]]:
    """The agents that ship for a game, and the numbers of players that each plays with."""
    players = players_of(game)
    policies = {name: load_policy(name, game) for name in ("random", *agent_names(game))}
    return {name: [number for number in players if plays_with(policy, number)] for name, policy in policies.items()}


def agents_text(game: GameDefinition) -> str:
    """The same in words: numbers stand where an agent doesn't play with all that the game accepts."""
    every = players_of(game)
    return ", ".join(
        name if numbers == every else f"{name} ({', '.join(map(str, numbers))} players)"
        for name, numbers in agents_of(game).items()
    )


# ------------------------------------------------------------------------------------------------- what there is


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"easyenvs {easyenvs.__version__}\n")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Reinforcement-learning environments for card games."""


@app.command("list")
def list_games(as_json: AsJson = False) -> None:
    """List the games and their agents."""
    found = easyenvs.games().values()
    if as_json:
        print_json(
            [
                {
                    "game": game.id,
                    "players": players_of(game),
                    "actions": len(game.notation.ACTION_NAMES),
                    "agents": agents_of(game),
                }
                for game in found
            ]
        )
        return
    table = Table("game", "players", "actions", "agents", box=None)
    for game in found:
        players = players_of(game)
        actions = len(game.notation.ACTION_NAMES)
        table.add_row(game.id, f"{players[0]}–{players[-1]}", str(actions), escape(agents_text(game)))
    Console().print(table)


@app.command()
def info(game: GameName, as_json: AsJson = False, rule: Rule = None) -> None:
    """Tell what a game offers: options, actions, observations, agents."""
    definition = easyenvs.find_game(game)
    rules = make_rules(definition, rule_options(rule), [])
    observations = {}
    for name in ENCODERS:
        space = make_encoder(definition, rules, name).space
        if isinstance(space, spaces.Box):
            observations[name] = f"{space.dtype} {list(space.shape)}"
        else:
            observations[name] = type(space).__name__.lower()
    names = definition.notation.ACTION_NAMES
    facts: dict[str, Any] = {
        "game": definition.id,
        "players": players_of(definition),
        "rules": rules.as_dict(),
        "rewards": list(REWARDS),
        "actions": len(names),
        "first actions": list(names[:8]),
        "observations": observations,
        "engines": list(definition.engines),
        "agents": agents_of(definition),
    }
    if as_json:
        print_json(facts)
        return
    facts["agents"] = agents_text(definition)
    table = Table(show_header=False, box=None)
    for key, value in facts.items():
        if isinstance(value, dict):
            text = "\n".join(f"{k}: {v}" for k, v in value.items())
        else:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        table.add_row(key, escape(text))
    Console().print(table)


# ------------------------------------------------------------------------------------------------- playing


@app.command()
def match(
    game: GameName,
    policies: Annotated[
        list[str], typer.Argument(help="One policy a seat, by name; every deal is played in each rotation.")
    ],
    games: NumGames = None,
    seed: Seed = 0,
    until: Until = None,
    jobs: Jobs = 1,
    time_limit: TimeLimit = None,
    records: RecordsTo = None,
    plot: PlotTo = None,
    rule: Rule = None,
    as_json: AsJson = False,
) -> None:
    """Play these policies at one table: as many players as there are policies."""
    _tournament(game, policies, len(policies), games, seed, until, jobs, time_limit, records, plot, rule, as_json)


@app.command()
def tournament(
    game: GameName,
    policies: Annotated[list[str], typer.Argument(help="Two policies at least, by name.")],
    players: Annotated[int, typer.Option(min=2, help="Number of players at a table.")] = 2,
    games: NumGames = None,
    seed: Seed = 0,
    until: Until = None,
    jobs: Jobs = 1,
    time_limit: TimeLimit = None,
    records: RecordsTo = None,
    plot: PlotTo = None,
    rule: Rule = None,
    as_json: AsJson = False,
) -> None:
    """Play everybody against everybody, on equal deals."""
    _tournament(game, policies, players, games, seed, until, jobs, time_limit, records, plot, rule, as_json)


def _tournament(
    game: str,
    policies: list[str],
    players: int,
    num_games: int | None,
    seed: int,
    until: str | None,
    jobs: int,
    time_limit: float | None,
    records: Path | None,
    plot: Path | None,
    rule: list[str] | None,
    as_json: bool,
) -> None:
    from easyenvs import arena
    from easyenvs.arena.tournament import half_width_of, line_ups

    if num_games is None:
        num_games = DEFAULT_GAMES if until is None else MOST_GAMES
    console = Console(stderr=as_json)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games"),
        TimeRemainingColumn(),
    )
    tables = len(line_ups(len(policies), players))
    total = -(-num_games // (players * max(1, tables))) * players * tables
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(game, total=total)
        result = arena.play(
            game,
            policies,
            num_games,
            num_players=players,
            seed=seed,
            until=until,
            n_jobs=jobs,
            time_limit=time_limit,
            keep_records=records is not None,
            advance=lambda more: progress.advance(task, more),
            **rule_options(rule),
        )
    if as_json:
        print_json(result.as_dict())
    else:
        console.print(arena.table(result))
        worst = max(estimate.half_width for estimate in result.placement)
        if until is not None and worst > half_width_of(until):
            console.print(
                f"stopped at {result.num_games:,} games: ±{worst:.3f}, not ±{half_width_of(until):g}", style="red"
            )
        for forfeit in result.forfeits[:3]:
            console.print(f"{escape(forfeit.policy)} lost a game: {escape(forfeit.reason)}", style="red")
    if records is not None:
        count = easyenvs.write_records(records, result.records)
        console.print(f"records: {count} games in {records}")
    if plot is not None:
        arena.plot_ratings(result, plot)
        console.print(f"plot: {plot}")


@app.command()
def speed(
    game: Annotated[list[str] | None, typer.Argument(help="Game ids (default: all).")] = None,
    players: Annotated[int | None, typer.Option(help="Number of players (default: the game's own).")] = None,
    seconds: Annotated[float, typer.Option(min=0.01, help="Time a figure.")] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Measure the speed on this machine, on one core: random play, deals included."""
    definitions = [easyenvs.find_game(name) for name in game or easyenvs.games()]
    rules: dict[str, Any] = {} if players is None else {"num_players": players}
    results: list[dict[str, Any]] = []
    for definition in definitions:
        number = definition.rules_type(**rules).num_players
        for what, rate in _rates(definition, rules, seconds).items():
            results.append({"game": definition.id, "players": number, "what": what, "decisions_per_second": rate})
    if as_json:
        print_json(results)
        return
    table = Table("game", "players", "what", box=None)
    table.add_column("decisions/s", justify="right")
    for result in results:
        rate = result["decisions_per_second"]
        table.add_row(result["game"], str(result["players"]), result["what"], f"{rate:,.0f}")
    Console().print(table)


def _rates(game: GameDefinition, rules: dict[str, Any], seconds: float) -> dict[str, float]:
    """Decisions a second of the batch with a random policy, with and without observations, and of one AEC environment."""
    policies = [load_policy("random", game)] * game.rules_type(**rules).num_players
    batch = game.batch(SPEED_GAMES, seed=0, autoreset=True, **rules)
    for _ in range(WARM_UP):
        batch.step(act(batch, policies))

    def observed() -> int:
        batch.observe("bits")
        batch.step(act(batch, policies))
        return SPEED_GAMES

    def blind() -> int:
        batch.step(act(batch, policies))
        return SPEED_GAMES

    env = game.env(**rules)
    rng = np.random.default_rng(0)

    def one_game() -> int:
        env.reset(seed=int(rng.integers(2**32)))
        count = 0
        for _ in env.agent_iter():
            _, _, terminated, truncated, _ = env.last()
            legal = env.legal_actions()
            env.step(None if terminated or truncated else legal[int(rng.random() * len(legal))])
            count += bool(legal)
        return count

    return {
        f"{SPEED_GAMES:,} games, random policy": _rate(blind, seconds),
        f"{SPEED_GAMES:,} games, random policy, `bits` observed": _rate(observed, seconds),
        "one game, PettingZoo's loop": _rate(one_game, seconds),
    }


def _rate(more: Callable[[], int], seconds: float) -> float:
    start = time.perf_counter()
    done = 0
    while True:
        done += more()
        passed = time.perf_counter() - start
        if passed >= seconds:
            return done / passed


def main() -> None:
    """The program `easyenvs`."""
    try:
        app()
    except (ValueError, TypeError, MissingExtraError, OSError) as error:
        # What a user can mend. Anything else is a bug, and shows where.
        if isinstance(error, TypeError) and "has no option" not in str(error):
            raise
        sys.stderr.write(f"Error: {error}\n")
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
