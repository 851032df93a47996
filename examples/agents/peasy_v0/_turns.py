"""Every way in which the acting seat's turn can go on to its end: all lines of plays, bonuses and Row flips.

A turn is short, so all of its lines can be laid out: a play that matches no colour ends it, a play that does opens a bonus,
in which it may be passed, a Row pile be flipped, or another card be played on the same pile (P10). What a flip of the
Up&Down card draws is not known; it is tried with a few draws of the cards that the draw pile can hold.

    M decisions  A actions  K lines
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Final, Self

import numpy as np

from easyenvs.core import bits, chance
from easyenvs.core.arrays import F64, U64, Flags, Index
from easyenvs.core.policies import Decisions
from easyenvs.peasy_v0.cards import (
    AT_LEAST,
    AT_MOST,
    FIRST_PLAY,
    NUM_CARDS,
    Action,
    Direction,
    Phase,
    value_of,
)

from ._tools import BIT, SAME_COLOUR, card_in

DRAWS: Final = 4
"""How many draws a flip is tried with, unless told otherwise."""

LONGEST_CHAIN: Final = 6

NOT_TURNED: Final = -1

COVERS: Final[U64] = np.array(
    [[0] * NUM_CARDS, *([side[value_of(c)] for c in range(NUM_CARDS)] for side in (AT_LEAST, AT_MOST))], dtype=np.uint64
)
"""P6. [direction, top]: the cards that may be played on the card `top`."""

Evaluate = Callable[[Decisions, "Lines"], F64]
"""(decisions, finished lines) -> what each is worth, [K]."""


@dataclass
class Lines:
    """K ways through a turn, and what the seat has in front of it then."""

    root: Index  # the first action: game · A + action, or, of a flip, M · A + draw · M + game
    game: Index
    hand: U64  # set
    up_0: U64  # set: the face-up card of Row pile 0
    up_1: U64  # … of Row pile 1
    top_0: Index  # card on discard pile 0
    top_1: Index
    direction: Index
    turned: Index  # the Row pile that the bonus flips, or NOT_TURNED

    def __len__(self) -> int:
        return len(self.root)

    def pick(self, index: Index) -> Self:
        """Some of the lines, repeats allowed."""
        return type(self)(*(getattr(self, field.name)[index] for field in fields(self)))

    @classmethod
    def join(cls, parts: list[Self]) -> Self:
        """All lines of several."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


@dataclass
class Weighed:
    """What the legal actions are worth, and the lines that say so."""

    worth: F64  # [M, A], −inf for illegal actions
    lines: Lines
    line_worth: F64  # [K]

    def best_line(self, game: Index, action: Index) -> Index:
        """The best line that begins with an action (no flip) in a game, the first among equals: [J], [J] -> [J]."""
        num_games, num_actions = self.worth.shape
        wanted = np.full(num_games * num_actions, -1, dtype=np.intp)
        root = game * num_actions + action
        wanted[root] = np.arange(len(root))
        k = np.flatnonzero(self.lines.root < num_games * num_actions)
        of = wanted[self.lines.root[k]]
        k, of = k[of >= 0], of[of >= 0]
        is_best = self.line_worth[k] == self.worth[game[of], action[of]]
        best = np.full(len(root), -1, dtype=np.intp)
        best[of[is_best][::-1]] = k[is_best][::-1]
        return best


def weigh(d: Decisions, evaluate: Evaluate, draws: int = DRAWS) -> Weighed:
    """What every legal action is worth: its best line, a flip the mean over its draws."""
    num_decisions = len(d)
    flips = np.flatnonzero(d.legal[:, Action.FLIP] & (d.view.phase == Phase.TURN))
    lines = _all_lines(d, flips, draws)
    line_worth = evaluate(d, lines) if len(lines) else np.zeros(0)
    roots = num_decisions * d.num_actions
    best = np.full(roots + draws * num_decisions, -np.inf)
    np.maximum.at(best, lines.root, line_worth)
    worth = best[:roots].reshape(num_decisions, d.num_actions)
    worth[flips, Action.FLIP] = best[roots:].reshape(draws, num_decisions)[:, flips].mean(axis=0)
    forced = np.flatnonzero(d.legal[:, Action.FLIP] & (d.view.phase == Phase.PLAY))  # P8: the only legal action
    worth[forced, Action.FLIP] = 0.0
    return Weighed(np.where(d.legal, worth, -np.inf), lines, line_worth)


