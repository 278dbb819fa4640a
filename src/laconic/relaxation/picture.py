"""A certificate on one axis: a start without rules, the model, and what no rules get below."""

from __future__ import annotations

from laconic.model.formatting import format_number

_WIDTH, _HEIGHT, _MARGIN = 640, 96, 24
_DONE, _OPEN, _INK = "#2a6fbb", "#d9d9d9", "#333"


def certificate_svg(start: float, objective: float, bound: float, share: float) -> str:
    """Draw the improvement that is reached, and what may be left, from left to right."""
    length = _WIDTH - 2 * _MARGIN
    reached = _MARGIN + length * share
    marks = (
        (_MARGIN, 30, "start", f"without rules: {format_number(start)}"),
        (reached, 84, "middle" if 0.25 < share < 0.75 else ("end" if share > 0.5 else "start"),
         f"model: {format_number(objective)}"),
        (_WIDTH - _MARGIN, 30, "end", f"no rules get below {format_number(bound)}"),
    )  # fmt: skip
    parts = [
        f'<rect x="{_MARGIN}" y="42" width="{length}" height="16" fill="{_OPEN}"/>',
        f'<rect x="{_MARGIN}" y="42" width="{reached - _MARGIN:.1f}" height="16" fill="{_DONE}"/>',
    ]
    for x, y, anchor, words in marks:
        parts += [
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="36" y2="64" stroke="{_INK}" stroke-width="2"/>',
            f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}" fill="{_INK}">{words}</text>',
        ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" font-size="13" role="img" '
        'aria-label="Training objective without rules, of the model, and the bound">'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>{"".join(parts)}</svg>'
    )
