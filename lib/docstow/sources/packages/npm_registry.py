"""npm packages: versions and tarballs from registries, chosen as npm chooses, laid out to be read.

Nothing is installed and no script runs.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit, urlunsplit

from docstow.core.errors import (
    DocstowError,
    InvalidParameter,
    PackageNotFound,
    TooLarge,
    UnreadableInput,
    UpstreamError,
    UpstreamTimeout,
)
from docstow.core.model import Revision, Source
from docstow.core.npm_ranges import Range, choose, parse_version, split_alias
from docstow.core.threads import in_parallel
from docstow.languages.shared.project import About
from docstow.languages.typescript.engine import engine_version
from docstow.languages.typescript.package_json import BUILTIN
from docstow.net.client import host_name
from docstow.sources.packages import (
    Dependency,
    Listing,
    Release,
    Unpacked,
    configuration,
    packuments,
)
from docstow.sources.packages.archives import Unpacker, made_whole
from docstow.sources.packages.client import RegistryClient
from docstow.sources.tarball import Caps

if TYPE_CHECKING:
    from docstow.net import Fetcher
    from docstow.net.decompress import Limits
    from docstow.sources import Upstreams
    from docstow.sources.packages.configuration import NpmRegistries

_FOUND = 200
KIND = "node"
_PART = r"[A-Za-z0-9_~-][A-Za-z0-9._~-]*"
_NAME = re.compile(rf"(?:@{_PART}/)?{_PART}")
_LONGEST_NAME = 214
_SUGGESTED = 3
#: So many packages, and so many bytes of them as downloaded, are laid beside the one that is read.
MOST_BESIDE, MOST_BYTES_BESIDE = 24, 32 * 1024 * 1024
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
_SOURCES = (*_DECLARATIONS, ".ts", ".tsx", ".mts", ".cts")
_SCRIPTS = (".js", ".mjs", ".cjs")
_DEEPEST = 12
_LARGEST_DECLARATION = 16 * 1024 * 1024
#: What nobody reads of a package.
_UNREAD = re.compile(
    r"\.(?:map|png|jpe?g|gif|ico|webp|svg|woff2?|ttf|otf|eot|wasm|node|so|dll|dylib|exe|zip|t?gz|mp[34])$",
    re.IGNORECASE,
)
_IMPORT = re.compile(
    rb"""(?:\bfrom|\bimport\s*\(|\brequire\s*\(|\bimport|<reference\s+types\s*=)\s*["']([^"'\n]+)["']"""
)


class NpmRegistry:
    """The packages of npm's registries, of which each scope may have its own.

    Args:
        fetcher: the HTTP client.
        registries: where they are.
        limits: caps on a packument, a tarball, and what is unpacked of it.
        node: the version of Node that packages should run on; empty for any.
    """

    def __init__(
        self, fetcher: Fetcher, registries: NpmRegistries, *, limits: Limits, node: str = ""
    ) -> None:
        self._fetcher = fetcher
        self._registries = registries
        self._limits = limits
        self._node = parse_version(node)
        self._lock = threading.Lock()
        self._clients: dict[str, RegistryClient[Listing]] = {}

    def listing(self, name: str) -> Listing:
        """Return all releases of a package.

        Raises:
            InvalidParameter: the name cannot be a package's.
            PackageNotFound: the registry has no such package.
            UpstreamError, UpstreamTimeout: the registry does not answer.
            TooLarge: it lists more than is read.
        """
        if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
            raise InvalidParameter(
                "package", "must be the name of an npm package, such as react or @types/node"
            )
        client = self._client(name)
        found = client.listing(
            _listing_url(client, name),
            lambda answer: packuments.read(answer, name),
            {"Accept": packuments.ACCEPT},
        )
        if found is None:
            raise PackageNotFound(
                f"{host_name(client.registry.url)} has no npm package named {name}. Check the"
                " spelling, and its scope if it has one."
            )
        return found

    def cached(self, name: str) -> Listing | None:
        """Return the releases of a package if they are here already; nobody is asked."""
        client = self._client(name)
        return client.cached(_listing_url(client, name))

    def resolve(self, name: str, requirement: str = "") -> Revision:
        """Return the version that npm would choose: see :func:`docstow.core.npm_ranges.choose`.

        Raises:
            InvalidParameter: the name is invalid, or what is asked for is not in a registry.
            PackageNotFound: there is no such package, or no version that matches.
            UpstreamError, UpstreamTimeout: the registry does not answer.
        """
        name, requirement = split_alias(name, requirement)
        listing = self.listing(name)
        release = self.choose(listing, requirement)
        if release is None:
            raise _no_match(listing, requirement)
        file = release.distributions[0]
        return Revision(
            Source(KIND, listing.name, release.version),
            release.version,
            validator=next(iter(file.hashes.values()), ""),
            origin=host_name(file.url),
            url=file.url,
        )

    def choose(self, listing: Listing, requirement: str) -> Release | None:
        """Return the release that a requirement means; None where there is none.

        Raises:
            InvalidParameter: it does not come from a registry.
        """
        releases = {each.version: each for each in listing.releases}
        avoided = {
            version: rank for version, each in releases.items() if (rank := self._avoid(each))
        }
        best = choose(requirement, releases, listing.tags, avoided)
        return releases.get(best) if best is not None else None

    def dependencies(self, revision: Revision) -> tuple[Dependency, ...]:
        """Return what a version asks for.

        Raises:
            as :meth:`listing` does; PackageNotFound also where the version is gone.
        """
        return self._release(revision).dependencies or ()

    def about(self, revision: Revision) -> About:
        """Return what the manifest of a version says; nothing where the registry has it not alone.

        Raises:
            UpstreamError, UpstreamTimeout: the registry does not answer.
        """
        name = revision.source.name
        client = self._client(name)
        answer = client.get(
            f"{client.registry.url}/{quote(name, safe='@')}/{quote(revision.version, safe='')}",
            headers={"Accept": "application/json"},
            expected=(200, 400, 404, 405),
        )
        return packuments.read_about(answer) if answer.status == _FOUND else About()

    def is_private(self, revision: Revision) -> bool:
        """Whether the package's registry, or the tarball's host, is sent a credential."""
        return self._client(revision.source.name).wants_credential(revision.url)

    def unpack(self, revision: Revision, folder: Path) -> Unpacked:
        """Unpack a version as a project's ``node_modules``, with what its declarations import.

        Of a package without declarations its ``@types`` come beside it. Of the packages that it
        asks for, those that declarations import are there, and those that these import in turn:
        of 11,384 items of 20 packages, 3,161 were wrong or missing without any of them, 792 with
        the direct ones, 115 with those of two steps and none with all.

        Raises:
            PackageNotFound: the version is not there any more.
            TooLarge: it exceeds a limit.
            UnreadableInput: it is not what the registry says that it is, or is damaged.
            UpstreamError, UpstreamTimeout: the registry does not answer.
        """
        source = revision.source
        with (
            made_whole(folder) as root,
            tempfile.TemporaryDirectory(prefix="docstow-", dir=folder.parent) as scratch,
        ):
            manifest = {"private": True, "dependencies": {source.name: revision.version}}
            (root / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
            layout = _Layout(root, Unpacker(root, Caps(plain=self._limits.decompressed)))
            archive = self._fetch(self._release(revision), Path(scratch))
            left_out = layout.add(archive, source.name)
            if not (root / "node_modules" / source.name / "package.json").is_file():
                raise UnreadableInput(
                    f"{source.name} {revision.version} has no package.json, so it is no package of"
                    " npm; nothing of it was kept."
                )
            beside = _Beside(self, layout, Path(scratch))
            if not layout.has_declarations(source.name) and not source.name.startswith("@types/"):
                beside.add_types(source.name, revision.version)
            beside.add_imported(source.name)
        return Unpacked(tuple(beside.added), (*left_out, *beside.left_out))

    def fetch(self, revision: Revision, folder: Path, most: int) -> Path | DocstowError:
        """Fetch a version's tarball into a folder; return why it could not be had."""
        try:
            return self._fetch(self._release(revision), folder, most)
        except DocstowError as error:
            return error

    def types_of(self, name: str, version: str) -> Revision | None:
        """Return the ``@types`` of a package that fit a version: of its series, or nearest below.

        None where there are none, or where they only say that the package has its own.
        """
        typed = types_name(name)
        try:
            listing = self.listing(typed)
        except (PackageNotFound, InvalidParameter, UpstreamError, UpstreamTimeout, TooLarge):
            return None
        numbers = parse_version(version)
        asked = [""]
        if numbers is not None:
            major, minor = numbers.major, numbers.minor
            asked = [f"{major}.{minor}", f">={major}.0.0 <{major}.{minor + 1}.0", f"{major}", ""]
        for each in asked:
            release = self.choose(listing, each)
            if release is not None and not release.withdrawn:
                return self.resolve(typed, release.version)
        return None

    def _avoid(self, release: Release) -> int:
        unfit = False
        if self._node is not None and release.requires:
            try:
                unfit = not Range.parse(release.requires).matches(self._node)
            except ValueError:
                unfit = True
        return int(bool(release.withdrawn)) + 2 * int(unfit)

    def _client(self, name: str) -> RegistryClient[Listing]:
        registry = self._registries.of(name)
        with self._lock:
            if registry.url not in self._clients:
                self._clients[registry.url] = RegistryClient(self._fetcher, registry, self._limits)
            return self._clients[registry.url]

    def _release(self, revision: Revision) -> Release:
        listing = self.listing(revision.source.name)
        release = listing.release(revision.version)
        if release is None:
            raise _no_match(listing, revision.version)
        return release

    def _fetch(self, release: Release, folder: Path, most: int = 0) -> Path:
        """Fetch a tarball and check every digest that is stated of it."""
        file = release.distributions[0]
        client = self._client_of(file.url)
        path = Path(tempfile.mkdtemp(dir=folder)) / "package.tgz"
        most = min(most or self._limits.compressed, self._limits.compressed)
        own = _same_host(file.url, client.registry.url)
        try:
            client.download(file.url, path, file.hashes, most=most)
        except (UpstreamError, UpstreamTimeout):
            if own == file.url:
                raise
            # A mirror may pass on packuments whose tarballs stand at the original's address.
            path.unlink(missing_ok=True)
            client.download(own, path, file.hashes, most=most)
        if "sha1" in file.hashes:
            digest = hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()
            if digest != file.hashes["sha1"]:
                raise UnreadableInput(
                    f"{file.filename} is not the file that the registry lists: its sha1 is"
                    f" {digest}, not {file.hashes['sha1']}. Nothing of it was kept."
                )
        return path

    def _client_of(self, url: str) -> RegistryClient[Listing]:
        """Return the client of the registry at whose host a file is, else the default one."""
        with self._lock:
            clients = list(self._clients.values())
        host = urlsplit(url).netloc.lower()
        same = (each for each in clients if urlsplit(each.registry.url).netloc.lower() == host)
        return next(same, self._client(""))


def open_registry(upstreams: Upstreams) -> NpmRegistry:
    """Return the registries that the settings or npm's own configuration name.

    Packages fit the Node of the project that is looked into, else the one that is installed.

    Raises:
        ConfigurationError: there are none.
    """
    surroundings = configuration.Surroundings(root=upstreams.root)
    registries = configuration.npm_registries(upstreams.settings.npm_registry_url, surroundings)
    node = engine_version(upstreams.project) if upstreams.project is not None else ""
    if not node and (found := shutil.which("node")):
        node = surroundings.run([found, "--version"])
    return NpmRegistry(upstreams.fetcher(), registries, limits=upstreams.limits, node=node)


def _listing_url(client: RegistryClient[Listing], name: str) -> str:
    return f"{client.registry.url}/{quote(name, safe='@')}"


def types_name(name: str) -> str:
    """Return the package in which DefinitelyTyped declares another: ``@types/scope__name``."""
    return f"@types/{name.removeprefix('@').replace('/', '__')}"


@dataclass(frozen=True, slots=True)
class _Layout:
    """A project's folder that is being filled."""

    root: Path
    unpacker: Unpacker

    def add(self, archive: Path, name: str) -> list[str]:
        """Unpack a tarball as the package of a name; return what is said of left out files."""
        reasons = self.unpacker.add(
            archive,
            f"The tarball of {name}",
            lambda path: f"node_modules/{name}/{path}",
            content=lambda path: not _UNREAD.search(path),
        )
        return [
            f"{count} file{'s' if count > 1 else ''} of {name} left out: {reason}."
            for reason, count in reasons.items()
        ]

    def folder(self, name: str) -> Path:
        return self.root / "node_modules" / name

    def has_declarations(self, name: str) -> bool:
        return next(self._files(name, _SOURCES), None) is not None

    def manifest(self, name: str) -> Mapping[str, Any]:
        try:
            found = json.loads((self.folder(name) / "package.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def imported(self, name: str) -> set[str]:
        """Return the packages that a package's declarations import, by their own names.

        Where something has no declarations it is what its JavaScript imports.
        """
        found = set()
        for path in self._read(name):
            if path.stat().st_size <= _LARGEST_DECLARATION:
                for each in _IMPORT.findall(path.read_bytes()):
                    match = _NAME.match(each.decode(errors="replace"))
                    if match is not None and not each.startswith(b"."):
                        found.add(match[0])
        # What Node itself has is declared in a package as well.
        return {"node" if each in BUILTIN else each for each in found - {name}}

    def _read(self, name: str) -> Iterator[Path]:
        """Yield the files that tell what a package offers: declarations, else JavaScript."""
        if self.has_declarations(name):
            yield from self._files(name, _SOURCES)
            own = self.folder(name).resolve()
            for each in set(_untyped(self.manifest(name).get("exports"))):
                path = (own / each).resolve()
                if path.is_relative_to(own) and path.is_file():
                    yield path
        elif not self.folder(types_name(name)).is_dir():
            yield from self._files(name, _SCRIPTS)

    def _files(self, name: str, suffixes: tuple[str, ...]) -> Iterator[Path]:
        for path in self.folder(name).rglob("*"):
            inner = path.relative_to(self.folder(name)).parts[:-1]
            if path.name.endswith(suffixes) and "node_modules" not in inner and path.is_file():
                yield path


def _untyped(exports: object, depth: int = 0) -> Iterator[str]:
    """Yield the scripts that ``exports`` leads to where no declarations are named beside them."""
    if isinstance(exports, str) and exports.endswith(_SCRIPTS) and "*" not in exports:
        yield exports
    elif isinstance(exports, dict) and "types" not in exports and depth < _DEEPEST:
        for each in exports.values():
            yield from _untyped(each, depth + 1)


class _Beside:
    """What is laid beside a package, so that its declarations mean something."""

    def __init__(self, registry: NpmRegistry, layout: _Layout, scratch: Path) -> None:
        self._registry = registry
        self._layout = layout
        self._scratch = scratch
        self._names: set[str] = set()
        self._bytes = MOST_BYTES_BESIDE
        #: Names with versions, and what could not be had, in sentences.
        self.added: list[str] = []
        self.left_out: list[str] = []

    def add_types(self, name: str, version: str) -> None:
        """Add the ``@types`` of a package without declarations, where there are some."""
        found = self._registry.types_of(name, version)
        if found is not None:
            self._add([found])
            self.add_imported(types_name(name))

    def add_imported(self, name: str) -> None:
        """Add what a package's declarations import, and what the declarations of that import."""
        self._names.add(name)
        waiting = [name]
        while waiting:
            wanted = {each.name: each for package in waiting for each in self._needed(package)}
            chosen = [each for each in wanted.values() if each.name not in self._names]
            room = max(0, MOST_BESIDE - len(self.added))
            if len(chosen) > room:
                names = ", ".join(each.name for each in chosen[room:][:20])
                self.left_out.append(
                    f"Beyond the first {MOST_BESIDE} beside it, not read: {names}."
                )
                chosen = chosen[:room]
            self._names |= {each.name for each in chosen}
            waiting = self._add_wanted(chosen)

    def _needed(self, name: str) -> Iterator[Dependency]:
        """Yield what a package asks for whose declarations, or whose ``@types``, it imports."""
        imported = self._layout.imported(name)
        imported |= {types_name(each) for each in imported}
        for each in packuments.read_dependencies(self._layout.manifest(name)):
            if each.kind != "optional" and each.name in imported:
                yield each

    def _add_wanted(self, wanted: Sequence[Dependency]) -> list[str]:
        found = []
        for need, revision in zip(wanted, in_parallel(self._resolved, wanted), strict=True):
            if isinstance(revision, DocstowError):
                self._miss(need.name, revision.message)
            else:
                found.append((need.name, revision))
        return self._add([each for _, each in found], [name for name, _ in found])

    def _add(self, found: Sequence[Revision], names: Sequence[str] = ()) -> list[str]:
        """Add versions, by the names that they are imported as; return those that are there."""
        there = []
        fetch = partial(self._registry.fetch, folder=self._scratch, most=MOST_BYTES_BESIDE)
        names = names or [each.source.name for each in found]
        for name, revision, archive in zip(names, found, in_parallel(fetch, found), strict=True):
            reason = archive.message if isinstance(archive, DocstowError) else ""
            if not isinstance(archive, DocstowError):
                size = archive.stat().st_size
                reason = self._unpack(archive, name, size)
            if reason:
                self._miss(name, reason)
            else:
                there.append(name)
                self.added.append(f"{revision.source.name} {revision.version}")
        return there

    def _unpack(self, archive: Path, name: str, size: int) -> str:
        if size > self._bytes:
            return "it is too large to be read beside it."
        self._bytes -= size
        try:
            self._layout.add(archive, name)
        except (TooLarge, UnreadableInput) as error:
            return error.message
        return ""

    def _resolved(self, need: Dependency) -> Revision | DocstowError:
        try:
            return self._registry.resolve(need.name, need.requirement)
        except DocstowError as error:
            return error

    def _miss(self, name: str, reason: str) -> None:
        self.left_out.append(f"What it has of {name} is missing: {reason}")


def _same_host(url: str, registry: str) -> str:
    """Return an address at a registry's own host."""
    own = urlsplit(registry)
    return urlunsplit(urlsplit(url)._replace(scheme=own.scheme, netloc=own.netloc))


def _no_match(listing: Listing, asked: str) -> PackageNotFound:
    """Return the error for a requirement that no release matches."""
    offered = [each.version for each in listing.releases]
    stable = [each for each in offered if "-" not in each] or offered
    near = get_close_matches(asked.lstrip("=^~<>v "), offered, _SUGGESTED, 0.6)
    newest = near or [*_tagged(listing), *reversed(stable)]
    newest = list(dict.fromkeys(newest))[:_SUGGESTED]
    tags = ", ".join(list(listing.tags)[:10])
    return PackageNotFound(
        f"Of {listing.name} no version matches {asked[:100] or 'what is asked for'}; there are"
        f" {', '.join(newest)}{f', and the tags {tags}' if tags else ''}.",
        suggestions=[
            {"version": each, "score": round(1 / place, 2)} for place, each in enumerate(newest, 1)
        ],
    )


def _tagged(listing: Listing) -> Iterable[str]:
    latest = listing.tags.get("latest", "")
    return [latest] if listing.release(latest) else []
