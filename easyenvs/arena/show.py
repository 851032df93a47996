"""A tournament's result for people: a table for the terminal, and plots."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from easyenvs.arena.tournament import Estimate, TournamentResult
from easyenvs.core.errors import MissingExtraError

if TYPE_CHECKING:
    from rich.table import Table


def _missing(error: ImportError) -> MissingExtraError:
    return MissingExtraError(f'tables and plots need the extra "cli": pip install "easyenvs[cli]" ({error})')


def table(result: TournamentResult) -> Table:
    """Ranking, with 95% intervals, the best policy first."""
    try:
        from rich.markup import escape
        from rich.table import Table
    except ImportError as error:
        raise _missing(error) from error
    out = Table(
        title=f"{result.game}, {result.num_players} players: {result.num_games:,} games on {result.num_deals:,} deals",
        caption="placement: mean reward, 1 always first, −1 always last; ±: half of the 95% interval, from the deals",
        box=None,
    )
    lost = [forfeit.policy for forfeit in result.forfeits]
    out.add_column("policy", no_wrap=True)
    for name in ("placement", "win rate", "score", "Elo", "OpenSkill", *(["forfeits"] if lost else [])):
        out.add_column(name, justify="right", no_wrap=True)
    placement, wins, score = result.placement, result.win_rate, result.score
    elo, skill = result.elo, result.openskill
    for k in np.argsort([-estimate.mean for estimate in placement], kind="stable").tolist():
        out.add_row(
            escape(result.policies[k]),
            f"{placement[k].mean:+.3f}±{placement[k].half_width:.3f}",
            f"{100 * wins[k].mean:.1f}±{100 * wins[k].half_width:.1f}%",
            f"{score[k].mean:.1f}",
            f"{elo[k].mean:.0f}±{elo[k].half_width:.0f}",
            f"{skill[k][0]:.1f}±{skill[k][1]:.1f}",
            *([str(lost.count(result.policies[k]))] if lost else []),
        )
    if result.truncated:
        out.caption = (
            f"{out.caption}\n{result.truncated} games were cut off, and count with the ranks that they had then"
        )
    return out


def _figure(width: float, height: float) -> tuple[Any, Any, Any]:
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise _missing(error) from error
    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(width, height), layout="constrained")
    return plt, figure, axes


def plot_payoff(result: TournamentResult, path: str | Path) -> None:
    """The payoff matrix as a heat map, into a PNG or SVG file: the row's policy against the column's."""
    order = np.argsort([-estimate.mean for estimate in result.placement], kind="stable").tolist()
    payoff = result.payoff
    size = len(order)
    plt, figure, axes = _figure(2.5 + 0.9 * size, 1.8 + 0.8 * size)
    means = np.array([[payoff[i][j].mean if i != j else np.nan for j in order] for i in order])
    image = axes.imshow(means, cmap="RdBu", vmin=-1, vmax=1)
    for a, i in enumerate(order):
        for b, j in enumerate(order):
            cell = payoff[i][j]
            if i != j and not math.isnan(cell.mean):
                colour = "white" if abs(cell.mean) > 0.6 else "black"
                axes.text(
                    b,
                    a,
                    f"{cell.mean:+.2f}\n±{cell.half_width:.2f}",
                    ha="center",
                    va="center",
                    color=colour,
                    fontsize=8,
                )
    names = [result.policies[k] for k in order]
    axes.set_xticks(range(size), names, rotation=45, ha="right")
    axes.set_yticks(range(size), names)
    axes.set_title(f"{result.game}, {result.num_players} players: row against column")
    figure.colorbar(image, ax=axes, label="came before it more often (1: always)")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def plot_ratings(result: TournamentResult, path: str | Path) -> None:
    """Elo ratings with their 95% intervals, as points with bars and in numbers, into a PNG or SVG file."""
    elo = result.elo
    order = np.argsort([estimate.mean for estimate in elo], kind="stable").tolist()
    plt, figure, axes = _figure(7.0, 1.5 + 0.45 * len(order))
    chosen: list[Estimate] = [elo[k] for k in order]
    means = np.array([estimate.mean for estimate in chosen])
    around = np.array([[e.mean - e.low for e in chosen], [e.high - e.mean for e in chosen]])
    # Points, not columns: Elo has no zero for them to stand on.
    axes.errorbar(means, range(len(order)), xerr=np.maximum(around, 0.0), fmt="o", color="#4c78a8", capsize=4)
    for row, estimate in enumerate(chosen):
        text = f"{estimate.mean:,.0f} ± {estimate.half_width:,.0f}"
        axes.annotate(text, (estimate.mean, row), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=8)
    axes.set_yticks(range(len(order)), [result.policies[k] for k in order])
    axes.margins(x=0.08)
    axes.set_ylim(-0.5, len(order) - 0.3)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("Elo (median 1,500; bars: 95% interval)")
    axes.set_title(f"{result.game}, {result.num_players} players")
    figure.savefig(path, dpi=150)
    plt.close(figure)
