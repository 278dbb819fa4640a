"""Simulations behind docs/research/how-sure.md."""
