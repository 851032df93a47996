"""Trained: a network that learned by self-play (`examples/train_selfplay_ppo.py`); `docs/agents.md` says how."""

from .._trained import TrainedPolicy

policy = TrainedPolicy("peasy_v0")
