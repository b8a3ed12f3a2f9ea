"""The toolset ``packages``: a project's own packages, as installed or locked.

This room knows which tools there are. Each has a module of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.tools._tools_registry import Tool
from docstow.tools.read_package import read_package_tool
from docstow.tools.scan_packages import scan_packages_tool
from docstow.tools.verify_code import verify_code_tool

if TYPE_CHECKING:
    from docstow.languages.projects import Projects
    from docstow.library import Library
    from docstow.store.snapshots import Snapshots


def tools(projects: Projects, library: Library, snapshots: Snapshots) -> list[Tool]:
    """The tools, bound to the projects that may be looked into and to what is stowed."""
    return [
        scan_packages_tool(projects),
        read_package_tool(projects),
        verify_code_tool(library, snapshots, lambda: projects),
    ]
