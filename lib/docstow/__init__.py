"""docstow: documentation for AI coding agents, stowed in a bucket.

::

    import docstow

    with docstow.open("s3://bucket/prefix") as docs:      # or a directory, or Settings
        tokio = docs.crate("tokio", "^1.40")              # fetched and stowed if it is not yet
        hits = tokio.search("run blocking code", k=5)
        page = tokio.item("tokio::task::spawn_blocking")

What ``__all__`` names, the tools, the commands and the settings follow semantic versioning;
everything else may change in any release. Importing this module loads nothing heavy.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

__version__ = "0.1.0"

from docstow.core.errors import (
    CrateNotDocumented,
    CrateNotFound,
    DocstowError,
    DocumentNotFound,
    InvalidParameter,
    ItemNotFound,
    PackageNotFound,
    SourceNotFound,
    StoreError,
    UpstreamError,
    VersionYanked,
)
from docstow.core.model import Document, Hit
from docstow.core.records import dataclass
from docstow.core.settings import Settings, load

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from docstow.languages.shared.findings import Finding as Finding
    from docstow.library import ResolvedVersion
    from docstow.runtime import Runtime

__all__ = [
    "CrateNotDocumented",
    "CrateNotFound",
    "Docs",
    "DocstowError",
    "Document",
    "DocumentNotFound",
    "Finding",
    "Hit",
    "InvalidParameter",
    "ItemNotFound",
    "Package",
    "PackageNotFound",
    "Report",
    "Settings",
    "SourceNotFound",
    "Sources",
    "StoreError",
    "UpstreamError",
    "VersionYanked",
    "asgi",
    "open",
    "screen",
]


def open(store: str | Path | Settings | None = None) -> Docs:  # noqa: A001 - as files are opened
    """Open a store of documentation.

    Args:
        store: a directory, ``s3://bucket/prefix`` or whole settings; without it, what the
            environment says (``DOCSTOW_STORE`` and so on), else the user's data folder.

    Raises:
        ConfigurationError: a setting names something that does not exist.
        StoreError: the store cannot be used.
    """
    return Docs(_settings(store))


def asgi(settings: Settings | None = None) -> Starlette:
    """Build the ASGI app that the functions mount, with the routes of ``docstow serve``.

    Args:
        settings: what it is made from; without them, what the environment says.
    """
    from docstow.runtime import Runtime

    return Runtime(settings or _settings(None)).app


class Docs:
    """An open store: stowed documentation, and the way to stow more. A context manager."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opened = self._open(None)

    def _open(self, root: Path | None) -> Runtime:
        from docstow.runtime import Runtime

        # A folder that is named counts, and not what the settings name.
        roots = self._settings.root if root is None else (str(root),)
        return Runtime(replace(self._settings, root=roots), root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Wait for running ingests and drop connections."""
        self._opened.close()

    def crate(self, name: str, requirement: str = "") -> Package:
        """Open a Rust crate; it is fetched and stowed if it is not yet.

        Args:
            name: as on crates.io.
            requirement: an exact version or a Cargo requirement; empty for the latest.

        Raises:
            CrateNotFound: there is no such crate or version.
            CrateNotDocumented: docs.rs has no rustdoc JSON of it.
            VersionYanked: that version is yanked.
        """
        return Package(self._opened, self._opened.library.crate(name, requirement))

    def package(self, language: str, name: str, version: str = "") -> Package:
        """Open a package, stowed from where it is installed or from its registry if need be.

        Args:
            language: ``python`` or ``typescript``.
            name: the package's, or what is imported of it where it is installed or stowed.
            version: exact, its beginning or a requirement; empty for the installed one, else the
                newest.

        Raises:
            InvalidParameter: there is no such language.
            PackageNotFound: no project has it, nor the store, nor the registry.
            Ingesting: it takes longer than ``wait_s``.
            UpstreamError, UpstreamTimeout: the registry does not answer, and nothing is stowed.
        """
        from docstow.languages import LANGUAGES

        if language not in LANGUAGES:
            raise InvalidParameter("language", f"must be one of {', '.join(LANGUAGES)}")
        stowed = self._opened.library.package(LANGUAGES[language], name, version)
        return Package(self._opened, stowed)

    @property
    def sources(self) -> Sources:
        """The registered websites, repositories, folders and collections."""
        return Sources(self._opened)

    def search(self, query: str, k: int = 5) -> list[Hit]:
        """Search the pages of all registered sources, best first.

        Args:
            query: what is looked for, in words.
            k: the largest number of hits.
        """
        hits, _ = self._opened.prose.search(query, limit=k)
        return [
            Hit(hit.path, "page", hit.title, "", hit.heading_path, hit.snippet, hit.score, hit.url)
            for hit in hits
        ]

    def verify(
        self,
        code: str,
        language: str,
        root: str | Path | None = None,
        *,
        versions: Mapping[str, str] | None = None,
    ) -> Report:
        """Check which names and arguments of code exist in the versions that a project uses.

        Args:
            code: a file or a part of one.
            language: ``rust``, ``python``, ``typescript`` or ``javascript``.
            root: the project's folder; without it, what is stowed answers.
            versions: by package, of those that are meant; they need not be installed.

        Raises:
            InvalidParameter: there is no such language.
        """
        opened = self._opened if root is None else self._open(Path(root))
        wanted = {"versions": dict(versions)} if versions else {}
        try:
            return _verify(opened, {"code": code, "language": language, "all": True, **wanted})
        finally:
            if opened is not self._opened:
                opened.close()


class Package:
    """One version of a crate or a package: its items, to be searched and read.

    Attributes:
        name: the crate's or package's.
        version: the exact version that answers.
        notice: how it was chosen, where that is not as asked; else empty.
    """

    def __init__(self, runtime: Runtime, stowed: ResolvedVersion) -> None:
        self._runtime = runtime
        self._stowed = stowed
        self.name = stowed.name
        self.version = stowed.version
        self.notice = stowed.notice

    def __repr__(self) -> str:
        return f"<Package {self.name} {self.version}>"

    def search(self, query: str, k: int = 5) -> list[Hit]:
        """Search the items by meaning, words and names, best first.

        Args:
            query: what the item does, or its name.
            k: the largest number of hits.
        """
        from docstow.index.search import search_items

        stowed, embedder = self._runtime.library.current(self._stowed)
        index = self._runtime.library.index(stowed.snapshot)
        return search_items(index, embedder, query, limit=k)

    def item(self, path: str) -> Document:
        """Return an item with its documentation.

        Args:
            path: its public path; the crate may be left out.

        Raises:
            ItemNotFound: there is none of that path; the error suggests those that come near.
        """
        from docstow.index.lookup import find_items

        index = self._runtime.library.index(self._stowed.snapshot)
        return index.document(find_items(index, path)[0])

    def items(self) -> list[Document]:
        """Return every item, sorted by path."""
        index = self._runtime.library.index(self._stowed.snapshot)
        return index.documents()


class Sources:
    """The registered sources of a store."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def add(
        self,
        kind: str,
        uri: str,
        title: str = "",
        options: Mapping[str, Any] | None = None,
    ) -> str:
        """Register a source and return its id; one that is registered already stays as it is.

        Args:
            kind: ``site``, ``github``, ``folder`` or ``collection``.
            uri: the address, ``OWNER/REPO[@REF]``, folder or name.
            title: what people call it; empty for the uri.
            options: of the kind; see docs/sources.md.

        Raises:
            InvalidParameter: the kind, the uri or an option is not valid.
        """
        made, _ = self._runtime.registry.create(kind, uri, title=title, options=options or {})
        return made.id

    def sync(self, source: str, *, full: bool = False, wait_s: float = float("inf")) -> str:
        """Bring a source up to date and return the state of the job that does it.

        Args:
            source: id, uri or title.
            full: take nothing for unchanged.
            wait_s: how long to wait for the job, in seconds.

        Raises:
            SourceNotFound: no source is called that.
        """
        job = self._runtime.sync.start(source, "full" if full else "incremental")
        return self._runtime.sync.wait(job.id, wait_s).state

    def list(self) -> Sequence[str]:
        """Return the ids of all registered sources."""
        return [each.id for each in self._runtime.registry.all()]

    def delete(self, source: str) -> None:
        """Delete a source and its pages.

        Args:
            source: id, uri or title.

        Raises:
            SourceNotFound: no source is called that.
        """
        self._runtime.registry.delete(source)


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a check of code.

    Attributes:
        findings: one for each name in the code, in its order.
        answered: the packages and versions that were looked into.
    """

    findings: tuple[Finding, ...]
    answered: str

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The findings that say that something is wrong."""
        from docstow.languages.shared.findings import PROBLEMS

        return tuple(each for each in self.findings if each.status in PROBLEMS)


