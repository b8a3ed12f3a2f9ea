"""All tools of a server in one toolbox.

Their modules are imported when one of their tools is first wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from docstow.core.records import dataclass
from docstow.tools import Answer, Metrics, Tool, Toolbox, ToolGroup

if TYPE_CHECKING:
    from docstow.core.threads import Background
    from docstow.ingest.pushed_texts import Collections
    from docstow.languages.projects import Projects
    from docstow.languages.shared.engines import Engines
    from docstow.library import Library
    from docstow.library.finding import PackageFinder
    from docstow.sources.advisories import Advisories
    from docstow.store.snapshots import Snapshots
    from docstow.tools.sources import SourceServices

#: The toolsets of a client that selects none.
TOOLSETS = ("rust", "docs", "packages", "connectors")


@dataclass(frozen=True, slots=True)
class ToolMakers:
    """What makes the tools; a method imports the module of those that it makes.

    Attributes:
        library: the crates and packages.
        open_services: gives the registered sources and their pages.
        open_pushed: gives the texts that clients push.
        projects: the projects whose packages may be looked into.
        snapshots: the published snapshots.
        advisories: those that the operator has, if any.
        open_engines: opens the type checkers that are installed.
        open_finder: opens what finds packages by purpose.
        background: where something is made ready between calls.
        dropping: drop third-party text that speaks to an assistant, instead of marking it.
        metrics: counts the calls.
    """

    library: Library
    open_services: Callable[[], SourceServices]
    open_pushed: Callable[[], Collections]
    projects: Projects
    snapshots: Snapshots
    advisories: Advisories | None
    open_engines: Callable[[], Engines]
    open_finder: Callable[[], PackageFinder]
    background: Background
    dropping: bool = False
    metrics: Metrics = field(default_factory=Metrics)

    def toolbox(self, apart: Callable[[str, Mapping[str, Any]], Answer] | None = None) -> Toolbox:
        """Make a toolbox of every tool that a server offers, in the order in which they are listed.

        Args:
            apart: runs tools that read foreign code elsewhere; None where they run here.
        """
        groups = [
            ToolGroup("rust", ["get_package_summary", "get_crate_summary"], self._summary),
            ToolGroup("rust", ["find_packages"], self._finding),
            ToolGroup("rust", ["search_items"], self._item_search),
            ToolGroup("rust", ["get_item_doc"], self._item),
            ToolGroup("rust", ["list_versions"], self._versions),
            ToolGroup("rust", ["get_module_tree"], self._modules),
            ToolGroup("rust", ["search_examples"], self._example_search),
            ToolGroup("rust", ["get_dependencies"], self._dependencies),
            ToolGroup("rust", ["find_implementations"], self._implementations),
            ToolGroup("rust", ["diff_versions"], self._differences),
            ToolGroup("docs", ["search_docs", "get_doc", "get_chunk"], self._pages),
            ToolGroup("docs", ["ask"], self._asking),
            ToolGroup("packages", ["scan_packages"], self._scan),
            ToolGroup("packages", ["read_package"], self._reading),
            ToolGroup("packages", ["verify_code"], self._check),
            ToolGroup("connectors", ["search", "fetch"], self._connectors),
            ToolGroup(
                "sources",
                [
                    *("create_source", "list_sources", "delete_source"),
                    *("start_sync", "get_sync_status", "list_snapshots"),
                ],
                self._sources,
            ),
            ToolGroup("sources", ["export_snapshot"], self._export),
            ToolGroup(
                "collections",
                [
                    *("push_document", "delete_document"),
                    *("create_collection", "list_collections", "get_metrics"),
                ],
                self._collections,
            ),
        ]
        return Toolbox(
            groups,
            default_toolsets=TOOLSETS,
            observe=self.metrics.observe,
            apart=apart,
            dropping=self.dropping,
        )

    def _summary(self) -> Sequence[Tool]:
        from docstow.tools import read_crate

        return [read_crate.get_package_summary(self.library, self.advisories)]

    def _finding(self) -> Sequence[Tool]:
        from docstow.tools import find_packages

        return [find_packages.tool(self.open_finder)]

    def _item_search(self) -> Sequence[Tool]:
        from docstow.tools import search_crates

        return [search_crates.search_items(self.library)]

    def _item(self) -> Sequence[Tool]:
        from docstow.tools import read_crate

        return [read_crate.get_item_doc(self.library)]

    def _versions(self) -> Sequence[Tool]:
        from docstow.tools import releases

        return [releases.list_versions(self.library)]

    def _modules(self) -> Sequence[Tool]:
        from docstow.tools import read_crate

        return [read_crate.get_module_tree(self.library)]

    def _example_search(self) -> Sequence[Tool]:
        from docstow.tools import search_crates

        return [search_crates.search_examples(self.library)]

    def _dependencies(self) -> Sequence[Tool]:
        from docstow.tools import releases

        return [releases.get_dependencies(self.library, self.advisories)]

    def _implementations(self) -> Sequence[Tool]:
        from docstow.tools import read_crate

        return [read_crate.find_implementations(self.library)]

    def _differences(self) -> Sequence[Tool]:
        from docstow.tools import diff_versions

        return [diff_versions.tool(self.library)]

    def _pages(self) -> Sequence[Tool]:
        from docstow.tools import docs

        return docs.tools(self.open_services().prose, self.library)

    def _asking(self) -> Sequence[Tool]:
        from docstow.tools import ask

        return [ask.tool(self.library, self.open_services().prose, self.projects)]

    def _scan(self) -> Sequence[Tool]:
        from docstow.tools import scan_packages

        return [scan_packages.tool(self.projects)]

    def _reading(self) -> Sequence[Tool]:
        from docstow.tools import read_package

        return [read_package.tool(self.projects, self.library)]

    def _check(self) -> Sequence[Tool]:
        from docstow.tools import verify_code

        return [
            verify_code.tool(
                self.library,
                self.snapshots,
                self.projects,
                self.advisories,
                self.open_engines(),
                self.background,
            )
        ]

    def _connectors(self) -> Sequence[Tool]:
        from docstow.tools import connectors

        ask, read_item = self._asking()[0], self._item()[0]
        return connectors.tools(self.library, self.open_services().prose, ask, read_item)

    def _sources(self) -> Sequence[Tool]:
        from docstow.tools import sources

        return sources.tools(self.open_services())

    def _export(self) -> Sequence[Tool]:
        from docstow.tools import export

        services = self.open_services()
        return [export.tool(self.library, services.prose, services.registry)]

    def _collections(self) -> Sequence[Tool]:
        from docstow.tools import collections

        return collections.tools(self.open_pushed(), self.open_services(), self.metrics)
