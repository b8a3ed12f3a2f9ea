"""Templates of pages, and the response that one makes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from docstow.index.item_page import HEADINGS
from docstow.server.web import addresses, markdown
from docstow.server.web.visit import Visit

_FOLDER = Path(__file__).parent / "html"


@cache
def environment() -> Environment:
    """Return the templates of all pages; what they are given is escaped."""
    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "at": addresses,
        "broken": _broken,
        "code": markdown.code,
        "headings": HEADINGS,
        "inline": markdown.inline,
        "short": _short,
        "state": _state,
    }
    return made


def render(template: str, visit: Visit, *, status: int = 200, **members: Any) -> Response:
    """Return a page.

    Args:
        template: the name of its file.
        visit: what it answers.
        status: of the response.
        members: what the template shows.
    """
    return HTMLResponse(fragment(template, visit, **{"status": status} | members), status)


def fragment(template: str, visit: Visit, **members: Any) -> str:
    """Return a part of a page, or a whole one, as text; see :func:`render`."""
    found = environment().get_template(template)
    return found.render({"visit": visit} | members)


def _short(path: str) -> str:
    """Return the last name of a path."""
    return re.split(r"::|\.|/", path.rstrip("/"))[-1] or path


def _broken(path: str) -> Markup:
    """Return a path that a narrow page may break behind its separators."""
    return Markup(re.sub(r"(::|\.|/)", r"\1<wbr>", str(Markup.escape(path))))  # noqa: S704


def _state(row: Mapping[str, Any]) -> str:
    """Return the class by which the state of a job is coloured."""
    return {"success": "good", "failed": "bad"}.get(str(row.get("state", "")), "warn")
