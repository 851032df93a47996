"""Agents for Easy Peasy."""
