"""People at the table: the session that every interface stands on, the program in the terminal, and its command."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import re
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import easyenvs
from easyenvs.core.policies import agent_names, load_policy
from easyenvs.play import HUMAN, PolicyError, Session

pytest.importorskip("textual")
typer = pytest.importorskip("typer")

from textual.geometry import Region  # noqa: E402
from textual.pilot import Pilot  # noqa: E402
from textual.widgets import Input, OptionList, Static  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from easyenvs.core.panels import Card, Line, Words  # noqa: E402
from easyenvs.play import terminal  # noqa: E402
from easyenvs.play.command import parse_rules, play  # noqa: E402
from easyenvs.play.terminal import Curtain, PlayApp, Question, RulesScreen  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
GAMES = ["peasy_v0", "school_v0"]
CARD = re.compile(r"\b[RPGBYO](?:10|[1-9])\b")


def failing(d: Any) -> Any:
    raise LookupError("no idea")


def cheating(d: Any) -> Any:
    return np.argmin(d.legal, axis=1)


class Sure:
    """Plays the last legal action, and is sure of it."""

    def __call__(self, d: Any) -> Any:
        return self.probabilities(d).argmax(axis=1)

    def probabilities(self, d: Any) -> Any:
        last = d.legal.shape[1] - 1 - d.legal[:, ::-1].argmax(axis=1)
        return np.eye(d.legal.shape[1])[last]


def until_human(session: Session) -> Session:
    while not (session.over or session.human_to_act):
        session.advance()
    return session


def act_first(session: Session) -> None:
    """The human's first legal action."""
    assert session.player is not None
    session.act(next(iter(session.legal_for(session.player))))


# ------------------------------------------------------------------------------------------------- the session


@pytest.mark.parametrize("game", GAMES)
def test_a_session_is_a_game_of_these_seats(game: str) -> None:
    """Policies play as they do everywhere else; the record says all, and is possible by the rules."""
    session = Session(game, [HUMAN, "heuristic", "random"], seed=7, policy_seed=3)
    assert session.humans == (0,) and session.num_players == 3
    heuristic = load_policy("heuristic", session.game)
    env = session.game.raw_env(num_players=3)
    env.reset(seed=7)
    while not session.over:
        assert session.player == env.seat_to_act and session.scores == [env.result(seat)[0] for seat in range(3)]
        for seat in range(3):
            expected = env.legal_actions() if seat == env.seat_to_act else []
            legal = session.legal_for(seat)
            assert list(legal) == expected and [*legal.values()] == [env.action_name(action) for action in expected]
        if session.human_to_act:
            move = session.act(env.legal_actions()[-1])
        else:
            policy = heuristic if session.player == 1 else load_policy("random", session.game)
            chosen = int(policy(env.decision(3))[0])
            played = session.advance()
            assert played is not None and played.action == chosen
            move = played
        assert move.name == env.action_name(move.action)
        env.step(move.action)
    assert session.player is None and env.over
    assert session.ranks == [env.result(seat)[1] for seat in range(3)]
    record = session.record()
    assert record.policies == (None, "heuristic", "random") and record.seed == 7
    assert record.notes == {"policy_seed": 3}
    again = easyenvs.replay(record)
    assert again.at(len(again)) == env.snapshot()
    assert record.result is not None and list(record.result.scores) == session.scores


@pytest.mark.parametrize("game", GAMES)
def test_a_view_is_what_the_seat_may_know(game: str) -> None:
    session = until_human(Session(game, ["greedy", HUMAN], seed=2))
    env = session.game.raw_env(num_players=2)
    env.reset(options={"snapshot": easyenvs.replay(session.record()).at(len(session.moves))})
    for seat in range(2):
        text = session.game.notation.view_text(session.view_for(seat))
        assert text in env.render_for(f"player_{seat}")


