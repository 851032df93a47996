"""One seat of a game as a Gymnasium environment: `Env` (one game) and `VectorEnv` (many, on one batch).

Policies play the other seats. The observation is the encoder's alone; the action mask is in the infos (int8) and behind
`action_masks()` (bool).

    N games  A actions  M the games of a subset
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space, iterate

from easyenvs.adapters.aec import RawEnv
from easyenvs.adapters.frames import (
    PICTURE_MODES,
    RENDER_FPS,
    TEXT_MODES,
    TILES,
    Window,
    check_render_mode,
    rasterise,
    render_modes,
)
from easyenvs.adapters.opponents import (
    ILLEGAL,
    ILLEGAL_REWARD,
    LEARNER,
    Field,
    LearnerGames,
    Opponents,
    check_seat,
    check_start,
    seats_for,
)
from easyenvs.core import rewards
from easyenvs.core.arrays import F64, Flags, Index
from easyenvs.core.batch import ENV_OPTIONS, check_seed
from easyenvs.core.errors import ActionTypeError, IllegalActionError, NotResetError
from easyenvs.core.game import GameDefinition
from easyenvs.core.options import as_integer, choice_option, refuse_option
from easyenvs.core.policies import checked_choice
from easyenvs.registry import find_game

Info = dict[str, Any]


class Env(gymnasium.Env[Any, Any]):
    """One game, one learning seat, policies in the others.

    A step plays the learner's action and then everybody else's until it is the learner's turn again or the game is over;
    its reward is all that the learner earned in between. A game that ends before the learner's first decision is skipped,
    and counted in `info["skipped_games"]` of `reset`.

    Infos hold `action_mask` (int8 [A]; zeros once the game is over) and `seat`; at the end also `score` (int) and `rank`
    (1-based, ties averaged); after an illegal action `illegal_action` (True).

    Args:
        game: the game's id, module or definition; `gymnasium.make` fills it in.
        seat: the learning seat, or "random": drawn anew for every game from its seed.
        opponents: None (uniform random); a policy or its name, for all other seats; P − 1 of them, the first for the seat
            after the learner's and so on round the table; P of them, by seat; or a pool (`easyenvs.selfplay.Pool`).
        illegal: "lose" (reward −1 and the game is over, with a warning) or "raise" (IllegalActionError).
        reward: "placement", "win" or "score" (R1–R3).
        observation: an encoder's name ("flat", "bits", "dict", "text") or an encoder object.
        render_mode: None, "ansi" (text), "rgb_array" (uint8 [height, width, 3]) or "human" (a window, which shows every
            position by itself); the last two where the game has pictures, with the extra "render".
        engine: "python" or "numpy"; the games are the same.
        rules: the game's rule options.
    """

    # Gymnasium's `make` reads the class's; an environment's own lists what its game has.
    metadata: dict[str, Any] = {  # noqa: RUF012 Gymnasium's
        "render_modes": [*TEXT_MODES, *PICTURE_MODES],
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        game: str | GameDefinition | ModuleType,
        *,
        seat: int | str = 0,
        opponents: Opponents = None,
        illegal: str = "lose",
        reward: str = ENV_OPTIONS["reward"],
        observation: Any = ENV_OPTIONS["observation"],
        render_mode: str | None = ENV_OPTIONS["render_mode"],
        engine: str = ENV_OPTIONS["engine"],
        **rules: Any,
    ) -> None:
        self.game = find_game(game)
        self.render_mode = check_render_mode(self.game, render_mode)
        self.metadata = {"render_modes": list(render_modes(self.game)), "render_fps": RENDER_FPS}
        self._window = Window(self.game.id) if self.render_mode == "human" else None
        self._table = RawEnv(self.game, reward=reward, observation=observation, engine=engine, **rules)
        self.rules = self._table.rules
        players: int = self.rules.num_players
        self.illegal: str = choice_option("illegal", illegal, ILLEGAL)
        self._fixed_seat = check_seat(seat, players)
        self._field = Field(opponents, self.game, players)
        self.observation_space = self._table.encoder.space
        self.action_space = gymnasium.spaces.Discrete(self._table.num_actions)
        self.seat = self._fixed_seat or 0
        self._agent = self._table.possible_agents[self.seat]
        self._sits: list[int] = []
        self._over = True
        self._is_reset = False

    def set_opponents(self, opponents: Opponents) -> None:
        """Let others play from now on, in a running game too."""
        self._field = Field(opponents, self.game, self.rules.num_players)
        if self._is_reset:
            self._seat_everyone()

    def _seat_everyone(self) -> None:
        seeds = np.array([self._table.game_seed], dtype=np.uint64)
        seat = seats_for(seeds, self._fixed_seat, self.rules.num_players)
        self.seat = int(seat[0])
        self._agent = self._table.possible_agents[self.seat]
        self._sits = self._field.assign(seat, seeds)[0].tolist()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Deal game `seed`, or the next game of the stream, up to the learner's first decision.

        options: {"snapshot": …} starts from a position; other options are ignored.
        """
        table = self._table
        if options is not None:
            check_start(self.game, options.get("snapshot"))
        if seed is not None:
            seed = check_seed(seed)
        table.reset(seed=seed, options=options)
        super().reset(seed=seed)
        skipped = -1
        over = True
        while over:
            if skipped >= 0:
                table.reset()
            skipped += 1
            self._seat_everyone()
            self._play_others()
            over = table.over
        self._is_reset, self._over = True, False
        observation, info = self._see()
        info["skipped_games"] = skipped
        self._show()
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        """Play `action`, then the others' until the learner's next decision or the end.

        Raises:
            IllegalActionError: with illegal="raise"; and an action out of range or of a wrong type, always. Nothing has
                changed.
            NotResetError: before reset, or once the game is over.
        """
        table = self._table
        if self._over:
            what = "the game is over" if self._is_reset else "no game has begun"
            raise NotResetError(f"{self.game.id}: {what}: call reset()")
        number = as_integer(action)
        if number is None:
            raise ActionTypeError(
                f"{self.game.id}: the action {action!r} is a {type(action).__name__}; "
                f"an integer 0 … {table.num_actions - 1} is accepted"
            )
        if not 0 <= number < table.num_actions:
            raise IllegalActionError(f"{self.game.id}: action {number} is none; ids are 0 … {table.num_actions - 1}")
        if self.illegal == "lose" and not table.is_legal(number):
            gymnasium.logger.warn(
                f"{self.game.id}, seat {self.seat}: action {number} ({table.action_name(number)}) is illegal: the game is "
                'lost (illegal="lose")'
            )
            self._over = True
            observation, info = self._see()
            info["illegal_action"] = True
            self._show()
            return observation, ILLEGAL_REWARD, True, False, info
        table.step(number)
        reward = self._earned()
        if not table.over and table.agent_selection != self._agent:
            self._show()
        reward += self._play_others()
        self._over = table.over
        observation, info = self._see()
        self._show()
        if self._over and self._field.pool is not None:
            others = (self.seat + 1) % self.rules.num_players
            place = np.array([rewards.placement_of(info["rank"], self.rules.num_players)])
            self._field.pool.note(np.array([self._sits[others]], dtype=np.intp), place)
        return observation, reward, table.terminations[self._agent], table.truncations[self._agent], info

    def _earned(self) -> float:
        """In the table's last step, in float32 as everywhere."""
        return float(np.float32(self._table.rewards[self._agent]))

    def _play_others(self) -> float:
        """The others' decisions until the learner's next one; what the learner earned by them."""
        table = self._table
        earned = 0.0
        while not table.over and table.agent_selection != self._agent:
            index = self._sits[table.seat_to_act]
            assert index != LEARNER
            policy = self._field.policies[index]
            d = table.decision(with_view=getattr(policy, "needs_view", True))
            table.step(int(checked_choice(policy, d)[0]))
            earned += self._earned()
            if not table.over and table.agent_selection != self._agent:
                self._show()
        return earned

    def _see(self) -> tuple[Any, Info]:
        """The learner's observation and its info, in fresh arrays."""
        seen = self._table.observe(self._agent)
        info: Info = {"action_mask": seen["action_mask"], "seat": self.seat}
        if self._over:
            info["action_mask"] = np.zeros_like(seen["action_mask"])
            info["score"], info["rank"] = self._table.result(self.seat)
        return seen["observation"], info

    def action_masks(self) -> Flags:
        """The learner's legal actions, bool [A]; all False once its game is over."""
        if not self._is_reset:
            raise NotResetError("reset() needs to be called before action_masks")
        mask = np.zeros(self._table.num_actions, dtype=np.bool_)
        if not self._over:
            mask[self._table.legal_actions()] = True
        return mask

    def legal_actions(self) -> list[int]:
        """The ids of the legal actions, ascending; none once the game is over."""
        if not self._is_reset:
            raise NotResetError("reset() needs to be called before legal_actions")
        return [] if self._over else self._table.legal_actions()

    def action_name(self, action: int) -> str:
        """An action's name, as `R8>1`."""
        return self._table.action_name(action)

    def parse_action(self, text: str) -> int:
        """The id of an action's name."""
        return self._table.parse_action(text)

    def snapshot(self) -> dict[str, Any]:
        """The position as a plain dict that JSON can hold."""
        return self._table.snapshot()

    def render(self) -> Any:
        """The table as the learner sees it, by the render mode: a text ("ansi"), a frame uint8 [height, width, 3]
        ("rgb_array"), or None ("human", which shows it in the window)."""
        if not self._is_reset:
            raise NotResetError("reset() needs to be called before render")
        if self.render_mode is None:
            gymnasium.logger.warn("render() has nothing to do: the environment was made with render_mode=None")
            return None
        if self._window is not None:
            self._show()
            return None
        if self.render_mode in PICTURE_MODES:
            return rasterise(self._table.picture_for(self._agent, ended=self._over))
        return self._table.render_for(self._agent, ended=self._over)

    def _show(self) -> None:
        """The table in the window, if there is one."""
        if self._window is not None and not self._window.is_dismissed:
            self._window.show([self._table.picture_for(self._agent, ended=self._over)], self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window, if there is one; may be called any number of times."""
        if self._window is not None:
            self._window.close()

    def _repr_html_(self) -> str:
        """What notebooks show: the table as the learner sees it."""
        return self._table.html_for(self._agent if self._is_reset else None)


class VectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Many games on one batch, one learning seat each: value for value what `SyncVectorEnv` makes of `Env`.

    Row i of `reset(seed=s)` plays game s + i. `options={"reset_mask": bool [N]}` resets these rows alone, as the mode
    DISABLED needs; `options={"snapshot": …}` starts from a position.

    Args:
        game, seat, opponents, illegal, reward, observation, render_mode, rules: as of `Env`; the pictures show no last
            action, and the window the first games.
        num_envs: N.
        autoreset_mode: a `gymnasium.vector.AutoresetMode` or its value: NEXT_STEP (a finished game is reset by the next
            step, which ignores the row's action), SAME_STEP (at once; the last observation and info are in
            `final_obs`, `final_info`) or DISABLED (call `reset` with a `reset_mask`).
        engine: "numpy", "python", or None: the vectorised machine where the game has one.
    """

    _window: Window | None = None  # Gymnasium closes environments that could not be made, too

    def __init__(
        self,
        game: str | GameDefinition | ModuleType,
        num_envs: int = 1,
        *,
        seat: int | str = 0,
        opponents: Opponents = None,
        illegal: str = "lose",
        reward: str = ENV_OPTIONS["reward"],
        observation: Any = ENV_OPTIONS["observation"],
        render_mode: str | None = ENV_OPTIONS["render_mode"],
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        engine: str | None = None,
        **rules: Any,
    ) -> None:
        self.game = find_game(game)
        self.render_mode = check_render_mode(self.game, render_mode)
        self._window = Window(self.game.id) if self.render_mode == "human" else None
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            accepted = ", ".join(repr(mode.value) for mode in AutoresetMode)
            refuse_option("autoreset_mode", autoreset_mode, f"an AutoresetMode or one of {accepted}")
        self._games = LearnerGames(
            self.game,
            num_envs,
            seat=seat,
            opponents=opponents,
            illegal=illegal,
            reward=reward,
            observation=observation,
            engine=engine,
            **rules,
        )
        self.rules = self._games.batch.rules
        self.num_envs = self._games.batch.num_games
        self.metadata = {
            "render_modes": list(render_modes(self.game)),
            "render_fps": RENDER_FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space = self._games.encoder.space
        self.single_action_space = gymnasium.spaces.Discrete(self._games.batch.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._rows: Index = np.arange(self.num_envs, dtype=np.intp)
        self._is_reset = False

    def set_opponents(self, opponents: Opponents) -> None:
        """Let others play from now on, in running games too."""
        self._games.set_opponents(opponents)

    def action_masks(self) -> Flags:
        """The learner's legal actions in every game, bool [N, A]; all False where its game is over."""
        if not self._is_reset:
            raise NotResetError("reset() needs to be called before action_masks")
        return self._games.masks()

    # ------------------------------------------------------------------------------------------ reset

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Deal new games, up to the learner's first decision in each.

        seed: row i plays game seed + i; or one seed a row, of which None goes on with the row's stream, as all do without.
        """
        rows = self._rows
        options = {} if options is None else dict(options)
        if "reset_mask" in options:
            mask = options["reset_mask"]
            if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
                refuse_option("options['reset_mask']", mask, f"a bool array of shape ({self.num_envs},)")
            if not mask.any():
                refuse_option("options['reset_mask']", mask, "true for one game at least")
            rows = np.flatnonzero(mask)
        if not self._is_reset and len(rows) < self.num_envs:
            raise NotResetError("the first reset() deals every game: no reset_mask is accepted")
        number = as_integer(seed)
        if seed is None:
            seeds: list[int | None] = [None] * self.num_envs
        elif number is not None:
            seeds = [number + row for row in range(self.num_envs)]
        else:
            if not isinstance(seed, (list, tuple, np.ndarray)):
                refuse_option("seed", seed, f"an integer or {self.num_envs} integers, one a game")
            seeds = list(seed)
            if len(seeds) != self.num_envs:
                refuse_option(
                    "seed", seed, f"an integer or {self.num_envs} integers, one a game ({len(seeds)} are given)"
                )
        snapshot = options.get("snapshot")
        skipped = self._games.reset(
            rows,
            [seeds[row] for row in rows.tolist()],
            None if snapshot is None else [snapshot] * len(rows),
        )
        super().reset(seed=number if number is not None and number >= 0 else None)
        self._is_reset = True
        infos: Info = {}
        self._put_seen(infos, rows)
        self._put(infos, "skipped_games", rows, skipped)
        self._show()
        return self._observe(), infos

    # ------------------------------------------------------------------------------------------ step

    def step(self, actions: Any) -> tuple[Any, F64, Flags, Flags, Info]:
        """The learner's action in every game, and the others' until its next decision or the end."""
        games = self._games
        if not self._is_reset:
            raise NotResetError("reset() needs to be called before step")
        given = actions if isinstance(actions, np.ndarray) else np.asarray(list(iterate(self.action_space, actions)))
        if given.dtype.kind not in "iu" or given.shape != (self.num_envs,):
            raise ActionTypeError(
                f"actions are {given.dtype} of shape {given.shape}; integers of shape ({self.num_envs},) are accepted"
            )
        due = self._rows[games.over]
        if self.autoreset_mode is AutoresetMode.DISABLED and len(due):
            raise NotResetError(
                f"the games {due.tolist()} are over, and autoreset is disabled: "
                "call reset(options={'reset_mask': …}) before the next step"
            )
        running = self._rows[~games.over]
        outcome = games.step(given[running], running)
        rewards = np.zeros(self.num_envs, dtype=np.float64)
        terminated, truncated = np.zeros((2, self.num_envs), dtype=np.bool_)
        rewards[running] = outcome.reward
        terminated[running], truncated[running] = outcome.terminated, outcome.truncated
        illegal = running[outcome.illegal]
        if len(illegal):
            gymnasium.logger.warn(
                f"{self.game.id}, game {illegal[0]}: action {given[illegal[0]]} is illegal: the game is lost "
                f'(illegal="lose"; {len(illegal)} such in this step)'
            )
        over = running[outcome.terminated | outcome.truncated]
        infos: Info = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            if len(over):
                final_infos: Info = {}
                self._put_seen(final_infos, over)
                self._put_results(final_infos, over, illegal)
                last = list(iterate(self.observation_space, self._observe()))
                final = np.full(self.num_envs, None, dtype=object)
                for row in over.tolist():
                    final[row] = last[row]
                self._put(infos, "final_obs", over, final[over])
                infos["final_info"], infos["_final_info"] = final_infos, np.isin(self._rows, over)
                skipped = games.reset(over)
            self._put_seen(infos, self._rows)
            if len(over):
                self._put(infos, "skipped_games", over, skipped)
        else:
            if len(due):
                skipped = games.reset(due)
            self._put_seen(infos, self._rows)
            if len(over):
                self._put_results(infos, over, illegal)
            if len(due):
                self._put(infos, "skipped_games", due, skipped)
        self._show()
        return self._observe(), rewards, terminated, truncated, infos

    def _observe(self) -> Any:
        seen = self._games.observe()
        return tuple(seen) if isinstance(seen, list) else seen

    def _put_seen(self, infos: Info, rows: Index) -> None:
        self._put(infos, "action_mask", rows, self._games.masks()[rows].view(np.int8))
        self._put(infos, "seat", rows, self._games.seat[rows].astype(np.int64))

    def _put_results(self, infos: Info, over: Index, illegal: Index) -> None:
        score, rank = self._games.results(over)
        self._put(infos, "score", over, score)
        self._put(infos, "rank", over, rank)
        if len(illegal):
            self._put(infos, "illegal_action", illegal, np.ones(len(illegal), dtype=np.bool_))

    def _put(self, infos: Info, key: str, rows: Index, values: npt.NDArray[Any]) -> None:
        """An info that these rows have, as Gymnasium lays it out: values by row, and under `_key` which rows have it."""
        everywhere = np.zeros((self.num_envs, *values.shape[1:]), dtype=values.dtype)
        if values.dtype == object:
            everywhere[:] = None
        everywhere[rows] = values
        infos[key] = everywhere
        infos[f"_{key}"] = np.isin(self._rows, rows)

    def render(self) -> tuple[Any, ...] | None:
        """Every table as its learner sees it, by the render mode: texts ("ansi"), frames uint8 [height, width, 3]
        ("rgb_array"), or None ("human", which shows the first games in the window)."""
        if not self._is_reset:
            raise NotResetError("reset() needs to be called before render")
        if self.render_mode is None:
            gymnasium.logger.warn("render() has nothing to do: the environment was made with render_mode=None")
            return None
        if self._window is not None:
            self._show()
            return None
        if self.render_mode in PICTURE_MODES:
            return tuple(rasterise(picture) for picture in self._games.pictures(self._rows))
        return self._games.texts()

    def _show(self) -> None:
        """The first tables in the window, if there is one."""
        if self._window is not None and not self._window.is_dismissed:
            self.closed = False  # so that Gymnasium's `close` closes a window that was opened again
            self._window.show(self._games.pictures(self._rows[:TILES]), self.metadata["render_fps"])

    def close_extras(self, **kwargs: Any) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
