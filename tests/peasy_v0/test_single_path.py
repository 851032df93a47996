"""What Easy Peasy's single game keeps up to date for its observations: it has to equal what it stands for."""

from __future__ import annotations

import itertools
import random

import pytest

import easyenvs
from easyenvs.peasy_v0.game import Game
from tests.test_single_path import cases, play, styles

PEASY = easyenvs.peasy_v0


@pytest.mark.parametrize("players", range(2, 7))
def test_packed_rows(players: int) -> None:
    rng = random.Random(players)
    met = {"reshuffled": 0, "known card face-down": 0}
    for (number, options), weights in itertools.product(enumerate(cases(PEASY.GAME)), styles(PEASY.GAME).values()):
        env = PEASY.raw_env(num_players=players, **options)
        env.reset(seed=number)
        game = env._game

        def compare(game: Game = game) -> None:
            rows = [cards for row in game.row for cards in row]
            known = [cards & game.public for cards in rows]
            assert game.known_row == sum(cards << lane * game.num_cards for lane, cards in enumerate(known))
            hidden = [cards != seen for cards, seen in zip(rows, known, strict=True)]
            assert game.hidden == sum(flag << lane for lane, flag in enumerate(hidden))
            met["reshuffled"] += game.reshuffles > 0
            met["known card face-down"] += any(seen & ~game.face_up for seen in known)

        play(env, weights, rng, 150, compare)
    assert all(met.values()), met
