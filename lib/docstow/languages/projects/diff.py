"""What changed between two versions of a Python or TypeScript package, by its documents.

This room knows documents. It does not know where versions come from, nor what makes a signature of
Python (:mod:`docstow.languages.python.diff`) or TypeScript (``packages_typescript``) another one.
A change is breaking where code that was right may fail; what cannot be told is said to be a change
of the signature, and is no more than that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent

from docstow.core.model import Document
from docstow.languages.python import diff as packages_python
from docstow.languages.shared.diff import BREAKING, CLASSES, COMPATIBLE, DOCS_ONLY, Change
from docstow.languages.typescript import diff as packages_typescript

#: What is compared of a version: pages say what they like.
_PROSE = "page"
#: Kinds that a user cannot tell apart by how they are used, or perhaps cannot: an attribute may
#: hold anything, and so may a property of TypeScript.
_ALIKE = (
    *({"attribute", "property", "constant"}, {"class", "enum"}, {"interface", "type"}),
    *({"attribute", "method"}, {"attribute", "function"}, {"attribute", "class"}),
)
_ALIKE_IN_TYPESCRIPT = ({"property", "method"}, {"constant", "function"})

_RULES = {
    "item-removed": BREAKING,
    "kind-changed": BREAKING,
    "parameter-removed": BREAKING,
    "parameter-added-required": BREAKING,
    "parameter-now-required": BREAKING,
    "parameter-kind-changed": BREAKING,
    "parameter-moved": BREAKING,
    "parameter-renamed": BREAKING,
    "base-removed": BREAKING,
    "item-added": COMPATIBLE,
    "item-deprecated": COMPATIBLE,
    "signature-changed": COMPATIBLE,
    "docs-changed": DOCS_ONLY,
}


@dataclass(frozen=True, slots=True, order=True)
class PackageChange(Change):
    """One difference of packages; ``found`` is its class where the rule alone does not say it."""

    found: str = ""

    @property
    def verdict(self) -> str:
        """``breaking``, ``compatible`` or ``docs-only``."""
        return self.found or _RULES.get(self.rule, BREAKING)


def compare(old: Sequence[Document], new: Sequence[Document]) -> list[PackageChange]:
    """Compare two versions of a package: the gravest changes first, then by path.

    Members of what is gone, or new, are not told one by one.
    """
    was, now = _by_path(old), _by_path(new)
    elsewhere = {_target(each): path for path, each in now.items() if _target(each)}
    found: list[PackageChange] = []
    for path, document in was.items():
        there = now.get(path) or _reached(path, now)
        if there is not None:
            found += _changes(document, there)
        elif not is_there(path, now) and (document.parent not in was or document.parent in now):
            moved = elsewhere.get(_target(document), "") if _target(document) else ""
            found.append(
                PackageChange(path, document.kind, "item-removed", document.signature, "", moved)
            )
    for path, document in now.items():
        if not is_there(path, was) and (document.parent not in now or document.parent in was):
            found.append(PackageChange(path, document.kind, "item-added", "", document.signature))
    return sorted(set(found), key=lambda each: (CLASSES.index(each.verdict), each))


def is_there(path: str, documents: Mapping[str, Document]) -> bool:
    """Whether a version has a name, be it without a document: re-exported, inherited, lazy."""
    owner, _, name = path.rpartition(".")
    above = documents.get(owner)
    return path in documents or (above is not None and name in above.attributes.get("others", {}))


def _reached(path: str, documents: Mapping[str, Document]) -> Document | None:
    """The document of what a path means, if it stands under another one's path."""
    owner, _, name = path.rpartition(".")
    above = documents.get(owner)
    others: Mapping[str, str] = above.attributes.get("others", {}) if above is not None else {}
    return documents.get(others.get(name, ""))


def _by_path(documents: Sequence[Document]) -> dict[str, Document]:
    return {each.path: each for each in documents if each.kind != _PROSE}


def _target(document: Document) -> str:
    return str(document.attributes.get("target", ""))


def _changes(old: Document, new: Document) -> Iterator[PackageChange]:
    pair = {old.kind, new.kind}
    python = old.attributes.get("language") == "python"
    alike = _ALIKE if python else _ALIKE + _ALIKE_IN_TYPESCRIPT
    if len(pair) > 1 and not any(pair <= each for each in alike):
        yield PackageChange(old.path, old.kind, "kind-changed", old.kind, new.kind)
        return
    if old.attributes.get("deprecated") is None and "deprecated" in new.attributes:
        note = str(new.attributes["deprecated"])
        yield PackageChange(old.path, old.kind, "item-deprecated", "", note)
    before, after = _signature(old), _signature(new)
    if (packages_python if python else packages_typescript).same(before, after):
        if old.text != new.text:
            yield PackageChange(old.path, old.kind, "docs-changed")
    elif python:
        yield from _called(old, before, after)
    else:
        # Of what may be called in either form the two say too little.
        takes = len(pair) > 1 or packages_typescript.takes_as_much(before, after)
        found = COMPATIBLE if takes else BREAKING
        yield PackageChange(old.path, old.kind, "signature-changed", before, after, found=found)


def _called(old: Document, before: str, after: str) -> Iterator[PackageChange]:
    """What a changed signature of Python breaks, a rule each."""
    broken = packages_python.broken_rules(before, after)
    for rule in sorted(broken):
        names = ", ".join(sorted(broken[rule]))
        of_new = rule in packages_python.OF_NEW
        was = f"{names}: {before}" if names and not of_new else before
        now = f"{names}: {after}" if names and of_new else after
        yield PackageChange(old.path, old.kind, rule, was, now)
    if not broken:
        yield PackageChange(old.path, old.kind, "signature-changed", before, after)


def _signature(document: Document) -> str:
    """The declaration; of a class with how it is made."""
    made = str(document.attributes.get("constructor", ""))
    return f"{document.signature}:\n{indent(made, '    ')}" if made else document.signature
