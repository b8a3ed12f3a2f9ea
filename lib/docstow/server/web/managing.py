"""The pages that manage: sources, jobs and their progress, the store, calls, and signing in."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from anyio import sleep, to_thread
from starlette.responses import RedirectResponse, Response, StreamingResponse

from docstow import languages
from docstow.core import auth
from docstow.core.errors import DocstowError, InvalidParameter, Unauthorized
from docstow.core.model import CRATE, LOCAL
from docstow.ingest.jobs import FAILED
from docstow.server import sessions
from docstow.server.sessions import ROOT
from docstow.server.web import addresses, plots
from docstow.server.web.templates import fragment, render
from docstow.sources import registrable
from docstow.tools.sources import describe_job

if TYPE_CHECKING:
    from docstow.ingest.job_logs import Line
    from docstow.ingest.jobs import Job
    from docstow.ops.evict import StoredSource
    from docstow.server.web.visit import Visit

#: Jobs of a source and of all that are listed, and the largest sources.
_MOST_OF_SOURCE, _MOST_JOBS, _MOST_SOURCES = 20, 100, 25
#: A stream of a job's progress ends after so many seconds; a browser then asks again.
_STREAM_S = 25.0
#: How often a job is looked at meanwhile.
_LOOK_S = 0.5


# Sources


def sources(visit: Visit) -> Response:
    """Return all sources, and what adds one."""
    listed = []
    cursor: str | None = ""
    while cursor is not None:
        page = visit.read("list_sources", cursor=cursor)
        listed += page["results"]
        cursor = page["cursor"]
    return render("sources.html", visit, sources=listed, kinds=registrable(), told="", given={})


def add_source(visit: Visit) -> Response:
    """Register a source and begin to sync it; what is wrong is told beside the form."""
    given = visit.form
    asked: dict[str, Any] = {
        name: given.get(name, "").strip() for name in ("kind", "uri", "preset", "title")
    }
    try:
        if options := given.get("options", "").strip():
            asked["options"] = _object(options)
        made = visit.read("create_source", **asked, sync=True)
    except InvalidParameter as error:
        listed = visit.read("list_sources")["results"]
        return render(
            "sources.html",
            visit,
            status=error.status,
            sources=listed,
            kinds=registrable(),
            told=error.message,
            given=given,
        )
    return RedirectResponse(f"{ROOT}/jobs/{made['job']['id']}", 303)


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InvalidParameter("options", 'must be a JSON object, such as {"max_pages": 500}')
    return found


def source(visit: Visit) -> Response:
    """Return a source: its state, its jobs, its pages, and what its last sync left out."""
    services = visit.services.open_sources()
    registration = services.registry.get(visit.parameters["source"])
    rows = visit.read("list_sources")["results"]
    row = next((each for each in rows if each["source_id"] == registration.id), None)
    jobs = []
    for job in services.jobs.of(registration.id):
        jobs.append(describe_job(job, services.jobs))
        if len(jobs) == _MOST_OF_SOURCE:
            break
    newest = services.prose.newest(registration) if row and "snapshot" in row else None
    coverage = (newest.facts.get("coverage") or {}) if newest else {}
    pages: list[tuple[str, str]] = []
    if newest is not None:
        columns = services.prose.index(newest).columns
        titles = (str(a or b) for a, b in zip(columns["title"], columns["path"], strict=True))
        pages = list(zip(map(str, columns["id"]), titles, strict=True))
    return render(
        "source.html",
        visit,
        registration=registration,
        row=row or {},
        jobs=jobs,
        pages=pages,
        coverage=coverage,
    )


def sync_source(visit: Visit) -> Response:
    """Begin to sync a source."""
    mode = visit.form.get("mode", "incremental")
    job = visit.read("start_sync", source_id=visit.parameters["source"], mode=mode)
    return RedirectResponse(f"{ROOT}/jobs/{job['id']}", 303)


def delete_source(visit: Visit) -> Response:
    """Forget a source."""
    visit.read("delete_source", source_id=visit.parameters["source"])
    return RedirectResponse(f"{ROOT}/sources", 303)


# Jobs


def jobs(visit: Visit) -> Response:
    """Return the newest jobs of all kinds."""
    services = visit.services.open_sources()
    titles = {each.id: each.title or each.uri for each in services.registry.all()}
    found = [
        (job.outward(), job.source.key if job.source else titles.get(job.source_id, job.source_id))
        for job in services.jobs.all()[:_MOST_JOBS]
    ]
    return render("jobs.html", visit, jobs=found)


def job(visit: Visit) -> Response:
    """Return a job: how far it is, what it counts, what went wrong."""
    found = _find(visit)
    return render("job.html", visit, **_describe(visit, found), logged=visit.services.logged(found))


def redrive(visit: Visit) -> Response:
    """Begin again what a job that failed was to do."""
    auth.require(auth.WRITE)
    found = _find(visit)
    if found.state != FAILED:
        raise InvalidParameter("job", f"is {found.state}; only a job that failed is begun again")
    again = visit.services.repeat(found)
    return RedirectResponse(f"{ROOT}/jobs/{again.id}", 303)


def _find(visit: Visit) -> Job:
    return visit.services.open_sources().jobs.get(visit.parameters["job"])


def _describe(visit: Visit, found: Job) -> dict[str, Any]:
    services = visit.services.open_sources()
    title = found.source.key if found.source is not None else ""
    if not title:
        registration = services.registry.find(found.source_id)
        title = registration.title if registration is not None else found.source_id
    body = describe_job(found, services.jobs)
    return {"job": found.outward(), "title": title, "notice": body.get("notice", "")}


async def job_events(visit: Visit) -> Response:
    """Return a stream of events: the state of a job as HTML, each time that it has changed."""
    written: datetime | None = None
    logged: Sequence[Line] = ()

    def look() -> tuple[str, bool]:
        nonlocal written, logged
        found = _find(visit)
        if found.heartbeat != written:
            written, logged = found.heartbeat, visit.services.logged(found)
        shown = fragment("progress.html", visit, **_describe(visit, found), logged=logged)
        return shown, found.active

    # What is refused is refused before the stream begins.
    first = await to_thread.run_sync(look)

    async def events() -> AsyncIterator[str]:
        until = time.monotonic() + _STREAM_S
        shown, active = first
        yield "retry: 1000\n\n"
        yield _event(shown)
        while active and time.monotonic() < until:
            await sleep(_LOOK_S)
            now, active = await to_thread.run_sync(look)
            if now != shown:
                yield _event(now)
            shown = now
        if not active:
            yield "event: end\ndata: \n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


def _event(text: str) -> str:
    return "".join(f"data: {line}\n" for line in text.splitlines()) + "\n"


# The store and the calls


def store(visit: Visit) -> Response:
    """Return what the store holds by size and age, the calls of the last hour, and who may call."""
    whole = auth.caller().may(auth.ADMIN) and auth.caller().bound is None
    stored = visit.services.stored() if whole else []
    largest = sorted(stored, key=lambda each: -each.bytes)[:_MOST_SOURCES]
    ages: dict[str, int] = {}
    for each in stored:
        ages[each.used[:7] or "never"] = ages.get(each.used[:7] or "never", 0) + each.bytes
    metrics = visit.read("get_metrics")
    tools = sorted(metrics["tools"].items(), key=lambda each: -each[1]["calls"])
    minutes = visit.services.metrics.minutes()
    return render(
        "store.html",
        visit,
        whole=whole,
        total=plots.size(sum(each.bytes for each in stored)),
        count=len(stored),
        largest=plots.bars(
            "The largest sources",
            [_bar(visit, each) for each in largest],
        ),
        ages=plots.bars(
            "Bytes by the month of the last use",
            [plots.Bar(month, ages[month], plots.size(ages[month])) for month in sorted(ages)],
        ),
        calls=plots.columns(
            "Calls in each minute of the last hour",
            [each.calls for each in minutes],
            [f"{each.calls} calls" for each in minutes],
        ),
        latency=plots.columns(
            "Mean milliseconds of a call in each minute of the last hour",
            [each.seconds / each.calls if each.calls else 0 for each in minutes],
            [f"{each.seconds / (each.calls or 1) * 1000:.0f} ms" for each in minutes],
        ),
        metrics=metrics,
        tools=tools,
        tokens=visit.services.tokens if whole else (),
    )


def _bar(visit: Visit, stored: StoredSource) -> plots.Bar:
    """Return the bar of a source, which leads to its page."""
    source, told = stored.source, plots.size(stored.bytes)
    language = languages.of_kind(source.kind)
    if language is not None or source.kind in (CRATE, LOCAL):
        name = (language or languages.RUST).name
        href = addresses.package(name, source.name, source.version)
        return plots.Bar(f"{source.name} {source.version}", stored.bytes, told, href)
    registration = visit.services.open_sources().registry.find(source.name)
    if registration is None:
        return plots.Bar(source.key, stored.bytes, told)
    href = f"{ROOT}/sources/{registration.id}"
    return plots.Bar(registration.title or registration.uri, stored.bytes, told, href)


def mint(visit: Visit) -> Response:
    """Show a new token once, with the entry of the settings that lets it in; nothing is kept."""
    auth.require(auth.ADMIN)
    name, scope = visit.form.get("name", "").strip(), visit.form.get("scope", auth.READ)
    token = auth.new_token()
    entry = f"{name}:{scope}:{auth.token_digest(token)}"
    try:
        auth.parse([entry], exposed=True)
    except DocstowError as error:
        raise InvalidParameter("name", error.message) from error
    return render("token.html", visit, token=token, entry=entry)


# Signing in


def sign_in(visit: Visit) -> Response:
    """Return the form that a token is entered in."""
    return render("login.html", visit, told="", next=_back(visit.query.get("next", "/")))


def signed_in(visit: Visit) -> Response:
    """Check a token and have the browser keep it."""
    token, back = visit.form.get("token", "").strip(), _back(visit.form.get("next", "/"))
    try:
        visit.services.identify(f"Bearer {token}")
    except Unauthorized as error:
        return render("login.html", visit, status=401, told=error.message, next=back)
    response = RedirectResponse(back, 303)
    sessions.remember(response, token, secure=visit.secure)
    return response


def sign_out(visit: Visit) -> Response:
    """Have the browser forget the token."""
    response = RedirectResponse("/", 303)
    sessions.remember(response, "", secure=visit.secure)
    return response


def _back(path: str) -> str:
    """Return a path of this server to go back to, whatever was given."""
    inside = path.startswith("/") and not path.startswith(("//", "/\\")) and "\\" not in path
    return path if inside and sessions.is_page(path.partition("?")[0]) else "/"
