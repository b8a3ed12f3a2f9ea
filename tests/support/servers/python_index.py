"""A loopback index of Python packages by the Simple API, in JSON or HTML, with files on a host.

What it answers is what https://packaging.python.org/en/latest/specifications/simple-repository-api/
asks for: hashes, ``requires-python``, yanks, metadata beside wheels, ETags, credentials.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from packaging.utils import canonicalize_name

from servers.loopback import Handler, Loopback, part_of

JSON = "application/vnd.pypi.simple.v1+json"


def metadata(name: str, version: str, *needs: str) -> bytes:
    """Core metadata of a package that needs others."""
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Summary: {name}."]
    lines += [f"Requires-Dist: {each}" for each in needs]
    return "\n".join([*lines, "", f"# {name}\n"]).encode()


def _encoded(text: str | bytes) -> str:
    digest = hashlib.sha256(text.encode() if isinstance(text, str) else text).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def wheel(
    name: str, version: str, files: Mapping[str, str | bytes], *needs: str, info: bytes = b""
) -> bytes:
    """A wheel of a package; ``info`` takes the place of its metadata."""
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        everything = {**files, f"{folder}/METADATA": info or metadata(name, version, *needs)}
        for path, text in everything.items():
            archive.writestr(path, text)
        lines = [f"{path},sha256={_encoded(text)},\n" for path, text in everything.items()]
        archive.writestr(f"{folder}/RECORD", "".join([*lines, f"{folder}/RECORD,,\n"]))
    return body.getvalue()


def sdist(name: str, version: str, files: Mapping[str, str], *needs: str) -> bytes:
    """A source distribution of a package."""
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w:gz") as archive:
        everything = {"PKG-INFO": metadata(name, version, *needs).decode(), **files}
        for path, text in everything.items():
            info = tarfile.TarInfo(f"{name}-{version}/{path}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return body.getvalue()


@dataclass
class Served:
    """A file of the index, and what the index says of it where that is not the truth."""

    name: str
    body: bytes
    requires: str = ""
    yanked: bool | str = False
    metadata: bytes | None = None
    stated: dict[str, Any] = field(default_factory=dict)


class PythonIndexServer:
    """An index on a free port of 127.0.0.1, its files on another; a context manager.

    Args:
        form: ``json``, or ``html`` for an index of the old kind.
        authorization: what every request for a list must send; empty for anybody.
    """

    def __init__(self, *, form: str = "json", authorization: str = "") -> None:
        self.form = form
        self.authorization = authorization
        self.ranges = True
        self.projects: dict[str, list[Served]] = {}
        self.index = Loopback(self._answer)
        self.files = Loopback(self._answer_file)
        self.url = f"{self.index.url}/simple"

    def __enter__(self) -> PythonIndexServer:
        self.index.__enter__()
        self.files.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.index.__exit__(kind, error, trace)
        self.files.__exit__(kind, error, trace)

    def add(self, project: str, filename: str, body: bytes, **fields: Any) -> Served:
        """Serve a file; fields are those of :class:`Served`."""
        served = Served(filename, body, **fields)
        self.projects.setdefault(str(canonicalize_name(project)), []).append(served)
        return served

    def add_wheel(
        self,
        project: str,
        version: str,
        files: Mapping[str, str | bytes],
        needs: Iterable[str] = (),
        tag: str = "py3-none-any",
        **fields: Any,
    ) -> Served:
        """Serve a wheel, with its metadata beside it."""
        name = f"{project.replace('-', '_')}-{version}-{tag}.whl"
        described = {"metadata": metadata(project, version, *needs), **fields}
        return self.add(project, name, wheel(project, version, files, *needs), **described)

    def asked(self, part: str) -> list[str]:
        """The paths of requests for files that contain a text."""
        return [each.path for each in self.files.requests if part in each.path]

    def listing(self, project: str) -> bytes:
        """What the index answers of a project as JSON."""
        return self._json(project, self.projects[project])

    def _answer(self, handler: Handler) -> None:
        if self.authorization and handler.headers.get("Authorization") != self.authorization:
            handler.reply(401)
            return
        name = handler.place.strip("/").removeprefix("simple/")
        if name != canonicalize_name(name):
            handler.reply(301, b"", {"Location": f"/simple/{canonicalize_name(name)}/"})
            return
        if (served := self.projects.get(name)) is None:
            handler.reply(404)
            return
        body, media = (
            (self._json(name, served), JSON)
            if self.form == "json"
            else (self._html(served), "text/html")
        )
        etag = f'"{hashlib.sha256(body).hexdigest()}"'
        handler.reply(200, body, {"Content-Type": media, "ETag": etag})

    def _answer_file(self, handler: Handler) -> None:
        path = handler.place.rpartition("/")[2]
        for served in (each for some in self.projects.values() for each in some):
            if path == served.name:
                if self.ranges:
                    part_of(handler, served.body)
                else:
                    handler.reply(200, served.body)
                return
            if path == f"{served.name}.metadata" and served.metadata is not None:
                handler.reply(200, served.metadata)
                return
        handler.reply(404)

    def _json(self, name: str, served: Iterable[Served]) -> bytes:
        files = []
        for each in served:
            stated: dict[str, Any] = {
                "filename": each.name,
                "url": f"{self.files.url}/files/{each.name}",
                "hashes": {"sha256": hashlib.sha256(each.body).hexdigest()},
                "size": len(each.body),
                "upload-time": "2026-01-02T03:04:05.000000Z",
                "yanked": each.yanked,
            }
            if each.requires:
                stated["requires-python"] = each.requires
            if each.metadata is not None:
                stated["core-metadata"] = {"sha256": hashlib.sha256(each.metadata).hexdigest()}
            files.append(stated | each.stated)
        return json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": files}).encode()

    def _html(self, served: Iterable[Served]) -> bytes:
        lines = []
        for each in served:
            digest = each.stated.get("hashes", {}).get("sha256")
            digest = digest or hashlib.sha256(each.body).hexdigest()
            attributes = f' data-requires-python="{html.escape(each.requires)}"'
            if each.yanked is not False:
                reason = each.yanked if isinstance(each.yanked, str) else ""
                attributes += f' data-yanked="{html.escape(reason)}"'
            if each.metadata is not None:
                hashed = hashlib.sha256(each.metadata).hexdigest()
                attributes += f' data-core-metadata="sha256={hashed}"'
            url = f"{self.files.url}/files/{each.name}#sha256={digest}"
            lines.append(f'<a href="{url}"{attributes}>{each.name}</a><br>')
        return f"<!DOCTYPE html><html><body>{''.join(lines)}</body></html>".encode()
