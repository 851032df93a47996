"""How strong is search, by budget?

A search agent in one seat against another policy in all others: every deal is played in each rotation of the seats, and
intervals come from the deals. All games of a match are played on one batch, and the time of a decision is the processor time
that the search took for all of them, divided by their number: one process, one core.

    python benchmarks/search_strength.py --budgets '20 60 200' --deals 500 --json search.json --plot search.png

`--from` shows and draws what earlier runs have written, and plays nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from json import loads as load_json
from pathlib import Path
from typing import Annotated, Any

try:
    import typer
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Table
except ImportError as error:
    raise SystemExit(f'this script needs the extra "cli": pip install "easyenvs[cli]" ({error})') from error

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import easyenvs
from benchmarks.common import machine_text, write_json
from easyenvs.arena import play_deals
from easyenvs.arena.matches import half_width
from easyenvs.core import chance
from easyenvs.core.arrays import Index
from easyenvs.core.errors import OptionError
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import Decisions, Policy, load_policy
from examples.agents.search import ISMCTS, Config, FlatMonteCarlo, Search, SequentialHalving

ALGORITHMS: dict[str, type[Search]] = {"flat": FlatMonteCarlo, "halving": SequentialHalving, "ismcts": ISMCTS}
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Result:
    """One match: a search in one seat, the other policy in all others."""

    game: str
    players: int
    algorithm: str
    budget: float
    unit: str  # of the budget, a decision: "rollouts" or "milliseconds"
    against: str
    games: int
    placement: float  # mean placement reward, R1
    interval: float  # half-width of its 95% interval
    win_rate: float
    win_interval: float
    decisions: int  # of the search
    searched: float  # the part of them that had at least two candidates
    rollouts: float  # mean, of the searched ones
    changed: float  # the part of all in which the guide's favourite was not chosen
    milliseconds: float  # processor time of a decision, mean over all


class Timed:
    """A search, and what it has done so far."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.seconds = 0.0
        self.decisions = self.searched = self.rollouts = self.changed = 0

    def __call__(self, d: Decisions, /) -> Index:
        """What the search chooses."""
        start = time.process_time()
        report = self.search.report(d)
        self.seconds += time.process_time() - start
        self.decisions += len(d)
        self.searched += int((report.rollouts > 0).sum())
        self.rollouts += int(report.rollouts.sum())
        self.changed += int((report.action != report.candidates[:, 0]).sum())
        return report.action


def play_match(
    game: GameDefinition,
    players: int,
    algorithm: str,
    config: Config,
    against: Policy,
    name: str,
    *,
    deals: int,
    seed: int,
    advance: Advance,
) -> Result:
    """Every deal in each rotation of the seats."""
    timed = Timed(ALGORITHMS[algorithm](config))
    seeds = [chance.row_seed(seed, deal) for deal in range(deals)]
    played = play_deals(game, [timed, *[against] * (players - 1)], seeds, advance=advance)
    placement, wins = played.placement[:, 0], played.wins[:, 0]
    is_timed = config.milliseconds is not None
    return Result(
        game=game.id,
        players=players,
        algorithm=algorithm,
        budget=float(config.milliseconds if config.milliseconds is not None else config.rollouts or 0),
        unit="milliseconds" if is_timed else "rollouts",
        against=name,
        games=deals * players,
        placement=float(placement.mean()),
        interval=float(half_width(placement)),
        win_rate=float(wins.mean()),
        win_interval=float(half_width(wins)),
        decisions=timed.decisions,
        searched=timed.searched / timed.decisions,
        rollouts=timed.rollouts / max(timed.searched, 1),
        changed=timed.changed / timed.decisions,
        milliseconds=1000.0 * timed.seconds / timed.decisions,
    )


def table(results: list[Result]) -> Table:
    """The results for the terminal: 80 columns are enough."""
    out = Table(
        title="a search in one seat, `against` in all others, on equal deals",
        caption="placement: mean reward, 1 always first, -1 always last; ±: 95% interval; ms: a decision's processor time",
        box=None,
        padding=(0, 1, 0, 0),
    )
    for name in ("game", "search", "against"):
        out.add_column(name, no_wrap=True)
    for name in ("budget", "games", "placement", "changed", "ms"):
        out.add_column(name, justify="right", no_wrap=True)
    for r in results:
        out.add_row(
            f"{r.game} {r.players}p",
            r.algorithm,
            r.against,
            f"{r.budget:g}" + (" ms" if r.unit == "milliseconds" else ""),
            str(r.games),
            f"{r.placement:+.3f}±{r.interval:.3f}",
            f"{100 * r.changed:.0f}%",
            f"{r.milliseconds:.1f}",
        )
    return out


