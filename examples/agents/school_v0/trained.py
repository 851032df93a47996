"""Trained: a network that learned by self-play (`examples/train_selfplay_ppo.py`); `docs/agents.md` says how."""

from .._trained import TrainedNetworks

policy = TrainedNetworks("school_v0")
