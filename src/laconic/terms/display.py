"""Terms as tables: for data frames, Markdown, LaTeX and notebooks.

All of them show the lines of an ensemble; what else an estimator knows, such as certificates and
coverage, is added as further columns of text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import narwhals as nw

from laconic.tables.tables import FrameBackend, make_frame
from laconic.terms.formatting import Notation, format_conditions, format_weight
from laconic.terms.slopes import Slope

if TYPE_CHECKING:
    from laconic.terms.rules import Line, RuleEnsemble

# Two of the colours of Okabe and Ito, which people with any kind of colour vision can distinguish,
# and which are visible on white and on black.
POSITIVE_COLOUR = "#0072b2"
NEGATIVE_COLOUR = "#d55e00"

_LATEX_CHARACTERS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def _latex_text(text: str) -> str:
    return "".join(_LATEX_CHARACTERS.get(character, character) for character in text)


_LATEX = Notation(
    _latex_text,
    {
        "<": "$<$",
        "<=": r"$\leq$",
        ">": "$>$",
        "==": "$=$",
        "!=": r"$\neq$",
        "in": r"$\in$",
        "not in": r"$\notin$",
    },
    r"$\neg$ ",
    is_cut=True,
)

# Of a line with a term and what is known about it.
_MOST_CHARACTERS = 120

_CELL = "padding: 0.2em 0.6em; vertical-align: middle"
_TEXT_CELL = f"{_CELL}; text-align: left; min-width: 18em"
_NUMBER_CELL = f"{_CELL}; text-align: right; white-space: nowrap"


def with_columns(ensemble: RuleEnsemble, columns: Mapping[str, Sequence[str]]) -> str:
    """Write an ensemble as text, with further columns on the right, or below where terms are long.

    Parameters
    ----------
    ensemble : RuleEnsemble
    columns : dict of str to sequence of str
        A cell for each term, by the heading of the column.

    Examples
    --------
    >>> from laconic.terms.conditions import Condition, Query
    >>> from laconic.terms.rules import Rule, RuleEnsemble
    >>> old = Rule(Query((Condition("age", ">", 65),)), 1.0)
    >>> print(with_columns(RuleEnsemble((old,), 0.25), {"p": ["0.01"], "came back": ["44%"]}))
                           p  came back
    +0.2500 (intercept)
     +1.000 if age > 65  0.01        44%
    """
    lines, texts = ensemble.lines, str(ensemble).split("\n")
    numbers = [line.number for line in lines]
    blocks = [["", *texts]]
    for heading, cells in columns.items():
        blocks.append([heading, *("" if n == 0 else cells[n - 1] for n in numbers)])
    widths = [max(map(len, block)) for block in blocks]
    if sum(widths) + 2 * len(columns) > _MOST_CHARACTERS:
        return _with_lines_below(ensemble, columns)
    rows = zip(*blocks, strict=True)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _with_lines_below(ensemble: RuleEnsemble, columns: Mapping[str, Sequence[str]]) -> str:
    """Write the cells of each term below it, as nobody finds them far to its right."""
    indent = " " * (max(len(format_weight(line.weight)) for line in ensemble.lines) + 1)
    found = []
    for line, text in zip(ensemble.lines, str(ensemble).split("\n"), strict=True):
        found.append(text)
        if line.number > 0:
            cells = (f"{name}: {cells[line.number - 1]}" for name, cells in columns.items())
            found.append(f"{indent}{'; '.join(cells)}")
    return "\n".join(found)


def rules_frame(ensemble: RuleEnsemble, backend: FrameBackend | None = None) -> Any:
    """Make a data frame of the terms; see `RuleEnsemble.to_frame`."""
    terms = ensemble.terms
    kinds = ["slope" if term in ensemble.slopes else "rule" for term in terms]
    columns: dict[str, tuple[Any, list[Any]]] = {
        "term": (nw.Int64(), list(range(1, len(terms) + 1))),
        "kind": (nw.String(), kinds),
        "class": (nw.String(), [*map(ensemble.output_of, terms)]),
        "weight": (nw.Float64(), [term.weight for term in terms]),
        "text": (nw.String(), [*map(ensemble.text, terms)]),
        "n_conditions": (nw.Int64(), [term.n_conditions for term in terms]),
    }
    if not ensemble.outputs:
        del columns["class"]
    dtypes = {name: dtype for name, (dtype, _) in columns.items()}
    return make_frame({name: cells for name, (_, cells) in columns.items()}, dtypes, backend)


def rules_markdown(ensemble: RuleEnsemble) -> str:
    """Write the terms as a Markdown table; see `RuleEnsemble.to_markdown`."""
    head, rule = ("| class ", "|:---") if ensemble.outputs else ("", "")
    rows = [
        (f"| {line.output} " if line.output else "", format_weight(line.weight), _markdown(line))
        for line in ensemble.lines
    ]
    lines = [f"{name}| {weight} | {text} |" for name, weight, text in rows]
    return "\n".join([f"{head}| weight | term |", f"{rule}|---:|:---|", *lines])


def _markdown(line: Line) -> str:
    """Write the conditions of a line in code style, exactly as they are, for a cell of a table."""
    text = " & ".join(line.conditions)
    if line.term is None:
        return text
    runs = {len(run) for run in re.findall("`+", text)}
    fence = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    space = " " if runs else ""
    # Inside of code only the bar has a meaning, and only in tables.
    return fence + space + text.replace("|", r"\|") + space + fence


def rules_latex(ensemble: RuleEnsemble) -> str:
    """Write the terms as a LaTeX table; see `RuleEnsemble.to_latex`."""
    rows = []
    for line in ensemble.lines:
        name = f"{_latex_text(line.output)} & " if line.output else ""
        kinds = ensemble.feature_kinds
        conditions = line.conditions
        if isinstance(line.term, Slope):
            conditions = [line.term.words(_LATEX)]
        elif line.term is not None and line.term.query:
            conditions = format_conditions(line.term.query.conditions, kinds, _LATEX)
        text = r" $\wedge$ ".join(conditions)
        rows.append(rf"{name}${format_weight(line.weight)}$ & {text} \\")
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{'l' if ensemble.outputs else ''}rl}}",
            r"\toprule",
            rf"{'class & ' if ensemble.outputs else ''}weight & term \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def rules_html(
    lines: Sequence[Line],
    caption: str,
    columns: Mapping[str, Sequence[str]] | None = None,
    weight: str = "weight",
) -> str:
    """Make an HTML table of the lines of a model, with a bar for the effect of each term.

    Further columns have a text for each term; `weight` is the head of the weights. The table needs
    nothing from the page around it; names, values and texts are escaped.
    """
    columns = columns or {}
    # A large intercept would leave no room for the differences between terms.
    largest = max((abs(line.effect) for line in lines), default=0.0) or 1.0
    has_classes = any(line.output for line in lines)
    further = zip(*columns.values(), strict=True) if columns else itertools.repeat(())
    rows = []
    for line in lines:
        cells = [line.output] if has_classes else []
        cells += [""] * len(columns) if line.term is None else next(further)
        rows.append(_html_row(line, largest, cells))
    heads = [("", _NUMBER_CELL), (weight, _NUMBER_CELL), ("", _CELL), ("term", _TEXT_CELL)]
    heads += [(name, _NUMBER_CELL) for name in (*["class"] * has_classes, *columns)]
    head = "".join(f'<th style="{style}">{escape(name)}</th>' for name, style in heads)
    return (
        '<table class="laconic-rules" style="border-collapse: collapse">'
        f'<caption style="text-align: left; caption-side: top">{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _html_row(line: Line, largest: float, further: Sequence[str]) -> str:
    # Lines break between conditions if they can.
    texts = [
        f'<span style="display: inline-block">{escape(text)}</span>' for text in line.conditions
    ]
    cells = [
        (str(line.number or ""), f"{_NUMBER_CELL}; opacity: 0.6"),
        (format_weight(line.weight), f"{_NUMBER_CELL}; font-variant-numeric: tabular-nums"),
        ("" if line.term is None else _html_bar(line.effect / largest), _CELL),
        (" &amp; ".join(texts), _TEXT_CELL),
        *((escape(cell), _NUMBER_CELL) for cell in further),
    ]
    return "".join(
        ["<tr>", *(f'<td style="{style}">{content}</td>' for content, style in cells), "</tr>"]
    )


def _html_bar(share: float) -> str:
    """Bar to the right of the middle for positive shares, to the left for negative ones."""
    width = 50 * abs(share)
    start = 50.0 if share > 0 else 50 - width
    colour = POSITIVE_COLOUR if share > 0 else NEGATIVE_COLOUR
    return (
        '<div style="position: relative; width: 6em; height: 0.9em; background: linear-gradient('
        'to right, transparent calc(50% - 0.5px), gray 0 calc(50% + 0.5px), transparent 0)">'
        f'<div style="position: absolute; left: {start:.1f}%; width: {width:.1f}%; '
        f'height: 100%; background: {colour}"></div></div>'
    )
