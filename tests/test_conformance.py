"""The conformance kit, run on every game of easyenvs and on a third one; and proof that the kit notices faults."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.test.api_test import api_test

import easyenvs
from easyenvs import registry, testing
from easyenvs.adapters import aec
from easyenvs.adapters.aec import Env, RawEnv
from easyenvs.core import chance, encoders, rewards, snapshots, views
from easyenvs.core.batch import Batch, GameList
from easyenvs.core.game import GameDefinition
from easyenvs.core.options import RuleOptions
from easyenvs.testing import CHECKS, Check, check_cases, check_game, player_numbers, playthrough, replay_playthrough
from tests.games import tiny_v0
from tests.games.tiny_v0 import encode as tiny_encode
from tests.games.tiny_v0 import notation as tiny_notation
from tests.games.tiny_v0 import view as tiny_view
from tests.games.tiny_v0.game import Game as TinyGame
from tests.games.tiny_v0.game import Phase

TINY = tiny_v0.GAME
BUILT_IN = [game for game in easyenvs.games().values() if game.package.startswith("easyenvs.")]
REPOSITORY = Path(__file__).parents[1]


# --------------------------------------------------------------------------------------------- every game conforms


WHOLE_GAMES = (testing.check_turns, testing.check_rewards, testing.check_autoreset)
"""The checks that are about how games end."""


def conformance_cases() -> list[Any]:
    cases = []
    for game in (TINY, *BUILT_IN):
        # With an unusual number of players most checks play the game's short variant, and not to its end.
        short = {**getattr(game.notation, "PLAYTHROUGH_OPTIONS", {}), "max_cycles": 12}
        for check, engine, number in check_cases(game):
            is_whole = game is TINY or number == game.rule_options["num_players"] or check in WHOLE_GAMES
            options = {**({} if is_whole else short), "num_games": 3 if game is TINY else 1}
            name = f"{game.id}-{check.__name__.removeprefix('check_')}-{engine}-{number}"
            cases.append(pytest.param(check, game, engine, number, options, id=name))
    return cases


@pytest.mark.parametrize(("check", "game", "engine", "num_players", "options"), conformance_cases())
def test_conformance(
    check: Check, game: GameDefinition, engine: str, num_players: int, options: dict[str, Any]
) -> None:
    check(game, engine=engine, num_players=num_players, **options)


def test_check_game_runs_everything_on_everything() -> None:
    check_game(TINY, num_games=1, seed=5, num_rounds=1)


def test_check_game_can_leave_a_check_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TinyGame, "resample", lambda self, seat, key: None)
    with pytest.raises(AssertionError, match="has changed nothing anywhere"):
        check_game(TINY, num_games=1, num_players=[2])
    monkeypatch.undo()
    check_game(TINY, num_games=1, num_players=[2], skip=[testing.check_hidden_information])


def test_every_check_is_on_the_list_and_names_its_fault() -> None:
    public = {name for name in vars(testing) if name.startswith("check_")} - {"check_game", "check_cases"}
    assert public == {check.__name__ for check in CHECKS}
    for check in CHECKS:
        assert re.search(r"^ *Faults?: ", check.__doc__ or "", re.MULTILINE), check.__name__


def test_the_cases_are_every_engine_and_number_of_players_where_it_matters() -> None:
    cases = check_cases("peasy_v0")
    assert len(cases) == len(set(cases))
    masks = {(engine, number) for check, engine, number in cases if check is testing.check_masks}
    assert masks == {(engine, number) for engine in ("python", "numpy") for number in range(2, 7)}
    assert [case[1:] for case in cases if case[0] is testing.check_imports] == [("python", 6)]
    assert player_numbers(TINY) == [2, 3]


def test_pettingzoo_accepts_the_third_game() -> None:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it would rather have observations that are arrays
        api_test(tiny_v0.env(num_players=3), num_cycles=200)


# --------------------------------------------------------------------------------------------- games from elsewhere


def run_python(code: str, *path: Path) -> str:
    """What a fresh interpreter prints that finds packages in these folders first."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, path), str(REPOSITORY)])}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def install(folder: Path, entry_point: str) -> None:
    """A copy of the third game, with the metadata of an installed package that offers it."""
    shutil.copytree(Path(tiny_v0.__file__).parent, folder / "tiny_v0", ignore=shutil.ignore_patterns("__pycache__"))
    metadata = folder / "tiny_game-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-game\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[easyenvs.games]\ntiny_v0 = {entry_point}\n")


