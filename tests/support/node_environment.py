"""A project with real packages, installed once per session by npm, and one by pnpm."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.project import Package
from docstow.languages.typescript.surface import NodeProject, NodeSurface
from paths import SUPPORT
from require import unavailable
from settled import settle
from shared import shared

#: The packages, each pinned with its digest in the lock file beside.
NPM = SUPPORT / "npm"
PINNED: dict[str, str] = json.loads((NPM / "package.json").read_text("utf-8"))["dependencies"]
#: Packages of other forms: ES modules alone, declared by others, a scope, types alone.
NPM_MORE = SUPPORT / "npm-more"
#: pnpm itself, pinned likewise, and the lock file of the workspace that it installs.
PNPM = SUPPORT / "pnpm"
#: What checks pages for accessibility, pinned likewise.
AXE = SUPPORT / "axe"
SCRIPTS = Path(sysconfig.get_path("scripts"))


def _install(folder: Path, *command: str) -> None:
    if (folder / "installed").exists():
        return
    path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
    try:
        done = subprocess.run(
            [str(SCRIPTS / command[0]), *command[1:]],
            cwd=folder,
            env={**os.environ, "PATH": path, "npm_config_update_notifier": "false"},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        unavailable(f"{command[0]} cannot be run: {error}")
    if done.returncode:
        unavailable(f"{command[0]} reaches no registry: {done.stderr[-300:]}")
    (folder / "installed").touch()


def _installed(factory: pytest.TempPathFactory, wanted: Path) -> Path:
    with shared(factory, wanted.name) as folder:
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copyfile(wanted / name, folder / name)
        _install(folder, "npm", "ci")
        settle(folder)
    return folder


@pytest.fixture(scope="session")
def npm_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose packages npm has installed."""
    return _installed(tmp_path_factory, NPM)


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core."""
    folder = _installed(tmp_path_factory, AXE)
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


@pytest.fixture(scope="session")
def npm_more_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another one, of packages of other forms."""
    return _installed(tmp_path_factory, NPM_MORE)


@pytest.fixture(scope="session")
def pnpm_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose packages pnpm has linked: only what each asks for is in its sight."""
    with shared(tmp_path_factory, "pnpm") as folder:
        if not (folder / "installed").exists():
            tool = tmp_path_factory.mktemp("pnpm-itself")
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copyfile(PNPM / name, tool / name)
            _install(tool, "npm", "ci")
            _write_workspace(folder)
            shutil.copyfile(PNPM / "pnpm-lock.yaml", folder / "pnpm-lock.yaml")
            pnpm = tool / "node_modules" / "pnpm" / "bin" / "pnpm.cjs"
            _install(folder, "node", str(pnpm), "install", "--frozen-lockfile", "--ignore-scripts")
    return folder


def _write_workspace(folder: Path) -> None:
    files = {
        "package.json": {"name": "workspace", "private": True},
        "packages/shared/package.json": {
            "name": "@acme/shared",
            "version": "1.0.0",
            "types": "./index.d.ts",
            "dependencies": {"zod": PINNED["zod"]},
        },
        "packages/web/package.json": {
            "name": "@acme/web",
            "version": "1.0.0",
            "dependencies": {
                "@acme/shared": "workspace:*",
                "@tanstack/react-query": PINNED["@tanstack/react-query"],
                "react": PINNED["react"],
            },
            "devDependencies": {"@types/react": PINNED["@types/react"]},
        },
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    (folder / "pnpm-workspace.yaml").write_text("packages:\n  - packages/*\n")
    (folder / "packages/shared/index.d.ts").write_text(
        'import { z } from "zod";\n'
        "/** Says hello. */\n"
        "export declare function greet(name: string, loud?: boolean): string;\n"
        "export declare const Name: z.ZodString;\n"
    )


def surfaces(root: Path, modules: str = "node_modules") -> Callable[[str], NodeSurface | None]:
    """The surfaces of a project's packages, each made once."""
    made: dict[str, NodeSurface | None] = {}

    def surface(name: str) -> NodeSurface | None:
        if name not in made:
            folder = root / modules / name
            made[name] = None
            if folder.is_dir():
                made[name] = NodeSurface(package(name, folder, root), project)
        return made[name]

    project = NodeProject(Boundary(root), surface)
    return surface


def package(name: str, folder: Path, root: Path) -> Package:
    """A package as a scan finds it."""
    return Package(
        "node",
        name,
        "",
        folder.relative_to(root).as_posix(),
        (name,),
        direct=True,
        language="typescript",
        summary="",
        installed=True,
        editable=False,
        files_root=folder,
    )


@pytest.fixture(scope="session")
def npm(npm_root: Path) -> Callable[[str], NodeSurface]:
    """The surface of one of the packages that npm has installed."""
    found = surfaces(npm_root)

    def surface(name: str) -> NodeSurface:
        known = found(name)
        assert known is not None
        return known

    return surface
