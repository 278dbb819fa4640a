"""Rules as tables: for data frames, Markdown, LaTeX and notebooks.

Everything here is made from the values of an ensemble; what an estimator knows besides, such as
certificates and coverage, comes as further columns of text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import narwhals as nw

from laconic.tables.frames import FrameBackend, make_frame
from laconic.terms.formatting import (
    INTERCEPT,
    format_name,
    format_value,
    format_weight,
    intervals,
    is_yes_or_no,
)

if TYPE_CHECKING:
    from laconic.tables.columns import FeatureKind
    from laconic.terms.conditions import Condition, Query
    from laconic.terms.rules import RuleEnsemble

# Two of the colours of Okabe and Ito, which people with any kind of colour vision tell apart; on
# white and on black alike they can be seen.
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
_LATEX_RELATIONS = {
    "<=": r"$\leq$",
    ">": "$>$",
    "==": "$=$",
    "!=": r"$\neq$",
    "in": r"$\in$",
    "not in": r"$\notin$",
}

_CELL = "padding: 0.2em 0.6em; vertical-align: middle"
_TEXT_CELL = f"{_CELL}; text-align: left; min-width: 18em"
_NUMBER_CELL = f"{_CELL}; text-align: right; white-space: nowrap"


def rules_frame(ensemble: RuleEnsemble, backend: FrameBackend | None = None) -> Any:
    """Make a data frame of the rules; see `RuleEnsemble.to_frame`."""
    rules = ensemble.rules
    classes = {"class": [*map(ensemble.output_of, rules)]} if ensemble.outputs else {}
    columns = {
        "rule": list(range(1, len(rules) + 1)),
        **classes,
        "weight": [rule.weight for rule in rules],
        "query": [ensemble.text(rule.query) for rule in rules],
        "n_conditions": [len(rule.query) for rule in rules],
    }
    dtypes = {
        "rule": nw.Int64(),
        "class": nw.String(),
        "weight": nw.Float64(),
        "query": nw.String(),
        "n_conditions": nw.Int64(),
    }
    return make_frame(columns, {name: dtypes[name] for name in columns}, backend)


def rules_markdown(ensemble: RuleEnsemble) -> str:
    """Write the rules as a Markdown table; see `RuleEnsemble.to_markdown`."""
    head, line = ("| class ", "|:---") if ensemble.outputs else ("", "")
    lines = [f"{head}| weight | rule |", f"{line}|---:|:---|"]
    names = [f"| {name} " if name else "" for name in _names(ensemble)]
    starts = [(weight, INTERCEPT) for weight, _ in ensemble.intercept_lines]
    rows = [(rule.weight, _markdown_code(ensemble.text(rule.query))) for rule in ensemble]
    lines += [
        f"{name}| {format_weight(weight)} | {text} |"
        for name, (weight, text) in zip(names, [*starts, *rows], strict=True)
    ]
    return "\n".join(lines)


def _names(ensemble: RuleEnsemble) -> list[str]:
    """Name the class of each line of a table, intercepts first; empty without classes."""
    starts = [output.name for output in ensemble.outputs] or [""] * len(ensemble.intercept_lines)
    return [*starts, *map(ensemble.output_of, ensemble)]


def _markdown_code(text: str) -> str:
    """Text exactly as it is, inside a cell of a table."""
    runs = {len(run) for run in re.findall("`+", text)}
    fence = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    space = " " if runs else ""
    # Of all characters only the bar means something inside of code, and only in tables.
    return fence + space + text.replace("|", r"\|") + space + fence


def rules_latex(ensemble: RuleEnsemble) -> str:
    """Write the rules as a LaTeX table; see `RuleEnsemble.to_latex`."""
    rows = [(weight, INTERCEPT) for weight, _ in ensemble.intercept_lines]
    rows += [(rule.weight, _latex_query(rule.query, ensemble.feature_kinds)) for rule in ensemble]
    names = [f"{_latex_text(name)} & " if name else "" for name in _names(ensemble)]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{'l' if ensemble.outputs else ''}rl}}",
            r"\toprule",
            rf"{'class & ' if ensemble.outputs else ''}weight & rule \\",
            r"\midrule",
            *(
                rf"{name}${format_weight(weight)}$ & {text} \\"
                for name, (weight, text) in zip(names, rows, strict=True)
            ),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _latex_query(query: Query, kinds: Mapping[str, FeatureKind]) -> str:
    texts = [
        _latex_condition(condition, kinds)
        if lower is None
        else f"{_latex_text(format_value(lower.value))} $<$ {_latex_condition(condition, kinds)}"
        for lower, condition in intervals(query.conditions, kinds)
    ]
    return r" $\wedge$ ".join(texts) or str(query)


def _latex_condition(condition: Condition, kinds: Mapping[str, FeatureKind]) -> str:
    name = _latex_text(format_name(condition.feature))
    if condition.value is None:
        return f"{name} {condition.relation}"
    if is_yes_or_no(condition, kinds):
        return name if condition.value else rf"$\neg$ {name}"
    value = _latex_text(format_value(condition.value))
    return f"{name} {_LATEX_RELATIONS[condition.relation]} {value}"


def _latex_text(text: str) -> str:
    return "".join(_LATEX_CHARACTERS.get(character, character) for character in text)


def rules_html(
    ensemble: RuleEnsemble,
    caption: str,
    columns: Mapping[str, Sequence[str]] | None = None,
    numbers: Sequence[int] | None = None,
) -> str:
    """Make an HTML table of the rules, with a bar for each weight.

    Further columns have a text for each rule. Without numbers, rules are counted from 1. The table
    needs nothing from the page around it; names, values and texts are escaped.
    """
    columns = columns or {}
    if ensemble.outputs:
        columns = {"class": [*map(ensemble.output_of, ensemble)], **columns}
    weights = [rule.weight for rule in ensemble]
    # A large intercept would leave no room for the differences between rules.
    largest = max(map(abs, weights), default=0.0) or 1.0
    rows = []
    for name, (weight, _) in zip(_names(ensemble), ensemble.intercept_lines, strict=False):
        further = [name, *[""] * (len(columns) - 1)] if name else [""] * len(columns)
        rows.append(_html_row("", weight, None, [INTERCEPT], further))
    numbers = range(1, len(ensemble) + 1) if numbers is None else numbers
    for position, (number, rule) in enumerate(zip(numbers, ensemble, strict=True)):
        further = [texts[position] for texts in columns.values()]
        conditions = ensemble.condition_texts(rule.query)
        rows.append(_html_row(str(number), rule.weight, largest, conditions, further))
    heads = [("", _NUMBER_CELL), ("weight", _NUMBER_CELL), ("", _CELL), ("rule", _TEXT_CELL)]
    heads += [(name, _NUMBER_CELL) for name in columns]
    head = "".join(f'<th style="{style}">{escape(name)}</th>' for name, style in heads)
    return (
        '<table class="laconic-rules" style="border-collapse: collapse">'
        f'<caption style="text-align: left; caption-side: top">{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _html_row(
    number: str,
    weight: float,
    largest: float | None,
    conditions: Sequence[str],
    further: Sequence[str],
) -> str:
    # Lines break between conditions if they can.
    texts = [f'<span style="display: inline-block">{escape(text)}</span>' for text in conditions]
    cells = [
        (escape(number), f"{_NUMBER_CELL}; opacity: 0.6"),
        (format_weight(weight), f"{_NUMBER_CELL}; font-variant-numeric: tabular-nums"),
        ("" if largest is None else _html_bar(weight / largest), _CELL),
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
