"""Cells: columns and tables of any library, and new frames."""