@pytest.mark.parametrize("game", GAMES)
def test_undo_goes_back_to_the_last_own_decision(game: str) -> None:
    """To exactly the position before it; the same decision leads to exactly the same game again."""
    session = until_human(Session(game, ["heuristic", HUMAN, "random"], seed=5))
    assert not session.can_undo()
    with pytest.raises(RuntimeError, match="nothing to take back"):
        session.undo()
    for _ in range(12):
        moves, position = session.moves, session.record()
        views = [session.view_for(seat) for seat in range(3)]
        act_first(session)
        until_human(session)
        if session.over:
            break
        after, seen_after = session.moves, [session.view_for(seat) for seat in range(3)]
        undone = session.undo()
        assert undone == after[len(moves)] and undone.seat == 1
        assert session.moves == moves and session.record() == position and session.player == 1
        assert [session.view_for(seat) for seat in range(3)] == views
        session.act(undone.action)
        until_human(session)
        assert session.moves == after and [session.view_for(seat) for seat in range(3)] == seen_after
    assert len(session.moves) > 12


def test_undo_of_several_humans_is_of_the_own_decision() -> None:
    session = Session("peasy_v0", [HUMAN, HUMAN], seed=5)
    first = session.player
    assert first is not None
    while session.player == first:
        act_first(session)
    other = session.player
    assert other == 1 - first and not session.can_undo(other) and not session.can_undo()
    assert session.can_undo(first)
    count = len(session.moves)
    act_first(session)
    while session.player == other:
        act_first(session)
    assert session.undo(other).seat == other and session.player == other and len(session.moves) >= count
    with pytest.raises(ValueError, match="seat=2"):
        session.undo(2)


def test_undo_of_the_last_decision_of_a_game_opens_it_again() -> None:
    session = Session("peasy_v0", [HUMAN, "greedy"], seed=1, num_rounds=1)
    while not until_human(session).over:
        act_first(session)
    assert session.ranks is not None
    session.undo()
    assert not session.over and session.human_to_act and session.ranks is None and session.record().result is None


@pytest.mark.parametrize("game", GAMES)
def test_hints_are_legal_and_change_nothing(game: str) -> None:
    session = until_human(Session(game, ["random", HUMAN], seed=3))
    for agent in ("random", "greedy", "heuristic"):
        before = session.record()
        hint = session.hint(agent)
        assert session.legal_for(1)[hint.action] == hint.name
        says_more = hasattr(load_policy(agent, session.game), "probabilities")
        assert (hint.probabilities is not None) == says_more
        if hint.probabilities is not None:
            assert sum(hint.probabilities.values()) == pytest.approx(1)
        assert session.record() == before and session.hint(agent) == hint
    sure = session.hint(Sure())
    legal = session.legal_for(1)
    assert sure.action == max(legal) and sure.probabilities == {action: float(action == max(legal)) for action in legal}
    with pytest.raises(PolicyError, match="LookupError: no idea"):
        session.hint(failing)
    with pytest.raises(ValueError, match="names no policy"):
        session.hint("nobody")
    assert session.human_to_act and session.fault is None


def test_a_hint_knows_what_the_seat_knows() -> None:
    """An agent that is asked for a hint plays as it would in that seat."""
    session = until_human(Session("peasy_v0", [HUMAN, "heuristic"], seed=8, policy_seed=4))
    twin = Session("peasy_v0", ["heuristic", "heuristic"], seed=8, policy_seed=4)
    while not session.over:
        if session.human_to_act:
            session.act(session.hint("heuristic").action)
        else:
            session.advance()
        twin.advance()
    assert twin.moves == session.moves and twin.over


@pytest.mark.parametrize(
    ("policy", "reason"), [(failing, "LookupError: no idea"), (cheating, "illegal action: "), (len, "TypeError: ")]
)
def test_a_policy_that_fails_ends_the_game(policy: Any, reason: str) -> None:
    session = until_human(Session("peasy_v0", [HUMAN, policy], seed=1))
    while not session.over:
        act_first(session)
        until_human(session)
    assert session.fault is not None and session.fault.seat == 1 and session.fault.reason.startswith(reason)
    assert session.player is None and session.ranks is None and session.legal_for(0) == {} == session.legal_for(1)
    record = session.record()
    assert record.fault == session.fault and record.result is None
    assert len(easyenvs.replay(record)) == len(session.moves)
    with pytest.raises(RuntimeError, match="the game is over"):
        session.advance()
    with pytest.raises(RuntimeError, match="the game is over"):
        session.act(0)
    if session.can_undo():
        session.undo()
        assert session.fault is None and session.human_to_act


