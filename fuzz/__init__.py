"""A standing attack: random problems, files and names, until something gives way.

`python -m fuzz --minutes 30` says how many cases there were and writes down those that failed. A
case is made from its number alone, so that `--first 123 --cases 1` repeats it.
"""
