"""The guides that a package carries: README, changelog, Markdown of its docs, example programs.

They are told from other files by their names alone, and become pages beside the package's items.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import splitext
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError
from docstow.core.model import NO_ATTRIBUTES, Document, File
from docstow.core.patterns import lazy_pattern
from docstow.formats import read

if TYPE_CHECKING:
    from docstow.languages.shared.boundary import Boundary

README, CHANGELOG, GUIDE, EXAMPLE = "readme", "changelog", "guide", "example"
#: The folder beside a Python package's metadata in which guides of its source distribution lie.
GUIDES = "guides"
#: The order in which guides are read while there is room.
_ROLES = (README, CHANGELOG, GUIDE, EXAMPLE)
#: Bytes of one file and of all of them, and how many are read.
LARGEST = 500_000
_LARGEST_READ = 5_000_000
MOST_BYTES = 4_000_000
MOST_FILES = 200
_SUFFIXES = frozenset({"", ".md", ".markdown", ".mdx", ".rst", ".adoc", ".txt"})
#: In folders of documentation, where what has no suffix or ends in ``.txt`` is mostly data.
_PROSE_SUFFIXES = _SUFFIXES - {"", ".txt"}
_FOLDERS = frozenset({"book", "doc", "docs", "documentation", "guide", "guides", "tutorial"})
_CHANGELOG = lazy_pattern(
    r"change[-_ ]?logs?|changes|history|news|releases?|release[-_ ]?notes|relnotes", re.IGNORECASE
)
_OWN = lazy_pattern(
    r"cookbook|errors|examples|faq|features|getting[-_ ]?started|guide"
    r"|migrat(?:ing|ion)(?:[-_ ].*)?|quick[-_ ]?start|recipes|tutorial"
    r"|upgrad(?:e|ing)(?:[-_ ].*)?|usage",
    re.IGNORECASE,
)
#: Pages of a folder of documentation that list others, or are for the package's own developers.
_ASIDE = lazy_pattern(r"summary|_?sidebar|_?navbar|contributing|code[-_]of[-_]conduct|licen[cs]e.*")
_DOC_COMMENT = lazy_pattern(r"(?m)^//! ?(.*)$")
_COMMENT_LINES = lazy_pattern(r"\A(?:\s*//!.*\n?)+")


@dataclass(frozen=True, slots=True)
class Guides:
    """What was read.

    Attributes:
        pages: README first, then the changelog, then the others by their paths.
        left_out: sentences on what was not taken.
    """

    pages: Sequence[Document] = ()
    left_out: Sequence[str] = ()


def role_of(path: str, examples: str = "") -> str:
    """Return what a file of a package is for its users: one of four roles, or nothing.

    Args:
        path: below the package's root.
        examples: the suffix of programs in the folder ``examples``; empty where none is read.
    """
    *folders, name = path.split("/")
    stem, suffix = splitext(name)
    top = folders[0].lower() if folders else ""
    if top == "examples" and examples and suffix == examples:
        # Of a program in a folder of its own, the file that runs is the example.
        return EXAMPLE if len(folders) == 1 or (len(folders) == 2 and stem == "main") else ""
    if suffix.lower() not in _SUFFIXES:
        return ""
    if not folders and stem.lower() == "readme":
        return README
    below = top in _FOLDERS and suffix.lower() in _PROSE_SUFFIXES
    if _CHANGELOG.fullmatch(stem) and (not folders or (below and len(folders) == 1)):
        return CHANGELOG
    if below and not _ASIDE.fullmatch(stem.lower()):
        return GUIDE
    return GUIDE if not folders and _OWN.fullmatch(stem) else ""


def read_guides(
    name: str,
    files: Iterable[File],
    *,
    language: str,
    examples: str = "",
    readme: str = "",
    links: Mapping[str, str] = NO_ATTRIBUTES,
) -> Guides:
    """Read a package's guides.

    Args:
        name: of the package.
        files: of the package, their paths below its root and their URLs where people read them;
            those that are no guides are passed over.
        language: of its items, as their documents state it.
        examples: as of :func:`role_of`.
        readme: path of the README where the package names one.
        links: the addresses in its metadata, by label; its README gets them.
    """
    left_out: list[str] = []
    found: list[tuple[int, str, File]] = []
    for file in files:
        role = README if readme and file.path == readme else role_of(file.path, examples)
        if role:
            found.append((_ROLES.index(role), file.path, file))
    pages: dict[str, Document] = {}
    used = skipped = 0
    for place, path, file in sorted(found, key=lambda each: each[:2]):
        role = _ROLES[place]
        if len(file.body) > LARGEST and role != CHANGELOG:
            left_out.append(f"{path} is left out: it has more than {LARGEST // 1000} kB.")
            continue
        body = file.body[:LARGEST]
        if len(pages) >= MOST_FILES or used + len(body) > MOST_BYTES:
            skipped += 1
            continue
        if len(file.body) > LARGEST:
            left_out.append(f"Of {path} the first {LARGEST // 1000} kB are read.")
            body = body[: body.rfind(b"\n") + 1] or body
        used += len(body)
        try:
            page = _page(name, role, File(path, file.url, file.media_type, body), language)
        except DocstowError as error:
            left_out.append(f"{path} is left out: {error.message}")
            continue
        if page.text.strip():
            pages.setdefault(page.path, page)
    if skipped:
        left_out.append(
            f"{skipped} guides are left out: {MOST_FILES} files and {MOST_BYTES // 1_000_000} MB"
            " of a package are read."
        )
    return Guides(_with_links(list(pages.values()), links), left_out)


def read_folder(
    name: str, boundary: Boundary, root: Path, *, language: str, url: str = "", changelog: str = ""
) -> Guides:
    """Read the guides of a package that lies in a folder, all but its README.

    Args:
        name: of the package.
        boundary: what may be read.
        root: of the package.
        language: of its items, as their documents state it.
        url: where people read about it.
        changelog: where people read its changelog.
    """
    files: list[File] = []
    left_out: list[str] = []
    for path in _list_guides(boundary, root):
        role = role_of(path)
        if role not in (CHANGELOG, GUIDE):
            continue
        if len(files) >= 2 * MOST_FILES:
            left_out.append(f"Of many guides, those after {path} are left out.")
            break
        try:
            # A changelog is cut, not left out.
            body = boundary.read(Path(path), root, most=_LARGEST_READ)
        except DocstowError as error:
            left_out.append(f"{path} is left out: {error.message}")
            continue
        files.append(File(path, (role == CHANGELOG and changelog) or url, "", body))
    read = read_guides(name, files, language=language)
    return Guides(read.pages, [*left_out, *read.left_out])


def _list_guides(boundary: Boundary, root: Path) -> Iterator[str]:
    """Yield the paths of files in a folder and in those below it that have documentation."""
    try:
        base = boundary.inside(root)
        listed = sorted(base.iterdir())
    except (OSError, DocstowError):
        return
    yield from (each.name for each in listed if each.is_file())
    for each in listed:
        if each.name.lower() in _FOLDERS and each.is_dir() and not each.is_symlink():
            for found in boundary.files(each, {"node_modules"}):
                yield Path(found).relative_to(base).as_posix()


def with_left_out(guides: Guides) -> Iterator[Document]:
    """Yield the pages; the first says in its attributes what was left out."""
    for number, page in enumerate(guides.pages):
        said = {"left_out": list(guides.left_out)} if guides.left_out and not number else {}
        yield replace(page, attributes={**page.attributes, **said}) if said else page


def find_readme(documents: Iterable[Document]) -> Document | None:
    """Return the README among a package's documents; None where there is none."""
    pages = [each for each in documents if each.kind == "page"]
    named = (each for each in pages if each.attributes.get("role", README) == README)
    return next(named, None)


