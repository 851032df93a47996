"""Game records: written, read, recorded and replayed; and whatever is wrong with one is refused with its line."""

from __future__ import annotations

import copy
import io
import json
import pickle
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import easyenvs
from easyenvs import Record, RecordError, read_records, replay, write_records
from easyenvs.core.game import GameDefinition
from easyenvs.core.policies import Decisions, load_policy, random_policy
from easyenvs.records import MAX_LINE, Fault, Recording, Result, play_recorded
from tests.peasy_v0.positions import position as peasy_position
from tests.school_v0.positions import position as school_position

PEASY, SCHOOL = easyenvs.peasy_v0.GAME, easyenvs.school_v0.GAME
GAMES = [PEASY, SCHOOL]
every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
every_engine = pytest.mark.parametrize(
    ("game", "engine"), [(game, engine) for game in GAMES for engine in game.engines], ids=lambda v: getattr(v, "id", v)
)


def text_of(*records: Record) -> str:
    file = io.StringIO()
    write_records(file, records)
    return file.getvalue()


def read(text: str | bytes) -> list[Record]:
    return list(read_records(io.StringIO(text) if isinstance(text, str) else io.BytesIO(text)))


def replay_all(text: str | bytes) -> list[Record]:
    records = read(text)
    for record in records:
        replay(record)
    return records


def refused(text: str | bytes) -> RecordError:
    """The error that reading or replaying the file gives."""
    with pytest.raises(RecordError) as caught:
        replay_all(text)
    return caught.value


# ------------------------------------------------------------------------------------------------- by hand

BY_HAND = """\
{"record": "header", "format": 1, "game": "peasy_v0", "version": "0.1.0", "rules": {"num_players": 2}, "seed": 0}
{"seat": 1, "action": "down"}
{"seat": 1, "action": "P4>1"}
{"record": "end", "decisions": 2, "result": null}
{"record": "header", "format": 1, "game": "peasy_v0", "version": "0.0.7", "rules": {"max_cycles": 1}, "seed": 0, \
"policies": ["a \\ud83d\\ude00 <b>", null], "notes": {"event": [1, 2.5, null]}}
{"seat": 1, "action": "DOWN"}
{"seat": 1, "action": "p4 > 1"}
{"record": "end", "decisions": 2, "result": {"scores": [0, 0], "ranks": [1.5, 1.5], "truncated": true}}
"""


def test_records_written_by_hand() -> None:
    running, truncated = read(BY_HAND)
    assert running == Record(
        "peasy_v0",
        {"num_players": 2},
        seed=0,
        actions=("down", "P4>1"),
        players=(1, 1),
        version="0.1.0",
    )
    assert running.rules == {"num_players": 2, "num_rounds": 3, "target_score": None, "max_cycles": None}
    assert (running.file, running.line, truncated.line) == (None, 1, 5)
    assert truncated.version == "0.0.7"
    assert truncated.policies == ("a 😀 <b>", None)
    assert truncated.notes == {"event": [1, 2.5, None]}
    assert truncated.result == Result((0, 0), (1.5, 1.5), True)

    played = replay(running)
    assert len(played) == 2
    assert played.actions == ("down", "P4>1")
    assert played.at(0)["phase"] == "direction"
    assert played.legal(0) == ["up", "down"]
    assert played.at(1)["direction"] == "down"
    assert played.at(2)["tops"][1] == PEASY.notation.parse_action("P4>0") - 6
    assert replay(truncated).actions == ("down", "P4>1")  # as the game spells them
    assert replay(truncated).at(2)["truncated"] is True


def test_an_explicit_deal_needs_no_seed() -> None:
    """Seat 0 plays its last card and ends the round with 5 points left; seat 1 has 18 in its hand, so 0 : 18 (P15)."""
    snapshot = peasy_position(["R5", "B9 P9"], [("G3", "/P2"), ("B1", "B2")], "R1 G2", draw=5)
    text = "\n".join(
        json.dumps(line)
        for line in (
            {
                "record": "header",
                "format": 1,
                "game": "peasy_v0",
                "version": "0.1.0",
                "rules": {"num_rounds": 1},
                "snapshot": snapshot,
            },
            {"seat": 0, "action": "R5>1"},
            {
                "record": "end",
                "decisions": 1,
                "result": {"scores": [0, 18], "ranks": [1, 2], "truncated": False},
            },
        )
    )
    (record,) = read(text)
    assert record.seed is None
    assert record.snapshot == snapshot
    played = replay(record)
    assert played.at(0)["hands"] == snapshot["hands"]
    assert played.at(1)["phase"] == "over"
    assert played.legal(1) == []
    assert read(text_of(record)) == [record]
    snapshot["hands"][0].append(0)
    assert record.snapshot != snapshot  # a copy


