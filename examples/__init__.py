"""Examples: scripts to copy from, and the baseline agents."""
