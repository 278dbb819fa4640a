"""The report of a model: one dictionary, as a page, as JSON, and in a notebook."""

from __future__ import annotations

import copy
import json
import os
from html import escape
from typing import Any

from numpy.typing import ArrayLike

from laconic._files import write_whole
from laconic._optional import import_extra
from laconic.explain import RuleModel
from laconic.report.content import report_content

# Enough for the rules and the first charts; the frame can be dragged to any height.
_FRAME_HEIGHT = 720


class Report:
    """What there is to say about a model, made by its method ``report``.

    A notebook shows it as a frame with the page.

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
        from laconic.report.rendering import render_page

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
        """Page in a frame of its own, which neither takes nor gives style."""
        page = escape(self.to_html())
        return (
            f'<iframe title="{escape(self._content["title"])}" srcdoc="{page}" '
            'sandbox="allow-scripts" style="width: 100%; border: 0; resize: vertical; '
            f'height: {_FRAME_HEIGHT}px"></iframe>'
        )

    def __repr__(self) -> str:
        n_rules, n_rows = len(self._content["rules"]), self._content["data"]["n_rows"]
        return (
            f"<Report: {self._content['title']!r}, n_rules={n_rules}, n_rows={n_rows}. "
            "Use .save('report.html') to open it in a browser.>"
        )


def make_report(model: RuleModel, X: Any, y: ArrayLike, **options: Any) -> Report:
    """Report on a fitted model; its parameters are those of `report_content`."""
    # Now rather than when the page is made, which may be after much else.
    import_extra("jinja2", "report", "A report")
    return Report(report_content(model, X, y, **options))