@pytest.mark.parametrize("seed", [None, 3])
def test_a_snapshot_keeps_later_chance(seed: int | None) -> None:
    """The deck's next shuffle hangs on the snapshot's seed, on 0 without one."""
    more = {} if seed is None else {"seed": seed}
    start = peasy_position(["R5 R6", "B9"], [("G3", ""), ("B1", "")], "G1 G2", draw=0, **more)
    record = Record("peasy_v0", snapshot=start, actions=("flip",), players=(0,))
    after = replay(record).at(1)
    games = PEASY.batch(1, seed=[0 if seed is None else seed])
    games.restore(0, start)
    games.step([PEASY.notation.parse_action("flip")])
    assert after == games.snapshot(0)
    assert after["reshuffles"] == 1


# ------------------------------------------------------------------------------------------------- round trips


@every_engine
@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_round_trip(game: GameDefinition, engine: str, players: int) -> None:
    """From rules, seed and actions alone comes the same game, position by position."""
    seeds = [11, 2**64 - 1]
    records = play_recorded(game, ["random"] * players, seeds, {"num_players": players}, engine=engine)
    assert [record.seed for record in records] == seeds
    assert read(text_of(*records)) == records
    games = game.batch(2, num_players=players, seed=seeds, engine=engine)
    for row, record in enumerate(read(text_of(*records))):
        played = replay(record)
        snapshots = list(played.positions())
        assert len(snapshots) == len(played) + 1 == len(record.actions) + 1
        for k, action in enumerate(played.action_ids):
            if k % 9 == 0:
                assert snapshots[k] == games.snapshot(row)
            games.step([action], where=[row])
        assert snapshots[-1] == games.snapshot(row) == played.at(len(played))
        assert record.result == Result(
            tuple(games.scores[row].tolist()), tuple(games.ranks()[row].tolist()), bool(games.truncated[row])
        )


@every_engine
def test_a_record_of_a_batch_is_that_of_the_aec_env(game: GameDefinition, engine: str) -> None:
    policies = ["greedy", "random"]
    sits = np.array([[0, 1, 1], [1, 1, 0]])
    records = play_recorded(game, policies, [5, 6], {"num_players": 3}, sits, [3, 4])
    for seed, seats, expected in zip([5, 6], sits.tolist(), records, strict=True):
        env = game.env(num_players=3, engine=engine)
        env.reset(seed=seed)
        notes = {"policy_seeds": [[3, 4][j] for j in seats]}
        recording = Recording(env, policies=[policies[j] for j in seats], notes=notes)
        while not env.over:
            j = seats[env.seat_to_act]
            recording.step(int(load_policy(policies[j], game)(env.decision([3, 4][j]))[0]))
        for _ in range(3):
            recording.step(None)  # the seats leave, which is no decision
        assert not env.agents
        assert recording.record() == expected


@every_game
def test_truncated_games(game: GameDefinition) -> None:
    records = play_recorded(game, [random_policy] * 4, range(3), {"num_players": 4, "max_cycles": 3})
    assert read(text_of(*records)) == records
    for record in records:
        assert len(replay(record)) == 12
        assert record.result is not None and record.result.truncated
        assert record.policies == ("random",) * 4


def test_a_record_that_ends_with_a_game_of_many_decisions() -> None:
    """Positions are right on both sides of those that are kept."""
    (record,) = play_recorded("school_v0", ["random"] * 3, [8])
    played = replay(record)
    snapshots = list(played.positions())
    for k in (0, 1, 31, 32, 33, 63, 64, 65, len(played) - 1, len(played)):
        assert played.at(k) == snapshots[k]
        assert played.at(np.int64(k)) == snapshots[k]
        assert played.players[k : k + 1] == (() if snapshots[k]["player"] is None else (snapshots[k]["player"],))


@every_game
def test_positions_are_the_callers_to_keep(game: GameDefinition) -> None:
    played = replay(play_recorded(game, ["random"] * 3, [8], {"num_players": 3})[0])
    first = played.at(40)
    kept = copy.deepcopy(first)
    for value in first.values():
        if isinstance(value, list):
            value.clear()
    assert played.at(40) == kept
    walked = list(played.positions())
    assert walked[40] == kept
    assert pickle.loads(pickle.dumps(played)).at(40) == kept


