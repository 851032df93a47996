"""A network that judges what a turn leaves behind, and the agent that goes for the best of it (two players).

Like the heuristic, it lays out every way to play the own turn to its end (`_turns.py`). What judges them was learned
(`examples/train_afterstates.py`): the match as the seat may expect it to end, 1 a win, −1 a defeat.

A position is shown to the network from the direction's side: a card's rank is 0 … 9 in the order in which cards cover each
other, so ones in DOWN are what tens are in UP. Colours are only named by the two discard piles. The heuristic's own
features and judgement are shown too.

    M decisions  K lines  R = 10 ranks  F inputs
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from easyenvs.core.arrays import F32, F64, U16, U64, Index
from easyenvs.core.policies import Decisions
from easyenvs.core.weights import FORMAT, Layer, Network, WeightsError, load_network
from easyenvs.peasy_v0.cards import NUM_VALUES, Direction
from easyenvs.peasy_v0.view import View

from ._tools import BIT, SAME_COLOUR, count, hidden_cards
from ._turns import Lines, weigh
from .heuristic import Guess, common_features, guess_of, judgement, line_features

GAME: Final = "peasy_v0"
OBSERVATION: Final = "afterstates"  # what the weights say that they read
NUM_PLAYERS: Final = 2
NUM_INPUTS: Final = 209
NUM_ROUNDS: Final = 3  # of the match that was learned; in longer ones the end is at most so far away

DRAWS: Final = 8  # how many draws a flip is tried with
LINES_AT_ONCE: Final = 4096

_COLOURS: Final = 4  # P2: in play with two players
_GROUP: Final = np.uint64(2**NUM_VALUES - 1)


def _ranks() -> tuple[U64, U16]:
    """Tables by direction and a colour's cards (10 bits): whether each rank is there, a byte each, the first 8 and the rest."""
    of_value = (np.arange(2**NUM_VALUES)[:, None] >> np.arange(NUM_VALUES) & 1).astype(np.uint8)
    ranks = np.zeros((len(Direction), *of_value.shape), dtype=np.uint8)
    ranks[Direction.UP], ranks[Direction.DOWN] = of_value, of_value[:, ::-1]
    first = np.ascontiguousarray(ranks[..., :8]).view(np.uint64)
    last = np.ascontiguousarray(ranks[..., 8:]).view(np.uint16)
    return first.reshape(-1), last.reshape(-1)


_FIRST_RANKS, _LAST_RANKS = _ranks()

# What the heuristic's features and other numbers are divided by, so that inputs are near 1.
SCALES: Final[dict[str, float]] = {
    "going on": 1.0,
    "hand points": 16.0,
    "up points": 8.0,
    "down points": 8.0,
    "hidden cards": 1.0,
    "turned": 1.0,
    "locked": 1.0,
    "larger": 16.0,
    "hand cards": 2.0,
    "near end": 8.0,
    "last": 1.0,
    "late": 2.0,
    "early": 2.0,
    "matches": 2.0,
    "their score": 16.0,
    "their row points": 8.0,
    "their hand cards": 2.0,
    "their row cards": 2.0,
    "their face-down cards": 1.0,
    "seats with one card": 1.0,
    "threat": 8.0,
    "next ends": 16.0,
    "next stuck": 1.0,
    "next plays": 4.0,
    "next matches": 2.0,
}


class Ranks:
    """Collects sets of cards in K positions; each becomes R counts, by rank."""

    def __init__(self, direction: Index) -> None:
        self._table = direction * 2**NUM_VALUES
        self._first: list[U64] = []
        self._last: list[U16] = []

    def add(self, cards: U64) -> None:
        """Count the cards of a set [K] by rank."""
        first, last = self._colour(cards & _GROUP)
        for colour in range(1, _COLOURS):
            more = self._colour(cards >> np.uint64(NUM_VALUES * colour) & _GROUP)
            first, last = first + more[0], last + more[1]
        self._keep(first, last)

    def add_colour(self, cards: U64, shift: U64) -> None:
        """… only those of one colour, whose first card is `shift`."""
        self._keep(*self._colour(cards >> shift & _GROUP))

    def _colour(self, group: U64) -> tuple[U64, U16]:
        at = self._table + group.astype(np.intp)
        return _FIRST_RANKS.take(at), _LAST_RANKS.take(at)

    def _keep(self, first: U64, last: U16) -> None:
        self._first.append(first)
        self._last.append(last)

    def counts(self) -> npt.NDArray[np.uint8]:
        """[K, R times the sets], in an order of its own."""
        return np.concatenate(
            [np.stack(words, axis=1).view(np.uint8) for words in (self._first, self._last)],
            axis=1,
        )


