"""A Sphinx extension for MyST pages: tables and outputs that are made from the code when the pages are built.

Two directives:

    ```{easyenvs-table} KIND GAME          one of the tables in KINDS, for the game of that id
    ```

    ```{easyenvs-run}                      shows the Python code, runs it, and shows what it prints
    CODE
    ```

A page that uses one of them is read anew in every build, because what it shows depends on the code and not on the page.
An unknown kind, an unknown game, or code that raises is an error of the build.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import inspect
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
from docutils import nodes  # type: ignore[import-untyped, unused-ignore]
from docutils.parsers.rst import directives  # type: ignore[import-untyped, unused-ignore]
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from easyenvs import find_game
from easyenvs.core import policies, rewards, views
from easyenvs.core.batch import Batch
from easyenvs.core.encoders import ENCODERS, DictEncoder, Slice, make_encoder
from easyenvs.core.errors import OptionError
from easyenvs.core.game import GameDefinition
from easyenvs.core.weights import load_network

MOST_PLAYERS: Final = 12  # numbers of players above this are not tried
IDS_A_ROW: Final = 10  # in a table of action ids; half as many of names longer than SHORT_NAME
SHORT_NAME: Final = 8
STATISTICS_GAMES: Final = 2000
STATISTICS_SEED: Final = 0
MINUS: Final = "−"
NO_ENTRY: Final = "–"
NBSP: Final = "\N{NO-BREAK SPACE}"
WORD_JOINER: Final = "\N{WORD JOINER}"  # no line break here


@dataclass(frozen=True)
class Table:
    """A table whose cells are Markdown."""

    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def markdown(self) -> str:
        """The table as a Markdown pipe table."""
        lines = [self.header, ("---",) * len(self.header), *self.rows]
        return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


# ------------------------------------------------------------------------------------------------- what the code says


def player_numbers(game: GameDefinition) -> list[int]:
    """The numbers of players that the game accepts."""
    accepted = []
    for players in range(1, MOST_PLAYERS + 1):
        with contextlib.suppress(OptionError):
            game.rules_type(num_players=players)
            accepted.append(players)
    return accepted


def accepted_values(make: Callable[..., object], option: str) -> str:
    """What an option accepts, in the words of the error that a senseless value raises."""
    try:
        make(**{option: object()})
    except OptionError as error:
        accepted = str(error).partition(f"{option} must be ")[2]
        accepted = accepted.replace(str(2**64 - 1), "2⁶⁴ − 1")
        return _code_words(re.sub(r"\d{5,}", lambda m: f"{int(m[0]):,}", accepted))
    raise ValueError(f"the option {option!r} accepts any object, so the docs can't say what it accepts")


def _code_words(text: str) -> str:
    """Quoted words and Python's constants in backticks, unless they are already."""
    return re.sub(r"""(`[^`]*`)|("\w+"|'\w+'|\b(?:None|True|False)\b)""", lambda m: m[1] or f"`{m[2]}`", text)


def described(docstring: str | None) -> dict[str, str]:
    """The entries `name: text` of a docstring, continuation lines joined."""
    entries: dict[str, str] = {}
    name = ""
    indent = 0
    for line in inspect.cleandoc(docstring or "").splitlines():
        begin = re.match(r"( *)([a-z_]+): (.+)", line)
        depth = len(line) - len(line.lstrip())
        if begin is not None:
            name, indent = begin[2], len(begin[1])
            entries[name] = begin[3]
        elif name and line.strip() and depth > indent:
            entries[name] += " " + line.strip()
        else:
            name = ""
    return entries


def _shape(space: Any) -> str:
    return f"`{tuple(space.shape)}`"