def test_a_failure_is_kept_in_a_form_that_a_record_can_hold() -> None:
    def rambling(d: Any) -> Any:
        raise ValueError("\ud800" + "x" * 10_000)

    session = Session("peasy_v0", [rambling, rambling], seed=1)
    assert session.advance() is None
    assert session.fault is not None and len(session.fault.reason) <= 500
    assert session.record().fault == session.fault


def test_who_may_act() -> None:
    session = Session("peasy_v0", [HUMAN, "greedy"], seed=1)
    if session.human_to_act:
        with pytest.raises(RuntimeError, match="seat 0 is, a human"):
            session.advance()
    until_human(session)
    legal = session.legal_for(0)
    illegal = next(action for action in range(126) if action not in legal)
    before = session.record()
    for action in (illegal, -1, 126, "flip", 1.0, None, True):
        with pytest.raises(easyenvs.IllegalActionError, match="is not legal; legal are"):
            session.act(action)
    assert session.record() == before
    watched = Session("peasy_v0", ["greedy", "greedy"], seed=1)
    with pytest.raises(RuntimeError, match="a policy"):
        watched.act(0)
    with pytest.raises(RuntimeError, match="a policy"):
        watched.hint("greedy")


@pytest.mark.parametrize(
    ("game", "seats", "options", "message"),
    [
        ("chess_v0", [HUMAN, HUMAN], {}, "is no game"),
        ("peasy_v0", [HUMAN], {}, "num_players=1"),
        ("peasy_v0", [HUMAN] * 7, {}, "num_players=7"),
        ("peasy_v0", "human,random", {}, "seats="),
        ("peasy_v0", [HUMAN, "nobody"], {}, "names no policy"),
        ("peasy_v0", [HUMAN, 3], {}, "is no policy"),
        ("peasy_v0", [HUMAN, HUMAN], {"seed": -1}, "seed=-1"),
        ("peasy_v0", [HUMAN, HUMAN], {"policy_seed": "x"}, "policy_seed='x'"),
        ("peasy_v0", [HUMAN, HUMAN], {"num_players": 3}, "the number of seats, 2"),
        ("peasy_v0", [HUMAN, HUMAN], {"num_rounds": 0}, "num_rounds=0"),
        ("peasy_v0", [HUMAN, HUMAN], {"colour": 0}, "no option 'colour'"),
    ],
)
def test_what_a_session_refuses(game: str, seats: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        Session(game, seats, **options)


def test_the_next_game_is_another_one_by_the_same_rules() -> None:
    session = Session("peasy_v0", [HUMAN, Sure()], seed=1, policy_seed=2, num_rounds=1)
    following = session.next_game()
    assert following.seats == session.seats and following.rules == session.rules and following.policy_seed == 2
    games = session.game.batch(1, seed=[1], num_rounds=1)
    games.reset()
    assert following.seed == games.seeds[0]
    assert following.seat_name(1).endswith(":Sure") and following.seat_name(0) == HUMAN


# ------------------------------------------------------------------------------------------------- lines


def test_lines_are_wrapped_between_cards() -> None:
    cards = tuple(Card(f"R{value}", "#c0322b", "#ffffff") for value in range(1, 9))
    text = terminal.set_line(Line((Words("hand"), *cards)), 20).plain.splitlines()
    assert text == ["hand  R1   R2   R3 ", "      R4   R5   R6 ", "      R7   R8 "]
    assert all(len(row) <= 20 for row in text)
    tall = terminal.set_line(Line((Words("hand"), *cards[:3]), is_tall=True), 20).plain.splitlines()
    assert [row.split() for row in tall] == [[], ["hand", "R1", "R2"], [], [], [], ["R3"], []]
    words = terminal.set_line(Line((Words("x"), cards[0], Words("1 2 3"), cards[1], Words("4 5"))), 16)
    assert words.plain.splitlines() == ["x  R1  1 2 3", "   R2  4 5"]


@pytest.mark.parametrize("game", GAMES)
def test_every_action_has_its_words(game: str) -> None:
    """What a move means is said for each, and no two are told alike together with their names."""
    definition = easyenvs.find_game(game)
    panels = importlib.import_module(f"{definition.package}.panels")
    names = ["ann", "bob", "cem", "dag", "eva", "fay"]
    for action in range(len(definition.notation.ACTION_NAMES)):
        assert panels.action_line(0, action, names).items
        assert "ann" in panels.move_text(0, action, names)


def test_the_rules_are_those_of_the_docs() -> None:
    """`python docs/make_rules.py` writes them anew."""
    spec = importlib.util.spec_from_file_location("make_rules", ROOT / "docs" / "make_rules.py")
    assert spec is not None and spec.loader is not None
    make_rules = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_rules)
    for name, last in (("peasy_v0", "P18"), ("school_v0", "S20")):
        game = easyenvs.find_game(name)
        text = terminal.rules_text(game)
        assert text == make_rules.rules_of(game)
        assert f"**{last[0]}1** " in text and f"**{last}** " in text
        assert "](" not in text and "†" not in text and ")=" not in text


