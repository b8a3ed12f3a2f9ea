"""The tool ``verify_code``: its record; what runs is imported by its first call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from docstow import languages
from docstow.core import auth
from docstow.tools import COUNT, TEXT, Answer, Tool, list_schema, paged, result_schema
from docstow.tools.parameters import CURSOR, LOCKFILE, TARGET, Parameter

if TYPE_CHECKING:
    from docstow.core.threads import Background
    from docstow.languages.projects import Projects
    from docstow.languages.shared.engines import Engines
    from docstow.library import Library
    from docstow.sources.advisories import Advisories
    from docstow.store.snapshots import Snapshots

_LONGEST = 200_000
_PER_PAGE = 50


def tool(
    library: Library,
    snapshots: Snapshots,
    projects: Projects | None,
    advisories: Advisories | None = None,
    engines: Engines | None = None,
    background: Background | None = None,
) -> Tool:
    """Make the tool.

    Args:
        library: where crates are found and stowed.
        snapshots: what is stowed already.
        projects: the projects that may be looked into; None where there are none.
        advisories: those that the operator has, if any.
        engines: type checkers that judge what our reader leaves open, if there are any.
        background: where what compares names is made ready after the first answer; without it
            the first wrong name waits for that.
    """
    finding = result_schema(
        {"line": COUNT, "name": TEXT, "status": TEXT},
        column=COUNT,
        message=TEXT,
        suggestions={"type": "array", "items": TEXT},
        package=TEXT,
        version=TEXT,
        patch=TEXT,
    )
    return Tool(
        name="verify_code",
        toolset="packages",
        slow=True,
        foreign=True,
        title="Verify code",
        description=(
            "Checks code before you hand it over: is each import, path, method and argument there "
            "in the project's versions? Nearest names for what does not. Takes an error message "
            "too. Versions: root's environment, lockfile text, or versions {name: version}. "
            'Example: {"code": "use tokio::spwan;", "language": "rust", "versions": '
            '{"tokio": "1"}}.'
        ),
        parameters=(
            Parameter("code", "string", "All of it", required=True, max_length=_LONGEST),
            Parameter("language", "string", "Of the code", default="", choices=languages.names()),
            Parameter("root", "string", "Project", default="", max_length=1000),
            LOCKFILE,
            Parameter("versions", "object", "By package"),
            TARGET,
            Parameter("all", "boolean", "List what is right too", default=False, rare=True),
            CURSOR,
        ),
        run=_Checks(library, snapshots, projects, advisories, engines, background).run,
        output_schema=list_schema(
            finding,
            language=TEXT,
            counts={"type": "object"},
            packages={"type": "object"},
            features={"type": "object"},
        ),
    )


class _Checks:
    """The checks of code; of the last one the further pages are kept, and not judged again."""

    def __init__(
        self,
        library: Library,
        snapshots: Snapshots,
        projects: Projects | None,
        advisories: Advisories | None,
        engines: Engines | None,
        background: Background | None,
    ) -> None:
        self._background = background
        self._services = library, snapshots, projects, advisories, engines
        self._last: tuple[object, dict[str, Any]] | None = None

    def run(self, arguments: Mapping[str, Any]) -> Answer:
        """Answer one page."""
        asked = json.dumps({**arguments, "cursor": ""}, sort_keys=True)
        key, last = (auth.caller().bound, asked), self._last
        if arguments["cursor"] and last is not None and last[0] == key:
            whole = last[1]
        else:
            from docstow.tools.check_code import verify

            whole = verify(*self._services, arguments)
            if self._background is not None:
                from docstow.languages.shared import findings

                self._background.soon("names", findings.prepare)
                self._background = None
        page = paged(whole["results"], arguments["cursor"], arguments["code"], _PER_PAGE)
        self._last = (key, whole) if page["cursor"] else None
        return Answer({**whole, **page})