def _by_players(table: dict[int, list[Slice]]) -> Table:
    """One row for every slice, or run of slices that differ in their numbers only; one column a number of players.

    A run of k slices of w columns each reads `first–last (k × w)`; one that others lie between, at a distance of d columns
    from slice to slice, reads `first–last + d N`, with the columns of its slice 0.
    """
    runs = {players: _runs(parts) for players, parts in table.items()}
    patterns = list(next(iter(runs.values())))
    if any(list(by_pattern) != patterns for by_pattern in runs.values()):
        raise ValueError("the slices are not the same, in the same order, for every number of players")
    rows = []
    for pattern in patterns:
        found = [by_pattern[pattern] for by_pattern in runs.values()]
        scattered = any(_distance(run) for run in found)
        names = list(dict.fromkeys(part.name for run in found for part in run))
        rows.append(
            (
                numbered(names) if scattered else name_list(names),
                merged([part.meaning for run in found for part in run]),
                *(_columns(run) for run in found),
            )
        )
    return Table(("slice", "meaning", *(f"n{NBSP}={NBSP}{players}" for players in table)), rows)


def _distance(run: list[Slice]) -> int:
    """From slice to slice of a run that others lie between, else 0."""
    return run[1].start - run[0].start if len(run) > 1 and run[1].start > run[0].stop else 0


def _columns(run: list[Slice]) -> str:
    distance, width = _distance(run), run[0].stop - run[0].start
    first, last = run[0].start, run[0 if distance else -1].stop - 1
    text = str(first) if first == last else f"{first}{WORD_JOINER}–{WORD_JOINER}{last}"
    if distance:
        return f"{text} +{NBSP}{distance}{NBSP}N"
    return text + (f" ({len(run)}{NBSP}×{NBSP}{width})" if len(run) > 1 and width > 1 else "")


def name_list(names: list[str]) -> str:
    """Names that differ in a number at their ends, written once: `row` 0.0, 0.1, 1.0."""
    split = [re.fullmatch(r"(.*?) ([\d.]+)", name) for name in names]
    stems = {match[1] for match in split if match is not None}
    if len(names) > 1 and None not in split and len(stems) == 1:
        return f"`{stems.pop()}` " + ", ".join(match[2] for match in split if match is not None)
    return ", ".join(f"`{name}`" for name in names)


def numbered(names: list[str]) -> str:
    """Names that differ in a number anywhere: `up N red` (N = 0, 1, 2)."""
    numbers = ", ".join(re.findall(r"\d+", name)[0] for name in names)
    return f"`{_pattern(names[0], 'N')}` (N = {numbers})"


def names_in(cell: str) -> list[str]:
    """The names that `name_list` or `numbered` has written."""
    pattern, _, numbers = cell.rstrip(")").partition("` (N = ")
    if numbers:
        return [re.sub(r"\bN\b", number, pattern[1:]) for number in numbers.split(", ")]
    stem, _, ends = cell.partition("` ")
    if ends:
        return [f"{stem[1:]} {end}" for end in ends.split(", ")]
    return [name.strip("`") for name in cell.split(", ")]


def _pattern(name: str, letter: str) -> str:
    return re.sub(r"\d+", letter, name)


def _runs(parts: list[Slice]) -> dict[tuple[str, int], list[Slice]]:
    """Slices of one width whose names differ in their numbers only, in order, by (pattern, position): neighbours, or those
    at one place in a sequence that repeats itself for seat 0, 1, … (`up 0 red`, `up 0 blue`, `up 1 red`, `up 1 blue`)."""
    kinds = [(_pattern(part.name, "#"), part.stop - part.start) for part in parts]
    runs: list[tuple[str, list[Slice]]] = []
    at = 0
    while at < len(parts):
        length, times = _repetition(kinds[at:])
        for place in range(at, at + length):
            runs.append((kinds[place][0], parts[place : at + length * times : length]))
        at += length * times
    return {(pattern, position): run for position, (pattern, run) in enumerate(runs)}


