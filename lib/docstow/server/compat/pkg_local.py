"""The forms of pkg-local, which shows a project's installed packages.

They are those of https://github.com/descoped/mcp-pkg-local as its specification states them; the
names of its later releases (``packageName``) are understood too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from docstow import languages
from docstow.core.errors import (
    DocumentNotFound,
    EnvironmentNotFound,
    PackageNotFound,
    UnreadableInput,
)
from docstow.server.compat import Form, Services, System
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.languages.projects.packages import ProjectPackages
    from docstow.languages.shared.project import Package

#: What is imported, and folders of stubs; nothing that leads elsewhere.
_IMPORTED = re.compile(r"\w+(?:[.-]\w+)*")
#: Paths in the file tree of one package.
_MOST_FILES = 2000
_SUGGESTIONS = {
    EnvironmentNotFound.code: "Install the project's dependencies: in a virtual environment made "
    "by 'python -m venv .venv', or by 'npm install'.",
    PackageNotFound.code: "Install it in the project and call scan-packages.",
    DocumentNotFound.code: "Call read-package without file_path for the files.",
}


def _describe_failure(body: Mapping[str, Any]) -> dict[str, Any]:
    near = [str(each["name"]) for each in body.get("suggestions", ()) if "name" in each]
    default = _SUGGESTIONS.get(body["error"], "Call scan-packages for what there is.")
    suggestion = f"Did you mean {', '.join(near[:3])}?" if near else default
    return {"success": False, "error": body["message"], "suggestion": suggestion}


def _scan(services: Services, arguments: Mapping[str, Any]) -> dict[str, Any]:
    _, scan = services.projects.scan()
    wanted = [
        (environment, package)
        for environment in scan.environments
        if (language := languages.of_ecosystem(environment.ecosystem)) and language.packaged
        for package in environment.packages
        if package.installed and (package.direct or arguments["scope"] == "all")
    ]
    if not wanted:
        raise EnvironmentNotFound("No Python or Node package is installed in this project.")
    packages: dict[str, dict[str, str]] = {}
    for _, package in wanted:
        # Of several the first is the one that the project's own code gets.
        found = {"version": package.version, "location": _location(package)}
        packages.setdefault(package.name, found)
    first = wanted[0][0]
    program, _, number = first.detail.partition(" ")
    detail = {"python_version": number} if program == "Python" else {"package_manager": program}
    return {
        "success": True,
        "packages": packages,
        "environment": {"type": first.kind, "path": first.location, **(detail if program else {})},
        "scan_time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _location(package: Package) -> str:
    """Return where a package's own files are, relative to the project's root.

    Of a Python package ours is the folder that all of an environment share.
    """
    if package.info_root is None or package.files_root is None:
        return package.location
    for name in package.import_names:
        path = name.replace(".", "/")
        for own in (path, f"{path}.py", f"{path}.pyi"):
            if _IMPORTED.fullmatch(name) and (package.files_root / own).exists():
                return f"{package.location}/{own}"
    return package.location


def _read(services: Services, arguments: Mapping[str, Any]) -> dict[str, Any]:
    from docstow.languages.projects.packages import ProjectPackages, list_files

    opened = ProjectPackages(services.projects.scan()[1])
    package = opened.package(arguments["package_name"].strip())
    if path := arguments["file_path"].strip():
        shown, content = _read_file(opened, package, path)
        named = {"package": package.name, "file_path": shown}
        return {"success": True, **named, "content": content}
    files = list_files(package, opened.boundary(package))
    folders = [each.replace(".", "/") for each in package.import_names]
    entries = [f"{each}/__init__{end}" for each in folders for end in (".py", ".pyi")]
    entries += [f"{each}{end}" for each in folders for end in (".py", ".pyi")] + ["package.json"]
    entry = next((each for each in entries if each in set(files)), "")
    more = {"file_count": len(files), "truncated": True} if len(files) > _MOST_FILES else {}
    return {
        "success": True,
        "package": package.name,
        "version": package.version,
        "init_content": _read_file(opened, package, entry)[1] if entry else "",
        "file_tree": files[:_MOST_FILES],
        **more,
    }


def _read_file(opened: ProjectPackages, package: Package, path: str) -> tuple[str, str]:
    """Return path and text of a file, which may also be named from below what is imported."""
    try:
        shown, body = opened.file(package, path)
    except (DocumentNotFound, UnreadableInput):
        for folder in package.import_names:
            with suppress(DocumentNotFound, UnreadableInput):
                shown, body = opened.file(package, f"{folder.replace('.', '/')}/{path}")
                break
        else:
            raise
    return shown, body.decode(errors="replace")


PKG_LOCAL = System(
    "pkg-local",
    "The installed packages of a project: scan-packages lists them with versions, read-package "
    "reads the files of one, running nothing.",
    (
        Form(
            "scan-packages",
            "scan_packages",
            "Scan all packages that are installed in the project.",
            (
                Parameter(
                    "scope",
                    "string",
                    "All, or what the project asks for itself",
                    default="all",
                    choices=("all", "project"),
                ),
                Parameter(
                    "forceRefresh",
                    "boolean",
                    "What has changed is always read again",
                    aliases=("force_refresh",),
                ),
            ),
            _scan,
        ),
        Form(
            "read-package",
            "read_package",
            "Read source files of an installed package: its file tree, or one file.",
            (
                Parameter(
                    "package_name",
                    "string",
                    required=True,
                    max_length=214,
                    aliases=("packageName",),
                ),
                Parameter(
                    "file_path", "string", default="", max_length=1000, aliases=("filePath",)
                ),
            ),
            _read,
        ),
    ),
    describe_error=_describe_failure,
)
