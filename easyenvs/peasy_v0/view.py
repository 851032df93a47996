"""What one seat of Easy Peasy may know (P13), as named seat-relative fields, from either engine.

This is the only way from a game's state to anything that an agent sees: encoders, policies, texts and pictures read
views. A view never holds another seat's hand, a face-down card that nobody has seen, or the order of the draw pile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easyenvs.core.arrays import Index
from easyenvs.core.views import known
from easyenvs.peasy_v0.cards import NUM_CARDS, ROW_PILES
from easyenvs.peasy_v0.options import Rules

if TYPE_CHECKING:
    from easyenvs.peasy_v0.game import Game
    from easyenvs.peasy_v0.machine import Machine

BIT = np.array([1 << card for card in range(NUM_CARDS)], dtype=np.uint64)


@dataclass(slots=True)
class View:
    """What a seat knows. Seats are relative to the viewer: 0 is itself, 1 the next clockwise.

    M games (the last axis; absent in a view of one game), P seats, 2 Row piles or discard piles. A set of cards is a
    word: bit c is card c; `up`, `known_down` and `tops` are sets of at most one card.
    """

    rules: Rules
    phase: Any = known("[M]", np.uint8, "what is to be decided, a `cards.Phase`")
    actor: Any = known("[M]", np.int8, "the seat to act, relative; −1 once the game is over")
    direction: Any = known("[M]", np.uint8, "the Up&Down card, a `cards.Direction`")
    flips: Any = known("[M]", np.uint8, "flips of the Up&Down card in this turn")
    bonus_pile: Any = known("[M]", np.int8, "the discard pile that a bonus is bound to; −1 outside phase BONUS")
    round: Any = known("[M]", np.int32, "0-based")
    totals: Any = known("[P, M]", np.int32, "points so far")
    last_scores: Any = known("[P, M]", np.int32, "points of the last finished round; 0 before")
    decisions: Any = known("[M]", np.int32, "decisions made in this game")
    hand: Any = known("[M]", np.uint64, "set: the viewer's own hand")
    hand_size: Any = known("[P, M]", np.uint8, "cards in each hand")
    hand_fresh: Any = known("[P, M]", np.uint8, "how many of them are fresh")
    up: Any = known("[P, 2, M]", np.uint64, "set: the face-up card of each Row pile")
    known_down: Any = known("[P, 2, M]", np.uint64, "set: the face-down card, where everyone knows it")
    hidden_down: Any = known("[P, 2, M]", np.bool_, "a face-down card is there that has never been face-up")
    tops: Any = known("[2, M]", np.uint64, "set: the top card of each discard pile")
    buried: Any = known("[M]", np.uint64, "set: the discards under both tops")
    draw_size: Any = known("[M]", np.uint8, "cards in the draw pile")
    unseen_fresh: Any = known("[M]", np.uint64, "set: unseen cards that were in the draw pile when it was last formed")
    unseen_old: Any = known("[M]", np.uint64, "set: the other unseen cards")
    reshuffled: Any = known("[M]", np.bool_, "this round has had a reshuffle")


def of_game(game: Game, seat: int) -> View:
    """The view of one seat of one game, in plain numbers."""
    players = game.num_players
    order = [(seat + distance) % players for distance in range(players)]
    up = [game.up[s] for s in order]
    down = [game.down[s] for s in order]
    hands = [game.hand[s] for s in order]
    face_down_known, fresh = game.known, game.fresh
    tops = [1 << game.tops[0], 1 << game.tops[1]]
    hand = hands[0]
    seen = hand | game.buried | tops[0] | tops[1] | face_down_known
    for pile in up:
        seen |= pile[0] | pile[1]
    unseen = game.deck & ~seen
    last = game.round_scores[-1] if game.round_scores else [0] * players
    player, bonus_pile = game.player, game.bonus_pile
    return View(
        game.rules,
        game.phase,
        -1 if player is None else (player - seat) % players,
        game.direction,
        game.flips,
        -1 if bonus_pile is None else bonus_pile,
        game.round,
        [game.totals[s] for s in order],
        [last[s] for s in order],
        game.decisions,
        hand,
        [h.bit_count() for h in hands],
        [(h & fresh).bit_count() for h in hands],
        [list(pile) for pile in up],
        [[pile[0] & face_down_known, pile[1] & face_down_known] for pile in down],
        [[pile[0] & ~face_down_known != 0, pile[1] & ~face_down_known != 0] for pile in down],
        tops,
        game.buried,
        len(game.pile),
        unseen & fresh,
        unseen & ~fresh,
        game.reshuffles > 0,
    )


def of_games(machine: Machine, seat: Index) -> View:
    """The view of seat `seat[i]` of every game i of a machine, in fresh arrays."""
    num_games, players = machine.num_games, machine.num_players
    # [P, N]: where the entry of the seat at each distance is in a flattened [P, N] field
    flat = seat[None, :] + np.arange(players, dtype=np.intp)[:, None]
    flat[flat >= players] -= players
    flat *= num_games
    flat += machine.index
    face_down_known, fresh = machine.known, machine.fresh
    hands = machine.hand.reshape(-1).take(flat)
    up = np.empty((players, ROW_PILES, num_games), dtype=np.uint64)
    down = np.empty_like(up)
    for pile in range(ROW_PILES):
        up[:, pile] = machine.up[pile].reshape(-1).take(flat)
        down[:, pile] = machine.down[pile].reshape(-1).take(flat)
    known_down = down & face_down_known
    tops = np.stack([BIT.take(machine.top[0]), BIT.take(machine.top[1])])
    unseen = hands[0] | machine.buried
    unseen |= tops[0]
    unseen |= tops[1]
    unseen |= face_down_known
    for distance in range(players):
        unseen |= up[distance, 0]
        unseen |= up[distance, 1]
    unseen ^= machine.deck
    unseen_fresh = unseen & fresh
    actor = machine.player.astype(np.int8)
    over = actor < 0
    actor -= seat.astype(np.int8)
    actor[actor < 0] += players
    actor[over] = -1
    return View(
        machine.rules,
        machine.phase.copy(),
        actor,
        machine.direction.copy(),
        machine.flips.copy(),
        machine.bonus_pile.astype(np.int8),
        machine.round.copy(),
        machine.totals.reshape(-1).take(flat),
        machine.last_scores.reshape(-1).take(flat),
        machine.decisions.copy(),
        hands[0],
        np.bitwise_count(hands),
        np.bitwise_count(hands & fresh),
        up,
        known_down,
        down != known_down,
        tops,
        machine.buried.copy(),
        machine.pile_end - machine.next_card,
        unseen_fresh,
        unseen ^ unseen_fresh,
        machine.reshuffles > 0,
    )
