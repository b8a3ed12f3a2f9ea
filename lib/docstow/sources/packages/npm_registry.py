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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from posixpath import splitext
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, urlsplit, urlunsplit

from docstow.core import auth
from docstow.core.errors import (
    DocstowError,
    InvalidParameter,
    PackageNotFound,
    StoreError,
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
    configuration,
    packuments,
)
from docstow.sources.packages.archives import Unpacker, made_whole
from docstow.sources.packages.client import RegistryClient
from docstow.sources.packages.connections import npm_connection
from docstow.sources.packages.environments import Assembly, Unpacked, digest_of
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
#: So many packages, and so many bytes of them as downloaded, are laid beside the one that is read.
MOST_BESIDE, MOST_BYTES_BESIDE = 24, 32 * 1024 * 1024
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
_SOURCES = (*_DECLARATIONS, ".ts", ".tsx", ".mts", ".cts")
_SCRIPTS = (".js", ".mjs", ".cjs")
_DEEPEST = 12
_LARGEST_DECLARATION = 16 * 1024 * 1024
#: What declares Node's own modules, which packages import without asking for it.
_AMBIENT = frozenset({"@types/node"})
#: Times that code is smaller in a tarball.
_SHRINKS = 4
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
        if told := auth.unseen(KIND, name):
            raise PackageNotFound(told)
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
        if not auth.sees(KIND, name):
            return None
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
            raise listing.no_match(requirement)
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
            unpacker = Unpacker(root, Caps(plain=self._limits.decompressed))
            layout = _UnpackedLayout(root, self, unpacker, Path(scratch))
            archive = self._fetch(self._release(revision), Path(scratch))
            left_out = layout.add(archive, source.name)
            if not (root / "node_modules" / source.name / "package.json").is_file():
                raise UnreadableInput(
                    f"{source.name} {revision.version} has no package.json, so it is no package of"
                    " npm; nothing of it was kept."
                )
            beside = _Beside(self, layout)
            beside.add_needed(source.name, revision.version)
        return Unpacked(tuple(beside.added), (*left_out, *beside.left_out))

    def assemble(
        self, wanted: Mapping[str, Revision], assembly: Assembly, locked: Callable[[str], str]
    ) -> tuple[str, ...]:
        """Lay versions out together as a ``node_modules``, with what their declarations import.

        Raises:
            StoreError: the disk is full or cannot be written.
        """
        manifest = {"private": True, "dependencies": {n: e.version for n, e in wanted.items()}}
        (assembly.root / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
        layout = _LinkedLayout(assembly.root, self, assembly, self._limits.decompressed)
        missing: list[str] = []
        fetched = in_parallel(layout.fetch, list(wanted.values()))
        for (name, revision), folder in zip(wanted.items(), fetched, strict=True):
            if isinstance(folder, DocstowError):
                missing.append(f"{name} {revision.version} is missing: {folder.message}")
            else:
                layout.add(folder, name)
        beside = _Beside(self, layout, locked, wanted, _AMBIENT)
        for name, revision in wanted.items():
            if layout.folder(name).is_dir():
                beside.add_needed(name, revision.version)
        return (*missing, *beside.left_out)

    def fetch(self, revision: Revision, folder: Path, most: int = 0) -> Path | DocstowError:
        """Fetch a version's tarball into a folder; return why it could not be had."""
        try:
            return self._fetch(self._release(revision), folder, most)
        except DocstowError as error:
            return error

    def types_of(self, name: str, version: str, locked: str = "") -> Revision | None:
        """Return the ``@types`` of a package that fit a version: of its series, or nearest below.

        Args:
            name: of the package.
            version: of the package.
            locked: the version of its types that it must be; empty for any.

        None where there are none, or where they only say that the package has its own.
        """
        typed = types_name(name)
        try:
            listing = self.listing(typed)
        except (PackageNotFound, InvalidParameter, UpstreamError, UpstreamTimeout, TooLarge):
            return None
        numbers = parse_version(version)
        asked = [locked]
        if numbers is not None and not locked:
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
        return self.listing(revision.source.name).listed(revision)

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
    registries = configuration.npm_registries(
        upstreams.settings.npm_registry_url.reveal(), surroundings
    )
    node = engine_version(upstreams.project) if upstreams.project is not None else ""
    if not node and (found := shutil.which("node")):
        node = surroundings.run([found, "--version"])
    urls = [each.url for each in (registries.default, *registries.scopes.values())]
    fetcher = upstreams.registry_fetcher(npm_connection(surroundings), urls)
    return NpmRegistry(fetcher, registries, limits=upstreams.limits, node=node)


def _listing_url(client: RegistryClient[Listing], name: str) -> str:
    return f"{client.registry.url}/{quote(name, safe='@')}"


def types_name(name: str) -> str:
    """Return the package in which DefinitelyTyped declares another: ``@types/scope__name``."""
    return f"@types/{name.removeprefix('@').replace('/', '__')}"


class _Layout(Protocol):
    """A project's folder that is being filled."""

    def fetch(self, revision: Revision) -> Path | DocstowError:
        """Return what is fetched of a version; why not where it cannot be had."""
        ...

    def add(self, fetched: Path, name: str) -> list[str]:
        """Add it as the package of a name; return what is said of left out files."""
        ...

    def folder(self, name: str) -> Path:
        """Return where the package of a name is."""
        ...

    def size(self, fetched: Path) -> int:
        """Return about how many bytes were fetched."""
        ...


def _unpack(unpacker: Unpacker, archive: Path, name: str, place: str) -> list[str]:
    """Unpack a tarball; return what is said of left out files.

    Args:
        unpacker: into which folder.
        archive: the tarball.
        name: of the package.
        place: where below the folder.
    """
    reasons = unpacker.add(
        archive,
        f"The tarball of {name}",
        lambda path: f"{place}{path}",
        content=lambda path: not _UNREAD.search(path),
    )
    return [
        f"{count} file{'s' if count > 1 else ''} of {name} left out: {reason}."
        for reason, count in reasons.items()
    ]


@dataclass(frozen=True, slots=True)
class _UnpackedLayout:
    """A folder into which tarballs are unpacked."""

    root: Path
    registry: NpmRegistry
    unpacker: Unpacker
    scratch: Path

    def fetch(self, revision: Revision) -> Path | DocstowError:
        return self.registry.fetch(revision, self.scratch, MOST_BYTES_BESIDE)

    def add(self, fetched: Path, name: str) -> list[str]:
        return _unpack(self.unpacker, fetched, name, f"node_modules/{name}/")

    def folder(self, name: str) -> Path:
        return self.root / "node_modules" / name

    def size(self, fetched: Path) -> int:
        return fetched.stat().st_size


@dataclass(frozen=True, slots=True)
class _LinkedLayout:
    """An environment to which packages are linked that lie elsewhere."""

    root: Path
    registry: NpmRegistry
    assembly: Assembly
    most: int

    def fetch(self, revision: Revision) -> Path | DocstowError:
        def make(folder: Path) -> None:
            with tempfile.TemporaryDirectory(prefix="docstow-") as scratch:
                archive = self.registry.fetch(revision, Path(scratch))
                if isinstance(archive, DocstowError):
                    raise archive
                unpacker = Unpacker(folder, Caps(plain=self.most))
                _unpack(unpacker, archive, revision.source.name, "")
            if not (folder / "package.json").is_file():
                raise UnreadableInput(
                    f"{revision.source.name} {revision.version} has no package.json, so it is no"
                    " package of npm; nothing of it was kept."
                )

        # What no digest is stated of is told by where it is.
        stated = revision.validator or revision.url or ""
        try:
            return self.assembly.unpack(digest_of(KIND, revision.source.name, stated), make)
        except StoreError:
            raise
        except DocstowError as error:
            return error

    def add(self, fetched: Path, name: str) -> list[str]:
        self.assembly.link(fetched, f"node_modules/{name}")
        return []

    def folder(self, name: str) -> Path:
        return self.root / "node_modules" / name

    def size(self, fetched: Path) -> int:
        plain = sum(each.stat().st_size for each in fetched.rglob("*") if each.is_file())
        return plain // _SHRINKS


@dataclass(frozen=True, slots=True)
class _Declarations:
    """What the packages of a layout declare and import."""

    layout: _Layout

    def has_declarations(self, name: str) -> bool:
        return next(self._files(name, _SOURCES), None) is not None

    def is_typed(self, name: str) -> bool:
        """Return whether a package declares what is imported of it; it may declare a part only."""
        manifest = self.manifest(name)
        if any(manifest.get(each) for each in ("types", "typings", "typesVersions")):
            return True
        exports = manifest.get("exports")
        if isinstance(exports, dict) and any(each.startswith(".") for each in exports):
            exports = exports.get(".")
        if '"types' in json.dumps(exports):
            return True
        main = manifest.get("main")
        stem = splitext(main if isinstance(main, str) and "\0" not in main else "index.js")[0]
        entries = (stem, f"{stem}/index", "index")
        own = self.layout.folder(name).resolve()
        places = ((own / f"{each}{end}").resolve() for each in entries for end in _SOURCES)
        return any(each.is_relative_to(own) and each.is_file() for each in places)

    def manifest(self, name: str) -> Mapping[str, Any]:
        try:
            found = json.loads((self.layout.folder(name) / "package.json").read_bytes())
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
            own = self.layout.folder(name).resolve()
            for each in set(_untyped(self.manifest(name).get("exports"))):
                path = (own / each).resolve()
                if path.is_relative_to(own) and path.is_file():
                    yield path
        elif not self.layout.folder(types_name(name)).is_dir():
            yield from self._files(name, _SCRIPTS)

    def _files(self, name: str, suffixes: tuple[str, ...]) -> Iterator[Path]:
        for path in self.layout.folder(name).rglob("*"):
            inner = path.relative_to(self.layout.folder(name)).parts[:-1]
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

    def __init__(
        self,
        registry: NpmRegistry,
        layout: _Layout,
        locked: Callable[[str], str] = lambda _: "",
        present: Iterable[str] = (),
        ambient: Collection[str] = (),
    ) -> None:
        self._registry = registry
        self._layout = layout
        self._declarations = _Declarations(layout)
        self._locked = locked
        self._names = set(present)
        self._ambient = ambient
        self._most = MOST_BESIDE * max(1, len(self._names))
        self._bytes = MOST_BYTES_BESIDE
        #: Names with versions, and what could not be had, in sentences.
        self.added: list[str] = []
        self.left_out: list[str] = []

    def add_needed(self, name: str, version: str) -> None:
        """Add what reading a package needs: its types, and what declarations import."""
        if not self._declarations.is_typed(name) and not name.startswith("@types/"):
            self.add_types(name, version)
        self.add_imported(name)

    def add_types(self, name: str, version: str) -> None:
        """Add the ``@types`` of a package that does not declare its entry, where there are some."""
        typed = types_name(name)
        if typed in self._names:
            return
        found = self._registry.types_of(name, version, self._locked(typed))
        if found is not None:
            self._add([found])
            self.add_imported(typed)

    def add_imported(self, name: str) -> None:
        """Add what a package's declarations import, and what the declarations of that import."""
        self._names.add(name)
        waiting = [name]
        while waiting:
            wanted = {each.name: each for package in waiting for each in self._needed(package)}
            chosen = [each for each in wanted.values() if each.name not in self._names]
            room = max(0, self._most - len(self.added))
            if len(chosen) > room:
                names = ", ".join(each.name for each in chosen[room:][:20])
                self.left_out.append(f"Beyond the first {self._most} beside it, not read: {names}.")
                chosen = chosen[:room]
            self._names |= {each.name for each in chosen}
            waiting = self._add_wanted(chosen)

    def _needed(self, name: str) -> Iterator[Dependency]:
        """Yield what a package asks for whose declarations, or whose ``@types``, it imports."""
        imported = self._declarations.imported(name)
        imported |= {types_name(each) for each in imported}
        for each in packuments.read_dependencies(self._declarations.manifest(name)):
            if each.kind != "optional" and each.name in imported:
                imported.discard(each.name)
                yield each
        # What it only imports the project has, or everybody who has a project.
        for named in sorted(imported):
            if self._locked(named) or named in self._ambient:
                yield Dependency(named)

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
        names = names or [each.source.name for each in found]
        fetched = in_parallel(self._layout.fetch, found)
        for name, revision, files in zip(names, found, fetched, strict=True):
            reason = files.message if isinstance(files, DocstowError) else ""
            if not isinstance(files, DocstowError):
                reason = self._place(files, name)
            if reason:
                self._miss(name, reason)
            else:
                there.append(name)
                self.added.append(f"{revision.source.name} {revision.version}")
        return there

    def _place(self, fetched: Path, name: str) -> str:
        size = self._layout.size(fetched)
        if size > self._bytes:
            return "it is too large to be read beside it."
        self._bytes -= size
        try:
            self._layout.add(fetched, name)
        except (TooLarge, UnreadableInput) as error:
            return error.message
        return ""

    def _resolved(self, need: Dependency) -> Revision | DocstowError:
        try:
            return self._registry.resolve(need.name, self._locked(need.name) or need.requirement)
        except DocstowError as error:
            return error

    def _miss(self, name: str, reason: str) -> None:
        self.left_out.append(f"What it has of {name} is missing: {reason}")


def _same_host(url: str, registry: str) -> str:
    """Return an address at a registry's own host."""
    own = urlsplit(registry)
    return urlunsplit(urlsplit(url)._replace(scheme=own.scheme, netloc=own.netloc))
