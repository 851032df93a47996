"""A server on the loopback interface."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
from types import TracebackType
from typing import Final, Self

import uvicorn

from easyenvs.core.options import integer_option
from easyenvs.serve.app import make_app
from easyenvs.serve.guard import TOKEN_PARAMETER
from easyenvs.serve.lobby import Lobby

ADDRESS: Final = "127.0.0.1"
MOST_CONNECTIONS: Final = 200
GRACE_SECONDS: Final = 5


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, lobby: Lobby) -> None:
        super().__init__(config)
        self.lobby = lobby

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.lobby.wake()  # pages wait for news all the time, and the end waits for them
        await super().shutdown(sockets)


class Server:
    """Serves a lobby, on the loopback interface alone: in this thread with `run`, or in one of its own as a context.

    Args:
        lobby: the games.
        port: 0: a free one.

    Attributes:
        port: the port.
        token: the token of this run.
        url: the address without it.

    Raises:
        OSError: the port is taken.
    """

    def __init__(self, lobby: Lobby, *, port: int = 0) -> None:
        self.lobby = lobby
        self._socket = socket.create_server((ADDRESS, integer_option("port", port, 0, 65535)))
        self.port: int = self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(32)
        self.url = f"http://{ADDRESS}:{self.port}"
        config = uvicorn.Config(
            make_app(lobby, port=self.port, token=self.token),
            access_log=False,
            log_level="warning",
            proxy_headers=False,  # nothing stands between: what such headers say is made up
            server_header=False,
            ws="none",
            lifespan="off",
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        self._server = _Uvicorn(config, lobby)
        self._thread: threading.Thread | None = None

    def entrance(self, game: str | None = None) -> str:
        """The address with the token, of the start page or of a game: what to open."""
        page = "/" if game is None else f"/game/{game}"
        return f"{self.url}{page}?{TOKEN_PARAMETER}={self.token}"

    def run(self) -> None:
        """Serve until somebody presses Ctrl-C."""
        with self._socket, contextlib.suppress(KeyboardInterrupt):  # uvicorn ends in order, and then raises it again
            self._server.run(sockets=[self._socket])

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.run, name=f"server on port {self.port}")
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._thread is not None
        self._server.should_exit = True
        self._thread.join()
