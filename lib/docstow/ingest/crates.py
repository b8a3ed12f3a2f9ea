"""Crates: fetched from docs.rs or read from rustdoc JSON files, and published."""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from docstow.core.errors import (
    CrateNotDocumented,
    CrateNotFound,
    DocstowError,
    TooLarge,
    UnreadableInput,
    UpstreamError,
    UpstreamTimeout,
    VersionYanked,
)
from docstow.core.model import LOCAL, Document, File, Revision, Snapshot, Source, pack_definitions
from docstow.core.spelling import RUST
from docstow.ingest.jobs import Job, source_of, success_fields
from docstow.ingest.overview import describe_package, suggested_features
from docstow.ingest.pauses import Pauses
from docstow.ingest.publish import Publisher, Reading
from docstow.ingest.queue import Busy
from docstow.languages.rust import rustdoc
from docstow.languages.rust.rustdoc.split_crates import Sibling, merge_siblings, read_siblings
from docstow.languages.shared.guides import README, find_readme, read_guides
from docstow.sources.crates.origin import read_file
from docstow.text.chunking import first_sentence
from docstow.text.invisible import drop_from_document, drop_from_value

if TYPE_CHECKING:
    from docstow.net.decompress import Limits
    from docstow.sources.crates import CrateResolver
    from docstow.sources.crates.archive import CrateArchive
    from docstow.sources.crates.index import Release
    from docstow.store.leases import Leases
    from docstow.store.snapshots import Snapshots

log = logging.getLogger(__name__)

#: Pause between looks at a head that another process is about to publish, in seconds.
POLL_S = 0.5

_WORD = re.compile(r"\w+")
#: A README of whose words the root module has this share is not kept beside it.
_REPEATED = 0.95


class CrateTask:
    """Ingests crates of docs.rs, for a worker or in the caller's thread.

    Args:
        snapshots: the published snapshots.
        resolver: finds the version that is wanted.
        publisher: makes snapshots.
        leases: keep two processes from doing one ingest twice.
        lease_s: for how long the lease of an ingest that died is held, in seconds.
        try_unknown: whether rustdoc JSON of a newer format than the known ones is tried.
        pause: sleeps.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        resolver: CrateResolver,
        publisher: Publisher,
        leases: Leases,
        *,
        lease_s: float,
        try_unknown: bool = False,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._snapshots = snapshots
        self._resolver = resolver
        self._publisher = publisher
        self._leases = leases
        self._pauses = Pauses(leases)
        self._lease_s = lease_s
        self._try_unknown = try_unknown
        self._pause = pause

    def finished(self, job: Job) -> Mapping[str, Any] | None:
        """Return the end of a job whose crate was stored by others; None otherwise."""
        snapshot = self._snapshots.answering(source_of(job), fresh=True)
        return None if snapshot is None else success_fields(job, snapshot)

    def perform(self, job: Job) -> Mapping[str, Any]:
        """Ingest a job's crate, whose lease the worker holds, unless it is stored.

        Raises:
            DocstowError: as the upstream or the reader says.
        """
        source = source_of(job)
        snapshot = self._snapshots.answering(source, fresh=True)
        if snapshot is None:
            snapshot = self._fetch(
                self._resolver.resolve_upstream(source.name, source.version, target=source.target)
            )
        return success_fields(job, snapshot)

    def ensure(self, name: str, requirement: str = "", *, patient: bool = True) -> Snapshot:
        """Return what answers a request, ingested now, however long it takes, if it is not stored.

        Raises:
            Busy: another process is at it, and the caller is not patient.
            CrateNotFound, VersionYanked, CrateNotDocumented, UpstreamError, UpstreamTimeout,
            UnsupportedFormat, TooLarge: as the upstream or the reader says.
        """
        revision, snapshot = self._resolver.resolve(name, requirement)
        while snapshot is None:
            try:
                return self._ingest_once(revision)
            except Busy:
                if not patient:
                    raise
                self._pause(POLL_S)
                snapshot = self._snapshots.answering(revision.source)
        return snapshot

    def ingest(self, name: str, requirement: str = "", *, target: str = "") -> Snapshot:
        """Fetch and publish a crate now, even if it is stored already.

        Raises:
            as :meth:`ensure` does, but never Busy.
        """
        return self._fetch(self._resolver.resolve_upstream(name, requirement, target=target))

    def _ingest_once(self, revision: Revision) -> Snapshot:
        """Ingest a crate unless it is stored.

        Raises:
            Busy: another process is at it.
        """
        source = revision.source
        lease = self._leases.acquire(source.key, self._lease_s)
        if lease is None:
            if (snapshot := self._snapshots.answering(source)) is not None:
                return snapshot
            raise Busy(source.key)
        with self._leases.kept(lease):
            return self._snapshots.answering(source) or self._fetch(revision)

    def _fetch(self, revision: Revision) -> Snapshot:
        with self._pauses.kept(urlsplit(revision.url).netloc):
            return self._fetch_now(revision)

    def _fetch_now(self, revision: Revision) -> Snapshot:
        log.info("stowing %s", revision.source.key)
        origin = self._resolver.origin
        release = origin.release(revision)

        def fetch_sibling(package: str, version: str) -> File | None:
            try:
                part = origin.resolve(package, version, target=revision.source.target)
                return origin.fetch(part)
            except (CrateNotFound, CrateNotDocumented, VersionYanked, TooLarge) as error:
                log.warning("%s lacks a part: %s", revision.source.key, error.message)
                return None

        facts = release.facts() if release else {}
        file = origin.fetch(revision)
        guides = self._fetch_guides(revision, release)
        reading = read_crate(
            revision, file, facts, fetch_sibling, guides, try_unknown=self._try_unknown
        )
        del file  # tens of megabytes of a large crate, and its tables need memory
        return self._publisher.publish(reading).snapshot

    def _fetch_guides(self, revision: Revision, release: Release | None) -> CrateArchive | str:
        """Return what a crate's own archive has, or why it could not be had."""
        if release is None:
            return "the index of crates could not be asked for its archive"
        try:
            archive = self._resolver.origin.archive(revision, release)
        except (UpstreamError, UpstreamTimeout, UnreadableInput, TooLarge) as error:
            log.warning("%s lacks its guides: %s", revision.source.key, error.message)
            return error.message
        return archive or "the index of crates has no archives"


