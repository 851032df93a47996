"""Baseline agents, one file an agent, each with a `policy`: those for one game in its folder, those for every game here.

In a checkout they are `examples.agents`; the wheel packs them as `easyenvs_agents`. By name: `load_policy("greedy", game)`.
"""
