"""Positions of Easy School made by hand. A letter is a card: nerd N, thief T, hacker H, gift G, copycat C, joker J,
stress S, semester end E."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from easyenvs import school_v0
from easyenvs.core.batch import Batch
from easyenvs.school_v0.cards import (
    CARDS_UNDER_LAST_SPECIAL,
    COPIES,
    NUM_CHEATS,
    NUM_FACE_UP,
    NUM_TYPES,
    SPECIAL,
    STRESS,
    type_points,
)
from easyenvs.school_v0.view import first_special_places

ENGINES: Final = ("python", "numpy")
LETTERS: Final = "NTHGCJSE"


def types(letters: str) -> list[int]:
    """`NTJ` -> [0, 1, 5]; spaces don't matter."""
    return [LETTERS.index(letter) for letter in letters if letter != " "]


def letters(kinds: Iterable[int]) -> str:
    """[0, 1, 5] -> `NTJ`."""
    return "".join(LETTERS[kind] for kind in kinds)


def counts(cards: str, number: int = NUM_FACE_UP) -> list[int]:
    """`NNJ` -> [2, 0, 0, 0, 0, 1]."""
    kinds = types(cards)
    return [kinds.count(kind) for kind in range(number)]


def cards_of(numbers: list[int]) -> str:
    """[2, 0, 0, 0, 0, 1] -> `NNJ`."""
    return letters(kind for kind, number in enumerate(numbers) for _ in range(number))


def position(
    face_up: list[str],
    *,
    deck: str = "",
    stress: list[int] | None = None,
    victory: list[str] | None = None,
    pool: str = "",
    claimed: str = "",
    phase: str = "turn",
    player: int | None = 0,
    semester: int = 1,
    thrown: int = 0,
    shuffle: int | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A snapshot.

    deck: its topmost cards, the next one first. Where they hold all the specials that are left, they are followed by as
        many cards as have to lie under the last one (after the second special: by as many as make ten cards), and
        all others lie on the discard pile. Else the others follow, with the specials in their places.
    victory: bottom to top. thrown: so many more of the cards that are named nowhere lie on the discard pile.
    shuffle: a seed for the order of the cards that are named nowhere; None leaves them sorted by type.
    """
    players = len(face_up)
    stress = [0] * players if stress is None else stress
    victory = [""] * players if victory is None else victory
    top, specials_left = types(deck), 3 - semester
    there = Counter(types("".join([*face_up, *victory, pool, claimed])) + top)
    there[STRESS] += sum(stress)
    assert all(there[kind] <= COPIES[kind] for kind in range(NUM_TYPES)), "more cards are named than there are"
    rest = [kind for kind in range(SPECIAL) for _ in range(COPIES[kind] - there[kind])]
    if shuffle is not None:
        random.Random(shuffle).shuffle(rest)
    discards = [rest.pop() for _ in range(thrown)]
    if specials_left == there[SPECIAL]:
        under = (
            CARDS_UNDER_LAST_SPECIAL - len(top)
            if not specials_left
            else CARDS_UNDER_LAST_SPECIAL - top[::-1].index(SPECIAL)
        )
        whole, discards = top + rest[:under], discards + rest[under:]
    else:
        bottom = [SPECIAL, *rest[len(rest) - CARDS_UNDER_LAST_SPECIAL :]]
        above = rest[: len(rest) - CARDS_UNDER_LAST_SPECIAL]
        if specials_left - there[SPECIAL] == 2:
            under = first_special_places(players)[5]
            above.insert(max(0, len(above) + len(bottom) - under), SPECIAL)
        whole = top + above + bottom
    piles = [types(pile) for pile in victory]
    return {
        "game": "school_v0",
        "num_players": players,
        "phase": phase,
        "player": player,
        "turn_player": 0 if player is None else player,
        "semester": semester,
        "deck": whole,
        "face_up": [counts(cards) for cards in face_up],
        "stress": stress,
        "victory": piles,
        "pool": counts(pool),
        "discard_pile": [*(discards.count(kind) for kind in range(SPECIAL)), semester - 1],
        "scores": [sum(type_points(pile.count(kind)) for kind in range(NUM_CHEATS)) for pile in piles],
        "claimed": counts(claimed),
        "decisions": 0,
        **more,
    }


def table(engine: str, snapshot: dict[str, Any], **options: Any) -> Batch:
    """A batch of one game in that position."""
    games = school_v0.batch(1, num_players=snapshot["num_players"], seed=0, engine=engine, **options)
    games.restore(0, snapshot)
    return games


def act(games: Batch, *names: str) -> dict[str, Any]:
    """Play these actions, by name, in game 0; returns its snapshot."""
    for name in names:
        games.step([games.game.notation.parse_action(name)])
    return games.snapshot(0)


def legal_names(games: Batch) -> set[str]:
    """The names of game 0's legal actions."""
    names = games.game.notation.ACTION_NAMES
    return {names[a] for a in games.legal[0].nonzero()[0]}
