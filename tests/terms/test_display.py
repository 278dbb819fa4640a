"""Rules as frames, Markdown, LaTeX and HTML."""

import re
from xml.etree import ElementTree

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.tables import tables
from laconic.terms.conditions import Condition, Query
from laconic.terms.display import rules_html, with_columns
from laconic.terms.rules import Rule, RuleEnsemble

X_IS = Condition("mark", "==", "x")
OLD = Condition("age", ">", 28)
BETWEEN = (Condition("PS", ">", 100), X_IS, Condition("PS", "<=", 180))


def rule(weight, *conditions):
    return Rule(Query(conditions), weight)


class TestHTML:
    @staticmethod
    def cells(html):
        table = ElementTree.fromstring(html)
        return [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]

    def test_a_row_per_rule(self):
        ensemble = RuleEnsemble((rule(1.0, X_IS, OLD), rule(-2.0)))
        assert self.cells(ensemble._repr_html_()) == [
            ["", "weight", "", "term", "conditions"],
            ["1", "+1.000", "", "mark == x & age > 28", "2"],
            ["2", "-2.000", "", "always", "0"],
        ]
        assert "RuleEnsemble: 2 rules, 2 conditions" in ensemble._repr_html_()

    def test_intercept_where_there_is_one_or_nothing_else(self):
        first = self.cells(RuleEnsemble((rule(1.0),), 0.5)._repr_html_())[1]
        assert first == ["", "+0.5000", "", "(intercept)", ""]
        only = self.cells(RuleEnsemble()._repr_html_())[1:]
        assert only == [["", "+0.000", "", "(intercept)", ""]]

    def test_numbers_and_further_columns(self):
        line = RuleEnsemble((rule(1.0, X_IS),)).lines[0]._replace(number=3)
        html = rules_html([line], "a < b", {"<rows>": ["<7>"]})
        assert self.cells(html)[0][-1] == "<rows>"
        assert self.cells(html)[1] == ["3", "+1.000", "", "mark == x", "<7>"]
        assert "".join(ElementTree.fromstring(html).find("caption").itertext()) == "a < b"

    def test_conditions_on_one_feature_are_an_interval(self):
        html = RuleEnsemble((rule(1.0, *BETWEEN),))._repr_html_()
        assert self.cells(html)[1][3] == "100 < PS <= 180 & mark == x"

    @pytest.mark.parametrize(
        "hostile",
        [
            "<script>alert(1)</script>",
            "</td></table>",
            "&lt;b&gt;",
            "<img src=x onerror='f(\"\")'>",
        ],
    )
    def test_hostile_names_and_values_are_text(self, hostile):
        plain = RuleEnsemble((rule(1.0, Condition("a", "==", "b")),))._repr_html_()
        html = RuleEnsemble((rule(1.0, Condition(hostile, "==", hostile)),))._repr_html_()
        assert self.cells(html)[1][3] == f"{hostile!r} == {hostile!r}"
        assert hostile not in html
        assert html.count("<") == plain.count("<")

    def test_bars_have_the_proportions_and_sides_of_the_weights(self):
        html = RuleEnsemble((rule(4.0, X_IS), rule(-1.0, OLD)))._repr_html_()
        bars = re.findall(r"left: ([\d.]+)%; width: ([\d.]+)%", html)
        assert bars == [("50.0", "50.0"), ("37.5", "12.5")]


class TestMarkdown:
    def test_rows(self):
        ensemble = RuleEnsemble((rule(1.5, *BETWEEN), rule(-2.0)), 0.5)
        assert ensemble.to_markdown().splitlines() == [
            "| weight | term |",
            "|---:|:---|",
            "| +0.5000 | (intercept) |",
            "| +1.500 | `100 < PS <= 180 & mark == x` |",
            "| -2.000 | `always` |",
        ]

    def test_bars_and_backticks_do_not_end_a_cell(self):
        text = RuleEnsemble((rule(1.0, Condition("a|b", ">", 0)),)).to_markdown()
        assert text.splitlines()[-1] == r"| +1.000 | `a\|b > 0` |"
        text = RuleEnsemble((rule(1.0, Condition("a`b``", ">", 0)),)).to_markdown()
        assert text.splitlines()[-1] == "| +1.000 | ``` a`b`` > 0 ``` |"

    @given(st.text(min_size=1))
    def test_a_rule_is_a_line_with_two_cells(self, name):
        text = RuleEnsemble((rule(1.0, Condition(name, "==", name)),)).to_markdown()
        _, _, line = text.splitlines()
        assert len(re.findall(r"(?<!\\)\|", line)) == 3


