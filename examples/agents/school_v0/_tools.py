"""What the agents of this folder share: tables by examination, and which actions belong together.

E examinations  T cheat types
"""

from __future__ import annotations

from typing import Final

import numpy as np

from easyenvs.core.arrays import F64
from easyenvs.school_v0.cards import EXAMS, NUM_CHEATS, NUM_FACE_UP, Action

# By examination: [E], and which types it names [T, E].
NAMED: Final[F64] = np.array([[t in types for types, _ in EXAMS] for t in range(NUM_CHEATS)], dtype=np.float64)
JOKERS: Final[F64] = np.array([jokers for _, jokers in EXAMS], dtype=np.float64)
SIZE: Final[F64] = NAMED.sum(axis=0) + JOKERS

# Where the actions of a kind stand.
CARDS: Final = slice(Action.TYPE, Action.TYPE + NUM_FACE_UP)
STRESSES: Final = slice(Action.STRESS, Action.EXAM)
EXAMINATIONS: Final = slice(Action.EXAM, Action.EXAM + len(EXAMS))
