"""PPO by self-play, in plain PyTorch on a batch of games: every seat is played by the learner.

    python examples/train_selfplay_ppo.py --game peasy_v0 --steps 20_000_000 --output runs/peasy

A turn-based game has one decision a step, but a seat's own decisions are what its credit flows along. So every transition
is kept by (game, seat): it ends at that seat's next decision or at the end of the game, and holds all that the seat earned
in between, a loser's last reward included. Generalised advantage estimation (Schulman et al. 2016) runs along each seat's
own decisions; PPO is that of Schulman et al. 2017.

With `--imitate heuristic` the network first learns to predict that agent's moves, which saves the first hours. With
`--opponent heuristic --opponent-share 0.5`, half of the games have one seat for the learner and that agent in the others.

    T steps of a rollout  N games  P seats  A actions  F features
"""

from __future__ import annotations

import inspect
import itertools
import json
import math
import pickle
import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

try:
    import torch
    import typer
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from torch import nn
    from torch.utils.tensorboard import SummaryWriter
except ImportError as error:
    raise SystemExit(f'this script needs the extra "train": pip install "easyenvs[train]" ({error})') from error

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import easyenvs
from easyenvs.arena import Evaluation, evaluate, plot_learning_curve
from easyenvs.core.batch import Batch
from easyenvs.core.policies import Policy, act, checked_choice, decisions, load_policy
from easyenvs.core.weights import Layer, NetworkPolicy, save_weights

OPPONENTS = ("random", "heuristic")  # of the evaluations
LOGIT_OF_ILLEGAL = -1e9  # finite, so that no product with a probability of 0 is NaN


@dataclass(frozen=True)
class Settings:
    """What a run is made of. A resumed run takes them from its checkpoint."""

    game: str
    players: int
    reward: str
    reward_scale: float
    observation: str
    seed: int
    num_games: int
    rollout: int
    epochs: int
    minibatch: int
    learning_rate: float
    gae_lambda: float
    clip: float
    entropy: float
    hidden: tuple[int, ...]
    precision: str
    opponent: str | None
    opponent_share: float
    imitate: str | None
    imitate_steps: int
    imitate_rate: float
    imitate_epochs: int


def command(settings: Settings, steps: int) -> str:
    """The command line that makes a run with these settings: the options that are not the default."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(main).parameters.items()}
    chosen = {**asdict(settings), "hidden": " ".join(map(str, settings.hidden)), "steps": steps}
    if settings.imitate is None:
        del chosen["imitate_steps"]
    if settings.opponent is None:
        del chosen["opponent_share"]
    options = [
        f"--{name.replace('_', '-')} {shlex.quote(str(value))}"
        for name, value in chosen.items()
        if value is not None and value != defaults[name]
    ]
    return " ".join([f"python examples/{Path(__file__).name}", *options])


class Network(nn.Module):
    """Observation and action mask -> a logit an action and the value, through one trunk.

    The mask is an input too: what may be played follows from the observation, but not by a short way.
    """

    def __init__(self, num_features: int, num_actions: int, hidden: tuple[int, ...], precision: str) -> None:
        super().__init__()
        sizes = [num_features + num_actions, *hidden]
        self.trunk = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        self.head = nn.Linear(sizes[-1], num_actions + 1)
        for layer in self.trunk:
            assert isinstance(layer, nn.Linear)
            nn.init.orthogonal_(layer.weight, math.sqrt(2))
            nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.head.weight, 0.01)  # near-uniform play and values near 0 to begin with
        nn.init.zeros_(self.head.bias)
        self.is_half = precision == "bfloat16"

    def forward(self, observation: torch.Tensor, legal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """[M, F], bool [M, A] -> log-probabilities [M, A], values [M]."""
        observation = torch.cat([observation, legal.to(observation.dtype)], dim=1)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.is_half):
            x = observation.to(torch.bfloat16 if self.is_half else torch.float32)
            for layer in self.trunk:
                x = torch.relu(layer(x))
        out = self.head(x.float())
        logits = out[:, :-1].masked_fill(~legal, LOGIT_OF_ILLEGAL)
        return torch.log_softmax(logits, dim=1), out[:, -1]

    def policy(self, about: dict[str, Any]) -> NetworkPolicy:
        """The same network as a policy that needs NumPy alone."""
        linear = [layer for layer in (*self.trunk, self.head) if isinstance(layer, nn.Linear)]
        layers = [
            Layer.rounded(layer.weight.detach().double().numpy().T, layer.bias.detach().double().numpy())
            for layer in linear
        ]
        return NetworkPolicy(layers, {"format": 1, **about})


@dataclass
class Rollout:
    """T decisions in each of N games, and what they were worth."""

    observation: torch.Tensor  # [T, N, F]
    legal: torch.Tensor  # bool [T, N, A]
    action: torch.Tensor  # int64 [T, N]
    log_prob: torch.Tensor  # [T, N]
    advantage: torch.Tensor  # [T, N]
    target: torch.Tensor  # [T, N]: what the value should have been
    complete: torch.Tensor  # bool [T, N]: the learner's own decision, and what came of it is known

    def minibatches(self, size: int, generator: torch.Generator) -> Iterator[tuple[torch.Tensor, ...]]:
        """The complete transitions in random order, in parts of this size."""
        flat = [
            x.flatten(0, 1)
            for x in (
                self.observation,
                self.legal,
                self.action,
                self.log_prob,
                self.advantage,
                self.target,
            )
        ]
        rows = torch.nonzero(self.complete.flatten())[:, 0]
        rows = rows[torch.randperm(len(rows), generator=generator)]
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            yield tuple(x[part] for x in flat)


def sample(log_probs: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One action a row, by its probability: the largest after adding Gumbel noise."""
    uniform = torch.rand(log_probs.shape, generator=generator).clamp_(1e-20, 1.0 - 1e-7)
    return (log_probs - torch.log(-torch.log(uniform))).argmax(dim=1)