def _all_lines(d: Decisions, flips: Index, draws: int) -> Lines:
    view = d.view
    hidden, known_down = view.hidden_down[0], view.known_down[0]
    has_down = [hidden[pile] | (known_down[pile] != 0) for pile in (0, 1)]
    tops = [card_in(view.tops[pile]) for pile in (0, 1)]

    def start(game: Index, root: Index, direction: Index, hand: U64) -> Lines:
        up = view.up[0]
        not_turned = np.full(len(game), NOT_TURNED, dtype=np.intp)
        return Lines(root, game, hand, up[0][game], up[1][game], tops[0][game], tops[1][game], direction, not_turned)

    done: list[Lines] = []
    game, action = np.nonzero(d.legal)
    now, root = view.direction[game].astype(np.intp), game * d.num_actions + action

    k = np.flatnonzero(action >= FIRST_PLAY)
    pile, card = np.divmod(action[k] - FIRST_PLAY, NUM_CARDS)
    lines = start(game[k], root[k], now[k], view.hand[game[k]])
    matches = BIT[card] & SAME_COLOUR[np.where(pile == 0, lines.top_0, lines.top_1)] != 0
    _chain(_played(lines, card, pile), pile, matches, has_down, done)

    for bonus in (Action.PASS, Action.TURN_0, Action.TURN_1):
        k = np.flatnonzero(action == bonus)
        lines = start(game[k], root[k], now[k], view.hand[game[k]])
        lines.turned[:] = NOT_TURNED if bonus == Action.PASS else bonus - Action.TURN_0
        done.append(lines)

    for choice, direction in ((Action.UP, Direction.UP), (Action.DOWN, Direction.DOWN)):
        k = np.flatnonzero(action == choice)
        _must_play(start(game[k], root[k], np.full(len(k), direction), view.hand[game[k]]), has_down, done)

    reverse = (Direction.UP + Direction.DOWN) - view.direction[flips].astype(np.intp)
    for draw in range(draws if len(flips) else 0):
        hand = view.hand[flips] | _two_cards(d, flips, draw)
        roots = len(d) * d.num_actions + draw * len(d) + flips
        _must_play(start(flips, roots, reverse, hand), has_down, done)
    return Lines.join(done)


def _played(lines: Lines, card: Index, pile: Index) -> Lines:
    """The same lines, each with one more card on a discard pile."""
    left = ~BIT[card]
    return Lines(
        lines.root,
        lines.game,
        lines.hand & left,
        lines.up_0 & left,
        lines.up_1 & left,
        np.where(pile == 0, card, lines.top_0),
        np.where(pile == 1, card, lines.top_1),
        lines.direction,
        lines.turned,
    )


def _plays(lines: Lines, pile: Index) -> tuple[Lines, Index, Flags]:
    """Every card that can follow on these piles (P6): the lines, their piles, and whether the colours match."""
    top = np.where(pile == 0, lines.top_0, lines.top_1)
    playable = (lines.hand | lines.up_0 | lines.up_1) & COVERS[lines.direction, top]
    line, card = np.nonzero(bits.unpack(np.ascontiguousarray(playable)[:, None], NUM_CARDS))
    return _played(lines.pick(line), card, pile[line]), pile[line], BIT[card] & SAME_COLOUR[top[line]] != 0


def _chain(lines: Lines, pile: Index, matches: Flags, has_down: list[Flags], done: list[Lines]) -> None:
    """P10. Lines that have just played a card: finished without a match; with one, every bonus."""
    for _ in range(LONGEST_CHAIN):
        done.append(lines.pick(np.flatnonzero(~matches)))
        k = np.flatnonzero(matches)
        if not k.size:
            return
        lines, pile = lines.pick(k), pile[k]
        done.append(lines)  # passed
        for row_pile in (0, 1):
            turning = lines.pick(np.flatnonzero(has_down[row_pile][lines.game]))
            turning.turned[:] = row_pile
            done.append(turning)
        lines, pile, matches = _plays(lines, pile)
    done.append(lines)


def _must_play(lines: Lines, has_down: list[Flags], done: list[Lines]) -> None:
    """P8. Every play on either pile; who has none flips the card back, which is as far as one can see."""
    can_play = np.zeros(len(lines), dtype=np.bool_)
    for number, top in enumerate((lines.top_0, lines.top_1)):
        pile = np.full(len(lines), number, dtype=np.intp)
        can_play |= (lines.hand | lines.up_0 | lines.up_1) & COVERS[lines.direction, top] != 0
        _chain(*_plays(lines, pile), has_down, done)
    stuck = lines.pick(np.flatnonzero(~can_play))
    stuck.direction = (Direction.UP + Direction.DOWN) - stuck.direction
    done.append(stuck)


def _two_cards(d: Decisions, games: Index, draw: int) -> U64:
    """Two random cards that a flip can draw (P9): of the draw pile's, and of the discards where those run out -> [K] sets."""
    view = d.view
    drawn = np.zeros(len(games), dtype=np.uint64)
    for number in range(2):
        key = chance.derive_array(chance.DOMAIN_POLICY, d.keys[games], 2 * draw + number)
        pool = np.where(view.draw_size[games] > number, view.unseen_fresh[games], view.buried[games]) & ~drawn
        size = np.bitwise_count(pool)
        rank = chance.below(key, np.maximum(size, 1))
        card = bits.select(np.where(size > 0, pool, np.uint64(1))[:, None], rank)
        drawn |= np.where(size > 0, BIT[card], np.uint64(0))
    return drawn
