"""Easy Peasy: shed cards from the hand or the Row, up or down, and end the round only when you are lowest.

`env` and `raw_env` are one game as a PettingZoo AEC environment, `batch` is many games at once.
"""

from easyenvs.core.game import define, front_door

GAME = define(__name__)
env, raw_env, batch = front_door(GAME)

__all__ = ["GAME", "batch", "env", "raw_env"]
