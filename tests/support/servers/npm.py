"""A registry of npm packages on loopback that answers as the real one does."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from servers.loopback import Handler, Loopback, part_of

ABBREVIATED = "application/vnd.npm.install-v1+json"
#: What a packument has in its abbreviated form.
_KEPT: tuple[str, ...] = ("name", "version", "dist", "deprecated", "engines", "dependencies")
_KEPT += ("optionalDependencies", "peerDependencies", "peerDependenciesMeta", "bin")


def tarball(files: Mapping[str, str | bytes], top: str = "package") -> bytes:
    """The files of a package as ``npm pack`` makes them, the same each time."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, text in files.items():
            body = text.encode() if isinstance(text, str) else text
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size = len(body)
            archive.addfile(entry, io.BytesIO(body))
    return gzip.compress(stream.getvalue(), mtime=0)


def integrity(body: bytes) -> str:
    """The digest of a tarball as a packument states it."""
    return "sha512-" + base64.b64encode(hashlib.sha512(body).digest()).decode()


class NpmServer(Loopback):
    """The registry; ``token`` is wanted of every request where there is one."""

    def __init__(self, *, token: str = "", files: str = "") -> None:
        super().__init__(self._answer)
        self.token = token
        #: Where tarballs are said to be; the registry itself if empty.
        self.files = files
        self.packuments: dict[str, dict[str, Any]] = {}
        self.tarballs: dict[str, bytes] = {}

    def publish(
        self,
        name: str,
        version: str,
        files: Mapping[str, str | bytes] | None = None,
        *,
        tag: str = "latest",
        **manifest: Any,
    ) -> dict[str, Any]:
        """Publish a version; return its entry in the packument, which can still be changed."""
        own = {"name": name, "version": version, **manifest}
        body = tarball({"package.json": json.dumps(own), **(files or {})})
        path = f"/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
        self.tarballs[path] = body
        packument = self.packuments.setdefault(
            name, {"_id": name, "name": name, "dist-tags": {}, "versions": {}, "readme": "# Read"}
        )
        dist = {
            "tarball": f"{self.files or self.url}{path}",
            "integrity": integrity(body),
            "shasum": hashlib.sha1(body, usedforsecurity=False).hexdigest(),
        }
        entry: dict[str, Any] = {**own, "dist": dist, "_npmUser": {"name": "someone"}}
        packument["versions"][version] = entry
        packument["dist-tags"][tag] = version
        return entry

    def _answer(self, handler: Handler) -> None:
        if self.token and handler.headers.get("Authorization") != f"Bearer {self.token}":
            handler.reply(401, b'{"error":"authentication required"}')
        elif handler.place in self.tarballs:
            part_of(handler, self.tarballs[handler.place])
        elif (found := self.packuments.get(unquote(handler.path[1:]))) is not None:
            asked = handler.headers.get("Accept", "")
            short = ABBREVIATED in asked
            body = json.dumps(_abbreviated(found) if short else found).encode()
            headers = {
                "Content-Type": ABBREVIATED if short else "application/json",
                "ETag": f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"',
            }
            handler.reply(200, body, headers)
        elif (manifest := self._manifest(unquote(handler.path[1:]))) is not None:
            body = json.dumps(manifest).encode()
            handler.reply(200, body, {"Content-Type": "application/json"})
        else:
            handler.reply(404, b'{"error":"Not found"}', {"Content-Type": "application/json"})

    def _manifest(self, path: str) -> dict[str, Any] | None:
        name, _, version = path.rpartition("/")
        versions: dict[str, Any] = self.packuments.get(name, {}).get("versions", {})
        return versions.get(version)


def _abbreviated(packument: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": packument["name"],
        "dist-tags": packument["dist-tags"],
        "modified": "2026-01-01T00:00:00.000Z",
        "versions": {
            version: {key: entry[key] for key in _KEPT if key in entry} if entry else entry
            for version, entry in packument["versions"].items()
        },
    }
