"""One game of Easy Peasy through PettingZoo, with a random legal action for every agent.

python examples/play_one_game.py
"""

from __future__ import annotations

import easyenvs

env = easyenvs.peasy_v0.env(num_players=3, render_mode="ansi")
env.reset(seed=42)

for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    if terminated or truncated:
        print(f"{agent}: reward {reward:+.1f}, {info['score']} points, rank {info['rank']:g}")
        env.step(None)
        continue
    if env.unwrapped.snapshot()["decisions"] % 25 == 0:  # look at the table now and then
        print(env.render(), end="\n\n")
    action = env.action_space(agent).sample(observation["action_mask"])  # your policy comes here
    env.step(action)

env.close()