@every_engine
def test_an_environment_at_any_decision(game: GameDefinition, engine: str) -> None:
    (record,) = play_recorded(game, ["random"] * 3, [21], {"num_players": 3})
    played = replay(record)
    for k in (0, 37, len(played)):
        env = played.env(k, engine=engine, render_mode="ansi", reward="win")
        raw: Any = env.unwrapped
        assert raw.snapshot() == played.at(k)
        assert raw.game_seed == 21 and env.render_mode == "ansi" and env.reward == "win"
        assert [raw.action_name(action) for action in raw.legal_actions()] == played.legal(k)
        for action in played.action_ids[k:]:
            env.step(action)
        assert raw.over and raw.snapshot() == played.at(len(played))
    raw_env = played.env(raw=True)
    assert type(raw_env) is type(game.raw_env())
    again: Any = played.env(5).unwrapped
    raw_env.reset()
    again.reset()
    assert raw_env.snapshot() == again.snapshot()  # what comes after is a function of the record as well
    with pytest.raises(TypeError, match="num_players=2 is a rule"):
        played.env(0, num_players=2)


@pytest.mark.parametrize("k", [-1, 67, 2.0, True, "1", None])
def test_positions_that_are_not_there(k: Any) -> None:
    played = replay(play_recorded("peasy_v0", ["greedy", "random"], [0], policy_seeds=[3, 4])[0])
    assert len(played) == 66
    for ask in (played.at, played.legal, played.env):
        with pytest.raises(IndexError, match=r"no position of this replay; positions are 0 … 66"):
            ask(k)


# ------------------------------------------------------------------------------------------------- recording


@every_engine
def test_a_recording_from_the_middle_of_a_game_begins_with_its_position(game: GameDefinition, engine: str) -> None:
    env = game.env(num_players=3, engine=engine)
    env.reset(seed=4)
    for _ in range(25):
        env.step(env.legal_actions()[-1])
    start = env.snapshot()
    recording = Recording(env, notes={"from": "the middle"})
    for _ in range(6):
        recording.step(env.legal_actions()[0])
    record = recording.record()
    assert (record.seed, record.snapshot, record.result) == (None, start, None)
    (again,) = read(text_of(record))
    assert again == record
    assert replay(again).at(6) == env.snapshot()
    other = game.env(num_players=3)
    other.reset(options={"snapshot": replay(again).at(0)})
    assert Recording(other).record().snapshot == start
    assert Recording(replay(play_recorded(game, ["random"] * 3, [4], {"num_players": 3})[0]).env(0)).record().seed == 4


def test_an_illegal_action_is_a_fault() -> None:
    env = PEASY.env()
    env.reset(seed=0)
    recording = Recording(env)
    recording.step(1)
    seat = env.seat_to_act
    with pytest.raises(AssertionError, match="not in action space"):
        recording.step(126)
    assert recording.record().fault is None
    recording.step(2)
    record = recording.record()
    assert (record.actions, record.result, record.fault) == (("down",), None, Fault(seat, "illegal action: pass"))
    recording.step(None)
    recording.step(None)
    assert not env.agents and recording.record() == record
    assert read(text_of(record)) == [record]
    assert len(replay(record)) == 1

    raw = PEASY.raw_env()
    raw.reset(seed=0)
    recording = Recording(raw)
    recording.step(np.int64(0))
    with pytest.raises(easyenvs.IllegalActionError):
        recording.step(2)
    record = recording.record(Fault(seat, "out of time"))
    assert (record.actions, record.fault) == (("up",), Fault(seat, "out of time"))
    assert recording.record().fault is None


def test_what_cannot_be_recorded() -> None:
    env = SCHOOL.env()
    with pytest.raises(easyenvs.NotResetError):
        Recording(env)
    for wrong in (None, 3, easyenvs.peasy_v0):
        with pytest.raises(TypeError, match="a PettingZoo environment of easyenvs is accepted"):
            Recording(wrong)
    env.reset(seed=1)
    with pytest.raises(RecordError, match="policies"):
        Recording(env, policies=["a"])
    recording = Recording(env)
    recording.step(env.legal_actions()[0])
    env.step(env.legal_actions()[0])
    with pytest.raises(RuntimeError, match=r"elsewhere than this recording after 1 decisions"):
        recording.step(env.legal_actions()[0])
    with pytest.raises(RuntimeError, match=r"was reset, restored or stepped without it"):
        recording.record()


def last_legal(d: Decisions) -> Any:
    return d.num_actions - 1 - d.legal[:, ::-1].argmax(axis=1)


class Stubborn:
    def __call__(self, d: Decisions, /) -> Any:
        return np.full(len(d), 2)


