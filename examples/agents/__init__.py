"""Baseline agents, one folder a game, one file an agent, each with a `policy`.

In a checkout they are `examples.agents`; the wheel packs them as `easyenvs_agents`. By name: `load_policy("greedy", game)`.
"""
