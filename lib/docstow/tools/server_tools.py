"""All tools of a server in one toolbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.tools import Toolbox, collections, crates, docs, packages, sources
from docstow.tools.metrics import Metrics

if TYPE_CHECKING:
    from docstow.ingest.collections import Collections
    from docstow.languages.projects import Projects
    from docstow.library import Library
    from docstow.store.snapshots import Snapshots
    from docstow.tools.sources import SourceServices

#: The toolsets of a client that selects none.
TOOLSETS = ("rust", "docs", "packages")


def make_toolbox(
    library: Library,
    services: SourceServices,
    pushed: Collections,
    projects: Projects,
    snapshots: Snapshots,
) -> Toolbox:
    """Make every tool that a server offers.

    Args:
        library: the crates and packages.
        services: the registered sources and their pages.
        pushed: the texts that clients push.
        projects: the projects whose packages may be looked into.
        snapshots: the published snapshots.
    """
    metrics = Metrics()
    tools = [
        *crates.tools(library),
        *docs.tools(services.prose),
        *packages.tools(projects, library, snapshots),
        *sources.tools(library, services),
        *collections.tools(pushed, services, metrics),
    ]
    return Toolbox(tools, default_toolsets=TOOLSETS, observe=metrics.observe)
