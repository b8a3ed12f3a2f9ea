"""A loopback docs.rs and sparse index over a folder of ``<crate>/<version>/rustdoc.json.zst``.

``with DocsRs(folder) as server:`` gives ``server.url``, ``server.index_url`` and
``server.requests``. By hand: ``python -m servers.docs_rs FOLDER --port 8080``.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import html
import io
import json
import re
import tarfile
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

import zstandard

from docstow.core.versions import Version, choose, exact
from servers.loopback import Handler, Loopback

DEFAULT_TARGET = "x86_64-unknown-linux-gnu"


class DocsRs:
    """The two sites as one server on a free port of 127.0.0.1; a context manager.

    Args:
        folder: holds ``<crate>/<version>/rustdoc.json.zst`` (or ``rustdoc.json``; or only
            ``rustdoc.f<format>-*.json.zst``, of which the highest format is served), and maybe an
            ``index.json`` that tells features and dependencies. A folder
            ``<crate>/<version>/crate`` is served as the archive of that version; where there is
            none, the index has no ``config.json``.
        overrides: (crate, version) to members of its index line, such as ``{"yanked": True}``;
            also adds versions that the folder does not have.
        port: 0 for any.

    Attributes:
        url: root of docs.rs; ``index_url`` that of the sparse index.
        requests: every request so far, in order; ``paths(part)`` gives their paths.
        plan, always: make requests meet faults, see :class:`servers.loopback.Loopback`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        overrides: Mapping[tuple[str, str], Mapping[str, Any]] | None = None,
        port: int = 0,
    ) -> None:
        self.folder = folder
        self.overrides = dict(overrides or {})
        self._loopback = Loopback(self.answer, port=port)
        self.url = self._loopback.url
        self.index_url = f"{self.url}/index"
        self.requests = self._loopback.requests
        self.paths = self._loopback.paths
        self.plan = self._loopback.plan
        self.always = self._loopback.always
        self._manifest = _manifest(folder)

    def __enter__(self) -> DocsRs:
        self._loopback.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loopback.__exit__(kind, error, trace)

    def answer(self, handler: Handler) -> None:
        """Answer as the real sites would."""
        path = handler.place
        if path.startswith("/archives/"):
            self._answer_archive(handler, path)
            return
        if path.startswith("/index/"):
            self._answer_index(handler, path)
            return
        match = re.fullmatch(
            r"/crate/([^/]+)/([^/]+)(?:/([^/]+))?/json(?:/(latest|\d+))?(?:\.(zst|gz))?/?", path
        )
        if match is None:
            self._missing(handler, "resource")
            return
        name, asked, target, form, packing = match.groups()
        self._answer_json(handler, name, asked, target or "", form or "latest", packing or "zst")

    def versions(self, name: str) -> list[str]:
        """All versions of a crate that the index lists, in ascending order."""
        found = [entry.name for entry in (self.folder / name).glob("*") if entry.is_dir()]
        listed = {*found, *(version for crate, version in self.overrides if crate == name)}
        return sorted(listed, key=Version.parse)

    def archive(self, name: str, version: str) -> bytes:
        """The ``.crate`` of a version, made of its folder ``crate``; empty where it has none."""
        root = self.folder / name / version / "crate"
        files = sorted(each for each in root.rglob("*") if each.is_file())
        if not files:
            return b""
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w") as made:
            for each in files:
                entry = tarfile.TarInfo(f"{name}-{version}/{each.relative_to(root).as_posix()}")
                entry.size = each.stat().st_size
                with each.open("rb") as body:
                    made.addfile(entry, body)
        return gzip.compress(plain.getvalue(), mtime=0)

    def _answer_archive(self, handler: Handler, path: str) -> None:
        body = self.archive(*path.removeprefix("/archives/").split("/")[:2])
        handler.reply(200 if body else 404, body or b"not found")

    def _answer_configuration(self, handler: Handler) -> None:
        if not self._has_archives:
            handler.reply(404, b"not found")
            return
        body = json.dumps({"dl": f"{self.url}/archives", "api": self.url}).encode()
        handler.reply(200, body, {"Content-Type": "application/json"})

    @cached_property
    def _has_archives(self) -> bool:
        return any(self.folder.glob("*/*/crate"))

    def _answer_index(self, handler: Handler, path: str) -> None:
        if path == "/index/config.json":
            self._answer_configuration(handler)
            return
        asked = path.rsplit("/", 1)[-1]
        name = self._spelled(asked)
        if name is None or path != f"/index/{_index_path(name)}":
            handler.reply(404, b"not found")
            return
        lines = [json.dumps(self._index_line(name, version)) for version in self.versions(name)]
        body = "".join(f"{line}\n" for line in lines).encode()
        handler.reply(
            200,
            body,
            {
                "Content-Type": "text/plain",
                "Cache-Control": "public,max-age=600",
                "ETag": _etag(body),
            },
        )

    def _spelled(self, lowered: str) -> str | None:
        if (self.folder / lowered).is_dir():
            return lowered  # there may be thousands
        crates = {entry.name for entry in self.folder.glob("*") if entry.is_dir()}
        crates |= {crate for crate, _ in self.overrides}
        return next((crate for crate in crates if crate.lower() == lowered), None)

    def _index_line(self, name: str, version: str) -> dict[str, Any]:
        entry = self._manifest.get((name, version), {})
        line = {
            "name": name,
            "vers": version,
            "deps": [
                {
                    "name": package,
                    "req": f"^{requirement}",
                    "features": [],
                    "optional": False,
                    "default_features": True,
                    "target": None,
                    "kind": "normal",
                }
                for package, requirement in entry.get("deps", {}).items()
            ],
            "cksum": hashlib.sha256(
                self.archive(name, version) or f"{name} {version}".encode()
            ).hexdigest(),
            "features": {feature: [] for feature in entry.get("features", [])},
            "yanked": False,
        }
        return {**line, **self.overrides.get((name, version), {})}

    def _yanked(self, name: str, version: str) -> bool:
        return bool(self.overrides.get((name, version), {}).get("yanked"))

    def _answer_json(
        self, handler: Handler, name: str, asked: str, target: str, form: str, packing: str
    ) -> None:
        versions = self.versions(name) if (self.folder / name).is_dir() else []
        if not versions:
            self._missing(handler, "crate")
            return
        offered = [version for version in versions if not self._yanked(name, version)]
        if asked in {"*", "newest"}:
            self._elsewhere(handler, asked, "latest")
            return
        version = asked if asked in versions else None if _exact(asked) else choose(asked, offered)
        if version is None:
            # The real site reads a missing exact version as a caret requirement.
            version = choose(f"^{asked}", offered) if _exact(asked) else None
        if version is None:
            self._missing(handler, "version")
            return
        if asked not in {version, "latest"}:
            self._elsewhere(handler, asked, version)
            return
        if target not in {"", DEFAULT_TARGET}:
            self._missing(handler, "target")
            return
        file = json_file(self.folder / name / version, form)
        if file is None:
            self._missing(handler, "resource")
            return
        body = _packed(file, packing)
        label = f"{name}_{version}_{target or DEFAULT_TARGET}_{form}.json.{packing}"
        handler.reply(
            200,
            body,
            {
                "Content-Type": "application/zstd" if packing == "zst" else "application/gzip",
                "Content-Disposition": f'attachment; filename="{label}"',
                "Cache-Control": "max-age=0",
                "ETag": _etag(body),
            },
        )

    def _elsewhere(self, handler: Handler, asked: str, version: str) -> None:
        parts = handler.place.split("/")
        parts[parts.index(asked)] = version
        handler.reply(302, b"", {"Location": "/".join(quote(part, safe="") for part in parts)})

    def _missing(self, handler: Handler, what: str) -> None:
        title = html.escape(f"The requested {what} does not exist")
        page = f"<!DOCTYPE html><title>{title}</title><h1>{title}</h1><p>Nothing is kept here."
        handler.reply(404, page.encode(), {"Content-Type": "text/html; charset=utf-8"})


