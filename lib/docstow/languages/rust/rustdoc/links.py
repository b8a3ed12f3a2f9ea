"""Where links lead: URLs of rustdoc's pages, and intra-doc links in Markdown resolved to them."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

from docstow.languages.rust.rustdoc.schema import ExternalCrate, Summary

#: Crates that come with the compiler; their documentation has a site of its own.
STD = frozenset({"std", "core", "alloc", "proc_macro", "test"})
_STD_ROOT = "https://doc.rust-lang.org"
#: What stands in the version of an unreleased standard library, and names its site's folder.
_CHANNEL = re.compile(r"nightly|beta")
_PREFIXES = {
    "attribute_macro": "attr",
    "derive_macro": "derive",
    "extern_type": "foreigntype",
    "function": "fn",
    "trait_alias": "traitalias",
    "type_alias": "type",
}
_ANCHORS = {
    "variant": "variant",
    "field": "structfield",
    "assoc_const": "associatedconstant",
    "assoc_type": "associatedtype",
    "method": "method",
}
_SUMMARY_KINDS = {
    "import": "re-export",
    "keyword": "keyword",
    "proc_attribute": "attribute_macro",
    "proc_derive": "derive_macro",
    "typedef": "type_alias",
}
_FENCE = re.compile(r"^[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
_DEFINITION = re.compile(
    r"""^[\s>]*\[(?P<label>(?:[^\]\\]|\\.)+)\]:[ \t]*\n?[ \t]*(?P<dest><[^>\n]*>|\S+)
        (?:[ \t]+(?:"[^"]*"|'[^']*'|\([^)]*\)))?[ \t]*(?:\n|\Z)""",
    re.MULTILINE | re.VERBOSE,
)
_DESTINATION = re.compile(
    r"""\(\s*(?P<dest><[^>\n]*>|(?:[^\s()]|\([^\s()]*\))*)
        (?:\s+(?:"[^"]*"|'[^']*'|\([^)]*\)))?\s*\)""",
    re.VERBOSE,
)
_INTERESTING = re.compile(r"[\\`\[<]")
_BRACKETS = re.compile(r"\\.|!?\[|[`\]]", re.DOTALL)
_TICKS = re.compile(r"`+")
_TAG = re.compile(r"<[A-Za-z/!][^<>]*>")
# `../runtime/index.html#part`; with a scheme or a host it is absolute already.
_RELATIVE_PAGE = re.compile(r"(?!//)[^:?#]+\.html(?:[?#].*)?")
Links = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class External:
    """Another crate as a file knows it; members are empty where the file does not say."""

    lib: str
    package: str
    version: str
    url: str


def document_kind(summary_kind: str) -> str:
    """Return the document kind for a kind as ``paths`` spells it."""
    return _SUMMARY_KINDS.get(summary_kind, summary_kind)


def root_url(base_url: str, package: str, version: str, lib: str) -> str:
    """Return the URL under which the crate's own pages lie, with a final slash."""
    if lib in STD and package == lib:
        channel = _CHANNEL.search(version)
        return f"{_STD_ROOT}/{channel[0] if channel else version or 'stable'}/"
    return f"{base_url.rstrip('/')}/{package}/{version or 'latest'}/"


def page_url(root: str, path: str, kind: str) -> str:
    """Return the page of a module-level item below ``root``; a variant is on its enum's."""
    segments = path.split("::")
    if kind == "variant" and len(segments) > 2:
        enum = page_url(root, "::".join(segments[:-1]), "enum")
        return enum + member_fragment("variant", segments[-1])
    if kind == "module":
        return f"{root}{'/'.join(segments)}/index.html"
    name = f"{_PREFIXES.get(kind, kind)}.{segments[-1]}.html"
    return root + "/".join([*segments[:-1], name])


def member_fragment(kind: str, name: str, *, required: bool = False) -> str:
    """Return the fragment of a member on its owner's page, with its ``#``."""
    word = "tymethod" if required and kind == "method" else _ANCHORS[kind]
    return f"#{word}.{name}"


def reexport_url(root: str, module: str, name: str) -> str:
    """Return the URL of the line of a re-export that has no page here."""
    return f"{page_url(root, module, 'module')}#reexport.{name}"


