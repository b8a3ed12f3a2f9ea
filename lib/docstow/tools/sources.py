"""The toolset ``sources``: which sources there are, and what is stowed of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter, JobNotFound
from docstow.core.records import dataclass
from docstow.core.threads import in_parallel
from docstow.ingest.jobs import INCREMENTAL, MODES, SUCCESS
from docstow.sources import kind_of, limit_notice, registrable
from docstow.sources.registry import SELDOM_H
from docstow.tools import COUNT, TEXT, Answer, Tool, page_schema, paged, result_schema
from docstow.tools.parameters import CURSOR, Parameter

if TYPE_CHECKING:
    from docstow.core.model import Registration, Snapshot
    from docstow.ingest.jobs import Job, Jobs
    from docstow.library.page_totals import PageTotals
    from docstow.library.prose import Prose
    from docstow.library.requests import SyncRequests
    from docstow.sources.presets import Preset
    from docstow.sources.registry import Registry

#: Errors of a job that a list shows; the job itself tells the first hundred.
ERRORS_LISTED = 3

NAMED = Parameter(
    "source_id", "string", "Id, URI or title of a source", required=True, max_length=2000
)


@dataclass(frozen=True, slots=True)
class SourceServices:
    """Where sources are registered, synced and read.

    Attributes:
        registry: the registered sources.
        jobs: the jobs that sync them.
        sync: starts and awaits such jobs.
        prose: what is stowed of them.
        totals: how much that is.
        preset: finds a known source by name.
        check: refuses a kind and a URI that no sync could read.
    """

    registry: Registry
    jobs: Jobs
    sync: SyncRequests
    prose: Prose
    totals: PageTotals
    preset: Callable[[str], Preset]
    check: Callable[[str, str], None]


def tools(services: SourceServices) -> list[Tool]:
    """Make the tools, bound to what they work on."""
    return [
        _create_source(services),
        _list_sources(services),
        _delete_source(services),
        _start_sync(services),
        _get_sync_status(services),
        _list_snapshots(services),
    ]


def _create_source(services: SourceServices) -> Tool:
    return Tool(
        name="create_source",
        toolset="sources",
        title="Add a source",
        description=(
            "Registers a documentation website, a repository, a folder or a crate; once more "
            "changes how it is synced. With sync it is stowed at once, else by start_sync. "
            "headers are secret and go to the source's own hosts alone. Not for single texts "
            '(push_document). Example: {"kind": "site", "uri": "https://docs.example/guide/", '
            '"options": {"max_pages": 500}, "sync": true}.'
        ),
        parameters=(
            Parameter(
                "kind", "string", "Needed without preset", default="", choices=("", *registrable())
            ),
            Parameter(
                "uri",
                "string",
                "Start URL, owner/repo[@ref], folder or crate[@version]",
                default="",
                max_length=4000,
            ),
            Parameter(
                "preset", "string", "A known source, in place of uri", default="", max_length=100
            ),
            Parameter("title", "string", "For people", default="", max_length=200),
            Parameter("options", "object", "Those of its kind"),
            Parameter("headers", "object", "Such as Authorization"),
            Parameter("keep", "integer", "Snapshots to keep", minimum=1, maximum=100),
            Parameter(
                "refresh_hours", "integer", "Sync again when so old", minimum=0, maximum=SELDOM_H
            ),
            Parameter("sync", "boolean", "Stow it now", default=False),
        ),
        run=partial(_create, services),
        output_schema=result_schema(
            {"source_id": TEXT, "kind": TEXT, "uri": TEXT, "created": {"type": "boolean"}},
            job={"type": "object"},
        ),
        read_only=False,
    )


def _list_sources(services: SourceServices) -> Tool:
    return Tool(
        name="list_sources",
        toolset="sources",
        title="List sources",
        description=(
            "The registered sources, each with its options, the snapshot that answers, how much "
            'that holds, and its last job. Not for searching (search_docs). Example: {"kind": '
            '"site"}.'
        ),
        parameters=(
            Parameter("kind", "string", "Only these", default="", choices=("", *registrable())),
            CURSOR,
        ),
        run=partial(_list, services),
        output_schema=page_schema({"source_id": TEXT, "kind": TEXT, "uri": TEXT, "title": TEXT}),
        open_world=False,
    )


def _delete_source(services: SourceServices) -> Tool:
    return Tool(
        name="delete_source",
        toolset="sources",
        title="Delete a source",
        description=(
            "Forgets a source and the pages that were stowed of it: it answers no more. Not for "
            'a single pushed text (delete_document). Example: {"source_id": "owner/repo@main"}.'
        ),
        parameters=(NAMED,),
        run=partial(_delete, services),
        output_schema=result_schema({"source_id": TEXT, "deleted": {"type": "boolean"}}),
        read_only=False,
        destructive=True,
        admin=True,
        open_world=False,
    )


def _start_sync(services: SourceServices) -> Tool:
    return Tool(
        name="start_sync",
        toolset="sources",
        title="Sync a source",
        description=(
            "Visits a source in the background and stows what has changed; full takes nothing for "
            "unchanged. Answers with the job, which may be under way already. Not for asking how "
            'far it is (get_sync_status). Example: {"source_id": "https://docs.example/"}.'
        ),
        parameters=(
            NAMED,
            Parameter("mode", "string", "full reads all anew", default=INCREMENTAL, choices=MODES),
        ),
        run=partial(_start, services),
        output_schema=result_schema({"id": TEXT, "source_id": TEXT, "state": TEXT}),
        read_only=False,
        idempotent=False,
    )


def _get_sync_status(services: SourceServices) -> Tool:
    return Tool(
        name="get_sync_status",
        toolset="sources",
        title="Status of a sync",
        description=(
            "How far a job is, what it has counted and what went wrong; of a source, its newest "
            'job. Not for starting one (start_sync). Example: {"job_id": '
            '"0123456789abcdef-000001"}.'
        ),
        parameters=(
            Parameter("job_id", "string", "Instead of a source", default="", max_length=80),
            Parameter("source_id", "string", "Instead of job_id", default="", max_length=2000),
        ),
        run=partial(_report_status, services),
        output_schema=result_schema({"id": TEXT, "source_id": TEXT, "state": TEXT}),
        open_world=False,
    )


def _list_snapshots(services: SourceServices) -> Tool:
    return Tool(
        name="list_snapshots",
        toolset="sources",
        title="Snapshots of a source",
        description=(
            "The kept snapshots of a source, newest first; any of them answers where its id is "
            "given as snapshot_id. Not for versions of a crate (list_versions). Example: "
            '{"source_id": "owner/repo@main"}.'
        ),
        parameters=(NAMED, CURSOR),
        run=partial(_kept_snapshots, services),
        output_schema=page_schema({"snapshot": TEXT, "created_at": TEXT, "documents": COUNT}),
        open_world=False,
    )


def _create(services: SourceServices, arguments: Mapping[str, Any]) -> Answer:
    kind, uri, name = (arguments[each].strip() for each in ("kind", "uri", "preset"))
    if bool(uri) == bool(name):
        raise InvalidParameter("uri", "give exactly one of uri and preset")
    title, options = arguments["title"], arguments["options"]
    if name:
        known = services.preset(name)
        if kind not in ("", known.kind):
            raise InvalidParameter("kind", f"the preset {name} is of the kind {known.kind}")
        kind, uri, title = known.kind, known.uri, title or known.title
        options = {**known.options, **(options or {})}
    elif not kind:
        raise InvalidParameter("kind", f"is required beside uri: one of {', '.join(registrable())}")
    services.check(kind, uri)
    registration, created = services.registry.create(
        kind,
        uri,
        title=title,
        options=options,
        headers=_check_headers(arguments["headers"]),
        keep=arguments["keep"],
        refresh_hours=arguments["refresh_hours"],
    )
    answer = {**describe(registration), "created": created}
    if arguments["sync"]:
        answer["job"] = describe_job(services.sync.start(registration.id), services.jobs)
    return Answer(answer)


def _check_headers(given: Mapping[str, Any] | None) -> dict[str, str] | None:
    if given is None:
        return None
    for name, value in given.items():
        # The value is a secret, so that the message says nothing of it.
        if not isinstance(value, str):
            raise InvalidParameter("headers", f"the value of {name[:80]!r} must be a string")
    return dict(given)


def describe(registration: Registration) -> dict[str, Any]:
    """Describe a registration; of its headers only the names, which are no secret."""
    return {
        "source_id": registration.id,
        "kind": registration.kind,
        "uri": registration.uri,
        "title": registration.title,
        "options": dict(registration.options),
        "headers": sorted(registration.headers),
        "keep": registration.keep,
        "refresh_hours": registration.refresh_hours,
        "registered_at": registration.created_at.isoformat(),
    }


def _list(services: SourceServices, arguments: Mapping[str, Any]) -> Answer:
    kind = arguments["kind"]
    found = [each for each in services.registry.all() if kind in ("", each.kind)]
    page = paged(found, arguments["cursor"], f"sources {kind}")
    page["results"] = describe_all(services, page["results"])
    return Answer({"total": len(found), **page})


def describe_all(
    services: SourceServices, registrations: Sequence[Registration]
) -> list[dict[str, Any]]:
    """Describe registrations and what answers for each; the store is asked for several at once."""
    jobs = services.jobs.latest_of([each.id for each in registrations])
    return in_parallel(
        lambda each: (
            describe(each) | _describe_state(services.prose, services.jobs, each, jobs.get(each.id))
        ),
        registrations,
    )


def describe_state(prose: Prose, jobs: Jobs, registration: Registration) -> dict[str, Any]:
    """Describe what answers for a source, and its newest job; nothing of what there is not."""
    return _describe_state(prose, jobs, registration, jobs.latest(registration.id))


def _describe_state(
    prose: Prose, jobs: Jobs, registration: Registration, job: Job | None
) -> dict[str, Any]:
    members: dict[str, Any] = {}
    if kind_of(registration.kind).has_pages and (newest := prose.newest(registration)):
        members |= _describe_snapshot(newest)
    if job is not None:
        members["job"] = _shorten(described := describe_job(job, jobs))
        members |= {"notice": described["notice"]} if "notice" in described else {}
    return members


def _describe_snapshot(snapshot: Snapshot) -> dict[str, Any]:
    version = snapshot.revision.validator or snapshot.revision.version
    return {
        "snapshot": snapshot.id,
        "created_at": snapshot.created_at.isoformat(),
        "documents": snapshot.counts.get("documents", 0),
        "chunks": snapshot.counts.get("chunks", 0),
        **({"version": version} if version else {}),
        **_summarise(snapshot.facts.get("coverage")),
    }


def _summarise(coverage: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the numbers of a :class:`~docstow.ingest.jobs.Coverage`, without its pages."""
    names = ("words", "kept", "below")
    return {"coverage": {name: coverage[name] for name in names}} if coverage else {}


