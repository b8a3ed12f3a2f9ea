"""The toolset ``packages``: what an agent asks about a project's packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.tools.read_package import read_package_tool
from docstow.tools.scan_packages import scan_packages_tool
from docstow.tools.verify_code import verify_code_tool

if TYPE_CHECKING:
    from docstow.languages.projects import Projects
    from docstow.library import Library
    from docstow.store.snapshots import Snapshots
    from docstow.tools import Tool


def tools(projects: Projects, library: Library, snapshots: Snapshots) -> list[Tool]:
    """Make the tools for the projects that may be looked into and for what is stowed."""
    return [
        scan_packages_tool(projects),
        read_package_tool(projects),
        verify_code_tool(library, snapshots, lambda: projects),
    ]