# ------------------------------------------------------------------------------------------------- the program


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual's pilot waits until the process is idle, which takes long on a busy machine; `settle` waits for events."""

    async def give_way(*durations: float) -> None:
        await asyncio.sleep(0)

    for module in ("app", "pilot"):
        monkeypatch.setattr(f"textual.{module}.wait_for_idle", give_way)


def run(
    session: Session,
    script: Callable[[PlayApp, Pilot[Any]], Awaitable[None]],
    *,
    size: tuple[int, int] = (120, 40),
    **options: Any,
) -> PlayApp:
    """The program in a terminal of its own, while the script presses its keys."""
    app = PlayApp(session, pace=0, **options)

    async def at_the_keyboard() -> None:
        async with app.run_test(size=size) as pilot:
            await settle(app, pilot)
            await script(app, pilot)

    asyncio.run(at_the_keyboard())
    return app


async def settle(app: PlayApp, pilot: Pilot[Any]) -> None:
    """Until the policies have played, and everything is drawn."""
    for _ in range(3):  # an event leads to a message to the parent, this one to a worker, and so on
        await pilot.pause(0)
        await app.workers.wait_for_complete()
    await pilot.pause(0)


async def press(app: PlayApp, pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await pilot.pause(0)
    await settle(app, pilot)


def text_of(widget: Any) -> str:
    """What a widget shows on the screen."""
    lines = widget.render_lines(Region(0, 0, *widget.size))
    return "\n".join("".join(segment.text for segment in line) for line in lines)


def table_of(app: PlayApp) -> str:
    """What the whole screen shows of the game, but for the log of what everybody has seen."""
    table = app.screen_stack[0]
    widgets = [*table.query(".panel").results(Static), table.query_one("#moves", OptionList)]
    widgets += [table.query_one(name, Static) for name in ("#status", "#game", "#progress")]
    titles = [str(widget.border_title or "") for widget in widgets]
    return "\n".join([*titles, *(text_of(widget) for widget in widgets if widget.display)])


def hidden_cards(session: Session, seat: int) -> set[str]:
    """The cards of Easy Peasy that a seat may not know, out of the whole position."""
    position = easyenvs.replay(session.record()).at(len(session.moves))
    hidden = [*position["draw_pile"]]
    for other, hand in enumerate(position["hands"]):
        hidden += hand if other != seat else []
    for row in position["rows"]:
        hidden += [pile["down"] for pile in row if pile["down"] is not None and not pile["known"]]
    cards = importlib.import_module("easyenvs.peasy_v0.cards")
    return {cards.card_name(card) for card in hidden}


def turns(count: int = 10_000) -> Iterator[int]:
    yield from range(count)


@pytest.mark.parametrize(
    ("game", "agents", "rules"),
    [("peasy_v0", ["greedy"], {"num_rounds": 1}), ("school_v0", ["greedy"] * 5, {"stack": "auto"})],
    ids=GAMES,
)
def test_a_whole_game_by_keys(game: str, agents: list[str], rules: dict[str, Any], tmp_path: Path) -> None:
    """Arrows and Enter, numbers, hints, undo; the record is saved when the game ends."""
    file = tmp_path / "game.jsonl"
    session = Session(game, [HUMAN, *agents], seed=6, **rules)

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        for turn in turns():
            if session.over:
                break
            assert session.human_to_act and app.viewer == 0
            made, legal = len(session.moves), session.legal_for(0)
            last = list(legal)[-1]
            if turn % 4 == 0:
                await press(app, pilot, "1")
                expected = next(iter(legal))
            elif turn % 4 == 1:
                await press(app, pilot, "end", "enter")
                expected = last
            elif turn % 4 == 2:
                hinted = session.hint("heuristic").action
                await press(app, pilot, "h")
                assert len(session.moves) == made and "★" in table_of(app)
                await press(app, pilot, "enter")
                expected = hinted
            else:
                await press(app, pilot, "end", "enter")
                if session.over:
                    break
                await press(app, pilot, "u")
                while len(session.moves) > made:  # the turn went on after the decision that was taken back
                    await press(app, pilot, "u")
                assert len(session.moves) == made and session.legal_for(0) == legal
                await press(app, pilot, "home", "enter")
                expected = next(iter(legal))
            assert session.moves[made].action == expected and session.moves[made].seat == 0
        assert "the game is over" in table_of(app)
        await press(app, pilot, "q")
        assert app.return_code == 0

    run(session, script, save=file, size=(80, 24))
    assert session.over and session.ranks is not None
    (record,) = easyenvs.read_records(file)
    assert record == session.record() and easyenvs.replay(record)


def test_hidden_cards_are_never_on_the_screen() -> None:
    """Neither other hands, nor what lies face down, nor the draw pile; and what the seat knows is there."""
    session = Session("peasy_v0", [HUMAN, "greedy", "heuristic"], seed=3, num_rounds=1)
    seen = 0

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        nonlocal seen
        while not session.over:
            shown = set(CARD.findall(table_of(app)))
            assert not shown & hidden_cards(session, 0)
            position = easyenvs.replay(session.record()).at(len(session.moves))
            cards = importlib.import_module("easyenvs.peasy_v0.cards")
            own = {cards.card_name(card) for card in position["hands"][0]}
            tops = {cards.card_name(card) for card in position["tops"]}
            assert own | tops <= shown
            seen += 1
            await press(app, pilot, "1")

    run(session, script)
    assert seen > 5


def test_the_table_of_easy_school() -> None:
    """Counts, and never the order of the deck."""
    session = until_human(Session("school_v0", [HUMAN, "greedy", "heuristic"], seed=3))

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        for _ in turns(8):
            position = easyenvs.replay(session.record()).at(len(session.moves))
            text = table_of(app)
            assert f"deck of {len(position['deck'])}" in text
            names = ("nerd", "thief", "hacker", "gift", "copycat", "joker")
            for kind, count in enumerate(position["face_up"][0]):
                if count:
                    assert (f"{names[kind]} ×{count}" if count > 1 else names[kind]) in text
            for seat, name in enumerate(("you", "greedy", "heuristic")):
                assert f"{name} · {position['scores'][seat]} point" in text
            await press(app, pilot, "enter")

    run(session, script)


def test_the_curtain_between_two_humans() -> None:
    """Before another human's turn nothing of the game is on the screen, and no key of the game works."""
    session = Session("peasy_v0", [HUMAN, HUMAN, "greedy"], seed=9, num_rounds=1)
    curtains = 0

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        nonlocal curtains
        last = None
        for _ in turns(20):
            if session.over:
                break
            if session.player == last:
                assert not isinstance(app.screen, Curtain)
            else:
                curtains += 1
                assert isinstance(app.screen, Curtain) and app.viewer is None
                assert f"human {session.player}" in app.screen.called
                assert not CARD.findall(table_of(app))
                made = session.moves
                await press(app, pilot, "1", "u", "h", "n", "slash", "s", "r", "H")
                assert session.moves == made and isinstance(app.screen, Curtain)
                await press(app, pilot, "enter")
            last = session.player
            assert app.viewer == last and last is not None
            shown = set(CARD.findall(table_of(app)))
            assert shown and not shown & hidden_cards(session, last)
            await press(app, pilot, "1")

    run(session, script)
    assert curtains > 3


def test_moves_are_filtered_by_what_is_typed() -> None:
    seed = next(seed for seed in range(50) if Session("peasy_v0", [HUMAN, "greedy"], seed=seed).human_to_act)
    session = Session("peasy_v0", [HUMAN, "greedy"], seed=seed)

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        moves = app.query_one("#moves", OptionList)
        assert moves.option_count == 2
        await press(app, pilot, "slash", "d", "o")
        assert moves.option_count == 1 and "down" in text_of(moves)
        await press(app, pilot, "u")  # a letter as any other here
        assert moves.option_count == 0 and not session.moves
        await press(app, pilot, "enter")
        assert not session.moves
        await press(app, pilot, "escape")
        assert moves.option_count == 2 and moves.has_focus and not app.query_one("#filter").has_class("shown")
        await press(app, pilot, "slash", "down", "enter")
        assert session.moves[0].name == "down" and moves.has_focus
        names = list(session.legal_for(0).values())
        await press(app, pilot, "slash", *"pile", "space", "greater_than_sign", "1")
        assert moves.option_count == sum(name.endswith(">1") for name in names)
        await press(app, pilot, "escape")
        assert moves.option_count == len(names)

    run(session, script)


def test_rules_theme_and_leaving() -> None:
    session = until_human(Session("school_v0", [HUMAN, "greedy"], seed=2))

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        for key in ("r", "f1"):
            await press(app, pilot, key)
            assert isinstance(app.screen, RulesScreen) and "**S20** " in app.screen.text
            await press(app, pilot, "1", "u", "pagedown")
            assert app.screen.query_one("#rules").scroll_y > 0
            await press(app, pilot, "escape")
            assert not isinstance(app.screen, RulesScreen)
        made = session.moves
        dark = app.current_theme.dark
        await press(app, pilot, "t")
        assert app.current_theme.dark != dark and session.moves == made
        await press(app, pilot, "1", "q")
        assert isinstance(app.screen, Question)
        await press(app, pilot, "n")
        assert not isinstance(app.screen, Question) and app.is_running
        await press(app, pilot, "q", "y")
        assert app.return_code == 0

    run(session, script)


def test_new_game_and_saving_under_a_name(tmp_path: Path) -> None:
    """A file holds all games of a sitting; one that was there before stays as it is."""
    taken, file = tmp_path / "taken.jsonl", tmp_path / "mine.jsonl"
    taken.write_text("mine\n")
    first = until_human(Session("peasy_v0", [HUMAN, "greedy"], seed=2))

    async def save_as(app: PlayApp, pilot: Pilot[Any], path: Path) -> None:
        await press(app, pilot, "s")
        app.screen.query_one("#name", Input).value = str(path)
        await press(app, pilot, "enter")

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        await press(app, pilot, "1")
        await save_as(app, pilot, taken)
        assert taken.read_text() == "mine\n" and app.path is None
        await save_as(app, pilot, tmp_path / "nowhere" / "x.jsonl")
        assert app.path is None
        await press(app, pilot, "s", "escape")
        assert app.path is None and not file.exists()
        await save_as(app, pilot, file)
        assert [*easyenvs.read_records(file)] == [first.record()]
        await press(app, pilot, "n", "n")
        assert app.session is first
        await press(app, pilot, "n", "y")
        second = app.session
        assert second is not first and second.seed == first.next_game().seed
        await press(app, pilot, "1", "s")
        assert [*easyenvs.read_records(file)] == [first.record(), second.record()]
        await press(app, pilot, "1")
        await pilot.press("ctrl+q")

    app = run(first, script)
    assert [*easyenvs.read_records(file)] == [first.record(), app.session.record()]


def test_the_hints_of_any_agent() -> None:
    """Those that ship, the random one, and the one that was named; one that fails is told, and the game goes on."""
    session = until_human(Session("peasy_v0", [HUMAN, "greedy"], seed=2))
    named = f"{__name__}:failing"

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        assert app.agents == [named, *agent_names(session.game), "random"] and app.hint_agent == named
        await press(app, pilot, "h")
        assert "★" not in table_of(app) and session.fault is None
        await press(app, pilot, "H", "escape")
        assert app.hint_agent == named
        await press(app, pilot, "H", "end", "enter")
        assert app.hint_agent == "random" and "★" in table_of(app)
        await press(app, pilot, "1")
        assert session.moves and "★" not in table_of(app)

    run(session, script, hint=named)


def test_probabilities_of_a_hint_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "sure", Sure(), raising=False)
    session = until_human(Session("school_v0", [HUMAN, "greedy"], seed=2))

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        assert "%" not in text_of(app.query_one("#moves"))
        await press(app, pilot, "h")
        shown = text_of(app.query_one("#moves"))
        assert shown.count(" 0%") == len(session.legal_for(0)) - 1 and shown.count("100%") == 1

    run(session, script, hint=f"{__name__}:sure")


