"""Writes the bundle that MCP clients install by a click: ``infra/extension`` with the version.

Format: https://github.com/modelcontextprotocol/mcpb, manifest 0.4 of the type ``uv``: the client
installs the pinned package, so that one bundle serves every platform.
"""

from __future__ import annotations

import json
import sys
import tomllib
import zipfile
from pathlib import Path

_HERE = Path(__file__).parent
_PROJECT = """\
[project]
name = "docstow-extension"
version = "{version}"
requires-python = "{python}"
dependencies = ["docstow=={version}"]
"""


def write(into: Path) -> None:
    """Write the bundle to a file; the folder above it is made."""
    project = tomllib.loads((_HERE.parent / "pyproject.toml").read_text("utf-8"))["project"]
    manifest = json.loads((_HERE / "extension" / "manifest.json").read_text("utf-8"))
    manifest["version"] = project["version"]
    files = {
        "manifest.json": json.dumps(manifest, indent=2),
        "pyproject.toml": _PROJECT.format(
            version=project["version"], python=project["requires-python"]
        ),
        "server.py": (_HERE / "extension" / "server.py").read_text("utf-8"),
    }
    into.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, text in files.items():
            # One time for all, so that the same release has the same bytes.
            bundle.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
