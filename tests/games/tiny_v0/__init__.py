"""A game as small as it can be and still have hidden cards, chance, rounds and two phases: the highest card wins.

Six cards, 1 … 6. Each seat gets one, face down. In turn, clockwise from a random first seat, each draws or stops; who
has drawn looks at both cards and puts one of them on the discards, face up, then draws again or stops. Once all have
stopped, everybody scores the value of the card that is left, and the next round is dealt. The most points win.

It is the third game of the conformance tests: one folder, found by `easyenvs.register` or through an entry point,
without a `machine.py`. Its modules import one another relatively, because a test installs a copy of the folder.
"""

from easyenvs.core.game import define, front_door

GAME = define(__name__)
env, raw_env, batch = front_door(GAME)

__all__ = ["GAME", "batch", "env", "raw_env"]