def test_a_failure_of_a_policy_is_told(tmp_path: Path) -> None:
    session = Session("peasy_v0", [HUMAN, failing], seed=2)
    file = tmp_path / "failed.jsonl"

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        while not session.over:
            await press(app, pilot, "1")
        text = table_of(app)
        assert "failing has failed, and the game ends here: LookupError: no idea" in text
        assert app.query_one("#status").has_class("failed")
        await press(app, pilot, "n")
        assert app.session is not session

    run(session, script, save=file)
    assert next(easyenvs.read_records(file)).fault == session.fault


def test_nobody_has_to_be_human() -> None:
    """Then the first seat's view is shown."""
    session = Session("peasy_v0", ["greedy", "greedy"], seed=2, num_rounds=1)

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        assert session.over and app.viewer == 0
        await press(app, pilot, "u", "h", "1")
        assert session.over

    run(session, script)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_six_at_a_table_of_any_size(game: str, size: tuple[int, int]) -> None:
    """The own cards are in sight at the own turn, and no panel is wider than its place."""
    session = Session(game, [HUMAN, *["random"] * 5], seed=4)
    for _ in range(3):
        act_first(until_human(session))
    until_human(session)

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        own, table = app.query_one("#own"), app.query_one("#table")
        assert table.region.contains_region(own.region)
        assert len(app.query("#others Static")) == 5
        for panel in app.query("#others Static"):
            assert panel.region.width >= 20 and panel.region.right <= table.region.right

    run(session, script, size=size)


