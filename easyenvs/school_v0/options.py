"""The rule options of Easy School (S2, S10, R6), checked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from easyenvs.core.options import RuleOptions, choice_option, integer_option

DEFAULT_CYCLES: Final = 1000
CLOCK_TICKS: Final = 64


@dataclass(frozen=True, kw_only=True)
class Rules(RuleOptions):
    """One set of rules.

    num_players: 3 … 5 as published; 2 and 6 are accepted too, and unofficial (S2).
    stack: "choose": the examinee says in which order its cards go on the victory pile; "auto": they are laid in order of
        falling value (S10).
    max_cycles: a game is truncated after `max_cycles · num_players` decisions; None means 1,000. By default every game
        ends before (R6).
    """

    num_players: int = 3
    stack: Literal["choose", "auto"] = "choose"
    max_cycles: int | None = None

    def __post_init__(self) -> None:
        set_value = object.__setattr__
        set_value(self, "num_players", integer_option("num_players", self.num_players, 2, 6))
        choice_option("stack", self.stack, ("choose", "auto"))
        if self.max_cycles is not None:
            set_value(self, "max_cycles", integer_option("max_cycles", self.max_cycles, 1, 10**8, also="None or "))

    @cached_property
    def clock_tick(self) -> int:
        """Decisions in a unit of the observations' feature `clock`."""
        return -(-self.max_decisions // CLOCK_TICKS)

    @property
    def max_decisions(self) -> int:
        """R6. A game that has run this many decisions is truncated."""
        return (DEFAULT_CYCLES if self.max_cycles is None else self.max_cycles) * self.num_players
