"""Judge agents: matches and tournaments on equal deals, ratings, exploitability, and how an agent in training does.

from easyenvs import arena

result = arena.play("peasy_v0", ["random", "greedy", "heuristic"], 2000)
print(result.placement)
"""

from easyenvs.arena.exploit import BestResponse, best_response
from easyenvs.arena.learning import Evaluation, evaluate, plot_learning_curve
from easyenvs.arena.matches import Deals, Failure, half_width, play_deals
from easyenvs.arena.show import plot_payoff, plot_ratings, table
from easyenvs.arena.tournament import Estimate, Forfeit, TournamentResult, play

__all__ = [
    "BestResponse",
    "Deals",
    "Estimate",
    "Evaluation",
    "Failure",
    "Forfeit",
    "TournamentResult",
    "best_response",
    "evaluate",
    "half_width",
    "play",
    "play_deals",
    "plot_learning_curve",
    "plot_payoff",
    "plot_ratings",
    "table",
]
