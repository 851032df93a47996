"""Stable-Baselines3: a native vector environment over one batch, and trained models as policies.

    from sb3_contrib import MaskablePPO
    from easyenvs.sb3 import VecEnv

    model = MaskablePPO("MlpPolicy", VecEnv("peasy_v0", 256))
    model.learn(1_000_000)

Needs the extra "sb3".

    N games  A actions  M decisions
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt

from easyenvs.adapters.frames import (
    PICTURE_MODES,
    RENDER_FPS,
    TILES,
    Frame,
    Window,
    check_render_mode,
    rasterise,
)
from easyenvs.adapters.opponents import LearnerGames, Opponents
from easyenvs.core.arrays import Flags, Index
from easyenvs.core.batch import ENV_OPTIONS
from easyenvs.core.errors import IllegalActionError, MissingExtraError, NotResetError, OptionError
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import Decisions, Policy
from easyenvs.core.weights import Layer, NetworkPolicy, gumbel
from easyenvs.registry import find_game
from easyenvs.selfplay import Pool

try:
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common import vec_env
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.policies import ActorCriticPolicy
    from stable_baselines3.common.torch_layers import FlattenExtractor
except ImportError as error:
    raise MissingExtraError(f'easyenvs.sb3 needs the extra "sb3": pip install "easyenvs[sb3]" ({error})') from error

ActorCritic = ActorCriticPolicy | MaskableActorCriticPolicy

_MASK_HINT: Final = (
    "the algorithm has not asked for action masks. DQN, PPO, A2C and others of stable-baselines3 ignore them and play "
    "illegal actions: use sb3_contrib.MaskablePPO"
)


class VecEnv(vec_env.VecEnv):
    """Many games with one learning seat each, policies in the others, for Stable-Baselines3.

    `sb3_contrib.MaskablePPO` finds the masks by itself. A finished game is dealt anew within the step; the learner's last
    observation is then in the info's `terminal_observation`, `TimeLimit.truncated` says whether it was cut off (R6), and
    `score` and `rank` how it ended.

    Args:
        game: the game's id, module or definition.
        num_envs: N.
        seat: the learning seat, or "random": drawn anew for every game from its seed.
        opponents: None (uniform random); a policy or its name, for all other seats; P − 1 of them, the first for the seat
            after the learner's and so on round the table; P of them, by seat; or a `easyenvs.selfplay.Pool`.
        illegal: "raise" (IllegalActionError) or "lose" (reward −1 and the game is over).
        seed: row i plays game seed + i first. None: from the system, until `seed(…)` is called.
        reward: "placement", "win" or "score" (R1–R3).
        observation: "flat", "bits", "dict" or an encoder object with a Box or Dict space.
        render_mode: None, "ansi" (text), "rgb_array" or "human" (a window with the first games, which shows every position
            by itself); the last two where the game has pictures, with the extra "render".
        engine: "numpy", "python", or None: the vectorised machine where the game has one.
        rules: the game's rule options.
    """

    def __init__(
        self,
        game: str | GameDefinition | ModuleType,
        num_envs: int = 256,
        *,
        seat: int | str = 0,
        opponents: Opponents = None,
        illegal: str = "raise",
        seed: int | None = None,
        reward: str = ENV_OPTIONS["reward"],
        observation: Any = ENV_OPTIONS["observation"],
        render_mode: str | None = ENV_OPTIONS["render_mode"],
        engine: str | None = None,
        **rules: Any,
    ) -> None:
        self.game = find_game(game)
        self.games = LearnerGames(
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
        space = self.games.encoder.space
        if not isinstance(space, (gymnasium.spaces.Box, gymnasium.spaces.Dict)):
            raise OptionError(
                f"observation={observation!r} is not accepted: Stable-Baselines3 needs a Box or Dict space, not {space}"
            )
        self.rules = self.games.batch.rules
        self.render_mode = check_render_mode(self.game, render_mode)
        self._window = Window(self.game.id) if self.render_mode == "human" else None
        self._is_reset = False
        self._rows: Index = np.arange(self.games.batch.num_games, dtype=np.intp)
        self._chosen: npt.NDArray[Any] | None = None
        self._asked_for_masks = self._warned = False
        super().__init__(self.games.batch.num_games, space, gymnasium.spaces.Discrete(self.games.batch.num_actions))
        if seed is not None:
            self.seed(seed)

    def set_opponents(self, opponents: Opponents) -> None:
        """Let others play from now on, in running games too."""
        self.games.set_opponents(opponents)

    def action_masks(self) -> Flags:
        """The learner's legal actions in every game, bool [N, A]."""
        self._asked_for_masks = True
        return self.games.masks()

    # ------------------------------------------------------------------------------------------ playing

    def reset(self) -> Any:
        """Deal new games, by `seed` and `set_options` ({"snapshot": …}) where they were called before."""
        snapshots = [options.get("snapshot") for options in self._options]
        given = any(snapshot is not None for snapshot in snapshots)
        skipped = self.games.reset(self._rows, self._seeds, snapshots if given else None)
        self._reset_seeds()
        self._reset_options()
        seats = self.games.seat.tolist()
        self.reset_infos = [
            {"seat": seat, "skipped_games": count} for seat, count in zip(seats, skipped.tolist(), strict=True)
        ]
        self._chosen = None
        self._is_reset = True
        self._show()
        return self.games.observe()

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Take the learner's actions, integers [N]; `step_wait` plays them."""
        self._chosen = np.asarray(actions)

    def step_wait(self) -> Any:
        """Observations, rewards float32 [N], dones bool [N] and infos, a dict a game."""
        if self._chosen is None:
            raise NotResetError("step_async(actions) needs to be called before step_wait")
        chosen, self._chosen = self._chosen, None
        games = self.games
        try:
            outcome = games.step(chosen, self._rows)
        except IllegalActionError as error:
            if self._asked_for_masks:
                raise
            raise type(error)(f"{error}\n({_MASK_HINT}.)") from error
        if outcome.illegal.any() and not self._asked_for_masks and not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.game.id}: an illegal action lost its game; {_MASK_HINT}", RuntimeWarning, stacklevel=2
            )
        done = outcome.terminated | outcome.truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        seen = games.observe()
        over = np.flatnonzero(done)
        if len(over):
            scores, ranks = games.results(over)
            for row, score, rank in zip(over.tolist(), scores.tolist(), ranks.tolist(), strict=True):
                infos[row] = {
                    "terminal_observation": _row(seen, row),
                    "TimeLimit.truncated": bool(outcome.truncated[row]),
                    "score": score,
                    "rank": rank,
                    "seat": int(games.seat[row]),
                }
                if outcome.illegal[row]:
                    infos[row]["illegal_action"] = True
            for row, skipped in zip(over.tolist(), games.reset(over).tolist(), strict=True):
                self.reset_infos[row] = {"seat": int(games.seat[row]), "skipped_games": skipped}
            seen = games.observe()
        self._show()
        return seen, outcome.reward.astype(np.float32), done, infos

    # ------------------------------------------------------------------------------------------ rendering

    def get_images(self) -> Sequence[Frame | None]:
        """Every table as its learner sees it: frames uint8 [height, width, 3]; None without render_mode="rgb_array"."""
        if not self._is_reset:
            raise NotResetError("reset() needs to be called before get_images")
        if self.render_mode not in PICTURE_MODES:
            return [None] * self.num_envs
        return [rasterise(picture) for picture in self.games.pictures(self._rows)]

    def render(self, mode: str | None = None) -> Any:
        """All tables in one frame uint8 [height, width, 3] ("rgb_array"), a text each ("ansi"), or None ("human", which shows
        the first games in the window)."""
        if not self._is_reset:
            raise NotResetError("reset() needs to be called before render")
        if self.render_mode == "human" and mode in (None, "human"):
            self._show()
            return None
        if self.render_mode == "ansi" and mode in (None, "ansi"):
            return self.games.texts()
        return super().render(mode)

    def _show(self) -> None:
        if self._window is not None and not self._window.is_dismissed:
            self._window.show(self.games.pictures(self._rows[:TILES]), RENDER_FPS)

    def close(self) -> None:
        """Close the window, if there is one; may be called any number of times."""
        if self._window is not None:
            self._window.close()

    # ------------------------------------------------------------------------------------------ what SB3 asks

    def _chosen_rows(self, indices: Any) -> list[int]:
        return list(self._get_indices(indices))

    def _attribute(self, name: str, row: int) -> Any:
        if name == "seat":
            return int(self.games.seat[row])
        if name == "spec":
            return None
        return getattr(self, name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute, once for every game: `seat` is each game's own, all others are the whole environment's."""
        return [self._attribute(attr_name, row) for row in self._chosen_rows(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Not possible for single games of a batch: `set_opponents` changes who plays in all of them."""
        raise AttributeError(
            f"the games of a batch are one object: {attr_name!r} can't be set; set_opponents(…) changes the opponents"
        )

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method for some games: `action_masks` and `snapshot` give each game's own, `set_opponents` changes all."""
        rows = self._chosen_rows(indices)
        if method_name == "action_masks":
            masks = self.action_masks()
            return [masks[row] for row in rows]
        if method_name == "snapshot":
            return [self.games.batch.snapshot(row) for row in rows]
        if method_name == "set_opponents":
            if indices is not None:
                raise ValueError("set_opponents changes all games: no indices are accepted")
            self.set_opponents(*method_args, **method_kwargs)
            return [None] * len(rows)
        raise AttributeError(
            f"{method_name!r} is no method of a game in {type(self).__name__}; action_masks, snapshot, set_opponents are"
        )

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Any = None
    ) -> list[bool]:
        """Never: the games are rows of a batch."""
        return [False] * len(self._chosen_rows(indices))