class RustdocFiles:
    """Rustdoc JSON files that are ingested together; each is a sibling of the others.

    A crate is published under the name and version that its file says, and answers for its name.
    Each file is read once and kept as documents; its JSON is let go.

    Args:
        publisher: makes snapshots.
        paths: all files.
        limits: how large a file may be.
        version: for files that do not say theirs.
        try_unknown: whether files of a newer format than the known ones are tried.
    """

    def __init__(
        self,
        publisher: Publisher,
        paths: Sequence[Path],
        limits: Limits,
        version: str = "",
        *,
        try_unknown: bool = False,
    ) -> None:
        self._publisher = publisher
        self._paths = paths
        self._limits = limits
        self._version = version
        self._try_unknown = try_unknown
        self._read: dict[Path, tuple[rustdoc.CrateDocs, str] | DocstowError] = {}

    def ingest(self, path: Path) -> Snapshot:
        """Publish one of the files; what it re-exports of the others becomes its own.

        Raises:
            UnreadableInput: the file does not say its version, and none is given.
            DocstowError: this file cannot be read. That another cannot is no error here.
        """
        own = self._docs(path)
        if isinstance(own, DocstowError):
            raise own
        docs, url = own
        read = [self._docs(other) for other in self._paths if other != path]
        others = [other[0] for other in read if not isinstance(other, DocstowError)]
        at_hand = {str(each.facts["lib"]): each for each in others}
        # Of a crate in several versions, the one that has this crate's version is meant.
        at_hand |= {str(e.facts["lib"]): e for e in others if e.version == docs.version}
        parts = read_siblings(docs, lambda sibling: at_hand.get(sibling.lib), at_hand)
        source = Source(LOCAL, docs.name, docs.version)
        revision = Revision(source, docs.version, origin="file", url=url)
        return self._publisher.publish(_reading(revision, merge_siblings(docs, parts), {})).snapshot

    def _docs(self, path: Path) -> tuple[rustdoc.CrateDocs, str] | DocstowError:
        """Return the documents of a file and its URL, or why there are none."""
        if path not in self._read:
            try:
                file = read_file(path, self._limits)
                docs = rustdoc.read(file.body, version=self._version, try_unknown=self._try_unknown)
                if not docs.version:
                    raise UnreadableInput(
                        f"{file.path} does not say its crate's version; give --version."
                    )
                self._read[path] = docs, file.url
            except DocstowError as error:
                self._read[path] = error
        return self._read[path]


