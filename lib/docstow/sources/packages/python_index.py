"""Python packages: versions and files from indexes, chosen as pip chooses and laid out to be read.

Nothing is built: of a source distribution only what is Python already is taken.
"""

from __future__ import annotations

import contextlib
import math
import os
import platform
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.markers import Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, sys_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

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
from docstow.core.threads import in_parallel
from docstow.languages.python import versions
from docstow.languages.python.interpreter import interpreter_version
from docstow.languages.python.metadata import read_about
from docstow.languages.shared.project import About
from docstow.net.client import host_name, origin_of
from docstow.sources.packages import (
    Dependency,
    Distribution,
    Listing,
    Registry,
    Release,
    configuration,
    simple_api,
)
from docstow.sources.packages.archives import Unpacker, made_whole
from docstow.sources.packages.client import RegistryClient
from docstow.sources.packages.connections import python_connection
from docstow.sources.packages.environments import Unpacked, digest_of
from docstow.sources.packages.partial_wheels import fetch_parts
from docstow.sources.packages.python_files import (
    Layout,
    add_guides,
    add_sdist,
    add_wheel,
    describe_left_out,
    is_read,
    metadata_of,
    read_metadata,
    unread_modules,
    without_modules,
)
from docstow.sources.tarball import Caps

if TYPE_CHECKING:
    from docstow.net import Fetcher
    from docstow.net.decompress import Limits
    from docstow.sources import Upstreams
    from docstow.sources.packages.environments import Assembly

KIND = "python"
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_LONGEST_REQUIREMENT = 2000
#: Bytes of metadata, and files of all packages that are unpacked together.
_LARGEST_METADATA, _MOST_FILES = 4 * 1024 * 1024, 50_000
#: So many packages, and so many bytes of them as downloaded, are laid beside the one that is read.
MOST_BESIDE, MOST_BYTES_BESIDE = 24, 64 * 1024 * 1024
#: Suffixes of source distributions.
_SDISTS = (".tar.gz", ".zip", ".tgz", ".tar.bz2")
#: A file of so many bytes may be fetched for its metadata alone, from indexes without PEP 658.
MOST_BYTES_ABOUT = 2 * 1024 * 1024
#: Where the types of a package are that has none itself, in the order of looking.
_STUBS = ("types-{}", "{}-stubs")
_UNHAD = (PackageNotFound, InvalidParameter, UpstreamError, UpstreamTimeout)


