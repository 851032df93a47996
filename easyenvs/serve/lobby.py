"""The games of a server."""

from __future__ import annotations

import secrets
import threading
from typing import Any, Final

from easyenvs.serve.errors import Refusal
from easyenvs.serve.menu import Menu
from easyenvs.serve.table import Table

MOST_GAMES: Final = 20


class Lobby:
    """The games that are open, by their ids.

    Args:
        menu: what can be played.
        pace: seconds between the decisions of opponents.
        most_games: how many games may be open at a time.
    """

    def __init__(self, menu: Menu, *, pace: float = 0.0, most_games: int = MOST_GAMES) -> None:
        self.menu, self.pace, self.most_games = menu, pace, most_games
        self._tables: dict[str, Table] = {}
        self._lock = threading.Lock()

    def open(self, game: object, seats: object) -> Table:
        """A new game. seats: "human" once, and a policy that the menu shows for each other seat."""
        offer = self.menu.find(game)
        checked = self.menu.seats(offer, seats)
        self.menu.prove(offer, checked)
        with self._lock:
            if len(self._tables) >= self.most_games:
                raise Refusal(
                    409, "too_many_games", f"{len(self._tables)} games are open, the most there may be: close one"
                )
            table = Table(secrets.token_urlsafe(12), offer, checked, pace=self.pace)
            self._tables[table.id] = table
            return table

    def find(self, id: str) -> Table:
        """An open game, or a Refusal."""
        table = self._tables.get(id)
        if table is None:
            raise Refusal(404, "unknown_game", "there is no such game: it was closed, or belongs to an earlier run")
        return table

    def close(self, id: str) -> None:
        """End a game; its address leads nowhere from now on."""
        self.find(id).close()
        self._tables.pop(id, None)

    def summaries(self) -> list[dict[str, Any]]:
        """A line for every open game, the newest first."""
        return [table.summary() for table in reversed(list(self._tables.values()))]

    def wake(self) -> None:
        """Answer all pages that wait for news."""
        for table in list(self._tables.values()):
            table.wake()