def plot(results: list[Result], path: Path) -> None:
    """Mean placement by budget with its 95% interval: a panel a game, a line a number of players and algorithm."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    games = list(dict.fromkeys(r.game for r in results))
    figure, panels = plt.subplots(
        1, len(games), figsize=(1.5 + 5.5 * len(games), 4.8), layout="constrained", sharey=True, squeeze=False
    )
    for axes, game in zip(panels[0], games, strict=True):
        lines: dict[tuple[int, str], list[Result]] = {}
        for r in results:
            if r.game == game:
                lines.setdefault((r.players, r.algorithm), []).append(r)
        for index, ((players, algorithm), points) in enumerate(lines.items()):
            points.sort(key=lambda r: r.budget)
            shift = 1.0 + 0.03 * index  # so that bars don't hide each other
            axes.errorbar(
                [shift * r.budget for r in points],
                [r.placement for r in points],
                yerr=[r.interval for r in points],
                marker="o",
                capsize=4,
                label=f"{algorithm}, {players} players",
            )
            for r in points:
                axes.annotate(
                    f"{r.milliseconds:.0f} ms",
                    (shift * r.budget, r.placement),
                    xytext=(7, -12) if index % 2 == 0 else (-30, 6),
                    textcoords="offset points",
                    fontsize=8,
                    color=f"C{index}",
                )
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_xscale("log")
        budgets = sorted({r.budget for r in results if r.game == game})
        axes.set_xticks(budgets, [f"{budget:g}" for budget in budgets])
        axes.minorticks_off()
        axes.margins(x=0.15, y=0.1)
        axes.set_xlabel(f"{results[0].unit} a decision (at the points: processor time of one)")
        axes.set_title(game)
        axes.legend(loc="lower right")
    panels[0][0].set_ylabel(f"mean placement against {results[0].against} (bars: 95%)")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def read_results(path: Path) -> list[Result]:
    """What an earlier run has written with `--json`, or typer's error."""
    try:
        return [Result(**result) for result in load_json(path.read_text(encoding="utf-8"))["results"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise typer.BadParameter(f"{path} holds no results of this script: {error}", param_hint="--from") from error


def show(console: Console, results: list[Result], plot_to: Path | None) -> None:
    """The table, and the plot if one is wanted."""
    console.print(table(results))
    if plot_to is not None:
        for name in ("unit", "against"):
            if len(found := sorted({str(getattr(r, name)) for r in results})) > 1:
                raise typer.BadParameter(f"results of several kinds can't share a plot: {name} {', '.join(found)}")
        plot(results, plot_to)
        console.print(f"plot: {plot_to}")


def numbers_of(text: str, kind: Callable[[str], Any], option: str) -> list[Any]:
    """Numbers out of a text such as '2 4', or typer's error."""
    try:
        numbers = [kind(number) for number in text.replace(",", " ").split()]
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error
    if not numbers:
        raise typer.BadParameter("at least one number is needed", param_hint=option)
    return numbers


def main(
    game: Annotated[list[str] | None, typer.Option(help="Game ids (default: all games).")] = None,
    players: Annotated[str, typer.Option(help="Numbers of players, as in '2 4'.")] = "2",
    algorithm: Annotated[str, typer.Option(help="Some of 'flat halving ismcts'.")] = "halving",
    budgets: Annotated[str, typer.Option(help="Budgets of a decision, as in '30 100 300'.")] = "30 150",
    unit: Annotated[str, typer.Option(help="Of the budgets: rollouts or milliseconds.")] = "rollouts",
    candidates: Annotated[int, typer.Option(help="Actions that are tried in a decision, at most.")] = Config.candidates,
    against: Annotated[str, typer.Option(help="The policy in the other seats.")] = "heuristic",
    deals: Annotated[int, typer.Option(min=2, help="Deals a match; each is played once a seat.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the deals.")] = 0,
    json: Annotated[Path | None, typer.Option(help="Write the results to this file, after every match.")] = None,
    earlier: Annotated[
        list[Path] | None, typer.Option("--from", help="Show and draw the results in these files, and play nothing.")
    ] = None,
    plot_to: Annotated[Path | None, typer.Option("--plot", help="Draw the results into this PNG or SVG file.")] = None,
) -> None:
    """Play search agents against another policy, at several budgets."""
    if unit not in ("rollouts", "milliseconds"):
        raise typer.BadParameter(f"{unit!r} is no unit; rollouts and milliseconds are", param_hint="--unit")
    chosen_algorithms = algorithm.replace(",", " ").split()
    for name in chosen_algorithms:
        if name not in ALGORITHMS:
            raise typer.BadParameter(f"{name!r} is no algorithm; {', '.join(ALGORITHMS)} are", param_hint="--algorithm")
    counts = numbers_of(players, int, "--players")
    amounts = numbers_of(budgets, int if unit == "rollouts" else float, "--budgets")
    try:
        configs = [Config(candidates=candidates, **{unit: amount}) for amount in amounts]
        chosen = [easyenvs.find_game(name) for name in game or easyenvs.games()]
        opponents = {definition.id: load_policy(against, definition) for definition in chosen}
        for definition in chosen:
            for number in counts:
                definition.rules_type(num_players=number)
    except (OptionError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error
    console = Console()
    if earlier:
        if json is not None:
            raise typer.BadParameter("--from plays nothing that could be written", param_hint="--json")
        show(console, [result for path in earlier for result in read_results(path)], plot_to)
        return
    console.print(machine_text(), style="dim")
    matches = [(d, n, name, config) for d in chosen for n in counts for name in chosen_algorithms for config in configs]
    results: list[Result] = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=sum(deals * number for _, number, _, _ in matches))
        for definition, number, name, config in matches:
            progress.update(task, description=f"{definition.id}, {number} players: {name}")
            results.append(
                play_match(
                    definition,
                    number,
                    name,
                    config,
                    opponents[definition.id],
                    against,
                    deals=deals,
                    seed=seed,
                    advance=lambda more: progress.advance(task, more),
                )
            )
            if json is not None:
                write_json(json, [asdict(result) for result in results])
    show(console, results, plot_to)
    if json is not None:
        console.print(f"results: {json}")


if __name__ == "__main__":
    typer.run(main)
