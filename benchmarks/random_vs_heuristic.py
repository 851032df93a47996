"""How much better than random are the baseline agents?

Every deal is played once with the challenger in each seat, against a field of one other policy in all the other seats;
intervals come from the deals, not the games, because the games of one deal are not independent. The batch plays all
games of a match at once; `--engine aec` plays the same games one by one through PettingZoo and gets the same results.

    python benchmarks/random_vs_heuristic.py --players '2 4'
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

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
from easyenvs.arena import half_width
from easyenvs.core import chance, rewards
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import Policy, act, checked_choice, load_policy

Advance = Callable[[int], None]
"""Is told how many more games are over."""

MATCHES = (("greedy", "random"), ("heuristic", "random"), ("heuristic", "greedy"))
ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class Result:
    """One match: the challenger in one seat, the field in all others."""

    game: str
    players: int
    policy: str
    against: str
    games: int
    placement: float  # mean placement reward, R1
    interval: float  # half-width of its 95% interval
    win_rate: float
    win_interval: float
    score: float
    truncated: int
    decisions_per_game: float
    decisions_per_second: float


def seat_plan(players: int, deals: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Deal and challenger's seat of every game of a match: [D · P] each, the games of a deal side by side."""
    deal, seat = np.divmod(np.arange(deals * players), players)
    return deal.astype(np.intp), seat.astype(np.intp)


def play_on_batch(
    game: GameDefinition,
    players: int,
    seeds: list[int],
    seats: npt.NDArray[np.intp],
    pair: tuple[Policy, Policy],
    advance: Advance,
) -> tuple[Any, Any, Any, Any]:
    """The games with these seeds, the challenger in these seats: ranks, scores [M, P], decisions, truncated [M]."""
    games = game.batch(len(seeds), num_players=players, seed=seeds)
    assignment = np.ones((len(seeds), players), dtype=np.intp)
    assignment[np.arange(len(seeds)), seats] = 0
    over = 0
    while over < len(seeds):
        games.step(act(games, pair, assignment))
        now = int((games.player < 0).sum())
        advance(now - over)
        over = now
    return games.ranks(), games.scores, games.decisions, games.truncated


def play_on_aec(
    game: GameDefinition,
    players: int,
    seeds: list[int],
    seats: npt.NDArray[np.intp],
    pair: tuple[Policy, Policy],
    advance: Advance,
) -> tuple[Any, Any, Any, Any]:
    """The same through the AEC environment, one game after the other."""
    env = game.env(num_players=players, observation="bits")
    ranks, scores, decisions, truncated = [], [], [], []
    for seed, challenger in zip(seeds, seats.tolist(), strict=True):
        env.reset(seed=seed)
        infos: dict[str, Any] = {}
        for agent in env.agent_iter():
            _, _, terminated, cut, info = env.last(observe=False)
            if terminated or cut:
                infos[agent] = info
                was_cut = cut
                env.step(None)
                continue
            policy = pair[0] if agent == f"player_{challenger}" else pair[1]
            env.step(int(checked_choice(policy, env.decision())[0]))
        ranks.append([infos[agent]["rank"] for agent in env.possible_agents])
        scores.append([infos[agent]["score"] for agent in env.possible_agents])
        decisions.append(env.snapshot()["decisions"])
        truncated.append(was_cut)
        advance(1)
    return np.array(ranks), np.array(scores), np.array(decisions), np.array(truncated)


ENGINES = {"batch": play_on_batch, "aec": play_on_aec}


