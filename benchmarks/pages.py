"""Blocks of pages that benchmarks write, and tables in Markdown."""

from collections.abc import Sequence


def fill_in(text: str, name: str, block: str, writer: str) -> str:
    """Replace what is between the markers of one block.

    Parameters
    ----------
    text : str
        The page.
    name : str
        Name of the block.
    block : str
        What the markers enclose from now on.
    writer : str
        Program that the first marker names, such as "benchmarks/accuracy".
    """
    begin, end = f"<!-- {name}: written by {writer} -->", f"<!-- end of {name} -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(
            f"The page must have the lines {begin!r} and {end!r}. Got a page without them. "
            "Add them where the block belongs."
        )
    return f"{before}{begin}\n\n{block.strip()}\n\n{end}{after}"


def to_markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Table with the first column to the left and numbers to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *lines))