def page_path(name: str, path: str) -> str:
    """Return the path of the page that a file becomes: ``serde/docs/errors``."""
    stem, suffix = splitext(path)
    return f"{name}/{stem if suffix.lower() in {*_SUFFIXES, '.rs'} else path}"


def _page(name: str, role: str, file: File, language: str) -> Document:
    if role == EXAMPLE:
        stem = file.path.removeprefix("examples/").removesuffix("/main.rs").rpartition(".")
        title = (stem[0] or stem[2]).replace("_", " ")
        text = _read_program(file, title, language)
    else:
        page = read(file)
        title, text = (name if role == README else page.title), page.text
    attributes = {"language": language, "file": file.path, "role": role}
    attributes["media_type"] = "text/markdown"
    path = page_path(name, file.path)
    return Document(path, "page", title, "", text, file.url, "", attributes)


def _read_program(file: File, title: str, language: str) -> str:
    """Return an example as Markdown: what its comment says, and its code."""
    code = file.body.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    said = ""
    if comment := _COMMENT_LINES.match(code):
        said = "\n".join(_DOC_COMMENT.findall(comment[0])).strip()
        code = code[comment.end() :]
    fence = "```"
    while fence in code:
        fence += "`"
    parts = (f"# Example: {title}", said, f"{fence}{language}\n{code.strip()}\n{fence}")
    return "\n\n".join(filter(None, parts))


def _with_links(pages: list[Document], links: Mapping[str, str]) -> list[Document]:
    if not links or not pages or pages[0].attributes["role"] != README:
        return pages
    first = pages[0]
    attributes = {**first.attributes, "links": dict(links)}
    named = Document(first.path, first.kind, first.title, "", first.text, first.url, "", attributes)
    return [named, *pages[1:]]
