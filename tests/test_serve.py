"""Games in the browser: what the server refuses, what it gives away, and whole games clicked through in headless Chromium."""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import random
import re
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import easyenvs
from easyenvs.core import views
from easyenvs.core.errors import MissingExtraError, OptionError
from easyenvs.core.policies import RandomPolicy
from easyenvs.play.session import Session
from easyenvs.serve.command import prepare, serve
from easyenvs.serve.errors import Refusal
from easyenvs.serve.guard import HEADERS, MOST_BODY, Guard
from easyenvs.serve.lobby import Lobby
from easyenvs.serve.menu import Menu
from easyenvs.serve.server import ADDRESS, Server
from easyenvs.serve.table import Shown, Table, grouped, seat_names
from examples.agents._trained import weights_files

SECONDS = 60.0  # until something that has to happen is given up
MARKUP = '<img src=x onerror="window.hacked=1">&'

# ------------------------------------------------------------------------------------------------- policies of the tests

POLICIES = ModuleType("serve_test_policies")
RELEASED = threading.Event()


def slow(d: Any) -> Any:
    """Thinks until it is released, but for its very first decision, which the menu asks for."""
    if d.view.decisions[0] > 0:
        assert RELEASED.wait(SECONDS)
    return RandomPolicy()(d)


def broken(d: Any) -> Any:
    """Fails at once where three play, later with others."""
    if d.num_players == 3 or d.view.decisions[0] > 4:
        raise ValueError(f"out of ideas {MARKUP}")
    return RandomPolicy()(d)


def sure(d: Any) -> Any:
    return d.legal.argmax(axis=1)


def _probabilities(d: Any) -> Any:
    return np.where(np.arange(d.num_actions) == sure(d)[:, None], 0.75, 0.25)


sure.probabilities = _probabilities  # type: ignore[attr-defined]
for name, policy in (("slow", slow), ("broken", broken), ("sure", sure), (MARKUP, RandomPolicy())):
    setattr(POLICIES, name, policy)
SLOW, BROKEN, SURE, MARKED = (f"serve_test_policies:{name}" for name in ("slow", "broken", "sure", MARKUP))


# ------------------------------------------------------------------------------------------------- a client


@dataclass
class Answer:
    status: int
    headers: Any
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """Of a refusal, which says in a sentence what is wrong."""
        error = self.json["error"]
        assert set(error) == {"code", "message"}
        assert len(error["message"]) > 10
        return error["code"]


@dataclass
class Client:
    """Asks a server as its own page would, but for what is given otherwise; a header None is left out."""

    server: Server
    headers: dict[str, str | None] = field(default_factory=dict)

    def ask(
        self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **changed: str | None
    ) -> Answer:
        """changed: headers, by names with _ for -."""
        port = self.server.port
        headers: dict[str, str | None] = {
            "Host": f"{ADDRESS}:{port}",
            "Cookie": f"easyenvs_{port}={self.server.token}",
            **({} if method == "GET" else {"Origin": self.server.url}),
            **({"Content-Type": "application/json"} if method == "POST" else {}),
            **self.headers,
            **{name.replace("_", "-"): value for name, value in changed.items()},
        }
        data = raw if body is None else json.dumps(body).encode()
        if data is not None and "Transfer-Encoding" not in headers:
            headers.setdefault("Content-Length", str(len(data)))
        connection = http.client.HTTPConnection(ADDRESS, port, timeout=SECONDS)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(data)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def deal(self, game: str = "peasy_v0", *opponents: str) -> dict[str, Any]:
        """A new game, when it is the human's turn."""
        answer = self.ask("POST", "/api/games", {"game": game, "seats": ["human", *(opponents or ("random",))]})
        assert answer.status == 201, answer.body
        return self.turn(answer.json)

    def turn(self, state: dict[str, Any]) -> dict[str, Any]:
        """The game when the human is to act, or when it is over."""
        while state["thinking"]:
            state = self.ask("GET", f"/api/games/{state['id']}?after={state['version']}").json
        return state

    def post(self, state: dict[str, Any], what: str, **values: Any) -> Answer:
        return self.ask("POST", f"/api/games/{state['id']}/{what}", {"version": state["version"], **values})

    def now(self, state: dict[str, Any]) -> dict[str, Any]:
        return self.ask("GET", f"/api/games/{state['id']}").json

    def finish(self, state: dict[str, Any]) -> dict[str, Any]:
        """Plays the first legal action that is no flip to the end."""
        while not state["over"]:
            names = names_of(state)
            state = self.turn(self.post(state, "act", action=names[-1]).json)
        return state


def names_of(state: dict[str, Any]) -> list[str]:
    return [action["name"] for group in state["groups"] for action in group["actions"]]


@pytest.fixture(scope="module", autouse=True)
def _policies() -> Iterator[None]:
    sys.modules[POLICIES.__name__] = POLICIES
    yield
    RELEASED.set()
    del sys.modules[POLICIES.__name__]