def test_a_game_is_registered_by_hand() -> None:
    code = """
import easyenvs
from tests.games import tiny_v0
assert "tiny_v0" not in easyenvs.games()
game = easyenvs.register(tiny_v0)
assert game is tiny_v0.GAME is easyenvs.find_game("tiny_v0") is easyenvs.register(tiny_v0)
from easyenvs.testing import check_masks
check_masks("tiny_v0")
print(list(easyenvs.games())[-1])
"""
    assert run_python(code).split() == ["tiny_v0"]


def test_an_installed_package_offers_a_game_through_an_entry_point(tmp_path: Path) -> None:
    install(tmp_path, "tiny_v0")
    code = """
import easyenvs, tiny_v0
from easyenvs.testing import check_game, check_spawned_process
game = easyenvs.find_game("tiny_v0")
assert game is tiny_v0.GAME and game.package == "tiny_v0"
check_game("tiny_v0", num_games=1, num_players=[3], skip=[check_spawned_process])
print(game.batch(3, num_players=3, seed=0).snapshot(2)["hands"])
"""
    assert run_python(code, tmp_path).strip() == str(tiny_v0.batch(3, num_players=3, seed=0).snapshot(2)["hands"])


def test_a_broken_package_is_heard_of_and_takes_no_other_game_with_it(tmp_path: Path) -> None:
    install(tmp_path, "no_such_module")
    code = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import easyenvs
print(*[warning.message for warning in caught])
assert "peasy_v0" in easyenvs.games() and "tiny_v0" not in easyenvs.games()
"""
    assert "the game 'tiny_v0' (no_such_module) can't be used" in run_python(code, tmp_path)


def test_an_id_is_taken_once(tmp_path: Path) -> None:
    install(tmp_path, "tiny_v0")
    code = """
import easyenvs
from tests.games import tiny_v0
try:
    easyenvs.register(tiny_v0)
except ValueError as error:
    print(error)
