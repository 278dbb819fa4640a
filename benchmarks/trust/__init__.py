"""Simulations behind what is said about how sure a model is."""
