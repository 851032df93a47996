"""How an agent in training does against fixed opponents, and its learning curve as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from easyenvs.arena.matches import half_width, play_deals
from easyenvs.core.errors import MissingExtraError
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import Policy, load_policy

EVALUATION_SEEDS = 10**9
"""The first game seed of an evaluation: the same deals every time, and hardly ever one of training's."""


@dataclass(frozen=True)
class Evaluation:
    """A policy against one opponent in all other seats, every deal once from each seat.

    Attributes:
        steps: decisions of training so far.
        seconds: of training so far.
        opponent: its name.
        placement: mean placement reward (R1).
        interval: half of its 95% interval, from the deals.
        win_rate: 0 … 1; a shared first place counts its share.
        games: how many were played.
    """

    steps: int
    seconds: float
    opponent: str
    placement: float
    interval: float
    win_rate: float
    games: int

    def __str__(self) -> str:
        return f"{self.opponent} {self.placement:+.3f} ± {self.interval:.3f} ({100 * self.win_rate:.1f}% of {self.games} won)"


def evaluate(
    policy: Policy,
    opponent: str | Policy,
    game: GameDefinition,
    *,
    num_players: int,
    deals: int,
    steps: int = 0,
    seconds: float = 0.0,
    first_seed: int = EVALUATION_SEEDS,
) -> Evaluation:
    """Play `deals` deals in each rotation of the seats against an opponent in all other seats."""
    others = [load_policy(opponent, game)] * (num_players - 1)
    seeds = np.arange(deals, dtype=np.uint64) + np.uint64(first_seed)
    result = play_deals(game, [policy, *others], seeds)
    placement = result.placement[:, 0]
    return Evaluation(
        steps=steps,
        seconds=seconds,
        opponent=opponent if isinstance(opponent, str) else repr(opponent),
        placement=float(placement.mean()),
        interval=float(half_width(placement)),
        win_rate=float(result.wins[:, 0].mean()),
        games=deals * num_players,
    )


def plot_learning_curve(evaluations: Sequence[Evaluation], path: Path, title: str) -> None:
    """Mean placement by decisions of training, a line an opponent, with 95% intervals, into a PNG or SVG file.

    Raises:
        MissingExtraError: matplotlib is missing.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtraError(f'a plot needs the extra "cli": pip install "easyenvs[cli]" ({error})') from error

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for opponent in dict.fromkeys(evaluation.opponent for evaluation in evaluations):
        points = [evaluation for evaluation in evaluations if evaluation.opponent == opponent]
        x = np.array([evaluation.steps for evaluation in points]) / 1e6
        y = np.array([evaluation.placement for evaluation in points])
        e = np.array([evaluation.interval for evaluation in points])
        axes.plot(x, y, marker=".", label=f"against {opponent}")
        axes.fill_between(x, y - e, y + e, alpha=0.25)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xlabel("decisions of training (millions)")
    axes.set_ylabel("mean placement reward")
    axes.set_title(title)
    axes.set_ylim(-1.05, 1.05)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=120)
    plt.close(figure)
