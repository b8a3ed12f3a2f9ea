"""Two stores that differ in what a tenant must not see, and what an attacker sends who knows it.

In one of them a secret crate, package, project, folder and collection were stowed between what the
tenant sees.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from docstow.core.auth import ADMIN, Caller
from docstow.core.settings import load
from docstow.core.visibility import Visibility
from docstow.runtime import SAMPLE, Runtime
from docstow.tools import Answer
from docstow.tools.parameters import Parameter

#: In the name of everything secret, and a word of its texts that no probe says.
SECRET, WORD = "zarquon", "brontitall"
_PAGES = ("collection:team-a/*", "folder:*/open")
PATTERNS = (*_PAGES, "local:stowage", "python:mooring", "project:quay")
TENANT = Caller("tenant", ADMIN, Visibility(PATTERNS))
TOKENS = {"tenant": "docstow_tenant", "owner": "docstow_owner"}
#: What says when something was, or how long it took.
TIME = re.compile(
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
        "compat": ["all"],
        "rate": 0,
        "slow_rate": 0,
        **({"presets": str(presets)} if secret else {}),
    }


def _digest(name: str) -> str:
    return hashlib.sha256(TOKENS[name].encode()).hexdigest()


@contextlib.contextmanager
def two_stores(make_folder: Callable[[str], Path]) -> Iterator[tuple[Runtime, Runtime]]:
    """Open a store with the secret sources, and one in which they never were."""
    files = make_folder("files")
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
            place = make_folder("store")
            runtime = Runtime(load(_settings(place, files, secret=secret), {}))
            closing.enter_context(contextlib.closing(runtime))
            _fill(runtime, files, secret=secret)
            made.append(runtime)
        yield made[0], made[1]


def learn(runtime: Runtime) -> Known:
    """Return all that the owner of the secret sources can tell the tenant."""
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


def values(parameter: Parameter, known: Known) -> tuple[object, ...]:
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


def probes(parameters: tuple[Parameter, ...], known: Known) -> Iterator[dict[str, Any]]:
    """What an attacker sends: each secret thing as each argument, beside what is needed."""
    names = {each.name for each in parameters}
    required = {e.name: USUAL.get(e.name, "mooring") for e in parameters if e.required}
    more = {**required, **{name: value for name, value in RUST.items() if name in names}}
    yield required
    yield more
    for parameter in parameters:
        for value in values(parameter, known):
            call = {**required, parameter.name: value}
            yield call
            if more != required:
                yield {**more, parameter.name: value}
            if parameter.name == "cursor":
                of = names & {"source_id", "crate", "package", "snapshot_id"}
                yield from ({**call, name: SECRET} for name in sorted(of))
            if parameter.name in ("package", "crate", "code", "item_path") and "language" in names:
                yield from ({**call, "language": each} for each in ("rust", "python"))


def masked(text: str) -> str:
    """Return an answer without what says when something was, or how long it took."""
    return TIME.sub("TIME", text)