class PythonIndex:
    """The packages of one or several indexes; the first that has a file counts.

    Args:
        fetcher: the HTTP client.
        registries: the index, and further ones.
        limits: caps on a list, a download, and what is unpacked of it.
        python: the version of Python that packages should fit; this process's if left out.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        registries: Sequence[Registry],
        *,
        limits: Limits,
        python: str = "",
    ) -> None:
        self._clients: list[RegistryClient[Listing]] = [
            RegistryClient(fetcher, each, limits) for each in registries
        ]
        self._limits = limits
        self._python = python or platform.python_version()

    def listing(self, name: str) -> Listing:
        """Return all releases of a package that have a wheel or a source distribution.

        Raises:
            InvalidParameter: the name cannot be a package's.
            PackageNotFound: no index has such a package.
            UpstreamError, UpstreamTimeout: an index does not answer, and no other has it.
        """
        if not _NAME.fullmatch(name):
            raise InvalidParameter(
                "package",
                "must be at most 100 letters, digits, -, _ and . in the name of a Python package",
            )
        key = canonicalize_name(name)
        if told := auth.unseen(KIND, key):
            raise PackageNotFound(told)
        found: list[Listing] = []
        failure: UpstreamError | UpstreamTimeout | None = None
        for answer in in_parallel(partial(self._ask, key), self._clients):
            if isinstance(answer, Listing):
                found.append(answer)
            elif answer is not None:
                failure = failure or answer
        if (merged := simple_api.merge(found)) is not None:
            return merged
        if failure is not None:
            raise failure
        asked = ", ".join(host_name(each.registry.url) for each in self._clients)
        raise PackageNotFound(
            f"{asked or 'No index'} has no Python package named {name}. Check the spelling: it is"
            " the name that pip installs, which may differ from what is imported."
        )

    def cached(self, name: str) -> Listing | None:
        """Return the releases of a package if all indexes were asked already; nobody is asked."""
        if not auth.sees(KIND, name):
            return None
        urls = [(each, f"{each.registry.url}/{canonicalize_name(name)}/") for each in self._clients]
        found = [client.cached(url) for client, url in urls]
        return simple_api.merge([each for each in found if each is not None])

    def resolve(self, name: str, requirement: str = "") -> Revision:
        """Return the version that pip would choose, and the file of it that will be fetched.

        What fits this Python comes first. Where nothing does, what fits another is chosen: it is
        read and not run.

        Raises:
            InvalidParameter: the name, or the requirement after PEP 440, is invalid.
            PackageNotFound: there is no such package, or no version that matches.
            UpstreamError, UpstreamTimeout: the index does not answer.
        """
        listing = self.listing(name)
        release = self.choose(listing, requirement)
        if release is None:
            withdrawn = versions.choose(requirement, [each.version for each in listing.releases])
            raise listing.no_match(requirement.strip(), withdrawn=withdrawn is not None)
        file = self._file(release)
        return Revision(
            Source(KIND, canonicalize_name(listing.name), release.version),
            release.version,
            validator=next(iter(file.hashes.values()), ""),
            origin=host_name(file.url),
            url=file.url,
        )

    def choose(self, listing: Listing, requirement: str) -> Release | None:
        """Return the release that a requirement means; None where there is none.

        Raises:
            InvalidParameter: it is no requirement.
        """
        offered = [each for each in listing.releases if not each.yanked]
        tiers: list[Callable[[], Iterable[Release]]] = [
            lambda: (each for each in offered if self._installable(each)),
            lambda: offered,
        ]
        if versions.is_pinned(requirement):
            tiers.append(lambda: listing.releases)
        for tier in tiers:
            some = {each.version: each for each in tier()}
            if (best := versions.choose(requirement, some)) is not None:
                return some[best]
        return None

    def dependencies(self, revision: Revision) -> tuple[Dependency, ...]:
        """Return what a version asks for, by its metadata.

        Raises:
            as :meth:`unpack` does.
        """
        release = self._release(revision)
        if (metadata := self._metadata(release)) is not None:
            return _dependencies(read_metadata(metadata), self._python)
        file = self._file(release)
        with tempfile.TemporaryDirectory(prefix="docstow-") as folder:
            archive = self._fetch(file, Path(folder))
            return _dependencies(read_metadata(metadata_of(archive, file.filename)), self._python)

    def about(self, revision: Revision) -> About:
        """Return what the metadata of a version says; nothing where only large files have it.

        Raises:
            as :meth:`unpack` does.
        """
        release = self._release(revision)
        if (metadata := self._metadata(release)) is not None:
            return read_about(metadata)
        small = (e for e in release.distributions if 0 < (e.size or 0) <= MOST_BYTES_ABOUT)
        file = min(small, key=lambda each: each.size or 0, default=None)
        if file is None:
            return About()
        with tempfile.TemporaryDirectory(prefix="docstow-") as folder:
            archive = self._fetch(file, Path(folder))
            return read_about(metadata_of(archive, file.filename))

    def _metadata(self, release: Release) -> bytes | None:
        """Return the metadata of a release where the index has them by themselves."""
        for file in _preferred(release, self._limits.compressed):
            if file.metadata is not None:
                client = self._client(file.url)
                with tempfile.TemporaryDirectory(prefix="docstow-") as folder:
                    path = Path(folder, "METADATA")
                    client.download(
                        f"{file.url}.metadata",
                        path,
                        file.metadata,
                        most=_LARGEST_METADATA,
                    )
                    return path.read_bytes()
        return None

    def is_private(self, revision: Revision) -> bool:
        """Whether one of the indexes, or the file's host, is sent a credential."""
        return any(each.wants_credential(revision.url) for each in self._clients)

    def unpack(self, revision: Revision, folder: Path) -> Unpacked:
        """Unpack a version as an environment, with the packages that it asks for beside it.

        The surface of a package has what its classes inherit and what it re-exports: over 24
        packages, those that it asks for itself made all of the difference, and those that these
        ask for made none.

        Raises:
            PackageNotFound: the version is not there any more.
            TooLarge: it exceeds a limit.
            UnreadableInput: it is not what the index says that it is, or is damaged.
            UpstreamError, UpstreamTimeout: the index does not answer.
        """
        release = self._release(revision)
        with (
            made_whole(folder) as root,
            tempfile.TemporaryDirectory(prefix="docstow-", dir=folder.parent) as scratch,
        ):
            layout = Layout(root, self._python)
            caps = Caps(plain=self._limits.decompressed, entries=_MOST_FILES)
            unpacker = Unpacker(layout.site, caps)
            file = self._file(release)
            archive = self._fetch(file, Path(scratch))
            left_out = [*self._add(layout, unpacker, archive, file, revision)]
            left_out += self._add_guides(layout, caps, release, file, revision, scratch)
            beside: list[str] = []
            asked = read_metadata(layout.metadata(revision.source.name))
            wanted = _dependencies(asked, self._python)
            normal = [
                each
                for each in wanted
                if each.kind == "normal" and canonicalize_name(each.name) != revision.source.name
            ]
            if unread := unread_modules(layout, revision.source.name):
                left_out += self._add_stubs(layout, unpacker, revision, unread, beside, scratch)
            left_out += self._add_beside(layout, unpacker, normal, beside, scratch)
        return Unpacked(tuple(beside), tuple(left_out))

    def assemble(
        self, wanted: Mapping[str, Revision], assembly: Assembly, locked: Callable[[str], str]
    ) -> tuple[str, ...]:
        """Lay versions out together as an environment, with what they ask for beside them.

        Raises:
            StoreError: the disk is full or cannot be written.
        """
        layout = Layout(assembly.root, self._python)
        found = list(wanted.values())
        missing = self._link(found, assembly, math.inf)
        here = {each.source.name for each in found}
        needs: dict[str, Dependency] = {}
        for name in [each for each in here if layout.info(each).is_dir()]:
            for each in _dependencies(read_metadata(layout.metadata(name)), self._python):
                if each.kind == "normal" and canonicalize_name(each.name) not in here:
                    needs.setdefault(canonicalize_name(each.name), each)
        chosen = list(needs.values())[: MOST_BESIDE * len(found)]
        resolve = partial(self._resolved, locked=locked)
        beside = []
        for need, revision in zip(chosen, in_parallel(resolve, chosen), strict=True):
            if isinstance(revision, DocstowError):
                missing.append(f"What is needed of {need.name} is missing: {revision.message}")
            else:
                beside.append(revision)
        missing += self._link(beside, assembly, MOST_BYTES_BESIDE)
        for version in found:
            name = version.source.name
            if layout.info(name).is_dir() and (unread := unread_modules(layout, name)):
                missing += self._link_stubs(layout, assembly, version, unread)
        return tuple(missing)

    def _link(
        self,
        found: Sequence[Revision],
        assembly: Assembly,
        most: float,
        wanted: Callable[[str], bool] = lambda _: True,
    ) -> list[str]:
        """Link versions into an environment; return what is said of those that could not be had."""
        missing: list[str] = []
        fitting: list[tuple[Revision, Distribution]] = []
        for each in found:
            file = self._file(self._release(each))
            most -= file.size or 0
            if most < 0:
                missing.append(f"{each.source.name} {each.version} is too large to be read beside.")
            else:
                fitting.append((each, file))
        unpack = partial(self._unpacked, assembly=assembly)
        for (each, _), made in zip(fitting, in_parallel(unpack, fitting), strict=True):
            if isinstance(made, DocstowError):
                missing.append(f"{each.source.name} {each.version} is missing: {made.message}")
            else:
                assembly.link(made, wanted=wanted)
        return missing

    def _unpacked(
        self, wanted: tuple[Revision, Distribution], assembly: Assembly
    ) -> Path | DocstowError:
        """Return the folder in which a version is laid out by itself; why not where it is not."""
        revision, file = wanted

        def make(folder: Path) -> None:
            layout = Layout(folder, self._python)
            unpacker = Unpacker(
                layout.site, Caps(plain=self._limits.decompressed, entries=_MOST_FILES)
            )
            with tempfile.TemporaryDirectory(prefix="docstow-") as scratch:
                archive = self._fetch(file, Path(scratch))
                self._add(layout, unpacker, archive, file, revision)

        digests = [f"{name}:{value}" for name, value in sorted(file.hashes.items())]
        series = ".".join(self._python.split(".")[:2])
        # What no digest is stated of is told by where it is.
        key = digest_of(KIND, series, revision.source.name, *(digests or [file.url]))
        try:
            return assembly.unpack(key, make)
        except StoreError:
            raise
        except DocstowError as error:
            return error

    def _link_stubs(
        self, layout: Layout, assembly: Assembly, revision: Revision, unread: Sequence[str]
    ) -> list[str]:
        wanted = without_modules(layout, revision.source.name)
        for stubs in self._stubs(revision):
            if not self._link([stubs], assembly, MOST_BYTES_BESIDE, wanted):
                return []
        names = ", ".join(unread[:10])
        return [f"Compiled and without stubs, so that nothing of it can be read: {names}."]

    def _add(
        self,
        layout: Layout,
        unpacker: Unpacker,
        archive: Path,
        file: Distribution,
        revision: Revision,
        stubs_of: str = "",
    ) -> list[str]:
        """Add a file to the environment; return what is said of parts that were left out."""
        name, version = revision.source.name, revision.version
        if file.filename.endswith(".whl"):
            reasons = add_wheel(layout, unpacker, archive, file.filename, name, version, stubs_of)
        else:
            reasons = add_sdist(layout, unpacker, archive, file.filename, name, version)
        said = describe_left_out(file.filename, reasons)
        if self._is_partial(file):
            said.append(
                f"{file.filename} is too large to be fetched whole: of it only the files that are"
                " read were, so that not the digest that the index has of it was checked, but"
                " those that it has itself of its files."
            )
        return said

    def _add_guides(
        self,
        layout: Layout,
        caps: Caps,
        release: Release,
        file: Distribution,
        revision: Revision,
        scratch: str,
    ) -> list[str]:
        """Add the guides of the source distribution, which wheels leave out; return why not."""
        sources = [each for each in release.distributions if each.filename.endswith(_SDISTS)]
        if not file.filename.endswith(".whl") or not sources:
            return []
        source = sources[0]
        left_out = f"The changelog and the guides in {source.filename} are left out: "
        if source.size is None or source.size > self._limits.compressed:
            most = self._limits.compressed / 2**20
            return [f"{left_out}its size is not stated, or more than {most:.6g} MiB."]
        try:
            archive = self._fetch(source, Path(scratch))
            unpacker = Unpacker(layout.site, caps)
            add_guides(layout, unpacker, archive, source.filename, revision.source.name)
        except (TooLarge, UnreadableInput, UpstreamError, UpstreamTimeout) as error:
            return [left_out + error.message]
        return []

    def _add_beside(
        self,
        layout: Layout,
        unpacker: Unpacker,
        wanted: Sequence[Dependency],
        beside: list[str],
        scratch: str,
    ) -> list[str]:
        """Add what a package asks for; return what is said of those that could not be had."""
        left_out = []
        chosen = wanted[:MOST_BESIDE]
        if len(wanted) > len(chosen):
            names = ", ".join(each.name for each in wanted[MOST_BESIDE:][:20])
            left_out.append(f"Beyond the first {MOST_BESIDE} that it asks for, not read: {names}.")
        budget = MOST_BYTES_BESIDE
        for need, found in zip(chosen, in_parallel(self._resolved, chosen), strict=True):
            reason = ""
            if isinstance(found, DocstowError):
                reason = found.message
            else:
                file = self._file(self._release(found))
                if (file.size or 0) > budget:
                    reason = "it is too large to be read beside it"
                else:
                    budget -= file.size or 0
                    reason = self._add_one(layout, unpacker, file, found, scratch)
                    if not reason:
                        beside.append(f"{found.source.name} {found.version}")
            if reason:
                left_out.append(f"What it has of {need.name} is missing: {reason}")
        return left_out

    def _add_one(
        self,
        layout: Layout,
        unpacker: Unpacker,
        file: Distribution,
        found: Revision,
        scratch: str,
        stubs_of: str = "",
    ) -> str:
        """Add one package beside another; return why it could not be added."""
        try:
            archive = self._fetch(file, Path(scratch))
            self._add(layout, unpacker, archive, file, found, stubs_of)
        except (PackageNotFound, TooLarge, UnreadableInput, UpstreamError, UpstreamTimeout) as each:
            return each.message
        return ""

    def _add_stubs(
        self,
        layout: Layout,
        unpacker: Unpacker,
        revision: Revision,
        unread: Sequence[str],
        beside: list[str],
        scratch: str,
    ) -> list[str]:
        """Add the types of a package of native code from where others publish them."""
        for found in self._stubs(revision):
            file = self._file(self._release(found))
            stubs_of = revision.source.name
            if not self._add_one(layout, unpacker, file, found, scratch, stubs_of):
                beside.append(f"{found.source.name} {found.version}")
                return []
        names = ", ".join(unread[:10])
        return [f"Compiled and without stubs, so that nothing of it can be read: {names}."]

    def _stubs(self, revision: Revision) -> Iterator[Revision]:
        """Yield the packages in which others publish the types of one."""
        for form in _STUBS:
            name = form.format(revision.source.name)
            try:
                yield self.resolve(name, f"=={_series(revision.version)}.*")
            except (PackageNotFound, InvalidParameter):
                with contextlib.suppress(*_UNHAD):
                    yield self.resolve(name)
            except (UpstreamError, UpstreamTimeout):
                continue

    def _resolved(
        self, need: Dependency, locked: Callable[[str], str] = lambda _: ""
    ) -> Revision | DocstowError:
        try:
            return self.resolve(need.name, locked(need.name) or need.requirement)
        except DocstowError as error:
            return error

    def fetch_by_digest(self, name: str, version: str, digest: str, folder: Path) -> Path:
        """Put the one file of a version that has a SHA-256 into a folder.

        Raises:
            PackageNotFound: no file is listed with that digest.
            UnreadableInput: it is another file.
            UpstreamError, UpstreamTimeout: the index does not answer.
        """
        release = self.choose(self.listing(name), f"=={version}")
        for file in release.distributions if release is not None else ():
            if file.hashes.get("sha256") == digest:
                return self._fetch(file, folder)
        raise PackageNotFound(f"No index lists the file of {name} {version} that is meant.")

    def _ask(
        self, name: str, client: RegistryClient[Listing]
    ) -> Listing | UpstreamError | UpstreamTimeout | None:
        try:
            return client.listing(
                f"{client.registry.url}/{name}/",
                lambda answer: simple_api.read(answer, name),
                {"Accept": simple_api.ACCEPT},
            )
        except (UpstreamError, UpstreamTimeout) as error:
            return error

    def _release(self, revision: Revision) -> Release:
        return self.listing(revision.source.name).listed(revision)

    def _installable(self, release: Release) -> bool:
        return any(
            not each.yanked and _fits(each.requires, self._python) and _has_tag(each.filename)
            for each in release.distributions
        )

    def _file(self, release: Release) -> Distribution:
        """Return the file of a release that is read.

        Raises:
            PackageNotFound: it has none.
        """
        return next(iter(_preferred(release, self._limits.compressed)))

    def _client(self, url: str) -> RegistryClient[Listing]:
        """Return the client that may have a credential for an address."""
        own = (each for each in self._clients if origin_of(each.registry.url) == origin_of(url))
        return next(own, self._clients[0])

    def _is_partial(self, file: Distribution) -> bool:
        """Return whether only the files of a wheel are fetched that are read."""
        return (file.size or 0) > self._limits.compressed and file.filename.endswith(".whl")

    def _fetch_parts(self, file: Distribution, path: Path) -> None:
        """Fetch the files of a wheel that are read."""
        get_range = partial(self._client(file.url).get_range, file.url)
        fetch_parts(get_range, path, file.filename, file.size or 0, is_read, self._limits)
        stated = (file.metadata or {}).get("sha256", "")
        if stated and sha256(metadata_of(path, file.filename)).hexdigest() != stated:
            raise UnreadableInput(
                f"The metadata in {file.filename} are not those that the index lists; nothing of"
                " it was kept."
            )

    def _fetch(self, file: Distribution, folder: Path) -> Path:
        most = self._limits.compressed
        path = folder / f"{len(list(folder.iterdir()))}-{file.filename[-120:]}"
        reason = ""
        if self._is_partial(file):
            try:
                self._fetch_parts(file, path)
            except UpstreamError as error:
                reason = f" Parts of it cannot be had: {error.message}"
        if (file.size or 0) > most and (reason or not self._is_partial(file)):
            raise TooLarge(
                f"{file.filename} has {(file.size or 0) / 2**20:.0f} MiB; files of up to"
                f" {most / 2**20:.6g} MiB are fetched.{reason} Set max_compressed higher to have"
                " it.",
                limit=most,
            )
        if not self._is_partial(file):
            self._client(file.url).download(file.url, path, file.hashes, most=most)
        if file.size is not None and path.stat().st_size != file.size:
            raise UnreadableInput(
                f"{file.filename} has {path.stat().st_size} bytes, and the index says"
                f" {file.size}; nothing of it was kept."
            )
        return path


