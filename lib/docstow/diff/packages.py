"""What changed between two versions of a Python or TypeScript package, by its documents.

This room knows documents and Python's rules of calling. It does not know where versions come from.
A change is breaking where code that was right may fail; what cannot be told is said to be a change
of the signature, and is no more than that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import NamedTuple

from docstow.diff.rules import BREAKING, CLASSES, COMPATIBLE, DOCS_ONLY
from docstow.diff.sides import Change
from docstow.model import Document

#: What is compared of a version: pages say what they like.
_PROSE = "page"
#: Kinds that a user cannot tell apart by how they are used.
_ALIKE = ({"attribute", "property", "constant"}, {"class", "enum"}, {"interface", "type"})

#: Rules about what only the newer version has.
_OF_NEW = {"parameter-added-required", "parameter-now-required"}

_RULES = {
    "item-removed": BREAKING,
    "kind-changed": BREAKING,
    "parameter-removed": BREAKING,
    "parameter-added-required": BREAKING,
    "parameter-now-required": BREAKING,
    "parameter-kind-changed": BREAKING,
    "parameter-moved": BREAKING,
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


class _Parameter(NamedTuple):
    place: int
    kind: str
    required: bool


def compare(old: Sequence[Document], new: Sequence[Document]) -> list[PackageChange]:
    """Compare two versions of a package: the gravest changes first, then by path.

    Members of what is gone, or new, are not told one by one.
    """
    was, now = _by_path(old), _by_path(new)
    elsewhere = {_target(each): path for path, each in now.items() if _target(each)}
    found: list[PackageChange] = []
    for path, document in was.items():
        if path in now:
            found += _changes(document, now[path])
        elif document.parent not in was or document.parent in now:
            moved = elsewhere.get(_target(document), "") if _target(document) else ""
            found.append(
                PackageChange(path, document.kind, "item-removed", document.signature, "", moved)
            )
    for path, document in now.items():
        if path not in was and (document.parent not in now or document.parent in was):
            found.append(PackageChange(path, document.kind, "item-added", "", document.signature))
    return sorted(set(found), key=lambda each: (CLASSES.index(each.verdict), each))


def _by_path(documents: Sequence[Document]) -> dict[str, Document]:
    return {each.path: each for each in documents if each.kind != _PROSE}


def _target(document: Document) -> str:
    return str(document.attributes.get("target", ""))


def _changes(old: Document, new: Document) -> Iterator[PackageChange]:
    pair = {old.kind, new.kind}
    if len(pair) > 1 and not any(pair <= alike for alike in _ALIKE):
        yield PackageChange(old.path, old.kind, "kind-changed", old.kind, new.kind)
        return
    if old.attributes.get("deprecated") is None and "deprecated" in new.attributes:
        note = str(new.attributes["deprecated"])
        yield PackageChange(old.path, old.kind, "item-deprecated", "", note)
    before, after = _signature(old), _signature(new)
    if before != after:
        broken = _broken_rules(old, new)
        for rule in sorted(broken):
            names = ", ".join(sorted(broken[rule]))
            yield PackageChange(
                old.path,
                old.kind,
                rule,
                f"{names}: {before}" if names and rule not in _OF_NEW else before,
                f"{names}: {after}" if names and rule in _OF_NEW else after,
            )
        if not broken:
            # Types decide whether a program of TypeScript compiles, and a text says no more.
            typed = old.attributes.get("language") != "python"
            found = BREAKING if typed else COMPATIBLE
            yield PackageChange(old.path, old.kind, "signature-changed", before, after, found=found)
    elif old.text != new.text:
        yield PackageChange(old.path, old.kind, "docs-changed")


def _signature(document: Document) -> str:
    """The declaration; of a class with how it is made."""
    made = str(document.attributes.get("constructor", ""))
    return f"{document.signature}:\n{indent(made, '    ')}" if made else document.signature


def _broken_rules(old: Document, new: Document) -> dict[str, set[str]]:
    """The rules that a signature of Python breaks, each with the names that are concerned.

    There are none where the signatures are not certain.
    """
    was, now = _parsed(old), _parsed(new)
    broken: dict[str, set[str]] = {}
    if isinstance(was, ast.ClassDef) and isinstance(now, ast.ClassDef):
        lost = {ast.unparse(each) for each in was.bases} - {ast.unparse(e) for e in now.bases}
        if lost:
            broken["base-removed"] = lost
        was, now = _constructor(was), _constructor(now)
    if isinstance(was, _CALLED) and isinstance(now, _CALLED):
        for rule, name in _broken(was.args, now.args):
            broken.setdefault(rule, set()).add(name)
    return broken


def _constructor(definition: ast.ClassDef) -> ast.stmt | None:
    found = (each for each in definition.body if isinstance(each, ast.FunctionDef))
    return next(found, None)


_CALLED = (ast.FunctionDef, ast.AsyncFunctionDef)


def _parsed(document: Document) -> ast.stmt | None:
    if document.attributes.get("language") != "python":
        return None
    try:
        # Of overloads the last alone would be whole, so that none is parsed.
        module = ast.parse(f"{_signature(document).strip()}: ...")
    except (SyntaxError, ValueError, RecursionError):
        return None
    return module.body[0] if len(module.body) == 1 else None


def _broken(old: ast.arguments, new: ast.arguments) -> Iterator[tuple[str, str]]:
    was, now = _parameters(old), _parameters(new)
    for name, each in was.items():
        other = now.get(name)
        if other is None:
            by_name = new.kwarg is not None or each.kind == "positional-only"
            by_place = new.vararg is not None or each.kind == "keyword-only"
            if not (by_name and by_place):
                yield "parameter-removed", name
            continue
        if other.required and not each.required:
            yield "parameter-now-required", name
        if other.kind not in (each.kind, "positional"):
            yield "parameter-kind-changed", name
        elif "keyword-only" not in (each.kind, other.kind) and other.place != each.place:
            yield "parameter-moved", name
    for gathered, left in ((old.vararg, new.vararg), (old.kwarg, new.kwarg)):
        if gathered is not None and left is None:
            yield "parameter-removed", f"*{gathered.arg}"
    for name, added in now.items():
        if name not in was and added.required:
            yield "parameter-added-required", name


def _parameters(arguments: ast.arguments) -> dict[str, _Parameter]:
    found: dict[str, _Parameter] = {}
    plain = [*arguments.posonlyargs, *arguments.args]
    required = len(plain) - len(arguments.defaults)
    for place, each in enumerate(plain):
        kind = "positional-only" if place < len(arguments.posonlyargs) else "positional"
        found[each.arg] = _Parameter(place, kind, place < required)
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found[each.arg] = _Parameter(-1, "keyword-only", default is None)
    return found
