"""Networks as weights files (`.npz`) and the policy that plays them with NumPy alone.

A network is a multilayer perceptron on an encoder's observation: linear layers with ReLU or tanh between them; its outputs
are a logit an action and, if it has one, the value of the decision to the seat.

Exactness. The same position has to give the same action in a batch of one and of thousands, on every machine; but a
floating-point matrix product depends in its last bits on how the library orders the sums. So weights are stored as
int16 with one binary exponent a layer, and what flows between layers is rounded to multiples of 2^−10: every product and
sum then is exact in float64, in any order. (tanh itself is not, but its last bits are rounded away.)

    M decisions  F features  A actions  L layers
"""

from __future__ import annotations

import itertools
import json
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from easyenvs.core import chance
from easyenvs.core.arrays import F64, Index
from easyenvs.core.errors import OptionError

if TYPE_CHECKING:
    from easyenvs.core.policies import Decisions

FORMAT: Final = 1
ACTIVATION_STEP: Final = 2.0**-10
MAX_ACTIVATION: Final = 2.0**10
EXACT_IN_FLOAT32: Final = 2**24  # integers up to here are
MAX_WIDTH: Final = 2**16  # of a layer: with int16 weights and the limits above, sums stay below 2^53 steps

OBSERVATIONS: Final = ("bits", "flat")
ACTIVATIONS: Final = ("relu", "tanh")
KEYS: Final = ("format", "game", "num_players", "observation")


class WeightsError(ValueError):
    """A weights file that is corrupt, or made for something else."""


@dataclass(frozen=True)
class Layer:
    """A linear layer: `x @ weight + bias`, both multiples of 2^−`exponent`."""

    weight: npt.NDArray[np.int16]  # [inputs, outputs]
    bias: npt.NDArray[np.int32]  # [outputs]
    exponent: int

    @classmethod
    def rounded(cls, weight: npt.ArrayLike, bias: npt.ArrayLike) -> Layer:
        """From real numbers, weight [inputs, outputs] and bias [outputs]: as fine as int16 allows."""
        w, b = np.asarray(weight, dtype=np.float64), np.asarray(bias, dtype=np.float64)
        if w.ndim != 2 or b.shape != (w.shape[1],):
            raise ValueError(f"weight {w.shape} and bias {b.shape} are no layer; [inputs, outputs] and [outputs] are")
        if not (np.isfinite(w).all() and np.isfinite(b).all()):
            raise ValueError("weights hold values that are not finite")
        largest = max(float(np.abs(w).max()), float(np.abs(b).max()) / 2**15, 2.0**-15)
        exponent = int(np.floor(np.log2((2**15 - 1) / largest)))
        scale = 2.0**exponent
        return cls(np.rint(w * scale).astype(np.int16), np.rint(b * scale).astype(np.int32), exponent)


class Network:
    """Linear layers with an activation between them, exact: a row's outputs don't depend on the other rows.

    Args:
        layers: each takes what the one before gives.
        activation: "relu" or "tanh".

    Raises:
        WeightsError: the layers don't fit together.
    """

    def __init__(self, layers: Sequence[Layer], activation: str = ACTIVATIONS[0]) -> None:
        if activation not in ACTIVATIONS:
            raise WeightsError(f"the weights' activation is {activation!r}; {' or '.join(ACTIVATIONS)} is accepted")
        if not layers:
            raise WeightsError("the weights hold no layers")
        for before, after in itertools.pairwise(layers):
            if before.weight.shape[1] != after.weight.shape[0]:
                raise WeightsError(
                    f"layers of shapes {before.weight.shape} and {after.weight.shape} don't fit together"
                )
        self.layers = tuple(layers)
        self.num_inputs: int = layers[0].weight.shape[0]
        self.num_outputs: int = layers[-1].weight.shape[1]
        self._activate = np.tanh if activation == "tanh" else _relu
        self._arrays = [
            (layer.weight * 2.0**-layer.exponent, layer.bias * 2.0**-layer.exponent) for layer in layers
        ]  # float64
        # Of zeros and ones float32 knows the sums as well, in half the time, where no sum of weights is too large for it.
        sums = np.abs(layers[0].weight.astype(np.int64)).sum(axis=0)
        self._weight_of_flags = self._arrays[0][0].astype(np.float32) if sums.max() <= EXACT_IN_FLOAT32 else None

    def __repr__(self) -> str:
        return " → ".join(str(n) for n in [self.num_inputs, *(layer.weight.shape[1] for layer in self.layers)])

    def __call__(self, x: npt.NDArray[Any]) -> F64:
        """Inputs [M, inputs], multiples of ACTIVATION_STEP, or bool (faster) -> float64 [M, outputs].

        Raises:
            WeightsError: these are not as many inputs as the network takes.
        """
        if x.shape[1] != self.num_inputs:
            raise WeightsError(f"these weights take {self.num_inputs} inputs; {x.shape[1]} were given")
        weight, bias = self._arrays[0]
        if x.dtype == np.bool_ and self._weight_of_flags is not None:
            weight = self._weight_of_flags
        y: F64 = x.astype(weight.dtype) @ weight + bias
        for weight, bias in self._arrays[1:]:
            y = _stepped(self._activate(y)) @ weight + bias
        return y