@pytest.fixture(autouse=True)
def _same_deals(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeds that games get from the system are the same ones in every run of a test."""
    seeds = count(9_000_000_000_000_000_001)
    monkeypatch.setattr("easyenvs.core.chance.system_seed", lambda: next(seeds))


@pytest.fixture(scope="module")
def client(_policies: None) -> Iterator[Client]:
    """Of a server with all policies, which all tests share: it is a test, too, that they don't disturb one another."""
    menu = Menu([], ["random", "heuristic", SLOW, BROKEN, SURE, MARKED])
    with Server(Lobby(menu, most_games=60)) as server:
        yield Client(server)


# ------------------------------------------------------------------------------------------------- who may ask


def test_the_entrance_gives_the_cookie_and_a_clean_address(client: Client) -> None:
    entrance = client.server.entrance()
    assert entrance.startswith(f"http://127.0.0.1:{client.server.port}/?token=")
    answer = client.ask("GET", entrance.removeprefix(client.server.url), Cookie=None)
    assert (answer.status, answer.headers["Location"]) == (303, "/")
    cookie = answer.headers["Set-Cookie"]
    assert (
        "HttpOnly" in cookie and "samesite=strict" in cookie.lower() and "Path=/" in cookie and "Domain" not in cookie
    )
    page = client.ask("GET", "/", Cookie=cookie.partition(";")[0])
    assert page.status == 200 and b"New game" in page.body
    assert client.server.token.encode() not in page.body


def test_the_entrance_to_a_game(client: Client) -> None:
    state = client.deal()
    answer = client.ask("GET", client.server.entrance(state["id"]).removeprefix(client.server.url), Cookie=None)
    assert (answer.status, answer.headers["Location"]) == (303, f"/game/{state['id']}")
    assert client.ask("GET", f"/game/{state['id']}").status == 200


@pytest.mark.parametrize(
    "path", ["/", "/game/x", "/api/menu", "/api/games/x", "/static/table.js", "/static/none", "/none"]
)
@pytest.mark.parametrize(
    "given", [None, "easyenvs_PORT=", "easyenvs_PORT=wrong", "other=TOKEN", "easyenvs_PORT=TOKENx", "\x80"]
)
def test_without_the_token_there_is_nothing(client: Client, path: str, given: str | None) -> None:
    server = client.server
    cookie = None if given is None else given.replace("PORT", str(server.port)).replace("TOKEN", server.token)
    answer = client.ask("GET", path, Cookie=cookie)
    assert answer.status == 401
    if path.startswith("/api/"):
        assert answer.code == "no_token"
    else:
        assert b"needs its key" in answer.body and b"<script" not in answer.body


@pytest.mark.parametrize("token", ["", "wrong", "%80", "x&token="])
def test_a_wrong_token_opens_nothing(client: Client, token: str) -> None:
    for cookie in (None, f"easyenvs_{client.server.port}=wrong"):
        answer = client.ask("GET", f"/?token={token}", Cookie=cookie)
        assert answer.status == 401 and answer.headers["Set-Cookie"] is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:PORT",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example:PORT",
        "0.0.0.0:PORT",
        "",
        None,
    ],
)
def test_a_foreign_host_is_refused(client: Client, host: str | None) -> None:
    named = None if host is None else host.replace("PORT", str(client.server.port))
    state = client.deal()
    for method, path, body in (
        ("GET", "/", None),
        ("GET", client.server.entrance().removeprefix(client.server.url), None),
        ("GET", f"/api/games/{state['id']}", None),
        ("POST", f"/api/games/{state['id']}/act", {"version": state["version"], "action": names_of(state)[0]}),
    ):
        answer = client.ask(method, path, body, Host=named)
        if named is None:  # no HTTP/1.1 at all
            assert answer.status == 400
        else:
            assert (answer.status, answer.code) == (421, "bad_host")
        assert answer.headers["Set-Cookie"] is None
    assert client.now(state) == state


def test_localhost_is_us_too(client: Client) -> None:
    port = client.server.port
    own = {"Host": f"LocalHost:{port}", "Origin": f"http://localhost:{port}"}
    answer = client.ask("POST", "/api/games", {"game": "peasy_v0", "seats": ["human", "random"]}, **own)
    assert answer.status == 201


@pytest.mark.parametrize(
    "origin",
    [None, "null", "", "https://127.0.0.1:PORT", "http://127.0.0.1", "http://127.0.0.1:1", "http://evil.example",
     "http://evil.example:PORT", "http://localhost:PORT", "http://127.0.0.1:PORT.evil.example"],
)  # fmt: skip
def test_whatever_changes_something_needs_our_origin(client: Client, origin: str | None) -> None:
    named = None if origin is None else origin.replace("PORT", str(client.server.port))
    state = client.deal()
    game, version = f"/api/games/{state['id']}", state["version"]
    before = client.ask("GET", "/api/menu").json["open"]
    for method, path, body in (
        ("POST", "/api/games", {"game": "peasy_v0", "seats": ["human", "random"]}),
        ("POST", f"{game}/act", {"version": version, "action": names_of(state)[0]}),
        ("POST", f"{game}/undo", {"version": version}),
        ("POST", f"{game}/hint", {"version": version, "policy": "random"}),
        ("DELETE", game, None),
        ("PUT", game, None),
    ):
        answer = client.ask(method, path, body, Origin=named)
        assert (answer.status, answer.code) == (403, "bad_origin")
    assert client.now(state) == state
    assert client.ask("GET", "/api/menu").json["open"] == before