def test_play_recorded_names_its_policies() -> None:
    rules = {"num_players": 2, "max_cycles": 2}
    record, _ = play_recorded(easyenvs.peasy_v0, ["random", last_legal], [1, 2], rules)
    assert record.policies == ("random", "tests.test_records:last_legal")
    assert record.notes == {}
    (record,) = play_recorded(easyenvs.peasy_v0, ["random", last_legal], [1], rules, names=["Ada", "Bob"])
    assert record.policies == ("Ada", "Bob")
    assert play_recorded("peasy_v0", ["random"] * 2, []) == []
    with pytest.raises(easyenvs.IllegalActionError):
        play_recorded("peasy_v0", [Stubborn()] * 2, [1, 2])


def test_games_are_the_same_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    sits = np.array([[0, 1], [1, 0], [1, 1], [0, 0], [2, 0]])
    played = []
    for at_once in (5, 3, 2):
        monkeypatch.setattr("easyenvs.records._GAMES_AT_ONCE", at_once)
        policies = ["greedy", "random", "random"]
        played.append(play_recorded("peasy_v0", policies, range(5), {"max_cycles": 30}, sits, [1, 2, 3]))
    assert played[0] == played[1] == played[2]
    assert [record.notes["policy_seeds"] for record in played[0]] == [[1, 2], [2, 1], [2, 2], [1, 1], [3, 1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"game": "bridge_v0"}, "'bridge_v0' is no game"),
        ({"policies": ["random"]}, "1 policies are given for 2 seats"),
        ({"policies": ["random", "nobody"]}, "'nobody' names no policy"),
        ({"seeds": 5}, "seeds=5 is not accepted"),
        ({"seeds": [5, -1]}, r"seeds\[1\]=-1"),
        ({"seeds": [True]}, r"seeds\[0\]=True"),
        ({"rules": {"num_players": 9}}, "num_players=9"),
        ({"policy_seeds": [1]}, r"policy_seeds=\[1\] .* one for each of 2 policies"),
        ({"names": ["a", "b", "c"]}, "names="),
        ({"assignment": [[0, 1, 1]]}, r"assignment='int64 of shape \(1, 3\)'"),
        ({"assignment": [[0, 2]]}, r"assignment=2 .* 0 … 1"),
        ({"assignment": [[0, -1]]}, r"assignment=-1"),
        ({"assignment": [[0.0, 1.0]]}, "float64"),
        ({"engine": "rust"}, "engine='rust'"),
    ],
)
def test_options_of_play_recorded(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        play_recorded(**{"game": "peasy_v0", "policies": ["random"] * 2, "seeds": [1], **options})


def test_play_recorded_accepts_rules_only() -> None:
    with pytest.raises(TypeError, match="no option 'autoreset'"):
        play_recorded("peasy_v0", ["random"] * 2, [1], {"autoreset": True})


# ------------------------------------------------------------------------------------------------- files


def test_files(tmp_path: Path) -> None:
    records = play_recorded("peasy_v0", ["random"] * 2, range(4), {"max_cycles": 4})
    path = tmp_path / "games.jsonl"
    assert write_records(path, iter(records)) == 4
    assert list(read_records(path)) == list(read_records(str(path))) == records
    assert [record.line for record in read_records(path)] == [1, 11, 21, 31]
    assert {record.file for record in read_records(path)} == {str(path)}
    assert replay(path).record == records[0]
    assert replay(str(path), 2).record == replay(path, index=np.int64(2)).record == records[2]
    with open(path, "ab") as file:
        write_records(file, records[:1])
    assert list(read_records(path)) == [*records, records[0]]
    with open(path, encoding="utf-8") as text_file:
        stream = read_records(text_file)
        assert next(stream) == records[0]
        assert next(stream).file == str(path)
        stream.close()
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as temporary:  # is no instance of a text file
        write_records(temporary, records)
        temporary.seek(0)
        assert list(read_records(temporary)) == records
    as_bytes = io.BytesIO()
    write_records(as_bytes, records)
    assert as_bytes.getvalue().isascii() and as_bytes.getvalue().decode() == text_of(*records)
    assert read(as_bytes.getvalue().replace(b"\n", b"\r\n")) == records
    assert read(as_bytes.getvalue()[:-1]) == records


def test_a_file_is_read_as_it_is_asked_for() -> None:
    records = play_recorded("peasy_v0", ["random"] * 2, range(2), {"max_cycles": 4})
    stream = read_records(io.StringIO(text_of(*records) + "nonsense\n"))
    assert [next(stream), next(stream)] == records
    with pytest.raises(RecordError, match="line 21: the line is not JSON, column 1"):
        next(stream)
    assert replay(io.StringIO(text_of(*records) + "nonsense\n"), 1).record == records[1]


def test_a_file_without_records(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    assert write_records(path, []) == 0
    assert list(read_records(path)) == []
    with pytest.raises(RecordError, match=r"empty\.jsonl: there is no record in the file"):
        replay(path)
    with pytest.raises(RecordError, match=r"^there is no record"):
        replay(io.StringIO())
    with pytest.raises(FileNotFoundError):
        list(read_records(tmp_path / "nowhere"))


def test_wrong_arguments() -> None:
    for wrong in (None, 5, [BY_HAND]):
        with pytest.raises(TypeError, match="a path or an open file is accepted"):
            read_records(wrong)
        with pytest.raises(TypeError, match="a path or an open file is accepted"):
            replay(wrong)
    no_records: Any = [{"game": "peasy_v0"}]
    with pytest.raises(TypeError, match="a Record is accepted"):
        write_records(io.StringIO(), no_records)
    with pytest.raises(IndexError, match=r"index=2, but the file has 2 records: 0 … 1"):
        replay(io.StringIO(BY_HAND), 2)
    with pytest.raises(IndexError, match="index=-1"):
        replay(io.StringIO(BY_HAND), -1)
    with pytest.raises(IndexError, match="a Record is one"):
        replay(read(BY_HAND)[0], 1)


@settings(deadline=None, derandomize=True)
@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
def test_names_and_notes_may_be_any_text(name: str, note: str) -> None:
    record = Record("peasy_v0", seed=1, policies=(name, None), notes={note: name}, version=note, fault=Fault(1, name))
    assert read(text_of(record)) == read(text_of(record).encode()) == [record]
    assert text_of(record).isascii()  # no text holds a line's end for any reader
    assert text_of(record).count("\n") == 2


def test_what_is_wrong_is_not_written() -> None:
    record = Record("peasy_v0", seed=1, notes={"long": "x" * MAX_LINE})
    file = io.StringIO()
    with pytest.raises(RecordError, match="a line of this record has"):
        write_records(file, [read(BY_HAND)[0], record])
    assert len(read(file.getvalue())) == 1


def test_the_error_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(RecordError("no good", "games.jsonl", 3)))
    assert (error.reason, error.file, error.line) == ("no good", "games.jsonl", 3)
    assert str(error) == "games.jsonl, line 3: no good"
    assert str(RecordError("no good")) == "no good"
    assert isinstance(error, ValueError)


def test_the_documentation_lists_every_key() -> None:
    page = (Path(__file__).parents[1] / "docs" / "records.md").read_text(encoding="utf-8")
    listed = [re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE) for part in page.split("A decision has the keys")]
    result = Result((0, 0), (1.5, 1.5), True)
    full = Record("peasy_v0", seed=1, policies=("a", "b"), notes={"a": 1}, result=result, fault=Fault(0, "slow"))
    head, tail = (json.loads(line) for line in text_of(full).splitlines())
    assert listed == [[*list(head)[:6], "snapshot", *list(head)[6:]], list(tail)]


