"""Watching a record: the page, in Python and in Chromium; the animation; the command."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from typer.testing import CliRunner

import easyenvs
from easyenvs.adapters import frames as frames_of
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import Decisions, Policy, decisions, load_policy, probabilities_of, random_policy
from easyenvs.peasy_v0.cards import card_name
from easyenvs.records import Fault, Record, Recording, play_recorded, replay, write_records
from easyenvs.school_v0 import draw as school_draw
from easyenvs.school_v0.cards import JOKER
from easyenvs.watch import command, write_gif, write_html
from easyenvs.watch.film import OPEN, Film, Viewer
from easyenvs.watch.page import AS_VARIABLES, edits, embedded
from tests.chromium import chromium, violations
from tests.games import tiny_v0

PEASY, SCHOOL = easyenvs.peasy_v0.GAME, easyenvs.school_v0.GAME
games = pytest.mark.parametrize("game", [PEASY, SCHOOL], ids=lambda game: game.id)
HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror="alert(2)">',
    "<!--<script>\u2028\u2029&amp;\u202e{{data}}",
    "' onload=alert(4) ]]>",
)


@cache
def played(game: GameDefinition, players: int = 2, cycles: int | None = None) -> Record:
    """A game of heuristics; the first decisions of one with `cycles`."""
    rules = {"num_players": players, "max_cycles": cycles}
    return play_recorded(game, ["heuristic"] * players, [3], rules)[0]


def hostile(game: GameDefinition) -> Record:
    """A record in which every text is an attack, and which ends with a fault."""
    env: Any = game.env(num_players=4)
    env.reset(seed=2)
    recording = Recording(env, policies=HOSTILE, notes={HOSTILE[0]: [HOSTILE[1], HOSTILE[2]]})
    for _ in range(4):
        recording.step(env.unwrapped.legal_actions()[0])
    return recording.record(Fault(1, HOSTILE[0] + HOSTILE[1]))


class Page(HTMLParser):
    """A page's elements, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data

    @property
    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.scripts[0])
        return data


def page_of(record: Record, folder: Path, **options: Any) -> tuple[str, Page]:
    file = folder / "page.html"
    write_html(record, file, **options)
    text = file.read_text(encoding="utf-8")
    return text, Page(text)


def apply(before: list[int], changes: list[list[int]]) -> list[int]:
    """What `edits` describes, as the page's script does it."""
    after, at = [], 0
    for start, taken, *put in changes:
        after += before[at:start] + put
        at = start + taken
    return after + before[at:]


# ------------------------------------------------------------------------------------------------- the page


@pytest.mark.parametrize("players", [2, 3, 4])
@games
def test_the_page_holds_every_picture(game: GameDefinition, players: int, tmp_path: Path) -> None:
    record = played(game, players, 5)
    film = Film(record)
    data = page_of(record, tmp_path)[1].data
    assert len(data["pictures"]) == players + 1
    viewers: list[Viewer] = [OPEN, *range(players)]
    for viewer, changes in zip(viewers, data["pictures"], strict=True):
        picture: list[int] = []
        assert len(changes) == len(film) + 1
        for k, change in enumerate(changes):
            picture = apply(picture, change)
            shown = "".join(data["pieces"][number] for number in picture)
            assert shown == film.picture(k, viewer, AS_VARIABLES).replace(' style="max-width:100%;height:auto"', "")


@games
def test_the_page_holds_the_decisions(game: GameDefinition, tmp_path: Path) -> None:
    record = played(game)
    again = replay(record)
    data = page_of(record, tmp_path)[1].data
    names = data["actions"]
    assert [names[action] for action in data["played"]] == list(record.actions)
    assert data["players"] == list(record.players)
    for k in range(0, len(again), 5):
        assert [names[action] for action in data["legal"][k]] == again.legal(k)
    assert record.result is not None
    assert data["scores"][-1] == list(record.result.scores)
    assert data["result"] == {"ranks": list(record.result.ranks), "truncated": False}
    assert data["actor"] is None
    assert data["seed"] == "3"
    assert [score for scores in data["scores"][:2] for score in scores] == [0] * 4


