"""The toolset ``packages``: what an agent asks about a project's packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.tools import read_package, scan_packages, verify_code

if TYPE_CHECKING:
    from docstow.languages.projects import Projects
    from docstow.library import Library
    from docstow.store.snapshots import Snapshots
    from docstow.tools import Tool


def tools(projects: Projects, library: Library, snapshots: Snapshots) -> list[Tool]:
    """Make the tools for the projects that may be looked into and for what is stowed."""
    return [
        scan_packages.tool(projects),
        read_package.tool(projects),
        verify_code.tool(library, snapshots, lambda: projects),
    ]
