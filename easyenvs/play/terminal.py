"""The program that plays a `Session` in a terminal: the table, the legal moves, hints, the rules."""

from __future__ import annotations

import asyncio
import importlib
import importlib.resources
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

from easyenvs.core.errors import MissingExtraError
from easyenvs.core.game import GameDefinition
from easyenvs.core.panels import Card, Line, Panel, Panels, Words
from easyenvs.core.policies import agent_names, load_policy
from easyenvs.play.session import Hint, PolicyError, Session
from easyenvs.records import Record, write_records

try:
    from rich.cells import cell_len
    from rich.console import Console, ConsoleOptions
    from rich.text import Text
    from textual import events
    from textual.app import App, ComposeResult
    from textual.binding import Binding, BindingType
    from textual.containers import Grid, Horizontal, Vertical, VerticalScroll
    from textual.markup import escape
    from textual.screen import ModalScreen, Screen
    from textual.widgets import Footer, Input, Label, Markdown, OptionList, RichLog, Static
    from textual.widgets.option_list import Option
except ImportError as error:
    raise MissingExtraError(
        f'to play in the terminal needs the extra "play": pip install "easyenvs[play]" ({error})'
    ) from error

T = TypeVar("T")

PACE: Final = 0.6
"""Seconds between the moves of policies."""
QUICK_KEYS: Final = "1234567890"
NARROWEST_PANEL: Final = 36
"""Columns that another seat's panel has at least, if there is more than one beside each other."""
TALL_CARD: Final = 6
"""Columns that a tall card has at least."""
SIDE: Final = (30, 46)
"""Columns of the moves and the log, at least and at most."""
HIGH: Final = 32
"""Rows of a terminal that has room for tall cards."""
GAME_ACTIONS: Final = ("filter", "undo", "hint", "choose_agent", "rules", "save", "new_game", "quit_game", "quick")
MOVE_MARGIN: Final = 6
"""Columns of the list of moves that are border, padding and scroll bar."""
UNLIMITED: Final = 1000
"""More columns than a move has."""
TONES: Final = {"plain": "", "faint": "dim", "strong": "bold"}


# ------------------------------------------------------------------------------------------------- lines of a panel


def _may_break(line: Line, index: int) -> bool:
    """Whether a new row may begin with this item: not between a word and its cards, or a card and its words."""
    here, before = line.items[index], line.items[index - 1]
    return isinstance(here, Card) if not line.is_tall else isinstance(here, Words) or isinstance(before, Card)


def _rows(line: Line, widths: Sequence[int], room: int, indent: int) -> list[list[int]]:
    """The indices of the items of each row, one column between two; later rows are indented."""
    rows: list[list[int]] = [[]]
    used, index = 0, 0
    while index < len(widths):
        end = index + 1
        while end < len(widths) and not _may_break(line, end):
            end += 1
        width = sum(widths[index:end]) + end - index
        if rows[-1] and used + width > room + 1:
            rows.append([])
            used = indent
            if _is_space(line.items[index]):
                index += 1
                continue
        rows[-1] += range(index, end)
        used += width
        index = end
    return [row for row in rows if row]


def _is_space(item: Words | Card) -> bool:
    return isinstance(item, Words) and not item.text.strip()


def set_line(line: Line, room: int, *, is_flat: bool = False) -> Text:
    """A line of a panel in so many columns. is_flat: tall cards are no taller than others."""
    items = line.items
    is_tall = line.is_tall and not is_flat
    widths = [_width(item, is_tall=is_tall) for item in items]
    # What comes after the title of the line stands under what came first.
    indent = widths[0] + 1 if isinstance(items[0], Words) and len(items) > 1 else 0
    set_rows: list[Text] = []
    for number, row in enumerate(_rows(line, widths, room, indent)):
        parts = [Text(), Text(), Text()] if is_tall else [Text()]
        if number and is_tall:
            set_rows.append(Text())
        for place, index in enumerate(row):
            space = 1 if place else indent * (number > 0)
            for part in parts:
                part.append(" " * space)
            _append(parts, items[index], widths[index])
        set_rows += parts
    return Text("\n").join(set_rows)