def json_file(folder: Path, form: str = "latest") -> Path | None:
    """The file of a crate's version: the plain one, or the one of a format (the highest)."""
    by_format = sorted(folder.glob("rustdoc.f*.json.zst"), key=_format_of)
    if form != "latest":
        return next((file for file in by_format if _format_of(file) == int(form)), None)
    plain = [folder / name for name in ("rustdoc.json.zst", "rustdoc.json")]
    return next((file for file in [*plain, *reversed(by_format)] if file.is_file()), None)


def _format_of(file: Path) -> int:
    match = re.match(r"rustdoc\.f(\d+)", file.name)
    return int(match[1]) if match else 0


def _packed(file: Path, packing: str) -> bytes:
    body = file.read_bytes()
    if file.suffix != ".zst":
        body = zstandard.compress(body)
    if packing == "zst":
        return body
    return gzip.compress(zstandard.ZstdDecompressor().decompressobj().decompress(body), 1, mtime=0)


def _manifest(folder: Path) -> dict[tuple[str, str], Mapping[str, Any]]:
    file = folder / "index.json"
    entries = json.loads(file.read_text("utf-8"))["entries"] if file.is_file() else []
    return {(entry["crate"], entry["version"]): entry for entry in entries}


def _index_path(name: str) -> str:
    lowered = name.lower()
    short = {1: f"1/{lowered}", 2: f"2/{lowered}", 3: f"3/{lowered[:1]}/{lowered}"}
    return short.get(len(lowered), f"{lowered[:2]}/{lowered[2:4]}/{lowered}")


def _exact(asked: str) -> bool:
    return not asked.startswith("=") and asked[:1].isdigit() and exact(asked) is not None


def _etag(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m servers.docs_rs", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args(arguments)
    with DocsRs(options.folder, port=options.port) as server:
        print(f"DOCSTOW_DOCS_RS_URL={server.url}", flush=True)
        print(f"DOCSTOW_CRATES_INDEX_URL={server.index_url}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print("stopped")


if __name__ == "__main__":
    main()
