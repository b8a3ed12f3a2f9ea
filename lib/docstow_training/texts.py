"""Training texts: what documentation says of items, out of rustdoc JSON and Python sources."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import zstandard

from docstow.core.model import Document
from docstow.core.versions import Version
from docstow.languages.rust import rustdoc
from docstow.text import python_ast
from docstow.text.chunking import plain, sentences

REST_WORDS = 120
"""So many words of an item's prose after its first sentence are part of its vector."""
_HEADER = re.compile(r"^[ \t]*([=~^\"'#*+-])\1{2,}[ \t]*$", re.MULTILINE)
_ROLE = re.compile(r":[a-z:]+:`~?([^`<]+)[^`]*`")


@dataclass(frozen=True, slots=True)
class Item:
    """One documented item, in the fields whose vectors are added up.

    Attributes:
        source: ``rust:<crate>`` or ``python:<package>/<part>``; items of one source are each
            other's hard negatives.
        path: how users write it.
        signature: its declaration on one line.
        first: the first sentence of its docs.
        rest: what follows, ``REST_WORDS`` words of it.
        name: the last part of its path.
    """

    source: str
    path: str
    signature: str
    first: str
    rest: str
    name: str

    @property
    def fields(self) -> tuple[str, str, str, str, str]:
        """In the order of ``contrast.FIELDS``."""
        return self.path, self.signature, self.first, self.rest, self.name


def document_item(source: str, document: Document) -> Item:
    """A document as ingest sees it, in fields."""
    first, rest = _first_and_rest(plain(document.text))
    signature = " ".join(document.signature.split())
    return Item(source, document.path, signature, first, rest, document.title)


def rustdoc_crates(folder: Path, *, leave_out: Collection[str]) -> list[Path]:
    """One file of each crate, of its last version: ``<crate>/<version>/rustdoc.json.zst``.

    Args:
        folder: holds one folder per crate.
        leave_out: crates that evaluation asks about, which must not be learned from.
    """
    files: list[Path] = []
    for crate in sorted(folder.iterdir()):
        if crate.is_dir() and crate.name not in leave_out:
            found = crate.glob("*/rustdoc.json.zst")
            files += sorted(found, key=lambda file: Version.parse(file.parent.name))[-1:]
    return files


def rustdoc_items(file: Path) -> list[Item]:
    """The documented items of one crate, in the order of their paths."""
    crate = file.parent.parent.name
    body = zstandard.decompress(file.read_bytes(), max_output_size=1 << 30)
    documents = rustdoc.read(body, name=crate, version=file.parent.name).documents
    return [
        document_item(f"rust:{crate}", document)
        for document in documents
        if document.kind != "re-export"
    ]


def python_items(folder: Path) -> Iterator[Item]:
    """All public classes, functions and modules with docstrings below a folder, but for tests.

    A file that is not Python gives none. Private modules are no part of a path: what they define
    is mostly offered by the package around them.
    """
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder.parent).with_suffix("").parts
        if any(part.startswith("test") for part in parts):
            continue
        names = [part for part in parts if not part.startswith("_")]
        try:
            tree = python_ast.parse_module(file.read_text("utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        if names:
            yield from _python_scope(tree, names, "python:" + "/".join(names[:2]))


def _python_scope(node: ast.AST, names: list[str], source: str) -> Iterator[Item]:
    """The item of one definition and, of modules and classes, the items in it."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return
    text = ast.get_docstring(node) or ""
    first, rest = _first_and_rest(_prose(text))
    if first:
        yield Item(source, ".".join(names), _python_signature(node), first, rest, names[-1])
    if isinstance(node, ast.Module | ast.ClassDef):
        for child in node.body:
            name = getattr(child, "name", "_")
            if not name.startswith("_"):
                yield from _python_scope(child, [*names, name], source)


def _python_signature(node: ast.AST) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return f"def {node.name}({ast.unparse(node.args)}){returns}"
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}({', '.join(map(ast.unparse, node.bases))})"
    return ""


def _prose(docstring: str) -> str:
    """A docstring without doctests, underlines of headings and markup of roles."""
    lines = [
        line
        for line in _HEADER.sub("", docstring).split("\n")
        if not line.lstrip().startswith((">>>", "... ", ".. "))
    ]
    return _ROLE.sub(r"\1", "\n".join(lines)).strip()


def _first_and_rest(prose: str) -> tuple[str, str]:
    """The first sentence, which ends with its paragraph at the latest, and some of the others."""
    paragraph, _, others = prose.partition("\n\n")
    found = list(sentences(" ".join(paragraph.split())))
    rest = " ".join([*found[1:], others]).split()
    return found[0], " ".join(rest[:REST_WORDS])