@games
def test_a_whole_game_is_small_and_the_same_every_time(game: GameDefinition, tmp_path: Path) -> None:
    assert len(page_of(played(game), tmp_path)[0]) < 1_500_000
    short = played(game, 2, 5)
    text = page_of(short, tmp_path, policies=["random"])[0]
    assert text == page_of(short, tmp_path, policies=["random"])[0]


@games
def test_the_page_needs_nothing_else(game: GameDefinition, tmp_path: Path) -> None:
    text, page = page_of(played(game, 2, 6), tmp_path)
    assert set(re.findall(r"\w+://[^\"'\s\\]*", text)) == {"http://www.w3.org/2000/svg"}
    for _, attributes in page.elements:
        assert not {"src", "href", "style", "srcset", "action"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
    policy = next(a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert re.fullmatch(
        r"default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}='; "
        "base-uri 'none'; form-action 'none'",
        policy,
    )


@games
def test_texts_of_a_record_are_harmless(game: GameDefinition, tmp_path: Path) -> None:
    record = hostile(game)
    page = page_of(record, tmp_path)[1]
    clean = page_of(played(game, 4, 4), tmp_path)[1]
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in clean.elements]
    assert len(page.scripts) == 2 and page.scripts[1] == clean.scripts[1]
    assert not re.search("[<>&\u2028\u2029\u202e]", page.scripts[0])
    assert page.data["policies"][:2] == list(HOSTILE[:2])
    assert page.data["policies"][2] == "<!--<script> &amp; {{data}}"  # what can't be printed is a space
    assert page.data["fault"] == {"seat": 1, "reason": HOSTILE[0] + HOSTILE[1]}
    assert json.loads(page.data["notes"]) == record.notes


def test_embedded_json_means_the_same() -> None:
    value = {name: [name, 1.5, None, True] for name in HOSTILE}
    text = embedded(value)
    assert text.isascii() and not set("<>&") & set(text)
    assert json.loads(text) == value


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=12), st.lists(st.integers(0, 6), max_size=12))
def test_edits_lead_from_one_list_to_the_other(before: list[int], after: list[int]) -> None:
    assert apply(before, edits(before, after)) == after


def test_edits_take_what_has_changed_and_no_more() -> None:
    before = list(range(100))
    after = [*before[:20], 200, *before[21:60], 300, 301, *before[60:90], *before[95:]]
    assert edits(before, after) == [[20, 1, 200], [60, 0, 300, 301], [90, 5]]


@pytest.mark.parametrize(
    ("theme", "begins"), [(None, '<html lang="en">'), ("dark", '<html lang="en" data-theme="dark">')]
)
def test_the_theme_and_the_seat_that_the_page_opens_with(theme: str | None, begins: str, tmp_path: Path) -> None:
    text, page = page_of(played(PEASY, 2, 3), tmp_path, theme=theme, seat=1)
    assert begins in text
    assert page.data["viewer"] == 1


