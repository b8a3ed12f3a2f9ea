"""What a Python distribution says of itself, by the core metadata specifications.

https://packaging.python.org/specifications/core-metadata
"""

from __future__ import annotations

from packaging.metadata import parse_email

from docstow.core.errors import DocstowError
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.project import About, Package

_LARGEST_METADATA = 4 * 1024 * 1024
#: Longer ones are the licence itself, in characters.
_LONGEST_LICENCE = 100


def read_about(metadata: bytes) -> About:
    """Return what metadata say of a package.

    A licence is the expression of PEP 639, else the short name in ``License``, else what the
    classifiers say.
    """
    raw, _ = parse_email(metadata[:_LARGEST_METADATA])
    named = raw.get("license_expression") or raw.get("license", "")
    if not named or len(named) > _LONGEST_LICENCE or "\n" in named.strip():
        classified = (each.split(" :: ") for each in raw.get("classifiers", ()))
        named = " OR ".join(each[-1] for each in classified if each[0] == "License")
    words = (each.strip() for given in raw.get("keywords", ()) for each in given.split(","))
    return About(
        summary=" ".join(raw.get("summary", "").split()),
        keywords=tuple(filter(None, words)),
        licence=named.strip(),
        requires=raw.get("requires_python", "").strip(),
    )


def about_package(package: Package) -> About:
    """Return what an installed distribution says of itself; nothing where it cannot be read."""
    if package.info_root is None:
        return About()
    try:
        boundary = Boundary(package.info_root)
        return read_about(boundary.read("METADATA", most=_LARGEST_METADATA))
    except DocstowError:
        return About()
