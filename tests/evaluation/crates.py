"""Crates of the corpus as loaded indexes, stowed once for each recipe."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from docstow.core.model import CRATE, File, Revision, Snapshot, Source
from docstow.core.settings import load
from docstow.core.versions import Version
from docstow.index.loaded import Index
from docstow.ingest.crates import read_crate
from docstow.languages.rust import rustdoc
from docstow.runtime import Runtime
from docstow.sources.crates.origin import read_file


class Crates:
    """Indexes by crate name, of the newest version in any of the folders.

    Args:
        folders: hold ``<crate>/<version>/rustdoc*.json.zst``; an earlier folder wins.
        cache: where stowed crates are kept between runs.
        model: the embedding model's setting.
        precision: of its weights, where there is a choice.
    """

    def __init__(
        self, folders: Sequence[Path], cache: Path, model: str = "bundled", *, precision: str = ""
    ) -> None:
        self._folders = folders
        chosen = {"model": model} | ({"model_precision": precision} if precision else {})
        self.runtime = Runtime(load({"store": str(cache), **chosen}, {}))
        self._indexes: dict[str, Index] = {}

    def __getitem__(self, name: str) -> Index:
        if name not in self._indexes:
            self._indexes[name] = self.runtime.library.index(self._stowed(name))
        return self._indexes[name]

    def _stowed(self, name: str) -> Snapshot:
        version = max(self._versions(name), key=Version.parse)
        file = self._file(name, version)
        if file is None:
            raise FileNotFoundError(f"{name} {version} has no rustdoc JSON")
        # The recipe is in the name, so that crates of another one are not taken for these.
        recipe = self.runtime.publisher.recipe(CRATE, rustdoc.READER)
        mark = hashlib.sha256(repr(recipe).encode()).hexdigest()[:8]
        source = Source(CRATE, name, f"{version}+{mark}")
        if (head := self.runtime.snapshots.head(source)) is not None:
            snapshot = self.runtime.snapshots.load(head)
            if snapshot is not None:
                return snapshot
        revision = Revision(source, version, origin="corpus")
        reading = read_crate(revision, file, {}, self._file)
        return self.runtime.publisher.publish(reading).snapshot

    def _versions(self, name: str) -> Iterator[str]:
        for folder in self._folders:
            with contextlib.suppress(FileNotFoundError):
                for place in (folder / name).iterdir():
                    if any(place.glob("*.json.zst")):
                        yield place.name

    def _file(self, name: str, version: str) -> File | None:
        for folder in self._folders:
            found = sorted((folder / name / version).glob("rustdoc*.json.zst"))
            if found:
                # "rustdoc.json.zst" sorts last; the others name their formats.
                return read_file(found[-1])
        return None
