"""Checking of options: every refusal names the option, the value given and what is accepted."""

from __future__ import annotations

import operator
from dataclasses import dataclass, fields
from typing import Any, NoReturn

import numpy as np

from easyenvs.core.errors import OptionError


def refuse_option(name: str, value: object, accepted: str) -> NoReturn:
    """Raise the OptionError for an option."""
    raise OptionError(f"{name}={value!r} is not accepted: {name} must be {accepted}")


def as_integer(value: object) -> int | None:
    """The int that `value` is: any integer scalar or 0-d integer array. None for everything else, bools included."""
    if type(value) is int:
        return value
    if isinstance(value, np.ndarray):
        return int(value) if value.ndim == 0 and value.dtype.kind in "iu" else None
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def integer_option(name: str, value: object, low: int, high: int, *, also: str = "") -> int:
    """`value` as an int in low … high, or an OptionError. `also`: what else the option accepts, for the message."""
    number = as_integer(value)
    if number is None or not low <= number <= high:
        refuse_option(name, value, f"{also}an integer {low} … {high}")
    return number


def choice_option(name: str, value: object, choices: tuple[Any, ...]) -> Any:
    """`value` if it is one of `choices`, or an OptionError."""
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        refuse_option(name, value, "one of " + ", ".join(map(repr, choices)))
    return value


@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """Base of a game's `Rules`: a frozen dataclass whose fields are the options of `env`, `raw_env` and `batch`."""

    num_players: int

    @property
    def max_decisions(self) -> int:
        """R6. A game that has run this many decisions is truncated."""
        raise NotImplementedError

    def refuse(self, name: str, value: object, accepted: str) -> NoReturn:
        """Raise the OptionError for one of the options."""
        refuse_option(name, value, accepted)

    def as_dict(self) -> dict[str, Any]:
        """The options by name, as plain values: what a snapshot holds under "rules"."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
