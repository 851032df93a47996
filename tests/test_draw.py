"""Pictures: they fit, show nothing hidden and tell cards apart; frames, windows and notebooks."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from pettingzoo.test import render_test

import easyenvs
from easyenvs.adapters import frames
from easyenvs.core import policies, svg, views
from easyenvs.core.batch import Batch
from easyenvs.core.game import GameDefinition
from tests.games import tiny_v0
from tests.peasy_v0.positions import position

pygame: Any = pytest.importorskip("pygame")
resvg_py: Any = pytest.importorskip("resvg_py")

PEASY, SCHOOL = easyenvs.peasy_v0.GAME, easyenvs.school_v0.GAME
GAMES = [PEASY, SCHOOL]
games = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
PLAYERS = range(2, 7)
NAMES = ("Ann", "the heuristic of the second kind", "<b>&amp;", "player_3", "W" * 40, "ł\x00\u202e\n\N{PILE OF POO}")


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield
    assert not frames._open, "a test has left its window open"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> tuple[int, int, int]:
    """Frames of this shape, a sixteenth of the pixels, for tests that need many of them."""
    draw = resvg_py.svg_to_bytes
    monkeypatch.setattr(resvg_py, "svg_to_bytes", lambda **o: draw(**{**o, "width": o["width"] or 300}))
    return 200, 300, 3


def drawing(game: GameDefinition) -> Any:
    return import_module(f"{game.package}.draw")


def names_of(players: int) -> list[str]:
    return [f"player_{seat}" for seat in range(players)]


def stepped(batch: Batch, steps: int) -> Batch:
    seats = np.zeros((batch.num_games, batch.num_players), dtype=np.intp)
    for _ in range(steps):
        batch.step(policies.act(batch, [policies.random_policy], seats))
    return batch


def pictures_of(
    game: GameDefinition, batch: Batch, row: int, seat: int, view: Any, theme: str, names: list[str]
) -> list[svg.Picture]:
    """Of a seat's view, and with everything open."""
    draw = drawing(game)
    action = (seat, row % batch.num_actions)
    ranks = [1.5] * batch.num_players if row % 2 else None
    tables = [draw.of_view(view, seat), draw.of_snapshot(batch.snapshot(row), batch.rules, seat)]
    return [draw.picture(table, theme, action, names, ranks) for table in tables]


# ------------------------------------------------------------------------------------------------- layout


@pytest.mark.parametrize("num_players", PLAYERS)
@games
def test_nothing_overlaps_and_all_text_fits(game: GameDefinition, num_players: int) -> None:
    batch = stepped(game.batch(12, num_players=num_players, seed=num_players), 1)
    drawn = 0
    for step in range(9):
        seat = step % num_players
        view = batch.view(seat)
        for row in range(batch.num_games):
            names = list(NAMES[:num_players]) if row % 3 == 0 else names_of(num_players)
            theme = ("light", "dark")[row % 2]
            for picture in pictures_of(game, batch, row, seat, views.unstack(view, row), theme, names):
                assert picture.faults() == []
                assert row % 3 == 0 or "…" not in picture.svg()
                drawn += 1
        stepped(batch, 35)
    assert drawn == 2 * 9 * 12
    assert (batch.player < 0).any()


def crowded_peasy(num_players: int) -> dict[str, Any]:
    """Twenty cards in a hand, or all that can be spared."""
    env = PEASY.raw_env(num_players=num_players)
    env.reset(seed=1)
    env.step(0)
    snapshot = env.snapshot()
    hands, spare = snapshot["hands"], snapshot["draw_pile"]
    for seat in range(1, num_players):
        spare += hands[seat][1:]
        hands[seat] = hands[seat][:1]
    for seat in (0, num_players - 1):
        wanted = 20 - len(hands[seat]) if seat == 0 else len(spare)
        hands[seat] = sorted(hands[seat] + spare[:wanted])
        del spare[:wanted]
    return snapshot


