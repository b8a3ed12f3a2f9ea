"""URLs of the pages on which rustdoc's HTML shows items."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
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


def crate_root(base_url: str, package: str, version: str, lib: str) -> str:
    """Return the URL under which the crate's own pages lie, with a final slash."""
    if lib in STD and package == lib:
        channel = _CHANNEL.search(version)
        return f"{_STD_ROOT}/{channel[0] if channel else version or 'stable'}/"
    return f"{base_url.rstrip('/')}/{package}/{version or 'latest'}/"


def page(root: str, path: str, kind: str) -> str:
    """Return the page of a module-level item below ``root``; a variant is on its enum's."""
    segments = path.split("::")
    if kind == "variant" and len(segments) > 2:
        return page(root, "::".join(segments[:-1]), "enum") + anchor("variant", segments[-1])
    if kind == "module":
        return f"{root}{'/'.join(segments)}/index.html"
    name = f"{_PREFIXES.get(kind, kind)}.{segments[-1]}.html"
    return root + "/".join([*segments[:-1], name])


def anchor(kind: str, name: str, *, required: bool = False) -> str:
    """Return the fragment of a member on its owner's page, with its ``#``."""
    word = "tymethod" if required and kind == "method" else _ANCHORS[kind]
    return f"#{word}.{name}"


def reexport(root: str, module: str, name: str) -> str:
    """Return the URL of the line of a re-export that has no page here."""
    return f"{page(root, module, 'module')}#reexport.{name}"


def external(crate: ExternalCrate) -> External:
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


def external_page(summary: Summary, crates: Mapping[int, External]) -> str:
    """Return the page of another crate's item; empty if the crate's documentation is unknown.

    A private definition path works as well: rustdoc leaves a redirect there.
    """
    crate = crates.get(summary.crate_id)
    if crate is None or not crate.url:
        return ""
    return page(crate.url, "::".join(summary.path), document_kind(summary.kind))
