"""How two versions of a Node package are compared."""

from __future__ import annotations

from collections.abc import Iterator

from docstow.core.model import Document
from docstow.languages.shared.diff import BREAKING, COMPATIBLE, PackageChange
from docstow.languages.shared.language import Comparing
from docstow.languages.typescript.diff import same, takes_as_much


def signature_changes(
    old: Document, new_kind: str, before: str, after: str
) -> Iterator[PackageChange]:
    """Yield what a changed declaration means."""
    # Of what may be called in either form the two say too little.
    takes = old.kind != new_kind or takes_as_much(before, after)
    found = COMPATIBLE if takes else BREAKING
    yield PackageChange(old.path, old.kind, "signature-changed", before, after, found=found)


COMPARING = Comparing(
    same=same,
    changes=signature_changes,
    alike=(frozenset({"property", "method"}), frozenset({"constant", "function"})),
    notice=(
        "declarations of TypeScript are compared without resolving what their types mean: one that "
        "does not plainly take all that it took counts as breaking"
    ),
)
