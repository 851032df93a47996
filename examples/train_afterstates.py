"""Learn what a turn leaves behind: an agent for Easy Peasy with two players, by self-play and temporal differences.

    python examples/train_afterstates.py --steps 20_000_000 --output runs/peasy

A turn of Easy Peasy is a chain of plays, bonuses and flips, which a network that chooses actions finds hard to plan. So
here a program lays out every way to play the own turn to its end (examples/agents/peasy_v0/_turns.py), and a small network
only judges the position after each (`_afterstates.py`): by what the match is worth then, 1 for a win and −1 for a defeat.
The idea is that of TD-Gammon (Tesauro 1995).

What a position should have been judged to be is found from what followed, by TD(λ): a mixture of how the next decisions
were judged, whoever's they were (one seat's gain is the other's loss), and of how the round went. A round is worth what
it does to the match: given the lead after it, the rounds to come are taken from all that have been played.

The first `--teacher-steps` decisions are the heuristic's; then every seat is played by the learner.

    T steps of a rollout  N games  A actions  F inputs
"""

from __future__ import annotations

import inspect
import itertools
import json
import pickle
import shlex
import sys
import time
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
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
    from torch.utils.tensorboard import SummaryWriter
except ImportError as error:
    raise SystemExit(f'this script needs the extra "train": pip install "easyenvs[train]" ({error})') from error

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import easyenvs
from easyenvs.arena import Evaluation, evaluate, plot_learning_curve
from easyenvs.core.policies import Decisions, decisions
from easyenvs.core.weights import FORMAT, Layer, gumbel, save_network
from examples.agents.peasy_v0 import heuristic
from examples.agents.peasy_v0._afterstates import (
    GAME,
    NUM_INPUTS,
    NUM_PLAYERS,
    NUM_ROUNDS,
    OBSERVATION,
    AfterstatePolicy,
    Situation,
    rounds_left,
)
from examples.agents.peasy_v0._turns import Evaluate, Lines, weigh

OPPONENTS = ("random", "heuristic")  # of the evaluations
POINT = 1 / 16  # what a point of the heuristic's judgement is in units of the match, for its exploration
MOST_POINTS = 200  # by which a round can be won, and more
FORGET = 0.98  # what counts of the rounds played before a rollout, from then on

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Settings:
    """What a run is made of. A resumed run takes them from its checkpoint."""

    seed: int
    num_games: int
    rollout: int
    teacher_steps: int
    td_lambda: float
    temperature: float
    draws: int
    hidden: tuple[int, ...]
    epochs: int
    minibatch: int
    learning_rate: float
    averaging: float


