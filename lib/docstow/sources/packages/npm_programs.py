"""Programs that come as packages of npm, unpacked by a digest that is known beforehand."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError, UnreadableInput
from docstow.sources.packages.archives import Unpacker, made_whole
from docstow.sources.packages.client import check_file
from docstow.sources.tarball import Caps

if TYPE_CHECKING:
    from docstow.sources.packages.npm_registry import NpmRegistry

_PLAIN_BYTES = 256 * 1024 * 1024


def unpack_program(
    registry: NpmRegistry,
    name: str,
    version: str,
    digest: str,
    programs: Sequence[str],
    folder: Path,
) -> None:
    """Fetch a package and unpack it; none of its scripts is run.

    Args:
        registry: whatever it lists, the file is the one of the digest or is refused.
        name: of the package.
        version: exact.
        digest: SHA-512 in Base64, as npm writes it.
        programs: paths in the package of which those that are there are made executable.
        folder: where to; there is nothing of that name yet, and its parent exists.

    Raises:
        PackageNotFound: the registry has no such version.
        UnreadableInput: it is another file.
        UpstreamError, UpstreamTimeout: the registry does not answer.
    """
    with (
        made_whole(folder) as root,
        tempfile.TemporaryDirectory(prefix="docstow-", dir=folder.parent) as scratch,
    ):
        archive = registry.fetch(registry.resolve(name, version), Path(scratch))
        if isinstance(archive, DocstowError):
            raise archive
        check_file(archive, {"sha512": base64.b64decode(digest).hex()}, name=name)
        Unpacker(root, Caps(plain=_PLAIN_BYTES)).add(archive, name)
        found = [root / each for each in programs if (root / each).is_file()]
        if not found:
            raise UnreadableInput(f"{name} {version} has no {programs[0]}; nothing of it was kept.")
        for each in found:
            each.chmod(0o755)