def describe_job(job: Job, jobs: Jobs) -> dict[str, Any]:
    """Describe a job; ``notice`` says what limits left out, of one that goes on at the last sync.

    Args:
        job: what to describe.
        jobs: where the jobs before it are.
    """
    last = job
    if job.state != SUCCESS and job.source is None:
        ended = (each for each in jobs.of(job.source_id) if each.state == SUCCESS)
        last = next(ended, job)
    notice = limit_notice(job.skipped) or limit_notice(last.skipped)
    return job.outward().body() | ({"notice": notice} if notice else {})


def _shorten(body: Mapping[str, Any]) -> dict[str, Any]:
    names = ("id", "mode", "state", "created_at", "finished_at", "counts", "errors", "error_count")
    return {name: body[name] for name in names} | {"errors": body["errors"][:ERRORS_LISTED]}


def _delete(services: SourceServices, arguments: Mapping[str, Any]) -> Answer:
    registration = services.registry.delete(arguments["source_id"].strip())
    return Answer({**describe(registration), "deleted": True})


def _start(services: SourceServices, arguments: Mapping[str, Any]) -> Answer:
    job = services.sync.start(arguments["source_id"].strip(), arguments["mode"])
    return Answer(describe_job(job, services.jobs))


def _report_status(services: SourceServices, arguments: Mapping[str, Any]) -> Answer:
    job_id, source = arguments["job_id"].strip(), arguments["source_id"].strip()
    if bool(job_id) == bool(source):
        raise InvalidParameter("job_id", "give exactly one of job_id and source_id")
    if job_id:
        return Answer(describe_job(services.jobs.get(job_id), services.jobs))
    registration = services.registry.get(source)
    if job := services.jobs.latest(registration.id):
        return Answer(describe_job(job, services.jobs))
    raise JobNotFound(f"{registration.title} was never synced; start_sync begins that.")


def _kept_snapshots(services: SourceServices, arguments: Mapping[str, Any]) -> Answer:
    registration = services.registry.get(arguments["source_id"].strip())
    prose = kind_of(registration.kind).has_pages
    kept = services.prose.snapshots(registration.id) if prose else []
    newest = services.prose.newest(registration) if prose else None
    rows = [{**_describe_snapshot(each), "current": each == newest} for each in kept]
    page = paged(rows, arguments["cursor"], registration.id)
    return Answer({"source_id": registration.id, "total": len(rows), **page})