def _repetition(kinds: Sequence[tuple[str, int]]) -> tuple[int, int]:
    """How long the shortest sequence is that these begin with and that repeats itself at once, and how often it is there."""
    for length in range(1, len(kinds) // 2 + 1):
        block = kinds[:length]
        if length > 1 and any(pattern.count("#") != 1 for pattern, _ in block):
            break
        times = 1
        while kinds[length * times : length * (times + 1)] == block:
            times += 1
        if times > 1:
            return length, times
    return 1, 1


def merged(texts: list[str]) -> str:
    """Texts that differ in their numbers only, as one: `in units of 32/47/63`."""
    if len(set(texts)) == 1:
        return texts[0]
    parts = [re.split(r"(\d+)", text) for text in texts]
    if len({tuple(part[::2]) for part in parts}) > 1:
        return " / ".join(dict.fromkeys(texts))
    return "".join("/".join(dict.fromkeys(words)) for words in zip(*parts, strict=True))


def _number(value: float) -> str:
    return f"{value:+.3g}".replace("-", MINUS) if value else "0"


# ------------------------------------------------------------------------------------------------- the kinds of tables


def summary(game: GameDefinition) -> Table:
    """The head of a game's page, in the form of PettingZoo's pages."""
    players = player_numbers(game)
    env = game.raw_env()
    agent = env.possible_agents[0]
    observation_space: Any = env.observation_space(agent)
    encoders = [make_encoder(game, game.rules_type(num_players=n), "flat") for n in players]
    shapes = ", ".join(_shape(encoder.space) for encoder in encoders)
    low, high = (f"{getattr(encoders[0].space, bound).flat[0]:g}" for bound in ("low", "high"))
    space = env.action_space(agent)
    return Table(
        ("Import", f"`from {game.package.rpartition('.')[0]} import {game.id}`"),
        [
            ("PettingZoo id", f'`pettingzoo.make("aec", "easyenvs/{game.id}")`'),
            ("Agents", f"{players[0]}–{players[-1]}; default {game.rule_options['num_players']}"),
            ("Agent names", f"`{agent}` … `player_{{n−1}}`"),
            ("Parallel API", "Yes" if env.metadata["is_parallelizable"] else "No"),
            ("Actions", "Discrete, with a mask of legal actions"),
            ("Action shape", _shape(space)),
            ("Action values", f"`Discrete({space.n})`"),
            ("Observation shape", f"{shapes} for {', '.join(map(str, players))} players (encoder `flat`)"),
            ("Observation values", f"[{low}, {high}], `{encoders[0].space.dtype}`"),
            ("Mask", f"`{observation_space['action_mask']}`"),
            ("Rewards", ", ".join(f"`{name}`" for name in rewards.REWARDS) + f"; default `{env.reward}`"),
            ("Render modes", ", ".join(f"`{mode}`" for mode in env.metadata["render_modes"])),
            ("Engines", ", ".join(f"`{engine}`" for engine in game.engines)),
        ],
    )


def spaces(game: GameDefinition) -> Table:
    """The observation spaces by number of players, the state's size, and the bound of R6."""
    rows = []
    for players in player_numbers(game):
        env = game.raw_env(num_players=players)
        encoders = [make_encoder(game, env.rules, name) for name in ENCODERS]
        shapes = [_shape(e.space) for name, e in zip(ENCODERS, encoders, strict=True) if name in ("flat", "bits")]
        rows.append((str(players), *shapes, _shape(env.state_space), f"{env.rules.max_decisions:,} decisions"))
    return Table(("players", "`flat` (float32)", "`bits` (uint8)", "`state()` (float32)", "R6 truncates after"), rows)


def _layout(game: GameDefinition, encoder: str) -> Table:
    rules = [game.rules_type(num_players=players) for players in player_numbers(game)]
    made: dict[int, Any] = {each.num_players: make_encoder(game, each, encoder) for each in rules}
    return _by_players({players: encoder.slices for players, encoder in made.items()})


def flat(game: GameDefinition) -> Table:
    """The columns of `flat`."""
    return _layout(game, "flat")


def bits(game: GameDefinition) -> Table:
    """The columns of `bits`."""
    return _layout(game, "bits")


def state(game: GameDefinition) -> Table:
    """The columns of `env.state()`."""
    return _by_players({n: game.encode.state_slices(game.rules_type(num_players=n)) for n in player_numbers(game)})


def dict_(game: GameDefinition) -> Table:
    """The arrays of `dict`, and what they hold of `flat`."""
    rules = [game.rules_type(num_players=players) for players in player_numbers(game)]
    made = {each.num_players: DictEncoder(game.encode.features(each)) for each in rules}
    most = made[max(made)]
    rows = []
    for key, (start, stop, _) in most.shapes.items():
        parts = [part.name for part in most.flat.slices if start <= part.start < stop]
        stems = dict.fromkeys(_pattern(re.sub(r" [\d.]+$", "", name), "N") for name in parts)
        shapes = [f"`{encoder.shapes[key][2]}`" if key in encoder.shapes else NO_ENTRY for encoder in made.values()]
        rows.append((f"`{key}`", ", ".join(f"`{stem}`" for stem in stems), *shapes))
    return Table(("key", "slices of `flat`", *(f"n{NBSP}={NBSP}{players}" for players in made)), rows)


def actions(game: GameDefinition) -> Table:
    """The groups of actions."""
    return Table(("id", "name", "meaning", "legal in phase"), list(game.notation.ACTION_GROUPS))


def action_ids(game: GameDefinition) -> Table:
    """The name of every single action."""
    names: tuple[str, ...] = game.notation.ACTION_NAMES
    ids_a_row = IDS_A_ROW if max(map(len, names)) <= SHORT_NAME else IDS_A_ROW // 2
    rows = []
    for first in range(0, len(names), ids_a_row):
        row = names[first : first + ids_a_row]
        rows.append((f"**{first}**", *row, *[""] * (ids_a_row - len(row))))
    return Table(("id", *(f"+{i}" for i in range(ids_a_row))), rows)


def phases(game: GameDefinition) -> Table:
    """The phases, with the comments that their enum has."""
    phase_type = inspect.getmodule(game.game_type).Phase  # type: ignore[union-attr]
    comments = dict(re.findall(r"(\w+) = \d+  # (.+)", inspect.getsource(phase_type)))
    rows = []
    for phase in phase_type:
        name = phase.name.lower()
        legal = [group[1] for group in game.notation.ACTION_GROUPS if name in group[3].split(", ")]
        rows.append((str(int(phase)), f"`{name}`", comments.get(phase.name, ""), ", ".join(legal) or "nothing"))
    return Table(("number", "phase", "rule: what is to be decided", "actions that may be legal"), rows)


def options(game: GameDefinition) -> Table:
    """The options of `env` and `raw_env`."""
    return _options(game, game.raw_env, "env")


def batch_options(game: GameDefinition) -> Table:
    """The options of `batch`."""
    return _options(game, lambda **given: game.batch(1, **given), "batch")


def _options(game: GameDefinition, make: Callable[..., Any], door: str) -> Table:
    parameters = inspect.signature(getattr(importlib.import_module(game.package), door)).parameters
    texts = {**described(type(make()).__doc__), **described(game.rules_type.__doc__)}
    rows = [
        (f"`{name}`", f"`{parameter.default!r}`", accepted_values(make, name), _code_words(texts.get(name, "")))
        for name, parameter in parameters.items()
        if parameter.default is not parameter.empty
    ]
    return Table(("option", "default", "accepted", "meaning"), rows)


def batch_arrays(game: GameDefinition) -> Table:
    """The arrays that a batch shows: dtypes and shapes as they are, meanings from the docstrings."""
    games = game.batch(5, num_players=player_numbers(game)[-1])
    axes = {5: "N", games.num_players: "P", games.num_actions: "A", games.legal_words.shape[1]: "W"}
    rows = []
    for name, member in vars(Batch).items():
        value = getattr(games, name) if isinstance(member, property) else None
        if isinstance(value, np.ndarray):
            shape = ", ".join(axes[length] for length in value.shape)
            meaning = re.sub(r"[,:] (?:u?int|float|bool)\d* \[[^\]]*\]", "", str(member.__doc__))
            rows.append((f"`{name}`", f"`{value.dtype} [{shape}]`", meaning))
    return Table(("attribute", "dtype and shape", "meaning"), rows)


def decisions(game: GameDefinition) -> Table:
    """What a policy is given, from the docstrings of `Decisions`."""
    attributes = described(str(policies.Decisions.__doc__).partition("Attributes:")[2])
    members = {
        name: " ".join(str(member.__doc__).split("\n\n")[0].split())
        for name, member in vars(policies.Decisions).items()
        if not name.startswith("_") and (callable(member) or isinstance(member, property))
    }
    rows = [(f"`{name}`", text) for name, text in {**attributes, **members}.items()]
    return Table(("attribute", "meaning"), rows)


def view(game: GameDefinition) -> Table:
    """The fields of a view."""
    fields = views.table(game.view.View)
    rows = [(f"`{name}`", f"`{shape}`", f"`{dtype}`", meaning) for name, shape, dtype, meaning in fields]
    derived = [
        (f"`{name}`", value.__doc__)
        for name, value in vars(game.view.View).items()
        if isinstance(value, property) and value.__doc__
    ]
    for name, text in derived:
        declared, _, meaning = text.rstrip(".").partition(": ")
        shape, _, dtype = declared.partition("] ")
        dtype, _, kind = dtype.partition(", ")
        rows.append((name, f"`{shape}]`", f"`{dtype}`", f"{kind + ': ' if kind else ''}{meaning}"))
    return Table(("field", "shape", "dtype", "meaning"), rows)


def snapshot(game: GameDefinition) -> Table:
    """The keys of a snapshot, from the docstring of the game's notation."""
    lines = inspect.cleandoc(game.notation.__doc__ or "").splitlines()
    entries = [re.fullmatch(r" {4}(\w+(?:, \w+)*) {2,}(.+)", line) for line in lines]
    rows = []
    for entry in filter(None, entries):
        names = entry[1].split(", ")
        needed = all(name in ("game", "num_players", *game.notation.REQUIRED_KEYS) for name in names)
        meaning = _code_words(" ".join(entry[2].split()))
        rows.append((", ".join(f"`{name}`" for name in names), "yes" if needed else "no", meaning))
    return Table(("key", "required", "value"), rows)


def reward(game: GameDefinition) -> Table:
    """What the places of a game are worth without ties (R1, R2)."""
    numbers = player_numbers(game)
    rows = []
    for players in numbers:
        place = np.arange(1.0, players + 1)[:, None]
        for name, function in (("placement", rewards.placement), ("win", rewards.win)):
            values = [_number(value) for value in function(place)[:, 0]]
            rows.append((str(players), f"`{name}`", *values, *[""] * (numbers[-1] - players)))
    return Table(("players", "reward", *(f"rank {rank}" for rank in range(1, numbers[-1] + 1))), rows)


def agents(game: GameDefinition) -> Table:
    """The policies that `load_policy` knows by name, with the first line of their docstrings."""
    rows = [("`random`", str(policies.RandomPolicy.__doc__))]
    for name in policies.agent_names(game):  # read, not imported: an agent may need an extra
        spec = importlib.util.find_spec(policies.agent_module(name, game))
        assert spec is not None and spec.origin is not None
        text = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
        rows.append((f"`{name}`", text.split("\n\n")[0].replace("\n", " ")))
    return Table(("name", "what it does"), rows)


def statistics(game: GameDefinition) -> Table:
    """What uniform random legal play gives, by number of players."""
    columns = [_play_random(game, players) for players in player_numbers(game)]
    names = list(columns[0])
    return Table(
        ("", *(f"{players} players" for players in player_numbers(game))),
        [(name, *(column[name] for column in columns)) for name in names],
    )


def _play_random(game: GameDefinition, players: int) -> dict[str, str]:
    games: Batch = game.batch(STATISTICS_GAMES, num_players=players, seed=STATISTICS_SEED)
    legal = decisions = 0
    while (games.player >= 0).any():
        legal += int(np.bitwise_count(games.legal_words).sum())
        decisions += int((games.player >= 0).sum())
        games.step(policies.act(games, [policies.random_policy] * players))
    length, places = games.decisions, games.ranks()
    best = [scores[place.argmin()] for scores, place in zip(games.scores, places, strict=True)]
    winners = (places == places.min(axis=1, keepdims=True)).sum(axis=1)
    found = {
        "decisions in a game, mean": f"{length.mean():.0f}",
        "decisions in a game, 95th percentile": f"{np.percentile(length, 95):.0f}",
        "legal actions in a decision, mean": f"{legal / decisions:.1f}",
        "score of a seat, mean": f"{games.scores.mean():.0f}",
        "score of the winner, mean": f"{np.mean(best):.0f}",
        "games with a shared first place": f"{(winners > 1).mean():.1%}",
        "truncated games": f"{games.truncated.mean():.1%}",
    }
    first = games.snapshot(0)
    if "round_scores" in first:
        rounds = [scores for row in range(games.num_games) for scores in games.snapshot(row)["round_scores"]]
        found["rounds in which a seat scores 0"] = f"{np.mean([0 in scores for scores in rounds]):.0%}"
    return found


def trained(game: GameDefinition) -> Table:
    """The trained agents of a game: what made them, and how they did in a fresh evaluation."""
    folder = Path(__file__).resolve().parents[1] / "examples" / "agents" / "trained"
    results = json.loads((folder / "evaluation.json").read_text())["results"]
    rows = []
    for path in sorted(folder.glob(f"{game.id}-*.npz")):
        _, about = load_network(path)
        against = {result["opponent"]: result for result in results if result["weights"] == path.name}
        rows.append(
            (
                str(about["num_players"]),
                f"`{path.name}`, {path.stat().st_size / 1000:.0f} kB",
                *(
                    f"{against[opponent]['placement']:+.3f} ± {against[opponent]['interval']:.3f}"
                    for opponent in ("heuristic", "random")
                ),
                f"{about['steps'] / 1e6:.0f}M",
                f"{about['seconds'] / 60:.0f} min",
                f"`{about['command']}`",
            )
        )
    header = ("players", "weights", "against heuristic", "against random", "decisions", "time", "command")
    return Table(header, rows)


def _written(folder: str, pattern: str) -> list[dict[str, Any]]:
    """What benchmarks have written into a folder here: command, machine, results; there has to be something."""
    paths = sorted((Path(__file__).resolve().parent / folder).glob(pattern))
    if not paths:
        raise ValueError(f"docs/{folder} has no file {pattern}")
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def _league_results(game: GameDefinition) -> list[dict[str, Any]]:
    """What `benchmarks/league.py` has written for a game, by number of players: command, machine, results."""
    return _written("league", f"{game.id}-*p.json")


def _estimate(estimate: dict[str, float], digits: int, scale: float = 1.0, sign: str = "") -> str:
    half = scale * (estimate["high"] - estimate["low"]) / 2
    return f"{scale * estimate['mean']:{sign},.{digits}f} ± {half:,.{digits}f}"


def league(game: GameDefinition) -> Table:
    """The league of a game, the best agent first."""
    rows = []
    for table in _league_results(game):
        r = table["results"]
        for k in sorted(range(len(r["policies"])), key=lambda k: -r["placement"][k]["mean"]):
            skill = r["openskill"][k]
            rows.append(
                (
                    str(r["num_players"]),
                    r["policies"][k],
                    _estimate(r["placement"][k], 3, sign="+"),
                    _estimate(r["win_rate"][k], 1, 100.0) + "%",
                    _estimate(r["score"][k], 1),
                    _estimate(r["elo"][k], 0),
                    f"{skill['mu']:.1f} ± {skill['sigma']:.1f}",
                )
            )
    return Table(("players", "agent", "mean placement", "win rate", "score", "Elo", "OpenSkill"), rows)


def league_runs(game: GameDefinition) -> Table:
    """How the league of a game was played."""
    rows = []
    for table in _league_results(game):
        r = table["results"]
        each = r["games"] * r["num_players"] // len(r["policies"])
        rows.append(
            (
                str(r["num_players"]),
                f"{r['games']:,}",
                f"{each:,}",
                f"{r['deals']:,}",
                str(r["seed"]),
                str(r["truncated"]),
                str(len(r["forfeits"])),
                f"`{table['command']}`",
            )
        )
    header = ("players", "games", "of each agent", "deals of a line-up", "seed", "cut off", "forfeited", "command")
    return Table(header, rows)


def league_overview(games: Sequence[GameDefinition]) -> Table:
    """The leagues of all games side by side: mean placement with its 95% interval, and Elo."""
    columns = {
        f"`{game.id}`, {table['results']['num_players']} players": table["results"]
        for game in games
        for table in _league_results(game)
    }
    agents = list(dict.fromkeys(name for results in columns.values() for name in results["policies"]))
    rows = []
    for agent in agents:
        cells = [agent]
        for r in columns.values():
            if agent in r["policies"]:
                k = r["policies"].index(agent)
                cells.append(f"{_estimate(r['placement'][k], 2, sign='+')} ({r['elo'][k]['mean']:,.0f})")
            else:
                cells.append(NO_ENTRY)
        rows.append(tuple(cells))
    return Table(("agent", *columns), rows)


def search(game: GameDefinition) -> Table:
    """How strong the search agents of a game are, by budget."""
    rows = []
    for written in _written("search", "*.json"):
        for r in written["results"]:
            if r["game"] == game.id:
                rows.append(
                    (
                        str(r["players"]),
                        r["algorithm"],
                        f"{r['budget']:g} {r['unit']}",
                        f"{r['placement']:+.3f} ± {r['interval']:.3f}",
                        f"{100 * r['win_rate']:.1f} ± {100 * r['win_interval']:.1f}%",
                        f"{r['games']:,}",
                        f"{r['milliseconds']:.1f} ms",
                        f"{100 * r['changed']:.0f}%",
                    )
                )
    header = ("players", "algorithm", "budget", "mean placement", "win rate", "games", "a decision", "changed")
    return Table(header, rows)


KINDS: Final[dict[str, Callable[[GameDefinition], Table]]] = {
    "summary": summary,
    "spaces": spaces,
    "flat": flat,
    "bits": bits,
    "dict": dict_,
    "state": state,
    "actions": actions,
    "action-ids": action_ids,
    "phases": phases,
    "options": options,
    "batch-options": batch_options,
    "batch-arrays": batch_arrays,
    "decisions": decisions,
    "view": view,
    "snapshot": snapshot,
    "rewards": reward,
    "agents": agents,
    "statistics": statistics,
    "trained": trained,
    "league": league,
    "league-runs": league_runs,
    "search": search,
}
NARROW: Final = ("flat", "bits", "state", "dict", "action-ids", "rewards")
"""Tables of many columns, for the style sheet."""


# ------------------------------------------------------------------------------------------------- the directives


class TableDirective(SphinxDirective):
    """`easyenvs-table KIND GAME`."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """The table's nodes."""
        self.env.note_reread()
        kind, name = self.arguments
        if kind not in KINDS:
            raise self.error(f"{kind!r} is no kind of table; kinds are {', '.join(KINDS)}")
        made = self.parse_text_to_nodes(KINDS[kind](find_game(name)).markdown())
        for table in made:
            if isinstance(table, nodes.table):
                table["classes"] += [f"easyenvs-{kind}", *(["narrow"] if kind in NARROW else [])]
        return made


class PictureDirective(SphinxDirective):
    """`easyenvs-picture GAME`: the table in the middle of a game between heuristics, in both themes."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The pictures; the page's theme says which is seen."""
        self.env.note_reread()
        game = find_game(self.arguments[0])
        env = game.raw_env(num_players=PICTURE_PLAYERS)
        env.reset(seed=PICTURE_SEED)
        policy = policies.load_policy("heuristic", game)
        for _ in range(PICTURE_DECISIONS):
            env.step(int(policy(env.decision())[0]))
        made: list[nodes.Node] = []
        for theme in ("light", "dark"):
            picture = env.picture_for(env.agent_selection, theme)
            made.append(nodes.raw("", f'<div class="only-{theme}">{picture}</div>', format="html"))
        return made


PICTURE_PLAYERS: Final = 4
PICTURE_SEED: Final = 5
PICTURE_DECISIONS: Final = 40


class RunDirective(SphinxDirective):
    """`easyenvs-run`: Python code and what it prints."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"hide-code": directives.flag}

    def run(self) -> list[nodes.Node]:
        """The code's block and the output's."""
        self.env.note_reread()
        code = "\n".join(self.content)
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(code, str(self.env.doc2path(self.env.docname)), "exec"), {"__name__": "__main__"})
        except Exception as error:
            raise self.error(f"the code of easyenvs-run raised {error!r}") from error
        text = printed.getvalue().rstrip("\n")
        blocks: list[nodes.Node] = []
        if "hide-code" not in self.options:
            blocks.append(nodes.literal_block(code, code, language="python"))
        if text:
            blocks.append(nodes.literal_block(text, text, language="text", classes=["output"]))
        return blocks


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("easyenvs-table", TableDirective)
    app.add_directive("easyenvs-picture", PictureDirective)
    app.add_directive("easyenvs-run", RunDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