def _row(seen: Any, row: int) -> Any:
    """One game's observation, in memory of its own."""
    return {key: values[row].copy() for key, values in seen.items()} if isinstance(seen, dict) else seen[row].copy()


# ------------------------------------------------------------------------------------------------- models as policies


class ModelPolicy:
    """A Stable-Baselines3 actor-critic model (MaskablePPO, PPO …) as a policy, illegal actions masked out.

    It keeps a copy of the model's network as it is now, so further training does not change it.

    Args:
        model: the model, or its policy.
        observation: the encoder that it was trained on; needed where it can't be read off the model's environment.
        deterministic: play the likeliest action, or draw by the probabilities.
    """

    def __init__(
        self, model: BaseAlgorithm | ActorCritic, observation: Any = None, *, deterministic: bool = True
    ) -> None:
        network = model.policy if isinstance(model, BaseAlgorithm) else model
        if not isinstance(network, ActorCritic):
            raise TypeError(
                f"{type(network).__name__} is no actor-critic policy: those of MaskablePPO, PPO and A2C are"
            )
        self.observation = _observation_of(model, observation)
        self.deterministic = deterministic
        # Built anew, as SB3 does from a file: what a policy has just computed hangs on it and can't be deep-copied.
        self._network = type(network)(**network._get_constructor_parameters())
        self._network.load_state_dict(network.state_dict())
        self._network.set_training_mode(False)

    def __call__(self, d: Decisions, /) -> Index:
        """Legal action ids, intp [M]."""
        seen = d.observe(self.observation)
        with torch.no_grad():
            tensor, _ = self._network.obs_to_tensor(seen)
            distribution: Any = self._network.get_distribution(tensor).distribution
            logits = distribution.logits.double().cpu().numpy()
        if not self.deterministic:
            logits = logits + gumbel(d.keys, d.num_actions)
        chosen: Index = np.where(d.legal, logits, -np.inf).argmax(axis=1)
        return chosen


