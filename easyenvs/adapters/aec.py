"""One game as a PettingZoo AEC environment.

`RawEnv` raises on an illegal action. `Env` does the work of PettingZoo's usual wrappers (TerminateIllegal with −1, then
AssertOutOfBounds, then OrderEnforcing) itself, in one object: the wrappers cost more than the step they wrap.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from html import escape
from itertools import repeat
from typing import Any, Final, NoReturn

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

from easyenvs.adapters.frames import (
    PICTURE_MODES,
    RENDER_FPS,
    Frame,
    Window,
    check_render_mode,
    rasterise,
    render_modes,
)
from easyenvs.core import bits, chance, rewards, snapshots, views
from easyenvs.core.arrays import U64, Index
from easyenvs.core.batch import ENV_OPTIONS, Batch, check_engine, check_seed, illegal_text, make_rules
from easyenvs.core.encoders import Encoder, Single, make_encoder
from easyenvs.core.errors import ActionTypeError, IllegalActionError, NotResetError
from easyenvs.core.game import GameDefinition
from easyenvs.core.options import as_integer, choice_option
from easyenvs.core.policies import Decisions
from easyenvs.core.single import MachineGame, make_game

Observation = dict[str, Any]
Mask = npt.NDArray[np.int8]

ILLEGAL_REWARD: Final = -1.0


class _AfterReset:
    """An attribute that does not exist before the first reset; then the instance's own stands before this one.

    (A `__getattr__` would do as well, but it makes every attribute of the environment three times as slow.)
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, env: object, owner: type | None = None) -> NoReturn:
        raise AttributeError(f"{self._name} cannot be accessed before reset")


