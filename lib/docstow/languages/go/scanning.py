"""How projects are scanned for Go modules, where Go keeps sources, and what code imports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from docstow.languages.shared.boundary import first_folder
from docstow.languages.shared.language import Texts
from docstow.languages.shared.project import Locked
from docstow.languages.shared.scanning import LockFile, PackageSources, Scanning

_REQUIRE = re.compile(r"\s*(?:require\s+)?([\w.~-]+(?:/[\w.~!+-]+)*)\s+(v[\w.+-]+)\s*(//.*)?$")
TEXTS = Texts(
    imports=re.compile(
        r"^[ \t]*(?:import\s+)?(?:[\w.]+\s+)?\"([\w.~-]+\.[\w]+/[^\"\s]+)\"", re.MULTILINE
    )
)


def find_cache(environ: Mapping[str, str], home: Path) -> list[Path]:
    """Return the folder in which Go keeps modules."""
    path = environ.get("GOPATH", "").split(":")[0]
    place = environ.get("GOMODCACHE") or Path(path or home / "go") / "pkg" / "mod"
    return [Path(place)] if Path(place).is_dir() else []


def find_module(name: str, version: str, caches: Sequence[Path]) -> Path | None:
    """Return where the sources of a module are: capitals are written with a mark of their own."""
    escaped = re.sub(r"[A-Z]", lambda found: f"!{found[0].lower()}", f"{name}@{version}")
    return first_folder(each / escaped for each in caches)


def read_go_mod(text: str) -> list[Locked]:
    """Read what a ``go.mod`` requires; what others brought in it marks itself."""
    return list(_required(text))


def read_go_sum(text: str) -> list[Locked]:
    """Read the modules of a ``go.sum`` whose content is used, of each the last that is named."""
    rows = (line.split() for line in text.splitlines())
    found = {row[0]: row[1] for row in rows if len(row) == 3 and not row[1].endswith("/go.mod")}
    return [Locked(name, version) for name, version in found.items()]


def _required(text: str) -> Iterator[Locked]:
    block = ""
    for line in text.splitlines():
        if opened := re.match(r"\s*(\w+)\s*\(\s*$", line):
            block = opened[1]
        elif line.strip() == ")":
            block = ""
        elif block == "require" or line.lstrip().startswith("require "):
            found = _REQUIRE.match(line)
            if found is not None:
                yield Locked(found[1], found[2], "indirect" not in (found[3] or ""))


SCANNING = Scanning(
    manifests=("go.mod",),
    # Older ``go.mod`` leave what others bring to the ``go.sum`` beside them.
    lock_files={"go.mod": LockFile("go", read_go_mod, beside=("go.sum", read_go_sum))},
    kept=PackageSources("go.mod", find_cache, find_module),
)
