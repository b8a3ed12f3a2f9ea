"""A loopback Git host: GitHub's API, git's smart HTTP, and archives of repositories.

``with Forge() as forge:`` gives ``forge.url`` (the host's root) and ``forge.api_url``. Archives
are on a second server, as GitHub's are, so that what is sent there can be looked at.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType

from docstow.sources.git import refs as git_refs
from servers.loopback import Handler, Loopback


def packed(members: Iterable[tuple[str | tarfile.TarInfo, bytes]], *, top: str = "repo-1") -> bytes:
    """A ``.tar.gz``; plain names go below the top directory, headers are taken as they are."""
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name, content in members:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(f"{top}/{name}")
            if info.isreg():
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return body.getvalue()


@dataclass
class Repository:
    """A repository whose every commit holds the same files, unless an archive is given.

    Attributes:
        branches: by name their commits; the first is the default branch.
        tags: by name their commits; ``annotated`` ones have an object of their own.
        archive: served instead of the files.
    """

    files: dict[str, bytes]
    branches: dict[str, str] = field(default_factory=lambda: {"main": commit("main")})
    tags: dict[str, str] = field(default_factory=dict)
    annotated: frozenset[str] = frozenset()
    archive: bytes = b""
    private: bool = False

    def find(self, ref: str) -> str:
        """The commit of a branch, a tag or a commit."""
        known = {**self.branches, **self.tags}
        return known.get(ref) or (ref if ref in known.values() else "")

    def tarball(self) -> bytes:
        """The archive of a commit."""
        return self.archive or packed(self.files.items())


def commit(name: str) -> str:
    """A made-up commit of a name."""
    return hashlib.sha1(name.encode()).hexdigest()


class Forge:
    """The host; a context manager.

    Args:
        repositories: by ``owner/repo`` in lower case.
        style: where archives are: ``gitea`` or ``gitlab``.
        token: what private repositories ask for.
        api: whether there is GitHub's API below ``/api``.
    """

    def __init__(
        self,
        repositories: Mapping[str, Repository],
        *,
        style: str = "gitea",
        token: str = "",
        api: bool = True,
    ) -> None:
        self.repositories = dict(repositories)
        self._style = style
        self._token = token
        self._api = api
        self._host = Loopback(self._answer)
        self.archives = Loopback(self._archive)
        self.url = self._host.url
        self.api_url = f"{self._host.url}/api"
        self.requests = self._host.requests
        self.paths = self._host.paths
        self.plan = self._host.plan
        self.always = self._host.always

    def __enter__(self) -> Forge:
        self._host.__enter__()
        self.archives.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.archives.__exit__(kind, error, trace)
        self._host.__exit__(kind, error, trace)

    def _answer(self, handler: Handler) -> None:
        place = handler.place.strip("/")
        if self._api and place.startswith("api/repos/"):
            self._rest(handler, place.removeprefix("api/repos/"))
            return
        for name, repository in self.repositories.items():
            if not place.lower().startswith(name) or not self._may(handler, repository):
                continue
            tail = place[len(name) :]
            if tail == ".git/info/refs" and handler.path.endswith(f"?service={git_refs.SERVICE}"):
                handler.reply(200, advertisement(repository), {"Content-Type": git_refs.MEDIA_TYPE})
                return
            stem = name.rpartition("/")[2]
            for known in {*repository.branches.values(), *repository.tags.values()}:
                at = {
                    "gitea": f"/archive/{known}.tar.gz",
                    "gitlab": f"/-/archive/{known}/{stem}-{known}.tar.gz",
                }
                if tail == at[self._style]:
                    handler.reply(200, repository.tarball())
                    return
        handler.reply(404, b"not found")

    def _rest(self, handler: Handler, place: str) -> None:
        owner, _, rest = place.partition("/")
        repo, _, rest = rest.partition("/")
        repository = self.repositories.get(f"{owner}/{repo}".lower())
        if repository is None or not self._may(handler, repository):
            handler.reply(404, b'{"message": "Not Found"}')
        elif not rest:
            described = {
                "default_branch": next(iter(repository.branches), "main"),
                "html_url": f"https://github.com/{owner}/{repo}",
            }
            handler.reply(200, json.dumps(described).encode())
        elif rest.startswith("commits/"):
            found = repository.find(rest.removeprefix("commits/"))
            handler.reply(200 if found else 422, found.encode())
        else:
            location = f"{self.archives.url}/{owner}/{repo}/{rest}"
            handler.reply(302, b"", {"Location": location})

    def _archive(self, handler: Handler) -> None:
        name = "/".join(handler.place.split("/")[1:3]).lower()
        handler.reply(200, self.repositories[name].tarball())

    def _may(self, handler: Handler, repository: Repository) -> bool:
        sent = handler.headers.get("Authorization") or handler.headers.get("Private-Token")
        return not repository.private or sent in {f"Bearer {self._token}", self._token}


def advertisement(repository: Repository) -> bytes:
    """The answer to ``info/refs``, as git-upload-pack gives it."""
    head = next(iter(repository.branches), "")
    refs: list[tuple[str, str]] = []
    if head:
        refs.append((repository.branches[head], "HEAD"))
    refs += [(known, f"refs/heads/{name}") for name, known in repository.branches.items()]
    for name, known in repository.tags.items():
        if name in repository.annotated:
            refs.append((commit(f"object of {name}"), f"refs/tags/{name}"))
            refs.append((known, f"refs/tags/{name}^{{}}"))
        else:
            refs.append((known, f"refs/tags/{name}"))
    lines = [f"# service={git_refs.SERVICE}\n", ""]
    for place, (known, name) in enumerate(refs):
        symref = f"\0multi_ack symref=HEAD:refs/heads/{head} agent=git/2" if not place else ""
        lines.append(f"{known} {name}{symref}\n")
    if not refs:
        lines.append(f"{'0' * 40} capabilities^{{}}\0agent=git/2\n")
    lines.append("")
    return b"".join(pkt_line(line) for line in lines)


def pkt_line(line: str) -> bytes:
    """A line with its length before it; an empty one is the flush packet."""
    return f"{len(line) + 4:04x}{line}".encode() if line else b"0000"


def bomb(size: int) -> bytes:
    """A small archive with one file of zeros."""
    info = tarfile.TarInfo("repo-1/docs/zeros.md")
    info.size = size
    body = io.BytesIO()
    with gzip.open(body, "wb") as stream:
        stream.write(info.tobuf())
        block = bytes(1 << 20)
        for _ in range(-(-size // len(block))):
            stream.write(block)
        stream.write(bytes(1024))
    return body.getvalue()