def read_external(crate: ExternalCrate) -> External:
    """Read package and version of a crate from the URL that docs.rs gives to the compiler.

    Its last folder, the target, is left out: it is the default one there as here.
    """
    url = crate.html_root_url or (f"{_STD_ROOT}/stable/" if crate.name in STD else "")
    url = url if not url or url.endswith("/") else url + "/"
    if url.startswith(_STD_ROOT):
        if crate.name not in STD:  # a private dependency of std, documented nowhere
            return External(crate.name, "", "", "")
        return External(crate.name, crate.name, urlsplit(url).path.strip("/"), url)
    parts = urlsplit(url)
    package, version = [*parts.path.strip("/").split("/"), "", ""][:2]
    if parts.hostname != "docs.rs" or not version[:1].isdigit():
        return External(crate.name, "", "", url)
    return External(crate.name, package, version, f"https://docs.rs/{package}/{version}/")


def external_url(summary: Summary, crates: Mapping[int, External]) -> str:
    """Return the page of another crate's item; empty if the crate's documentation is unknown.

    A private definition path works as well: rustdoc leaves a redirect there. The standard
    library's are made public.
    """
    crate = crates.get(summary.crate_id)
    if crate is None or not crate.url:
        return ""
    return page_url(crate.url, public_path(summary), document_kind(summary.kind))


def public_path(summary: Summary) -> str:
    """Return the path at which users write another crate's item, or else its definition path.

    Of the standard library's items it is known: ``core::future::Future``.
    """
    path = "::".join(summary.path)
    if summary.path[0] not in STD:
        return path
    owner, _, name = path.rpartition("::")
    known = _std_paths()
    if summary.kind == "variant" and owner in known:
        return f"{known[owner]}::{name}"
    return known.get(path, path)


@cache
def _std_paths() -> Mapping[str, str]:
    """Return public paths of the standard library's items by private definition paths.

    Each line of the file has a private module, the public one, and names, parted by spaces;
    ``infra/std_definitions.py`` makes it.
    """
    data = pkgutil.get_data(__package__ or "", "std_definitions.txt") or b""
    found: dict[str, str] = {}
    for line in data.decode().splitlines():
        private, public, *names = line.split(" ")
        found |= {f"{private}::{name}": f"{public}::{name}" for name in names}
    return found


def resolve(text: str, links: Links, absolute: Callable[[str], str] | None = None) -> str:
    """Replace every link whose text or destination is a key of ``links``, or a relative page.

    Code is never changed.

    Args:
        text: Markdown.
        links: link text (or destination) exactly as written to a URL; an empty URL turns the
            link into its bare text.
        absolute: returns the URL of a relative destination (``../index.html``), which is valid
            only on the page it was written for; without it such links stay as they are.

    Returns:
        Markdown in which those links are inline, so that a part of it still links after a split;
        code and all other links are as they were.
    """
    relative = absolute is not None and ".html" in text
    if not (links or relative) or "[" not in text:
        return text
    pieces = list(_pieces(text))
    defined: dict[str, str] = {}
    for is_code, piece in pieces:
        if not is_code and "]:" in piece:
            for found in _DEFINITION.finditer(piece):
                defined.setdefault(_label(found["label"]), found["dest"].strip("<>"))
    scanner = _Scanner(links, defined, absolute)
    return "".join(piece if is_code else scanner.prose(piece) for is_code, piece in pieces)


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


def _pieces(text: str) -> Iterator[tuple[bool, str]]:
    """Split into (is code, text); prose by paragraphs, beyond which no code span reaches."""
    fence = ""
    held: list[str] = []
    in_list, after_blank = False, True
    for line in text.splitlines(keepends=True):
        blank = not line.strip()
        if fence:
            yield True, line
            mark = line.strip().lstrip("> ")
            fence = "" if mark.startswith(fence) and not mark.strip(fence[0]) else fence
            continue
        opening = _FENCE.match(line) if "```" in line or "~~~" in line else None
        indented = after_blank and not blank and line.startswith(("    ", "\t")) and not in_list
        if (opening or blank or indented) and held:
            yield False, "".join(held)
            held = []
        if opening:
            fence = opening[1]
        if opening or blank or indented:
            yield True, line
            after_blank = blank or indented
            continue
        after_blank = False
        in_list = bool(_LIST_ITEM.match(line)) or (in_list and line.startswith(" "))
        held.append(line)
    if held:
        yield False, "".join(held)


