"""The rule options of Easy Peasy (P2, P16, R6), checked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from easyenvs.core.options import RuleOptions, integer_option

STANDARD_ROUNDS: Final = 3
STANDARD_TARGET: Final = {2: 30, 3: 50, 4: 50, 5: 50, 6: 50}
"""P16. The rulebook's target score by number of players."""

CLOCK_TICKS: Final = 64


@dataclass(frozen=True, kw_only=True)
class Rules(RuleOptions):
    """One set of rules.

    num_players: 2 … 6 (P2).
    num_rounds: rounds of a game, at least 1; None means 3, or no limit where `target_score` is given (P16).
    target_score: a game ends after the round in which some seat's total reaches this; "standard" is the rulebook's:
        50, and 30 with 2 players (P16). Excludes `num_rounds`.
    max_cycles: a game is truncated after `max_cycles · num_players` decisions; None means the largest of 1,000,
        100 · `num_rounds` and 10 · `target_score` (R6).
    """

    num_players: int = 2
    num_rounds: int | None = None
    target_score: int | Literal["standard"] | None = None
    max_cycles: int | None = None

    def __post_init__(self) -> None:
        set_value = object.__setattr__
        set_value(self, "num_players", integer_option("num_players", self.num_players, 2, 6))
        if self.num_rounds is not None and self.target_score is not None:
            self.refuse(
                "num_rounds",
                self.num_rounds,
                f"None where target_score is given (target_score={self.target_score!r}): the two exclude each other (P16)",
            )
        if self.target_score == "standard" and isinstance(self.target_score, str):
            set_value(self, "target_score", STANDARD_TARGET[self.num_players])
        elif self.target_score is not None:
            hint = 'None, "standard" or '
            set_value(self, "target_score", integer_option("target_score", self.target_score, 1, 10**6, also=hint))
        else:
            rounds = STANDARD_ROUNDS if self.num_rounds is None else self.num_rounds
            set_value(self, "num_rounds", integer_option("num_rounds", rounds, 1, 10**6, also="None or "))
        if self.max_cycles is not None:
            set_value(self, "max_cycles", integer_option("max_cycles", self.max_cycles, 1, 10**8, also="None or "))

    @cached_property
    def clock_tick(self) -> int:
        """Decisions in a unit of the observations' feature `clock`."""
        return -(-self.max_decisions // CLOCK_TICKS)

    @property
    def max_decisions(self) -> int:
        """R6. A game that has run this many decisions is truncated."""
        cycles = self.max_cycles
        if cycles is None:
            target = self.target_score if isinstance(self.target_score, int) else 0
            cycles = max(1000, 100 * (self.num_rounds or 0), 10 * target)
        return cycles * self.num_players