def seats_of_opponent(settings: Settings) -> npt.NDArray[np.bool_]:
    """Where the opponent sits, bool [N, P]: in its share of the games, everywhere but in one seat, which takes turns."""
    rows = np.arange(settings.num_games)
    seats = np.zeros((settings.num_games, settings.players), dtype=np.bool_)
    if settings.opponent is not None:
        seats[: round(settings.opponent_share * settings.num_games)] = True
        seats[rows, rows % settings.players] = False
    return seats


def collect(
    games: Batch,
    network: Network,
    settings: Settings,
    generator: torch.Generator,
    teacher: Policy | None = None,
    opponent: Policy | None = None,
) -> Rollout:
    """Play a rollout: the learner, or the teacher whose moves are to be learned, in all seats that are not the opponent's."""
    steps, num_games = settings.rollout, games.num_games
    width, num_actions = games.encoder(settings.observation).space.shape[0], games.num_actions  # type: ignore[index]
    kind = torch.uint8 if settings.observation == "bits" else torch.float32
    observation = torch.empty((steps, num_games, width), dtype=kind)
    legal = torch.empty((steps, num_games, num_actions), dtype=torch.bool)
    action = torch.empty((steps, num_games), dtype=torch.int64)
    log_prob, value = torch.empty((steps, num_games)), torch.empty((steps, num_games))
    foreign_seats, rows = seats_of_opponent(settings), np.arange(num_games)
    foreign = np.zeros((steps, num_games), dtype=np.bool_)
    seat = np.empty((steps, num_games), dtype=np.intp)
    earned = np.empty((steps, num_games, games.num_players), dtype=np.float32)
    ended = np.empty((steps, num_games), dtype=np.bool_)
    for t in range(steps):
        observation[t] = torch.from_numpy(games.observe(settings.observation))
        legal[t] = torch.from_numpy(games.legal)
        seat[t] = games.player
        with torch.no_grad():
            log_probs, value[t] = network(observation[t], legal[t])
        chosen = (
            sample(log_probs, generator)
            if teacher is None
            else torch.from_numpy(act(games, [teacher] * games.num_players))
        )
        action[t] = chosen
        if opponent is not None:
            foreign[t] = foreign_seats[rows, seat[t]]
            others = np.flatnonzero(foreign[t])
            if len(others):
                chosen[others] = torch.from_numpy(checked_choice(opponent, decisions(games, others)))
        log_prob[t] = log_probs.gather(1, chosen[:, None])[:, 0]
        games.step(chosen.numpy())
        earned[t], ended[t] = settings.reward_scale * games.rewards, games.terminated | games.truncated
    advantage, complete = credit(value.numpy(), seat, earned, ended, settings.gae_lambda)
    return Rollout(
        observation,
        legal,
        action,
        log_prob,
        torch.from_numpy(advantage),
        torch.from_numpy(advantage) + value,
        torch.from_numpy(complete & ~foreign),
    )


