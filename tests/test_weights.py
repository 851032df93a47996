"""Weights files: exact in any batch, refused when corrupt, found by name."""

from __future__ import annotations

import contextlib
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import easyenvs
from easyenvs import arena
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import act, decisions, load_policy, plays_with
from easyenvs.core.weights import (
    EXACT_IN_FLOAT32,
    Layer,
    Network,
    NetworkPolicy,
    WeightsError,
    load_weights,
    save_weights,
)

GAMES = list(easyenvs.games().values())


def network(
    game: GameDefinition, observation: str = "bits", *, players: int = 2, seed: int = 0, **about: Any
) -> NetworkPolicy:
    """A random network that fits the game; with a value where `value` says so."""
    rng = np.random.default_rng(seed)
    batch = game.batch(1, num_players=players, seed=0)
    inputs = batch.observe(observation).shape[1] + batch.num_actions * about.get("mask_input", False)
    sizes = [inputs, 48, 32, batch.num_actions + about.pop("value", True)]
    layers = [
        Layer.rounded(rng.normal(size=(a, b)) * 1.5 / np.sqrt(a), rng.normal(size=b) * 0.1)
        for a, b in itertools.pairwise(sizes)
    ]
    return NetworkPolicy(
        layers, {"format": 1, "game": game.id, "num_players": players, "observation": observation, **about}
    )


def played(game: GameDefinition, steps: int = 40, rows: int = 64) -> Any:
    batch = game.batch(rows, num_players=2, seed=3)
    for _ in range(steps):
        batch.step(act(batch, [load_policy("random", game)] * 2))
    return batch


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
@pytest.mark.parametrize(
    ("observation", "about"),
    [("bits", {}), ("flat", {"activation": "tanh"}), ("flat", {"value": False}), ("bits", {"mask_input": True})],
)
def test_the_same_decision_has_the_same_outputs_in_any_batch(
    game: GameDefinition, observation: str, about: dict[str, Any]
) -> None:
    policy = network(game, observation, **about)
    batch = played(game)
    running = np.flatnonzero(batch.player >= 0)
    assert len(running) > 30
    whole = policy.outputs(decisions(batch, running))
    for size in (1, 3, 17):
        parts = [policy.outputs(decisions(batch, running[k : k + size])) for k in range(0, len(running), size)]
        assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_it_computes_what_the_layers_say(game: GameDefinition) -> None:
    """Against the plain float computation, up to the rounding between layers."""
    policy = network(game)
    d = decisions(played(game, 10))
    x = d.observe("bits").astype(np.float64)
    for index, layer in enumerate(policy.layers):
        x = x @ (layer.weight / 2.0**layer.exponent) + layer.bias / 2.0**layer.exponent
        if index < len(policy.layers) - 1:
            x = np.maximum(x, 0)
    assert np.abs(policy.outputs(d) - x).max() < 0.05
    logits = np.where(d.legal, policy.outputs(d)[:, :-1], -np.inf)
    assert np.array_equal(policy(d), logits.argmax(axis=1))
    odds = policy.probabilities(d)
    assert np.allclose(odds.sum(axis=1), 1) and (odds[~d.legal] == 0).all()
    assert np.array_equal(policy.value(d), policy.outputs(d)[:, -1])