class NetworkPolicy:
    """Plays a network: the legal action with the largest logit, the lowest id among equals.

    Args:
        layers: from the observation to A logits, or A logits and a value.
        about: what the weights were made for: game, num_players, observation, activation ("relu" or "tanh"; default
            "relu"), mask_input (the legal actions as 0/1 follow the observation; default False), and whatever else their
            maker noted.
        temperature: above 0, actions are drawn with probabilities softmax(logits / temperature) instead.

    Raises:
        WeightsError: the layers don't fit together.
    """

    def __init__(self, layers: Sequence[Layer], about: dict[str, Any], *, temperature: float = 0.0) -> None:
        missing = [key for key in KEYS if key not in about]
        if missing:
            raise WeightsError(f"the weights don't say their {', '.join(missing)}")
        if about["format"] != FORMAT:
            raise WeightsError(f"the weights have format {about['format']!r}; this version reads {FORMAT}")
        if about["observation"] not in OBSERVATIONS:
            raise WeightsError(f"the weights read {about['observation']!r}; {' or '.join(OBSERVATIONS)} is accepted")
        self.network = Network(layers, about.get("activation", ACTIVATIONS[0]))
        if not temperature >= 0:
            raise OptionError(f"temperature is {temperature!r}; a number of at least 0 is accepted")
        self.about = about
        self.temperature = temperature
        self.layers = self.network.layers

    def __repr__(self) -> str:
        return f"<network for {self.about['game']}, {self.about['num_players']} players: {self.network!r}>"

    def __call__(self, d: Decisions, /) -> Index:
        """Legal action ids, intp [M]."""
        logits = self.outputs(d)[:, : d.num_actions]
        if self.temperature:
            logits = logits / self.temperature + gumbel(d.keys, d.num_actions)
        chosen: Index = np.where(d.legal, logits, -np.inf).argmax(axis=1)
        return chosen

    def plays_with(self, num_players: int) -> bool:
        """Whether the weights were made for so many players."""
        return bool(num_players == self.about["num_players"])

    def value(self, d: Decisions) -> F64:
        """What the network expects the seat to earn by its reward: [M].

        Raises:
            WeightsError: the network has no value.
        """
        outputs = self.outputs(d)
        if outputs.shape[1] == d.num_actions:
            raise WeightsError(f"{self!r} has no value")
        value: F64 = outputs[:, d.num_actions]
        return value

    def probabilities(self, d: Decisions) -> F64:
        """The network's probability of every action, 0 for illegal ones: [M, A]."""
        logits = np.where(d.legal, self.outputs(d)[:, : d.num_actions], -np.inf)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities: F64 = odds / odds.sum(axis=1, keepdims=True)
        return probabilities

    def outputs(self, d: Decisions) -> F64:
        """Logits and, if there is one, the value: [M, A] or [M, A + 1]."""
        if d.game != self.about["game"] or d.num_players != self.about["num_players"]:
            raise ValueError(
                f"these weights play {self.about['game']} with {self.about['num_players']} players; "
                f"the game is {d.game} with {d.num_players}"
            )
        observed = d.observe(self.about["observation"])
        bits_only = self.about["observation"] == "bits"
        x: npt.NDArray[Any] = observed.view(np.bool_) if bits_only else np.asarray(observed, dtype=np.float64)
        if self.about.get("mask_input", False):
            x = np.concatenate([x, d.legal], axis=1)
        inputs, outputs = self.network.num_inputs, self.network.num_outputs
        if x.shape[1] != inputs or outputs not in (d.num_actions, d.num_actions + 1):
            raise WeightsError(
                f"these weights take {inputs} features and give {outputs} outputs; "
                f"{d.game} has {x.shape[1]} ({self.about['observation']!r}) and needs {d.num_actions}, or one more"
            )
        if not bits_only:
            x = _stepped(x)
        return self.network(x)