"""
    assert "'tiny_v0' is taken by tiny_v0; tests.games.tiny_v0 needs another name" in run_python(code, tmp_path)


# --------------------------------------------------------------------------------------------- playthroughs


def test_a_playthrough_is_replayed() -> None:
    for game, options in ((TINY, {"num_players": 3}), (BUILT_IN[0], {})):
        text = playthrough(game, seed=11, **options)
        assert text == playthrough(game, seed=11, **options)
        assert text != playthrough(game, seed=12, **options)
        replay_playthrough(game, text)


def test_a_playthrough_tells_what_a_reader_wants_to_know() -> None:
    text = playthrough(TINY)
    parts = (
        "game: tiny_v0",
        "seed: ",
        "draw_pile: [",
        "> player_0, phase keep: keep ",
        "observation: hand[",
        "ranks: ",
    )
    assert [part for part in parts if part not in text] == []
    assert len(text) < 10_000


def test_the_chosen_game_shows_every_phase_and_is_short() -> None:
    for game in (TINY, *BUILT_IN):
        text = playthrough(game)
        phases = set(re.findall(r"^> player_\d, phase (\w+): ", text, re.MULTILINE))
        every_phase: Any = sys.modules[game.game_type.__module__].Phase
        assert phases == {phase.name.lower() for phase in every_phase} - {"over"}
        assert len(text) < 600_000


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda text: text.replace("points 0 0", "points 0 1", 1),
            r"line \d+ reads '    points 0 1', but the game gives",
        ),
        (lambda text: text.replace("hand[", "hand[9 ", 1), r"line \d+ reads '  observation: hand\[9 "),
        (
            lambda text: text.replace(": stop\n", ": keep low\n", 1),
            r"line \d+: keep low is not legal there; legal are stop",
        ),
        (lambda text: text.replace(": stop\n", ": fly\n", 1), r"line \d+: 'fly' is no action of tiny_v0"),
        (lambda text: text.replace("seed: ", "seed: 1", 1), r"line \d+ reads "),
        (lambda text: text + "more\n", r"the game is over after line \d+, but the text goes on: 'more'"),
        (
            lambda text: "\n".join(text.splitlines()[:-1]),
            r"it ends after line \d+, but the game goes on: 'rewards score",
        ),
        (lambda text: text.replace("game: tiny_v0", "game: chess_v0", 1), "it is one of chess_v0"),
        (lambda text: text.replace("options: ", "opinions: ", 1), "its header has no line 'options'"),
        (lambda text: text.partition("\n> ")[0], r"line \d+ should be an action, as the game goes on there"),
    ],
)
def test_a_changed_playthrough_is_noticed_by_its_line(change: Callable[[str], str], sentence: str) -> None:
    text = playthrough(TINY, seed=3)
    assert change(text) != text
    with pytest.raises(AssertionError, match=sentence):
        replay_playthrough(TINY, change(text))


def test_the_command_writes_the_playthroughs_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(registry._games, TINY.id, TINY)
    assert testing.main([], root=tmp_path) == 0
    assert testing.main(["tiny_v0", "--seed", "9"], root=tmp_path) == 0
    assert sorted(path.parent.name for path in tmp_path.glob("*/playthrough.txt")) == sorted(
        [*(game.id for game in BUILT_IN), "tiny_v0"]
    )
    for game in (TINY, *BUILT_IN):
        replay_playthrough(game, (tmp_path / game.id / "playthrough.txt").read_text(encoding="utf-8"))
    assert "seed: 9\n" in (tmp_path / "tiny_v0" / "playthrough.txt").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        testing.main(["chess_v0"], root=tmp_path)
    assert "'chess_v0' is no game; games are" in capsys.readouterr().err


def test_the_command_is_a_module(tmp_path: Path) -> None:
    install(tmp_path, "tiny_v0")
    golden = tmp_path / "tiny_v0" / "playthrough.txt"
    text = golden.read_text(encoding="utf-8")
    golden.unlink()
    code = "import runpy, sys; sys.argv[1:] = ['tiny_v0']; runpy.run_module('easyenvs.testing', run_name='__main__')"
    assert run_python(code, tmp_path).startswith(f"{golden}: ")
    assert golden.read_text(encoding="utf-8") == text


# --------------------------------------------------------------------------------------------- faults are noticed

Fault = Callable[[pytest.MonkeyPatch], None]
FAULTS: list[tuple[Fault, Check, str]] = []


def noticed_by(check: Check, sentence: str) -> Callable[[Fault], Fault]:
    """A fault that a check has to notice, with a sentence that matches."""

    def add(fault: Fault) -> Fault:
        FAULTS.append((fault, check, sentence))
        return fault

    return add


def after(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, then: Callable[..., Any]) -> None:
    """Replace a function by itself followed by `then(result, *arguments)`, whose result counts."""
    original = getattr(owner, name)

    def replaced(*arguments: Any, **options: Any) -> Any:
        return then(original(*arguments, **options), *arguments)

    monkeypatch.setattr(owner, name, replaced)


def changed(value: Any, **fields: Any) -> Any:
    return dataclasses.replace(value, **fields)


# What is seen.


@noticed_by(
    testing.check_hidden_information,
    "phase keep.: what is hidden from seat 0 was redrawn, and yet its view changed in discards",
)
def the_next_card_shows_in_one_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    def leak(view: Any, game: TinyGame, seat: int) -> Any:
        return (
            changed(view, discards=view.discards | 1 << game.pile[-1])
            if game.phase == Phase.KEEP and game.pile
            else view
        )

    after(monkeypatch, tiny_view, "of_game", leak)


@noticed_by(testing.check_hidden_information, "infos .flat. changed in the environment")
def infos_hold_the_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, RawEnv, "_info", lambda info, env, agent, mask: {**info, "hands": env._game.position()["hands"]})


@noticed_by(testing.check_hidden_information, "mask changed|action_mask")
def the_mask_depends_on_the_pile(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(_: None, game: TinyGame, *__: Any) -> None:
        if game.phase == Phase.DRAW and game.pile[-1:] == [0]:
            game.legal = 1

    after(monkeypatch, TinyGame, "_ask", forbid)
    after(monkeypatch, TinyGame, "resample", lambda _, game, *__: forbid(None, game))


@noticed_by(testing.check_hidden_information, "fresh seed")
def redrawn_games_keep_their_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    original = TinyGame.resample

    def resample(game: TinyGame, seat: int, key: int) -> None:
        seed = game.seed
        original(game, seat, key)
        game.seed = seed

    monkeypatch.setattr(TinyGame, "resample", resample)


@noticed_by(testing.check_seats_are_relative, r"what seat 0 saw, and what it sees as seat 1, as a view: at \.totals")
def totals_are_by_absolute_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, tiny_view, "of_game", lambda view, game, seat: changed(view, totals=list(game.totals)))


@noticed_by(testing.check_spaces, r"the (flat|bits) observation of player_\d under 'observation' should lie in ")
def observations_leave_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, Env, "observe", lambda seen, *_: {**seen, "observation": seen["observation"] * 2})


@noticed_by(testing.check_spaces, r"should be float32 \[\d+\]; it is float64 \[\d+\]")
def observations_have_another_dtype(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, Env, "observe", lambda seen, *_: {**seen, "observation": np.float64(seen["observation"])})


@noticed_by(testing.check_spaces, "should be the same object at every call")
def spaces_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def space(env: RawEnv, agent: str) -> Any:
        same: Any = env.observation_spaces[agent]
        return spaces.Dict(same.spaces)

    monkeypatch.setattr(RawEnv, "observation_space", space)


@noticed_by(testing.check_spaces, "the slice 'phase' of state.. should begin at column")
def a_slice_is_in_the_wrong_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def shift(slices: list[encoders.Slice], _: RuleOptions) -> list[encoders.Slice]:
        return [changed(part, start=part.start + 1) if part.name == "phase" else part for part in slices]

    after(monkeypatch, tiny_encode, "state_slices", shift)


@noticed_by(testing.check_views, r"dtype and shape of the view's field totals")
def a_field_of_the_view_misses_a_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, tiny_view, "of_game", lambda view, *_: changed(view, totals=view.totals[:-1]))


@noticed_by(testing.check_state, r"two positions have the same state\(\), but differ: at \['draw_pile'\]")
def the_state_misses_the_draw_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(state: Any, _: dict[str, Any], rules: Any) -> Any:
        order = next(part for part in tiny_encode.state_slices(rules) if part.name == "draw order")
        state[order.start : order.stop] = 0
        return state

    after(monkeypatch, tiny_encode, "encode_state", forget)


@noticed_by(testing.check_state, r"state\(\) with another seed")
def the_state_holds_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, tiny_encode, "encode_state", lambda state, position, _: state * (1 - position["seed"] / 2**65))


@noticed_by(testing.check_kept_arrays, "an array that was returned has changed later: decision 0, flat, observe")
def observations_share_a_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = np.zeros(200, dtype=np.float32)

    def fill(seen: dict[str, Any], *_: Any) -> dict[str, Any]:
        columns = buffer[: len(seen["observation"])]
        columns[:] = seen["observation"]
        return {**seen, "observation": columns}

    after(monkeypatch, Env, "observe", fill)


@noticed_by(testing.check_kept_arrays, "writing into a returned array has changed the batch: at .'rewards'.")
def a_batch_hands_out_its_own_rewards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Batch, "rewards", property(lambda batch: batch._rewards))


@noticed_by(testing.check_render, "should be a text; it is ''")
def render_is_blank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RawEnv, "render", lambda env: "")
    monkeypatch.setattr(Env, "render", lambda env: "")


def pictures(monkeypatch: pytest.MonkeyPatch, draw: Callable[..., str], draw_open: Callable[..., str]) -> None:
    monkeypatch.setitem(TINY.__dict__, "draw", SimpleNamespace(draw=draw, draw_open=draw_open))


def drawn(text: object) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><text>{text}</text></svg>'


@noticed_by(testing.check_pictures, r"the pictures of \d+ positions in different phases are the same for seat 0")
def pictures_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures(monkeypatch, lambda view, **_: drawn("a table"), lambda *_, **__: drawn("a table"))


@noticed_by(testing.check_pictures, "a picture should be XML, but not well-formed")
def names_are_not_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures(
        monkeypatch,
        lambda view, **_: drawn(view.decisions),
        lambda position, rules, *, theme, names: drawn(names[0]),
    )


@noticed_by(testing.check_pictures, "a picture should be an svg element with a viewBox; it is svg")
def a_picture_has_no_size(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures(monkeypatch, lambda view, **_: "<svg/>", lambda *_, **__: "<svg/>")


@noticed_by(testing.check_pictures, r"what is hidden from seat \d was redrawn, and yet its picture changed")
def a_picture_shows_a_hidden_card(monkeypatch: pytest.MonkeyPatch) -> None:
    def leak(view: Any, game: Any, seat: int) -> Any:
        view.draw_size = game.pile[-1] if game.pile else 0
        return view

    after(monkeypatch, tiny_view, "of_game", leak)
    pictures(monkeypatch, lambda view, **_: drawn(view.draw_size), lambda *_, **__: drawn(0))


# Masks and actions.


@noticed_by(testing.check_masks, r"the info's mask of player_\d: int8 \[4\] was expected, bool \[4\] was found")
def masks_have_two_types(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, RawEnv, "_mask", lambda mask, *_: mask.astype(np.bool_))


@noticed_by(testing.check_masks, r"the observation's mask of player_\d: at \[0\], 0 was expected, 1 was found")
def everybody_sees_the_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    def show(observation: dict[str, Any], env: RawEnv, agent: str) -> dict[str, Any]:
        legal = env.legal_actions()
        observation["action_mask"][legal] = 1
        return observation

    after(monkeypatch, Env, "observe", show)


@noticed_by(testing.check_masks, "is to act, but has no legal action|rows with a legal action")
def a_phase_has_an_empty_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(_: None, game: TinyGame, phase: Phase) -> None:
        if phase == Phase.KEEP:
            game.legal = 0

    after(monkeypatch, TinyGame, "_ask", forget)


@noticed_by(
    testing.check_batch_arrays, r"the batch's legal: .*bool \[5, 4\].* was expected, .*bool \[5, 5, 4\].* was found"
)
def masks_have_an_axis_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    legal = Batch.legal.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(Batch, "legal", property(lambda batch: np.stack([legal(batch)] * batch.num_games)))


@noticed_by(
    testing.check_legal_actions, "check_legal_actions could not go on, as IndexError.'pop from empty list'. was raised"
)
def drawing_is_legal_from_an_empty_pile(monkeypatch: pytest.MonkeyPatch) -> None:
    def allow(_: None, game: TinyGame, phase: Phase) -> None:
        if phase == Phase.DRAW:
            game.legal = 3

    after(monkeypatch, TinyGame, "_ask", allow)


@noticed_by(testing.check_legal_actions, "the legal action 'keep low' led to an impossible position: .*once each")
def a_card_gets_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(_: None, game: TinyGame, action: int) -> None:
        if action == 2:
            game.discards = 0

    after(monkeypatch, TinyGame, "step", lose)


@noticed_by(testing.check_legal_actions, "the illegal action .* should raise IllegalActionError")
def illegal_actions_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RawEnv, "_refuse", lambda env, action: None)


@noticed_by(testing.check_legal_actions, "a refused action has changed something: at .'observations'.")
def illegal_actions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    original = RawEnv._refuse

    def refuse(env: RawEnv, action: int) -> None:
        env._game.decisions += 1
        original(env, action)

    monkeypatch.setattr(RawEnv, "_refuse", refuse)


@noticed_by(testing.check_legal_actions, r"actions of float64 .* should raise IllegalActionError, but was accepted")
def a_batch_takes_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Batch.step
    monkeypatch.setattr(
        Batch,
        "step",
        lambda batch, actions, where=None: original(
            batch, np.asarray(actions).astype(np.int64) if np.asarray(actions).dtype == np.float64 else actions, where
        ),
    )


@noticed_by(testing.check_illegal_action_ends_env, "the rewards after an illegal action: at .'player_0'.")
def an_illegal_action_costs_the_wrong_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    def blame(_: None, env: Env) -> None:
        env.rewards = dict(zip(env.rewards, [*list(env.rewards.values())[1:], env.rewards["player_0"]], strict=True))

    after(monkeypatch, Env, "_lose", blame)


# Rewards and ends.


@noticed_by(testing.check_rewards, r"the rewards \(placement\) of last\(\) add up to 0 for seat")
def who_does_not_move_last_hears_of_no_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(_: None, env: RawEnv) -> None:
        env._cumulative_rewards = {
            a: r if a == env.agent_selection else 0.0 for a, r in env._cumulative_rewards.items()
        }

    after(monkeypatch, RawEnv, "_pay", forget)


@noticed_by(
    testing.check_rewards, r"the rewards \(placement\) of .* add up to .* for seat 0; the game's result gives it"
)
def rewards_go_to_the_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, rewards, "placement", lambda earned, *_: np.roll(earned, 1, axis=0))


@noticed_by(testing.check_rewards, r"the rewards \(score\) of the batch add up to 0 for seat")
def a_batch_pays_no_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(_: None, batch: Batch, *__: Any) -> None:
        if batch.reward == "score":
            batch._rewards[:] = 0

    after(monkeypatch, Batch, "_note", forget)


@noticed_by(testing.check_turns, "the seat that leaves next: 'player_0' was expected, 'player_1' was found")
def seats_leave_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def last_first(_: None, env: RawEnv) -> None:
        if env._ended:
            env.agent_selection = env.agents[-1]

    after(monkeypatch, RawEnv, "_settle", last_first)


@noticed_by(testing.check_turns, "at the end all seats should be terminated, or all truncated")
def only_the_last_mover_is_terminated(monkeypatch: pytest.MonkeyPatch) -> None:
    def one(_: None, env: RawEnv) -> None:
        env._terminations = {agent: seat == 0 and env._ended for seat, agent in enumerate(env._terminations)}

    after(monkeypatch, RawEnv, "_settle", one)


@noticed_by(testing.check_truncation, r"truncation should pay nothing; rewards \(score\) are")
def truncation_pays_the_last_round(monkeypatch: pytest.MonkeyPatch) -> None:
    def pay(_: None, game: TinyGame) -> None:
        game.gains = [float(seat) for seat in range(game.num_players)]

    after(monkeypatch, TinyGame, "_end", pay)


@noticed_by(testing.check_truncation, "the game goes on after 2 decisions, but R6 ends it after 2")
def the_limit_comes_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    original = TinyGame.step

    def step(game: TinyGame, action: int) -> None:
        game.decisions -= 1
        original(game, action)
        game.decisions += 1

    monkeypatch.setattr(TinyGame, "step", step)


# Seeds and copies.


@noticed_by(testing.check_global_random_state, "the state of Python's global random generator has changed")
def deals_use_the_global_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, TinyGame, "deal", lambda _, game, seed: random.shuffle(game.pile))


@noticed_by(testing.check_global_random_state, "the state of NumPy's global random generator has changed")
def deals_seed_the_global_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, TinyGame, "deal", lambda _, game, seed: np.random.seed(seed % 2**32))  # noqa: NPY002


@noticed_by(testing.check_seeds, "the same seed again: at ")
def a_seed_does_not_reproduce(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng()
    after(monkeypatch, TinyGame, "deal", lambda _, game, seed: generator.shuffle(game.pile))


@noticed_by(testing.check_seeds, "the deal of game 1 of the stream in ")
def the_stream_deals_one_game_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    def stay(_: None, env: RawEnv, *__: Any) -> None:
        env._game_index = 0

    after(monkeypatch, RawEnv, "reset", stay)
    monkeypatch.setattr(chance, "next_seed", lambda first, index: first + index)


@noticed_by(testing.check_copies, "the original after its deepcopy was played: at ")
def copies_keep_the_pile_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    def copied(game: TinyGame, memo: dict[int, Any]) -> TinyGame:
        twin = TinyGame(game.rules)
        twin.__dict__.update({**vars(game), "hands": list(game.hands)})
        return twin

    monkeypatch.setattr(TinyGame, "__deepcopy__", copied, raising=False)


@noticed_by(testing.check_copies, "the future of the deepcopy: at ")
def copies_forget_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RawEnv, "__getstate__", lambda env: {**vars(env), "_game_index": 7}, raising=False)


@noticed_by(testing.check_copies, "the deepcopy of the environment should be made, but raised TypeError")
def environments_cannot_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RawEnv, "__getstate__", lambda env: {"lock": threading.Lock()}, raising=False)


@noticed_by(testing.check_spawned_process, "should be played on by a spawned process, but that raised")
def another_process_does_not_find_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GameDefinition, "__reduce__", lambda game: (__import__, ("no_such_game_v0",)))


@noticed_by(testing.check_nothing_is_shared, "check_nothing_is_shared could not go on|after its? ")
def copies_of_a_batch_hold_the_same_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GameList, "take", lambda games, rows: games.select(rows))


@noticed_by(testing.check_nothing_is_shared, r"a batch and its copy\(\) share memory: \._rewards and \._rewards")
def copies_of_a_batch_hold_the_same_rewards(monkeypatch: pytest.MonkeyPatch) -> None:
    def share(twin: Batch, batch: Batch, *_: Any) -> Batch:
        twin._rewards = batch._rewards
        return twin

    after(monkeypatch, Batch, "take", share)


@noticed_by(testing.check_nothing_is_shared, "the position after its snapshot was overwritten: at .'totals'.")
def a_snapshot_is_the_position_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, TinyGame, "position", lambda position, game: {**position, "totals": game.totals})


@noticed_by(testing.check_snapshots, "what a snapshot was restored to by engine python: at .'observations'.")
def a_restored_game_forgets_who_was_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(_: None, game: TinyGame, position: dict[str, Any]) -> None:
        game.first = (game.first + 1) % game.num_players

    after(monkeypatch, TinyGame, "set_position", forget)


@noticed_by(testing.check_snapshots, "the rest of the game after restore.. by engine python: at ")
def a_snapshot_misses_what_only_shows_later(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, TinyGame, "deal", lambda _, game, seed: setattr(game, "later", True))

    def reverse_later(_: None, game: TinyGame) -> None:
        if game.round and "later" in vars(game):
            game.pile.reverse()

    after(monkeypatch, TinyGame, "_deal_round", reverse_later)


@noticed_by(testing.check_snapshots, "a snapshot with a wrong no such key should raise ValueError, but was accepted")
def unknown_keys_are_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    original = snapshots.check
    monkeypatch.setattr(
        snapshots,
        "check",
        lambda game, rules, snapshot, seed: original(
            game,
            rules,
            {k: v for k, v in snapshot.items() if k != "no such key"} if isinstance(snapshot, dict) else snapshot,
            seed,
        ),
    )


# Many games.


@noticed_by(testing.check_batch_independence, "games? alone|the rewards of a game alone")
def games_depend_on_their_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    def deal_after_another(_: None, games: GameList, rows: Any, seeds: Any) -> None:
        for row in rows.tolist()[1:]:
            vars(games.games[row])["pile"].reverse()

    after(monkeypatch, GameList, "deal", deal_after_another)


@noticed_by(testing.check_batch_independence, "games that were not stepped have rewards")
def rewards_stay_until_the_next_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Batch,
        "_clear_results",
        lambda batch, original=Batch._clear_results: original(batch) if batch.decisions.max() < 2 else None,
    )


@noticed_by(testing.check_autoreset, "the next game after autoreset")
def autoreset_deals_another_game(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Batch._deal_next

    def deal(batch: Batch, rows: Any) -> None:
        if batch.autoreset:
            batch._first_seed = batch._first_seed + np.uint64(1)
        original(batch, rows)

    monkeypatch.setattr(Batch, "_deal_next", deal)


@noticed_by(testing.check_autoreset, "final_scores with autoreset, in the call that ends games")
def autoreset_tells_the_scores_of_the_new_game(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(_: None, batch: Batch, *__: Any) -> None:
        batch._ended_scores = batch.scores[batch._ended]

    after(monkeypatch, Batch, "_note", late)


def with_second_engine(change: Callable[[GameList], None]) -> GameDefinition:
    """The third game with a second engine: the first one again, changed after every decision."""

    class Machine(GameList):
        def __init__(self, num_games: int, rules: Any, *more: Any) -> None:
            super().__init__(num_games, rules, TINY, *more[1:])

        def _refresh(self, row: int) -> None:
            super()._refresh(row)
            change(self)

    def of_games(machine: Any, seats: Any) -> Any:
        return views.stack([tiny_view.of_game(g, s) for g, s in zip(machine.games, seats, strict=True)])

    view: Any = SimpleNamespace(View=tiny_view.View, of_game=tiny_view.of_game, of_games=of_games)
    return dataclasses.replace(TINY, machine_type=Machine, view=view)


def test_engines_that_are_the_same_agree() -> None:
    testing.check_engines_agree(with_second_engine(lambda machine: None))


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("legal_words", r"engine numpy against python: at \['legal'\]"),
        ("player", r"engine numpy against python: at \['player'\]"),
    ],
)
def test_engines_that_disagree_are_noticed(field: str, sentence: str) -> None:
    def change(machine: GameList) -> None:
        for row, game in enumerate(machine.games):
            if game.phase == Phase.KEEP:
                getattr(machine, field)[row] ^= 0b100 if field == "legal_words" else 1

    with pytest.raises(AssertionError, match=sentence):
        testing.check_engines_agree(with_second_engine(change))


# Policies, and what is around the game.


@noticed_by(testing.check_policies, "what a policy plays in the environment: ")
def the_environment_gives_other_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    def shift(d: Any, *_: Any) -> Any:
        d.keys += np.uint64(1)
        return d

    after(monkeypatch, RawEnv, "decision", shift)


@noticed_by(testing.check_policies, "what a policy plays in a game alone: |random keys should differ by game")
def keys_depend_on_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, Batch, "policy_keys", lambda keys, batch, *_: keys + np.uint64(batch.num_games << 60))


@noticed_by(testing.check_policies, "what a policy plays in the environment: ")
def a_policy_sees_another_seat_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    def other_seat(d: Any, env: RawEnv, *_: Any) -> Any:
        d.view.hand = d.view.hand ^ np.uint64(1)
        return d

    after(monkeypatch, RawEnv, "decision", other_seat)


@noticed_by(testing.check_errors_before_reset, "snapshot before reset should say that reset is missing; it says: ")
def calls_before_reset_end_deep_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RawEnv, "_need_reset", lambda env, what: None)
    monkeypatch.setattr(RawEnv, "snapshot", lambda env: {"hands": env._game.nothing})


@noticed_by(testing.check_options, "an unknown option should raise TypeError, but was accepted")
def unknown_options_are_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    original: Any = vars(aec)["make_rules"]
    monkeypatch.setattr(
        aec,
        "make_rules",
        lambda game, options, others: original(
            game, {k: v for k, v in options.items() if k in game.rule_options}, others
        ),
    )


@noticed_by(testing.check_not_parallelizable, r"metadata\['is_parallelizable'\]: False was expected, True was found")
def the_metadata_call_it_parallel(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(_: None, env: RawEnv, *__: Any) -> None:
        env.metadata["is_parallelizable"] = True

    after(monkeypatch, RawEnv, "__init__", wrong)


@noticed_by(testing.check_playthrough, r"line \d+ reads '  draw_pile: .*, but the game gives '  draw_pile: ")
def the_deals_have_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, TinyGame, "deal", lambda _, game, seed: game.pile.reverse())


@noticed_by(testing.check_playthrough, "playthrough.txt is missing: `python -m easyenvs.testing tiny_v0` writes it")
def there_is_no_playthrough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "PLAYTHROUGH_FILE", "no_such_folder/playthrough.txt")


@pytest.mark.parametrize(("fault", "check", "sentence"), [pytest.param(*case, id=case[0].__name__) for case in FAULTS])
def test_a_fault_is_noticed(monkeypatch: pytest.MonkeyPatch, fault: Fault, check: Check, sentence: str) -> None:
    fault(monkeypatch)
    with pytest.raises(AssertionError) as caught:
        check(TINY, num_players=2, num_games=4)
    assert re.search(sentence, str(caught.value)), str(caught.value)
    assert str(caught.value).startswith(("tiny_v0 (engine python, 2 players)", "the playthrough of tiny_v0: "))


def test_every_check_has_a_fault_that_it_notices() -> None:
    shown = {check.__name__ for _, check, _ in FAULTS} | {"check_engines_agree", "check_imports"}
    assert shown == {check.__name__ for check in CHECKS}


def test_a_heavy_import_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "matplotlib.py").write_text("")
    (tmp_path / "heavy_v0.py").write_text("import matplotlib\nfrom tests.games.tiny_v0 import GAME\n")
    monkeypatch.syspath_prepend(tmp_path)
    heavy = dataclasses.replace(TINY, package="heavy_v0")
    with pytest.raises(AssertionError, match="importing and playing the game has imported matplotlib"):
        testing.check_imports(heavy)
    with pytest.raises(AssertionError, match="a fresh interpreter should import and play the game; it said:"):
        testing.check_imports(dataclasses.replace(TINY, package="no_such_game_v0"))


def test_text_is_checked_like_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiny_notation, "view_text", lambda view: "\N{PILE OF POO}")
    with pytest.raises(AssertionError, match="the text observation of player_0 under 'observation' is not in"):
        testing.check_spaces(TINY)
