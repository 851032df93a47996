"""Benchmarks: each a script that prints what it measured, on which machine, and can write it as JSON."""