def _relu(x: F64) -> F64:
    return np.maximum(x, 0.0)


def _stepped(x: F64) -> F64:
    """Rounded to the steps in which sums are exact."""
    x = np.minimum(x, MAX_ACTIVATION)
    return np.rint(x / ACTIVATION_STEP) * ACTIVATION_STEP


def gumbel(keys: npt.NDArray[np.uint64], num_actions: int) -> F64:
    """Independent standard Gumbel noise for every action, from the decisions' keys: [M, A]."""
    action = np.arange(num_actions, dtype=np.uint64)
    shape = (len(keys), num_actions)
    hashes = chance.derive_array(
        chance.DOMAIN_POLICY, np.broadcast_to(keys[:, None], shape), np.broadcast_to(action, shape)
    )
    uniform = ((hashes >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    noise: F64 = -np.log(-np.log(uniform))
    return noise


# ------------------------------------------------------------------------------------------------- files

# What NumPy, zipfile and zlib raise on bytes that are no archive of arrays.
_UNREADABLE: Final = (
    OSError,
    KeyError,
    ValueError,
    TypeError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    MemoryError,
    AttributeError,
    OverflowError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


def save_weights(path: str | Path, layers: Sequence[Layer], about: dict[str, Any]) -> None:
    """Write a weights file. `about` has at least game, num_players and observation, and is kept as JSON."""
    policy = NetworkPolicy(layers, {"format": FORMAT, **about})  # checks them
    save_network(path, policy.layers, policy.about)


def save_network(path: str | Path, layers: Sequence[Layer], about: dict[str, Any]) -> None:
    """Write a network that is no `NetworkPolicy`: `load_network` reads it, and what it is for is up to `about`."""
    arrays: dict[str, Any] = {"about": np.array(json.dumps({"format": FORMAT, **about}))}
    for index, layer in enumerate(layers):
        arrays[f"weight{index}"] = layer.weight
        arrays[f"bias{index}"] = layer.bias
        arrays[f"exponent{index}"] = np.array(layer.exponent)
    with Path(path).open("wb") as file:
        np.savez_compressed(file, **arrays)


def load_weights(path: str | Path, *, temperature: float = 0.0) -> NetworkPolicy:
    """The policy of a weights file.

    Raises:
        WeightsError: no such file, or it is corrupt.
    """
    layers, about = load_network(path)
    try:
        return NetworkPolicy(layers, about, temperature=temperature)
    except WeightsError as error:
        raise WeightsError(f"{str(path)!r}: {error}") from error


def load_network(path: str | Path) -> tuple[list[Layer], dict[str, Any]]:
    """The layers of a weights file, and what it says of itself.

    Raises:
        WeightsError: no such file, or it is corrupt.
    """
    try:
        # Opened here: of a corrupt file NumPy would leave it open.
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            count = sum(name.startswith("weight") for name in file.files)
            layers = [_layer(file, index) for index in range(count)]
    except FileNotFoundError as error:
        raise WeightsError(f"there is no weights file {str(path)!r}") from error
    except _UNREADABLE as error:
        raise WeightsError(f"{str(path)!r} is no weights file of easyenvs: {error}") from error
    if not isinstance(about, dict):
        raise WeightsError(f"{str(path)!r} is no weights file of easyenvs: its description is no object")
    return layers, about


def _layer(file: Any, index: int) -> Layer:
    weight, bias, exponent = file[f"weight{index}"], file[f"bias{index}"], file[f"exponent{index}"]
    if (
        weight.dtype != np.int16
        or bias.dtype != np.int32
        or weight.ndim != 2
        or bias.shape != (weight.shape[1],)
        or exponent.shape != ()
        or exponent.dtype.kind != "i"
        or not -15 <= exponent <= 30
        or max(weight.shape) > MAX_WIDTH
    ):
        raise ValueError(f"layer {index} is {weight.dtype} {weight.shape} and {bias.dtype} {bias.shape}")
    return Layer(weight, bias, int(exponent))