def read_crate(
    revision: Revision,
    file: File,
    release: Mapping[str, Any],
    fetch: Callable[[str, str], File | None],
    guides: CrateArchive | str = "",
    *,
    try_unknown: bool = False,
) -> Reading:
    """Read a crate's rustdoc JSON as the revision that it was fetched for.

    Args:
        revision: what the file is.
        file: the rustdoc JSON, decompressed.
        release: what the index says of this version; becomes part of the facts.
        fetch: returns the file of a sibling by package and exact version, or None where there is
            none.
        guides: the crate's own archive, or why it could not be had.
        try_unknown: whether a newer format than the known ones is tried.
    """

    def parse(file: File, name: str, version: str) -> rustdoc.CrateDocs:
        return rustdoc.read(file.body, name=name, version=version, try_unknown=try_unknown)

    def read(sibling: Sibling) -> rustdoc.CrateDocs | None:
        part = fetch(sibling.package, sibling.version)
        if part is None:
            return None
        return parse(part, sibling.package, sibling.version)

    docs = parse(file, revision.source.name, revision.version)
    return _reading(revision, merge_siblings(docs, read_siblings(docs, read)), release, guides)


def _reading(
    revision: Revision,
    docs: rustdoc.CrateDocs,
    release: Mapping[str, Any],
    guides: CrateArchive | str = "",
) -> Reading:
    name = revision.source.name
    # Pages sort behind the root module, which has the library's name too.
    pages, own, links = _read_archive(guides, str(docs.facts.get("lib") or name))
    if pages and _repeats(pages[0], docs.documents):
        del pages[0]
    found = sorted([*docs.documents, *pages], key=lambda each: (each.path, each.kind))
    documents = [drop_from_document(each) for each in found]
    aliases = {each.subject for each in docs.relations if each.predicate == "alias"}
    return Reading(
        revision,
        rustdoc.READER,
        documents,
        [*docs.relations, *pack_definitions(docs.definitions, aliases)],
        drop_from_value(
            {**docs.facts, **own, **release, **_outline(name, documents, aliases, links)}
        )[0],
    )


def _read_archive(
    guides: CrateArchive | str, lib: str
) -> tuple[list[Document], dict[str, Any], Mapping[str, str]]:
    """Return the pages of a crate's archive, its facts, and the addresses in its manifest."""
    if isinstance(guides, str):
        reason = f"README, changelog and examples are left out: {guides.rstrip('.')}."
        return [], {"left_out": [reason]} if guides else {}, {}
    read = read_guides(
        lib,
        guides.files,
        language="rust",
        examples=".rs",
        readme=guides.readme,
        links=guides.links,
    )
    left_out = {"left_out": list(read.left_out)} if read.left_out else {}
    return list(read.pages), {**guides.facts, **left_out}, guides.links


def _repeats(page: Document, documents: Sequence[Document]) -> bool:
    """Return whether a README says hardly more than the root module, which often includes it."""
    root = next((each for each in documents if not each.parent and each.kind == "module"), None)
    if root is None or page.attributes["role"] != README:
        return False
    said = set(_WORD.findall(root.text))
    words = _WORD.findall(page.text)
    return sum(each in said for each in words) >= _REPEATED * len(words)


def _outline(
    name: str,
    documents: Sequence[Document],
    aliases: Collection[str],
    links: Mapping[str, str],
) -> dict[str, Any]:
    """Return what a summary of the crate shows, so that it need not read a table."""
    re_exports = Counter(alias.rpartition("::")[0] for alias in aliases)
    roots = [document for document in documents if not document.parent]
    root = next((document for document in roots if document.kind == "module"), None)
    if root is None:
        return {"modules": []}
    sizes = Counter(
        "::".join(document.path.split("::")[:2]) for document in documents if document is not root
    )
    modules = [
        {
            "path": document.path,
            "summary": first_sentence(document.text),
            "items": sizes[document.path] - 1 + re_exports[document.path],
        }
        for document in documents
        if document.kind == "module" and document.parent == root.path
    ]
    own = {"url": root.url, "summary": first_sentence(root.text), "modules": modules}
    features = suggested_features(name, root.text)
    suggested = {"suggested_features": features} if features else {}
    page = find_readme(documents)
    return own | suggested | describe_package(name, documents, root, page, RUST, ("rust",), links)
