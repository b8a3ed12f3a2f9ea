"""A crate's own archive: its guides, and what its manifest says of it.

Where archives are is written in the ``config.json`` of the index:
https://doc.rust-lang.org/cargo/reference/registry-index.html#index-configuration
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docstow.core import toml
from docstow.core.errors import UnreadableInput
from docstow.core.model import NO_ATTRIBUTES, File
from docstow.languages.shared.guides import role_of
from docstow.sources.crates.index import Release, index_folder
from docstow.sources.packages.archives import Unpacker
from docstow.sources.packages.client import check_file
from docstow.sources.tarball import Caps

if TYPE_CHECKING:
    from docstow.net import Fetcher

#: The suffix of a crate's example programs.
EXAMPLES = ".rs"
_MANIFEST = "Cargo.toml"
_LARGEST_MANIFEST = 2_000_000
_ADDRESSES = ("documentation", "homepage", "repository")
_TEXTS = ("description", "license", "rust-version")


@dataclass(frozen=True, slots=True)
class CrateArchive:
    """What is read of an archive.

    Attributes:
        files: guides, their paths below the crate's root.
        links: ``documentation``, ``homepage``, ``repository``, those that the manifest has.
        facts: ``description``, ``license``, ``rust_version``, ``keywords``, those that it has.
        readme: path of the README that the manifest names; empty where it names none.
    """

    files: Sequence[File] = ()
    links: Mapping[str, str] = field(default_factory=lambda: NO_ATTRIBUTES)
    facts: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRIBUTES)
    readme: str = ""


def archive_url(template: str, name: str, release: Release) -> str:
    """Return where a crate's archive is, by the ``dl`` of its index.

    Args:
        template: with the markers that the Cargo book lists, or without.
        name: of the crate, as it spells itself.
        release: the version that is wanted.
    """
    values = {
        "{crate}": name,
        "{version}": release.version,
        "{prefix}": index_folder(name),
        "{lowerprefix}": index_folder(name.lower()),
        "{sha256-checksum}": release.checksum,
    }
    if not any(marker in template for marker in values):
        template = f"{template.rstrip('/')}/{{crate}}/{{version}}/download"
    for marker, value in values.items():
        template = template.replace(marker, value)
    return template


def fetch_archive(
    fetcher: Fetcher, url: str, name: str, release: Release, *, shown: str, most: int, plain: int
) -> CrateArchive:
    """Download a crate's archive, check it, and read what of it is for people.

    Args:
        fetcher: the HTTP client.
        url: of the archive.
        name: of the crate.
        release: the version, with its checksum.
        shown: where people read the files of the crate; a path is appended.
        most: the largest archive, in bytes.
        plain: the most bytes after unpacking.

    Raises:
        UpstreamError, UpstreamTimeout: it cannot be had.
        UnreadableInput: it is damaged, hostile, or not the one that the index lists.
        TooLarge: it exceeds a limit.
    """
    label = f"{name}-{release.version}.crate"
    if not release.checksum:
        raise UnreadableInput(f"The index states no checksum of {label}; it is not read.")
    with tempfile.TemporaryDirectory(prefix="docstow-", ignore_cleanup_errors=True) as scratch:
        path = Path(scratch, "archive")
        fetcher.download(url, path, most=most)
        check_file(path, {"sha256": release.checksum}, name=label)
        folder = Path(scratch, "crate")
        kept: list[str] = []

        def place(inner: str) -> str:
            wanted = inner == _MANIFEST or bool(role_of(inner, EXAMPLES)) or _may_be_readme(inner)
            if wanted:
                kept.append(inner)
            return inner if wanted else ""

        Unpacker(folder, Caps(plain=plain)).add(path, label, place)
        bodies = {each: (folder / each).read_bytes() for each in kept if (folder / each).is_file()}
    manifest = _read_manifest(bodies.pop(_MANIFEST, b""))
    named = manifest.get("readme")
    readme = named.removeprefix("./") if isinstance(named, str) and named in bodies else ""
    files = [
        File(each, f"{shown}/{each}", "", body)
        for each, body in bodies.items()
        if each == readme or role_of(each, EXAMPLES)
    ]
    return CrateArchive(files, _links(manifest), _facts(manifest), readme)


def _may_be_readme(path: str) -> bool:
    """Return whether a manifest may name a file as README though it is not called so."""
    return "/" not in path and path.lower().endswith((".md", ".markdown"))


def _read_manifest(body: bytes) -> Mapping[str, Any]:
    """Return the table ``package`` of a manifest; empty where it cannot be read."""
    try:
        package = toml.loads(body[:_LARGEST_MANIFEST].decode()).get("package")
    except ValueError:
        return {}
    return package if isinstance(package, dict) else {}


def _links(manifest: Mapping[str, Any]) -> dict[str, str]:
    found = {name: manifest.get(name) for name in _ADDRESSES}
    return {
        name: url
        for name, url in found.items()
        if isinstance(url, str) and url.startswith(("https://", "http://"))
    }


def _facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name.replace("-", "_"): manifest.get(name) for name in _TEXTS}
    found: dict[str, Any] = {
        name: " ".join(text.split())
        for name, text in texts.items()
        if isinstance(text, str) and text.strip()
    }
    keywords = manifest.get("keywords")
    if isinstance(keywords, list) and (words := [e for e in keywords if isinstance(e, str)]):
        found["keywords"] = words
    return found