def crowded_school(num_players: int) -> dict[str, Any]:
    """Long victory piles, many face-up cards and stress."""
    env = SCHOOL.raw_env(num_players=num_players)
    env.reset(seed=1)
    snapshot = env.snapshot()
    snapshot["deck"], rest = snapshot["deck"][-11:], snapshot["deck"][:-11]
    for index, kind in enumerate(rest):
        seat = index % num_players
        if kind == 7:
            snapshot["discard_pile"][7] += 1
            snapshot["semester"] = 2
        elif kind == 6:
            snapshot["stress"][num_players - 1] += 1
        elif index < 30:
            snapshot["face_up"][seat][kind] += 1
        else:
            pile = snapshot["victory"][num_players // 2]
            pile.insert(0 if kind == 5 else len(pile), kind)
    points = [0, 1, 3, 6, 10, 15, 21]
    snapshot["scores"] = [sum(points[min(6, pile.count(kind))] for kind in range(5)) for pile in snapshot["victory"]]
    return snapshot


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize(("game", "crowded"), [(PEASY, crowded_peasy), (SCHOOL, crowded_school)])
def test_crowded_tables_fit(game: GameDefinition, crowded: Callable[[int], dict[str, Any]], num_players: int) -> None:
    batch = game.batch(1, num_players=num_players)
    batch.restore(0, crowded(num_players))
    if game is PEASY:
        assert len(batch.snapshot(0)["hands"][0]) == 20
    for seat in (0, num_players // 2, num_players - 1):
        view = views.unstack(batch.view(seat), 0)
        for picture in pictures_of(game, batch, 0, seat, view, "light", names_of(num_players)):
            assert picture.faults() == []
            assert "…" not in picture.svg()


def test_faults_are_found() -> None:
    picture = svg.Picture("light", "a test")
    left = picture.all.part("left", 10, 10, 100, 20)
    picture.all.part("right", 105, 25, 100, 20)
    picture.all.part("far", 1190, 10, 20, 20)
    picture.all.part("flat", 500, 500, 0, 20)
    left.text = ("a text that is much too long for it", 20.0)
    left.part("inside", 20, 12, 10, 10)
    assert sorted(picture.faults()) == [
        "far sticks out of picture",
        "flat is 0.0 × 20.0",
        "left and right of picture overlap",
        "left holds the text 'a text that is much too long for it' and has parts as well",
        "the text 'a text that is much too long for it' sticks out of left",
    ]


def test_the_widths_are_those_of_the_font() -> None:
    pygame.font.init()
    font = pygame.font.Font(frames._font(), 1000)
    for code, width in svg._ADVANCE.items():
        assert font.metrics(chr(code))[0][4] == pytest.approx(1000 * width, abs=2), chr(code)
    for code in [ord(character) for character in "ÅÉŁß€±Ωж"]:
        metrics = font.metrics(chr(code))[0]
        assert metrics is None or metrics[4] <= 1000 * svg._WIDEST
    pygame.font.quit()


def test_text_is_shrunk_then_shortened() -> None:
    picture = svg.Picture("light", "a test")
    wide, narrow = picture.all.part("wide", 0, 0, 100, 20), picture.all.part("narrow", 0, 30, 40, 20)
    for area in (wide, narrow):
        picture.text(area, "a few words more", 16.0)
    assert wide.text is not None and narrow.text is not None
    assert wide.text[0] == "a few words more" and wide.text[1] < 16.0
    assert narrow.text[0].endswith("…") and "a few words more".startswith(narrow.text[0][:-1].rstrip())
    assert picture.faults() == []


# ------------------------------------------------------------------------------------------------- what is shown


@pytest.mark.parametrize("num_players", [2, 5])
@games
def test_the_hidden_is_not_in_the_picture(game: GameDefinition, num_players: int) -> None:
    draw = drawing(game)
    batch = stepped(game.batch(3, num_players=num_players, seed=4), 60)
    for seat in range(num_players):
        other = batch.resample(seat, seed=seat)
        for row in range(batch.num_games):
            one, two = (
                draw.draw(views.unstack(each.view(seat), row), seat=seat, last_action=(0, 5)) for each in (batch, other)
            )
            assert one == two
            opened = [draw.draw_open(each.snapshot(row), batch.rules) for each in (batch, other)]
            assert opened[0] != opened[1]


def drawn_texts(picture: str) -> list[str]:
    root = ElementTree.fromstring(picture)
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_peasy_shows_the_table() -> None:
    env = PEASY.env(num_players=3)
    env.reset(seed=7)
    for _ in range(12):
        env.step(env.legal_actions()[-1])
    snapshot = env.snapshot()

    def faces(cards: list[int]) -> list[str]:
        return [text for card in cards for text in ("RPGBYO"[card // 10], str(card % 10 + 1))]

    texts = drawn_texts(env.picture_for("player_0"))
    hand = snapshot["hands"][0]
    at = texts.index(f"hand: {len(hand)}") + 1  # the viewer's own comes first
    assert texts[at : at + 2 * len(hand)] == faces(hand)
    for pile, top in enumerate(snapshot["tops"]):
        at = texts.index(f"discard pile {pile}") + 1
        assert texts[at : at + 2] == faces([top])
    at = texts.index(f"under the discard piles: {len(snapshot['buried'])}") + 1
    assert texts[at : at + len(snapshot["buried"])] == ["".join(faces([card])) for card in snapshot["buried"]]
    for word in ("draw pile", f"{len(snapshot['draw_pile'])} cards", snapshot["direction"].upper(), "to act"):
        assert texts.count(word) == 1
    assert any(text.startswith("round 1 of 3") for text in texts)
    assert any(text.startswith(f"{env.agent_selection}: ") for text in texts)
    opened = drawn_texts(drawing(PEASY).draw_open(snapshot, env.rules))
    for number in range(3):
        assert ",".join(faces(snapshot["hands"][number])) in ",".join(opened)
    at = opened.index("the draw pile, the next card first") + 1
    assert opened[at:] == ["".join(faces([card])) for card in snapshot["draw_pile"]]


@pytest.mark.parametrize(
    ("pile", "seen", "opened"),
    [
        ("R8/P4", (7, None, True), "P4?"),
        ("R8/P4!", (7, 13, False), "P4"),
        ("/P4", (None, None, True), "P4?"),
        ("/P4!", (None, 13, False), "P4"),
    ],
)
def test_what_lies_under_a_row_card(pile: str, seen: tuple[int | None, int | None, bool], opened: str) -> None:
    snapshot = position(["R1 G2", "R2"], [("R4/R5", "R6/R7"), (pile, "B1/B2")], "B8 B9")
    env = PEASY.env(num_players=2)
    env.restore(snapshot)
    draw = drawing(PEASY)
    view = env._view_of(env._game, 0)
    assert draw.of_view(view, 0).seats[1].row[0] == draw.RowPile(*seen)
    # Where the seat does not know P4, it stands among the cards that it has not seen.
    assert [text for text in drawn_texts(draw.draw(view)) if text.startswith("P4")] == ["P4"]
    assert [text for text in drawn_texts(draw.draw_open(snapshot, env.rules)) if text.startswith("P4")] == [opened]


def test_school_shows_the_table() -> None:
    env = SCHOOL.env(num_players=3)
    env.reset(seed=7)
    for _ in range(60):
        env.step(env.legal_actions()[-1])
    snapshot = env.snapshot()
    texts = drawn_texts(env.picture_for("player_1"))
    assert f"pool: {sum(snapshot['pool'])}" in texts
    assert f"discard pile: {sum(snapshot['discard_pile'])}" in texts
    assert f"deck: {len(snapshot['deck'])}" in texts
    for seat in range(3):
        assert f"{snapshot['scores'][seat]} points" in [text.partition(" ·")[0] for text in texts]
        held = sum(snapshot["face_up"][seat]) + snapshot["stress"][seat]
        assert f"in front: {held}" in texts
    opened = "".join(drawn_texts(drawing(SCHOOL).draw_open(snapshot, env.rules)))
    assert "".join("NTHGCJSE"[kind] for kind in snapshot["deck"]) in opened


@games
def test_the_last_action_is_shown(game: GameDefinition) -> None:
    draw, names = drawing(game), names_of(4)
    env = game.env(num_players=4)
    env.reset(seed=3)
    before = drawn_texts(env.picture_for("player_0"))
    for _ in range(30):
        action = int(policies.random_policy(env.decision())[0])
        text = draw.action_text((env.seat_to_act, action), names)
        assert text.startswith(env.agent_selection)
        env.step(action)
        assert text in drawn_texts(env.picture_for("player_0"))
    env.reset(seed=3)
    assert drawn_texts(env.picture_for("player_0")) == before
    described = {draw.action_text((1, action), names_of(6)) for action in range(env.num_actions)}
    assert len(described) == env.num_actions


@games
def test_the_end_shows_ranks(game: GameDefinition) -> None:
    env = game.env(num_players=3)
    env.reset(seed=3)
    while not any(env.terminations.values()):
        env.step(int(policies.random_policy(env.decision())[0]))
    texts = drawn_texts(env.picture_for("player_0"))
    assert "the game is over" in texts
    for agent in env.agents:
        assert any(text.endswith(f"· rank {env.infos[agent]['rank']:g}") for text in texts)


@games
def test_a_picture_is_well_formed_xml(game: GameDefinition) -> None:
    env = game.env(num_players=6)
    env.reset(seed=1)
    view = env._view_of(env._game, 0)
    for names in (None, NAMES):
        picture = drawing(game).draw(view, seat=2, names=names)
        root = ElementTree.fromstring(picture)
        assert root.attrib["viewBox"] == "0 0 1200 800"
        assert not re.search(r"href|<script|<style|url\(|id=", picture)
    assert "<b>&amp;" in drawn_texts(picture)
    assert "<b>" not in picture


@games
def test_bad_input_to_draw(game: GameDefinition) -> None:
    env = game.env(num_players=3)
    env.reset(seed=1)
    view = env._view_of(env._game, 0)
    draw = drawing(game)
    for call in (lambda **o: draw.draw(view, **o), lambda **o: draw.draw_open(env.snapshot(), env.rules, **o)):
        with pytest.raises(easyenvs.OptionError, match=r"theme='sepia' .* one of 'light', 'dark'"):
            call(theme="sepia")
        with pytest.raises(ValueError, match="2 names are given for 3 seats"):
            call(names=["a", "b"])
        with pytest.raises(ValueError, match=r"9999 is no action of"):
            call(last_action=(0, 9999))


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@games
def test_cards_tell_apart_without_colour(game: GameDefinition) -> None:
    faces = drawing(game).FACES
    assert len({face.letter for face in faces}) == len({face.symbol for face in faces}) == len(faces)
    for face in faces:
        assert contrast(face.fill, face.ink) >= 4.5, face


@pytest.mark.parametrize("theme", svg.THEMES.values(), ids=svg.THEMES)
def test_the_themes_are_legible(theme: svg.Theme) -> None:
    for ground in (theme.table, theme.panel):
        assert contrast(ground, theme.ink) >= 7
        assert contrast(ground, theme.faint) >= 4.5
    assert contrast(theme.accent, theme.on_accent) >= 4.5
    assert contrast(theme.table, theme.accent) >= 4.5
    assert contrast(theme.plate, theme.plate_ink) >= 7


# ------------------------------------------------------------------------------------------------- frames


@games
def test_frames(game: GameDefinition) -> None:
    shown = []
    for engine in ("python", "numpy"):
        env = game.env(num_players=3, render_mode="rgb_array", engine=engine)
        env.reset(seed=2)
        frames_of: list[Any] = [env.render()]
        for _ in range(3):
            env.step(env.legal_actions()[-1])
        frames_of.append(env.render())
        for frame in frames_of:
            assert frame.shape == (800, 1200, 3) and frame.dtype == np.uint8
            assert len(np.unique(frame @ np.array([1, 256, 65536]))) > 50
        assert not np.array_equal(*frames_of)
        shown.append(frames_of)
        env.close()
        env.close()
    assert np.array_equal(shown[0], shown[1])


def test_text_is_in_the_frame() -> None:
    env = PEASY.env()
    env.reset(seed=2)
    for theme in svg.THEMES:
        picture = env.picture_for("player_0", theme)
        blank = re.sub(r"<text.*?</text>", "", picture)
        with_text, without = frames.rasterise(picture), frames.rasterise(blank)
        differs = (with_text != without).any(axis=2)
        for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text"):
            x, y, size = (float(element.attrib[key]) for key in ("x", "y", "font-size"))
            width = float(element.attrib["textLength"])
            where = differs[int(y - size) : int(y) + 1, int(x) : int(x + width) + 1]
            assert where.any(), element.text
    assert frames.rasterise(picture, width=300).shape == (200, 300, 3)


@games
@pytest.mark.usefixtures("small")
def test_render_test_of_pettingzoo(game: GameDefinition) -> None:
    def make(**options: Any) -> Any:
        env = game.env(**options)
        env.metadata["render_fps"] = 0
        made.append(env)
        return env

    made: list[Any] = []
    render_test(make)
    assert [env.render_mode for env in made] == ["human", "ansi", "rgb_array", "human"]


def learner(game: GameDefinition, **options: Any) -> Any:
    env = gymnasium.make(f"easyenvs/{game.id.partition('_')[0].capitalize()}-v0", **options)
    env.unwrapped.metadata["render_fps"] = 10_000
    return env


@games
@pytest.mark.usefixtures("small")
def test_gymnasium_and_its_wrappers(game: GameDefinition) -> None:
    env: Any = wrappers.RenderCollection(learner(game, num_players=3, seat=1, render_mode="rgb_array"))
    _, info = env.reset(seed=3)
    env.step(int(np.flatnonzero(info["action_mask"])[0]))
    frame, later = env.render()
    assert not np.array_equal(frame, later)
    table = env.unwrapped
    assert np.array_equal(later, frames.rasterise(table._table.picture_for("player_1")))
    env.close()

    observed: Any = wrappers.AddRenderObservation(learner(game, render_mode="rgb_array"))
    observation, _ = observed.reset(seed=3)
    assert observed.observation_space.contains(observation)
    observed.close()

    human: Any = wrappers.HumanRendering(learner(game, render_mode="rgb_array"))
    human.reset(seed=3)
    human.close()


@games
@pytest.mark.usefixtures("small")
def test_many_games(game: GameDefinition) -> None:
    name = f"easyenvs/{game.id.partition('_')[0].capitalize()}-v0"
    env: Any = gymnasium.make_vec(name, 2, vectorization_mode="vector_entry_point", render_mode="rgb_array", seat=1)
    assert env.metadata["render_modes"] == ["ansi", "rgb_array", "human"]
    env.reset(seed=3)
    shown = env.render()
    env.close()
    for row in range(2):
        single = learner(game, seat=1)
        single.reset(seed=3 + row)
        table = single.unwrapped._table
        table._last_played = None  # a batch does not know it
        assert np.array_equal(shown[row], frames.rasterise(table.picture_for("player_1")))
    window: Any = gymnasium.make_vec(name, 3, vectorization_mode="vector_entry_point", render_mode="human")
    window.metadata["render_fps"] = 0
    for _ in range(2):
        window.reset(seed=3)
        assert window._window.is_open
        assert window.render() is None
        window.close()
        assert not window._window.is_open


def test_tiles() -> None:
    pictures = [svg.Picture(theme, "a test").svg() for theme in ("light", "dark", "light")]
    tiles = frames.tiled(pictures)
    assert tiles.shape == (800, 1200, 3)
    corners = [tiles[y, x].tolist() for y in (200, 600) for x in (300, 900)]
    light, dark = [0xE9, 0xEC, 0xE6], [0x14, 0x18, 0x1C]
    assert corners == [light, dark, light, [0, 0, 0]]
    assert np.array_equal(frames.tiled(pictures[:1]), frames.rasterise(pictures[0]))


def test_stable_baselines(small: tuple[int, int, int]) -> None:
    pytest.importorskip("stable_baselines3")
    from easyenvs.sb3 import VecEnv

    env = VecEnv("school_v0", 2, render_mode="rgb_array", seed=1)
    with pytest.raises(easyenvs.NotResetError, match="reset"):
        env.get_images()
    env.reset()
    images: list[Any] = list(env.get_images())
    assert [image.shape for image in images] == [small] * 2
    assert env.render().shape == (400, 300, 3)
    env.close()
    human = VecEnv("peasy_v0", 2, render_mode="human", seed=1)
    human.reset()
    assert human._window is not None and human._window.is_open
    assert human.render() is None
    human.close()
    text = VecEnv("peasy_v0", 2, render_mode="ansi", seed=1)
    text.reset()
    assert len(text.render()) == 2
    assert list(text.get_images()) == [None, None]


@pytest.mark.skipif(importlib.util.find_spec("moviepy") is None, reason="needs moviepy")
def test_videos(tmp_path: Path) -> None:
    env: Any = wrappers.RecordVideo(learner(PEASY, render_mode="rgb_array"), str(tmp_path / "gymnasium"))
    env.reset(seed=1)
    env.close()
    from pettingzoo.utils.wrappers import RecordVideo

    aec: Any = RecordVideo(SCHOOL.env(render_mode="rgb_array"), str(tmp_path / "pettingzoo"))
    aec.reset(seed=1)
    aec.close()
    assert len(list(tmp_path.glob("*/*.mp4"))) == 2


# ------------------------------------------------------------------------------------------------- windows


def shown_env(game: GameDefinition, **options: Any) -> Any:
    env = game.env(render_mode="human", **options)
    env.metadata["render_fps"] = 0
    return env


@games
@pytest.mark.usefixtures("small")
def test_a_window_opens_closes_and_opens_again(game: GameDefinition) -> None:
    env = shown_env(game)
    env.close()
    env.reset(seed=1)
    assert env._window.is_open
    before = pygame.surfarray.array3d(env._window._window.get_surface())
    env.step(env.legal_actions()[-1])
    assert not np.array_equal(before, pygame.surfarray.array3d(env._window._window.get_surface()))
    env.close()
    env.close()
    assert not env._window.is_open and not pygame.display.get_init()
    assert env.render() is None
    assert env._window.is_open
    env.close()


@pytest.mark.usefixtures("small")
def test_a_window_that_somebody_closes_stays_closed() -> None:
    env, other = shown_env(PEASY), shown_env(PEASY)
    env.reset(seed=1)
    other.reset(seed=1)
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=env._window._window))
    env.step(env.legal_actions()[0])
    assert not env._window.is_open
    assert other._window.is_open
    env.render()
    env.reset()
    assert not env._window.is_open
    env.close()
    env.reset()
    assert env._window.is_open
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.render()
    assert not env._window.is_open and not other._window.is_open
    other.close()


@pytest.mark.usefixtures("small")
def test_a_window_survives_the_end_of_pygame() -> None:
    env, other = shown_env(PEASY), shown_env(PEASY)
    env.reset(seed=1)
    pygame.quit()
    env.render()
    assert env._window._is_alive()
    pygame.quit()
    pygame.display.init()
    other.reset(seed=1)  # may get the number of the window that is gone
    env.render()
    assert env._window._is_alive() and other._window._is_alive()
    assert len(frames._open) == 2
    other.close()
    pygame.quit()
    env.close()
    assert not env._window.is_open


@pytest.mark.usefixtures("small")
def test_the_queue_of_events_is_emptied_unless_another_part_reads_it() -> None:
    env = shown_env(PEASY)
    env.reset(seed=1)
    pygame.event.post(pygame.event.Event(pygame.USEREVENT))
    env.render()
    assert not pygame.event.peek(pygame.USEREVENT)
    pygame.display.set_mode((10, 10))
    pygame.event.post(pygame.event.Event(pygame.USEREVENT))
    env.render()
    assert pygame.event.peek(pygame.USEREVENT)
    env.close()
    assert pygame.display.get_init()  # the other part's window is still there
    pygame.quit()


@pytest.mark.usefixtures("small")
def test_copies_have_windows_of_their_own() -> None:
    env = shown_env(PEASY)
    env.reset(seed=1)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert not twin._window.is_open
        twin.render()
        assert twin._window.is_open and env._window.is_open
        twin.close()
        assert env._window.is_open
    env.close()


def test_the_window_keeps_to_the_frame_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = []
    window = frames.Window("a test")
    one, other = ([svg.Picture(theme, "a test", 30, 20).svg()] for theme in svg.THEMES)
    window.show(one, 0)
    monkeypatch.setattr(window, "_clock", type("Clock", (), {"tick": lambda self, fps: ticks.append(fps)})())
    window.show(other, 2)
    window.show(other, 2)  # is there already
    window.show(one, 3)
    window.close()
    assert ticks == [2, 3]


# ------------------------------------------------------------------------------------------------- refusals


def test_a_game_without_pictures_refuses_them() -> None:
    tiny = tiny_v0.GAME
    assert tiny.draw is None
    for mode in ("rgb_array", "human"):
        for make in (tiny.env, tiny.raw_env):
            with pytest.raises(
                easyenvs.OptionError, match=rf"render_mode='{mode}' .* None, 'ansi': tiny_v0 has no module draw"
            ):
                make(render_mode=mode)
    env = tiny.env(render_mode="ansi")
    assert env.metadata["render_modes"] == ["ansi"]
    env.reset(seed=1)
    with pytest.raises(NotImplementedError, match="tiny_v0 has no module draw"):
        env.picture_for("player_0")


@pytest.mark.parametrize(("module", "mode"), [("resvg_py", "rgb_array"), ("pygame", "rgb_array"), ("pygame", "human")])
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, module: str, mode: str) -> None:
    monkeypatch.setattr(frames, "find_spec", lambda name: None if name == module else object())
    makers: list[Callable[..., Any]] = [PEASY.env, PEASY.raw_env, learner_of_peasy, learners_of_peasy]
    for make in makers:
        with pytest.raises(easyenvs.MissingExtraError, match=rf'pip install "easyenvs\[render\]" \({module} can'):
            make(render_mode=mode)
    PEASY.env(render_mode="ansi")


def learner_of_peasy(**options: Any) -> Any:
    return gymnasium.make("easyenvs/Peasy-v0", **options)


def learners_of_peasy(**options: Any) -> Any:
    return gymnasium.make_vec("easyenvs/Peasy-v0", 2, vectorization_mode="vector_entry_point", **options)


def test_before_reset() -> None:
    env = PEASY.env(render_mode="rgb_array")
    with pytest.raises(AssertionError, match="reset"):
        env.render()
    with pytest.raises(easyenvs.NotResetError, match="reset"):
        env.picture_for("player_0")
    with pytest.raises(easyenvs.NotResetError, match="reset"):
        PEASY.raw_env(render_mode="human").render()
    with pytest.raises(easyenvs.NotResetError, match="reset"):
        learner(PEASY, render_mode="rgb_array").unwrapped.render()


@pytest.mark.usefixtures("small")
def test_dead_steps_can_be_rendered() -> None:
    env = shown_env(PEASY, num_rounds=1)
    env.reset(seed=1)
    env.close()
    env._window.dismiss()
    while not any(env.terminations.values()):
        env.step(int(policies.random_policy(env.decision())[0]))
    env.close()
    while env.agents:
        env.step(None)
        env.render()
    env.close()


# ------------------------------------------------------------------------------------------------- notebooks


@games
def test_notebooks(game: GameDefinition) -> None:
    for env in (game.env(num_players=3), learner(game, num_players=3).unwrapped):
        assert env._repr_html_() == f"<p>{game.id}, 3 players: call reset() to deal a game.</p>"
        env.reset(seed=1)
        ElementTree.fromstring(env._repr_html_())
    batch = game.batch(6, seed=1)
    html = batch._repr_html_()
    assert html.count("<svg ") == 4
    assert html.endswith("4 games shown, 2 more</p>")
    ElementTree.fromstring(f"<div>{html}</div>")
    assert "1 game shown</p>" in game.batch(1)._repr_html_()
    stepped(batch, 600)
    assert (batch.player < 0).all()
    assert "the game is over" in batch._repr_html_() and "· rank 1" in batch._repr_html_()


def test_notebooks_of_a_game_without_pictures() -> None:
    batch = tiny_v0.GAME.batch(6, seed=1)
    assert batch._repr_html_().count("<pre>") == 4
    env = tiny_v0.GAME.env()
    env.reset(seed=1)
    assert env._repr_html_().startswith("<pre>player_")


def test_frames_print_nothing() -> None:
    code = (
        "from easyenvs.adapters.frames import rasterise\n"
        "from easyenvs.core.svg import Picture\n"
        "rasterise(Picture('light', 'a test').svg())\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