# ------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"game": "bridge_v0"}, "'bridge_v0' is no game; games are"),
        ({"game": 3}, "game is 3; a text is accepted"),
        ({"seed": None}, "neither is given"),
        ({"snapshot": {}}, "both are given"),
        ({"seed": -1}, "seed is -1; an integer 0 …"),
        ({"seed": True}, "seed is True"),
        ({"seed": 1.0}, r"seed is 1\.0"),
        ({"rules": [2]}, r"rules is \[2\]; an object"),
        ({"rules": {"players": 2}}, "rules: peasy_v0 has no option 'players'"),
        ({"rules": {"num_players": 7}}, "rules: num_players=7"),
        ({"policies": "ab"}, "policies is 'ab'; a list"),
        ({"policies": ("a",)}, "one for each of 2 seats"),
        ({"policies": ("a", 2)}, "a policy's name is 2"),
        ({"policies": ("a", "\ud800")}, "half a character"),
        ({"actions": ("up",)}, "1 actions of 0 players"),
        ({"actions": "u", "players": (0,)}, "actions is 'u'"),
        ({"actions": (0,), "players": (0,)}, "an action is 0; a text"),
        ({"actions": ("up",), "players": (2,)}, "a seat is 2; an integer 0 … 1"),
        ({"actions": ("up",) * 3, "players": (0,) * 3, "rules": {"max_cycles": 1}}, r"a game has 2 \(R6\)"),
        ({"result": {"scores": [0, 0]}}, "None or a Result is accepted"),
        ({"result": Result((1, 2, 3), (1, 2, 3), False)}, "scores are given for 3 seats of 2"),
        ({"fault": Fault(2, "slow")}, "the seat at fault is 2"),
        ({"fault": "slow"}, "None or a Fault is accepted"),
        ({"notes": {"a": {1, 2}}}, "a set, which JSON does not know"),
        ({"notes": {"a": float("nan")}}, "notes holds nan; finite"),
        ({"notes": {3: "a"}}, "a key of notes is 3"),
        ({"version": None}, "version is None"),
    ],
)
def test_values_of_a_record(values: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        Record(**{"game": "peasy_v0", "seed": 1, **values})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"scores": (True, 1)}, "a score is True"),
        ({"scores": (0.0, 1)}, r"a score is 0\.0"),
        ({"ranks": (1,)}, "ranks is .*; a list of 2"),
        ({"ranks": (True, 2)}, "a rank is True"),
        ({"ranks": (1, float("nan"))}, "a rank is nan"),
        ({"ranks": (0.5, 2)}, "a rank is 0.5; a number 1 … 2"),
        ({"truncated": 0}, "truncated is 0"),
    ],
)
def test_values_of_a_result(values: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        Result(**{"scores": (3, 4), "ranks": (1, 2), "truncated": False, **values})


HEADER, DOWN, P4, END = BY_HAND.splitlines()[:4]
TRUNCATED = BY_HAND.splitlines()[4:]
WITHOUT_END = r"the record that begins in line 1 has no end: the file is cut off"


def header(**changed: Any) -> str:
    """The header with other values; `...` takes one out."""
    return json.dumps({k: v for k, v in {**json.loads(HEADER), **changed}.items() if v is not ...})


def end(**changed: Any) -> str:
    return json.dumps({**json.loads(TRUNCATED[-1]), **changed})


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        # the file
        ([HEADER], 1, WITHOUT_END),
        ([HEADER, DOWN, P4], 3, WITHOUT_END),
        ([HEADER, DOWN, P4[:-5]], 3, "not JSON, column 23: Unterminated string"),
        ([HEADER, HEADER], 2, "the record that begins in line 1 has no end yet"),
        ([HEADER, DOWN, P4, END, "", HEADER], 5, "the line is blank"),
        ([HEADER, "   ", DOWN], 2, "the line is blank"),
        ([DOWN], 1, "a record begins with"),
        ([END], 1, "a record begins with"),
        ([HEADER, DOWN, P4, END, P4], 5, "a record begins with"),
        (["[]"], 1, "the line is \\[\\]; an object is accepted"),
        (["7"], 1, "the line is 7; an object"),
        (["{'record': 1}"], 1, "the line is not JSON, column 2: "),
        (["\ufeff" + HEADER], 1, "the line is not JSON, column 1: Unexpected UTF-8 BOM"),
        (["[" * 40 + "]" * 40], 1, "an object is accepted"),
        ([HEADER, '{"seat": ' + "[" * 40 + "]" * 40 + "}"], 2, "nested more than 32 deep"),
        (["[" * 200_000], 1, "nested more than 32 deep"),
        ([HEADER, " " * MAX_LINE], 2, f"more than {MAX_LINE} characters"),
        # the header
        ([header(format=2)], 1, "format is 2; this version of easyenvs reads format 1"),
        ([header(format=2, colour="red")], 1, "format is 2"),
        ([header(format=True)], 1, "format is True"),
        ([header(format=1.0)], 1, r"format is 1\.0"),
        ([header(format=...)], 1, "the header lacks the key 'format'"),
        ([header(game=...)], 1, "lacks the key 'game'"),
        ([header(game="peasy_v1")], 1, "'peasy_v1' is no game; games are peasy_v0, school_v0"),
        ([header(game=["peasy_v0"])], 1, "game is"),
        ([header(version=...)], 1, "lacks the key 'version'"),
        ([header(version=1)], 1, "version is 1"),
        ([header(rules=...)], 1, "lacks the key 'rules'"),
        ([header(rules=[])], 1, "rules is"),
        ([header(rules={"num_players": True})], 1, "num_players=True"),
        ([header(rules={"num_rounds": 1e300})], 1, "num_rounds="),
        ([header(rules={"cards": 3})], 1, "no option 'cards'"),
        ([header(seed=...)], 1, "neither is given"),
        ([header(seed=None)], 1, "seed is null"),
        ([header(seed=True)], 1, "seed is True"),
        ([header(seed=2**64)], 1, "seed is 18446744073709551616"),
        ([HEADER.replace('"seed": 0', '"seed": 1' + "0" * 5000)], 1, "not JSON: .* digits"),
        ([HEADER.replace('"seed": 0', '"seed": NaN')], 1, "NaN is no number of JSON"),
        ([HEADER.replace('"seed": 0', '"seed": 1e999')], 1, "the line holds inf"),
        ([HEADER.replace('"seed": 0', '"seed": 0, "seed": 1')], 1, "the key 'seed' is there twice"),
        ([header(snapshot={})], 1, "both are given"),
        ([header(seed=..., snapshot=[])], 1, "snapshot is"),
        ([header(seed=..., snapshot={"game": "peasy_v0"}), END.replace("2", "0")], 1, "'num_players' is missing"),
        ([header(colour="red")], 1, "the key 'colour', which is unknown; known are record, format, game"),
        ([header(policies=["a"])], 1, "one for each of 2 seats"),
        ([header(policies=[])], 1, "policies is \\[\\]"),
        ([header(policies=None)], 1, "policies is null"),
        ([header(policies="ab")], 1, "policies is 'ab'"),
        ([header(notes=3)], 1, "notes is 3"),
        ([header(notes={"a": "\ud800"})], 1, "half a character"),
        # decisions
        ([HEADER, '{"seat": 1}'], 2, "a decision lacks the key 'action'"),
        ([HEADER, '{"action": "up"}'], 2, "a decision lacks the key 'seat'"),
        ([HEADER, DOWN[:-1] + ', "time": 3}'], 2, "a decision has the key 'time'"),
        ([HEADER, '{"seat": true, "action": "down"}'], 2, "seat is True"),
        ([HEADER, '{"seat": 1.0, "action": "down"}'], 2, r"seat is 1\.0"),
        ([HEADER, '{"seat": 2, "action": "down"}'], 2, "seat is 2; an integer 0 … 1"),
        ([HEADER, '{"seat": 1, "action": 1}'], 2, "action is 1; a text"),
        ([HEADER, '{"record": "note"}'], 2, "record is 'note'; 'header' and 'end' are accepted"),
        ([*TRUNCATED[:3], P4], 4, r"this is decision 3; by these rules a game has 2 \(R6\)"),
        ([HEADER, DOWN, '{"seat": 1, "action": "knock"}', END], 3, "decision 1: 'knock' is no action of peasy_v0"),
        ([HEADER, DOWN, '{"seat": 1, "action": "pass"}', END], 3, r"seat 1 can't play 'pass'; legal are flip, .*P4>1"),
        ([HEADER, DOWN, P4.replace("1,", "0,"), END], 3, "decision 1: seat 0 plays 'P4>1', but seat 1 is to act"),
        # the end
        ([HEADER, DOWN, END], 3, "decisions is 2, but the record has 1"),
        ([HEADER, DOWN, P4, END.replace("2", "true")], 4, "decisions is True"),
        ([HEADER, DOWN, P4, END.replace("2", "2.0")], 4, r"decisions is 2\.0"),
        ([HEADER, DOWN, P4, '{"record": "end", "decisions": 2}'], 4, "the end lacks the key 'result'"),
        ([HEADER, DOWN, P4, END[:-1] + ', "winner": 0}'], 4, "the end has the key 'winner'"),
        ([HEADER, DOWN, P4, END[:-1] + ', "fault": null}'], 4, "fault is None; an object"),
        ([HEADER, DOWN, P4, END[:-1] + ', "fault": {"seat": 2, "reason": "slow"}}'], 4, "the seat at fault is 2"),
        ([HEADER, DOWN, P4, END[:-1] + ', "fault": {"seat": 1}}'], 4, "fault lacks the key 'reason'"),
        ([HEADER, DOWN, P4, end()], 4, "after 2 decisions the game is not over: actions are missing"),
        ([*TRUNCATED[:3], end(result=None)], 4, "the game is over after 2 decisions, but there is no result"),
        ([*TRUNCATED[:3], end(result=[])], 4, "result is"),
        ([*TRUNCATED[:3], end(result={"scores": [0, 0], "ranks": [1.5, 1.5]})], 4, "result lacks the key 'truncated'"),
        *(
            ([*TRUNCATED[:3], end(result={**json.loads(TRUNCATED[3])["result"], key: value})], 4, message)
            for key, value, message in [
                ("scores", [0, 1], r"scores is \[0, 1\], but the game gives \[0, 0\]"),
                ("scores", [0], r"ranks is"),
                ("scores", [0, False], "a score is False"),
                ("ranks", [1, 2], r"ranks is \[1.0, 2.0\], but the game gives \[1.5, 1.5\]"),
                ("ranks", ["1", 2], "a rank is '1'"),
                ("truncated", False, "truncated is False, but the game gives True"),
                ("truncated", 1, "truncated is 1"),
                ("winner", 0, "result has the key 'winner'"),
            ]
        ),
    ],
)
def test_a_broken_line_is_refused_with_its_number(lines: list[str], line: int, message: str) -> None:
    error = refused("\n".join(lines) + "\n")
    assert error.line == line, error
    with pytest.raises(RecordError, match=message):
        raise error
    assert len(str(error)) < 1500
    good = (BY_HAND + "\n".join(lines) + "\n").encode()
    if "\ufeff" not in lines[0]:
        assert refused(good).line == 8 + line