def _observation_of(model: Any, observation: Any) -> Any:
    if observation is not None:
        return observation
    env = getattr(model, "env", None)
    games = getattr(None if env is None else env.unwrapped, "games", None)
    if games is None:
        raise ValueError("the model has no easyenvs.sb3.VecEnv: say which observation it was trained on")
    return games.observation


def network_policy(
    model: BaseAlgorithm | ActorCritic,
    *,
    game: str | GameDefinition | ModuleType | None = None,
    num_players: int | None = None,
    observation: str | None = None,
    temperature: float = 0.0,
    **notes: Any,
) -> NetworkPolicy:
    """A model's network as a policy that needs NumPy alone, and that `easyenvs.core.weights.save_weights` can write.

    model: an actor-critic model with an MLP (ReLU or tanh) on a flat observation ("flat" or "bits"), not normalised.
    game, num_players, observation: needed where the model has no `VecEnv`. notes: kept in the weights' description.

    Raises:
        ValueError: the network is of another kind; `ModelPolicy` plays every kind, with PyTorch.
    """
    network = model.policy if isinstance(model, BaseAlgorithm) else model
    name = _observation_of(model, observation)
    env = getattr(model, "env", None)
    if env is not None and isinstance(env.unwrapped, VecEnv):
        game = env.unwrapped.game if game is None else game
        num_players = env.unwrapped.rules.num_players if num_players is None else num_players
    if game is None or num_players is None:
        raise ValueError("the model has no easyenvs.sb3.VecEnv: say game and num_players")
    if env is not None and isinstance(model, BaseAlgorithm) and model.get_vec_normalize_env() is not None:
        raise ValueError("the model saw normalised observations, which a weights file can't hold: use ModelPolicy")
    if not isinstance(network, ActorCritic) or not isinstance(network.features_extractor, FlattenExtractor):
        raise ValueError(f"{type(network).__name__} is no actor-critic MLP on a flat observation: use ModelPolicy")
    modules = [*network.mlp_extractor.policy_net, network.action_net]
    linear = [module for module in modules if isinstance(module, torch.nn.Linear)]
    between = {type(module) for module in modules if not isinstance(module, torch.nn.Linear)}
    known: dict[type[torch.nn.Module], str] = {torch.nn.ReLU: "relu", torch.nn.Tanh: "tanh"}
    if len(between) > 1 or not between <= known.keys():
        kinds = ", ".join(sorted(kind.__name__ for kind in between))
        raise ValueError(f"the network's activations are {kinds}; ReLU or Tanh are accepted")
    layers = [
        Layer.rounded(layer.weight.detach().double().cpu().numpy().T, layer.bias.detach().double().cpu().numpy())
        for layer in linear
    ]
    about = {
        "format": 1,
        "game": find_game(game).id,
        "num_players": num_players,
        "observation": name,
        "activation": known[between.pop()] if between else "relu",
        **notes,
    }
    return NetworkPolicy(layers, about, temperature=temperature)


