"""The rule options, checked."""

from __future__ import annotations

from dataclasses import dataclass

from easyenvs.core.options import RuleOptions, integer_option


@dataclass(frozen=True, kw_only=True)
class Rules(RuleOptions):
    """One set of rules.

    num_players: 2 or 3.
    num_rounds: rounds of a game, at least 1.
    max_cycles: a game is truncated after `max_cycles · num_players` decisions; None means 1,000 (R6).
    """

    num_players: int = 2
    num_rounds: int = 2
    max_cycles: int | None = None

    def __post_init__(self) -> None:
        set_value = object.__setattr__
        set_value(self, "num_players", integer_option("num_players", self.num_players, 2, 3))
        set_value(self, "num_rounds", integer_option("num_rounds", self.num_rounds, 1, 100))
        if self.max_cycles is not None:
            set_value(self, "max_cycles", integer_option("max_cycles", self.max_cycles, 1, 10**6, also="None or "))

    @property
    def max_decisions(self) -> int:
        """R6. A game that has run this many decisions is truncated."""
        return (1000 if self.max_cycles is None else self.max_cycles) * self.num_players
