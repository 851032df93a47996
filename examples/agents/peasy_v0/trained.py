"""Trained: a network that learned by self-play what a turn should leave behind (`examples/train_afterstates.py`)."""

from .._trained import TrainedPolicy

policy = TrainedPolicy("peasy_v0")
