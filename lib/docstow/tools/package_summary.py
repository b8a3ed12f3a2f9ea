"""What there is of a Python or Node package as a whole: its summary, and its versions at hand.

This room knows the answers' members. It does not know how packages are found, nor which tool asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docstow.core.errors import PackageNotFound

if TYPE_CHECKING:
    from docstow.index.loaded import Index
    from docstow.languages.shared.language import Language
    from docstow.library import Library


def summary(index: Index, module: str, depth: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What a package is for, and its modules; the entry modules are listed with the others.

    Args:
        index: the package.
        module: where to start; all entry modules if empty.
        depth: how many levels are listed.
    """
    from docstow.index import modules as outline
    from docstow.text.chunking import first_sentence

    kinds, paths = index.columns["kind"], index.columns["path"]
    tops = index.rows_by_parent.get("", [])
    entries = [str(paths[row]) for row in tops if kinds[row] == "module"]
    facts: dict[str, Any] = {}
    modules: list[dict[str, Any]] = []
    for each in [module] if module else entries:
        own, below = outline.modules(index, each, depth)
        facts = facts or own
        if not module:
            items = len(index.rows_by_parent.get(each, ()))
            modules.append({"path": each, "summary": own["summary"], "items": items})
        modules += below
    page = next((row for row in tops if kinds[row] == "page"), None)
    if page is not None and not module:
        facts["readme"] = str(paths[page])
        facts["url"] = str(index.columns["url"][page])
        facts["summary"] = facts.get("summary") or first_sentence(index.document(page).text)
    return facts, modules


def versions(
    library: Library, language: Language, name: str, requirement: str
) -> tuple[str, dict[str, Any], list[dict[str, Any]]]:
    """A package's name, the members of the answer, and a row for each version.

    Raises:
        PackageNotFound: neither a project here nor the store has the package, or none of its
            versions is asked for.
    """
    from docstow.languages.shared.version_requests import fitting

    if library.installed is None:
        raise PackageNotFound("Packages are not looked into here.")
    found, known = library.installed.versions(language, name)
    here = [version for version, where in known.items() if where.installed]
    best = fitting(requirement, here) or fitting(requirement, known)
    if best is None:
        there = ", ".join(known)
        raise PackageNotFound(f"{found} {requirement} is not at hand; these are: {there}.")
    rows = [
        {"version": version, "yanked": False, "stowed": where.stowed}
        | ({"installed": True} if where.installed else {})
        | ({"matches": fitting(requirement, [version]) is not None} if requirement else {})
        for version, where in known.items()
    ]
    told = {
        "crate": found,
        "asked": requirement or "installed or newest stowed",
        "answered": best,
        "substituted": False,
        "notice": "only versions that are installed in a project here or stowed are known",
        "total": len(rows),
    }
    return found, told, rows
