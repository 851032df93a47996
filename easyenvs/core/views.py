"""Views: what a seat may know, as a dataclass of named fields. Here: how a game declares one, and how views of single
games become a view of many, and back.

The fields of a view of M games are arrays with the games last (`[M]`, `[P, M]` …), so that `view.totals[0]` is the
viewer's own total in every game; of one game they are the same nested lists of Python numbers without that axis. One
expression reads both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, fields
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

V = TypeVar("V")


def known(shape: str, dtype: npt.DTypeLike, meaning: str) -> Any:
    """A field of a view: its shape (games last), the dtype of its arrays, and what it says, for the docs."""
    return field(metadata={"shape": shape, "dtype": np.dtype(dtype), "meaning": meaning})


def stack(views: Sequence[V]) -> V:
    """Views of single games as one view of many. `views` is not empty."""
    first = views[0]
    values: dict[str, Any] = {}
    for declared in fields(first):  # type: ignore[arg-type]
        name = declared.name
        if "dtype" not in declared.metadata:
            values[name] = getattr(first, name)
            continue
        stacked = np.array([getattr(view, name) for view in views], dtype=declared.metadata["dtype"])
        # The games last; of one game that is a matter of shape alone.
        values[name] = stacked[0, ..., None] if len(views) == 1 else np.moveaxis(stacked, 0, -1).copy()
    return type(first)(**values)


def unstack(view: V, game: int) -> V:
    """The view of one game out of a view of many, in plain Python numbers."""
    values: dict[str, Any] = {}
    for declared in fields(view):  # type: ignore[arg-type]
        value = getattr(view, declared.name)
        values[declared.name] = value[..., game].tolist() if "dtype" in declared.metadata else value
    return type(view)(**values)


def pick(view: V, games: npt.NDArray[np.integer[Any]]) -> V:
    """The view of some games out of a view of many, by number [K]."""
    values = {
        declared.name: getattr(view, declared.name)[..., games]
        if "dtype" in declared.metadata
        else getattr(view, declared.name)
        for declared in fields(view)  # type: ignore[arg-type]
    }
    return type(view)(**values)


def table(view_type: type[Any]) -> list[tuple[str, str, str, str]]:
    """(name, shape, dtype, meaning) of every field, for the docs."""
    return [
        (declared.name, declared.metadata["shape"], str(declared.metadata["dtype"]), declared.metadata["meaning"])
        for declared in fields(view_type)
        if "dtype" in declared.metadata
    ]
