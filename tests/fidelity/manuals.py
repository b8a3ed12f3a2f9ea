"""Manuals as Debian 12 publishes them: which, and how they come to this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from paths import REPOSITORY

#: Where packages and their files are kept between runs.
CACHE = Path(os.environ.get("DOCSTOW_TEST_MANUALS", REPOSITORY / ".cache" / "manuals"))


class Unavailable(Exception):
    """A manual cannot be had here; says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Manual:
    """A manual in a Debian package for all architectures, in the version that apt offers.

    Debian keeps the newest version of a package alone, so that none is pinned; apt checks what it
    downloads by the archive's signatures.

    Attributes:
        name: of the row in the report.
        package: its name in Debian.
        folder: of the pages, below ``usr/share/doc``.
        start: the page that a crawl begins with.
    """

    name: str
    package: str
    folder: str
    start: str = "index.html"

    def pages(self) -> Path:
        """Return the folder of the pages, unpacked from the package, which is fetched if need be.

        Raises:
            Unavailable: this machine has no ``apt-get``, or its archive has no such package.
        """
        place = CACHE / f"{self.package}_{_newest_version(self.package).replace(':', '%3a')}"
        if not place.is_dir():
            CACHE.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
                self._unpack(self._fetch(Path(scratch)), Path(scratch))
                Path(scratch, self._place).rename(place)
        return place

    @property
    def _place(self) -> str:
        return f"./usr/share/doc/{self.folder}"

    def _unpack(self, package: Path, folder: Path) -> None:
        """Unpack the pages alone: the package of the Rust book has 30,000 other files."""
        command = ["dpkg-deb", "--fsys-tarfile", str(package)]
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE) as unpacking,
            tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive,
        ):
            for member in archive:
                if member.isfile() and member.name.startswith(f"{self._place}/"):
                    archive.extract(member, folder, filter="data")

    def _fetch(self, folder: Path) -> Path:
        # Run as root, apt hands the download to a user who may not write here; that is a note.
        _run("apt-get", "download", "-q", self.package, cwd=folder)
        return next(folder.glob(f"{self.package}_*.deb"))


def _newest_version(package: str) -> str:
    fields = _run("apt-cache", "show", "--no-all-versions", package).splitlines()
    return next(line.split()[1] for line in fields if line.startswith("Version:"))


def _run(*command: str, cwd: Path | None = None) -> str:
    if shutil.which(command[0]) is None:
        raise Unavailable(f"{command[0]} is not installed; the manuals are Debian packages")
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=280, check=False
    )
    if done.returncode:
        raise Unavailable(f"`{' '.join(command)}` failed: {done.stderr.strip()[-500:]}")
    return done.stdout


MANUALS = (
    Manual("PostgreSQL", "postgresql-doc-15", "postgresql-doc-15/html"),
    Manual("Git", "git-doc", "git-doc", start="git.html"),
    Manual("SQLite", "sqlite3-doc", "sqlite3"),
    Manual("Python", "python3.11-doc", "python3.11/html"),
    Manual("Node.js", "nodejs-doc", "nodejs/api"),
    Manual("Rust book", "rust-doc", "rust-doc/html/book"),
)
