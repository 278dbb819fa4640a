"""Helpers for all packages: checks, files written whole, optional packages, types, words."""