class _Scanner:
    """Reads paragraphs from left to right and replaces their links.

    Args:
        links: see :func:`resolve`.
        defined: reference labels to destinations.
        absolute: see :func:`resolve`.
    """

    def __init__(
        self, links: Links, defined: Mapping[str, str], absolute: Callable[[str], str] | None
    ) -> None:
        self.links = links
        self.defined = defined
        self.absolute = absolute

    def prose(self, text: str) -> str:
        """Return a paragraph with its links resolved, and without the definitions of those."""
        if "[" not in text:
            return text
        if "]:" in text:
            text = _DEFINITION.sub(
                lambda found: "" if self._destination(found["dest"]) is not None else found[0],
                text,
            )
        closings = _closings(text)
        out: list[str] = []
        at = 0
        while found := _INTERESTING.search(text, at):
            out.append(text[at : found.start()])
            piece, at = self._step(text, found.start(), closings)
            out.append(piece)
        out.append(text[at:])
        return "".join(out)

    def _step(self, text: str, at: int, closings: Mapping[int, int]) -> tuple[str, int]:
        """Return what stands at a special character, and where to go on."""
        mark = text[at]
        if mark == "[":
            return self._link(text, at, closings)
        if mark == "\\":
            end = at + 2
        elif mark == "`":
            end = _code_span(text, at)
        else:
            tag = _TAG.match(text, at)
            end = tag.end() if tag else at + 1
        return text[at:end], end

    def _link(self, text: str, at: int, closings: Mapping[int, int]) -> tuple[str, int]:
        """Return a link in one of its forms; a bracket around other links is none."""
        end = closings.get(at, -1)
        if end < 0:
            return "[", at + 1
        label = text[at + 1 : end]
        if found := _DESTINATION.match(text, end + 1):
            url = self._destination(found["dest"])
            shown = _shown(label, url) if url is not None else text[at : found.end()]
            return shown, found.end()
        close = closings.get(end + 1, -1)
        if close > 0:
            key = text[end + 2 : close] or label
            url = self._reference(key)
            if url is not None:
                return _shown(label, url), close + 1
            if _label(key) in self.defined:
                return text[at : close + 1], close + 1
        url = self._reference(label)
        return (_shown(label, url), end + 1) if url is not None else ("[", at + 1)

    def _reference(self, key: str) -> str | None:
        """Return the URL of ``[key]``: by its definition, or else as a link in itself."""
        dest = self.defined.get(_label(key))
        return self._destination(dest) if dest is not None else self._url(key)

    def _destination(self, written: str) -> str | None:
        """Return the URL of a destination; None if it stays as it is."""
        dest = written.strip("<>")
        url = self._url(dest)
        if url is None and self.absolute is not None and _RELATIVE_PAGE.fullmatch(dest):
            return self.absolute(dest)
        return url

    def _url(self, dest: str) -> str | None:
        url = self.links.get(dest)
        if url is None:
            url = self.links.get(" ".join(dest.split()))
        if url and "#" in dest and "#" not in url:
            return f"{url}#{dest.partition('#')[2]}"
        return url


def _shown(label: str, url: str) -> str:
    return f"[{label}]({url})" if url else label


def _code_span(text: str, at: int) -> int:
    """Return the end of the code span that opens here; of its ticks if it is never closed."""
    ticks = _TICKS.match(text, at)
    if ticks is None:
        return at + 1
    for found in _TICKS.finditer(text, ticks.end()):
        if len(found[0]) == len(ticks[0]):
            return found.end()
    return ticks.end()


@dataclass(slots=True)
class _Bracket:
    """An opening bracket: whether an image opens with it, and whether links can be inside."""

    at: int
    image: bool
    nested: bool = False


def _closings(text: str) -> dict[int, int]:
    """Return each opening bracket's closing one, over code spans and escapes.

    Brackets around other brackets are left out, for no link can contain a link; images can.
    """
    found: dict[int, int] = {}
    opened: list[_Bracket] = []
    at = 0
    while mark := _BRACKETS.search(text, at):
        at = mark.end()
        if mark[0] == "`":
            at = _code_span(text, mark.start())
        elif mark[0] in {"[", "!["}:
            opened.append(_Bracket(mark.end() - 1, image=mark[0] == "!["))
        elif mark[0] == "]" and opened:
            bracket = opened.pop()
            if not bracket.nested:
                found[bracket.at] = mark.start()
            if opened:
                opened[-1].nested = opened[-1].nested or not bracket.image
    return found
