"""What changed between two versions of a package, for the tool ``diff_versions``.

This room knows which sources can be compared. It does not know how they are, nor how the answer
looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError
from docstow.core.language_names import PYTHON

if TYPE_CHECKING:
    from docstow.core.model import Document
    from docstow.languages.projects.diff import PackageChange
    from docstow.languages.python.griffe_diff import Breakage
    from docstow.languages.rust.diff import Change, Difference, Side
    from docstow.library import Library, Stowed

_TYPED = (
    "declarations of TypeScript are compared without resolving what their types mean: one that "
    "does not plainly take all that it took counts as breaking"
)
_TOLD_BETTER = ("class-removed-base", "object-changed-kind")
#: How griffe shows a parameter: ``[positional-only] name: type``.
_PARAMETER = re.compile(r"\[[^\]]*\] (\w+)")
_DOCUMENTS = (
    "only the documents of both versions were at hand; where both are installed in projects of "
    "this server, their sources are compared as well"
)


def compare(library: Library, before: Stowed, after: Stowed, old: Side, new: Side) -> Difference:
    """Compare two versions by their documents, and of Python by their sources where they are here.

    Args:
        library: knows where packages are installed.
        before: the older version.
        after: the newer one.
        old: what the older one is made of.
        new: the same of the newer.
    """
    from docstow.languages.projects.diff import compare
    from docstow.languages.rust.diff import CLASSES, Difference
    from docstow.languages.rust.diff.crate__diff_bump import bump

    changes: list[Change] = list(compare(old.documents, new.documents))
    notices = [_TYPED]
    if before.snapshot.revision.source.kind == PYTHON.kind:
        breakages = _by_source(library, before, after)
        notices = [_DOCUMENTS] if breakages is None else []
        known = {each.path for each in changes if each.verdict == CLASSES[0]}
        further = _public(breakages or (), old.documents, new.documents)
        changes += [each for each in further if each.path not in known]
        changes.sort(key=lambda each: (CLASSES.index(each.verdict), each))
    step = bump(_numbers(before.version), _numbers(after.version), changes)
    return Difference(changes, step, notices)


def _by_source(library: Library, before: Stowed, after: Stowed) -> list[Breakage] | None:
    """What griffe finds; None where one of the versions is not installed here."""
    from docstow.languages.python.griffe_diff import breaking_changes

    if library.installed is None:
        return None
    sides = [library.installed.at(each.snapshot) for each in (before, after)]
    roots = [each.package.files_root for each in sides if each is not None]
    found: list[Breakage] = []
    for name in before.snapshot.facts.get("import_names", ()):
        if len(roots) < len(sides) or roots[0] is None or roots[1] is None:
            return None
        try:
            found += breaking_changes(str(name), roots[0], roots[1])
        except DocstowError:
            return None
    return found


def _public(
    breakages: Iterable[Breakage], old: Sequence[Document], new: Sequence[Document]
) -> list[PackageChange]:
    """Those of public items, under the paths that users write; one of each rule for an item.

    What documents tell better is left out: kinds, bases, names that are there by another way.
    """
    from docstow.languages.projects.diff import PackageChange, is_there

    was, now = ({each.path: each for each in side} for side in (old, new))
    known = {**now, **was}
    targets = {str(each.attributes.get("target")): each for each in known.values()}
    found: dict[tuple[str, str], list[Breakage]] = {}
    for each in breakages:
        path = each.path.partition("(")[0].removesuffix(".__init__")
        document = known.get(path) or targets.get(path)
        rule = each.kind.lower().replace("_", "-")
        if document is None or rule in _TOLD_BETTER:
            continue
        if rule == "object-removed" and is_there(document.path, now):
            continue
        named = _PARAMETER.match(each.after or each.before)
        if named is not None and _is_hidden(named[1], was.get(document.path)):
            continue
        found.setdefault((document.path, rule), []).append(each)
    return [
        PackageChange(
            path, known[path].kind, rule, _joined(e.before for e in several),
            _joined(e.after for e in several), found="breaking",
        )
        for (path, rule), several in found.items()
    ]  # fmt: skip


def _is_hidden(parameter: str, old: Document | None) -> bool:
    """Whether nobody names a parameter: the object itself, or one that had two underscores."""
    was = "" if old is None else f"{old.signature} {old.attributes.get('constructor', '')}"
    return parameter.lstrip("_") in {"self", "cls"} or f"__{parameter.lstrip('_')}:" in was


def _joined(told: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(filter(None, told)))


def _numbers(version: str) -> str:
    """The first three numbers, as which the size of a step is judged."""
    numbers = [str(int(each)) for each in re.findall(r"\d+", version)[:3]]
    return ".".join([*numbers, *["0"] * (3 - len(numbers))])