def test_another_site_reads_nothing(client: Client) -> None:
    answer = client.ask("GET", "/api/menu", Origin="http://evil.example")
    assert (answer.status, answer.code) == (403, "bad_origin")
    assert answer.headers["Access-Control-Allow-Origin"] is None


def test_every_answer_has_the_headers(client: Client) -> None:
    state = client.deal()
    game = f"/api/games/{state['id']}"
    answers = [
        client.ask("GET", path)
        for path in ("/", f"/game/{state['id']}", "/static/table.js", "/api/menu", "/none", game, f"{game}/table.svg")
    ]
    answers += [
        client.ask("GET", f"{game}/record"),
        client.ask("GET", "/", Cookie=None),
        client.ask("GET", "/", Host="evil.example"),
        client.ask("GET", f"/?token={client.server.token}"),
        client.ask("POST", "/api/games", raw=b"{"),
        client.ask("PUT", game),
    ]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert answer.headers["Server"] is None
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy and "frame-ancestors 'none'" in policy


def test_there_are_no_websockets(client: Client) -> None:
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    upgrade["Sec-WebSocket-Key"] = "x" * 22 + "=="
    assert client.ask("GET", "/api/menu", **upgrade).status == 200  # an answer as any other: no 101
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    guard = Guard(None, client.server.port, "token")
    with pytest.raises(StopIteration):
        guard({"type": "websocket"}, None, send).send(None)
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_the_server_listens_on_the_loopback_address_alone(client: Client) -> None:
    assert client.server._socket.getsockname()[0] == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", client.server.port), timeout=SECONDS)


# ------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("id", ["none", "..", "%2e%2e", "x" * 500, "%00"])
def test_an_unknown_game(client: Client, id: str) -> None:
    for method, path, body in (
        ("GET", "", None),
        ("GET", "?after=1", None),
        ("GET", "/table.svg", None),
        ("GET", "/record", None),
        ("DELETE", "", None),
        ("POST", "/act", {"version": 1, "action": "up"}),
        ("POST", "/undo", {"version": 1}),
        ("POST", "/hint", {"version": 1, "policy": "random"}),
    ):
        answer = client.ask(method, f"/api/games/{id}{path}", body)
        assert (answer.status, answer.code) == (404, "unknown_game")
    page = client.ask("GET", f"/game/{id}")
    assert page.status == 404 and b"no such game" in page.body


@pytest.mark.parametrize("name", ["server.py", "../server.py", "..%2fserver.py", "start.html", "%00", ""])
def test_no_other_file_is_served(client: Client, name: str) -> None:
    answer = client.ask("GET", f"/static/{name}")
    assert (answer.status, answer.code) == (404, "not_found")


def test_what_is_no_move_changes_nothing(client: Client) -> None:
    state = client.deal("school_v0", "random", "random")
    act, version = f"/api/games/{state['id']}/act", state["version"]
    legal = names_of(state)[0]
    illegal = next(name for name in ("stop", "draw") if name not in names_of(state))
    refused: list[tuple[dict[str, Any], int, str]] = [
        ({"body": {"version": version, "action": illegal}}, 422, "illegal_action"),
        ({"body": {"version": version, "action": "R8>1"}}, 422, "unknown_action"),
        ({"body": {"version": version, "action": MARKUP}}, 422, "unknown_action"),
        ({"body": {"version": version - 1, "action": legal}}, 409, "stale"),
        ({"body": {"version": version + 1, "action": legal}}, 409, "stale"),
        ({"body": {"version": True, "action": legal}}, 400, "bad_version"),
        ({"body": {"version": str(version), "action": legal}}, 400, "bad_version"),
        ({"body": {"version": None, "action": legal}}, 400, "bad_version"),
        ({"body": {"version": version, "action": 0}}, 400, "bad_action"),
        ({"body": {"version": version}}, 400, "bad_body"),
        ({"body": {"version": version, "action": legal, "seat": 1}}, 400, "bad_body"),
        ({"body": [version, legal]}, 400, "bad_body"),
        ({"raw": b""}, 400, "bad_json"),
        ({"raw": b"\xff"}, 400, "bad_json"),
        ({"raw": b"{"}, 400, "bad_json"),
        ({"raw": b"[" * 4000}, 400, "bad_json"),
        ({"body": {"version": version, "action": "x" * MOST_BODY}}, 413, "too_large"),
        ({"raw": b"", "Content_Length": "-1"}, 400, ""),
        ({"raw": b"", "Content_Length": "99999999999"}, 413, "too_large"),
        ({"body": {"version": version, "action": legal}, "Content_Type": "text/plain"}, 415, "bad_type"),
        ({"body": {"version": version, "action": legal}, "Content_Type": None}, 415, "bad_type"),
    ]
    for request, status, code in refused:
        answer = client.ask("POST", act, **request)
        assert answer.status == status, request
        assert not code or answer.code == code, request
    assert client.now(state) == state
    assert client.post(state, "act", action=legal).status == 200


