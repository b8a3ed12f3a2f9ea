"""What is bound to sources sees no trace of others, by any tool, argument, route or process.

Two stores differ in one thing: in one of them a secret crate, package, project, folder and
collection were stowed between what the tenant sees. Each tool is called with what an attacker who
knows them would send, and must answer in both stores alike.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import zstandard

from docstow.core import auth
from docstow.core.auth import ADMIN, Caller
from docstow.core.settings import load
from docstow.core.visibility import Visibility
from docstow.runtime import SAMPLE, Runtime
from docstow.server.rest import ROUTES
from docstow.tools import Answer
from docstow.tools.parameters import Parameter
from servers.web import serve

pytestmark = pytest.mark.slow

#: In the name of everything secret, and a word of its texts that no probe says.
SECRET, WORD = "zarquon", "brontitall"
_PAGES = ("collection:team-a/*", "folder:*/open")
PATTERNS = (*_PAGES, "local:stowage", "python:mooring", "project:quay")
TENANT = Caller("tenant", ADMIN, Visibility(PATTERNS))
TOKENS = {"tenant": "docstow_tenant", "owner": "docstow_owner"}
#: What says when something was, or how long it took.
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:T[\d:.]+(?:\+00:00|Z)?)?|(?<=\"seconds\":)[\d.e-]+"
    r"|(?<=_seconds_total)(\{[^}]*\})? [\d.e-]+|(?<=\"uptime_s\":)[\d.]+"
)


@dataclass(frozen=True)
class Known:
    """What somebody knows who has seen the secret sources: ids, cursors and jobs."""

    words: tuple[str, ...]
    cursors: tuple[str, ...]


def _write(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


def _project(folder: Path, package: str, word: str) -> Path:
    site = ".venv/lib/python3.12/site-packages"
    return _write(
        folder,
        {
            ".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.1\n",
            "pyproject.toml": (
                f'[project]\nname = "{folder.name}"\nversion = "1"\ndependencies = ["{package}"]\n'
            ),
            f"{site}/{package}/__init__.py": (
                f'"""Moors a ship with {word} lines."""\n\ndef moor(ship: str) -> int:\n'
                f'    """Moor a ship by its {word}."""\n    return 1\n'
            ),
            f"{site}/{package}-1.0.dist-info/METADATA": (
                f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
                f"Summary: Moors a ship with {word} lines\n"
            ),
            f"{site}/{package}-1.0.dist-info/RECORD": f"{package}/__init__.py,,\n",
        },
    )


def _crate(place: Path) -> Path:
    body = zstandard.ZstdDecompressor().stream_reader(SAMPLE.read_bytes()).read()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(body.replace(b"stowage", SECRET.encode()).replace(b"cargo", WORD.encode()))
    return place


def _fill(runtime: Runtime, files: Path, *, secret: bool) -> None:
    """Stow what the tenant sees, and the secret sources before, between and after it."""

    def call(tool: str, **arguments: Any) -> Answer:
        return runtime.toolbox.call(tool, arguments)

    def folder(name: str) -> None:
        made = call("create_source", kind="folder", uri=str(files / name)).structured or {}
        job = runtime.sync.start(made["source_id"])
        assert runtime.sync.wait(job.id, 60).state == "success"

    def stow(project: str) -> None:
        (found,) = runtime.installed.of_project(project)
        runtime.installed.ingest(found)

    if secret:
        runtime.rustdoc_files([files / f"{SECRET}.json"]).ingest(files / f"{SECRET}.json")
        folder(SECRET)
    runtime.ingest_sample()
    call("create_collection", name="team-a/notes")
    call("push_document", text="# Lines\n\nFour lines moor a ship.", collection="team-a/notes")
    if secret:
        text = f"# {SECRET}\n\nFour {WORD} lines moor a ship, says {SECRET}."
        call("create_collection", name=f"team-b/{SECRET}", title=f"{SECRET} plans")
        for uri in ("plan.md", "other.md"):
            call("push_document", text=text, collection=f"team-b/{SECRET}", uri=uri)
        stow("project")
    folder("open")
    stow("quay")
    if secret:
        call("search_items", query=f"{SECRET} {WORD}")


def _settings(place: Path, files: Path, *, secret: bool) -> dict[str, Any]:
    entries = [
        f"tenant:admin:{_digest('tenant')}:{';'.join(PATTERNS)}",
        f"owner:admin:{_digest('owner')}",
    ]
    roots = [str(files / SECRET / "project")] * secret + [str(files / "quay")]
    presets = files / "presets.toml"
    return {
        "store": str(place / "store"),
        "cache": str(place / "cache"),
        "root": roots,
        "auth": ",".join(entries),
        "offline": True,
        "wait_s": "1",
        **({"presets": str(presets)} if secret else {}),
    }


def _digest(name: str) -> str:
    return hashlib.sha256(TOKENS[name].encode()).hexdigest()


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Runtime, Runtime]]:
    """A store with the secret sources, and one in which they never were."""
    files = tmp_path_factory.mktemp("files")
    page = "# Mooring\n\nA ship is moored with four lines.\n\n```sh\nmoor --ship\n```\n"
    _write(files / "open", {"moor.md": page, "sail.md": "# Sailing\n\nSet the sails."})
    _write(files / SECRET, {"moor.md": page.replace("ship", f"{SECRET} {WORD}")})
    _project(files / "quay", "mooring", "four")
    _project(files / SECRET / "project", SECRET, WORD)
    _write(
        files,
        {
            "presets.toml": f'[{SECRET}]\nkind = "github"\nuri = "team-b/{SECRET}"\n'
            f'title = "{SECRET} {WORD}"\n'
        },
    )
    _crate(files / f"{SECRET}.json")
    with contextlib.ExitStack() as closing:
        made = []
        for secret in (True, False):
            place = tmp_path_factory.mktemp("store")
            runtime = Runtime(load(_settings(place, files, secret=secret), {}))
            closing.enter_context(contextlib.closing(runtime))
            _fill(runtime, files, secret=secret)
            made.append(runtime)
        yield made[0], made[1]


@pytest.fixture(scope="module")
def known(stores: tuple[Runtime, Runtime]) -> Known:
    """All that the owner of the secret sources can tell the tenant."""
    runtime = stores[0]
    found = [SECRET, f"python:{SECRET}", f"rust:{SECRET}", f"{SECRET}::Hold", "moor"]
    cursors: list[str] = []
    for each in runtime.registry.all():
        if SECRET in each.uri:
            found += [each.id, each.id[:12], each.uri, each.title]
            snapshot = runtime.prose.newest(each)
            assert snapshot is not None
            found.append(snapshot.id)
            index = runtime.prose.index(snapshot)
            chunk = index.passage(0).id
            found += [chunk, chunk.rpartition(".")[0], index.document(0).path]
            exported = runtime.toolbox.call(
                "export_snapshot", {"source_id": each.id, "max_tokens": 100}
            )
            cursors += re.findall(r'"cursor": "([^"]+)"', exported.text)
    secret = {each.id for each in runtime.registry.all() if SECRET in each.uri}
    jobs = [job.id for job in runtime.jobs.all() if job.source_id in secret]
    assert jobs
    found += jobs
    found += [head.snapshot_id for head in runtime.snapshots.heads("local", SECRET)]
    crate = {"crate": SECRET, "version": "0.1.0"}
    text = runtime.toolbox.call(
        "get_item_doc", {**crate, "item_path": SECRET, "max_tokens": 100}
    ).text
    cursors += re.findall(r"next cursor: `([^`]+)`", text)
    listed = runtime.toolbox.call("search_items", {**crate, "query": "hold", "limit": 1}).structured
    cursors += [str((listed or {}).get("cursor"))]
    words = tuple(dict.fromkeys(filter(None, found)))
    return Known(words, tuple(filter(None, cursors)))


#: What calls have beside the probe: the least, and what more tools do something with.
USUAL = {
    "query": "lines that moor a ship",
    "question": "how is a ship moored?",
    "text": "# A",
    "item_path": "mooring.moor",
    "code": "import mooring\nmooring.moor('a')\n",
    "package": "python:mooring",
}
RUST = {
    **USUAL,
    "package": "stowage",
    "item_path": "stowage",
    "trait": "Clone",
    "from_version": "0.1.0",
    "to_version": "0.1.0",
}


#: Code that uses what is secret.
CODE = (
    f"use {SECRET}::Hold;\nfn f(h: {SECRET}::Hold) {{ h.x(); }}",
    f"import {SECRET}\n{SECRET}.moor()\n",
)


#: Arguments that name no source: one secret word will do.
WORDS = {"language", "version", "lockfile", "target", "module", "requirement", "feature", "title"}
WORDS |= {"signature", "lines", "graph", "symbol", "trait", "type", "from_version", "to_version"}


def _values(parameter: Parameter, known: Known) -> tuple[object, ...]:
    """Everything secret that an argument can say."""
    if parameter.choices:
        return tuple(parameter.choices)
    if parameter.name in WORDS:
        return (SECRET,)
    own: dict[str, tuple[object, ...]] = {
        "code": CODE,
        "cursor": known.cursors,
        "versions": ({SECRET: "1.0"}, {SECRET: "0.1.0"}),
        "string": known.words,
        "array": tuple([each] for each in known.words),
    }
    return own.get(parameter.name) or own.get(parameter.type, ())


def _probes(parameters: tuple[Parameter, ...], known: Known) -> Iterator[dict[str, Any]]:
    """What an attacker sends: each secret thing as each argument, beside what is needed."""
    names = {each.name for each in parameters}
    required = {e.name: USUAL.get(e.name, "mooring") for e in parameters if e.required}
    more = {**required, **{name: value for name, value in RUST.items() if name in names}}
    yield required
    yield more
    for parameter in parameters:
        for value in _values(parameter, known):
            call = {**required, parameter.name: value}
            yield call
            if more != required:
                yield {**more, parameter.name: value}
            if parameter.name == "cursor":
                of = names & {"source_id", "crate", "package", "snapshot_id"}
                yield from ({**call, name: SECRET} for name in sorted(of))
            if parameter.name in ("package", "crate", "code", "item_path") and "language" in names:
                yield from ({**call, "language": each} for each in ("rust", "python"))


def _outcome(runtime: Runtime, tool: str, arguments: Mapping[str, Any]) -> str:
    found = runtime.toolbox.attempt(tool, arguments, "request")
    shown = found.render() if isinstance(found, Answer) else json.dumps(found.body())
    return _TIME.sub("TIME", shown)


def test_every_tool_answers_as_if_the_secret_sources_never_were(
    stores: tuple[Runtime, Runtime], known: Known
) -> None:
    calls, answered = 0, set()
    with auth.calling(TENANT):
        # What writes comes last, and with the names of secret things alone.
        tools = sorted(stores[0].toolbox.tools, key=lambda each: not each.read_only)
        for tool in tools:
            for arguments in _probes(tuple(tool.parameters), known):
                if not tool.read_only and SECRET not in json.dumps(arguments):
                    continue
                calls += 1
                one, other = (_outcome(each, tool.name, arguments) for each in stores)
                assert one == other, (tool.name, arguments)
                assert WORD not in one, (tool.name, arguments)
                if not one.startswith('{"error": "invalid_parameter"'):
                    answered.add(tool.name)
    assert calls > 500
    # A new tool may need a value in _usual before it does anything.
    assert answered >= {each.name for each in tools if each.read_only}
    # The owner sees what the tenant does not, and nothing of it was changed.
    assert WORD in _outcome(stores[0], "search_docs", {"query": WORD})
    assert SECRET in _outcome(stores[0], "list_sources", {})


#: What else than a path names something.
PARAMETERS = {"/snapshots": ("source_id",), "/docs": ("ref",), "/sources": ("cursor",)}


def test_every_route_answers_as_if_the_secret_sources_never_were(
    stores: tuple[Runtime, Runtime], known: Known
) -> None:
    paths = [route for route in ROUTES if route.method == "GET"]
    with contextlib.ExitStack() as closing:
        clients = []
        for runtime in stores:
            url = closing.enter_context(serve(runtime.app))
            headers = {"Authorization": f"Bearer {TOKENS['tenant']}"}
            client = httpx.Client(base_url=url, headers=headers, timeout=60)
            clients.append(closing.enter_context(client))

        def both(method: str, path: str, **sent: Any) -> str:
            answers = [each.request(method, path, **sent) for each in clients]
            shown = [
                (
                    each.status_code,
                    _TIME.sub("TIME", each.text),
                    {n: v for n, v in each.headers.items() if n not in ("date", "x-request-id")},
                )
                for each in answers
            ]
            # Lengths differ where times do.
            for _, _, headers in shown:
                headers.pop("content-length", None)
            assert shown[0] == shown[1], (method, path, sent)
            assert WORD not in shown[0][1], (method, path, sent)
            return str(shown[0][1])

        for route in paths:
            for word in known.words:
                path = re.sub(r"\{[^}]*\}", quote(word, safe=""), route.path)
                both("GET", path)
                place = route.path.partition("{")[0]
                both("GET", place, params=dict.fromkeys(PARAMETERS.get(place, ()), word))
        both("GET", "/metrics", headers={"Accept": "text/plain"})
        for path in (
            "/health",
            "/commands",
            "/openapi.json",
            "/mcp/manifest",
            "/mcp/resources/versions",
        ):
            both("GET", path)
        both("GET", "/mcp/resources/versions", params={"crate": SECRET})
        for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
            both("POST", "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": method})
        for word in known.words:
            for uri in (word, f"docstow://{word}"):
                sent = {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "resources/read",
                    "params": {"uri": uri},
                }
                both("POST", "/mcp", json=sent)


def test_what_the_tenant_is_bound_to_answers(stores: tuple[Runtime, Runtime]) -> None:
    runtime = stores[0]

    def ask(tool: str, **arguments: Any) -> str:
        return _outcome(runtime, tool, arguments)

    with auth.calling(TENANT):
        assert '"total":2' in ask("list_sources")
        assert "Four lines moor a ship" in ask("search_docs", query="four lines moor")
        assert "moored with four lines" in ask("search_docs", query="four lines moor a ship")
        assert "stowage" in ask("search_items", query="a hold for freight")
        assert "stowage" in ask("get_item_doc", crate="stowage", item_path="stowage")
        assert "Moor a ship by its four" in ask(
            "get_item_doc", package="python:mooring", item_path="mooring.moor"
        )
        assert "mooring" in ask("scan_packages")
        assert "mooring" in ask("find_packages", query="moor a ship with lines", language="python")
        jobs = runtime.jobs.all()
        assert jobs
        assert all(job.id in ask("get_sync_status", job_id=job.id) for job in jobs)
        made = ask("create_source", kind="github", uri="team-a/x")
        assert "is not for the credential 'tenant', which sees collection:team-a" in made
        for each in stores:
            more = each.toolbox.call("create_collection", {"name": "team-a/more"})
            assert (more.structured or {})["created"]


def test_a_process_of_its_own_is_bound_as_well(stores: tuple[Runtime, Runtime]) -> None:
    settings = stores[0].settings
    with contextlib.closing(Runtime(settings)) as runtime:
        runtime.run_apart()
        arguments = {"language": "python", "code": f"import {SECRET}\n{SECRET}.moor('a')\n"}
        owner = _outcome(runtime, "verify_code", {**arguments, "root": "project"})
        with auth.calling(TENANT):
            tenant = _outcome(runtime, "verify_code", {**arguments, "root": "project"})
            own = _outcome(runtime, "scan_packages", {})
        assert "there is no project of that name; there are quay" in tenant
        assert "there is no project" not in owner
        assert SECRET not in own
