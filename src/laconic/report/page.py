"""The report of a model, made from one dictionary: an HTML page, JSON, and a notebook cell."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import math
import os
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from laconic._util.files import write_whole
from laconic._util.optional import import_extra
from laconic.models import RuleModel
from laconic.report import charts
from laconic.report.content import report_content
from laconic.terms import formatting

if TYPE_CHECKING:
    import jinja2

# Enough for the terms and the first charts; readers can change the height of the frame.
_FRAME_HEIGHT = 720


class Report:
    """Report on a model, made by its method ``report``.

    A notebook shows the page in a frame.

    Parameters
    ----------
    content : dict
        What `report_content` returns.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self._content = content

    def to_dict(self) -> dict[str, Any]:
        """Return the content as plain values: all that the page shows, and no more.

        Returns
        -------
        content : dict
            Made of dict, list, str, bool, int, finite float and None only.
        """
        return copy.deepcopy(self._content)

    def to_json(self) -> str:
        """Return the content as JSON.

        Returns
        -------
        text : str
            One line, in ASCII.
        """
        return json.dumps(self._content, allow_nan=False)

    def to_html(self) -> str:
        """Return a page that needs nothing but a browser.

        Returns
        -------
        page : str
            Script, style, charts and data are inside.
        """
        return render_page(self._content)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path : path-like
            Usually ends with ``.html``. An existing file is replaced.
        """
        write_whole(path, self.to_html().encode())

    def _repr_html_(self) -> str:
        """Return the page in a frame, which keeps its style apart from that of the notebook."""
        page = escape(self.to_html())
        return (
            f'<iframe title="{escape(self._content["title"])}" srcdoc="{page}" '
            'sandbox="allow-scripts" style="width: 100%; border: 0; resize: vertical; '
            f'height: {_FRAME_HEIGHT}px"></iframe>'
        )

    def __repr__(self) -> str:
        n_terms, n_rows = len(self._content["terms"]), self._content["data"]["n_rows"]
        return (
            f"<Report: {self._content['title']!r}, n_terms={n_terms}, n_rows={n_rows}. "
            "Use .save('report.html') to open it in a browser.>"
        )


def make_report(model: RuleModel, X: Any, y: ArrayLike, **options: Any) -> Report:
    """Report on a fitted model; its parameters are those of `report_content`."""
    # Checked now, as the page may be made much later.
    import_extra("jinja2", "report", "A report")
    return Report(report_content(model, X, y, **options))


_TEMPLATES = files("laconic.report") / "templates"

# Further ones are in the dictionary, but not on the page.
MAX_UNUSED_FEATURES = 50


def render_page(content: dict[str, Any]) -> str:
    """Render a report as HTML.

    The content security policy of the page allows no requests and no scripts but its own: even a
    text that was taken for markup could do nothing.
    """
    from markupsafe import Markup

    style = _source("report.css")
    scripts = [_source("report.js")]
    if content["what_if"]["javascript"] is not None:
        scripts = [_in_script(content["what_if"]["javascript"]), *scripts]
    page_data = _page_data(content)
    return (
        _environment()
        .get_template("report.html")
        .render(
            content,
            # Written by us, or escaped by the export, so that no text ends the script.
            style=Markup(style),
            scripts=[*map(Markup, scripts)],
            policy=_policy(style, scripts),
            page_data=page_data,
            decimals=page_data["weightDecimals"],
            max_unused_features=MAX_UNUSED_FEATURES,
        )
    )


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("laconic.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": formatting.number_text,
        "percent": formatting.format_percent,
        "value": _format_value,
        "seconds": _format_seconds,
        "weight": _format_weight,
    }
    environment.globals |= {"charts": charts, "count": formatting.format_count}
    return environment


def _source(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _in_script(source: str) -> str:
    """Escape what HTML would take for the end of a script or the start of a comment."""
    return source.replace("</", "<\\/").replace("<!--", "<\\!--")


def _policy(style: str, scripts: list[str]) -> str:
    """Return a content security policy that allows the parts of the page by their digests."""
    digests = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; script-src {digests}; style-src {_digest(style)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    sha256 = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(sha256).decode()}'"


def _page_data(content: dict[str, Any]) -> dict[str, Any]:
    """Return the part of the content that the script of the page uses."""
    what_if = {name: value for name, value in content["what_if"].items() if name != "javascript"}
    target = content["data"]["target"]
    return {
        "classLabels": content["model"]["class_labels"],
        "isMany": content["model"]["is_many"],
        "terms": [
            {"number": term["number"], "change": term["change"]} for term in content["terms"]
        ],
        "metrics": [metric["values"] for metric in content["path"]["metrics"]],
        "nConditions": content["path"]["n_conditions"],
        "targetRange": [target["min"], target["max"]] if "min" in target else [0, 1],
        "weightDecimals": _weight_decimals(content),
        "whatIf": what_if,
    }


def _weight_decimals(content: dict[str, Any]) -> int:
    """Return the decimals of all weights, which give the largest change four digits.

    Examples
    --------
    >>> _weight_decimals({"terms": [{"change": 0.25}, {"change": -22.4}]})
    2
    """
    largest = max((abs(term["change"]) for term in content["terms"]), default=0.0)
    return 3 if largest == 0 else min(max(3 - math.floor(math.log10(largest)), 0), 12)


def _format_weight(weight: float, decimals: int) -> str:
    """Write a weight with its sign.

    Examples
    --------
    >>> _format_weight(1.5, 3), _format_weight(-22.456, 2)
    ('+1.500', '−22.46')
    """
    return f"{weight:+,.{decimals}f}".replace("-", "−")


def _format_value(number: float | str) -> str:
    """Write a number of a column without commas, as it may be a year or a code.

    Examples
    --------
    >>> _format_value(1900.0), _format_value(-0.123456)
    ('1900', '−0.1235')
    """
    # Dates are texts already.
    return number if isinstance(number, str) else formatting.number_text(number).replace(",", "")


def _format_seconds(seconds: float) -> str:
    return "< 0.01" if 0 < seconds < 0.01 else f"{seconds:,.2f}"