def test_an_action_after_the_end_of_the_game() -> None:
    (record,) = play_recorded("school_v0", ["random"] * 3, [8])
    longer = Record(
        record.game,
        seed=8,
        actions=(*record.actions, "draw"),
        players=(*record.players, 0),
        result=record.result,
    )
    number = len(record.actions)
    with pytest.raises(RecordError, match=f"^decision {number}: 'draw', but the game is over after {number} decisions"):
        replay(longer)
    assert refused(text_of(longer)).line == number + 2


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    broken = BY_HAND.encode().replace(b"P4>1", b"P4\xff1", 1)
    path = tmp_path / "broken.jsonl"
    path.write_bytes(broken)
    with pytest.raises(
        RecordError, match=r"broken\.jsonl, line 3: the line is not UTF-8: invalid start byte at byte 25"
    ):
        list(read_records(path))
    with pytest.raises(RecordError, match="not UTF-8"), path.open(encoding="utf-8") as file:
        list(read_records(file))


# ------------------------------------------------------------------------------------------------- whatever is wrong

SCHOOL_RECORD = Record(
    "school_v0",
    snapshot=school_position(["NTH", "GCJ", "NNN"], pool="NG", stress=[1, 0, 0], player=0),
    policies=("random", None, "greedy"),
    actions=("stress +1", "gift", "draw"),
    players=(0, 1, 1),
    fault=Fault(1, "slow"),
    notes={"a": [1, {"b": None}]},
)
PEASY_RECORD = Record(
    "peasy_v0",
    {"num_rounds": 1},
    snapshot=peasy_position(["R5", "B9 P9"], [("G3", "/P2"), ("B1", "B2")], "R1 G2", draw=5),
    actions=("R5>1",),
    players=(0,),
    result=Result((0, 18), (1, 2), False),
)
SEEDS = [
    BY_HAND,
    text_of(*play_recorded("school_v0", ["random"] * 3, [0], {"max_cycles": 4})),
    text_of(SCHOOL_RECORD),
    text_of(PEASY_RECORD),
]