def test_a_body_of_unknown_length_is_limited_too(client: Client) -> None:
    state = client.deal()
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    answer = client.ask(
        "POST", f"/api/games/{state['id']}/undo", raw=chunk + chunk + b"0\r\n\r\n", Transfer_Encoding="chunked"
    )
    assert (answer.status, answer.code) == (413, "too_large")
    assert client.now(state) == state


def test_methods_and_parameters(client: Client) -> None:
    state = client.deal()
    game = f"/api/games/{state['id']}"
    assert client.ask("PUT", game).code == "bad_method"
    assert client.ask("GET", f"{game}/act").code == "bad_method"
    assert client.ask("GET", f"{game}/table.svg?theme=pink").code == "bad_theme"
    for after in ("x", "-1", "1" * 10, ""):
        assert client.ask("GET", f"{game}?after={after}").code == "bad_version"
    assert client.ask("GET", "/api/rules/chess_v0").code == "unknown_game"
    assert client.ask("GET", "/api/rules/peasy_v0").body.startswith(b"# Easy Peasy\n")


@pytest.mark.parametrize(
    ("game", "seats", "code"),
    [
        ("chess_v0", ["human", "random"], "unknown_game"),
        (7, ["human", "random"], "unknown_game"),
        ("peasy_v0", "human", "bad_seats"),
        ("peasy_v0", ["human", 1], "bad_seats"),
        ("peasy_v0", ["human"], "bad_seats"),
        ("peasy_v0", ["human"] + ["random"] * 6, "bad_seats"),
        ("peasy_v0", ["random", "random"], "bad_seats"),
        ("peasy_v0", ["human", "human"], "bad_seats"),
        ("peasy_v0", ["human", "greedy"], "unknown_policy"),
        ("peasy_v0", ["human", "serve_test_policies:slowest"], "unknown_policy"),
        ("peasy_v0", ["human", "/tmp/weights.npz"], "unknown_policy"),
        ("peasy_v0", ["human", "antigravity:geohash"], "unknown_policy"),
        ("peasy_v0", ["human", BROKEN, "random"], "policy_failed"),
    ],
)  # fmt: skip
def test_games_that_are_not_offered(client: Client, game: Any, seats: Any, code: str) -> None:
    before = client.ask("GET", "/api/menu").json["open"]
    answer = client.ask("POST", "/api/games", {"game": game, "seats": seats})
    assert (answer.status, answer.code) == (422, code)
    assert client.ask("GET", "/api/menu").json["open"] == before
    assert "antigravity" not in sys.modules  # only what the command line has named is ever imported


def test_the_number_of_games_is_limited() -> None:
    with Server(Lobby(Menu(["peasy_v0"], ["random"]), most_games=2)) as server:
        client = Client(server)
        first, _ = client.deal(), client.deal()
        answer = client.ask("POST", "/api/games", {"game": "peasy_v0", "seats": ["human", "random"]})
        assert (answer.status, answer.code) == (409, "too_many_games")
        assert client.ask("DELETE", f"/api/games/{first['id']}").status == 204
        assert client.ask("GET", f"/api/games/{first['id']}").code == "unknown_game"
        client.deal()
        assert len(client.ask("GET", "/api/menu").json["open"]) == 2


# ------------------------------------------------------------------------------------------------- to play


def test_undo_goes_back_to_the_last_own_decision(client: Client) -> None:
    state = client.deal("peasy_v0", "random", "random")
    assert not state["can_undo"]
    refused = client.post(state, "undo")
    assert (refused.status, refused.code) == (409, "nothing_to_undo")
    later = client.turn(client.post(state, "act", action=names_of(state)[-1]).json)
    assert later["can_undo"] and len(later["log"]) > len(state["log"])
    undone = client.post(later, "undo").json
    assert undone["version"] == later["version"] + 1
    assert {**undone, "version": 0} == {**state, "version": 0}
    again = client.turn(client.post(undone, "act", action=names_of(state)[-1]).json)
    assert again["log"] == later["log"]  # the game is the same one still


def test_hints(client: Client) -> None:
    state = client.deal("school_v0", "random")
    plain = client.post(state, "hint", policy="heuristic").json
    assert plain["action"] in names_of(state) and plain["probabilities"] is None
    likely = client.post(state, "hint", policy=SURE).json
    assert likely["action"] == names_of(state)[0]
    assert likely["probabilities"] == {name: 0.75 if name == likely["action"] else 0.25 for name in names_of(state)}
    for policy in ("greedy", None, "antigravity:geohash"):
        assert client.post(state, "hint", policy=policy).code == "unknown_policy"
    assert client.post({**state, "version": 0}, "hint", policy=SURE).code == "stale"
    assert client.now(state) == state
    three = client.deal("peasy_v0", "random", "random")
    failed = client.post(three, "hint", policy=BROKEN)
    assert (failed.status, failed.code) == (409, "policy_failed")
    assert client.now(three) == three


