"""Benchmarks for airspeed velocity: `cd benchmarks && asv run`."""
