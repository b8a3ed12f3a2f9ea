"""What a page has at hand: the server's services, and what one request asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from docstow.core import auth
from docstow.core.auth import Caller
from docstow.core.errors import DocstowError

if TYPE_CHECKING:
    from docstow.index.catalog import Catalog
    from docstow.ingest.job_logs import Line
    from docstow.ingest.jobs import Job
    from docstow.library import Library
    from docstow.library.prose import Prose
    from docstow.ops.evict import StoredSource
    from docstow.tools import Answer, Metrics, Toolbox
    from docstow.tools.sources import SourceServices


@dataclass(frozen=True, slots=True)
class Services:
    """What pages show.

    Attributes:
        toolbox: the tools, by which everything is asked that has one.
        library: the crates and packages.
        open_prose: opens the pages of sources.
        open_catalog: opens the list of what is stowed.
        open_sources: opens the sources and their jobs.
        logged: reads what a job has logged, as far as the caller may see it.
        repeat: begins again what a job that failed was to do.
        stored: lists what the store holds of each source.
        metrics: counts the calls.
        tokens: who may call by a token, without the tokens.
        identify: finds whom an Authorization header stands for, or refuses it.
        version: of this server.
    """

    toolbox: Toolbox
    library: Library
    open_prose: Callable[[], Prose]
    open_catalog: Callable[[], Catalog]
    open_sources: Callable[[], SourceServices]
    logged: Callable[[Job], Sequence[Line]]
    repeat: Callable[[Job], Job]
    stored: Callable[[], Sequence[StoredSource]]
    metrics: Metrics
    tokens: Sequence[Caller]
    identify: Callable[[str], object]
    version: str


@dataclass(frozen=True, slots=True)
class Visit:
    """One request for a page.

    Attributes:
        services: the server's.
        path: as it was asked for.
        parameters: the parts of the path.
        query: the first value of each member.
        request_id: for messages.
        form: the fields that were sent.
        address: of this server as the browser knows it, such as ``http://127.0.0.1:8000``.
        partial: whether a script asks for the part of the page that changes.
        current: the address of the page that such a script runs in.
        of_site: the title of the files that the page is one of; empty where a server answers.
    """

    services: Services
    path: str = "/"
    parameters: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    request_id: str = ""
    form: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    partial: bool = False
    current: str = ""
    of_site: str = ""

    @property
    def secure(self) -> bool:
        """Whether the browser came by HTTPS."""
        return self.address.startswith("https:")

    @property
    def caller(self) -> Caller:
        """Who asks."""
        return auth.caller()

    @property
    def may_write(self) -> bool:
        """Whether who asks may add and sync sources."""
        return auth.caller().may(auth.WRITE)

    @property
    def may_all(self) -> bool:
        """Whether who asks may delete sources."""
        return auth.caller().may(auth.ADMIN)

    def ask(self, tool: str, **arguments: Any) -> Answer:
        """Return a tool's answer.

        Args:
            tool: its name.
            arguments: those that are empty texts are left out.

        Raises:
            DocstowError: as the tool says; faults are logged and told by the request's id.
        """
        given = {name: value for name, value in arguments.items() if value != ""}
        found = self.services.toolbox.attempt(tool, given, self.request_id)
        if isinstance(found, DocstowError):
            raise found
        return found

    def read(self, tool: str, **arguments: Any) -> Mapping[str, Any]:
        """Return a tool's structured answer; see :meth:`ask`."""
        return self.ask(tool, **arguments).structured or {}