class SelfPlayCallback(BaseCallback):
    """Adds a copy of the learner to a pool of opponents every so often while it trains.

    Args:
        pool: the pool that the environment was given as `opponents`.
        every: after so many steps of the learner (all games together).
        save_to: a folder; the pool is saved there each time.
    """

    def __init__(self, pool: Pool, every: int, *, save_to: Any = None, verbose: int = 0) -> None:
        super().__init__(verbose)
        if every < 1:
            raise OptionError(f"every={every!r} is not accepted: every must be an integer of at least 1")
        self.pool = pool
        self.every = every
        self.save_to = save_to
        self._next = every

    def _on_training_start(self) -> None:
        self._next = self.num_timesteps + self.every

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        if self.num_timesteps < self._next:
            return
        self._next = self.num_timesteps + self.every
        self.pool.add(self._frozen(), f"step {self.num_timesteps}")
        if self.save_to is not None:
            self.pool.save(self.save_to)
        for member, weight in zip(self.pool.members, self.pool.weights(), strict=True):
            self.logger.record(f"pool/{member.name}", member.learner_wins)
            self.logger.record(f"pool_weight/{member.name}", float(weight))

    def _frozen(self) -> Policy:
        """The learner as it is now; it draws by its probabilities, so that the pool is not exploitable move by move."""
        try:
            return network_policy(self.model, temperature=1.0, steps=self.num_timesteps)
        except ValueError:
            if self.save_to is not None:
                raise  # only networks can be saved
            return ModelPolicy(self.model, deterministic=False)


__all__: Sequence[str] = ("ModelPolicy", "SelfPlayCallback", "VecEnv", "network_policy")
