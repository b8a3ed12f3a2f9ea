"""What the Rust tools have in common: how a crate and its version are named.

This room knows four parameters and what they mean together. It does not know any tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter
from docstow.core.language_names import LANGUAGES, RUST, Language
from docstow.core.model import STANDARD
from docstow.languages.rust.cargo_lock import Locked, parse
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.library import Library, Stowed

CRATE = Parameter("crate", "string", "", required=True, max_length=64)
# Eight tools have these: what they mean stands in the server's instructions, and in the errors.
VERSION = Parameter("version", "string", "", default="", max_length=100)
LOCKFILE = Parameter("lockfile", "string", "", default="")
LANGUAGE = Parameter("language", "string", "python, typescript", default="", max_length=20)
#: The same where its values need not be said again.
SPOKEN = replace(LANGUAGE, description="")
CURSOR = Parameter("cursor", "string", "", default="", max_length=400)


def stowed(library: Library, name: str, arguments: Mapping[str, Any]) -> Stowed:
    """The crate in the version that the caller asked for, by number or by lock file.

    Args:
        library: where crates are found.
        name: the crate.
        arguments: with ``version`` and ``lockfile``, and ``language`` where it is not Rust.
    """
    version, lockfile = arguments["version"].strip(), arguments["lockfile"]
    if (language := spoken_in(arguments)) is not RUST:
        if lockfile:
            raise InvalidParameter("lockfile", "is for crates; give the version")
        return library.package(language, name, version)
    if not lockfile:
        return library.crate(name, version)
    if version:
        raise InvalidParameter("lockfile", "give either version or lockfile, not both")
    lock = locked(lockfile, name)
    return told(library.crate(name, lock.version if lock else ""), lock)


def spoken_in(arguments: Mapping[str, Any]) -> Language:
    """The language whose packages are meant.

    Raises:
        InvalidParameter: there is no such language.
    """
    name = (arguments.get("language") or RUST.name).strip().lower()
    if name not in LANGUAGES:
        raise InvalidParameter("language", f"must be one of {', '.join(LANGUAGES)}, not {name!r}")
    return LANGUAGES[name]


def locked(lockfile: str, name: str) -> Locked | None:
    """What a lock file says of a crate; None without one, and for the standard library.

    No lock file names that, and a caller may give the same one with every call.

    Raises:
        InvalidParameter: the text is no lock file, or has no such package.
    """
    if not lockfile or name.replace("-", "_") in STANDARD:
        return None
    return parse(lockfile).locked(name)


def told(found: Stowed, locked: Locked | None) -> Stowed:
    """The same, saying that a lock file decided."""
    if locked is None:
        return found
    notice = "; ".join(filter(None, (found.notice, locked.notice(found.name))))
    return replace(found, asked=f"lockfile: {locked.version}", notice=notice)
