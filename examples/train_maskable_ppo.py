"""Self-play with Stable-Baselines3: MaskablePPO against a pool of its earlier selves and of the baseline agents.

    python examples/train_maskable_ppo.py --game school_v0 --players 3 --steps 5_000_000 --output runs/school

Every game draws one opponent from the pool, for all other seats; every so often the learner as it is then joins the pool.
One network, one seat a game learns: `train_selfplay_ppo.py` learns from all seats, and is many times as fast.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

try:
    import torch
    import typer
    from rich.console import Console
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecMonitor
except ImportError as error:
    raise SystemExit(f'this script needs the extra "train": pip install "easyenvs[train]" ({error})') from error

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import easyenvs
from easyenvs.arena import Evaluation, evaluate, plot_learning_curve
from easyenvs.core.weights import save_weights
from easyenvs.sb3 import SelfPlayCallback, VecEnv, network_policy
from easyenvs.selfplay import RULES, Pool

OPPONENTS = ("random", "heuristic")  # of the evaluations


@dataclass(frozen=True)
class Settings:
    """What a run is made of. A resumed run takes them from its folder."""

    game: str
    players: int
    reward: str
    observation: str
    seed: int
    num_envs: int
    n_steps: int
    batch_size: int
    n_epochs: int
    learning_rate: float
    gae_lambda: float
    entropy: float
    hidden: tuple[int, ...]
    pool_rule: str
    pool_size: int
    pool_every: int


class Evaluator(BaseCallback):
    """Every so often: play against fixed opponents, tell TensorBoard and the terminal, and keep everything in the folder."""

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        pool: Pool,
        every: int,
        deals: int,
        console: Console,
        before: dict[str, Any],
    ) -> None:
        super().__init__()
        self.settings, self.folder, self.pool = settings, folder, pool
        self.every, self.deals, self.console = every, deals, console
        self.evaluations = [Evaluation(**evaluation) for evaluation in before.get("evaluations", [])]
        self.seconds: float = before.get("seconds", 0.0)
        self._clock = 0.0
        self._next = 0

    def _on_training_start(self) -> None:
        self._clock = time.perf_counter()
        self._next = (self.num_timesteps // self.every + 1) * self.every

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self._next:
            self._next += self.every
            self.check()

    def _on_training_end(self) -> None:
        self.check()

    def check(self) -> None:
        """Evaluate the learner as it is now, and save."""
        s = self.settings
        self.seconds += time.perf_counter() - self._clock
        game = easyenvs.find_game(s.game)
        policy = network_policy(
            self.model,
            easyenvs=easyenvs.__version__,
            script=Path(__file__).name,
            settings=asdict(s),
            steps=self.num_timesteps,
            seconds=round(self.seconds),
        )
        latest = [
            evaluate(
                policy,
                opponent,
                game,
                num_players=s.players,
                deals=self.deals,
                steps=self.num_timesteps,
                seconds=self.seconds,
            )
            for opponent in OPPONENTS
        ]
        self.evaluations += latest
        for evaluation in latest:
            self.logger.record(f"placement/{evaluation.opponent}", evaluation.placement)
        self.logger.dump(self.num_timesteps)
        self.console.print(
            f"{self.num_timesteps / 1e6:6.2f}M decisions, {self.seconds:5.0f} s: against " + ", ".join(map(str, latest))
        )
        self.model.save(self.folder / "checkpoint.new.zip")
        (self.folder / "checkpoint.new.zip").replace(self.folder / "checkpoint.zip")
        self.pool.save(self.folder / "pool")
        save_weights(self.folder / "weights.npz", policy.layers, policy.about)
        kept = {"seconds": self.seconds, "evaluations": [asdict(evaluation) for evaluation in self.evaluations]}
        (self.folder / "run.json").write_text(json.dumps({"settings": asdict(s), **kept}, indent=2) + "\n")
        self._clock = time.perf_counter()


def start(settings: Settings, folder: Path, resume: bool) -> tuple[MaskablePPO, Pool]:
    """The model on its environment, and the pool: new ones, or those of the folder's checkpoint."""
    game = easyenvs.find_game(settings.game)
    pool = (
        Pool.load(folder / "pool", game)
        if resume
        else Pool(game, ["random", "greedy", "heuristic"], rule=settings.pool_rule, size=settings.pool_size)
    )
    games = VecEnv(
        game,
        settings.num_envs,
        seat="random",
        opponents=pool,
        reward=settings.reward,
        observation=settings.observation,
        num_players=settings.players,
    )
    env = VecMonitor(games)
    logs = str(folder / "tensorboard")
    if resume:
        model = MaskablePPO.load(folder / "checkpoint.zip", env=env, device="cpu", tensorboard_log=logs)
        games.seed(settings.seed + model.num_timesteps)  # other games than before
        return model, pool
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=settings.n_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.n_epochs,
        learning_rate=settings.learning_rate,
        gamma=1.0,
        gae_lambda=settings.gae_lambda,
        ent_coef=settings.entropy,
        policy_kwargs={"net_arch": list(settings.hidden), "activation_fn": torch.nn.ReLU},
        seed=settings.seed,
        device="cpu",
        tensorboard_log=logs,
    )
    games.seed(settings.seed)
    return model, pool