def credit(
    value: npt.NDArray[np.float32],
    seat: npt.NDArray[np.intp],
    earned: npt.NDArray[np.float32],
    ended: npt.NDArray[np.bool_],
    gae_lambda: float,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Advantages along every seat's own decisions (no discount: a game is won or lost), and which are known: [T, N] each.

    value, seat [T, N]; earned [T, N, P] by every seat in step t; ended [T, N]: step t was the last of its game.
    A decision whose successor lies beyond the rollout has no advantage yet: its value only serves the one before it.
    """
    steps, num_games = value.shape
    rows = np.arange(num_games)
    shape = earned.shape[1:]
    pending = np.zeros(shape, dtype=np.float32)  # earned since the decision that is looked for, going back in time
    next_value = np.zeros(shape, dtype=np.float32)
    next_advantage = np.zeros(shape, dtype=np.float32)
    known = np.zeros(shape, dtype=np.bool_)  # a later decision, or the end, has been seen
    advantage = np.zeros((steps, num_games), dtype=np.float32)
    complete = np.zeros((steps, num_games), dtype=np.bool_)
    for t in reversed(range(steps)):
        over = ended[t]
        pending = np.where(over[:, None], 0, pending) + earned[t]
        next_value[over] = next_advantage[over] = 0
        known[over] = True
        own = (rows, seat[t])
        complete[t] = known[own]
        delta = pending[own] + next_value[own] - value[t]
        advantage[t] = np.where(known[own], delta + gae_lambda * next_advantage[own], 0)
        next_value[own], next_advantage[own] = value[t], advantage[t]
        known[own] = True
        pending[own] = 0
    return advantage, complete


def learn(
    rollout: Rollout,
    network: Network,
    optimizer: torch.optim.Optimizer,
    settings: Settings,
    generator: torch.Generator,
    imitate: bool,
) -> dict[str, float]:
    """Some epochs over a rollout: PPO's clipped objective, or cross-entropy with the teacher's moves."""
    sums: dict[str, float] = {}
    count = 0
    for _ in range(settings.imitate_epochs if imitate else settings.epochs):
        for observation, legal, action, old_log_prob, advantage, target in rollout.minibatches(
            settings.minibatch, generator
        ):
            log_probs, value = network(observation, legal)
            log_prob = log_probs.gather(1, action[:, None])[:, 0]
            entropy = -(log_probs.exp() * log_probs).sum(dim=1).mean()
            value_loss = ((value - target) ** 2).mean()
            if imitate:
                policy_loss = -log_prob.mean()
                loss = policy_loss + 0.5 * value_loss
            else:
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                ratio = (log_prob - old_log_prob).exp()
                clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
                policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
                loss = policy_loss + 0.5 * value_loss - settings.entropy * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()
            with torch.no_grad():
                for name, figure in (
                    ("policy loss", policy_loss),
                    ("value loss", value_loss),
                    ("entropy", entropy),
                    ("moved", (log_prob - old_log_prob).abs().mean()),
                    ("agreement", (log_probs.argmax(dim=1) == action).float().mean()),
                ):
                    sums[name] = sums.get(name, 0.0) + float(figure)
            count += 1
    return {name: total / count for name, total in sums.items()}


@dataclass
class Run:
    """A training run: what it is made of, how far it has come, and where it is kept."""

    settings: Settings
    folder: Path
    steps: int = 0
    seconds: float = 0.0
    goal: int = 0  # decisions after which it ends: the learning rate falls towards it
    evaluations: list[Evaluation] = field(default_factory=list)

    def __post_init__(self) -> None:
        s = self.settings
        self.game = easyenvs.find_game(s.game)
        self.games = self.game.batch(s.num_games, num_players=s.players, seed=s.seed, reward=s.reward, autoreset=True)
        torch.manual_seed(s.seed)
        self.generator = torch.Generator().manual_seed(s.seed)
        width = self.games.encoder(s.observation).space.shape[0]  # type: ignore[index]
        self.network = Network(width, self.games.num_actions, s.hidden, s.precision)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=s.learning_rate, eps=1e-5)

    @property
    def checkpoint(self) -> Path:
        """The file from which the run can go on."""
        return self.folder / "checkpoint.pt"

    def save(self) -> None:
        """Checkpoint, weights and evaluations: the old checkpoint is replaced only once the new one is complete."""
        state = {
            "settings": asdict(self.settings),
            "steps": self.steps,
            "seconds": self.seconds,
            "evaluations": [asdict(evaluation) for evaluation in self.evaluations],
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "games": pickle.dumps(self.games),
        }
        fresh = self.checkpoint.with_suffix(".new")
        torch.save(state, fresh)
        fresh.replace(self.checkpoint)
        policy = self.network.policy(self.about())
        save_weights(self.folder / "weights.npz", policy.layers, policy.about)
        (self.folder / "run.json").write_text(
            json.dumps({**self.about(), "evaluations": state["evaluations"]}, indent=2) + "\n"
        )

    @classmethod
    def resume(cls, folder: Path) -> Run:
        """The run that a checkpoint has kept. (A checkpoint is a pickle: load none that you did not make.)"""
        state = torch.load(folder / "checkpoint.pt", weights_only=False)
        settings = {**state["settings"], "hidden": tuple(state["settings"]["hidden"])}
        run = cls(Settings(**settings), folder, state["steps"], state["seconds"])
        run.evaluations = [Evaluation(**evaluation) for evaluation in state["evaluations"]]
        run.network.load_state_dict(state["network"])
        run.optimizer.load_state_dict(state["optimizer"])
        run.generator.set_state(state["generator"])
        run.games = pickle.loads(state["games"])
        return run

    def about(self) -> dict[str, Any]:
        """What the weights file says of itself."""
        return {
            "game": self.settings.game,
            "num_players": self.settings.players,
            "observation": self.settings.observation,
            "mask_input": True,
            "easyenvs": easyenvs.__version__,
            "command": command(self.settings, self.goal),
            "settings": asdict(self.settings),
            "steps": self.steps,
            "seconds": round(self.seconds),
        }


def train(run: Run, steps: int, evaluate_every: int, evaluation_deals: int, console: Console) -> None:
    """Go on until `steps` decisions have been made."""
    s = run.settings
    teacher = None if s.imitate is None else load_policy(s.imitate, run.game)
    opponent = None if s.opponent is None else load_policy(s.opponent, run.game)
    run.goal = steps
    writer = SummaryWriter(str(run.folder / "tensorboard"))
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f}%"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    per_rollout = s.num_games * s.rollout
    next_evaluation = (run.steps // evaluate_every + 1) * evaluate_every
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=steps, completed=run.steps)
        while run.steps < steps:
            start = time.perf_counter()
            imitating = run.steps < s.imitate_steps and teacher is not None
            for group in run.optimizer.param_groups:
                group["lr"] = s.imitate_rate if imitating else s.learning_rate * max(0.05, 1 - run.steps / steps)
            rollout = collect(
                run.games, run.network, s, run.generator, *((teacher, None) if imitating else (None, opponent))
            )
            figures = learn(rollout, run.network, run.optimizer, s, run.generator, imitating)
            run.steps += per_rollout
            seconds = time.perf_counter() - start
            run.seconds += seconds
            figures["decisions per second"] = per_rollout / seconds
            for name, figure in figures.items():
                writer.add_scalar(f"train/{name}", figure, run.steps)
            progress.update(
                task,
                completed=run.steps,
                description=f"{'imitating' if imitating else 'self-play'}, {per_rollout / seconds / 1000:.0f}k decisions/s",
            )
            if run.steps >= next_evaluation or run.steps >= steps:
                next_evaluation += evaluate_every
                policy = run.network.policy(run.about())
                latest = [
                    evaluate(
                        policy,
                        opponent,
                        run.game,
                        num_players=s.players,
                        deals=evaluation_deals,
                        steps=run.steps,
                        seconds=run.seconds,
                    )
                    for opponent in OPPONENTS
                ]
                run.evaluations += latest
                for evaluation in latest:
                    writer.add_scalar(f"placement/{evaluation.opponent}", evaluation.placement, run.steps)
                run.save()
                console.print(
                    f"{run.steps / 1e6:7.2f}M decisions, {run.seconds:5.0f} s: against "
                    + ", ".join(map(str, latest))
                    + f"; entropy {figures['entropy']:.2f}"
                )
    writer.close()
    plot_learning_curve(
        run.evaluations, run.folder / "learning_curve.png", f"{s.game}, {s.players} players: PPO by self-play"
    )


def main(
    game: Annotated[str, typer.Option(help="The game's id.")] = "peasy_v0",
    players: Annotated[int, typer.Option(help="Number of players.")] = 2,
    steps: Annotated[int, typer.Option(min=1, help="Decisions to train for, of all seats together.")] = 20_000_000,
    output: Annotated[Path, typer.Option(help="Folder of the run: checkpoint, weights, logs, plot.")] = Path(
        "runs/selfplay"
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
    reward_scale: Annotated[float, typer.Option(help="Rewards are multiplied by this: keep values near 1.")] = 1.0,
    observation: Annotated[str, typer.Option(help="bits or flat.")] = "bits",
    num_games: Annotated[int, typer.Option(min=1, help="Games at once.")] = 2048,
    rollout: Annotated[int, typer.Option(min=2, help="Decisions a game between updates.")] = 64,
    epochs: Annotated[int, typer.Option(min=1)] = 1,
    minibatch: Annotated[int, typer.Option(min=2)] = 4096,
    learning_rate: Annotated[float, typer.Option(help="Falls to a twentieth over the run.")] = 3e-4,
    gae_lambda: Annotated[float, typer.Option(min=0, max=1)] = 0.95,
    clip: Annotated[float, typer.Option(min=0)] = 0.2,
    entropy: Annotated[float, typer.Option(min=0, help="Weight of the entropy bonus.")] = 0.01,
    hidden: Annotated[str, typer.Option(help="Sizes of the hidden layers.")] = "256 128",
    precision: Annotated[
        str, typer.Option(help="float32, or bfloat16: twice as fast where the processor has it.")
    ] = "float32",
    opponent: Annotated[
        str | None, typer.Option(help="An agent that sits in all seats but one in some of the games.")
    ] = None,
    opponent_share: Annotated[float, typer.Option(min=0, max=1, help="The share of these games.")] = 0.5,
    imitate: Annotated[str | None, typer.Option(help="An agent whose moves are learned first.")] = None,
    imitate_steps: Annotated[int, typer.Option(min=0, help="For so many decisions.")] = 2_000_000,
    imitate_rate: Annotated[float, typer.Option(help="Learning rate meanwhile.")] = 1e-3,
    imitate_epochs: Annotated[int, typer.Option(min=1)] = 1,
    evaluate_every: Annotated[int, typer.Option(min=1, help="Decisions between evaluations.")] = 2_000_000,
    evaluation_deals: Annotated[int, typer.Option(min=2)] = 500,
    threads: Annotated[int, typer.Option(min=1, help="Of PyTorch.")] = torch.get_num_threads(),
) -> None:
    """Train an agent by self-play PPO on a batch of games."""
    torch.set_num_threads(threads)
    console = Console()
    if resume:
        if not (output / "checkpoint.pt").is_file():
            raise typer.BadParameter(f"{output} holds no checkpoint.pt", param_hint="--resume")
        run = Run.resume(output)
    else:
        if (output / "checkpoint.pt").is_file():
            raise typer.BadParameter(f"{output} holds a run already: --resume goes on with it", param_hint="--output")
        if observation not in ("bits", "flat"):
            raise typer.BadParameter(f"{observation!r} is neither bits nor flat", param_hint="--observation")
        if precision not in ("float32", "bfloat16"):
            raise typer.BadParameter(f"{precision!r} is neither float32 nor bfloat16", param_hint="--precision")
        try:
            for name in (imitate, opponent):
                if name is not None:
                    load_policy(name, easyenvs.find_game(game))
            settings = Settings(
                game=game,
                players=players,
                reward=reward,
                reward_scale=reward_scale,
                observation=observation,
                seed=seed,
                num_games=num_games,
                rollout=rollout,
                epochs=epochs,
                minibatch=minibatch,
                learning_rate=learning_rate,
                gae_lambda=gae_lambda,
                clip=clip,
                entropy=entropy,
                hidden=tuple(int(size) for size in hidden.replace(",", " ").split()),
                precision=precision,
                opponent=opponent,
                opponent_share=opponent_share if opponent is not None else 0.0,
                imitate=imitate,
                imitate_steps=imitate_steps if imitate is not None else 0,
                imitate_rate=imitate_rate,
                imitate_epochs=imitate_epochs,
            )
            output.mkdir(parents=True, exist_ok=True)
            run = Run(settings, output)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    train(run, steps, evaluate_every, evaluation_deals, console)
    console.print(f"weights: {output / 'weights.npz'}; learning curve: {output / 'learning_curve.png'}")


if __name__ == "__main__":
    typer.run(main)