def command(settings: Settings, steps: int) -> str:
    """The command line that makes a run with these settings: the options that are not the default."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(main).parameters.items()}
    chosen = {**asdict(settings), "hidden": " ".join(map(str, settings.hidden)), "steps": steps}
    options = [
        f"--{name.replace('_', '-')} {shlex.quote(str(value))}"
        for name, value in chosen.items()
        if value != defaults[name]
    ]
    return " ".join([f"python examples/{Path(__file__).name}", *options])


def make_network(num_inputs: int, hidden: tuple[int, ...]) -> nn.Sequential:
    """Inputs -> one number."""
    sizes = [num_inputs, *hidden, 1]
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class MatchValue:
    """What a lead is worth with so many rounds to come, if they go like those that have been played."""

    def __init__(self) -> None:
        self.rounds = np.zeros(2 * MOST_POINTS + 1)  # how often a round was won by so many points, −MOST … MOST
        self.rounds[MOST_POINTS] = 1.0

    def note(self, lead: npt.NDArray[np.int64]) -> None:
        """Rounds that were won by so many points: they count for both seats."""
        lead = np.clip(lead, -MOST_POINTS, MOST_POINTS)
        self.rounds *= FORGET
        for won_by in (lead, -lead):
            self.rounds += np.bincount(won_by + MOST_POINTS, minlength=len(self.rounds))

    def table(self) -> Floats:
        """[rounds to come, lead + MOST_POINTS · NUM_ROUNDS]: 1 for a match that is won, −1 for one that is lost."""
        most = MOST_POINTS * NUM_ROUNDS
        rows = [np.sign(np.arange(-most, most + 1.0))]
        chance = self.rounds / self.rounds.sum()
        for _ in range(NUM_ROUNDS - 1):
            padded = np.concatenate([np.full(MOST_POINTS, -1.0), rows[-1], np.full(MOST_POINTS, 1.0)])
            rows.append(np.convolve(padded, chance, mode="valid"))  # the chances are the same for both signs
        return np.array(rows, dtype=np.float32)


@dataclass
class Rollout:
    """T decisions in each of N games."""

    x: npt.NDArray[np.float16]  # [T, N, F]: the position that the chosen line leaves behind
    ends_turn: Flags  # [T, N]: … and that was left behind: the turn ended with this decision
    seat: npt.NDArray[np.intp]  # [T, N]
    worth: Floats  # [T + 1, N]: of the best action to the seat (NaN where the teacher played: its unit is points), and
    sign: Floats  # … [T + 1, N]: 1 where the seat is 0, −1 where it is 1
    is_best: Flags  # [T, N]: that action was chosen
    result: Floats  # [T, N]: what the match is worth to seat 0 after a round that ended with this decision; else NaN


def returns(rollout: Rollout, td_lambda: float) -> Floats:
    """TD(λ): what the position after each decision was worth to its seat, as far as can be told later -> [T, N].

    It is followed as far as the best actions were chosen: what comes of an exploration is not what comes of the position.
    The teacher's are followed to the end of the round; NaN where that lies beyond the rollout.
    """
    steps = len(rollout.result)
    worth = rollout.worth * rollout.sign  # to seat 0
    after = worth[steps]
    found = np.empty((steps, worth.shape[1]), dtype=np.float32)
    for t in reversed(range(steps)):
        found[t] = np.where(np.isnan(rollout.result[t]), after, rollout.result[t])
        mixed = (1 - td_lambda) * worth[t] + td_lambda * found[t]
        after = np.where(rollout.is_best[t], mixed, worth[t])
        after = np.where(np.isnan(worth[t]), found[t], after)
    return found * rollout.sign[:steps]


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
        self.game = easyenvs.find_game(GAME)
        self.games = self.game.batch(s.num_games, num_players=NUM_PLAYERS, seed=s.seed, autoreset=True)
        self.match = MatchValue()
        torch.manual_seed(s.seed)
        self.generator = torch.Generator().manual_seed(s.seed)
        self.network = make_network(NUM_INPUTS, s.hidden)
        self.averaged = AveragedModel(
            self.network,
            multi_avg_fn=get_ema_multi_avg_fn(s.averaging),  # type: ignore[no-untyped-call]
        )
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=s.learning_rate)

    @property
    def checkpoint(self) -> Path:
        """The file from which the run can go on."""
        return self.folder / "checkpoint.pt"

    def policy(self) -> AfterstatePolicy:
        """The agent so far, which needs NumPy alone."""
        linear = [layer for layer in self.averaged.module.children() if isinstance(layer, nn.Linear)]
        layers = [
            Layer.rounded(layer.weight.detach().double().numpy().T, layer.bias.detach().double().numpy())
            for layer in linear
        ]
        return AfterstatePolicy(layers, self.about())

    def save(self) -> None:
        """Checkpoint, weights and evaluations: the old checkpoint is replaced only once the new one is complete."""
        state = {
            "settings": asdict(self.settings),
            "steps": self.steps,
            "seconds": self.seconds,
            "evaluations": [asdict(evaluation) for evaluation in self.evaluations],
            "network": self.network.state_dict(),
            "averaged": self.averaged.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "match": self.match.rounds,
            "games": pickle.dumps(self.games),
        }
        fresh = self.checkpoint.with_suffix(".new")
        torch.save(state, fresh)
        fresh.replace(self.checkpoint)
        policy = self.policy()
        save_network(self.folder / "weights.npz", policy.network.layers, policy.about)
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
        run.averaged.load_state_dict(state["averaged"])
        run.optimizer.load_state_dict(state["optimizer"])
        run.generator.set_state(state["generator"])
        run.match.rounds = state["match"]
        run.games = pickle.loads(state["games"])
        return run

    def about(self) -> dict[str, Any]:
        """What the weights file says of itself."""
        return {
            "format": FORMAT,
            "game": GAME,
            "num_players": NUM_PLAYERS,
            "observation": OBSERVATION,
            "easyenvs": easyenvs.__version__,
            "command": command(self.settings, self.goal),
            "settings": asdict(self.settings),
            "steps": self.steps,
            "seconds": round(self.seconds),
        }


def collect(run: Run, has_teacher: bool) -> Rollout:
    """Play a rollout, all seats by the learner, or by the teacher."""
    s, games = run.settings, run.games
    steps, num_games, rows = s.rollout, s.num_games, np.arange(s.num_games)
    x = np.zeros((steps, num_games, NUM_INPUTS), dtype=np.float16)
    is_best, ends_turn = np.zeros((2, steps, num_games), dtype=np.bool_)
    seat = np.empty((steps + 1, num_games), dtype=np.intp)
    worth = np.zeros((steps + 1, num_games), dtype=np.float32)
    result = np.full((steps, num_games), np.nan, dtype=np.float32)
    table, leads = run.match.table(), []
    evaluate_lines: Evaluate = heuristic.judge if has_teacher else judge_with(run.network)
    temperature = s.temperature / (POINT if has_teacher else 1.0)
    for t in range(steps + 1):
        d = decisions(games)
        weighed = weigh(d, evaluate_lines, s.draws)
        best = weighed.worth.max(axis=1)
        seat[t], worth[t] = d.seat, np.nan if has_teacher else best
        if t == steps:
            break
        noise = gumbel(games.policy_keys(s.seed + 1), games.num_actions)
        chosen = (weighed.worth + temperature * noise).argmax(axis=1)
        is_best[t] = weighed.worth[rows, chosen] == best
        lines = weighed.best_line(rows, chosen)
        ending = np.flatnonzero(lines >= 0)
        x[t, ending] = Situation(d).inputs(weighed.lines.pick(lines[ending]))
        ends_turn[t, ending] = True
        before, left = games.scores, rounds_left(d.view)
        games.step(chosen)
        after = np.where(games.final_scores >= 0, games.final_scores, games.scores)
        scored = np.flatnonzero((after != before).any(axis=1))
        lead, gain = after[scored, 1] - after[scored, 0], (after - before)[scored]
        won_by = gain[:, 1] - gain[:, 0]
        leads.append(won_by)
        result[t, scored] = table[left[scored], lead + MOST_POINTS * NUM_ROUNDS]
        level = (left[scored] == 0) & (lead == 0)  # P17: the lower score in the last round
        result[t, scored[level]] = np.sign(won_by[level])
        result[t, games.truncated] = 0.0
        ends_turn[t] &= (games.player != seat[t]) | ~np.isnan(result[t])
    run.match.note(np.concatenate(leads))
    return Rollout(x, ends_turn, seat[:steps], worth, 1 - 2 * seat.astype(np.float32), is_best, result)


def judge_with(network: nn.Module) -> Evaluate:
    """A network in training as a judge of lines."""

    def judge(d: Decisions, lines: Lines) -> npt.NDArray[np.float64]:
        with torch.no_grad():
            judged: npt.NDArray[np.float64] = (
                network(torch.from_numpy(Situation(d).inputs(lines)))[:, 0].double().numpy()
            )
        return judged

    return judge


def learn(run: Run, rollout: Rollout) -> dict[str, float]:
    """Some epochs over a rollout's positions: the mean square of what the judgements missed."""
    s = run.settings
    found = returns(rollout, s.td_lambda)
    kept = rollout.ends_turn & np.isfinite(found)
    x, y = torch.from_numpy(rollout.x[kept]), torch.from_numpy(found[kept])
    with torch.no_grad():
        missed = run.network(x.float())[:, 0] - y
        explained = 1 - missed.var() / y.var()
    for _ in range(s.epochs):
        order = torch.randperm(len(x), generator=run.generator)
        for part in torch.split(order, s.minibatch):
            loss = ((run.network(x[part].float())[:, 0] - y[part]) ** 2).mean()
            run.optimizer.zero_grad()
            loss.backward()
            run.optimizer.step()
            run.averaged.update_parameters(run.network)
    return {
        "loss": float((missed**2).mean()),
        "explained": float(explained),
        "explored": float(1 - rollout.is_best.mean()),
    }


