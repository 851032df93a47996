"""People at the table: one game shared by humans and policies, in the terminal or anywhere else."""

from easyenvs.play.session import HUMAN, Hint, Move, PolicyError, Session

__all__ = ["HUMAN", "Hint", "Move", "PolicyError", "Session"]
