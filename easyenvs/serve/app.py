"""The addresses of the server.

    GET    /                          the start page
    GET    /game/ID                   a game's page
    GET    /static/NAME               the pages' scripts and styles
    GET    /api/menu                  what can be played, and the open games
    GET    /api/rules/GAME            a game's rules, as Markdown
    POST   /api/games                 a new game: {"game": …, "seats": ["human", POLICY …]}
    GET    /api/games/ID              a game; ?after=VERSION waits for a newer version
    DELETE /api/games/ID              close a game
    GET    /api/games/ID/table.svg    the table as the human's seat knows it; ?theme=light|dark
    POST   /api/games/ID/act          {"version": …, "action": NAME}
    POST   /api/games/ID/undo         {"version": …}
    POST   /api/games/ID/hint         {"version": …, "policy": NAME}
    GET    /api/games/ID/record       the record, once the game is over

A refusal is a status 4xx with `{"error": {"code": …, "message": …}}`, and nothing has changed.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from easyenvs.core.options import as_integer
from easyenvs.core.svg import THEMES
from easyenvs.serve.errors import Refusal
from easyenvs.serve.guard import Guard, error_response
from easyenvs.serve.lobby import Lobby
from easyenvs.serve.table import Shown, Table

POLL_SECONDS: Final = 20.0
MEDIA_TYPES: Final = {
    "serve.css": "text/css",
    "icon.svg": "image/svg+xml",
    "common.js": "text/javascript",
    "start.js": "text/javascript",
    "table.js": "text/javascript",
}
RECORD_TYPE: Final = "application/jsonl"


def make_app(lobby: Lobby, *, port: int, token: str) -> Guard:
    """The server as an ASGI application that answers on this port and to this token."""
    addresses = _Addresses(lobby)
    routes = [
        Route("/", addresses.start),
        Route("/game/{id}", addresses.page),
        Route("/static/{name}", addresses.static),
        Route("/api/menu", addresses.menu),
        Route("/api/rules/{game}", addresses.rules),
        Route("/api/games", addresses.open, methods=["POST"]),
        Route("/api/games/{id}", addresses.state),
        Route("/api/games/{id}", addresses.close, methods=["DELETE"]),
        Route("/api/games/{id}/table.svg", addresses.picture),
        Route("/api/games/{id}/act", addresses.act, methods=["POST"]),
        Route("/api/games/{id}/undo", addresses.undo, methods=["POST"]),
        Route("/api/games/{id}/hint", addresses.hint, methods=["POST"]),
        Route("/api/games/{id}/record", addresses.record),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={Refusal: _refused, HTTPException: _http_error},  # type: ignore[dict-item]
    )
    return Guard(app, port, token)


async def _refused(request: Request, refusal: Refusal) -> Response:
    return error_response(refusal)


async def _http_error(request: Request, error: HTTPException) -> Response:
    code = {404: "not_found", 405: "bad_method"}.get(error.status_code, "bad_request")
    answer = error_response(Refusal(error.status_code, code, f"{request.method} {request.url.path}: {error.detail}"))
    answer.headers.update(error.headers or {})
    return answer


def _asset(name: str) -> str:
    return (files("easyenvs.serve") / "static" / name).read_text(encoding="utf-8")


async def _body(request: Request, *keys: str) -> dict[str, Any]:
    """A request's JSON object with exactly these keys."""
    try:
        values = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise Refusal(400, "bad_json", f"the body is no JSON: {error}") from error
    if not isinstance(values, dict) or set(values) != set(keys):
        raise Refusal(400, "bad_body", f"a JSON object with the keys {', '.join(keys)} is accepted")
    return values


async def _state_of(shown: Shown, status_code: int = 200) -> Response:
    # In a thread: the picture is drawn for it, and other requests must not wait.
    return JSONResponse(await run_sync(lambda: shown.state), status_code=status_code)


def _version(value: object) -> int:
    number = as_integer(value)
    if number is None:
        raise Refusal(400, "bad_version", f"version is {value!r}; an integer is accepted")
    return number


class _Addresses:
    """What each address does."""

    def __init__(self, lobby: Lobby) -> None:
        self.lobby = lobby

    def _table(self, request: Request) -> Table:
        return self.lobby.find(request.path_params["id"])

    async def start(self, request: Request) -> Response:
        return HTMLResponse(_asset("start.html"))

    async def page(self, request: Request) -> Response:
        try:
            self._table(request)
        except Refusal as refusal:
            return HTMLResponse(_asset("gone.html"), status_code=refusal.status)
        return HTMLResponse(_asset("table.html"))

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in MEDIA_TYPES:
            raise Refusal(404, "not_found", f"there is no file {name!r}")
        return Response(_asset(name), media_type=MEDIA_TYPES[name])

    async def menu(self, request: Request) -> Response:
        games = [
            {
                "game": offer.game.id,
                "title": offer.title,
                "players": offer.players,
                "usual": offer.game.rule_options["num_players"],
                "policies": list(offer.policies),
            }
            for offer in self.lobby.menu.offers.values()
        ]
        summaries = await run_sync(self.lobby.summaries)
        return JSONResponse({"games": games, "open": summaries, "most_games": self.lobby.most_games})

    async def rules(self, request: Request) -> Response:
        return PlainTextResponse(self.lobby.menu.find(request.path_params["game"]).rules_text)

    async def open(self, request: Request) -> Response:
        asked = await _body(request, "game", "seats")
        table = await run_sync(self.lobby.open, asked["game"], asked["seats"])
        return await _state_of(table.shown, 201)

    async def close(self, request: Request) -> Response:
        self.lobby.close(request.path_params["id"])
        return Response(status_code=204)

    async def state(self, request: Request) -> Response:
        table, after = self._table(request), request.query_params.get("after")
        if after is None:
            return await _state_of(table.shown)
        if not after.isdecimal() or len(after) > 9:
            raise Refusal(400, "bad_version", f"after={after!r} is not accepted: it must be a version")
        return await _state_of(await table.newer(int(after), POLL_SECONDS))

    async def picture(self, request: Request) -> Response:
        theme = request.query_params.get("theme", "light")
        if theme not in THEMES:
            raise Refusal(400, "bad_theme", f"theme={theme!r} is not accepted: it must be one of {', '.join(THEMES)}")
        return Response(await run_sync(self._table(request).shown.picture, theme), media_type="image/svg+xml")

    async def act(self, request: Request) -> Response:
        table, asked = self._table(request), await _body(request, "version", "action")
        if not isinstance(asked["action"], str):
            raise Refusal(400, "bad_action", f"action is {asked['action']!r}; an action's name is accepted")
        return await _state_of(await run_sync(table.act, _version(asked["version"]), asked["action"]))

    async def undo(self, request: Request) -> Response:
        table, asked = self._table(request), await _body(request, "version")
        return await _state_of(await run_sync(table.undo, _version(asked["version"])))

    async def hint(self, request: Request) -> Response:
        table, asked = self._table(request), await _body(request, "version", "policy")
        policy = self.lobby.menu.policy(table.offer, asked["policy"])
        return JSONResponse(await run_sync(table.hint, _version(asked["version"]), policy))

    async def record(self, request: Request) -> Response:
        table = self._table(request)
        name = f"{table.offer.game.id}-{table.id}.jsonl"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(await run_sync(table.record), media_type=RECORD_TYPE, headers=headers)
