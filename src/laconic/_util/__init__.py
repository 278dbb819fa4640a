"""Helpers for all rooms: checks, files written whole, optional packages, types, words."""
