"""A scan that would find the same is not made again; one that would not is, whatever changed."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from docstow.languages.projects import Projects
from docstow.languages.projects import scan as scanning
from docstow.languages.shared.project import Scan
from settled import settle


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project of two distributions, an editable one and three Node packages, written long ago."""
    root = tmp_path / "shop"
    site = root / ".venv" / "lib" / "python3.12" / "site-packages"
    for name in ("one", "two"):
        distribution(site, name, "1.0")
    (root / ".venv" / "pyvenv.cfg").write_text("version = 3.12.1\n", "utf-8")
    (root / "pyproject.toml").write_text('[project]\nname = "shop"\ndependencies = ["one"]\n')
    checkout = root / "checkout"
    (checkout / "mine").mkdir(parents=True)
    (checkout / "mine" / "__init__.py").touch()
    distribution(site, "mine", "0.1", "__editable__.mine.pth,,\nmine-0.1.dist-info/METADATA,,\n")
    (site / "__editable__.mine.pth").write_text(f"{checkout}\n", "utf-8")
    for name in ("left", "right", "left/node_modules/inner"):
        module(root / "node_modules" / name, name.rpartition("/")[2], "1.0.0")
    (root / "package.json").write_text('{"dependencies": {"left": "1"}}', "utf-8")
    settle(root)
    return root


def distribution(site: Path, name: str, version: str, record: str = "") -> None:
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n", "utf-8")
    (info / "RECORD").write_text(record or f"{name}/__init__.py,,\n", "utf-8")


def module(folder: Path, name: str, version: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    written = json.dumps({"name": name, "version": version})
    (folder / "package.json").write_text(written, "utf-8")


def versions(found: Scan) -> dict[str, str]:
    return {each.name: each.version for each in found.packages}


def upgraded(root: Path) -> None:
    site = root / ".venv" / "lib" / "python3.12" / "site-packages"
    (site / "one-1.0.dist-info").rename(site / "one-1.1.dist-info")
    (site / "one-1.1.dist-info" / "METADATA").write_text("Name: one\nVersion: 1.1\n", "utf-8")


def environment(root: Path) -> None:
    venv = root / "below" / "venv"
    distribution(venv / "lib" / "python3.12" / "site-packages", "three", "1.0")
    (venv / "pyvenv.cfg").touch()


CHANGES: dict[str, Callable[[Path], object]] = {
    "a distribution is upgraded": upgraded,
    "a distribution goes": lambda root: shutil.rmtree(
        root / ".venv" / "lib" / "python3.12" / "site-packages" / "two-1.0.dist-info"
    ),
    "a package is upgraded": lambda root: module(root / "node_modules" / "left", "left", "1.0.1"),
    "a package comes": lambda root: module(root / "node_modules" / "@a" / "new", "@a/new", "2.0.0"),
    "a nested package comes": lambda root: module(
        root / "node_modules" / "right" / "node_modules" / "deep", "deep", "3.0.0"
    ),
    "a nested package goes": lambda root: shutil.rmtree(
        root / "node_modules" / "left" / "node_modules" / "inner"
    ),
    "a checkout has a module more": lambda root: (root / "checkout" / "more.py").touch(),
    "the project asks for another": lambda root: (root / "package.json").write_text(
        '{"dependencies": {"right": "1"}}', "utf-8"
    ),
    "an environment comes": environment,
    "the environment goes": lambda root: shutil.rmtree(root / ".venv"),
    "a folder becomes node_modules": lambda root: module(
        root / "checkout" / "node_modules" / "x", "x", "1.0.0"
    ),
}


def test_what_is_the_same_is_not_scanned_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects = Projects([root], tmp_path / "cache", local=True)
    first = projects.scan()[1]
    monkeypatch.setattr(scanning, "scan", None)
    assert projects.scan()[1] is first
    assert sorted(versions(first)) == ["inner", "left", "mine", "one", "right", "two"]


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_is_found(root: Path, tmp_path: Path, change: str) -> None:
    projects = Projects([root], tmp_path / "cache", local=True)
    first = projects.scan()[1]
    CHANGES[change](root)
    second = projects.scan()[1]
    fresh = Projects([root], tmp_path / "other", local=True).scan()[1]
    assert second.environments == fresh.environments
    assert second.environments != first.environments


def test_what_has_just_changed_is_looked_at_again(root: Path, tmp_path: Path) -> None:
    """Within a tick of the clock a second change leaves the same times."""
    projects = Projects([root], tmp_path / "cache", local=True)
    manifest = root / "node_modules" / "left" / "package.json"
    now = time.time()
    os.utime(manifest, (now, now))
    assert projects.scan()[1] is not projects.scan()[1]


def test_what_changes_while_it_is_read_is_read_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file may change twice within a tick of the clock, and stay as long as it was."""
    projects = Projects([root], tmp_path / "cache", local=True)
    manifest = root / "node_modules" / "left" / "package.json"
    module(manifest.parent, "left", "1.0.1")
    before = manifest.stat()
    assert versions(projects.scan()[1])["left"] == "1.0.1"
    module(manifest.parent, "left", "1.0.2")
    os.utime(manifest, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert versions(projects.scan()[1])["left"] == "1.0.2"


def test_a_link_that_is_led_elsewhere_always_leads_to_a_package(root: Path, tmp_path: Path) -> None:
    """Stores of links hold each version in a folder of its own; the former one then goes."""
    projects = Projects([root], tmp_path / "cache", local=True)
    store = root / "node_modules" / ".pnpm"
    link, scratch = root / "node_modules" / "linked", root / "node_modules" / ".scratch"

    def install(number: int) -> Path:
        folder = store / f"linked@1.0.{number}" / "node_modules" / "linked"
        module(folder, "linked", f"1.0.{number}")
        scratch.symlink_to(folder)
        scratch.replace(link)
        return folder

    def ask(_: int) -> list[str]:
        return [versions(projects.scan()[1]).get("linked", "none") for _ in range(10)]

    former = install(0)
    with ThreadPoolExecutor(4) as pool:
        asked = pool.map(ask, range(4))
        for number in range(1, 20):
            latter = install(number)
            shutil.rmtree(former.parents[1])
            former = latter
        assert "none" not in set().union(*asked)
    assert versions(projects.scan()[1])["linked"] == "1.0.19"


def test_many_ask_at_once_while_packages_change(root: Path, tmp_path: Path) -> None:
    projects = Projects([root], tmp_path / "cache", local=True)

    def ask(_: int) -> set[str]:
        found = [versions(projects.scan()[1]) for _ in range(10)]
        assert {each["right"] for each in found} == {"1.0.0"}
        return {each["left"] for each in found}

    with ThreadPoolExecutor(20) as pool:
        asked = pool.map(ask, range(20))
        for number in range(30):
            scratch = root / "node_modules" / "left" / ".package.json"
            scratch.write_text(json.dumps({"name": "left", "version": f"1.0.{number}"}), "utf-8")
            scratch.replace(root / "node_modules" / "left" / "package.json")
        seen = set().union(*asked)
    assert seen <= {f"1.0.{number}" for number in range(30)}
    assert versions(projects.scan()[1])["left"] == "1.0.29"