def open_index(upstreams: Upstreams) -> PythonIndex:
    """Return the index that the settings name, or the ones that pip and uv use.

    Packages fit the Python of the project that is looked into, else this process's.

    Raises:
        ConfigurationError: there is none, or their configuration cannot be read.
    """
    setting = upstreams.settings.python_index_url.reveal()
    surroundings = configuration.Surroundings(root=upstreams.root)
    registries = configuration.python_indexes(setting, surroundings)
    fetcher = upstreams.registry_fetcher(
        python_connection(surroundings), (each.url for each in registries)
    )
    project = upstreams.project
    python = interpreter_version(project, os.environ) if project is not None else ""
    return PythonIndex(fetcher, registries, limits=upstreams.limits, python=python)


def _preferred(release: Release, most: int) -> list[Distribution]:
    """Return the files of a release, the one that is read first.

    A wheel of Python alone comes first, then the wheel that would be installed here, then the
    smallest of other wheels; a source distribution is the last. What is too large comes behind.
    """
    files = [each for each in release.distributions if not each.yanked or release.yanked]

    def rank(file: Distribution) -> tuple[bool, int, int, int, str]:
        too_large = (file.size or 0) > most
        if not file.filename.endswith(".whl"):
            return too_large, 3, 0, int(not file.filename.endswith(".gz")), file.filename
        tags = parse_wheel_filename(file.filename)[3]
        if any(each.platform == "any" and each.abi == "none" for each in tags):
            modern = any("3" in each.interpreter for each in tags)
            return too_large, 0, -int(modern), file.size or 0, file.filename
        if (place := _place(tags)) is not None:
            return too_large, 1, place, 0, file.filename
        # Sources of Python 2 are others.
        newest = max(int(re.sub(r"\D", "", each.interpreter) or 0) for each in tags)
        third = any(each.interpreter.startswith(("cp3", "py3")) for each in tags)
        return too_large, 2, -newest if third else 0, file.size or 0, file.filename

    return sorted(files, key=rank)


