"""What Easy School's single game keeps up to date for its observations: it has to equal what it stands for."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

import easyenvs
from easyenvs.school_v0.cards import COPIES, NUM_CHEATS, NUM_FACE_UP, NUM_TYPES, STRESS, TOP_CARDS, type_points
from easyenvs.school_v0.counts import listed
from easyenvs.school_v0.game import Game
from tests.test_single_path import cases, play, styles

SCHOOL = easyenvs.school_v0


@pytest.mark.parametrize("players", range(2, 7))
def test_packed_counts(players: int) -> None:
    rng = random.Random(players)
    for (number, options), weights in itertools.product(enumerate(cases(SCHOOL.GAME)), styles(SCHOOL.GAME).values()):
        env = SCHOOL.raw_env(num_players=players, **options)
        env.reset(seed=number)
        game = env._game

        def compare(game: Game = game) -> None:
            assert listed(game.in_deck, NUM_TYPES) == [game.deck.count(kind) for kind in range(NUM_TYPES)]
            seen: Counter[int] = Counter(game.deck)
            for seat, pile in enumerate(game.victory):
                front = listed(game.front[seat], NUM_TYPES)
                assert front[-1] == sum(front[:NUM_FACE_UP])
                counts = [pile.count(kind) for kind in range(NUM_FACE_UP)]
                points = sum(map(type_points, counts[:NUM_CHEATS]))
                assert listed(game.piles[seat], NUM_TYPES) == [*counts, points, len(pile)]
                assert game.scores[seat] == points
                top = [kind + 1 for kind in pile[::-1][:TOP_CARDS]]
                assert game.tops[seat] == sum(card << 3 * place for place, card in enumerate(top))
                seen.update(pile)
                seen.update({kind: front[kind] for kind in range(STRESS + 1)})
            for zone in (game.pool, game.claimed, game.discard_pile):
                seen.update(dict(enumerate(listed(zone, NUM_TYPES))))
            assert [seen[kind] for kind in range(NUM_TYPES)] == list(COPIES)

        play(env, weights, rng, 400, compare)
