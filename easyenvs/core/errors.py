"""The errors that easyenvs raises on purpose. Each names what was given, what is accepted, and where."""

from __future__ import annotations


class IllegalActionError(ValueError):
    """An action that the rules do not allow now (R4). Nothing has changed."""


class ActionTypeError(IllegalActionError, TypeError):
    """Something that is no action at all: a float, a string, a bool, an array of the wrong dtype or shape."""


class SnapshotError(ValueError):
    """A snapshot that is corrupt, impossible by the rules, or made for other rules. Nothing has changed."""


class RecordError(ValueError):
    """A game record that is corrupt, of an unknown format or game, or impossible by the rules.

    Attributes:
        reason: what is wrong.
        file: the name of the file that it was read from, or None.
        line: the line there, from 1, or None.
    """

    def __init__(self, reason: str, file: str | None = None, line: int | None = None) -> None:
        super().__init__(reason, file, line)
        self.reason, self.file, self.line = reason, file, line

    def __str__(self) -> str:
        places = [] if self.file is None else [self.file]
        places += [] if self.line is None else [f"line {self.line}"]
        return ": ".join([*([", ".join(places)] if places else []), self.reason])


class OptionError(ValueError):
    """An option with a value that is not accepted."""


class NotResetError(RuntimeError):
    """A call that needs a running game: before the first `reset`, or after the last seat has left."""


class MissingExtraError(ImportError):
    """A part of easyenvs that needs an extra which is not installed."""
