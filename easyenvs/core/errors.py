"""The errors that easyenvs raises on purpose. Each names what was given, what is accepted, and where."""

from __future__ import annotations


class IllegalActionError(ValueError):
    """An action that the rules do not allow now (R4). Nothing has changed."""


class ActionTypeError(IllegalActionError, TypeError):
    """Something that is no action at all: a float, a string, a bool, an array of the wrong dtype or shape."""


class SnapshotError(ValueError):
    """A snapshot that is corrupt, impossible by the rules, or made for other rules. Nothing has changed."""


class OptionError(ValueError):
    """An option with a value that is not accepted."""


class NotResetError(RuntimeError):
    """A call that needs a running game: before the first `reset`, or after the last seat has left."""


class MissingExtraError(ImportError):
    """A part of easyenvs that needs an extra which is not installed."""