def train(run: Run, steps: int, evaluate_every: int, evaluation_deals: int, console: Console) -> None:
    """Go on until `steps` decisions have been made."""
    s = run.settings
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
            has_teacher = run.steps < s.teacher_steps
            for group in run.optimizer.param_groups:
                group["lr"] = s.learning_rate * max(0.02, 1 - run.steps / steps)
            figures = learn(run, collect(run, has_teacher))
            run.steps += per_rollout
            seconds = time.perf_counter() - start
            run.seconds += seconds
            figures["decisions per second"] = per_rollout / seconds
            for name, figure in figures.items():
                writer.add_scalar(f"train/{name}", figure, run.steps)
            progress.update(
                task,
                completed=run.steps,
                description=f"{'teacher' if has_teacher else 'self-play'}, {per_rollout / seconds / 1000:.0f}k decisions/s",
            )
            if run.steps >= next_evaluation or run.steps >= steps:
                next_evaluation += evaluate_every
                policy = run.policy()
                latest = [
                    evaluate(
                        policy,
                        opponent,
                        run.game,
                        num_players=NUM_PLAYERS,
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
                    + f"; explained {figures['explained']:.3f}"
                )
    writer.close()
    plot_learning_curve(
        run.evaluations, run.folder / "learning_curve.png", f"{GAME}, {NUM_PLAYERS} players: TD(λ) on what turns leave"
    )


def main(
    steps: Annotated[int, typer.Option(min=1, help="Decisions to train for, of both seats together.")] = 20_000_000,
    output: Annotated[Path, typer.Option(help="Folder of the run: checkpoint, weights, logs, plot.")] = Path(
        "runs/afterstates"
    ),
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from the folder; --steps and evaluations are as given now.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    num_games: Annotated[int, typer.Option(min=1, help="Games at once.")] = 1024,
    rollout: Annotated[int, typer.Option(min=1, help="Decisions a game between updates.")] = 64,
    teacher_steps: Annotated[int, typer.Option(min=0, help="Decisions that the heuristic plays first.")] = 1_000_000,
    td_lambda: Annotated[float, typer.Option(min=0, max=1)] = 0.8,
    temperature: Annotated[
        float, typer.Option(min=0, help="Exploration: of the Gumbel noise on what actions are worth.")
    ] = 0.03,
    draws: Annotated[int, typer.Option(min=1, help="Draws that a flip is tried with; the agent itself takes 8.")] = 2,
    hidden: Annotated[str, typer.Option(help="Sizes of the hidden layers.")] = "64 32",
    epochs: Annotated[int, typer.Option(min=1)] = 2,
    minibatch: Annotated[int, typer.Option(min=2)] = 1024,
    learning_rate: Annotated[float, typer.Option(help="Falls to a fiftieth over the run.")] = 1e-3,
    averaging: Annotated[
        float, typer.Option(min=0, max=1, help="Of the weights that are kept: the share of the past in each update.")
    ] = 0.999,
    evaluate_every: Annotated[int, typer.Option(min=1, help="Decisions between evaluations.")] = 2_000_000,
    evaluation_deals: Annotated[int, typer.Option(min=2)] = 1000,
    threads: Annotated[int, typer.Option(min=1, help="Of PyTorch.")] = torch.get_num_threads(),
) -> None:
    """Train an agent for Easy Peasy with two players, by TD(λ) on what turns leave behind."""
    torch.set_num_threads(threads)
    console = Console()
    if resume:
        if not (output / "checkpoint.pt").is_file():
            raise typer.BadParameter(f"{output} holds no checkpoint.pt", param_hint="--resume")
        run = Run.resume(output)
    else:
        if (output / "checkpoint.pt").is_file():
            raise typer.BadParameter(f"{output} holds a run already: --resume goes on with it", param_hint="--output")
        try:
            sizes = tuple(int(size) for size in hidden.replace(",", " ").split())
        except ValueError as error:
            raise typer.BadParameter(
                f"{hidden!r} are no sizes: integers are accepted", param_hint="--hidden"
            ) from error
        settings = Settings(
            seed=seed,
            num_games=num_games,
            rollout=rollout,
            teacher_steps=teacher_steps,
            td_lambda=td_lambda,
            temperature=temperature,
            draws=draws,
            hidden=sizes,
            epochs=epochs,
            minibatch=minibatch,
            learning_rate=learning_rate,
            averaging=averaging,
        )
        output.mkdir(parents=True, exist_ok=True)
        run = Run(settings, output)
    train(run, steps, evaluate_every, evaluation_deals, console)
    console.print(f"weights: {output / 'weights.npz'}; learning curve: {output / 'learning_curve.png'}")


if __name__ == "__main__":
    typer.run(main)
