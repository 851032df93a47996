"""Judge agents: matches on equal deals, and how an agent in training does."""

from easyenvs.arena.learning import Evaluation, evaluate, plot_learning_curve
from easyenvs.arena.matches import Deals, half_width, play_deals

__all__ = ["Deals", "Evaluation", "evaluate", "half_width", "play_deals", "plot_learning_curve"]