def test_a_record_that_has_not_begun_and_one_from_a_position(tmp_path: Path) -> None:
    env: Any = SCHOOL.env(num_players=3)
    env.reset(seed=5)
    assert page_of(Recording(env).record(), tmp_path)[1].data["played"] == []
    for _ in range(10):
        env.step(env.unwrapped.legal_actions()[0])
    recording = Recording(env, policies=["a", None, None])
    recording.step(env.unwrapped.legal_actions()[0])
    data = page_of(recording.record(), tmp_path, policies=["random"])[1].data
    assert (data["seed"], data["result"]) == (None, None)
    assert data["seats"] == ["0 · a", "player_1", "player_2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seat": 2}, r"seat=2 is not accepted: seat must be a seat, 0 … 1, or 'open'"),
        ({"seat": "all"}, "seat='all'"),
        ({"seat": True}, "seat=True"),
        ({"theme": "sepia"}, r"theme='sepia' .* one of None, 'light', 'dark'"),
        ({"policies": ["kasparov"]}, "'kasparov' names no policy of peasy_v0"),
        ({"policies": [load_policy("trained", SCHOOL)]}, r"no agent was trained for|these weights play school_v0"),
    ],
)
def test_what_the_page_refuses(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        write_html(played(PEASY, 2, 2), tmp_path / "page.html", **options)
    assert not list(tmp_path.iterdir())


def test_a_record_that_is_impossible_and_a_game_without_pictures(tmp_path: Path) -> None:
    record = played(PEASY, 2, 2)
    wrong = Record(record.game, record.rules, seed=4, actions=record.actions[::-1], players=record.players)
    with pytest.raises(easyenvs.RecordError, match="decision 0"):
        write_html(wrong, tmp_path / "page.html")
    easyenvs.register(tiny_v0)
    with pytest.raises(easyenvs.OptionError, match="tiny_v0 has no module draw"):
        write_html(Record("tiny_v0", {}, seed=1), tmp_path / "page.html")


# ------------------------------------------------------------------------------------------------- what policies think


def test_the_page_tells_what_policies_think(tmp_path: Path) -> None:
    record = played(SCHOOL)
    trained = load_policy("trained", SCHOOL)
    data = page_of(record, tmp_path, policies=[trained, "random", "heuristic"])[1].data
    network, chance, heuristic = data["opinions"]
    assert [opinion["policy"] for opinion in data["opinions"]][1:] == ["random", "heuristic"]
    assert heuristic["choices"] == data["played"]  # it plays this game, from what its seat may know
    again = replay(record)
    for k in (0, 7, len(again) - 1):
        batch = SCHOOL.batch(1, num_players=2)
        batch.restore(0, again.at(k))
        d = decisions(batch)
        expected: Any = probabilities_of(trained, d)
        legal = np.flatnonzero(d.legal[0])
        assert network["probabilities"][k] == (1000 * expected[0, legal]).round().astype(int).tolist()
        assert chance["probabilities"][k] == [round(1000 / len(legal))] * len(legal)


class Thinks:
    """The random policy, with this to say of what it thinks."""

    def __init__(self, say: Callable[[Decisions], Any]) -> None:
        self.probabilities = say

    def __call__(self, d: Decisions, /) -> Any:
        return random_policy(d)


@pytest.mark.parametrize(
    ("say", "error", "message"),
    [
        (lambda d: d.legal / 1.0, ValueError, "no distributions"),
        (lambda d: d.legal.astype(int), TypeError, r"int64 of shape \(1, 126\); floats \[1, 126\]"),
        (lambda d: np.ones(126) / 126, TypeError, r"shape \(126,\)"),
        (lambda d: np.full((1, 126), np.nan), ValueError, "no distributions"),
        (lambda d: np.ones((1, 126)) / 126, ValueError, "above 0 for illegal actions"),
    ],
)
def test_thoughts_that_are_no_probabilities(say: Any, error: type[Exception], message: str) -> None:
    d = decisions(PEASY.batch(1, seed=1))
    with pytest.raises(error, match=message):
        probabilities_of(Thinks(say), d)


@pytest.mark.parametrize("action", [-1, 0, 126])
def test_a_policy_that_would_play_an_illegal_action(action: int, tmp_path: Path) -> None:
    def always(d: Decisions) -> Any:
        return np.full(len(d), action)

    with pytest.raises(
        easyenvs.IllegalActionError, match=rf"decision \d+: the policy '.*always' would play {action}, "
    ):
        write_html(played(PEASY, 2, 2), tmp_path / "page.html", policies=[always])


def test_a_policy_need_not_say_what_it_thinks() -> None:
    d = decisions(PEASY.batch(5, seed=1))
    silent: Policy = load_policy("heuristic", PEASY)
    assert probabilities_of(silent, d) is None
    given = probabilities_of(random_policy, d)
    assert given is not None
    assert np.array_equal(given, d.legal / d.legal.sum(axis=1, keepdims=True))


# ------------------------------------------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a record's page; whatever the page complains about, until the test ends, is a failure."""
    contexts: list[Any] = []
    complaints: list[str] = []

    def refuse(dialog: Any) -> None:
        complaints.append(dialog.message)
        dialog.dismiss()

    def open_page(record: Record, *, size: tuple[int, int] = (1280, 900), dark: bool = False, **options: Any) -> Any:
        file = tmp_path / f"{len(contexts)}.html"
        write_html(record, file, **options)
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light", offline=True
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", refuse)
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def go(page: Any, k: int) -> None:
    """To a position, by the slider."""
    page.locator("#slider").fill(str(k))


def look(page: Any, view: Viewer | str) -> None:
    page.locator(f'#views [data-view="{view}"]').click()


OTHERS, OWN = (52, 276), (526, 756)
"""Where a table of two has the other seat, and one's own: from y to y."""


def texts(page: Any, between: tuple[int, int] = (0, 800)) -> list[str]:
    """The texts in a part of the picture that is shown."""
    found: list[list[Any]] = page.evaluate(
        "[...document.querySelectorAll('#picture text')].map(t => [t.textContent, Number(t.getAttribute('y'))])"
    )
    return [text for text, y in found if between[0] < y < between[1]]


def peasy_cards(page: Any, between: tuple[int, int]) -> list[str]:
    """The cards in a seat's panel as they are drawn: `R5` a card, `/R5` and `/R5?` known ones that are face down."""
    found, shown = [], texts(page, between)
    for text, following in zip(shown, [*shown[1:], ""], strict=True):
        if text in "RPGBYO" and following.isdigit():
            found.append(text + following)
        elif re.fullmatch(r"[RPGBYO]\d+\??", text):
            found.append("/" + text)
    return found


def peasy_expected(snapshot: dict[str, Any], seat: int, viewer: Viewer) -> list[str]:
    found = []
    for pile in snapshot["rows"][seat]:
        if pile["down"] is not None and (viewer == OPEN or pile["known"]):
            found.append("/" + card_name(pile["down"]) + ("" if pile["known"] else "?"))
        if pile["up"] is not None:
            found.append(card_name(pile["up"]))
    if viewer in (OPEN, seat):
        found += [card_name(card) for card in snapshot["hands"][seat]]
    return found


def school_cards(page: Any, between: tuple[int, int]) -> list[str]:
    shown = texts(page, between)
    return [letter + count for letter, count in pairwise(shown) if count.startswith("×")]


def school_expected(snapshot: dict[str, Any], seat: int, viewer: Viewer) -> list[str]:
    """All that lies in front of a seat, and the jokers of its victory pile, which have no points."""
    counts = [*snapshot["face_up"][seat], snapshot["stress"][seat], snapshot["victory"][seat].count(JOKER)]
    kinds = [*school_draw.FRONT, JOKER]
    return [f"{school_draw.FACES[kind].letter}×{count}" for kind, count in zip(kinds, counts, strict=True) if count]


CARDS: dict[str, tuple[Callable[..., list[str]], Callable[..., list[str]]]] = {
    "peasy_v0": (peasy_cards, peasy_expected),
    "school_v0": (school_cards, school_expected),
}


@games
def test_it_shows_the_right_cards_and_no_others(game: GameDefinition, opened: Callable[..., Any]) -> None:
    record = played(game)
    again = replay(record)
    page = opened(record)
    shown, expected = CARDS[game.id]
    for k in (0, 3, len(again) // 2, len(again) - 1, len(again)):
        go(page, k)
        snapshot = again.at(k)
        viewers: list[Viewer] = [OPEN, 0, 1]
        for viewer in viewers:
            look(page, viewer)
            below = viewer if isinstance(viewer, int) else 0
            assert shown(page, OWN) == expected(snapshot, below, viewer)
            assert shown(page, OTHERS) == expected(snapshot, 1 - below, viewer)
            has_order = any("the next card first" in text for text in texts(page))
            assert has_order == (viewer == OPEN)
            # What a seat may play tells of its hand.
            listed = page.locator("#legal .name").all_text_contents()
            actor = snapshot["player"]
            may_see = viewer in (OPEN, actor) and k < len(again)
            assert sorted(listed) == sorted(again.legal(k) if may_see else [])
            if actor is not None and not may_see:
                assert f"Only {actor} · heuristic knows" in page.locator("#legal-note").text_content()
        look(page, "actor")
        if snapshot["player"] is not None:
            assert f"as {snapshot['player']} · heuristic may know it" in texts(page)


@games
def test_it_steps_through_a_whole_game_by_keyboard(game: GameDefinition, opened: Callable[..., Any]) -> None:
    record = played(game)
    last = len(record.actions)
    page = opened(record, size=(390, 844))
    for k in range(last + 1):
        count, happened, label = page.evaluate(
            "[...['count', 'happened'].map(id => document.getElementById(id).textContent),"
            " document.querySelector('#picture svg').getAttribute('aria-label')]"
        )
        assert count == f"{k} / {last}"
        assert (record.actions[k - 1] if k else "begins") in happened
        assert f"decision {k}:" in label
        page.keyboard.press("ArrowRight")
    scores = page.locator("#seats tbody td:nth-child(3)").all_text_contents()
    places = page.locator("#seats tbody td:nth-child(4)").all_text_contents()
    assert record.result is not None
    assert [float(n) for n in scores + places] == [*record.result.scores, *record.result.ranks]
    assert page.locator("#happened").text_content().endswith("the game is over.")
    for key, k in (
        ("ArrowLeft", last - 1),
        ("Shift+ArrowLeft", last - 11),
        ("Home", 0),
        ("ArrowLeft", 0),
        ("End", last),
    ):
        page.keyboard.press(key)
        assert page.locator("#count").text_content() == f"{k} / {last}"


def test_it_plays_by_itself_and_pauses(opened: Callable[..., Any]) -> None:
    record = played(PEASY, 2, 6)
    last = len(record.actions)
    page = opened(record)
    page.locator("#speed").select_option("10")
    page.locator("h1").click()
    page.keyboard.press(" ")
    assert page.get_by_role("button", name="Pause").is_visible()
    page.locator("#count", has_text=f"{last} / {last}").wait_for()
    assert page.get_by_role("button", name="Play").is_visible()
    page.keyboard.press(" ")  # from the beginning
    page.locator("#count", has_text=re.compile("^[1-9]")).wait_for()
    page.get_by_role("button", name="Pause").click()
    assert page.get_by_role("button", name="Play").is_visible()


@pytest.mark.parametrize(("dark", "size"), [(False, (1280, 900)), (True, (390, 844))], ids=["desktop", "phone"])
def test_it_is_accessible_and_fits(dark: bool, size: tuple[int, int], opened: Callable[..., Any]) -> None:
    page = opened(played(SCHOOL, 2, 20), size=size, dark=dark, policies=["trained", "heuristic"])
    for view, k in (("actor", 30), (OPEN, 5)):
        look(page, view)
        go(page, k)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    small = page.evaluate(
        "[...document.querySelectorAll('button, select, input, summary')].map(e => [e.id, e.getBoundingClientRect()])"
        ".filter(([, r]) => r.width && (r.width < 44 || r.height < 44)).map(([id]) => id)"
    )
    assert small == []
    bars = page.locator("#legal li").first.locator(".number").all_text_contents()
    assert len(bars) == 1 and bars[0].endswith("%")
    page.locator("#theme").click()
    assert page.evaluate("document.documentElement.dataset.theme") == ("light" if dark else "dark")
    assert violations(page) == []


@games
def test_hostile_texts_are_shown_as_texts(game: GameDefinition, opened: Callable[..., Any]) -> None:
    page = opened(hostile(game))
    page.locator("summary").click()
    assert page.locator("img").count() == 0
    assert HOSTILE[0] in page.locator("#seats").text_content()
    assert page.locator("#fault").text_content() == f"1 · {HOSTILE[1][:27]}… failed: {HOSTILE[0]}{HOSTILE[1]}"
    page.keyboard.press("End")
    assert page.locator("#picture svg script, #picture svg img").count() == 0
    assert page.locator("#happened").text_content().endswith("the record ends here.")


# ------------------------------------------------------------------------------------------------- the animation


@games
def test_the_animation_has_a_picture_for_every_position(game: GameDefinition, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    record = played(game, 2, 3)
    file = tmp_path / "game.gif"
    count = len(record.actions) + 1
    assert write_gif(record, file, seat=1, width=360, fps=4) == count
    animation: Any
    with Image.open(file) as animation:
        assert (animation.size, animation.n_frames, animation.info["loop"]) == ((360, 240), count, 0)
        frames, durations = [], []
        for index in range(count):
            animation.seek(index)
            durations.append(animation.info["duration"])
            frames.append(np.asarray(animation.convert("RGB")))
    assert durations == [250] * (count - 1) + [3000]
    assert all(len(np.unique(frame.reshape(-1, 3), axis=0)) > 12 for frame in frames)
    film = Film(record)
    for k, frame in enumerate(frames):
        exact = frames_of.rasterise(film.picture(k, 1, "light"), width=360)
        assert np.abs(frame.astype(int) - exact).mean() < 3
    changed = [(a != b).any(axis=2).mean() for a, b in pairwise(frames)]
    assert all(0 < share < 0.5 for share in changed)
    assert file.stat().st_size < 150_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 10}, r"width=10 is not accepted: width must be an integer 120 … 2400"),
        ({"fps": 0}, "fps=0"),
        ({"fps": float("nan")}, "fps=nan"),
        ({"seat": -1}, "seat=-1"),
        ({"theme": "sepia"}, "theme='sepia'"),
    ],
)
def test_what_the_animation_refuses(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    with pytest.raises(easyenvs.OptionError, match=message):
        write_gif(played(PEASY, 2, 2), tmp_path / "game.gif", **options)
    assert not list(tmp_path.iterdir())


def test_the_animation_without_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("easyenvs.watch.gif.find_spec", lambda name: None if name == "PIL" else name)
    with pytest.raises(easyenvs.MissingExtraError, match=r"easyenvs\[render\].* \(PIL can't be found\)"):
        write_gif(played(PEASY, 2, 2), tmp_path / "game.gif")


# ------------------------------------------------------------------------------------------------- the command


@pytest.fixture
def run() -> Callable[..., Any]:
    app = typer.Typer()
    app.command()(command.replay)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_command_prints_a_game(run: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    record = played(PEASY)
    write_records(file, [hostile(PEASY), record])
    done = run(file, "--index", 1)
    assert done.exit_code == 0
    printed = [line.split() for line in done.stdout.splitlines()]
    for k, (seat, action) in enumerate(zip(record.players, record.actions, strict=True)):
        assert [str(k), "seat", str(seat), *action.split()] in printed
    assert record.result is not None
    assert ["1", "heuristic", str(record.result.scores[1]), f"{record.result.ranks[1]:g}"] in printed
    assert f"over after {len(record.actions)} decisions" in done.stdout
    done = run(file)
    assert "not played to its end: 4 decisions" in done.stdout
    assert "seat 1 failed" in done.stdout
    assert "\u202e" not in done.stdout


def test_the_command_writes_files(run: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    file, html, gif = (tmp_path / name for name in ("games.jsonl", "game.html", "game.gif"))
    record = played(SCHOOL, 2, 1)
    count = len(record.actions)
    write_records(file, [record])
    done = run(file, "--html", html, "--gif", gif, "--seat", 1, "--policy", "random", "--policy", "heuristic")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [f"{html}: {count} decisions", f"{gif}: {count + 1} pictures"]
    text = html.read_text(encoding="utf-8")
    assert text == page_of(record, tmp_path, seat=1, policies=["random", "heuristic"])[0]
    assert gif.stat().st_size > 5_000
    assert "seat 0" in run(file, "--html", html, "--text").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--index", "1"], "the file has 1 records"),
        (["--seat", "2", "--html", "x.html"], "seat=2 is not accepted"),
        (["--seat", "me"], "--seat is 'me'"),
        (["--policy", "random"], "--policy is for the page"),
        (["--policy", "kasparov", "--html", "x.html"], "names no policy"),
        (["--html", "no/such/folder/x.html"], "No such file"),
    ],
)
def test_wrong_arguments_of_the_command(
    arguments: list[str], message: str, run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_records("games.jsonl", [played(PEASY, 2, 2)])
    done = run("games.jsonl", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert isinstance(done.exception, SystemExit)


def test_a_wrong_file_for_the_command(run: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    assert run(file).exit_code == 2
    file.write_text('{"record": "\x1b[31m"}\n', encoding="utf-8")
    done = run(file)
    assert done.exit_code == 2
    assert "games.jsonl, line 1" in done.stderr
    write_records(file, [played(PEASY, 2, 3)])
    file.write_text(file.read_text(encoding="utf-8").replace('"seat": 0', '"seat": 1', 1), encoding="utf-8")
    done = run(file)
    assert done.exit_code == 2
    assert "line 2: decision 0" in done.stderr or "line 3: decision 1" in done.stderr
