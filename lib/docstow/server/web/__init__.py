"""Pages for people: search, items, pages of prose, sources and jobs, as HTML from this server.

Everything is rendered here and works without scripts; they make it quicker. Nothing is loaded from
another host. The package is imported by the first request for a page.
"""

from __future__ import annotations

import logging
import mimetypes
from asyncio import timeout
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Match, Route

from docstow.core import auth
from docstow.core.errors import DocstowError, Ingesting, StoreError, internal_error
from docstow.server.sessions import ROOT, SIGN_IN
from docstow.server.web import managing, projects, reading
from docstow.server.web.templates import render
from docstow.server.web.visit import Services, Visit

log = logging.getLogger(__name__)
T = TypeVar("T")
#: Runs a call in a thread of its kind, told how many of it are slow.
Run = Callable[[Callable[[], T], int], Awaitable[T]]

_STATIC = Path(__file__).parent / "static"
#: How long a form may be, and how long it may take.
_LARGEST_FORM, _FORM_S = 1024 * 1024, 30.0
#: Seconds for which browsers keep styles and scripts.
_KEPT_S = 3600

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Without any referrer browsers send no origin with this server's own forms either.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}

_Page = Callable[[Visit], Response]
#: Pages by path, the more exact ones first; and how many slow calls one makes.
_READ: tuple[tuple[str, _Page, int], ...] = (
    (f"{ROOT}/sources", managing.sources, 0),
    (f"{ROOT}/sources/{{source}}", managing.source, 0),
    (f"{ROOT}/jobs", managing.jobs, 0),
    (f"{ROOT}/jobs/{{job}}", managing.job, 0),
    (f"{ROOT}/store", managing.store, 0),
    (f"{ROOT}/versions", projects.versions, 0),
    (f"{ROOT}/dependencies", projects.dependencies, 0),
    (f"{ROOT}/diff", projects.diff, 1),
    (f"{ROOT}/project", projects.project, 1),
    (f"{ROOT}/check", projects.check, 0),
    (f"{ROOT}/connect", projects.connect, 0),
)
#: What forms do.
_WRITTEN: tuple[tuple[str, _Page, int], ...] = (
    (f"{ROOT}/sources", managing.add_source, 0),
    (f"{ROOT}/sources/{{source}}/sync", managing.sync_source, 0),
    (f"{ROOT}/sources/{{source}}/delete", managing.delete_source, 0),
    (f"{ROOT}/jobs/{{job}}/redrive", managing.redrive, 0),
    (f"{ROOT}/check", projects.check, 1),
    (f"{ROOT}/tokens", managing.mint, 0),
    (f"{ROOT}/logout", managing.sign_out, 0),
)


class Site:
    """The pages of a server.

    Args:
        services: what they show.
        run: runs what a page does in a thread, and limits what is slow.
    """

    def __init__(self, services: Services, run: Run[Response]) -> None:
        self._services = services
        self._run = run
        #: What is answered, the more exact paths first.
        self.routes = (
            Route(f"{ROOT}/static/{{name}}", _static, methods=["GET"]),
            self._route(SIGN_IN, managing.sign_in, 0, public=True),
            self._route(SIGN_IN, managing.signed_in, 0, method="POST", public=True),
            Route(f"{ROOT}/jobs/{{job}}/events", self._events, methods=["GET"]),
            *(self._route(path, page, slow, method="POST") for path, page, slow in _WRITTEN),
            *(self._route(path, page, slow) for path, page, slow in (*_READ, *reading.routes())),
        )

    async def answer(self, request: Request) -> Response:
        """Answer a request for a page."""
        _refuse_foreign(request)
        for route in self.routes:
            match, found = route.matches(request.scope)
            if match is Match.FULL:
                request.scope.update(found)
                response: Response = await route.endpoint(request)
                for name, value in _HEADERS.items():
                    response.headers.setdefault(name, value)
                return response
        response = _error_page(self._visit(request), 404, "There is no such page.")
        response.headers.update(_HEADERS)
        return response

    def _route(
        self, path: str, page: _Page, slow: int, *, method: str = "GET", public: bool = False
    ) -> Route:
        async def endpoint(request: Request) -> Response:
            form = await _form(request) if method == "POST" else {}
            visit = self._visit(request, form)
            call = partial(_show, page, visit, "" if public else auth.READ)
            return await self._run(call, slow)

        return Route(path, endpoint, methods=[method])

    async def _events(self, request: Request) -> Response:
        visit = self._visit(request)
        try:
            auth.require(auth.READ)
            return await managing.job_events(visit)
        except DocstowError as error:
            return _error_page(visit, error.status, error.message)

    def _visit(self, request: Request, form: Mapping[str, str] | None = None) -> Visit:
        return Visit(
            self._services,
            path=request.url.path,
            parameters=dict(request.path_params),
            query=dict(request.query_params),
            request_id=str(request.state.request_id),
            form=form or {},
            address=f"{request.url.scheme}://{request.url.netloc}",
            partial="hx-request" in request.headers,
            current=request.headers.get("hx-current-url", ""),
        )


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form that one of this server's own pages has sent."""
    if not _is_own(request):
        raise HTTPException(403)
    body = bytearray()
    async with timeout(_FORM_S):
        async for chunk in request.stream():
            body += chunk
            if len(body) > _LARGEST_FORM:
                raise HTTPException(413)
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _is_own(request: Request) -> bool:
    """Return whether a page of this very server has sent a request.

    Browsers send the origin with every form; who does not send one is no browser, and has no cookie
    of anybody's.
    """
    sent = request.headers
    site = sent.get("sec-fetch-site", "same-origin")
    origin = sent.get("origin")
    if origin is None:
        return site == "same-origin" and "cookie" not in sent
    return site == "same-origin" and origin.partition("://")[2] == sent.get("host", "")


async def _static(request: Request) -> Response:
    file = _STATIC / request.path_params["name"]
    if file.parent != _STATIC or not file.is_file():
        raise HTTPException(404)
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    headers = {"Cache-Control": f"max-age={_KEPT_S}"}
    return FileResponse(file, media_type=kind, headers=headers)


def _show(page: _Page, visit: Visit, scope: str) -> Response:
    """Return a page, or the page of the error that it ends in.

    Args:
        page: makes it.
        visit: what it answers.
        scope: what the caller must have; empty: nothing.
    """
    try:
        if scope:
            auth.require(scope)
        return page(visit)
    except Ingesting as error:
        return _error_page(visit, 202, error.message, refresh=True)
    except StoreError:
        # Its advice is for the operator, and names places that are no caller's business.
        fault = internal_error(visit.request_id)
        return _error_page(visit, fault.status, fault.message)
    except DocstowError as error:
        return _error_page(visit, error.status, error.message, error.suggestions)
    except Exception:
        log.exception("request %s failed", visit.request_id)
        fault = internal_error(visit.request_id)
        return _error_page(visit, fault.status, f"{fault.message} It is {visit.request_id}.")


def _error_page(
    visit: Visit,
    status: int,
    message: str,
    suggestions: tuple[Mapping[str, Any], ...] = (),
    *,
    refresh: bool = False,
) -> Response:
    near = reading.link_suggestions(visit, suggestions)
    return render("error.html", visit, status=status, message=message, near=near, refresh=refresh)


def _refuse_foreign(request: Request) -> None:
    """Refuse what another site's page has a browser load, but for following a link."""
    sent = request.headers
    if sent.get("sec-fetch-site") == "cross-site" and sent.get("sec-fetch-mode") != "navigate":
        raise HTTPException(403)


__all__ = ["Services", "Site"]
