"""One game, rule by rule. Sets of cards are ints: bit c is card c, whose value is c + 1."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

from easyenvs.core import bits, chance

from .options import Rules

NUM_CARDS: Final = 6
DEAL, FIRST_PLAYER = 0, 1  # random events of a round


class Phase(IntEnum):
    """What is to be decided."""

    DRAW = 0  # draw a card, or stop
    KEEP = 1  # which of the two cards to keep
    OVER = 2


class Action(IntEnum):
    """What a seat can do."""

    STOP = 0
    DRAW = 1
    KEEP_LOW = 2
    KEEP_HIGH = 3


KEEP_IS_LEGAL: Final = 1 << Action.KEEP_LOW | 1 << Action.KEEP_HIGH


class Game:
    """One game. `deal` starts it; `step` plays one decision of seat `player`."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.num_players = rules.num_players
        self.num_actions = len(Action)
        self.seed = 0
        self.decisions = 0
        self.round = 0  # 0-based
        self.totals: list[int] = []  # by seat
        self.gains: list[float] | None = None
        self.terminated = False
        self.truncated = False
        self.phase = Phase.OVER
        self.player: int | None = None
        self.legal = 0
        self.first = 0  # the seat that was the first of the round
        self.hands: list[int] = []  # [P] sets: one card, two in phase KEEP
        self.discards = 0
        self.pile: list[int] = []  # next card last

    def deal(self, seed: int) -> None:
        """Start game `seed`."""
        self.seed = seed
        self.decisions = self.round = 0
        self.totals = [0] * self.num_players
        self.gains = None
        self.terminated = self.truncated = False
        self._deal_round()

    def _deal_round(self) -> None:
        cards = chance.shuffled(chance.event_key(self.seed, self.round, DEAL), range(NUM_CARDS))
        self.hands = [1 << card for card in cards[: self.num_players]]
        self.pile = cards[self.num_players :]
        self.discards = 0
        self.first = chance.pick(chance.event_key(self.seed, self.round, FIRST_PLAYER), range(self.num_players))
        self.player = self.first
        self._ask(Phase.DRAW)

    def _ask(self, phase: Phase) -> None:
        self.phase = phase
        if phase is Phase.KEEP:
            self.legal = KEEP_IS_LEGAL
        else:
            self.legal = 1 << Action.STOP | bool(self.pile) << Action.DRAW

    def step(self, action: int) -> None:
        """Play one decision of seat `player`; the caller has checked that `action` is legal."""
        assert self.player is not None
        self.gains = None
        self.decisions += 1
        if action == Action.STOP:
            self._stop()
        elif action == Action.DRAW:
            self.hands[self.player] |= 1 << self.pile.pop()
            self._ask(Phase.KEEP)
        else:
            low, high = bits.members(self.hands[self.player])
            kept, dropped = (low, high) if action == Action.KEEP_LOW else (high, low)
            self.hands[self.player] = 1 << kept
            self.discards |= 1 << dropped
            self._ask(Phase.DRAW)
        if self.decisions >= self.rules.max_decisions and self.player is not None:
            self._end(truncated=True)

    def _stop(self) -> None:
        assert self.player is not None
        following = (self.player + 1) % self.num_players
        if following != self.first:
            self.player = following
            self._ask(Phase.DRAW)
            return
        gains = [hand.bit_length() for hand in self.hands]
        self.totals = [total + gain for total, gain in zip(self.totals, gains, strict=True)]
        self.gains = [float(gain) for gain in gains]
        if self.round + 1 == self.rules.num_rounds:
            self._end(truncated=False)
        elif self.decisions >= self.rules.max_decisions:
            self._end(truncated=True)
        else:
            self.round += 1
            self._deal_round()

    def _end(self, truncated: bool) -> None:
        self.truncated, self.terminated = truncated, not truncated
        if truncated:
            self.gains = None
        self.phase = Phase.OVER
        self.player = None
        self.legal = 0

    @property
    def scores(self) -> list[int]:
        """The totals so far."""
        return list(self.totals)

    def standing(self) -> list[tuple[int, ...]]:
        """By seat; the lower the better."""
        return [(-total,) for total in self.totals]

    def resample(self, seat: int, key: int) -> None:
        """Redraw what `seat` can't see: the other hands, and the order of the pile."""
        self.seed = chance.derive(chance.DOMAIN_ROW, key, 0)
        unseen = (1 << NUM_CARDS) - 1 & ~(self.hands[seat] | self.discards)
        cards = iter(chance.shuffled(chance.derive(chance.DOMAIN_RESAMPLE, key, 0), bits.members(unseen)))
        for other, hand in enumerate(self.hands):
            if other != seat:
                self.hands[other] = bits.set_of(next(cards) for _ in range(hand.bit_count()))
        self.pile = list(cards)

    def position(self) -> dict[str, Any]:
        """The state as a snapshot's plain values."""
        return {
            "phase": self.phase.name.lower(),
            "player": self.player,
            "first": self.first,
            "hands": [bits.members(hand) for hand in self.hands],
            "discards": bits.members(self.discards),
            "draw_pile": self.pile[::-1],
            "round": self.round,
            "totals": list(self.totals),
            "decisions": self.decisions,
            "seed": self.seed,
            "truncated": self.truncated,
        }

    def set_position(self, position: dict[str, Any]) -> None:
        """Take over a position that `notation.checked_position` has checked and completed."""
        self.seed = position["seed"]
        self.decisions = position["decisions"]
        self.round = position["round"]
        self.totals = list(position["totals"])
        self.gains = None
        self.first = position["first"]
        self.hands = [bits.set_of(hand) for hand in position["hands"]]
        self.discards = bits.set_of(position["discards"])
        self.pile = position["draw_pile"][::-1]
        self.player = position["player"]
        self.terminated = self.truncated = False
        phase = Phase[position["phase"].upper()]
        if phase is Phase.OVER:
            self._end(position["truncated"])
        else:
            self._ask(phase)
