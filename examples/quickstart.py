"""Train an agent in about a minute, and see that it has learned: Stable-Baselines3's MaskablePPO on a batch of games.

python examples/quickstart.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import numpy as np

try:
    import torch
    import typer
    from rich.console import Console
    from sb3_contrib import MaskablePPO
except ImportError as error:
    raise SystemExit(f'this script needs the extra "train": pip install "easyenvs[train]" ({error})') from error

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import easyenvs
from easyenvs.arena import half_width, play_deals
from easyenvs.core.policies import Policy, load_policy
from easyenvs.sb3 import ModelPolicy, VecEnv


def against_random(policy: Policy, game: str, deals: int) -> str:
    """How a policy does against random play, every deal once from each seat."""
    definition = easyenvs.find_game(game)
    result = play_deals(definition, [policy, load_policy("random", definition)], np.arange(deals))
    wins = result.wins[:, 0]
    return f"wins {100 * wins.mean():.1f} ± {100 * half_width(wins):.1f}% of {2 * deals} games against random"


def main(
    game: Annotated[str, typer.Option(help="peasy_v0 or school_v0.")] = "peasy_v0",
    steps: Annotated[int, typer.Option(min=1, help="Decisions of the learner.")] = 200_000,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    deals: Annotated[int, typer.Option(min=2, help="Deals of an evaluation.")] = 1000,
    save: Annotated[Path | None, typer.Option(help="Save the model there.")] = None,
) -> None:
    """Train MaskablePPO against random opponents, with two players."""
    torch.set_num_threads(1)  # the networks are too small for more to help
    console = Console()
    try:
        env = VecEnv(game, 256, num_players=2, seat="random", opponents="random", observation="bits", seed=seed)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=32,
        batch_size=2048,
        n_epochs=4,
        learning_rate=1e-3,
        gamma=1.0,
        gae_lambda=0.9,
        seed=seed,
        device="cpu",
    )
    console.print(f"untrained, it {against_random(ModelPolicy(model), game, deals)}")
    model.learn(steps, progress_bar=True)
    console.print(f"trained on {model.num_timesteps:,} decisions, it {against_random(ModelPolicy(model), game, deals)}")
    if save is not None:
        model.save(save)
        console.print(f"saved: {save}")


if __name__ == "__main__":
    typer.run(main)
