"""A package of an environment, as found there or in a lock file.

This room knows what a package is. It does not know how packages are found or read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Ecosystem = Literal["python", "node", "rust", "go"]


@dataclass(frozen=True, slots=True)
class Package:
    """One package in one version.

    Attributes:
        ecosystem: whose package it is.
        name: as its registry spells it: ``pillow``, ``@types/node``.
        version: exact; empty where nothing says it.
        location: the folder of its files relative to the project's root; absolute where the
            environment is elsewhere, empty where it is only locked.
        import_names: what a program imports: ``PIL``; of Node the package's own name.
        direct: whether the project itself asks for it.
        language: ``python``, ``typescript``, ``javascript``, ``rust`` or ``go``.
        summary: what it says of itself in one line.
        installed: whether its files are here.
        editable: whether they are a checkout, installed by reference.
        problem: why it cannot be read, if so.
        files_root: of Python the folder in which the import names are found (``site-packages``,
            the ``src`` of an editable one); of others the package's own folder. Absolute.
        info_root: the ``.dist-info`` folder of a Python distribution. Absolute.
    """

    ecosystem: Ecosystem
    name: str
    version: str
    location: str
    import_names: tuple[str, ...]
    direct: bool
    language: str
    summary: str
    installed: bool
    editable: bool
    problem: str = ""
    files_root: Path | None = field(default=None, repr=False)
    info_root: Path | None = field(default=None, repr=False)
