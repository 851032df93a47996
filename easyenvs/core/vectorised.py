"""The memory of N games: what every vectorised machine does with it, whatever the game.

N games  K the games of a subset  W words of 64 action bits
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from easyenvs.core.arrays import U64, Index
from easyenvs.core.game import StepEvents

Array = npt.NDArray[Any]


class Vectorised:
    """Base of a game's `Machine`: a structure of arrays, and subsets of its games.

    `blocks` are arrays [.., N], one a dtype, whose rows are the fields; so a subset of the games is gathered and put back
    with one call a block. `shared` are arrays [N, ..] that a subset has in common with the whole (decks, say): rule code
    indexes them with `self.rows[k]`. A game's class says in `_configure` what follows from the rules, and in `_name_fields`
    which row of which block is which field; it steps all of its games in `_advance`.
    """

    def __init__(
        self, num_games: int, rules: Any, blocks: dict[str, Array], shared: dict[str, Array], num_words: int
    ) -> None:
        self.rules = rules
        self._configure(rules)
        self._attach(
            blocks,
            shared,
            np.zeros((num_games, num_words), dtype=np.uint64),
            np.arange(num_games, dtype=np.intp),
        )

    def _configure(self, rules: Any) -> None:
        """Set the attributes that follow from the rules alone."""
        raise NotImplementedError

    def _name_fields(self, blocks: dict[str, Array], shared: dict[str, Array]) -> None:
        """Set the attributes that are views of the memory."""
        raise NotImplementedError

    def _advance(self, action: Index) -> StepEvents:
        """One decision in every game; the caller has checked that they are legal and that no game is over."""
        raise NotImplementedError

    def _make_room(self, rows: Index | None) -> None:
        """Let the shared memory hold what one more decision in these games can write."""

    def _attach(self, blocks: dict[str, Array], shared: dict[str, Array], legal_words: U64, rows: Index) -> None:
        self.num_games = len(rows)
        self._blocks, self._shared = blocks, shared
        self.legal_words = legal_words  # uint64 [N, W]  the legal actions, bit a of a row is action a
        self.rows = rows  # intp [N]  these games' rows in `shared`
        self.index = np.arange(len(rows), dtype=np.intp)
        self._name_fields(blocks, shared)

    # The fields are views: pickled or deep-copied one by one, they would no longer share the blocks' memory.

    def __getstate__(self) -> dict[str, Any]:
        return {"rules": self.rules, "memory": (self._blocks, self._shared, self.legal_words, self.rows)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.rules = state["rules"]
        self._configure(self.rules)
        self._attach(*state["memory"])

    def step(self, actions: Index, rows: Index | None = None) -> StepEvents:
        """Play one decision: `actions[j]` in row `rows[j]`, or in every row. The caller has checked that they are legal
        and that none of these games is over."""
        self._make_room(rows)
        if rows is None:
            return self._advance(actions)
        part = self.select(rows)
        events = part._advance(actions)
        self._put_back(rows, part)
        return StepEvents(
            over=rows[events.over], truncated=events.truncated, scored=rows[events.scored], gains=events.gains
        )

    def select(self, rows: Index) -> Self:
        """Copies of these games to read from, or to step and put back: what is shared stays shared with this machine."""
        return self._part(rows, self._shared, self.rows[rows])

    def take(self, rows: Index) -> Self:
        """Copies of these games (repeats allowed) as a machine that has nothing in common with this one."""
        at = self.rows[rows]
        shared = {name: array.take(at, axis=0) for name, array in self._shared.items()}
        return self._part(rows, shared, np.arange(len(rows), dtype=np.intp))

    def _part(self, rows: Index, shared: dict[str, Array], rows_in_shared: Index) -> Self:
        part = object.__new__(type(self))
        part.__dict__.update(self.__dict__)
        blocks = {name: array.take(rows, axis=-1) for name, array in self._blocks.items()}
        part._attach(blocks, shared, self.legal_words.take(rows, axis=0), rows_in_shared)
        return part

    def _put_back(self, rows: Index, part: Self) -> None:
        for name, array in self._blocks.items():
            array[..., rows] = part._blocks[name]
        self.legal_words[rows] = part.legal_words

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the games take."""
        arrays = [*self._blocks.values(), *self._shared.values(), self.legal_words, self.rows, self.index]
        return sum(array.nbytes for array in arrays)
