"""What the tools for crates and packages share: how one and its version are named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from docstow import languages
from docstow.core.errors import InvalidParameter
from docstow.core.model import STANDARD
from docstow.languages.rust.cargo_lock import Locked, parse
from docstow.languages.shared.language import Language
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.library import Library, ResolvedVersion

CRATE = Parameter("crate", "string", "", required=True, max_length=64)
# Eight tools have these: what they mean stands in the server's instructions, and in the errors.
VERSION = Parameter("version", "string", "", default="", max_length=100)
LOCKFILE = Parameter("lockfile", "string", "", default="")
LANGUAGE = Parameter("language", "string", "python, typescript", default="", max_length=20)
#: The same where its values need no repetition.
LANGUAGE_BRIEF = replace(LANGUAGE, description="")
CURSOR = Parameter("cursor", "string", "", default="", max_length=400)


def find_stowed(library: Library, name: str, arguments: Mapping[str, Any]) -> ResolvedVersion:
    """Return the crate in the version that the caller asked for, by number or by lock file.

    Args:
        library: where crates are found.
        name: the crate.
        arguments: with ``version`` and ``lockfile``, and ``language`` where it is not Rust.
    """
    version, lockfile = arguments["version"].strip(), arguments["lockfile"]
    if (language := language_of(arguments)).packaged:
        if lockfile:
            raise InvalidParameter("lockfile", "is for crates; give the version")
        return library.package(language, name, version)
    if not lockfile:
        return library.crate(name, version)
    if version:
        raise InvalidParameter("lockfile", "give either version or lockfile, not both")
    lock = find_locked(lockfile, name)
    return with_lock_notice(library.crate(name, lock.version if lock else ""), lock)


def language_of(arguments: Mapping[str, Any]) -> Language:
    """Return the language whose packages are meant.

    Raises:
        InvalidParameter: there is no such language.
    """
    name = (arguments.get("language") or languages.RUST.name).strip().lower()
    language = languages.of_name(name)
    if language is None or not language.documented:
        known = ", ".join(languages.names())
        raise InvalidParameter("language", f"must be one of {known}, not {name!r}")
    return language


def find_locked(lockfile: str, name: str) -> Locked | None:
    """Return what a lock file says of a crate; None without one, and for the standard library.

    No lock file names that, and a caller may give the same one with every call.

    Raises:
        InvalidParameter: the text is no lock file, or has no such package.
    """
    if not lockfile or name.replace("-", "_") in STANDARD:
        return None
    return parse(lockfile).locked(name)


def with_lock_notice(found: ResolvedVersion, locked: Locked | None) -> ResolvedVersion:
    """Return the same, saying that a lock file decided."""
    if locked is None:
        return found
    notice = "; ".join(filter(None, (found.notice, locked.notice(found.name))))
    return replace(found, asked=f"lockfile: {locked.version}", notice=notice)