class Situation:
    """M decisions as the network sees them: what no line changes is worked out once."""

    def __init__(self, d: Decisions) -> None:
        self.d = d
        self._guess = guess_of(d.view)
        self._common = common_features(d.view, self._guess)
        # every game twice, once a direction
        game = np.repeat(np.arange(len(d)), 2)
        direction = np.tile(np.array([Direction.UP, Direction.DOWN], dtype=np.intp), len(d))
        numbers = _fixed_numbers(d.view, self._guess, self._common)[game]
        self._fixed = np.concatenate([_fixed_cards(d.view, game, direction), numbers], axis=1)

    def inputs(self, lines: Lines) -> F32:
        """What the network sees of the position after each line: multiples of 1/1024, so that sums are exact -> [K, F]."""
        view: View = self.d.view
        features, ends, end_worth = line_features(view, self._guess, lines)
        judged = judgement(self.d, self._common, features, ends, end_worth, lines)
        numbers: list[Any] = [features[name] / SCALES[name] for name in features]
        numbers += [ends, end_worth / 8.0, ends * end_worth / 8.0, judged / 8.0, lines.direction == Direction.UP]
        fixed = self._fixed[2 * lines.game + (lines.direction == Direction.DOWN)]
        x: F32 = np.concatenate([fixed, *_line_cards(view, lines), _stepped(numbers)], axis=1, dtype=np.float32)
        return x

    def in_parts(self, lines: Lines) -> Iterator[F32]:
        """The same for some lines after the other: in parts that stay in the processor's cache."""
        for start in range(0, len(lines), LINES_AT_ONCE):
            yield self.inputs(lines.pick(np.arange(start, min(start + LINES_AT_ONCE, len(lines)))))


def _stepped(numbers: list[Any]) -> F32:
    stepped: F32 = np.rint(np.stack(numbers, axis=1, dtype=np.float32, casting="unsafe") * 1024.0) / 1024.0
    return stepped


def _fixed_cards(view: View, game: Index, direction: Index) -> npt.NDArray[np.uint8]:
    up, down = view.up[1], view.known_down[1]
    ranks = Ranks(direction)
    for cards in (up[0] | up[1], down[0] | down[1], view.unseen_fresh | view.unseen_old):
        ranks.add(cards[game])
    return ranks.counts()


def _fixed_numbers(view: View, guess: Guess, common: dict[str, F64]) -> F32:
    ahead = (view.totals[1] - view.totals[0]).astype(np.float64)
    left = rounds_left(view)
    hidden = hidden_cards(view)[1]
    numbers: list[Any] = [common[name] / SCALES[name] for name in common if name != "going on"]
    numbers += [left == rounds for rounds in range(NUM_ROUNDS)]
    numbers += [(left == rounds) * ahead / 16.0 for rounds in range(NUM_ROUNDS)]
    numbers += [np.tanh(ahead / width) for width in (4.0, 12.0)]
    numbers += [view.hand_size[1] == 1, view.hand_size[1] == 2, view.hand_size[1] / 4.0, view.hand_fresh[1] / 4.0]
    numbers += [hidden, view.draw_size / 16.0, view.reshuffled]
    numbers += [guess.card / 8.0, guess.hand[1] / 16.0, guess.row[1] / 16.0]
    return _stepped(numbers)


def rounds_left(view: View) -> Index:
    """How many rounds will follow the current one, at most NUM_ROUNDS − 1 -> [M]. (With a target score: as if 3 were played.)"""
    rounds = NUM_ROUNDS if view.rules.num_rounds is None else view.rules.num_rounds
    left: Index = np.clip(rounds - 1 - view.round.astype(np.intp), 0, NUM_ROUNDS - 1)
    return left