def main(
    game: Annotated[str, typer.Option(help="The game's id.")] = "peasy_v0",
    players: Annotated[int, typer.Option(help="Number of players.")] = 2,
    steps: Annotated[int, typer.Option(min=1, help="Decisions of the learner to train for.")] = 5_000_000,
    output: Annotated[Path, typer.Option(help="Folder of the run: checkpoint, pool, weights, logs, plot.")] = Path(
        "runs/maskable_ppo"
    ),
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from the folder; --steps and evaluations are as given now.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    reward: Annotated[str, typer.Option(help="placement, win or score.")] = "placement",
    observation: Annotated[str, typer.Option(help="bits or flat.")] = "bits",
    num_envs: Annotated[int, typer.Option(min=1, help="Games at once.")] = 256,
    n_steps: Annotated[int, typer.Option(min=2, help="Decisions a game between updates.")] = 64,
    batch_size: Annotated[int, typer.Option(min=2)] = 2048,
    n_epochs: Annotated[int, typer.Option(min=1)] = 2,
    learning_rate: Annotated[float, typer.Option(min=0)] = 3e-4,
    gae_lambda: Annotated[float, typer.Option(min=0, max=1)] = 0.95,
    entropy: Annotated[float, typer.Option(min=0, help="Weight of the entropy bonus.")] = 0.01,
    hidden: Annotated[str, typer.Option(help="Sizes of the hidden layers.")] = "256 256",
    pool_rule: Annotated[str, typer.Option(help=f"How opponents are drawn: {', '.join(RULES)}.")] = "prioritised",
    pool_size: Annotated[int, typer.Option(min=1, help="Earlier selves that are kept.")] = 20,
    pool_every: Annotated[int, typer.Option(min=1, help="Decisions between additions to the pool.")] = 250_000,
    evaluate_every: Annotated[int, typer.Option(min=1, help="Decisions between evaluations.")] = 500_000,
    evaluation_deals: Annotated[int, typer.Option(min=2)] = 500,
    threads: Annotated[int, typer.Option(min=1, help="Of PyTorch.")] = torch.get_num_threads(),
) -> None:
    """Train MaskablePPO by self-play against a pool of opponents."""
    torch.set_num_threads(threads)
    console = Console()
    before: dict[str, Any] = {}
    try:
        if resume:
            if not (output / "run.json").is_file():
                raise ValueError(f"{output} holds no run.json to go on from")
            before = json.loads((output / "run.json").read_text())
            kept = before["settings"]
            settings = Settings(**{**kept, "hidden": tuple(kept["hidden"])})
        else:
            if (output / "run.json").is_file():
                raise ValueError(f"{output} holds a run already: --resume goes on with it")
            if observation not in ("bits", "flat"):
                raise ValueError(f"--observation {observation!r} is neither bits nor flat")
            settings = Settings(
                game=game,
                players=players,
                reward=reward,
                observation=observation,
                seed=seed,
                num_envs=num_envs,
                n_steps=n_steps,
                batch_size=batch_size,
                n_epochs=n_epochs,
                learning_rate=learning_rate,
                gae_lambda=gae_lambda,
                entropy=entropy,
                hidden=tuple(int(size) for size in hidden.replace(",", " ").split()),
                pool_rule=pool_rule,
                pool_size=pool_size,
                pool_every=pool_every,
            )
        model, pool = start(settings, output, resume)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    output.mkdir(parents=True, exist_ok=True)
    evaluator = Evaluator(settings, output, pool, evaluate_every, evaluation_deals, console, before)
    remaining = steps - model.num_timesteps
    if remaining <= 0:
        raise typer.BadParameter(f"the run has made {model.num_timesteps} decisions already", param_hint="--steps")
    model.learn(
        remaining,
        callback=[SelfPlayCallback(pool, settings.pool_every), evaluator],
        reset_num_timesteps=not resume,
        progress_bar=True,
    )
    plot_learning_curve(
        evaluator.evaluations,
        output / "learning_curve.png",
        f"{settings.game}, {settings.players} players: MaskablePPO, self-play",
    )
    console.print(f"weights: {output / 'weights.npz'}; learning curve: {output / 'learning_curve.png'}")


if __name__ == "__main__":
    typer.run(main)
