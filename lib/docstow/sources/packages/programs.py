"""Programs that come as packages of a registry, unpacked by a digest that is known beforehand."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError, UnreadableInput
from docstow.sources.packages.archives import Unpacker, made_whole
from docstow.sources.packages.client import check_file
from docstow.sources.tarball import Caps

if TYPE_CHECKING:
    from docstow.sources import Upstreams
    from docstow.sources.packages.npm_registry import NpmRegistry

_PLAIN_BYTES = 256 * 1024 * 1024
#: Puts the file of a name, a version and a digest in hex into a folder.
Fetch = Callable[[str, str, str, Path], Path]


def unpack_program(
    fetch: Fetch,
    name: str,
    version: str,
    integrity: str,
    programs: Sequence[str],
    folder: Path,
) -> None:
    """Fetch a package and unpack it; none of its scripts is run.

    Args:
        fetch: whatever it gets, the file is the one of the digest or is refused.
        name: of the package.
        version: exact.
        integrity: algorithm and digest in Base64: ``sha512-…``.
        programs: paths in the package of which those that are there are made executable.
        folder: where to; there is nothing of that name yet, and its parent exists.

    Raises:
        PackageNotFound: the registry has no such version.
        UnreadableInput: it is another file.
        UpstreamError, UpstreamTimeout: the registry does not answer.
    """
    algorithm, _, encoded = integrity.partition("-")
    digest = base64.b64decode(encoded).hex()
    with (
        made_whole(folder) as root,
        tempfile.TemporaryDirectory(prefix="docstow-", dir=folder.parent) as scratch,
    ):
        archive = fetch(name, version, digest, Path(scratch))
        check_file(archive, {algorithm: digest}, name=name)
        Unpacker(root, Caps(plain=_PLAIN_BYTES)).add(archive, name)
        found = [root / each for each in programs if (root / each).is_file()]
        if not found:
            raise UnreadableInput(f"{name} {version} has no {programs[0]}; nothing of it was kept.")
        for each in found:
            each.chmod(0o755)


def fetcher_of(registry: str, upstreams: Upstreams) -> Fetch:
    """Return what fetches files of a registry that is configured: ``npm`` or ``pypi``.

    Raises:
        ConfigurationError: there is none.
    """
    if registry == "npm":
        from docstow.sources.packages.npm_registry import open_registry

        return partial(_from_npm, open_registry(upstreams))
    from docstow.sources.packages.python_index import open_index

    return open_index(upstreams).fetch_by_digest


def _from_npm(registry: NpmRegistry, name: str, version: str, digest: str, folder: Path) -> Path:
    del digest  # A version of npm has one file.
    archive = registry.fetch(registry.resolve(name, version), folder)
    if isinstance(archive, DocstowError):
        raise archive
    return archive
