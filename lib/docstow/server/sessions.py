"""How a person stays signed in: the token in a cookie that only the pages are answered by.

The cookie is sent by this server's own pages alone (SameSite), no script reads it, and MCP and
plain HTTP do not look at it.
"""

from __future__ import annotations

from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response

#: All pages but the first are below this path.
ROOT = "/ui"
SIGN_IN = f"{ROOT}/login"
_COOKIE = "docstow_token"
#: For so many seconds a browser keeps it.
_KEPT_S = 30 * 24 * 3600

#: What the page to sign in needs; these paths say nothing of what is stowed.
PUBLIC = frozenset(
    {SIGN_IN, f"{ROOT}/static/icon.svg"}
    | {f"{ROOT}/static/{name}" for name in ("style.css", "theme.js", "page.js", "htmx.min.js")}
)


def is_page(path: str) -> bool:
    """Return whether a path is one of the pages for people."""
    return path == "/" or path.startswith(f"{ROOT}/")


def credential(path: str, headers: Headers) -> str:
    """Return the credential of a request as an Authorization header has it; may be empty."""
    sent = headers.get("authorization", "")
    if sent or not is_page(path):
        return sent
    token = cookie_parser(headers.get("cookie", "")).get(_COOKIE, "")
    return f"Bearer {token}" if token else ""


def ask_to_sign_in(path: str, query: str) -> Response:
    """Return what sends a person to the page to sign in, and back afterwards."""
    back = f"{path}?{query}" if query else path
    return RedirectResponse(f"{SIGN_IN}?next={quote(back, safe='/')}", 303)


def remember(response: Response, token: str, *, secure: bool) -> None:
    """Have a browser send a token with its requests for pages; an empty one makes it forget."""
    response.set_cookie(
        _COOKIE,
        token,
        max_age=_KEPT_S if token else 0,
        path="/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )
