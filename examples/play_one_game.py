"""One game through PettingZoo, with a random legal action for every agent.

python examples/play_one_game.py              # Easy Peasy
python examples/play_one_game.py school_v0    # Easy School
"""

from __future__ import annotations

import sys

import easyenvs

game = easyenvs.find_game(sys.argv[1] if len(sys.argv) > 1 else "peasy_v0")
env = game.env(num_players=3, render_mode="ansi")  # the same as easyenvs.peasy_v0.env(…)
env.reset(seed=42)

for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    if terminated or truncated:
        print(f"{agent}: reward {reward:+.1f}, {info['score']} points, rank {info['rank']:g}")
        env.step(None)
        continue
    if env.snapshot()["decisions"] % 25 == 0:  # look at the table now and then
        print(env.render(), end="\n\n")
    action = env.action_space(agent).sample(info["action_mask"])  # your policy comes here
    env.step(action)

env.close()