def _width(item: Words | Card, *, is_tall: bool) -> int:
    if isinstance(item, Words):
        return cell_len(item.text)
    return max(cell_len(item.label) + 2, TALL_CARD if is_tall else 0)


def _append(parts: Sequence[Text], item: Words | Card, width: int) -> None:
    """Set an item into one row, or into the three of a tall line."""
    if isinstance(item, Words):
        label, style, edge = item.text, TONES[item.tone], ""
    else:
        left = (width - cell_len(item.label)) // 2
        label = " " * left + item.label + " " * (width - left - cell_len(item.label))
        style = edge = f"bold {item.ink} on {item.fill}"
    middle = len(parts) // 2
    for number, part in enumerate(parts):
        part.append(label if number == middle else " " * width, style if number == middle else edge)


class Lines:
    """The lines of a panel, for Rich: as wide as there is room. is_flat: no card is tall."""

    def __init__(self, lines: Sequence[Line], *, is_flat: bool) -> None:
        self.lines, self.is_flat = lines, is_flat

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        was_tall = False
        for line in self.lines:
            if was_tall:
                yield Text()
            was_tall = line.is_tall and not self.is_flat
            yield set_line(line, options.max_width, is_flat=self.is_flat)


# ------------------------------------------------------------------------------------------------- what a game offers


def _panels_module(game: GameDefinition) -> Any:
    """The game's module `panels`; None: its text is shown."""
    found = importlib.util.find_spec(f"{game.package}.panels")
    return importlib.import_module(f"{game.package}.panels") if found is not None else None


def rules_text(game: GameDefinition) -> str:
    """The game's rules as Markdown, as its folder tells them."""
    file = importlib.resources.files(game.package) / "rules.md"
    if not file.is_file():
        return f"# {game.id}\n\nThis game comes without a text of its rules."
    return file.read_text(encoding="utf-8")


class Table:
    """What stands on the screen: a game's panels, or its text."""

    def __init__(self, game: GameDefinition, names: Sequence[str]) -> None:
        self.game = game
        self.names = names
        self._module = _panels_module(game)

    def panels(self, session: Session, seat: int) -> Panels:
        """The table as a seat knows it."""
        view = session.view_for(seat)
        if self._module is not None:
            made: Panels = self._module.panels(view, seat, self.names)
            return made
        lines = tuple(Line((Words(text),)) for text in self.game.notation.view_text(view).splitlines())
        actor = session.player
        status = "the game is over" if actor is None else f"{self.names[actor]}: to act"
        own = Panel(self.names[seat], lines, seat)
        return Panels(self.game.id, f"{len(session.moves)} decisions", status, Panel("", ()), (own,), actor)

    def action_line(self, seat: int, action: int) -> Line | None:
        """What an action would do, beside its name."""
        line: Line | None = None if self._module is None else self._module.action_line(seat, action, self.names)
        return line

    def move_text(self, seat: int, action: int) -> str:
        """What somebody did."""
        if self._module is None:
            return f"{self.names[seat]}: {self.game.notation.action_name(action)}"
        text: str = self._module.move_text(seat, action, self.names)
        return text


def called(session: Session) -> list[str]:
    """What the seats are called: "you", if there is one human; names that occur twice get their seat's number."""
    kinds = [Path(session.seat_name(seat).rpartition(":")[2]).name for seat in range(session.num_players)]
    names = [f"{kind} {seat}" if kinds.count(kind) > 1 else kind for seat, kind in enumerate(kinds)]
    if len(session.humans) == 1:
        names[session.humans[0]] = "you"
    return names


# ------------------------------------------------------------------------------------------------- screens


class RulesScreen(Screen[None]):
    """The rules of the game."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,r,f1", "dismiss", "back to the game")]

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def compose(self) -> ComposeResult:
        """A page that can be scrolled."""
        with VerticalScroll(id="rules"):
            yield Markdown(self.text)
        yield Footer()

    def on_mount(self) -> None:
        """The keys scroll it."""
        self.query_one("#rules").focus()


class Curtain(Screen[bool]):
    """Hides the table of one human before it is another one's turn."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "dismiss(True)", "show my table"),
        Binding("q", "app.quit_game", "quit"),
    ]

    def __init__(self, name: str) -> None:
        super().__init__()
        self.called = name

    def compose(self) -> ComposeResult:
        """Nothing of the game is on it."""
        with Vertical(classes="box"):
            yield Label(Text(f"It is the turn of {self.called}."), classes="strong")
            yield Label("Everyone else, please look away.")
            yield Label("Enter shows the table.")
        yield Footer()