def test_what_is_changed_below_is_right() -> None:
    for text in SEEDS:
        assert text_of(*replay_all(text)).count("\n") == text.count("\n")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([0, 1, 2, 3, 2**31, 2**63, 2**64, -1, "", "up", "draw", "end", "header", "seat", "over", "turn"])
    | st.floats()
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in items for place in [(value, key), *places(inner)]]


def check(data: bytes) -> None:
    """Records, or a RecordError; and what is accepted can be written again."""
    try:
        records = replay_all(data)
    except RecordError:
        return
    assert read(text_of(*records)) == records


many = settings(max_examples=400, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@many
@given(st.data())
def test_any_change_of_a_value_is_accepted_or_refused_with_a_record_error(data: st.DataObject) -> None:
    lines = [json.loads(line) for line in data.draw(st.sampled_from(SEEDS)).splitlines()]
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(places(lines)))
        change = data.draw(st.sampled_from(["replace", "delete", "add", "copy"]))
        if change == "delete":
            del container[key]
        elif change == "add" and isinstance(container, dict):
            container[data.draw(st.text(max_size=5) | st.sampled_from(["seed", "fault", "record"]))] = data.draw(JSON)
        elif change == "copy" and isinstance(container, list):
            container.insert(data.draw(st.integers(0, len(container))), copy.deepcopy(container[key]))
        else:
            container[key] = data.draw(JSON)
        if not lines:
            break
    check("".join(json.dumps(line) + "\n" for line in lines).encode())


@many
@given(st.data())
def test_any_change_of_bytes_is_accepted_or_refused_with_a_record_error(data: st.DataObject) -> None:
    text = bytearray(data.draw(st.sampled_from(SEEDS)).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        first = data.draw(st.integers(0, len(text)))
        last = data.draw(st.integers(first, min(len(text), first + 8)) | st.just(len(text)))
        text[first:last] = data.draw(
            st.binary(max_size=4) | st.sampled_from([b"", b"\n", b"}", b'"', b"0", b"e9", b"[" * 50])
        )
    check(bytes(text))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.binary() | st.text().map(str.encode))
def test_nonsense_is_refused_with_a_record_error(data: bytes) -> None:
    check(data)
