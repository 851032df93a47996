"""What every request has to pass before anything looks at it, and the headers of every answer.

The server listens on the loopback interface only, but every page that is open in a browser can send requests there. So:

- the Host has to be a loopback name with our port: a foreign name that resolves to 127.0.0.1 (DNS rebinding) is none;
- all but the icon and the like needs the token of this run, in a cookie that scripts and other sites don't get;
- whatever changes a game needs an Origin of our own, and JSON as its type;
- there are no WebSockets.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from easyenvs.serve.errors import Refusal

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost")
MOST_BODY: Final = 4096
"""Bytes of a request's body."""

SAFE_METHODS: Final = ("GET", "HEAD")
TOKEN_PARAMETER: Final = "token"
OPEN_PATHS: Final = ("/static/serve.css", "/static/icon.svg")
"""What the page that asks for the token needs."""

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_LOCKED: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>easyenvs</title><link rel="stylesheet" href="/static/serve.css"><link rel="icon" href="/static/icon.svg"></head>
<body><main class="narrow"><h1>This page needs its key</h1>
<p>Open the whole address that <code>easyenvs serve</code> has printed, with the token at its end. Every run has a new one.</p>
</main></body></html>
"""


def error_response(refusal: Refusal) -> JSONResponse:
    """A refusal as JSON: `{"error": {"code": …, "message": …}}`."""
    return JSONResponse({"error": {"code": refusal.code, "message": refusal.message}}, status_code=refusal.status)


class Guard:
    """ASGI middleware that lets only requests of our own page through.

    Args:
        app: what the requests are for.
        port: the server's.
        token: of this run.
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self.app = app
        self.hosts = {f"{name}:{port}" for name in LOOPBACK_NAMES}
        if port == 80:
            self.hosts |= set(LOOPBACK_NAMES)
        self.token = token
        self.cookie = f"easyenvs_{port}"  # cookies of all ports are kept together

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI entry."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            early = self._early(scope)
            body = b"" if early is not None or scope["method"] in SAFE_METHODS else await _limited_body(scope, receive)
        except Refusal as refusal:
            early = error_response(refusal)
        if early is not None:
            await early(scope, receive, send_with_headers)
            return
        await self.app(scope, receive if scope["method"] in SAFE_METHODS else _replay(body, receive), send_with_headers)

    def _early(self, scope: Scope) -> Response | None:
        """An answer that needs no more than the request's head; None: the request may pass."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            raise Refusal(421, "bad_host", f"this server answers for {' and '.join(sorted(self.hosts))} only")
        is_safe = scope["method"] in SAFE_METHODS
        origins = headers.getlist("origin")
        if (origins or not is_safe) and origins != [f"http://{hosts[0].lower()}"]:
            raise Refusal(403, "bad_origin", "the request comes from another site, or does not say where it comes from")
        given = parse_qs(scope["query_string"].decode("latin-1")).get(TOKEN_PARAMETER)
        if is_safe and given is not None:
            if not self._is_token(given[0]):
                return self._locked(scope)
            answer = RedirectResponse(scope["path"] if scope["path"].startswith("/game/") else "/", status_code=303)
            answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
            return answer
        if scope["path"] not in OPEN_PATHS and not self._has_cookie(headers):
            return self._locked(scope)
        if (
            scope["method"] == "POST"
            and headers.get("content-type", "").partition(";")[0].strip() != "application/json"
        ):
            raise Refusal(415, "bad_type", "a body of the type application/json is accepted")
        return None

    def _has_cookie(self, headers: Headers) -> bool:
        try:
            cookies = SimpleCookie("; ".join(headers.getlist("cookie")))
        except CookieError:
            return False
        return self.cookie in cookies and self._is_token(cookies[self.cookie].value)

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())

    def _locked(self, scope: Scope) -> Response:
        if scope["path"].startswith("/api/"):
            raise Refusal(
                401, "no_token", "the token of this run is missing or wrong: open the address that was printed"
            )
        return HTMLResponse(_LOCKED, status_code=401)


async def _limited_body(scope: Scope, receive: Receive) -> bytes:
    too_large = Refusal(413, "too_large", f"the body is larger than {MOST_BODY} bytes")
    length = Headers(scope=scope).get("content-length", "0")
    if not length.isdecimal() or len(length) > 9 or int(length) > MOST_BODY:
        raise too_large
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refusal(400, "cut_off", "the body is not complete")
        body += bytes(message.get("body", b""))
        if len(body) > MOST_BODY:
            raise too_large
        if not message.get("more_body", False):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """`receive` with the body that has been read already."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
