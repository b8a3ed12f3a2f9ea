"""All tools of a server in one toolbox."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from docstow.tools import (
    Answer,
    Metrics,
    Toolbox,
    ask,
    collections,
    connectors,
    diff_versions,
    docs,
    export,
    find_packages,
    read_crate,
    read_package,
    releases,
    scan_packages,
    search_crates,
    sources,
    verify_code,
)

if TYPE_CHECKING:
    from docstow.ingest.pushed_texts import Collections
    from docstow.languages.projects import Projects
    from docstow.library import Library
    from docstow.library.finding import PackageFinder
    from docstow.sources.advisories import Advisories
    from docstow.store.snapshots import Snapshots
    from docstow.tools.sources import SourceServices

#: The toolsets of a client that selects none.
TOOLSETS = ("rust", "docs", "packages", connectors.TOOLSET)


def make_toolbox(
    library: Library,
    services: SourceServices,
    pushed: Collections,
    projects: Projects,
    snapshots: Snapshots,
    advisories: Advisories | None,
    open_finder: Callable[[], PackageFinder],
    apart: Callable[[str, Mapping[str, Any]], Answer] | None = None,
) -> Toolbox:
    """Make every tool that a server offers, in the order in which they are listed.

    Args:
        library: the crates and packages.
        services: the registered sources and their pages.
        pushed: the texts that clients push.
        projects: the projects whose packages may be looked into.
        snapshots: the published snapshots.
        advisories: those that the operator has, if any.
        open_finder: opens what finds packages by purpose.
        apart: runs tools that read foreign code elsewhere; None where they run here.
    """
    metrics = Metrics()
    read_item = read_crate.get_item_doc(library)
    asking = ask.tool(library, services.prose, projects)
    tools = [
        read_crate.get_package_summary(library, advisories),
        find_packages.tool(open_finder),
        search_crates.search_items(library),
        read_item,
        releases.list_versions(library),
        read_crate.get_module_tree(library),
        search_crates.search_examples(library),
        releases.get_dependencies(library, advisories),
        read_crate.find_implementations(library),
        diff_versions.tool(library),
        *docs.tools(services.prose, library),
        asking,
        scan_packages.tool(projects),
        read_package.tool(projects, library),
        verify_code.tool(library, snapshots, projects, advisories),
        *connectors.tools(library, services.prose, asking, read_item),
        *sources.tools(services),
        export.tool(library, services.prose, services.registry),
        *collections.tools(pushed, services, metrics),
    ]
    return Toolbox(tools, default_toolsets=TOOLSETS, observe=metrics.observe, apart=apart)
