"""Whether a package is alive and safe: releases, yanks, deprecation, licence, advisories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docstow.core.errors import ConfigurationError, DocstowError, UpstreamError, UpstreamTimeout
from docstow.core.model import INSTALLED, LOCAL
from docstow.core.versions import choose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from docstow.languages.shared.language import Language
    from docstow.library import Library, ResolvedVersion
    from docstow.sources.advisories import Advisories, Advisory

#: So many advisories are listed; all are counted.
_MOST_LISTED = 10
#: Versions of which the advisories are counted for one answer.
_MOST_COUNTED = 50
#: Characters of a time that are its day.
_DAY = len("2026-01-01")


def describe_status(
    library: Library, language: Language, stowed: ResolvedVersion, advisories: Advisories | None
) -> tuple[dict[str, Any], list[str]]:
    """Return what is known of a version's standing, and notices.

    Args:
        library: asks the registry or index, if it may be asked about the package.
        language: of the package.
        stowed: what answers.
        advisories: those that the operator has; None where there are none.
    """
    notices: list[str] = []
    try:
        status = (
            _package(library, language, stowed) if language.packaged else _crate(library, stowed)
        )
    except (UpstreamError, UpstreamTimeout) as error:
        status = _stated(language, stowed)
        notices.append(f"releases are not known: {error.message.rstrip('.')}")
    except DocstowError:
        # It is known here alone.
        status = {}
    found, notice = find_advisories(advisories, language, stowed.name, stowed.version)
    if notice:
        notices.append(notice)
    if found is not None:
        status["advisory_count"] = len(found)
        if found:
            status["advisories"] = [_describe(each) for each in found[:_MOST_LISTED]]
    # That there are no advisories says something; other zeros and blanks do not.
    told = {name: value for name, value in status.items() if value or name == "advisory_count"}
    return told, notices


def find_advisories(
    advisories: Advisories | None, language: Language, name: str, version: str
) -> tuple[list[Advisory] | None, str]:
    """Return the advisories against a version, None where there are none to ask; and a notice."""
    if advisories is None:
        return None, ""
    try:
        found = advisories.of(language, name, version)
    except (ConfigurationError, OSError) as error:
        return None, getattr(error, "message", "") or "advisories: the index cannot be made"
    notice = f"{advisories.unread} advisories could not be read" if advisories.unread else ""
    return found, notice


def count_advisories(
    advisories: Advisories | None, language: Language, versions: Iterable[tuple[str, str]]
) -> list[str]:
    """Return one line with how many advisories there are against some versions, for a notice.

    Args:
        advisories: those that the operator has; nothing is said where there are none to ask.
        language: of the packages.
        versions: names with versions.
    """
    counts: dict[str, int] = {}
    said: dict[str, None] = {}
    asked = 0
    for name, version in list(dict.fromkeys(versions))[:_MOST_COUNTED]:
        found, notice = find_advisories(advisories, language, name, version)
        said |= {notice: None} if notice else {}
        asked += found is not None
        if found:
            counts[f"{name} {version}"] = len(found)
    if not asked:
        return list(said)
    shown = ", ".join(f"{name} ({number})" for name, number in counts.items())
    return [f"advisories: {shown or 'none'}", *said]


def _crate(library: Library, stowed: ResolvedVersion) -> dict[str, Any]:
    if stowed.snapshot.revision.source.kind == LOCAL:
        # The index is not asked about what came from a file.
        own_versions = [row["version"] for row in library.versions(stowed.name).versions]
        return {"latest": choose("", own_versions) or ""}
    releases = library.releases([stowed.name]).get(stowed.name, ())
    if not releases:
        return {}
    by_version = {release.version: release for release in releases}
    latest = choose("", [release.version for release in releases if not release.yanked])
    newest, own = by_version.get(latest or ""), by_version.get(stowed.version)
    status = {
        "latest": latest or "",
        "last_release": newest.published[:_DAY] if newest is not None else "",
        "all_yanked": latest is None,
    }
    if own is not None:
        requires = f"Rust {own.rust_version}" if own.rust_version else ""
        status |= {"published": own.published[:_DAY], "yanked": own.yanked, "requires": requires}
    return status


def _package(library: Library, language: Language, stowed: ResolvedVersion) -> dict[str, Any]:
    listing = library.installed.known_listing(stowed.snapshot)
    if listing is None:
        return _stated(language, stowed)
    own = listing.release(stowed.version)
    offered = [each.version for each in listing.releases if not each.yanked]
    latest = listing.tags.get("latest") or language.versions().choose("", offered) or ""
    newest = listing.release(latest)
    status: dict[str, Any] = {
        "latest": latest,
        "last_release": newest.published[:_DAY] if newest is not None else "",
        "all_yanked": not offered,
    }
    if newest is not None and not newest.yanked:
        status["deprecated"] = newest.withdrawn
    if own is not None:
        what = "yank_reason" if own.yanked else "deprecated"
        status |= {"published": own.published[:_DAY], "yanked": own.yanked}
        status["requires"] = _require(language, own.requires)
        status[what] = own.withdrawn or status.get(what, "")
    return status


def _stated(language: Language, stowed: ResolvedVersion) -> dict[str, Any]:
    """Return what a package states of itself, where no registry is asked."""
    facts = stowed.snapshot.facts
    status = {"requires": _require(language, facts.get("requires", ""))}
    if stowed.snapshot.revision.origin == INSTALLED:
        status["releases"] = "not looked up, as it is installed; list_versions does"
    return status


def _require(language: Language, versions: str) -> str:
    """Return what a package needs to run, with the name of that; empty for any version of it."""
    return f"{language.runtime} {versions}".strip() if versions not in ("", "*") else ""


def _describe(each: Advisory) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": each.id, "summary": each.summary}
    further = {
        "aliases": list(each.aliases),
        "severity": each.severity,
        "kind": each.kind,
        "published": each.published,
        "fixed": list(each.fixed),
        "url": each.url,
    }
    return shown | {name: value for name, value in further.items() if value}
