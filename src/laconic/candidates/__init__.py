"""The conditions that rules may be made of, and the rows that they cover."""
