"""How two versions of a Python package are compared: by documents and, where at hand, sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError
from docstow.core.model import Document
from docstow.languages.python.diff import OF_NEW, broken_rules, same
from docstow.languages.shared.diff import PackageChange, is_there
from docstow.languages.shared.language import Comparing

if TYPE_CHECKING:
    from docstow.languages.python.griffe_diff import Breakage

#: Rules of which documents tell more than sources.
_LEFT_TO_DOCUMENTS = ("class-removed-base", "object-changed-kind")
#: How griffe shows a parameter: ``[positional-only] name: type``.
_PARAMETER = re.compile(r"\[[^\]]*\] (\w+)")
_UNREAD = (
    "only the documents of both versions were at hand; where both are installed in projects of "
    "this server, their sources are compared as well"
)


def signature_changes(
    old: Document, new_kind: str, before: str, after: str
) -> Iterator[PackageChange]:
    """Yield what a changed signature breaks, a rule each."""
    del new_kind
    broken = broken_rules(before, after)
    for rule in sorted(broken):
        names = ", ".join(sorted(broken[rule]))
        of_new = rule in OF_NEW
        was = f"{names}: {before}" if names and not of_new else before
        now = f"{names}: {after}" if names and of_new else after
        yield PackageChange(old.path, old.kind, rule, was, now)
    if not broken:
        yield PackageChange(old.path, old.kind, "signature-changed", before, after)


def source_changes(
    import_names: Sequence[str],
    old_root: Path,
    new_root: Path,
    old: Sequence[Document],
    new: Sequence[Document],
) -> list[PackageChange] | None:
    """Return what griffe finds of public items; None where sources cannot be read."""
    from docstow.languages.python.griffe_diff import breaking_changes

    found: list[Breakage] = []
    try:
        for name in import_names:
            found += breaking_changes(name, old_root, new_root)
    except DocstowError:
        return None
    return _public(found, old, new)


def _public(
    breakages: Iterable[Breakage], old: Sequence[Document], new: Sequence[Document]
) -> list[PackageChange]:
    """Return those of public items, under the paths that users write; one of each rule for an item.

    What documents tell better is left out: kinds, bases, names that are there by another way.
    """
    was, now = ({each.path: each for each in side} for side in (old, new))
    known = {**now, **was}
    targets = {str(each.attributes.get("target")): each for each in known.values()}
    found: dict[tuple[str, str], list[Breakage]] = {}
    for each in breakages:
        path = each.path.partition("(")[0].removesuffix(".__init__")
        document = known.get(path) or targets.get(path)
        rule = each.kind.lower().replace("_", "-")
        if document is None or rule in _LEFT_TO_DOCUMENTS:
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
    """Return whether nobody names a parameter: the object itself, or one with two underscores."""
    was = "" if old is None else f"{old.signature} {old.attributes.get('constructor', '')}"
    return parameter.lstrip("_") in {"self", "cls"} or f"__{parameter.lstrip('_')}:" in was


def _joined(values: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(filter(None, values)))


COMPARING = Comparing(
    same=same,
    changes=signature_changes,
    sources=source_changes,
    notice_unread=_UNREAD,
)
