"""Manifests of installed packages are kept between calls, and are still those of the disk."""

from __future__ import annotations

import json
from pathlib import Path

from docstow.languages.shared.boundary import Boundary
from docstow.languages.typescript.files import PackageFiles


def version(root: Path) -> object:
    """What a call reads that begins now."""
    folder = PackageFiles(Boundary(root)).folder(root / "node_modules" / "hold")
    return folder and folder.manifest.get("version")


def test_a_manifest_is_read_again_where_it_has_changed(tmp_path: Path) -> None:
    project = tmp_path / "project"
    package = project / "node_modules" / "hold"
    package.mkdir(parents=True)
    manifest = package / "package.json"
    assert version(project) is None
    manifest.write_text(json.dumps({"name": "hold", "version": "1.0.0"}))
    assert [version(project), version(project)] == ["1.0.0", "1.0.0"]
    manifest.write_text(json.dumps({"name": "hold", "version": "1.0.10"}))
    assert version(project) == "1.0.10"
    # What lies elsewhere is not read, whatever stood here before.
    outside = tmp_path / "package.json"
    manifest.rename(outside)
    assert version(project) is None
    manifest.symlink_to(outside)
    assert version(project) is None
