"""Agents for Easy School."""
