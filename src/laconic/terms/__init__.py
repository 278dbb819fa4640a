"""Rules as plain values: conditions, queries, rules, ensembles, and how they are written."""