def test_the_record_of_a_game_leaves_once_it_is_over(client: Client) -> None:
    state = client.deal("peasy_v0", *["random"] * 3)
    path = f"/api/games/{state['id']}/record"
    running = client.ask("GET", path)
    assert (running.status, running.code) == (409, "not_over")
    done = client.finish(state)
    assert done["groups"] == [] and not done["can_undo"]
    answer = client.ask("GET", path)
    assert answer.status == 200
    assert answer.headers["Content-Disposition"] == f'attachment; filename="peasy_v0-{state["id"]}.jsonl"'
    (record,) = easyenvs.read_records(StringIO(answer.body.decode()))
    assert record.policies == (None, "random", "random", "random")
    assert list(record.actions) == [move["name"] for move in done["log"]]
    assert record.result is not None
    assert list(record.result.scores) == [seat["score"] for seat in done["seats"]]
    assert list(record.result.ranks) == [seat["rank"] for seat in done["seats"]]
    assert easyenvs.replay(record).at(len(record.actions))["phase"] == "over"
    # Its seed is known now: it must not go on.
    for what, values in (("undo", {}), ("act", {"action": "flip"}), ("hint", {"policy": "random"})):
        refused = client.post(done, what, **values)
        assert (refused.status, refused.code) == (409, "over")


def test_a_policy_that_fails_ends_its_game_alone(client: Client) -> None:
    other = client.deal()
    state = client.finish(client.deal("peasy_v0", BROKEN))
    assert state["fault"] == {"seat": 1, "reason": f"ValueError: out of ideas {MARKUP}"}
    assert [seat["rank"] for seat in state["seats"]] == [None, None]
    (record,) = easyenvs.read_records(StringIO(client.ask("GET", f"/api/games/{state['id']}/record").body.decode()))
    assert record.fault is not None and record.fault.seat == 1
    assert client.now(other) == other


