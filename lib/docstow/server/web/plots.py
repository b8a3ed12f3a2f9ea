"""Small pictures as SVG, drawn with attributes alone, since pages have no styles of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

_WIDTH = 640
_ROW = 20
_HEIGHT = 72


class Bar(NamedTuple):
    """One bar: what it is of, how long it is, and what is written at its end."""

    label: str
    value: float
    told: str
    href: str = ""


def bars(title: str, rows: Sequence[Bar]) -> Markup:
    """Return bars below each other, each with its label before and its value behind it."""
    most = max((row.value for row in rows), default=0) or 1
    lines = []
    for row in rows:
        # A narrow page breaks paths behind their separators.
        label = Markup(re.sub(r"(::|/)", r"\1<wbr>", str(Markup.escape(row.label))))  # noqa: S704
        if row.href:
            label = Markup('<a href="{}">{}</a>').format(row.href, label)
        lines.append(
            Markup(
                '<tr><th scope="row">{}</th><td><svg class="plot" height="12" aria-hidden="true">'
                '<rect class="bar" width="{:.1f}%" height="12" rx="2"/></svg></td>'
                '<td class="number">{}</td></tr>'
            ).format(label, max(0.5, 100 * row.value / most), row.told)
        )
    return Markup('<table class="bars" aria-label="{}"><tbody>{}</tbody></table>').format(
        title, Markup("").join(lines)
    )


def columns(title: str, values: Sequence[float], told: Sequence[str]) -> Markup:
    """Return columns beside each other, for the values of the minutes of the last hour.

    Args:
        title: what it shows.
        values: the oldest first.
        told: what is said of each.
    """
    most = max(values, default=0) or 1
    step = _WIDTH / max(1, len(values))
    parts = [
        Markup(
            '<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">'
            "<title>{}</title></rect>"
        ).format(
            number * step,
            _HEIGHT - max(1.0, _HEIGHT * value / most) if value else _HEIGHT,
            max(1.0, step - 2),
            max(1.0, _HEIGHT * value / most) if value else 0,
            said,
        )
        for number, (value, said) in enumerate(zip(values, told, strict=True))
    ]
    base = Markup('<path class="edge" d="M0 {}.5h{}"/>').format(_HEIGHT, _WIDTH)
    return _picture(title, _HEIGHT + 2, Markup("").join(parts) + base) + Markup(
        '<p class="ends"><span>an hour ago</span><span>at most {}</span><span>now</span></p>'
    ).format(told[values.index(max(values))] if values else "")


def size(number: float) -> str:
    """Return a number of bytes for people."""
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1000:
            digits = 0 if unit == "B" or number >= 100 else 1
            return f"{number:.{digits}f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def _picture(title: str, height: float, inner: Markup) -> Markup:
    # What has links in it is no picture to those who hear it.
    role = "group" if "<a " in inner else "img"
    return Markup(
        '<svg class="plot wide" role="{}" viewBox="0 0 {} {:.0f}" aria-label="{}">{}</svg>'
    ).format(role, _WIDTH, height, title, inner)


def _cut(label: str, most: int = 30) -> str:
    return label if len(label) <= most else f"…{label[-most + 1 :]}"


class Node(NamedTuple):
    """A node of a graph: its name, how deep it lies, and the names of those it leads to."""

    name: str
    depth: int
    children: Sequence[str]
    href: str = ""


def graph(title: str, nodes: Sequence[Node], most: int = 80) -> Markup:
    """Return nodes in columns by their depth, with a line to each that they lead to."""
    shown = sorted(nodes, key=lambda each: each.depth)[:most]
    deepest = max((each.depth for each in shown), default=0)
    rows: dict[int, int] = {}
    places: dict[str, tuple[float, float]] = {}
    step = _WIDTH / (deepest + 1)
    for each in shown:
        number = rows.get(each.depth, 0)
        rows[each.depth] = number + 1
        places[each.name] = each.depth * step, number * _ROW + 4
    width = step * 0.72
    edge = Markup(
        '<path class="edge" d="M{:.0f} {:.0f}C{:.0f} {:.0f} {:.0f} {:.0f} {:.0f} {:.0f}"/>'
    )
    lines = Markup("")
    for each in shown:
        x, y = places[each.name]
        begin = x + width
        for end, row in (places[child] for child in each.children if child in places):
            if end > x:
                lines += edge.format(
                    begin, y + 8, begin + 24, y + 8, end - 24, row + 8, end, row + 8
                )
    boxes = []
    for each in shown:
        x, y = places[each.name]
        box = Markup(
            '<rect class="node" x="{:.0f}" y="{:.0f}" width="{:.0f}" height="16" rx="3"/>'
            '<text class="ink" x="{:.0f}" y="{:.0f}">{}</text>'
        ).format(x, y, width, x + 5, y + 12, _cut(each.name, int(width / 6.4)))
        boxes.append(Markup('<a href="{}">{}</a>').format(each.href, box) if each.href else box)
    return _picture(title, max(rows.values(), default=1) * _ROW + 8, lines + Markup("").join(boxes))
