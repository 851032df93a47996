"""What the server answers instead of what was asked for."""

from __future__ import annotations


class Refusal(Exception):
    """A request that is refused. Nothing has changed.

    Attributes:
        status: the HTTP status, 4xx.
        code: one word for programs.
        message: a sentence for people.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
