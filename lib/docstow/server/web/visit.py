"""What a page has at hand: the server's services, and what one request asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from docstow.core.errors import DocstowError

if TYPE_CHECKING:
    from docstow.index.catalog import Catalog
    from docstow.library import Library
    from docstow.library.prose import Prose
    from docstow.tools import Answer, Toolbox


@dataclass(frozen=True, slots=True)
class Services:
    """What pages show.

    Attributes:
        toolbox: the tools, by which everything is asked that has one.
        library: the crates and packages.
        open_prose: opens the pages of sources.
        open_catalog: opens the list of what is stowed.
        version: of this server.
    """

    toolbox: Toolbox
    library: Library
    open_prose: Callable[[], Prose]
    open_catalog: Callable[[], Catalog]
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
        partial: whether a script asks for the part of the page that changes.
    """

    services: Services
    path: str = "/"
    parameters: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    request_id: str = ""
    partial: bool = False

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
