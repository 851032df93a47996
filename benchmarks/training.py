"""How fast does training go? Decisions of a learner a second, learning included, side by side.

    python benchmarks/training.py

Every row trains MaskablePPO with the same network and settings (2 players, random opponents), but for the last two, which
are the training scripts in `examples/` as they are. Each runs in a process of its own, one thread, best of some repeats.
`connect four` is PettingZoo's game behind a wrapper as its tutorial for Stable-Baselines3 describes it: one game at a time,
both seats taken by the learner.
"""

from __future__ import annotations

import inspect
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import gymnasium
import numpy as np
import numpy.typing as npt

try:
    import torch
    import typer
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import DummyVecEnv
except ImportError as error:
    raise SystemExit(f'this script needs the extra "train": pip install "easyenvs[train]" ({error})') from error

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pettingzoo.classic import connect_four_v3

import easyenvs
from benchmarks.common import machine_text, write_json
from easyenvs.adapters.gym import Env
from easyenvs.sb3 import VecEnv
from examples import train_maskable_ppo, train_selfplay_ppo

ROLLOUT = 16_384  # decisions between updates, in every row
SETTINGS: dict[str, Any] = {
    "batch_size": 2048,
    "n_epochs": 2,
    "device": "cpu",
    "policy_kwargs": {"net_arch": [256, 256]},
}


class ConnectFour(gymnasium.Env[Any, Any]):
    """The AEC game as one Gymnasium environment, whose seat changes with every step."""

    def __init__(self) -> None:
        self._env = connect_four_v3.env()  # type: ignore[no-untyped-call]
        self._env.reset()
        agent = self._env.possible_agents[0]
        space: Any = self._env.observation_space(agent)
        self.observation_space = space["observation"]
        self.action_space = self._env.action_space(agent)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first seat's observation."""
        self._env.reset(seed=seed)
        seen: Any = self._env.last()[0]
        return seen["observation"], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The next seat's observation."""
        agent = self._env.agent_selection
        self._env.step(int(action))
        seen: Any
        seen, _, terminated, truncated, _ = self._env.last()
        return seen["observation"], self._env.rewards[agent], terminated, truncated, {}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Bool [7]."""
        seen: Any = self._env.last()[0]
        mask: npt.NDArray[np.bool_] = seen["action_mask"].astype(np.bool_)
        return mask


def _sb3(env: Any, seconds: float) -> float:
    model = MaskablePPO("MlpPolicy", env, n_steps=ROLLOUT // env.num_envs, seed=0, **SETTINGS)
    return _rate(lambda: model.learn(ROLLOUT, reset_num_timesteps=False).num_timesteps, seconds)


def _rate(more: Callable[[], int], seconds: float) -> float:
    """Decisions a second, best of the calls in that time; the first one, which warms up, is not counted."""
    done = more()
    best, end = 0.0, time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        before, done = done, more()
        best = max(best, (done - before) / (time.perf_counter() - start))
        if time.perf_counter() > end:
            return best


def native(game: str, seconds: float) -> float:
    """MaskablePPO on the native VecEnv."""
    return _sb3(VecEnv(game, 256, num_players=2, observation="bits", seed=0), seconds)


def dummy(game: str, seconds: float) -> float:
    """MaskablePPO on DummyVecEnv of 8 single environments."""
    return _sb3(DummyVecEnv([lambda: Env(game, num_players=2, observation="bits")] * 8), seconds)


def connect_four(game: str, seconds: float) -> float:
    """MaskablePPO on PettingZoo's connect four, as its tutorial does."""
    return _sb3(DummyVecEnv([ConnectFour]), seconds)


def maskable_script(game: str, seconds: float) -> float:
    """examples/train_maskable_ppo.py: self-play against a pool."""
    settings = _settings_of(train_maskable_ppo.main, game)
    settings |= {"hidden": tuple(map(int, settings["hidden"].split()))}
    with tempfile.TemporaryDirectory() as folder:
        model, _ = train_maskable_ppo.start(train_maskable_ppo.Settings(**settings), Path(folder), False)
        return _rate(lambda: model.learn(ROLLOUT, reset_num_timesteps=False).num_timesteps, seconds)


def selfplay_script(game: str, seconds: float) -> float:
    """examples/train_selfplay_ppo.py: every seat learns."""
    settings = _settings_of(train_selfplay_ppo.main, game)
    settings |= {"hidden": tuple(map(int, settings["hidden"].split())), "imitate_steps": 0, "opponent_share": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        run = train_selfplay_ppo.Run(train_selfplay_ppo.Settings(**settings), Path(folder))

        def more() -> int:
            s = run.settings
            rollout = train_selfplay_ppo.collect(run.games, run.network, s, run.generator)
            train_selfplay_ppo.learn(rollout, run.network, run.optimizer, s, run.generator, False)
            run.steps += s.num_games * s.rollout
            return run.steps

        return _rate(more, seconds)


def _settings_of(main: Callable[..., None], game: str) -> dict[str, Any]:
    """What a script's options are by default, as far as its settings have them."""
    module = sys.modules[main.__module__]
    defaults = {name: parameter.default for name, parameter in inspect.signature(main).parameters.items()}
    wanted = module.Settings.__dataclass_fields__
    return {name: value for name, value in defaults.items() if name in wanted} | {"game": game}


ROWS: tuple[Callable[[str, float], float], ...] = (connect_four, dummy, native, maskable_script, selfplay_script)


def measure(row: int, game: str, seconds: float) -> float:
    """One row's figure, with one thread."""
    torch.set_num_threads(1)
    return ROWS[row](game, seconds)


def main(
    game: Annotated[list[str] | None, typer.Option(help="Game ids (default: all games).")] = None,
    seconds: Annotated[float, typer.Option(min=0, help="Time a row, after a first update that is not counted.")] = 15.0,
    json: Annotated[Path | None, typer.Option(help="Write the results to this file.")] = None,
) -> None:
    """Measure how many decisions a second training makes."""
    try:
        games = [easyenvs.find_game(name).id for name in game or easyenvs.games()]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    console = Console()
    console.print(machine_text(), style="dim")
    results: list[dict[str, Any]] = []
    # A process of its own for each: Python's adaptive interpreter slows down where one meets several kinds of objects.
    context = multiprocessing.get_context("spawn")
    tasks = [(row, name) for name in games for row in range(len(ROWS))]
    for row, name in track(tasks, description="measuring", console=console, transient=True):
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            rate = pool.submit(measure, row, name, seconds).result()
        results.append({"game": name, "what": (ROWS[row].__doc__ or "").rstrip("."), "decisions_per_second": rate})
    for name in games:
        table = Table(title=f"{name}, 2 players: decisions of the learner a second, learning included", box=None)
        table.add_column("what")
        table.add_column("decisions/s", justify="right")
        table.add_column("ratio", justify="right")
        own = [result for result in results if result["game"] == name]
        for result in own:
            rate = result["decisions_per_second"]
            table.add_row(result["what"], f"{rate:,.0f}", f"{rate / own[0]['decisions_per_second']:.1f}")
        console.print(table)
    if json is not None:
        write_json(json, results)
        console.print(f"results: {json}")


if __name__ == "__main__":
    typer.run(main)
