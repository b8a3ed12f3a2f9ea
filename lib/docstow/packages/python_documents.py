"""The public surface of a Python package → documents, as a source that is searched.

This room knows which names are worth a document: each definition once, under its shortest public
path. It does not know how names are found.
"""

from __future__ import annotations

import email
import re
from collections.abc import Iterator

from docstow.errors import DocstowError
from docstow.model import Document
from docstow.packages.boundary import Boundary
from docstow.packages.python_surface import PythonSurface
from docstow.packages.surface import Symbol

_MOST_DOCUMENTS = 30_000
_LARGEST_METADATA = 2_000_000
_DOCTEST = re.compile(r"(?:^[ \t]*>>> .*\n?(?:^[ \t]*\S.*\n?)*)+", re.MULTILINE)


def documents(surface: PythonSurface) -> Iterator[Document]:
    """The package's README, its public modules, what they mean for others, and those's members.

    Args:
        surface: of an installed package.
    """
    url = ""
    if (readme := _readme(surface)) is not None:
        url = readme.url
        yield readme
    modules = [each for each in surface.modules() if "._" not in f".{each}"]
    modules.sort(key=lambda each: (each.count("."), each))
    seen: set[tuple[str, int, str]] = set()
    left = _MOST_DOCUMENTS
    for module in modules:
        symbol = surface.symbol(module)
        if symbol is None or symbol.kind != "module":
            continue
        yield _document(symbol, module.rpartition(".")[0], url)
        for made in _below(surface, module, seen, url):
            left -= 1
            yield made
            if left <= 0:
                return


def _below(
    surface: PythonSurface, owner: str, seen: set[tuple[str, int, str]], url: str
) -> Iterator[Document]:
    for name, symbol in (surface.members(owner) or {}).items():
        home = (symbol.file, symbol.line, name)
        if symbol.kind in {"module", "re-export"} or home in seen or name.startswith("_"):
            continue
        seen.add(home)
        made = surface.symbol(f"{symbol.path}.__init__") if symbol.kind == "class" else None
        yield _document(symbol, owner, url, made.signature if made else "")
        if symbol.kind in {"class", "enum"}:
            yield from _below(surface, symbol.path, seen, url)


def _document(symbol: Symbol, parent: str, url: str, constructor: str = "") -> Document:
    attributes: dict[str, object] = {"language": "python"}
    if symbol.file:
        attributes |= {"file": symbol.file, "line": symbol.line}
    if constructor:
        attributes["constructor"] = constructor
    if symbol.deprecated:
        attributes["deprecated"] = symbol.deprecated
    if symbol.target:
        attributes["target"] = symbol.target
    title = symbol.path.rpartition(".")[2]
    return Document(
        symbol.path,
        symbol.kind,
        title,
        symbol.signature,
        markdown(symbol.docstring),
        url,
        parent,
        attributes,
    )


def markdown(docstring: str) -> str:
    """A docstring as Markdown: its interactive sessions become code blocks."""
    if "```" in docstring:
        return docstring
    return _DOCTEST.sub(_fenced, docstring)


def _fenced(found: re.Match[str]) -> str:
    rows = [row.strip() for row in found[0].rstrip("\n").split("\n")]
    return "\n".join(["", "```python", *rows, "```", ""])


def _readme(surface: PythonSurface) -> Document | None:
    """The package's own page: what its metadata says of it at length."""
    info = surface.package.info_root
    if info is None:
        return None
    try:
        body = Boundary(info).read("METADATA", most=_LARGEST_METADATA)
    except DocstowError:
        return None
    told = email.message_from_string(body.decode(errors="replace"))
    text = told.get_payload()
    if not isinstance(text, str) or not text.strip():
        return None
    addresses = [each.split(",", 1)[-1].strip() for each in told.get_all("Project-URL", [])]
    name = surface.package.name
    attributes = {"language": "python", "media_type": "text/markdown"}
    url = told.get("Home-page") or next(iter(addresses), "")
    return Document(f"{name}/README", "page", name, "", text, str(url), "", attributes)
