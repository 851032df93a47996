"""Easy School: collect cards, sit examinations, and let the others have the stress.

`env` and `raw_env` are one game as a PettingZoo AEC environment, `batch` is many games at once.
"""

from easyenvs.core.game import define, front_door

GAME = define(__name__)
env, raw_env, batch = front_door(GAME)

__all__ = ["GAME", "batch", "env", "raw_env"]