class TestLatex:
    def test_rows(self):
        ensemble = RuleEnsemble((rule(1.5, *BETWEEN), rule(-2.0)), 0.5)
        assert ensemble.to_latex().splitlines()[4:-2] == [
            r"$+0.5000$ & (intercept) \\",
            r"$+1.500$ & 100 $<$ PS $\leq$ 180 $\wedge$ mark $=$ x \\",
            r"$-2.000$ & always \\",
        ]

    def test_relations_and_special_characters(self):
        query = (
            Condition("50%_{a}", "!=", "$#"),
            Condition("b\\c~^", "is missing"),
        )
        line = RuleEnsemble((rule(1.0, *query),)).to_latex().splitlines()[4]
        assert line == (
            r"$+1.000$ & 50\%\_\{a\} $\neq$ '\$\#' $\wedge$ "
            r"b\textbackslash{}c\textasciitilde{}\textasciicircum{} is missing \\"
        )

    @given(st.text(min_size=1))
    def test_braces_are_balanced(self, name):
        text = RuleEnsemble((rule(1.0, Condition(name, "==", name)),)).to_latex()
        assert len(re.findall(r"(?<!\\)\{", text)) == len(re.findall(r"(?<!\\)\}", text))
        assert len(re.findall(r"(?<!\\)&", text)) == 2


class TestFrame:
    ENSEMBLE = RuleEnsemble((rule(1.5, X_IS, OLD), rule(-2.0)))

    @pytest.mark.parametrize(
        ("backend", "frame_type"),
        [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)],
    )
    def test_backends(self, backend, frame_type):
        frame = self.ENSEMBLE.to_frame(backend)
        assert isinstance(frame, frame_type)
        assert nw.from_native(frame).to_dict(as_series=False) == {
            "term": [1, 2],
            "kind": ["rule", "rule"],
            "weight": [1.5, -2.0],
            "text": ["mark == x & age > 28", "always"],
            "n_conditions": [2, 0],
        }
        empty = nw.from_native(RuleEnsemble().to_frame(backend), eager_only=True)
        assert empty.shape == (0, 5)
        assert empty.schema == nw.from_native(frame).schema

    def test_first_installed(self, monkeypatch):
        assert isinstance(self.ENSEMBLE.to_frame(), pd.DataFrame)
        monkeypatch.setattr(tables, "find_spec", lambda name: None if name == "pandas" else name)
        assert isinstance(self.ENSEMBLE.to_frame(), pl.DataFrame)

    def test_none_installed(self, monkeypatch):
        monkeypatch.setattr(tables, "find_spec", lambda name: None)
        with pytest.raises(ImportError, match="needs one of pandas, polars or pyarrow"):
            self.ENSEMBLE.to_frame()

    def test_unknown_backend(self):
        with pytest.raises(ValueError, match=r"must be None or one of 'pandas'.*Got 'numpy'"):
            self.ENSEMBLE.to_frame("numpy")


def test_cells_are_below_long_terms():
    rules = [rule(1.5, Condition(name, ">", 1)) for name in ("b" * 120, "c")]
    printed = with_columns(RuleEnsemble(tuple(rules), -22.5), {"p": ["0.5", "1"], "q": ["x", "y"]})
    assert printed.split("\n") == [
        "-22.50 (intercept)",
        f"+1.500 if {'b' * 120} > 1",
        "       p: 0.5; q: x",
        "+1.500 if c > 1",
        "       p: 1; q: y",
    ]