def play_match(
    game: GameDefinition,
    players: int,
    policy: str,
    against: str,
    *,
    deals: int,
    seed: int,
    engine: str,
    advance: Advance,
) -> Result:
    """Every deal once with `policy` in each seat and `against` in the others."""
    pair = (load_policy(policy, game), load_policy(against, game))
    deal, seats = seat_plan(players, deals)
    seeds = [chance.row_seed(seed, int(d)) for d in deal]
    parts = []
    start = time.perf_counter()
    for first in range(0, len(seeds), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        parts.append(ENGINES[engine](game, players, seeds[part], seats[part], pair, advance))
    seconds = time.perf_counter() - start
    ranks, scores, decisions, truncated = (np.concatenate(column) for column in zip(*parts, strict=True))
    rows = np.arange(len(seeds))
    placement = rewards.placement(ranks.T).T[rows, seats].reshape(deals, players).mean(axis=1)
    best = ranks == ranks.min(axis=1, keepdims=True)
    won = (best / best.sum(axis=1, keepdims=True))[rows, seats].reshape(deals, players).mean(axis=1)
    return Result(
        game=game.id,
        players=players,
        policy=policy,
        against=against,
        games=len(seeds),
        placement=float(placement.mean()),
        interval=float(half_width(placement)),
        win_rate=float(won.mean()),
        win_interval=float(half_width(won)),
        score=float(scores[rows, seats].mean()),
        truncated=int(truncated.sum()),
        decisions_per_game=float(decisions.mean()),
        decisions_per_second=float(decisions.sum() / seconds),
    )


def table(game: str, results: list[Result]) -> Table:
    """One game's results for the terminal: 80 columns are enough."""
    out = Table(
        title=f"{game}: `policy` in one seat, `against` in all others, on equal deals",
        caption="placement: mean reward, 1 always first, -1 always last; ±: 95% interval",
        box=None,
        padding=(0, 1),
    )
    for name in ("seats", "policy", "against"):
        out.add_column(name, no_wrap=True)
    for name in ("placement", "win rate", "mean\nscore", "dec.\n/game", "dec./s"):
        out.add_column(name, justify="right", no_wrap=True)
    for r in results:
        out.add_row(
            str(r.players),
            r.policy,
            r.against if r.players == 2 else f"{r.players - 1} × {r.against}",
            f"{r.placement:+.3f}±{r.interval:.3f}",
            f"{100 * r.win_rate:.1f}±{100 * r.win_interval:.1f}%",
            f"{r.score:.1f}",
            f"{r.decisions_per_game:.0f}",
            f"{r.decisions_per_second / 1000:,.0f}k"
            if r.decisions_per_second >= 1000
            else f"{r.decisions_per_second:.0f}",
        )
    return out


def plot(results: list[Result], path: Path) -> None:
    """Mean placement of every match with its 95% interval."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    labels = [f"{r.policy} against {r.against}\n{r.game}, {r.players} players" for r in results]
    figure, axes = plt.subplots(figsize=(8, 1 + 0.7 * len(results)), layout="constrained")
    colours = {"random": "#4c78a8", "greedy": "#f58518", "heuristic": "#54a24b"}
    positions = range(len(results))
    axes.barh(
        positions,
        [r.placement for r in results],
        xerr=[r.interval for r in results],
        color=[colours.get(r.policy, "#888888") for r in results],
        capsize=4,
    )
    for position, r in zip(positions, results, strict=True):
        axes.annotate(
            f"{r.placement:+.2f}", (min(r.placement, 1.0) / 2, position), ha="center", va="center", color="white"
        )
    axes.set_yticks(positions, labels)
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlim(min(0.0, *(r.placement - r.interval for r in results)), 1.05)
    axes.set_xlabel("mean placement reward (1: always first, −1: always last; bars: 95% interval)")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(
    game: Annotated[list[str] | None, typer.Option(help="Game ids (default: all games).")] = None,
    players: Annotated[str, typer.Option(help="Numbers of players, as in '2 4'.")] = "2 4",
    deals: Annotated[int, typer.Option(min=2, help="Deals a match; each is played once a seat.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the deals.")] = 0,
    engine: Annotated[
        str, typer.Option(help="batch: all games at once; aec: one by one through PettingZoo.")
    ] = "batch",
    json: Annotated[Path | None, typer.Option(help="Write the results to this file.")] = None,
    plot_to: Annotated[Path | None, typer.Option("--plot", help="Draw the results into this PNG or SVG file.")] = None,
) -> None:
    """Play the baseline agents against random, and the heuristic against greedy."""
    if engine not in ENGINES:
        raise typer.BadParameter(f"{engine!r} is no engine; {' and '.join(ENGINES)} are", param_hint="--engine")
    try:
        numbers = [int(number) for number in players.replace(",", " ").split()]
        chosen = [easyenvs.find_game(name) for name in game or easyenvs.games()]
        for definition in chosen:
            for number in numbers:
                definition.rules_type(num_players=number)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    console = Console()
    console.print(machine_text(), style="dim")
    matches = [(d, n, *match) for d in chosen for n in numbers for match in MATCHES]
    results = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=sum(deals * number for _, number, _, _ in matches))
        for definition, number, policy, against in matches:
            progress.update(task, description=f"{definition.id}, {number} players: {policy} against {against}")
            results.append(
                play_match(
                    definition,
                    number,
                    policy,
                    against,
                    deals=deals,
                    seed=seed,
                    engine=engine,
                    advance=lambda more: progress.advance(task, more),
                )
            )
    for definition in chosen:
        console.print(table(definition.id, [result for result in results if result.game == definition.id]))
    if json is not None:
        write_json(json, [asdict(result) for result in results])
        console.print(f"results: {json}")
    if plot_to is not None:
        plot(results, plot_to)
        console.print(f"plot: {plot_to}")


if __name__ == "__main__":
    typer.run(main)
