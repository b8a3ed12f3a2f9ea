"""Templates of pages, and the response that one makes."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from docstow.index.render import HEADINGS
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
    found = environment().get_template(template)
    shown = {"visit": visit, "version": visit.services.version, "status": status}
    body = found.render(shown | members)
    return HTMLResponse(body, status)


def _short(path: str) -> str:
    """Return the last name of a path."""
    return re.split(r"::|\.|/", path.rstrip("/"))[-1] or path


def _broken(path: str) -> Markup:
    """Return a path that a narrow page may break behind its separators."""
    return Markup(re.sub(r"(::|\.|/)", r"\1<wbr>", str(Markup.escape(path))))  # noqa: S704
