"""Lock files: which version of a package a project really uses.

This room knows the text of ``Cargo.lock`` (a TOML file with ``[[package]]`` tables; Cargo book,
"Cargo.toml vs Cargo.lock"). It reads no files.
"""

from __future__ import annotations

import tomllib

from docstow.errors import InvalidParameter
from docstow.versions import Version


def locked_version(text: str, name: str) -> str:
    """The version of a package in a ``Cargo.lock``; the highest where several are locked.

    Raises:
        InvalidParameter: the text is no lock file, or has no such package.
    """
    try:
        packages = tomllib.loads(text).get("package", [])
        locked = {(str(each["name"]), str(each["version"])) for each in packages}
    except (tomllib.TOMLDecodeError, TypeError, KeyError, AttributeError) as error:
        raise InvalidParameter("lockfile", "must be the text of a Cargo.lock") from error
    folded = name.replace("-", "_")
    versions = [version for package, version in locked if package.replace("-", "_") == folded]
    if not versions:
        raise InvalidParameter("lockfile", f"has no package {name}; give a version instead")
    return max(versions, key=Version.parse)
