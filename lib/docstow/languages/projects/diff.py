"""What changed between two versions of a package, by its documents.

A change is breaking where code that was right may fail; what cannot be told is said to be a change
of the signature, and is no more than that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import indent

from docstow.core.model import Document
from docstow.languages.rust.diff import Difference, bump
from docstow.languages.shared.diff import (
    CLASSES,
    Change,
    PackageChange,
    Side,
    code_notes,
    is_there,
    other_names,
)
from docstow.languages.shared.language import Comparing

#: Pages, of which packages say what they like, are not compared.
_PROSE = "page"
#: Kinds that a user cannot tell apart by how they are used, or perhaps cannot: an attribute may
#: hold anything, and so may a property of TypeScript.
_ALIKE = (
    *({"attribute", "property", "constant"}, {"class", "enum"}, {"interface", "type"}),
    *({"attribute", "method"}, {"attribute", "function"}, {"attribute", "class"}),
)


def compare_packages(
    comparing: Comparing, old: Side, new: Side, roots: Sequence[Path] = ()
) -> Difference:
    """Compare two versions by their documents, and by their sources where the language can.

    Args:
        comparing: of the packages' language.
        old: the older version.
        new: the newer one.
        roots: where the files of both are; empty where those of one are not at hand.
    """
    changes: list[Change] = list(compare(comparing, old.documents, new.documents))
    notices = [comparing.notice] if comparing.notice else []
    if comparing.sources is not None:
        names = [str(each) for each in old.facts.get("import_names", ())]
        further: list[PackageChange] | None = None if names else []
        if len(roots) == 2:
            old_root, new_root = roots
            further = comparing.sources(names, old_root, new_root, old.documents, new.documents)
        notices += [comparing.notice_unread] if further is None else []
        known = {each.path for each in changes if each.verdict == CLASSES[0]}
        changes += [each for each in further or () if each.path not in known]
        changes.sort(key=lambda each: (CLASSES.index(each.verdict), each))
    step = bump(_numbers(old.version), _numbers(new.version), changes)
    return Difference(changes, step, notices)


def compare(
    comparing: Comparing, old: Sequence[Document], new: Sequence[Document]
) -> list[PackageChange]:
    """Compare two versions of a package: the gravest changes first, then by path.

    Members of what is gone, or new, are not told one by one.
    """
    was, now = _by_path(old), _by_path(new)
    elsewhere = _by_target(now)
    alone = _by_target(was)
    told, news = code_notes(old), code_notes(new)
    found: list[PackageChange] = []
    for path, document in was.items():
        there = now.get(path) or _reached(path, now)
        if there is not None:
            found += _changes(comparing, document, there)
        elif not is_there(path, now) and (document.parent not in was or document.parent in now):
            target = _target(document)
            moved = elsewhere.get(target, "") if alone.get(target) == path else ""
            found.append(
                PackageChange(path, document.kind, "item-removed", document.signature, "", moved)
            )
        elif path in news and path not in told:
            # It is still answered for, with a warning.
            found.append(PackageChange(path, document.kind, "item-deprecated", "", news[path]))
    for path, document in now.items():
        if not is_there(path, was) and (document.parent not in now or document.parent in was):
            found.append(PackageChange(path, document.kind, "item-added", "", document.signature))
    return sorted(set(found), key=lambda each: (CLASSES.index(each.verdict), each))


def _reached(path: str, documents: Mapping[str, Document]) -> Document | None:
    """Return the document of what a path means, if it stands under another one's path."""
    owner, _, name = path.rpartition(".")
    above = documents.get(owner)
    return documents.get(other_names(above).get(name, "")) if above is not None else None


def _by_path(documents: Sequence[Document]) -> dict[str, Document]:
    return {each.path: each for each in documents if each.kind != _PROSE}


def _by_target(documents: Mapping[str, Document]) -> dict[str, str]:
    """Return paths by where they are defined elsewhere, if no other is defined there too."""
    counts = Counter(map(_target, documents.values()))
    targets = {path: _target(each) for path, each in documents.items()}
    return {each: path for path, each in targets.items() if each and counts[each] == 1}


def _target(document: Document) -> str:
    return str(document.attributes.get("target", ""))


def _changes(comparing: Comparing, old: Document, new: Document) -> Iterator[PackageChange]:
    kinds = {old.kind, new.kind}
    if len(kinds) > 1 and not any(kinds <= each for each in (*_ALIKE, *comparing.alike)):
        yield PackageChange(old.path, old.kind, "kind-changed", old.kind, new.kind)
        return
    if old.attributes.get("deprecated") is None and "deprecated" in new.attributes:
        note = str(new.attributes["deprecated"])
        yield PackageChange(old.path, old.kind, "item-deprecated", "", note)
    before, after = _signature(old), _signature(new)
    if not comparing.same(before, after):
        yield from comparing.changes(old, new.kind, before, after)
    elif old.text != new.text:
        yield PackageChange(old.path, old.kind, "docs-changed")


def _signature(document: Document) -> str:
    """Return the declaration; of a class with how it is made."""
    made = str(document.attributes.get("constructor", ""))
    return f"{document.signature}:\n{indent(made, '    ')}" if made else document.signature


def _numbers(version: str) -> str:
    """Return the first three numbers, as which the size of a step is judged."""
    numbers = [str(int(each)) for each in re.findall(r"\d+", version)[:3]]
    return ".".join([*numbers, *["0"] * (3 - len(numbers))])
