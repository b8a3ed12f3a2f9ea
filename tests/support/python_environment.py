"""Real virtual environments with what lists of packages name, and their surfaces."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.project import Package

WANTED = Path(__file__).with_name("python-packages.txt")
#: Packages of other forms: native code that has to be had, a namespace, stubs alone.
MORE = Path(__file__).with_name("more-python-packages.txt")


def install(root: Path, wanted: Path = WANTED) -> str:
    """Make ``root/.venv`` and fill it; why it could not be done, or nothing."""
    venv.create(root / ".venv", with_pip=False)
    python = root / ".venv" / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps"]
    command += ["--no-compile", "--only-binary", ":all:", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, "-r", str(wanted)], capture_output=True, text=True, timeout=280, check=False
    )
    return done.stderr[-500:] if done.returncode else ""


def site_packages(root: Path) -> Path:
    """Where the environment's packages are."""
    return next((root / ".venv" / "lib").glob("python3.*")) / "site-packages"


class Surfaces:
    """The surface of each import name of a folder, each other's siblings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._boundary = Boundary(folder)
        self._made: dict[str, PythonSurface | None] = {}

    def __call__(self, name: str) -> PythonSurface | None:
        if name not in self._made:
            self._made[name] = self._open(name)
        return self._made[name]

    def of(self, path: str) -> PythonSurface:
        surface = self(path.split(".")[0])
        assert surface is not None, path
        return surface

    def _open(self, name: str) -> PythonSurface | None:
        package = Package(
            ecosystem="python",
            name=name,
            version="1",
            location=name,
            import_names=(name,),
            direct=True,
            language="python",
            summary="",
            installed=True,
            editable=False,
            files_root=self.folder,
        )
        surface = PythonSurface(package, self._boundary, self)
        return surface if surface.files.module(name) else None