def test_a_slow_policy_delays_nobody_else(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("easyenvs.serve.table.LOCK_SECONDS", 0.05)
    opened = client.ask("POST", "/api/games", {"game": "peasy_v0", "seats": ["human", SLOW]}).json
    while not (opened["thinking"] and opened["log"]):
        if opened["thinking"]:
            opened = client.ask("GET", f"/api/games/{opened['id']}?after={opened['version']}").json
        else:
            opened = client.post(opened, "act", action=names_of(opened)[-1]).json
    state = client.now(opened)  # nothing waits for the policy …
    assert state["thinking"] and state["groups"] == [] and not state["can_undo"]
    assert client.ask("GET", f"/api/games/{state['id']}/table.svg").status == 200
    other = client.deal("peasy_v0", "random")
    for _ in range(4):  # … another game goes on …
        other = client.turn(client.post(other, "act", action=names_of(other)[-1]).json)
    for what, values in (("act", {"action": "flip"}), ("undo", {})):  # … and what would disturb the policy is refused
        refused = client.post(state, what, **values)
        assert refused.status == 409 and refused.code in ("busy", "not_your_turn")
    RELEASED.set()
    assert client.turn(state)["log"][: len(state["log"])] == state["log"]


def test_the_list_of_games(client: Client) -> None:
    first, second = client.deal("peasy_v0", "random", "heuristic"), client.deal("school_v0", "random", "random")
    menu = client.ask("GET", "/api/menu").json
    assert [game["id"] for game in menu["open"][:2]] == [second["id"], first["id"]]
    assert menu["open"][1]["seats"] == ["you", "random", "heuristic"]
    assert menu["open"][0]["seats"] == ["you", "random (1)", "random (2)"]
    assert [(game["game"], game["players"], game["usual"]) for game in menu["games"]] == [
        ("peasy_v0", [2, 3, 4, 5, 6], 2),
        ("school_v0", [2, 3, 4, 5, 6], 3),
    ]
    assert all(game["policies"] == ["random", "heuristic", SLOW, BROKEN, SURE, MARKED] for game in menu["games"])


def test_names_are_data(client: Client) -> None:
    state = client.deal("peasy_v0", MARKED)
    assert state["seats"][1]["name"] == MARKED
    picture = client.ask("GET", f"/api/games/{state['id']}/table.svg").body.decode()
    assert MARKUP[:5] not in picture
    root = ElementTree.fromstring(picture)
    assert not [element for element in root.iter() if element.tag.endswith(("img", "script", "foreignObject", "a"))]


def test_groups_and_names() -> None:
    names = ["flip", "turn 0", "turn 1", "R8>0", "G10>0", "R8>1", "exam nerd gift joker", "pass"]
    assert [(group["title"], [action["label"] for action in group["actions"]]) for group in grouped(names)] == [
        ("", ["flip", "pass"]),
        ("turn", ["0", "1"]),
        ("on pile 0", ["R8", "G10"]),
        ("on pile 1", ["R8"]),
        ("exam", ["nerd gift joker"]),
    ]
    assert grouped([]) == []
    assert seat_names(["a", "human", "a", "b"]) == ["a (0)", "you", "a (2)", "b"]


# ------------------------------------------------------------------------------------------------- the command line


def test_the_menu_of_the_command_line() -> None:
    usual = Menu()
    assert {"random", "greedy", "heuristic"} <= set(usual.offers["peasy_v0"].policies)
    assert list(usual.offers["peasy_v0"].rules_text.splitlines()[:1]) == ["# Easy Peasy"]
    named = Menu(["school_v0"], ["greedy"], ["random", "greedy"])
    assert list(named.offers) == ["school_v0"] and list(named.offers["school_v0"].policies) == ["greedy", "random"]
    with pytest.raises(OptionError, match="'best' names no policy of peasy_v0"):
        Menu([], ["best"])
    with pytest.raises(ValueError, match="'chess_v0' is no game"):
        Menu(["chess_v0"])


def test_weights_are_called_by_their_file(tmp_path: Any) -> None:
    source = next(file for file in weights_files() if file.name.startswith("school_v0"))
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        shutil.copy(source, tmp_path / folder / "mine.npz")
    first, second = (str(tmp_path / folder / "mine.npz") for folder in "ab")
    assert Menu(["school_v0"], [first]).offers["school_v0"].policies == {"mine": first}
    assert Menu(["school_v0"], [first, second]).offers["school_v0"].policies == {first: first, second: second}
    with pytest.raises(OptionError, match="none that was named plays peasy_v0"):
        Menu([], [first])


def test_a_first_game_from_the_command_line() -> None:
    server, first = prepare(["school_v0"], ["random"], "greedy, human,random", pace=0.0)
    with server:
        client = Client(server)
        assert first is not None
        state = client.turn(client.ask("GET", f"/api/games/{first}").json)
        assert [seat["name"] for seat in state["seats"]] == ["greedy", "you", "random"]
        assert state["you"] == 1 and server.entrance(first).startswith(f"{server.url}/game/{first}?token=")
    with pytest.raises(OptionError, match="seats='human'"):
        prepare([], [], "human")
    with pytest.raises(OptionError, match="pace=-1"):
        prepare([], [], pace=-1)
    with pytest.raises(OptionError, match="port=70000"):
        prepare([], [], port=70000)


def test_the_command_says_what_is_wrong(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import typer

    app = typer.Typer()
    app.command()(serve)

    def run(*arguments: str) -> tuple[Any, str]:
        with pytest.raises(SystemExit) as ended:
            app(list(arguments))
        captured = capsys.readouterr()
        return ended.value.code, captured.out + captured.err

    code, text = run("--policy", "best")
    assert code == 2 and "Error: 'best' names no policy" in text
    with socket.create_server((ADDRESS, 0)) as taken:
        code, text = run("--port", str(taken.getsockname()[1]))
    assert code == 2 and "Error: " in text
    monkeypatch.setattr(Server, "run", lambda self: self._socket.close())
    code, text = run("peasy_v0", "--seats", "human,random")
    assert code == 0 and "Play at http://127.0.0.1:" in text and "/game/" in text and "?token=" in text
    monkeypatch.setattr("easyenvs.serve.command.find_spec", lambda name: None)
    code, text = run()
    assert code == 2 and 'pip install "easyenvs[serve]"' in text
    with pytest.raises(MissingExtraError, match="starlette and uvicorn can't be found"):
        prepare([], [])


# ------------------------------------------------------------------------------------------------- in the browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(
    CHROMIUM is None or importlib.util.find_spec("playwright") is None,
    reason="no chromium is found, or no playwright: apt install chromium; pip install playwright",
)


@dataclass
class Spy:
    """What a server has published, with its own snapshot of each position, and all that it has answered."""

    shown: dict[tuple[str, int], tuple[Table, Shown, dict[str, Any]]] = field(default_factory=dict)
    answers: list[tuple[str, int, bytes]] = field(default_factory=list)  # path, status, body: every one

    def listen(self, server: Server) -> None:
        """To all that leaves a server, before it begins."""
        config = server._server.config
        app: Any = config.app

        async def tapped(scope: Any, receive: Any, send: Any) -> None:
            status, body = 0, b""

            async def sent(message: Any) -> None:
                nonlocal status, body
                status = message.get("status", status)
                body += message.get("body", b"")
                await send(message)

            await app(scope, receive, sent)
            self.answers.append((scope["path"], status, body))

        config.app = tapped


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """A page in a context of its own, which must see no error."""
    faults: list[str] = []
    contexts = []

    def open_page(**options: Any) -> Any:
        context = browser.new_context(**options)
        context.set_default_timeout(1000 * SECONDS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: faults.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


def state_of(page: Any) -> int:
    return int(page.locator("body").get_attribute("data-version"))


def await_turn(page: Any) -> None:
    """Until there is something to do, or the game is over."""
    page.wait_for_selector("button.move, #end:not([hidden])")


def press(page: Any, button: Any, how: str) -> None:
    before = state_of(page)
    if how == "keyboard":
        button.focus()
        page.keyboard.press("Enter")
    elif how == "touch":
        button.tap()
    else:
        button.click()
    page.wait_for_function("before => Number(document.body.dataset.version) > before", arg=before)
    await_turn(page)


@needs_browser
@pytest.mark.parametrize(("game", "title", "players"), [("peasy_v0", "Easy Peasy", 4), ("school_v0", "Easy School", 6)])
def test_a_whole_game_by_clicking(
    visit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, game: str, title: str, players: int
) -> None:
    spy = Spy()
    publish = Table._publish

    def publish_and_tell(table: Table, version: int) -> Shown:
        shown = publish(table, version)
        spy.shown[table.id, shown.version] = table, shown, table._session._batch.snapshot(0)
        return shown

    monkeypatch.setattr(Table, "_publish", publish_and_tell)
    choose = random.Random(5)
    if game == "peasy_v0":
        monkeypatch.setattr("easyenvs.serve.table.Session", partial(Session, num_rounds=2))  # three take long
    server = Server(Lobby(Menu([], ["random", "heuristic"])))
    spy.listen(server)
    with server:
        page = visit(has_touch=True, viewport={"width": 1280, "height": 900})
        page.goto(server.entrance())
        assert page.url == f"{server.url}/"
        page.get_by_label(title).check()
        page.get_by_label("Players").select_option(str(players))
        page.get_by_label("Your seat").select_option("1")
        page.get_by_label("Seat 2").select_option("random")
        page.get_by_role("button", name="Deal").click()
        await_turn(page)
        step = 0
        while page.locator("#end").is_hidden():
            buttons = page.locator("button.move").all()
            press(page, choose.choice(buttons), ("mouse", "keyboard", "touch")[step % 3])
            step += 1
            if step == 5:
                before = page.locator("#log li").count()
                page.get_by_role("button", name="Undo").click()
                page.wait_for_function("n => document.querySelectorAll('#log li').length < n", arg=before)
                page.get_by_role("button", name="Hint").click()
                page.wait_for_selector("button.hinted")
                assert page.locator("#advised").inner_text().startswith("heuristic would play ")
            if step == 10:
                before = page.locator("#log").inner_text()
                page.reload()
                await_turn(page)
                assert page.locator("#log").inner_text() == before
        log = page.locator("#log li code").all_inner_texts()
        outcome = page.locator("#outcome").inner_text()
        with page.expect_download() as download:
            page.get_by_role("link", name="Save the record").click()
        (record,) = easyenvs.read_records(download.value.path())
        over = page.url
        page.get_by_role("button", name="Play again").click()
        page.wait_for_url(lambda url: url != over)
        await_turn(page)
        assert page.locator("#log li code").all_inner_texts() != log
        page.goto("about:blank")
    assert "win" in outcome and list(record.actions) == log and record.result is not None
    assert record.num_players == players and record.policies[1] is None and record.policies[2] == "random"
    check_nothing_hidden_left(spy, game)


def check_nothing_hidden_left(spy: Spy, game: str) -> None:
    """Every answer of a running game is just what it were if the cards that the seat can't see lay otherwise."""
    definition = easyenvs.find_game(game)
    assert definition.draw is not None
    pictures, states, differing = set(), {}, 0
    for (id, version), (table, shown, snapshot) in spy.shown.items():
        if not shown._pictures:  # nobody has seen this one
            continue
        games = definition.batch(1, engine="python", **table._session.rules.as_dict())
        games.restore(0, snapshot)
        if shown.player is not None:
            games = games.resample(seat=table.seat, seed=version)
            other = games.snapshot(0)
            differing += any(other[key] != snapshot[key] for key in snapshot if key != "seed")
        view = views.unstack(games.view(table.seat), 0)
        last_action = (shown.moves[-1].seat, shown.moves[-1].action) if shown.moves else None
        words = {"last_action": last_action, "seat": table.seat, "names": table.names, "ranks": shown.ranks}
        pictures.add(definition.draw.draw(view, theme="light", **words))
        own = int(games.player[0]) == table.seat
        legal = [definition.notation.action_name(int(a)) for a in np.flatnonzero(games.legal[0])] if own else []
        states[id, version] = definition.notation.view_text(view), legal
    assert differing > 0.8 * len(states)  # something is hidden nearly always
    records = [body for path, status, body in spy.answers if path.endswith("/record") and status == 200]
    assert len(records) == 1  # of the game that was over
    secrets = [str(table._session.seed).encode() for table, _, _ in spy.shown.values()]
    secrets += [b'"seed"', b'"snapshot"', b'"draw_pile"', b'"hands"', b'"deck"']
    seen = {"picture": 0, "state": 0}
    for path, status, body in spy.answers:
        if body in records:
            continue
        assert not any(secret in body for secret in secrets), path
        if path.endswith("/table.svg") and status == 200:
            assert body.decode() in pictures, path
            seen["picture"] += 1
        elif path.startswith("/api/games") and status in (200, 201) and not path.endswith("/hint"):
            state = json.loads(body)
            text, legal = states[state["id"], state["version"]]
            assert state["text"] == text and sorted(names_of(state)) == sorted(legal)
            assert set(state) == {
                "id", "version", "game", "title", "you", "seats", "where", "status", "text", "groups", "log", "over",
                "thinking", "fault", "can_undo", "hints",
            }  # fmt: skip
            seen["state"] += 1
    assert min(seen.values()) > 20


@needs_browser
def test_several_games_left_and_reopened(visit: Callable[..., Any]) -> None:
    with Server(Lobby(Menu([], ["random"]))) as server:
        client = Client(server)
        one, two = client.deal("peasy_v0", "random"), client.deal("school_v0", "random")
        page = visit()
        page.goto(server.entrance(one["id"]))
        await_turn(page)
        press(page, page.locator("button.move").last, "mouse")
        left = page.locator("#log").inner_text()
        page.get_by_role("link", name="easyenvs").click()
        page.get_by_role("link", name="Easy School: you, random").click()
        await_turn(page)
        assert page.url == f"{server.url}/game/{two['id']}"
        press(page, page.locator("button.move").first, "mouse")
        page.get_by_role("link", name="easyenvs").click()
        page.get_by_role("link", name="Easy Peasy: you, random").click()
        await_turn(page)
        assert page.locator("#log").inner_text() == left
        # Two pages of one game: what is played on one is seen on the other.
        other = page.context.new_page()
        other.goto(page.url)
        await_turn(other)
        press(page, page.locator("button.move").last, "mouse")
        other.wait_for_function("version => Number(document.body.dataset.version) >= version", arg=state_of(page))
        other.close()
        page.get_by_role("link", name="easyenvs").click()
        page.get_by_role("button", name="Close Easy School: you, random").click()
        page.wait_for_function("() => document.querySelectorAll('#open li').length === 1")
        with pytest.raises(Refusal):
            server.lobby.find(two["id"])
        page.goto("about:blank")


@needs_browser
def test_names_and_reasons_are_text_on_the_page(client: Client, visit: Callable[..., Any]) -> None:
    page = visit()
    marked, failed = client.deal("peasy_v0", MARKED), client.finish(client.deal("peasy_v0", BROKEN))
    page.goto(client.server.entrance(marked["id"]))
    await_turn(page)
    assert MARKED in page.locator("#seats").inner_text()
    page.goto(client.server.url)
    page.get_by_role("link", name=f"Easy Peasy: you, {MARKED}").first.wait_for()
    page.goto(f"{client.server.url}/game/{failed['id']}")
    await_turn(page)
    assert f"out of ideas {MARKUP}" in page.locator("#outcome").inner_text()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0


@needs_browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_the_pages_are_accessible(client: Client, visit: Callable[..., Any], scheme: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    def check(page: Any) -> None:
        found = Axe().run(page).response["violations"]
        assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than its window"

    page = visit(color_scheme=scheme, viewport={"width": width, "height": 844})
    page.goto(client.server.entrance())
    page.wait_for_selector("body[data-ready]")
    page.get_by_text("The rules", exact=True).click()
    check(page)
    state = client.deal("peasy_v0", "heuristic", "heuristic")
    state = client.turn(client.post(state, "act", action=names_of(state)[-1]).json)
    page.goto(f"{client.server.url}/game/{state['id']}")
    await_turn(page)
    for title in ("The rules", "The table as text"):
        page.get_by_text(title, exact=True).click()
    page.get_by_role("button", name="Hint").click()
    page.wait_for_selector("button.hinted")
    assert page.locator("#picture").evaluate("image => image.complete && image.currentSrc").count(f"theme={scheme}")
    check(page)


@needs_browser
def test_choices_made_before_the_rules_have_come_count(client: Client, visit: Callable[..., Any]) -> None:
    page = visit()
    late: list[Any] = []
    page.route("**/api/rules/**", lambda route: late.append(route))
    page.goto(client.server.entrance())
    page.get_by_role("radio", name="Easy School").check()
    page.get_by_label("Players").select_option("5")
    page.get_by_label("Your seat").select_option("4")
    assert [text[:6] for text in page.locator("#opponents label").all_inner_texts()] == [f"Seat {n}" for n in range(4)]
    end = time.monotonic() + SECONDS
    while len(late) < 2 and time.monotonic() < end:
        page.wait_for_timeout(10)
    assert len(late) == 2
    for route in reversed(late):  # Easy Peasy's rules come last, when nobody asks for them any more
        with page.expect_response("**/api/rules/**"):
            route.continue_()
    page.wait_for_selector("body[data-ready]")
    assert "semester" in page.locator("#rules-text").text_content()  # not shown, so there is no inner text
    page.get_by_role("button", name="Deal").click()
    await_turn(page)
    assert "/game/" in page.url


@needs_browser
@pytest.mark.parametrize("game", ["peasy_v0", "school_v0"])
def test_the_rules_are_set_and_not_shown_as_markdown(client: Client, visit: Callable[..., Any], game: str) -> None:
    page = visit()
    page.goto(client.server.entrance())
    page.wait_for_selector("body[data-ready]")
    state = client.deal(game, "heuristic")
    page.goto(f"{client.server.url}/game/{state['id']}")
    page.get_by_text("The rules", exact=True).click()
    rules = page.locator("#rules-text")
    rules.locator("h3").first.wait_for()
    source = (Path(easyenvs.__file__).parent / game / "rules.md").read_text(encoding="utf-8")
    shown = rules.inner_text()
    assert not re.search(r"\*\*|`|\|", shown)
    assert rules.locator("h3").count() == len(re.findall(r"^## ", source, re.MULTILINE))
    assert rules.locator("strong").count() == source.count("**") / 2
    assert rules.locator("tbody tr").count() == len(re.findall(r"^\| ", source, re.MULTILINE)) - 2 * source.count(
        "| --- |\n"
    )
    assert rules.locator("li").count() == len(re.findall(r"^(?:-|\d+\.) ", source, re.MULTILINE))
    unmarked = re.sub(r"^(?:-|\d+\.) |^\| ---.*$|^# .*$", "", source, flags=re.MULTILINE)
    assert re.sub(r"\s", "", shown) == re.sub(r"[*`|#\s]", "", unmarked)  # every word, in order