class Question(ModalScreen[bool]):
    """Yes or no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "dismiss(True)", "yes"),
        Binding("n,escape", "dismiss(False)", "no"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self.question = question

    def compose(self) -> ComposeResult:
        """A box over the table."""
        with Vertical(classes="box"):
            yield Label(Text(self.question), classes="strong")
            yield Label("y yes · n no")


class AskName(ModalScreen["str | None"]):
    """Asks for the name of a file."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "cancel")]

    def __init__(self, proposed: str) -> None:
        super().__init__()
        self.proposed = proposed

    def compose(self) -> ComposeResult:
        """A box over the table."""
        with Vertical(classes="box"):
            yield Label("Save the record as", classes="strong")
            yield Input(self.proposed, id="name")
            yield Label("Enter to save · Escape to cancel")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter."""
        event.stop()
        self.dismiss(event.value.strip() or None)


class ChooseAgent(ModalScreen["str | None"]):
    """Asks which agent gives the hints."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "cancel")]

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__()
        self.agents = agents

    def compose(self) -> ComposeResult:
        """A box over the table."""
        with Vertical(classes="box"):
            yield Label("Who gives the hints?", classes="strong")
            yield OptionList(*(Option(Text(agent)) for agent in self.agents), id="agents")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter."""
        event.stop()
        self.dismiss(self.agents[event.option_index])


class Filter(Input):
    """Where the moves are filtered by what is typed; the arrows go through what is left."""

    def on_key(self, event: events.Key) -> None:
        """Keys that are the list's, or that leave the filter."""
        moves = self.screen.query_one("#moves", OptionList)
        if event.key == "escape":
            self.value = ""
            moves.focus()
        elif event.key == "up":
            moves.action_cursor_up()
        elif event.key == "down":
            moves.action_cursor_down()
        else:
            return
        event.stop()


# ------------------------------------------------------------------------------------------------- the program


