"""Judge agents: matches on equal deals."""

from easyenvs.arena.matches import Deals, play_deals

__all__ = ["Deals", "play_deals"]