def _line_cards(view: View, lines: Lines) -> tuple[npt.NDArray[np.uint8], F32]:
    game, direction = lines.game, lines.direction
    is_0, is_1 = lines.turned == 0, lines.turned == 1
    known_0, known_1 = view.known_down[0, 0][game], view.known_down[0, 1][game]
    up_0: U64 = np.where(is_0, known_0, lines.up_0)
    up_1: U64 = np.where(is_1, known_1, lines.up_1)
    down_0: U64 = np.where(is_0, lines.up_0, known_0)
    down_1: U64 = np.where(is_1, lines.up_1, known_1)
    up, down = up_0 | up_1, down_0 | down_1
    # The pile on which more cards can be played is the first.
    is_up = direction == Direction.UP
    value_0, value_1 = lines.top_0 % NUM_VALUES, lines.top_1 % NUM_VALUES
    swap = np.where(is_up, value_0 > value_1, value_0 < value_1)
    first, second = np.where(swap, lines.top_1, lines.top_0), np.where(swap, lines.top_0, lines.top_1)
    their_up: U64 = (view.up[1, 0] | view.up[1, 1])[game]
    unseen: U64 = (view.unseen_fresh | view.unseen_old)[game]
    ranks = Ranks(direction)
    for cards in (lines.hand, up, down):
        ranks.add(cards)
    for top in (first, second):
        shift = (top // NUM_VALUES * NUM_VALUES).astype(np.uint64)
        for cards in (BIT[top], lines.hand, up, their_up, unseen):
            ranks.add_colour(cards, shift)
    own = lines.hand | up
    alike = [count(own >> np.uint64(NUM_VALUES * colour) & _GROUP) ** 2 for colour in range(_COLOURS)]
    return ranks.counts(), _stepped([sum(alike) / 16.0, SAME_COLOUR[first] == SAME_COLOUR[second]])


class AfterstatePolicy:
    """Plays the action whose best line the network likes most.

    Args:
        layers: from the inputs to one number.
        about: what the weights were made for.

    Raises:
        WeightsError: these layers are none for this, or don't fit together.
    """

    def __init__(self, layers: Sequence[Layer], about: dict[str, Any]) -> None:
        expected = {"format": FORMAT, "game": GAME, "num_players": NUM_PLAYERS, "observation": OBSERVATION}
        for key, value in expected.items():
            if about.get(key) != value:
                raise WeightsError(f"the weights' {key} is {about.get(key)!r}; this agent needs {value!r}")
        self.network = Network(layers)
        if (self.network.num_inputs, self.network.num_outputs) != (NUM_INPUTS, 1):
            raise WeightsError(
                f"the weights take {self.network.num_inputs} inputs and give {self.network.num_outputs} outputs; "
                f"this agent needs {NUM_INPUTS} and 1"
            )
        self.about = about

    @classmethod
    def load(cls, path: str | Path) -> AfterstatePolicy:
        """Of a weights file.

        Raises:
            WeightsError: no such file, or it is corrupt or made for something else.
        """
        layers, about = load_network(path)
        return cls(layers, about)

    def __repr__(self) -> str:
        return f"<afterstates of {GAME}, {NUM_PLAYERS} players: {self.network!r}>"

    def __call__(self, d: Decisions, /) -> Index:
        """Legal action ids, intp [M]."""
        chosen: Index = self.worths(d).argmax(axis=1)
        return chosen

    def worths(self, d: Decisions) -> F64:
        """What the match is worth after the best line of every action, a flip the mean over its draws; −inf where it is
        illegal -> [M, A]."""
        if d.game != GAME or d.num_players != NUM_PLAYERS:
            raise ValueError(
                f"these weights play {GAME} with {NUM_PLAYERS} players; the game is {d.game} with {d.num_players}"
            )
        return weigh(d, self.judge, DRAWS).worth

    def judge(self, d: Decisions, lines: Lines) -> F64:
        """What the match is worth after each line -> [K]."""
        return np.concatenate([self.network(x)[:, 0] for x in Situation(d).in_parts(lines)])
