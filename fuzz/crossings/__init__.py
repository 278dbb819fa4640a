"""Any two features together: every pair of them in at least one small model, which is judged.

`factors` lists the features, `covering` puts them together so that every pair occurs, `tables`
makes a small problem of such a row, `brute` knows the truth about it, and `judges` compares.
`python -m fuzz.crossings --write` finds the pairs that are refused and writes the page
`docs/research/crossings.md`.
"""
