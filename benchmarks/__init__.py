"""Benchmarks, studies of accuracy, and the reproduction of the paper."""