class RawEnv(AECEnv[str, Observation, int]):
    """A game as an AEC environment, without the checks of PettingZoo's wrappers.

    Agents are `player_0` … `player_{n−1}`. An observation is `{"observation": …, "action_mask": int8 [A]}`; the mask is
    all zeros for an agent that is not to act. An illegal action raises IllegalActionError and changes nothing.

    Args:
        game: the game, as `easyenvs.peasy_v0.GAME`; `easyenvs.peasy_v0.raw_env(…)` fills it in.
        reward: "placement", "win" or "score" (R1–R3).
        observation: an encoder's name ("flat", "bits", "dict", "text") or an encoder object.
        render_mode: None, "ansi" (text), "rgb_array" (uint8 [height, width, 3]) or "human" (a window, which shows every
            position by itself); the last two where the game has pictures, with the extra "render".
        engine: "python" or "numpy"; the games are the same.
        rules: the game's rule options.
    """

    agents: list[str] = _AfterReset()  # type: ignore[assignment]
    agent_selection: str = _AfterReset()  # type: ignore[assignment]
    rewards: dict[str, float] = _AfterReset()  # type: ignore[assignment]
    _cumulative_rewards: dict[str, float] = _AfterReset()  # type: ignore[assignment]

    def __init__(
        self,
        game: GameDefinition,
        *,
        reward: str = ENV_OPTIONS["reward"],
        observation: Any = ENV_OPTIONS["observation"],
        render_mode: str | None = ENV_OPTIONS["render_mode"],
        engine: str = ENV_OPTIONS["engine"],
        **rules: Any,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.game = game
        self.rules = make_rules(game, rules, list(ENV_OPTIONS))
        self.reward: str = choice_option("reward", reward, rewards.REWARDS)
        self.render_mode = check_render_mode(game, render_mode)
        self.engine = check_engine(game, engine)
        self.metadata = {
            "name": game.id,
            "render_modes": list(render_modes(game)),
            "render_fps": RENDER_FPS,
            "is_parallelizable": False,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.num_players)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.num_actions = len(game.notation.ACTION_NAMES)
        self.encoder = make_encoder(game, self.rules, observation)
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": self.encoder.space,
                    "action_mask": spaces.Box(0, 1, (self.num_actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces: dict[str, Any] = {
            agent: spaces.Discrete(self.num_actions) for agent in self.possible_agents
        }
        self.state_space = spaces.Box(0.0, 1.0, (game.encode.state_slices(self.rules)[-1].stop,), np.float32)
        self._game: Any = make_game(game, self.rules, self.engine)
        is_python = not isinstance(self._game, MachineGame)
        self._view_of: Callable[[Any, int], Any] = game.view.of_game if is_python else MachineGame.view
        single = getattr(self.encoder, "single", None)
        self._single: Single = self._observe_view
        if single is not None:
            self._single = single(self._view_of, self.num_actions, is_python)
        self._policy_encoders: dict[str, Encoder] = {}  # those that policies have asked for, by name
        self._first_seed: int | None = None
        self._game_index = 0
        self._no_rewards = dict.fromkeys(self.possible_agents, 0.0)
        self._infos: dict[str, dict[str, Any]] | None = None  # of all agents, once somebody has asked for them
        self._selected_info: dict[str, Any] | None = None  # that of `agent_selection`, which `last` makes alone
        self._last_played: tuple[int, int] | None = None  # who played, and what, in this game
        self._window = Window(game.id) if self.render_mode == "human" else None
        self._is_reset = False
        self._owes = False  # some reward, or cumulative reward, is not 0
        self._ended = True

    # ------------------------------------------------------------------------------------------ before reset

    def _need_reset(self, what: str) -> None:
        if not self._is_reset:
            raise NotResetError(f"reset() needs to be called before {what}")

    def _need_attribute(self, name: str) -> None:
        if not self._is_reset:
            raise AttributeError(f"{name} cannot be accessed before reset")

    @property
    def num_agents(self) -> int:
        """How many agents have not left."""
        self._need_attribute("num_agents")
        return len(self.agents)

    # ------------------------------------------------------------------------------------------ spaces

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The space of an agent's actions, a `Discrete`, the same object at every call."""
        return self.action_spaces[agent]

    # ------------------------------------------------------------------------------------------ reset, restore

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal game `seed`, or the next game of the stream.

        options: {"snapshot": …} starts from a position; other options are ignored.
        """
        if seed is not None:
            first, index = check_seed(seed), 0
        elif self._first_seed is None:
            first, index = chance.system_seed(), 0
        else:
            first, index = self._first_seed, self._game_index + 1
        game_seed = chance.next_seed(first, index)
        position = None
        if options is not None and "snapshot" in options:
            position = snapshots.check(self.game, self.rules, options["snapshot"], game_seed)
        self._first_seed, self._game_index = first, index
        if position is None:
            self._game.deal(game_seed)
        else:
            self._game.set_position(position)
        self._begin()

    def snapshot(self) -> dict[str, Any]:
        """The position as a plain dict that JSON can hold; its keys are listed in the game's notation."""
        self._need_reset("snapshot")
        return snapshots.make(self.game, self.rules, self._game.position())

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go to a snapshot's position. Counts as a reset: every seat is back, rewards are 0."""
        if self._first_seed is None:
            first = chance.system_seed()
            position = snapshots.check(self.game, self.rules, snapshot, first)
            self._first_seed = first
        else:
            position = snapshots.check(
                self.game, self.rules, snapshot, chance.next_seed(self._first_seed, self._game_index)
            )
        self._game.set_position(position)
        self._begin()

    def _begin(self) -> None:
        game = self._game
        self.agents = self.possible_agents[:]
        self.rewards = self._no_rewards.copy()
        self._cumulative_rewards = self._no_rewards.copy()
        self._terminations = dict.fromkeys(self.agents, game.terminated)
        self._truncations = dict.fromkeys(self.agents, game.truncated)
        self._forget_infos()
        self._last_played = None
        self._is_reset, self._owes = True, False
        self._ended = game.player is None
        self.agent_selection = self.possible_agents[game.player or 0]
        if self._window is not None:
            self._show()

    # ------------------------------------------------------------------------------------------ what agents see

    @property
    def terminations(self) -> dict[str, bool]:
        """Whether each agent's game has ended by the rules."""
        self._need_attribute("terminations")
        return self._terminations

    @terminations.setter
    def terminations(self, value: dict[str, bool]) -> None:
        # PettingZoo's TerminateIllegalWrapper ends a game by setting this from outside: what infos said is void then.
        self._terminations = value
        self._forget_infos()
        self._ended = any(value.values())

    @property
    def truncations(self) -> dict[str, bool]:
        """Whether each agent's game has ended by R6."""
        self._need_attribute("truncations")
        return self._truncations

    @truncations.setter
    def truncations(self, value: dict[str, bool]) -> None:
        self._truncations = value
        self._forget_infos()

    @property
    def infos(self) -> dict[str, dict[str, Any]]:  # type: ignore[override]
        """By agent: `action_mask` (int8 [A]), and at the end `score` (int) and `rank` (float, 1-based, ties averaged)."""
        self._need_attribute("infos")
        if self._infos is None:
            self._infos = {agent: self._info(agent, self._mask(agent)) for agent in self.agents}
            if self._selected_info is None:
                self._selected_info = self._infos.get(self.agent_selection)
            else:
                self._infos[self.agent_selection] = self._selected_info
        return self._infos

    def _forget_infos(self) -> None:
        self._infos = self._selected_info = None

    def _info(self, agent: str, mask: Mask) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": mask}
        if self._ended:
            seat = self._seat_of[agent]
            info["score"] = int(self._game.scores[seat])
            info["rank"] = self._places()[seat]
        return info

    def _places(self) -> list[float]:
        return rewards.ranks_one(self._game.standing())

    def _mask(self, agent: str) -> Mask:
        return self._mask_of(self._game.legal if agent == self.agent_selection and not self._ended else 0)

    def _mask_of(self, legal: int) -> Mask:
        return bits.unpack_int(legal, (self.num_actions + 7) // 8)[: self.num_actions].view(np.int8)

    def _observe_view(self, game: Any, seat: int, legal: int) -> tuple[Any, Mask]:
        """By an encoder that knows views of many games only."""
        return first_of(self.encoder, self._view_of(game, seat)), self._mask_of(legal)

    def observe(self, agent: str) -> Observation:
        """What an agent sees now: `{"observation": …, "action_mask": int8 [A]}`, in fresh arrays."""
        self._need_reset("observe")
        seat = self._seat_of.get(agent)
        if seat is None:
            raise KeyError(f"{agent!r} is no agent; agents are {', '.join(self.possible_agents)}")
        legal = self._game.legal if agent == self.agent_selection and not self._ended else 0
        observation, mask = self._single(self._game, seat, legal)
        return {"observation": observation, "action_mask": mask}

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last decision, terminated, truncated and info of `agent_selection`."""
        game = self._game
        if observe and not self._ended and not self._owes:  # most calls
            observation, mask = self._single(game, game.player, game.legal)
            info = self._selected_info
            if info is None:
                # One array in both places: to copy it would take a thirtieth of a decision.
                info = self._selected_info = {"action_mask": mask}
            else:  # so that this call shares nothing with an earlier one
                info["action_mask"] = mask.copy()
            return {"observation": observation, "action_mask": mask}, 0.0, False, False, info
        agent = self.agent_selection
        seen = self.observe(agent) if observe else None
        if self._selected_info is None:
            self._selected_info = self._info(agent, self._mask(agent))
        return (
            seen,
            self._cumulative_rewards[agent],
            self._terminations[agent],
            self._truncations[agent],
            self._selected_info,
        )

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:  # type: ignore[override]
        """Yields `agent_selection` until every agent has left, or `max_iter` times."""
        self._need_reset("agent_iter")
        return self._agents_in_turn(max_iter)

    def _agents_in_turn(self, max_iter: int) -> Iterator[str]:
        for _ in repeat(None, min(max_iter, sys.maxsize)):
            if self._ended and not self.agents:
                return
            yield self.agent_selection

    def state(self) -> npt.NDArray[np.float32]:
        """Where every card is, the draw order included, for a central critic: float32 [S]."""
        self._need_reset("state")
        state: npt.NDArray[np.float32] = self.game.encode.encode_state(self._game.position(), self.rules)
        return state

    def decision(self, seed: int = 0, *, with_view: bool = True) -> Decisions:
        """The decision to be made, as a policy is given it: `policy(env.unwrapped.decision())[0]` is an action.

        seed: the policy's. with_view: whether the policy looks at anything but the legal actions.
        """
        self._need_reset("decision")
        game = self._game
        if game.player is None or self._ended:
            raise NotResetError("the game is over: there is no decision to make")
        first = self._first_seed
        assert first is not None
        key = chance.derive(chance.DOMAIN_POLICY, first, check_seed(seed))
        key = chance.derive(chance.DOMAIN_POLICY, key, self._game_index)
        key = chance.derive(chance.DOMAIN_POLICY, key, game.decisions)
        words = [game.legal >> 64 * word & chance.MASK64 for word in range(-(-self.num_actions // 64))]
        return Decisions(
            self.game,
            self.rules,
            np.array([game.player], dtype=np.intp),
            np.array([words], dtype=np.uint64),
            views.stack([self._view_of(game, game.player)]) if with_view else None,
            np.array([key], dtype=np.uint64),
            self._policy_encoders,
            self._redraw,
        )

    def _redraw(self, which: Index, keys: U64) -> Batch:
        """Copies of the game, redrawn for the acting seat: what `Decisions.determinize` takes them from."""
        game = self._game
        if game.player is None:
            raise ValueError("the decision can't be determinized any more: its game is over")
        games = Batch(self.game, 1, seed=0, **self.rules.as_dict())
        games.restore(0, self.snapshot())
        return games.redrawn(which, np.full(len(which), game.player, dtype=np.intp), keys)

    # ------------------------------------------------------------------------------------------ actions

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self._ended

    @property
    def game_seed(self) -> int:
        """The seed of the current game."""
        self._need_reset("game_seed")
        seed: int = self._game.seed
        return seed

    @property
    def seat_to_act(self) -> int:
        """The number of `agent_selection`."""
        return self._seat_of[self.agent_selection]

    def is_legal(self, action: int) -> bool:
        """Whether `agent_selection` may play this action now."""
        return not self._ended and bool(self._game.legal >> action & 1)

    def result(self, seat: int) -> tuple[int, float]:
        """A seat's score and rank (1-based, ties averaged), final once the game is over."""
        return int(self._game.scores[seat]), self._places()[seat]

    def legal_actions(self) -> list[int]:
        """The ids of the legal actions, ascending; none once the game is over."""
        self._need_reset("legal_actions")
        return [] if self._ended else bits.members(self._game.legal)

    def action_name(self, action: int) -> str:
        """An action's name, as `R8>1`."""
        name: str = self.game.notation.action_name(action)
        return name

    def parse_action(self, text: str) -> int:
        """The id of an action's name."""
        action: int = self.game.notation.parse_action(text)
        return action

    def step(self, action: int | None) -> None:
        """Play `action` for `agent_selection`; None where its game is over.

        Raises:
            IllegalActionError: nothing has changed.
            NotResetError: before reset, or after the last agent has left.
        """
        if self._ended:
            self._need_reset("step")
            if not self.agents:
                raise NotResetError("the game is over and every agent has left: call reset()")
            self._was_dead_step(action)
            return
        number = action if type(action) is int else self._as_action(action)
        game = self._game
        if number < 0 or not game.legal >> number & 1:
            self._refuse(number)
        self._last_played = game.player, number
        game.step(number)
        player = game.player
        if player is None or game.gains is not None or self._owes:
            self._settle()
        else:  # most decisions end nothing and pay nothing
            self._infos = self._selected_info = None
            self.agent_selection = self.possible_agents[player]
        if self._window is not None:
            self._show()

    def _as_action(self, action: object) -> int:
        number = as_integer(action)
        if number is None:
            raise ActionTypeError(
                f"{self.game.id}, {self.agent_selection}: the action {action!r} is a {type(action).__name__}; "
                f"an integer 0 … {self.num_actions - 1} is accepted"
            )
        return number

    def _refuse(self, action: int) -> NoReturn:
        game = self._game
        phase = game.position()["phase"]
        raise IllegalActionError(illegal_text(self.game, action, bits.members(game.legal), game.player, phase))

    def _settle(self) -> None:
        """After a decision: rewards, ends, and whose turn it is."""
        game = self._game
        self._forget_infos()
        if self._cumulative_rewards[self.agent_selection]:
            self._cumulative_rewards = {**self._cumulative_rewards, self.agent_selection: 0.0}
        player = game.player
        self._pay()
        if player is None:
            self._ended = True
            self._terminations = dict.fromkeys(self.agents, game.terminated)
            self._truncations = dict.fromkeys(self.agents, game.truncated)
            self.agent_selection = self.possible_agents[0]
        else:
            self.agent_selection = self.possible_agents[player]

    def _pay(self) -> None:
        """R1–R3."""
        game = self._game
        paid = [0.0] * len(self.possible_agents)
        if self.reward == "score":
            if game.gains is not None:
                paid = rewards.score_one(game.gains)
        elif game.terminated:
            paid = (rewards.placement_one if self.reward == "placement" else rewards.win_one)(self._places())
        self.rewards = dict(zip(self.possible_agents, paid, strict=True))
        before = self._cumulative_rewards
        self._cumulative_rewards = {agent: before[agent] + self.rewards[agent] for agent in self.agents}
        self._owes = any(paid) or any(self._cumulative_rewards.values())

    def _was_dead_step(self, action: int | None) -> None:
        """An agent whose game is over leaves; the next one, in seat order, is selected."""
        if action is not None:
            raise ValueError("when an agent is dead, the only valid action is None")
        gone = self.agent_selection
        self.agents = agents = [agent for agent in self.agents if agent != gone]
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = _without(gone, self._cumulative_rewards)
        self._terminations = _without(gone, self._terminations)
        self._truncations = _without(gone, self._truncations)
        self._infos = None if self._infos is None else _without(gone, self._infos)
        self._selected_info = None if self._infos is None or not agents else self._infos[agents[0]]
        if agents:
            self.agent_selection = agents[0]

    # ------------------------------------------------------------------------------------------ render, close

    def render(self) -> str | Frame | None:
        """The table as the acting seat sees it, by the render mode: a text with its legal actions ("ansi"), a frame uint8
        [height, width, 3] ("rgb_array"), or None ("human", which shows it in the window)."""
        self._need_reset("render")
        if self.render_mode is None:
            gymnasium.logger.warn("render() has nothing to do: the environment was made with render_mode=None")
            return None
        if self._window is not None:
            self._show()
            return None
        if self.render_mode in PICTURE_MODES:
            return rasterise(self.picture_for(self.agent_selection))
        return self.render_for(self.agent_selection)

    def _show(self) -> None:
        assert self._window is not None
        if not self._window.is_dismissed:
            self._window.show([self.picture_for(self.agent_selection)], self.metadata["render_fps"])

    def picture_for(self, agent: str, theme: str = "light", *, ended: bool = False) -> str:
        """The table as an agent sees it, as SVG, whatever the render mode. ended: the game is over for its adapter.

        Raises:
            NotImplementedError: the game has no pictures.
        """
        self._need_reset("picture_for")
        seat = self._seat_of[agent]
        ranks = self._places() if ended or self._ended else None
        return table_picture(self.game, self._view_of(self._game, seat), seat, self._last_played, ranks, theme)

    def html_for(self, agent: str | None) -> str:
        """The table as an agent sees it, as HTML: a picture where the game has one; None: a sentence."""
        if agent is None:
            return f"<p>{self.game.id}, {self.rules.num_players} players: call reset() to deal a game.</p>"
        return f"<pre>{escape(self.render_for(agent))}</pre>" if self.game.draw is None else self.picture_for(agent)

    def _repr_html_(self) -> str:
        """What notebooks show: the table as the acting seat sees it."""
        return self.html_for(self.agent_selection if self._is_reset else None)

    def render_for(self, agent: str, *, ended: bool = False) -> str:
        """The table as an agent sees it, as text, whatever the render mode. ended: the game is over for its adapter."""
        self._need_reset("render")
        seat = self._seat_of[agent]
        results = [] if not (ended or self._ended) else list(zip(self._game.scores, self._places(), strict=True))
        legal = self.legal_actions() if agent == self.agent_selection else []
        return table_text(self.game, self._view_of(self._game, seat), seat, legal, results)

    def close(self) -> None:
        """Close the window, if there is one; may be called any number of times."""
        if self._window is not None:
            self._window.close()


def table_picture(
    game: GameDefinition,
    view: Any,
    seat: int,
    last_action: tuple[int, int] | None = None,
    ranks: list[float] | None = None,
    theme: str = "light",
) -> str:
    """The table as a seat sees it, as SVG; with every seat's rank once the game is over."""
    if game.draw is None:
        raise NotImplementedError(f"{game.id} has no module draw, so no pictures")
    picture: str = game.draw.draw(view, theme=theme, last_action=last_action, seat=seat, ranks=ranks)
    return picture


def table_text(game: GameDefinition, view: Any, seat: int, legal: list[int], results: list[tuple[int, float]]) -> str:
    """The table as a seat sees it, with its legal actions, or with every seat's score and rank once the game is over."""
    text: str = game.notation.view_text(view)
    if results:
        lines = [f"player_{s}: {score} points, rank {place:g}" for s, (score, place) in enumerate(results)]
        return f"player_{seat} looks at the table\n{text}\n" + "\n".join(lines)
    names = game.notation.ACTION_NAMES
    if not legal:
        return f"player_{seat} waits\n{text}"
    return f"player_{seat} is to act\n{text}\nlegal: " + "  ".join(f"{action}:{names[action]}" for action in legal)


def _without(agent: str, values: dict[str, Any]) -> dict[str, Any]:
    """A copy that lacks an agent."""
    rest = values.copy()
    rest.pop(agent, None)
    return rest


def first_of(encoder: Any, view: Any) -> Any:
    """The observation of one game by any encoder: its games axis is taken off."""
    encoded = encoder(views.stack([view]))
    return {key: values[0] for key, values in encoded.items()} if isinstance(encoded, dict) else encoded[0]


class Env(RawEnv):
    """A game as an AEC environment that behaves as if in PettingZoo's usual wrappers.

    An action outside the action space is an AssertionError; an illegal one ends the game with −1 for the offender and 0
    for the others; calls before reset are AssertionErrors; a step after the last agent has left warns.
    """

    def __init__(self, game: GameDefinition, **options: Any) -> None:
        super().__init__(game, **options)
        self._has_updated = False

    def _begin(self) -> None:
        super()._begin()
        self._has_updated = True

    def step(self, action: int | None) -> None:
        """Play `action` for `agent_selection`; None where its game is over."""
        if not self._is_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        if self._ended:
            if not self.agents:
                EnvLogger.warn_step_after_terminated_truncated()
                return
            assert action is None or self._in_space(action), self._out_of_space(action)
            self._was_dead_step(action)
            return
        number = action if type(action) is int else self._as_action(action)
        if not 0 <= number < self.num_actions:
            raise AssertionError(self._out_of_space(action))
        game = self._game
        if not game.legal >> number & 1:
            self._lose()
            return
        self._last_played = game.player, number
        game.step(number)
        player = game.player
        if player is None or game.gains is not None or self._owes:
            self._settle()
        else:  # most decisions end nothing and pay nothing
            self._infos = self._selected_info = None
            self.agent_selection = self.possible_agents[player]
        if self._window is not None:
            self._show()

    def _in_space(self, action: object) -> bool:
        return bool(self.action_spaces[self.agent_selection].contains(action))

    def _out_of_space(self, action: object) -> str:
        accepted = f"an integer 0 … {self.num_actions - 1}"
        return f"action is not in action space: {action!r} is given to {self.agent_selection}, {accepted} is accepted"

    def _as_action(self, action: object) -> int:
        number = as_integer(action)
        if number is None:
            if isinstance(action, bool):  # is in a Discrete space, as an int is: refused as `raw_env` does
                return super()._as_action(action)
            raise AssertionError(self._out_of_space(action))
        return number

    def _lose(self) -> None:
        """An illegal action: −1 for the offender, and everything is over. The position stays."""
        offender = self.agent_selection
        EnvLogger.warn_on_illegal_move()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards[offender] = ILLEGAL_REWARD
        self._cumulative_rewards = {**self._cumulative_rewards, offender: ILLEGAL_REWARD}
        self._terminations = dict.fromkeys(self.agents, True)
        self._truncations = dict.fromkeys(self.agents, True)
        self._forget_infos()
        self._ended = True
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> Observation:
        """What an agent sees now: `{"observation": …, "action_mask": int8 [A]}`, in fresh arrays."""
        if not self._is_reset:
            EnvLogger.error_observe_before_reset()
        return super().observe(agent)

    def state(self) -> npt.NDArray[np.float32]:
        """Where every card is, the draw order included, for a central critic: float32 [S]."""
        if not self._is_reset:
            EnvLogger.error_state_before_reset()
        return super().state()

    def render(self) -> str | Frame | None:
        """The table as the acting seat sees it, by the render mode: a text with its legal actions ("ansi"), a frame uint8
        [height, width, 3] ("rgb_array"), or None ("human", which shows it in the window)."""
        if not self._is_reset:
            EnvLogger.error_render_before_reset()
        return super().render()

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:  # type: ignore[override]
        """Yields `agent_selection` until every agent has left; a `step` is due in between."""
        if not self._is_reset:
            EnvLogger.error_agent_iter_before_reset()
        return self._agents_in_turn(max_iter)

    def _agents_in_turn(self, max_iter: int) -> Iterator[str]:
        for _ in repeat(None, min(max_iter, sys.maxsize)):
            if self._ended and not self.agents:
                return
            assert self._has_updated, "need to call step() or reset() in a loop over `agent_iter`"
            self._has_updated = False
            yield self.agent_selection
