"""A picture of bars, as SVG: rows with one number each, in groups of their own scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _LEFT, _ROW, _BAR = 760, 270, 22, 14


@dataclass(frozen=True, slots=True)
class Group:
    """Bars that are compared with one another.

    Attributes:
        title: above them, with the unit.
        bars: what each is, its number, and what is written behind it.
    """

    title: str
    bars: Sequence[tuple[str, float, str]]


def draw(groups: Sequence[Group]) -> str:
    """Return the picture of some groups, one below the other; the product's bars are dark."""
    lines, y = [], 10
    for group in groups:
        y += _ROW
        lines.append(f'<text x="8" y="{y}" class="t">{escape(group.title)}</text>')
        largest = max((number for _, number, _ in group.bars), default=0.0) or 1.0
        for name, number, label in group.bars:
            y += _ROW
            length = max(1, round((_WIDTH - _LEFT - 150) * number / largest))
            kind = "own" if name.startswith("docstow") else "other"
            lines.append(f'<text x="{_LEFT - 8}" y="{y}" class="n">{escape(name)}</text>')
            lines.append(
                f'<rect x="{_LEFT}" y="{y - _BAR + 2}" width="{length}" height="{_BAR}" '
                f'class="{kind}"/>'
            )
            lines.append(f'<text x="{_LEFT + length + 6}" y="{y}">{escape(label)}</text>')
        y += _ROW // 2
    style = (
        "text{font:12px sans-serif;fill:#24292f}.t{font-weight:bold}.n{text-anchor:end}"
        ".own{fill:#1f5f8b}.other{fill:#b8c4ce}rect.page{fill:#fff}"
    )
    size = f'viewBox="0 0 {_WIDTH} {y + 10}" width="{_WIDTH}" height="{y + 10}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
            f"<style>{style}</style>",
            '<rect width="100%" height="100%" class="page"/>',
            *lines,
            "</svg>\n",
        ]
    )
