"""The forms of earlier documentation servers, for clients and scripts that were written for them.

A system is a table of forms: what its tools are called, what they take and answer, and which of
our tools does the work. Its MCP endpoint and its plain routes are below ``/compat/NAME``. There is
a module beside this one for each system.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import DocstowError
from docstow.server.mcp import Protocol
from docstow.server.rest import ToolRoute
from docstow.tools import Answer, Tool, Toolbox
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.languages.projects import Projects
    from docstow.library.prose import Prose
    from docstow.sources.registry import Registry

#: Below it each system has a root of its own.
ROOT = "/compat"


@dataclass(slots=True)
class Tally:
    """What was pushed through this process since it began."""

    documents: int = 0
    chunks: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class Services:
    """What forms are served from.

    Attributes:
        toolbox: our tools, which do the work and check who may have it done.
        prose: the pages, for answers that hold a whole one.
        registry: the registered sources.
        projects: the projects whose packages may be looked into.
        dimensions: returns the length of the model's vectors.
    """

    toolbox: Toolbox
    prose: Prose
    registry: Registry
    projects: Projects
    dimensions: Callable[[], int]
    tally: Tally = field(default_factory=Tally)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call one of our tools that has a structured answer; None is what was left out."""
        given = {name: value for name, value in arguments.items() if value is not None}
        return self.toolbox.call(tool, given).structured or {}

    def rows(self, tool: str, arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Yield the results of one of our tools, of all pages."""
        cursor: str | None = ""
        while cursor is not None:
            page = self.call(tool, {**arguments, "cursor": cursor})
            yield from page["results"]
            cursor = page["cursor"]


@dataclass(frozen=True, slots=True)
class Form:
    """A tool of an earlier system.

    Attributes:
        name: the system's.
        ours: our tool of that purpose, whose scope and hints it has.
        description: for models.
        parameters: as the system spells them.
        run: answers as the system does: an object, or a text.
        text: whether the answer is a text.
    """

    name: str
    ours: str
    description: str
    parameters: tuple[Parameter, ...]
    run: Callable[[Services, Mapping[str, Any]], Mapping[str, Any] | str]
    text: bool = False


@dataclass(frozen=True, slots=True)
class System:
    """An earlier system.

    Attributes:
        name: of the setting, and of its root.
        instructions: how to use it, for models.
        forms: its tools.
        routes: its plain routes; the tools are the forms.
        health: the path of a route that says only that the server is there; empty for none.
        describe_error: makes the body of an error from ours; None where it is ours.
    """

    name: str
    instructions: str
    forms: tuple[Form, ...]
    routes: tuple[ToolRoute, ...] = ()
    health: str = ""
    describe_error: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict

    @property
    def root(self) -> str:
        """The path below which it is served."""
        return f"{ROOT}/{self.name}"

    def protocol(self, services: Services, version: str) -> Protocol:
        """Return MCP over its tools.

        Args:
            services: what they are served from.
            version: ours.
        """
        tools = [self._tool(form, services) for form in self.forms]
        return Protocol(
            f"docstow as {self.name}", version, self.instructions, Toolbox(tools), self._error_body
        )

    def _tool(self, form: Form, services: Services) -> Tool:
        return replace(
            services.toolbox.get(form.ours),
            name=form.name,
            toolset=self.name,
            description=form.description,
            parameters=form.parameters,
            run=partial(_run, form, services),
            output_schema=None if form.text else {"type": "object"},
        )

    def _error_body(self, error: DocstowError) -> Mapping[str, Any]:
        """Return an error's body, which names the system's tools in place of ours."""
        names = {form.ours: form.name for form in self.forms}
        known = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
        body = error.body()
        message = known.sub(lambda match: names[match[0]], body["message"])
        return self.describe_error({**body, "message": message})


def _run(form: Form, services: Services, arguments: Mapping[str, Any]) -> Answer:
    answer = form.run(services, arguments)
    return Answer(text=answer) if isinstance(answer, str) else Answer(answer)
