"""Manuals as Debian 12 publishes them: which, and how they come to this machine."""

from __future__ import annotations

import hashlib
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
    """A manual in a Debian package for all architectures.

    Attributes:
        name: of the row in the report.
        package: its name in Debian.
        version: of the package.
        digest: SHA-256 of the package in hex.
        folder: of the pages, below ``usr/share/doc``.
        start: the page that a crawl begins with.
    """

    name: str
    package: str
    version: str
    digest: str
    folder: str
    start: str = "index.html"

    def pages(self) -> Path:
        """Return the folder of the pages, unpacked from the package, which is fetched if need be.

        Raises:
            Unavailable: this machine has no ``apt-get``, or the archive has not this version.
        """
        place = CACHE / self.digest[:16]
        if not place.is_dir():
            CACHE.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
                self._unpack(self._fetch(), Path(scratch))
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

    def _fetch(self) -> Path:
        wanted = f"{self.package}={self.version}"
        folder = CACHE / "packages"
        folder.mkdir(exist_ok=True)
        if not (found := self._package_in(folder)):
            # Run as root, apt hands the download to a user who may not write here; that is a note.
            _run("apt-get", "download", "-q", wanted, cwd=folder)
            found = self._package_in(folder)
        if not found:
            raise Unavailable(
                f"the archive gives another {wanted} than the pinned one; look at the versions"
                f" with `apt-cache policy {self.package}` and change {Path(__file__).name}"
            )
        return found

    def _package_in(self, folder: Path) -> Path | None:
        return next(
            (
                file
                for file in folder.glob(f"{self.package}_*.deb")
                if hashlib.sha256(file.read_bytes()).hexdigest() == self.digest
            ),
            None,
        )


def _run(*command: str, cwd: Path | None = None) -> None:
    if shutil.which(command[0]) is None:
        raise Unavailable(f"{command[0]} is not installed; the manuals are Debian packages")
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=280, check=False
    )
    if done.returncode:
        raise Unavailable(f"`{' '.join(command)}` failed: {done.stderr.strip()[-500:]}")


MANUALS = (
    Manual(
        "PostgreSQL",
        "postgresql-doc-15",
        "15.20-0+deb12u1",
        "4c44bf2c599f208b3f46454a6cf7a72e25ec46ff74d37b59dd31ad76b00eebb7",
        "postgresql-doc-15/html",
    ),
    Manual(
        "Git",
        "git-doc",
        "1:2.39.5-0+deb12u3",
        "3c89668a11053a6bafade3de1f611f4613db31e082af63f43d8c5b69ad8795ec",
        "git-doc",
        start="git.html",
    ),
    Manual(
        "SQLite",
        "sqlite3-doc",
        "3.40.1-2+deb12u2",
        "466e30d7066e2641fa13e56bc662a2ad521b8cc9c17dde9c9dac3d4f105e32f2",
        "sqlite3",
    ),
    Manual(
        "Python",
        "python3.11-doc",
        "3.11.2-6+deb12u9",
        "5b3594189d6ef9a6963ce0347fd307a1cc67620ad697e144db366070e2e146be",
        "python3.11/html",
    ),
    Manual(
        "Node.js",
        "nodejs-doc",
        "18.20.4+dfsg-1~deb12u3",
        "d2fbd4f3aecccea9d901a03842ef8380379e0d33010a48af5e797ed68ae874ce",
        "nodejs/api",
    ),
    Manual(
        "Rust book",
        "rust-doc",
        "1.63.0+dfsg1-2",
        "96ef96fe6df87d939ca713bd7df3d15c2b778ccb892eca025c4ee504146f697b",
        "rust-doc/html/book",
    ),
)