@pytest.mark.parametrize("largest", [300, 2**15 - 1])  # sums of the largest ones are beyond float32
def test_zeros_and_ones_give_the_same_as_bool(largest: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.random((200, 1500)) < 0.9
    weight = rng.integers(largest // 2, largest, (1500, 40)).astype(np.int16) | np.int16(1)
    layers = [Layer(weight, rng.integers(-99, 99, 40).astype(np.int32), 20), Layer.rounded(np.eye(40), np.zeros(40))]
    exact = x.astype(np.int64) @ weight.astype(np.int64) + layers[0].bias
    assert (exact.max() > EXACT_IN_FLOAT32) == (largest > 300)
    for network in (Network(layers[:1]), Network(layers)):
        assert np.array_equal(network(x), network(x.astype(np.float64)))
    assert np.array_equal(Network(layers[:1])(x) * 2.0**20, exact)


def test_rounding_is_as_fine_as_the_weights_allow() -> None:
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 300.0):
        weight, bias = rng.normal(size=(20, 10)) * scale, rng.normal(size=10) * scale
        layer = Layer.rounded(weight, bias)
        assert np.abs(layer.weight / 2.0**layer.exponent - weight).max() <= np.abs(weight).max() / 2**14
    assert Layer.rounded(np.zeros((2, 3)), np.zeros(3)).weight.tolist() == [[0, 0, 0], [0, 0, 0]]
    for weight, bias in (
        (np.zeros(3), np.zeros(3)),
        (np.zeros((2, 3)), np.zeros(2)),
        (np.full((1, 1), np.nan), np.zeros(1)),
    ):
        with pytest.raises(ValueError, match="weight"):
            Layer.rounded(weight, bias)


def test_it_says_with_how_many_it_plays(tmp_path: Path) -> None:
    game = easyenvs.find_game("peasy_v0")
    policy = network(game, players=3)
    assert [plays_with(policy, players) for players in (2, 3, 4)] == [False, True, False]
    save_weights(tmp_path / "three.npz", policy.layers, policy.about)
    with pytest.raises(ValueError, match="does not play peasy_v0 with 2 players"):
        arena.play(game, [str(tmp_path / "three.npz"), "random"], 2)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_with_a_temperature_it_draws_by_the_probabilities(game: GameDefinition) -> None:
    batch = game.batch(1, num_players=2, seed=0)
    for _ in range(6):
        batch.step(batch.legal.argmax(axis=1))
    cold = network(game)
    hot = NetworkPolicy(cold.layers, cold.about, temperature=1.0)
    copies = batch.take(np.zeros(20_000, dtype=int))
    d = decisions(copies)
    d.keys = np.random.default_rng(0).integers(0, 2**64, len(copies.player), dtype=np.uint64)
    seen = np.bincount(hot(d), minlength=d.num_actions) / 20_000
    expected = cold.probabilities(decisions(batch))[0]
    assert (expected > 0).sum() > 1
    assert np.abs(seen - expected).max() < 5 * np.sqrt(0.25 / 20_000)
    assert np.array_equal(hot(d), hot(d))


def test_files_give_the_policy_back_and_have_names(tmp_path: Path) -> None:
    for game in GAMES:
        policy = network(game, note="made by a test")
        path = tmp_path / f"{game.id}.npz"
        save_weights(path, policy.layers, policy.about)
        again = load_policy(str(path), game)
        assert isinstance(again, NetworkPolicy)
        assert again.about == policy.about
        d = decisions(played(game, 5))
        assert np.array_equal(again.outputs(d), policy.outputs(d))
        other = next(one for one in GAMES if one is not game)
        with pytest.raises(ValueError, match=f"play {game.id}, not {other.id}"):
            load_policy(str(path), other)
        with pytest.raises(ValueError, match="with 2 players; the game is"):
            policy(decisions(game.batch(2, num_players=3, seed=0)))
    with pytest.raises(WeightsError, match="no weights file"):
        load_policy(str(tmp_path / "none.npz"), GAMES[0])


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    game = GAMES[0]
    good = network(game)
    about = good.about
    for change, text in (
        ({"format": 2}, "format 2"),
        ({"observation": "text"}, "'text'"),
        ({"activation": "gelu"}, "'gelu'"),
    ):
        with pytest.raises(WeightsError, match=text):
            NetworkPolicy(good.layers, {**about, **change})
    with pytest.raises(WeightsError, match="num_players"):
        NetworkPolicy(good.layers, {"format": 1, "game": game.id, "observation": "bits"})
    with pytest.raises(WeightsError, match="no layers"):
        NetworkPolicy([], about)
    with pytest.raises(WeightsError, match="don't fit together"):
        NetworkPolicy([good.layers[0], good.layers[2]], about)
    with pytest.raises(WeightsError, match="features"):
        NetworkPolicy(good.layers[1:], about)(decisions(game.batch(1, num_players=2, seed=0)))
    with pytest.raises(WeightsError, match="no value"):
        network(game, value=False).value(decisions(game.batch(1, num_players=2, seed=0)))
    with pytest.raises(ValueError, match="temperature"):
        NetworkPolicy(good.layers, about, temperature=-1)


@pytest.fixture(scope="module")
def weights_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("weights") / "good.npz"
    policy = network(GAMES[0])
    save_weights(path, policy.layers, policy.about)
    return path.read_bytes()


@given(cut=st.booleans(), where=st.floats(0, 1, exclude_max=True), put=st.binary(min_size=1, max_size=8))
def test_a_corrupt_file_is_a_weights_error(
    cut: bool, where: float, put: bytes, weights_bytes: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "bad.npz"
    at = int(where * len(weights_bytes))
    changed = weights_bytes[:at] if cut else weights_bytes[:at] + put + weights_bytes[at + 1 :]
    path.write_bytes(changed)
    with contextlib.suppress(WeightsError):  # a change may hit what nobody reads
        load_weights(path)


def test_arrays_of_other_types_are_refused(tmp_path: Path) -> None:
    policy = network(GAMES[0])
    path = tmp_path / "bad.npz"
    good: dict[str, Any] = {"about": np.array(json.dumps(policy.about))}
    for index, layer in enumerate(policy.layers):
        good |= {
            f"weight{index}": layer.weight,
            f"bias{index}": layer.bias,
            f"exponent{index}": np.array(layer.exponent),
        }
    np.savez(path, **good)
    load_weights(path)
    for key, value in (
        ("weight0", policy.layers[0].weight.astype(np.float64)),
        ("bias0", policy.layers[0].bias[:-1]),
        ("exponent0", np.array(200)),
        ("exponent0", np.array(1.5)),
        ("about", np.array("[]")),
        ("about", np.array("{")),
        ("about", np.array([object()], dtype=object)),
    ):
        np.savez(path, **{**good, key: value})
        with pytest.raises(WeightsError):
            load_weights(path)