@cache
def _places() -> dict[Tag, int]:
    return {tag: place for place, tag in enumerate(sys_tags())}


def _place(tags: Iterable[Tag]) -> int | None:
    """Return how well a wheel fits here, the best least; None where it does not."""
    return min((_places()[each] for each in tags if each in _places()), default=None)


def _has_tag(filename: str) -> bool:
    if not filename.endswith(".whl"):
        return True
    return _place(parse_wheel_filename(filename)[3]) is not None


def _fits(requires: str, python: str) -> bool:
    """Return whether a file is for a version of Python; one that says nonsense is for any."""
    try:
        return not requires or SpecifierSet(requires).contains(python, prereleases=True)
    except ValueError:
        return True


def _series(version: str) -> str:
    """Return the first two numbers of a version, which a stub distribution shares."""
    return ".".join(re.findall(r"\d+", version)[:2])


def _dependencies(requirements: Iterable[str], python: str) -> tuple[Dependency, ...]:
    """Return what ``Requires-Dist`` fields mean here; those that do not apply are told apart."""
    found = []
    for text in requirements:
        try:
            each = Requirement(text[:_LONGEST_REQUIREMENT])
        except (ValueError, RecursionError):
            continue
        if not _NAME.fullmatch(each.name):
            continue
        marker = each.marker
        extra = re.search(r"extra\s*==\s*[\"']([^\"']+)", str(marker)) if marker else None
        applies = marker is None or _applies(marker, python)
        found.append(
            Dependency(
                name=each.name,
                requirement=str(each.specifier),
                kind="normal" if applies else "optional",
                extra=extra[1] if extra else "",
                marker=str(marker or ""),
                features=tuple(sorted(each.extras)),
            )
        )
    return tuple(found)


def _applies(marker: Marker, python: str) -> bool:
    there = {"extra": "", "python_version": _series(python), "python_full_version": python}
    try:
        return marker.evaluate(there)
    except (UndefinedComparison, UndefinedEnvironmentName, ValueError):
        return False