def test_a_game_without_panels_shows_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    session = until_human(Session("peasy_v0", [HUMAN, "greedy"], seed=2))
    monkeypatch.setattr(terminal, "_panels_module", lambda game: None)

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        first_line = session.game.notation.view_text(session.view_for(0)).splitlines()[0]
        assert first_line in table_of(app)
        await press(app, pilot, "1")
        assert len(session.moves) > 0

    run(session, script)


@pytest.mark.parametrize("seats", [["human", "[b]x", "[b]x"], ["human", "/a/[red]y.npz", "m:z"]])
def test_names_are_shown_as_they_are(seats: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """No name is taken for markup, and a path or a module is left out."""
    monkeypatch.setattr("easyenvs.play.session.load_policy", lambda name, game: load_policy("greedy", game))
    session = until_human(Session("peasy_v0", seats, seed=2))

    async def script(app: PlayApp, pilot: Pilot[Any]) -> None:
        expected = ["[b]x 1", "[b]x 2"] if seats[1] == seats[2] else ["[red]y.npz", "z"]
        assert terminal.called(session) == ["you", *expected]
        shown = [str(app.query("#others Static")[place].render_lines(Region(0, 0, 40, 1))[0].text) for place in (0, 1)]
        for name, title in zip(expected, shown, strict=True):
            assert f" {name} · " in title

    run(session, script)


def test_the_pictures_in_the_docs_need_no_network() -> None:
    for name in ("play-peasy_v0", "play-school_v0", "play-rules"):
        picture = (ROOT / "docs" / "images" / f"{name}.svg").read_text(encoding="utf-8")
        assert "@font-face" not in picture and not re.findall(r"url\((?!#)|href", picture)


# ------------------------------------------------------------------------------------------------- the command


@pytest.fixture
def command() -> Any:
    app = typer.Typer()
    app.command()(play)
    return app


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chess_v0"], "is no game"),
        (["peasy_v0", "--seats", "human,nobody"], "names no policy"),
        (["peasy_v0", "--seats", "human"], "num_players=1"),
        (["peasy_v0", "--seed", "-1"], "seed=-1"),
        (["peasy_v0", "--rule", "x"], "name=value"),
        (["peasy_v0", "--rule", "num_rounds=0"], "num_rounds=0"),
        (["peasy_v0", "--rule", "colour=red"], "no option"),
        (["peasy_v0", "--hint", "nobody"], "names no policy"),
        (["peasy_v0", "--hint", "no_such_module:x"], "loaded"),
        (["peasy_v0", "--save", __file__], "exists"),
        (["peasy_v0"], "terminal"),
        ([], "GAME"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(command: Any, arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(command, arguments, env={"COLUMNS": "400"})
    assert done.exit_code == 2 and "Traceback" not in done.output
    assert message in done.output


def test_the_command_starts_the_program(command: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    started: list[PlayApp] = []
    monkeypatch.setattr(PlayApp, "run", lambda app: started.append(app))
    monkeypatch.setattr("easyenvs.play.command._is_terminal", lambda: True)
    arguments = ["peasy_v0", "--seats", "human, greedy,random", "--seed", "5", "--hint", "greedy"]
    arguments += ["--save", str(tmp_path / "x.jsonl"), "--rule", "num_rounds=none", "--rule", "target_score=30"]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    (app,) = started
    assert app.session.seats == (HUMAN, "greedy", "random") and app.session.seed == 5
    assert app.session.rules.target_score == 30 and app.session.rules.num_rounds is None
    assert app.hint_agent == "greedy" and app.path == tmp_path / "x.jsonl"


def test_rules_as_texts() -> None:
    assert parse_rules(["a=1", "b = none", "c=standard", "d=-2"]) == {"a": 1, "b": None, "c": "standard", "d": -2}
    for texts in (["a"], ["=1"], ["a=1", "a=2"]):
        with pytest.raises(ValueError, match="rule"):
            parse_rules(texts)


@pytest.mark.parametrize(("package", "module"), [("textual", "terminal"), ("typer", "command")])
def test_the_extra_is_named(package: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for name in [name for name in sys.modules if name.startswith(f"{package}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"easyenvs.play.{module}")
    with pytest.raises(easyenvs.MissingExtraError, match=re.escape('pip install "easyenvs[play]"')):
        importlib.import_module(f"easyenvs.play.{module}")


def test_the_command_names_the_extra(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual.app", None)
    monkeypatch.delitem(sys.modules, "easyenvs.play.terminal")
    done = CliRunner().invoke(command, ["peasy_v0"], env={"COLUMNS": "400"})
    assert done.exit_code == 2 and "easyenvs[play]" in done.output