class PlayApp(App[None]):
    """One session after the other in a terminal.

    Args:
        session: the first game.
        hint: the policy that gives the hints (default: the heuristic agent, or whichever there is).
        save: the file of the records; None: it is asked for. It is written when a game ends and when the program does.
        pace: seconds between the moves of policies.
    """

    TITLE = "easyenvs"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #top { height: 1; background: $primary; color: $text; }
    #game { width: 1fr; padding: 0 1; text-style: bold; }
    #progress { width: auto; padding: 0 1; }
    #status { height: auto; padding: 0 1; background: $surface; color: $text; text-style: bold; }
    #status.yours { background: $success-muted; color: $text-success; }
    #status.failed { background: $error-muted; color: $text-error; }
    #table, #rules { scrollbar-size-vertical: 1; }
    #table { width: 1fr; padding: 0 1; }
    #others { height: auto; grid-rows: auto; grid-gutter: 0 1; }
    .panel, #moves, #log { border-title-color: $text-muted; border-subtitle-color: $text-muted; }
    .panel { height: auto; border: round $foreground 30%; padding: 0 1; }
    .panel.acts { border: round $success; border-title-color: $text-success; }
    #own { border-title-style: bold; }
    #covered { padding: 2 4; color: $text-muted; }
    #moves { height: 3fr; border: round $foreground 30%; padding: 0; background: $background; }
    #moves > .option-list--option { padding: 0 1; }
    #moves:focus { border: round $success; }
    #log { height: 2fr; overflow-y: auto; overflow-x: hidden; scrollbar-size-vertical: 1;
           border: round $foreground 30%; padding: 0 1; background: $background; }
    #filter { height: 3; border: round $success; display: none; }
    #filter.shown { display: block; }
    Curtain, Question, AskName, ChooseAgent { align: center middle; }
    .box { width: auto; max-width: 80%; height: auto; max-height: 80%; padding: 1 3; border: round $success;
           background: $surface; }
    .box Label { width: auto; margin: 0 0 1 0; }
    .box Input { width: 60; margin: 0 0 1 0; }
    .box OptionList { width: 40; height: auto; }
    .strong { text-style: bold; }
    #rules { padding: 0 2; }
    #rules Markdown { max-width: 100; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "filter", key_display="/"),
        Binding("u", "undo", "undo"),
        Binding("h", "hint", "hint"),
        Binding("H,shift+h", "choose_agent", "hints by", key_display="H"),
        Binding("r,f1", "rules", "rules", key_display="r"),
        Binding("s", "save", "save"),
        Binding("n", "new_game", "new"),
        Binding("t", "theme", "light/dark", show=False),
        Binding("q", "quit_game", "quit"),
        *(Binding(key, f"quick({place})", show=False) for place, key in enumerate(QUICK_KEYS)),
    ]

    def __init__(
        self, session: Session, *, hint: str | None = None, save: str | Path | None = None, pace: float = PACE
    ) -> None:
        super().__init__()
        self.session = session
        self.pace = pace
        self.agents = agents(session.game, hint)
        self.hint_agent = self.agents[0]
        self.path = None if save is None else Path(save)
        self.viewer: int | None = None  # who sees the table; None: nobody, it is covered
        self._tables = Table(session.game, called(session))
        self._shown: list[int] = []  # the actions in the list of moves
        self._hint: Hint | None = None
        self._news: list[tuple[int, str]] = []  # (moves made then, text)
        self._earlier: list[Record] = []  # of the games before this one
        self._saved = 0  # moves that are in the file
        self._own_file: Path | None = None  # which this program has written, and may write again
        self._thinks = False

    # ------------------------------------------------------------------------------------------ the screen

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys of the game are for its table alone, and not for what lies over it."""
        if action == "quit_game" and isinstance(self.screen, Curtain):
            return True
        return action not in GAME_ACTIONS or len(self.screen_stack) == 1

    def compose(self) -> ComposeResult:
        """The table to the left, moves and log to the right."""
        with Horizontal(id="top"):
            yield Static(id="game")
            yield Static(id="progress")
        yield Static(id="status")
        with Horizontal():
            with VerticalScroll(id="table"):
                yield Static("The table is covered.", id="covered")
                yield Grid(id="others")
                yield Static(id="middle", classes="panel")
                yield Static(id="own", classes="panel")
            with Vertical(id="side"):
                yield OptionList(id="moves")
                yield Filter(placeholder="type to filter, Enter plays, Escape leaves", id="filter")
                yield RichLog(id="log", wrap=True, min_width=10)
        yield Footer()

    async def on_mount(self) -> None:
        """Begin the first game."""
        self.query_one("#log").border_title = "log"
        await self._begin()

    async def on_resize(self) -> None:
        """As many panels beside each other, and cards as tall, as there is room for."""
        self._arrange()
        self._show()

    async def _begin(self) -> None:
        """Show a new game."""
        session = self.session
        self.viewer = None if len(session.humans) > 1 else (session.humans or (0,))[0]
        names_of = self._tables.move_text
        self._news = [(count, names_of(move.seat, move.action)) for count, move in enumerate(session.moves, 1)]
        self._hint = None
        self._write_log()
        others = self.query_one("#others", Grid)
        await others.remove_children()
        await others.mount_all(Static(classes="panel") for _ in range(session.num_players - 1))
        self._arrange()
        self.query_one("#moves").focus()
        self._turn()

    def _side(self) -> int:
        """Columns of the moves and the log."""
        least, most = SIDE
        return max(least, min(most, self.size.width * 2 // 5))

    def _arrange(self) -> None:
        self.query_one("#side").styles.width = self._side()
        others = self.query_one("#others", Grid)
        columns = (self.size.width - self._side()) // NARROWEST_PANEL
        others.styles.grid_size_columns = max(1, min(len(others.children), columns))

    def _turn(self) -> None:
        """After a decision: whoever is to act acts."""
        session = self.session
        if not session.human_to_act:
            self._show()
            if not session.over:
                self.run_worker(self._let_policies_play(), group="policies", exclusive=True)
            elif self.path is not None:
                self._write(self.path)
            return
        if session.player != self.viewer:
            self.viewer = None
            self._show()
            assert session.player is not None
            self.push_screen(Curtain(self._tables.names[session.player]), self._uncover)
            return
        self._show()
        self._show_own()

    def _uncover(self, shown: bool | None) -> None:
        self.viewer = self.session.player
        self._show()
        self._show_own()

    def _show_own(self) -> None:
        """If the terminal is too low for the whole table, the own cards matter most."""
        self.call_after_refresh(self.query_one("#own").scroll_visible, animate=False)

    async def _let_policies_play(self) -> None:
        session = self.session
        while not session.over and not session.human_to_act:
            await asyncio.sleep(self.pace)
            before = session.scores
            move = await self._think(session.advance)
            if move is not None:
                self._tell(self._tables.move_text(move.seat, move.action), before)
            if self.pace > 0 and not session.human_to_act:  # else nobody could look at it
                self._show()
        self._turn()

    async def _think(self, question: Callable[[], T]) -> T:
        """A policy at work, in a thread of its own: it may take its time."""
        self._thinks = True
        try:
            return await asyncio.to_thread(question)
        finally:
            self._thinks = False

    def _is_busy(self) -> bool:
        if self._thinks:
            self.notify("an agent is thinking: a moment, please")
        return self._thinks

    def _tell(self, text: str, before: list[int]) -> None:
        """Log a move, and the points if it has changed them."""
        session = self.session
        news = [text]
        if session.scores != before:
            points = ", ".join(f"{name} {n}" for name, n in zip(self._tables.names, session.scores, strict=True))
            news.append(f"  points: {points}")
        log = self.query_one("#log", RichLog)
        for line in news:
            self._news.append((len(session.moves), line))
            log.write(_log_text(line))

    def _write_log(self) -> None:
        log = self.query_one("#log", RichLog)
        log.clear()
        for _, line in self._news:
            log.write(_log_text(line), scroll_end=True)

    # ------------------------------------------------------------------------------------------ showing

    def _show(self) -> None:
        """Everything anew, from the view of one seat."""
        seat = self.viewer
        for name in ("#others", "#middle", "#own"):
            self.query_one(name).display = seat is not None
        self.query_one("#covered").display = seat is None
        self._show_moves()
        if seat is None:
            for panel in self.query(".panel").results(Static):
                panel.update("")
                panel.border_title = ""
            self.query_one("#game", Static).update(self.session.game.id)
            self.query_one("#progress", Static).update("")
            self._show_status("")
            return
        panels = self._tables.panels(self.session, seat)
        self.query_one("#game", Static).update(Text(panels.game))
        self.query_one("#progress", Static).update(Text(panels.progress))
        self._show_status(panels.status)
        self._fill(self.query_one("#middle", Static), panels.middle, panels)
        own, *rest = panels.seats
        self._fill(self.query_one("#own", Static), own, panels)
        for widget, other in zip(self.query("#others Static").results(Static), rest, strict=False):
            self._fill(widget, other, panels)

    def _fill(self, widget: Static, panel: Panel, panels: Panels) -> None:
        widget.display = bool(panel.lines)
        widget.border_title = escape(panel.title)
        widget.set_class(panel.seat is not None and panel.seat == panels.actor, "acts")
        widget.update(Lines(panel.lines, is_flat=self.size.height < HIGH))

    def _show_status(self, text: str) -> None:
        session, names = self.session, self._tables.names
        status = self.query_one("#status", Static)
        if session.fault is not None:
            text = f"{names[session.fault.seat]} has failed, and the game ends here: {session.fault.reason}"
        elif session.ranks is not None:
            order = sorted(zip(session.ranks, names, session.scores, strict=True))
            text = "the game is over: " + " · ".join(f"{rank:g}. {name} {score}" for rank, name, score in order)
        elif session.player is not None and not text:
            text = f"it is the turn of {names[session.player]}"
        status.set_class(session.fault is not None, "failed")
        status.set_class(session.human_to_act, "yours")
        status.update(Text(text))

    def _legal(self) -> dict[int, str]:
        """The moves that are on the screen's offer: none while the table is covered."""
        return {} if self.viewer is None else self.session.legal_for(self.viewer)

    def _show_moves(self) -> None:
        moves = self.query_one("#moves", OptionList)
        legal, seat = self._legal(), self.viewer
        if not legal:  # what was typed was about another decision
            self._close_filter()
        words = self.query_one("#filter", Filter).value.lower().split()
        lines = {} if seat is None else {action: self._tables.action_line(seat, action) for action in legal}
        self._shown = [
            action
            for action, name in legal.items()
            if all(word in f"{name} {_plain(lines[action])}".lower() for word in words)
        ]
        column = max(map(cell_len, legal.values()), default=0)
        moves.clear_options()
        moves.add_options(
            [
                Option(self._move_text(place, action, legal[action], column, lines[action]))
                for place, action in enumerate(self._shown)
            ]
        )
        moves.border_title = "your moves" if legal else "moves"
        moves.border_subtitle = f"{len(self._shown)} of {len(legal)}" if words else ""
        if self._shown:
            hinted = self._hint.action if self._hint is not None else None
            moves.highlighted = self._shown.index(hinted) if hinted in self._shown else 0

    def _move_text(self, place: int, action: int, name: str, column: int, line: Line | None) -> Text:
        """A move in the list: its key, the hint's mark and probability, its name, and what it would do if that fits."""
        hint = self._hint
        key = QUICK_KEYS[place] if place < len(QUICK_KEYS) else " "
        text = Text()
        text.append(f"{key} ", "dim")
        if hint is not None:
            text.append("★ " if hint.action == action else "  ", "bold")
            if hint.probabilities is not None:
                text.append(f"{hint.probabilities[action]:>4.0%} ", "bold")
        if line is not None:
            meaning = set_line(line, UNLIMITED)
            if text.cell_len + column + 2 + meaning.cell_len <= self._side() - MOVE_MARGIN:
                return text.append(f"{name:<{column}}  ").append_text(meaning)
        return text.append(name)

    # ------------------------------------------------------------------------------------------ moves

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter on the list of moves."""
        if event.option_list.id == "moves":
            self._play(self._shown[event.option_index])

    def on_input_changed(self, event: Input.Changed) -> None:
        """What is typed filters the moves."""
        if event.input.id == "filter":
            self._show_moves()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in the filter plays the highlighted move."""
        place = self.query_one("#moves", OptionList).highlighted
        if event.input.id == "filter" and place is not None:
            self._play(self._shown[place])

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """An empty filter goes away when it is left."""
        if isinstance(event.widget, Filter) and not event.widget.value:
            event.widget.remove_class("shown")

    def _close_filter(self) -> None:
        box = self.query_one("#filter", Filter)
        if box.has_focus:
            self.query_one("#moves").focus()
        with box.prevent(Input.Changed):
            box.value = ""
        box.remove_class("shown")

    def _play(self, action: int) -> None:
        if self._is_busy():
            return
        session = self.session
        before = session.scores
        move = session.act(action)
        self._hint = None
        self._close_filter()
        self._tell(self._tables.move_text(move.seat, move.action), before)
        self._turn()

    def action_quick(self, place: int) -> None:
        """Play the move with this number."""
        if place < len(self._shown):
            self._play(self._shown[place])

    def action_filter(self) -> None:
        """Type to filter the moves."""
        box = self.query_one("#filter", Filter)
        box.add_class("shown")
        box.focus()

    def action_undo(self) -> None:
        """Take the last own decision back."""
        if self._is_busy():
            return
        session = self.session
        if not session.can_undo():
            self.notify("there is nothing to take back")
            return
        self.workers.cancel_group(self, "policies")
        undone = session.undo()
        self._hint = None
        self._news = [(count, line) for count, line in self._news if count <= len(session.moves)]
        self._write_log()
        self.notify(f"taken back: {undone.name}", markup=False)
        self._turn()

    # ------------------------------------------------------------------------------------------ hints

    async def action_hint(self) -> None:
        """Ask the agent."""
        if not self._legal() or self._is_busy():
            return
        self.run_worker(self._ask(), group="hint", exclusive=True)

    async def _ask(self) -> None:
        agent = self.hint_agent
        try:
            self._hint = await self._think(lambda: self.session.hint(agent))
        except (PolicyError, ValueError) as error:
            self.notify(f"{agent} has no hint: {error}", severity="error", markup=False)
            return
        self.notify(f"{agent} would play {self._hint.name}", title="hint", markup=False)
        self._show_moves()

    def action_choose_agent(self) -> None:
        """Choose the agent that is asked, and ask it."""
        self.push_screen(ChooseAgent(self.agents), self._chosen)

    async def _chosen(self, agent: str | None) -> None:
        if agent is not None:
            self.hint_agent = agent
            await self.action_hint()

    # ------------------------------------------------------------------------------------------ the rest

    def action_rules(self) -> None:
        """Show the rules."""
        self.push_screen(RulesScreen(rules_text(self.session.game)))

    def action_theme(self) -> None:
        """Light or dark."""
        self.theme = "textual-light" if self.current_theme.dark else "textual-dark"

    def action_save(self) -> None:
        """Save the records of this sitting."""
        if self._is_busy():
            return
        if self.path is None:
            self.push_screen(AskName(f"{self.session.game.id}.jsonl"), self._named)
        else:
            self._write(self.path)

    def _named(self, name: str | None) -> None:
        if name is not None:
            self._write(Path(name))

    def _write(self, path: Path) -> bool:
        """Write all games of this sitting, and say so; whether it could be done."""
        failure = self._failure_of_writing(path)
        if failure is None:
            self.notify(f"saved in {path}", markup=False)
        else:
            self.notify(failure, severity="error", markup=False)
        return failure is None

    def _failure_of_writing(self, path: Path) -> str | None:
        """Write all games of this sitting; a file that is not this program's stays as it is."""
        records = [*self._earlier, self.session.record()]
        try:
            with path.open("wb" if path == self._own_file else "xb") as file:
                write_records(file, records)
        except FileExistsError:
            return f"{path} exists: choose another name"
        except OSError as error:
            return f"{path} can't be written: {error.strerror}"
        self.path = self._own_file = path
        self._saved = len(self.session.moves)
        return None

    def action_new_game(self) -> None:
        """Begin a new game."""
        if self._is_busy():
            return
        if self.session.over or not self.session.moves:
            self._leave(True)
        else:
            self.push_screen(Question("Leave this game, and begin a new one?"), self._leave)

    def _leave(self, leave: bool | None) -> None:
        if leave and not self._is_busy():
            self.workers.cancel_group(self, "policies")
            self.run_worker(self._next_game(), group="new", exclusive=True)

    async def _next_game(self) -> None:
        if self.session.moves:
            self._earlier.append(self.session.record())
        self.session = self.session.next_game()
        self._saved = 0
        await self._begin()

    def action_quit_game(self) -> None:
        """End the program."""
        if self.path is not None:
            if self._write(self.path):
                self.exit()
        elif self.session.over or not self.session.moves or self._saved == len(self.session.moves):
            self.exit()
        else:
            self.push_screen(Question("Quit without saving the record?"), self._quit)

    async def action_quit(self) -> None:
        """End the program whatever is on the screen (Ctrl+Q)."""
        failure = None if self.path is None else self._failure_of_writing(self.path)
        self.exit(return_code=int(failure is not None), message=failure)

    def _quit(self, leave: bool | None) -> None:
        if leave:
            self.exit()


def agents(game: GameDefinition, first: str | None = None) -> list[str]:
    """The agents that can give hints: `first` (default: the heuristic one), the others that ship, and the random one."""
    shipped = agent_names(game)
    if first is None:
        first = "heuristic" if "heuristic" in shipped else [*shipped, "random"][0]
    load_policy(first, game)  # so that a wrong name is refused before the game
    return list(dict.fromkeys([first, *shipped, "random"]))


def _plain(line: Line | None) -> str:
    if line is None:
        return ""
    return " ".join(item.text if isinstance(item, Words) else item.label for item in line.items)


def _log_text(line: str) -> Text:
    return Text(line, "dim" if line.startswith(" ") else "")


__all__ = ["PACE", "PlayApp", "agents", "called", "rules_text", "set_line"]