def _verify(runtime: Runtime, arguments: dict[str, Any]) -> Report:
    from docstow.languages.shared.findings import Finding

    names = Finding.__dataclass_fields__
    findings: list[Finding] = []
    while True:
        answer = runtime.toolbox.call("verify_code", arguments).structured or {}
        for result in answer["results"]:
            fields = {name: value for name, value in result.items() if name in names}
            suggestions = tuple(result.get("suggestions", ()))
            findings.append(Finding(**{**fields, "suggestions": suggestions}))
        if not answer["cursor"]:
            return Report(tuple(findings), answer["answered"])
        arguments = {**arguments, "cursor": answer["cursor"]}


def screen(text: str) -> tuple[str, ...]:
    """Return why a text seems to speak to an assistant; nothing for most texts.

    Texts that this module returns were written by third parties and are as they are stowed: what
    hands them to a model asks this first, as the tools do by themselves. What is not found is not
    safe for that.

    Args:
        text: of a hit, a document or anything else.
    """
    from docstow.text.injection import screen as reasons

    return reasons(text)


def __getattr__(name: str) -> Any:
    """Load :class:`Finding` when it is first asked for: its package brings the languages."""
    if name == "Finding":
        from docstow.languages.shared.findings import Finding

        return Finding
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _settings(store: str | Path | Settings | None) -> Settings:
    if isinstance(store, Settings):
        return store
    return load({} if store is None else {"store": str(store)}, os.environ)
