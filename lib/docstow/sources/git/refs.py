"""Addresses of Git repositories, and the refs of one as git's smart HTTP protocol lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import quote, unquote, urlsplit

from docstow.core.errors import InvalidParameter, UnreadableInput
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass

SERVICE = "git-upload-pack"
MEDIA_TYPE = f"application/x-{SERVICE}-advertisement"
COMMIT = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PEELED = "^{}"


@dataclass(frozen=True, slots=True)
class Refs:
    """The refs of a repository.

    Attributes:
        commits: by full name; annotated tags stand for their commit.
        head: the full name of the default branch; empty if the server does not name it.
    """

    commits: Mapping[str, str]
    head: str = ""

    def find(self, ref: str) -> str:
        """Return the commit of a branch, tag, full ref name or commit; empty if there is none.

        A tag takes precedence over a branch of its name, as in git itself.
        """
        if not ref:
            return self.commits.get("HEAD", "") or self.commits.get(self.head, "")
        for name in (ref, f"refs/tags/{ref}", f"refs/heads/{ref}"):
            if name in self.commits:
                return self.commits[name]
        return ref if COMMIT.fullmatch(ref) else ""

    def names(self) -> list[str]:
        """Return the short names of branches and tags."""
        return [
            name.removeprefix("refs/heads/").removeprefix("refs/tags/")
            for name in self.commits
            if name.startswith(("refs/heads/", "refs/tags/"))
        ]


def parse_refs(body: bytes) -> Refs:
    """Parse the answer to ``info/refs?service=git-upload-pack``.

    Raises:
        UnreadableInput: the body is not such an answer, or ends early.
    """
    commits: dict[str, str] = {}
    head = ""
    for line in _lines(body):
        if line.startswith(("#", "version ")):
            continue
        entry, _, capabilities = line.partition("\0")
        commit, _, name = entry.rstrip("\n").partition(" ")
        if not COMMIT.fullmatch(commit):
            raise UnreadableInput("The Git server sent a ref without a commit; check its address.")
        for capability in capabilities.split():
            if capability.startswith("symref=HEAD:"):
                head = capability.removeprefix("symref=HEAD:")
        if name != f"capabilities{_PEELED}":
            # The object of an annotated tag comes first, then its commit under the same name.
            commits[name.removesuffix(_PEELED)] = commit
    return Refs(commits, head)


def _lines(body: bytes) -> Iterator[str]:
    """Yield the pkt-lines: four hex digits of length, including themselves; 0000 separates."""
    place = 0
    while place < len(body):
        try:
            length = int(body[place : place + 4], 16)
        except ValueError:
            raise UnreadableInput(
                "The server does not speak git's smart HTTP; check the repository's address."
            ) from None
        if length >= 4:
            if place + length > len(body):
                raise UnreadableInput("The Git server's list of refs ends early; sync again.")
            yield body[place + 4 : place + length].decode("utf-8", "replace")
        place += max(length, 4)


GITHUB = "github.com"
_NAME = lazy_pattern(r"[A-Za-z0-9._-]{1,100}")
_OWNER = lazy_pattern(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
#: Invalid in the name of a ref, see git-check-ref-format(1).
_BAD_REF = lazy_pattern(r"[\x00-\x20\x7f~^:?*\[\\%#]|\.\.|@\{|//|^[-/.]|[/.]$|\.lock$|/\.")
_LONGEST_REF = 200
#: URLs of a ref and a folder on GitHub, GitLab, Gitea and Forgejo.
_VIEWS = lazy_pattern(
    r"(?P<repo>.+?)/(?:tree|blob|-/tree|-/blob|src/branch|src/tag|src/commit)/(?P<ref>[^/]+)"
    r"(?:/(?P<folder>.+))?"
)
_SSH = lazy_pattern(r"(?:ssh://)?git@(?P<host>[^:/]+)[:/](?P<path>.+)")
_FORMS = "must be owner/repo, owner/repo@ref or the repository's https address"


@dataclass(frozen=True, slots=True)
class Address:
    """A repository, with ref and folder.

    Attributes:
        root: scheme and host of a forge; empty for GitHub.
        path: ``owner/repo``; on forges there may be more names.
        ref: branch, tag or commit; empty for the default branch.
        folder: the part of the tree that the address names; empty for all of it.
    """

    root: str
    path: str
    ref: str = ""
    folder: str = ""

    def __str__(self) -> str:
        """Return the canonical spelling, which has no folder."""
        where = f"{self.root}/{self.path}" if self.root else self.path
        return f"{where}@{self.ref}" if self.ref else where


def parse(text: str) -> Address:
    """Parse ``owner/repo@ref``, or a URL of a repository with or without ref and folder.

    GitHub ignores the case of owners and repositories, so they become lower case; those of other
    forges stay as they are.

    Raises:
        InvalidParameter: the text is none of these.
    """
    text = text.strip()
    if ssh := _SSH.fullmatch(text):
        text = f"https://{ssh['host']}/{ssh['path']}"
    if text.lower().startswith((f"{GITHUB}/", f"www.{GITHUB}/")):
        text = f"https://{text}"
    root, path = _split(text)
    path, _, ref = path.partition("@")
    folder = ""
    if "://" in text and not ref and (view := _VIEWS.fullmatch(path)):
        path, ref, folder = view["repo"], view["ref"], (view["folder"] or "").strip("/")
    path = path.strip("/").removesuffix(".git")
    if len(ref) > _LONGEST_REF or _BAD_REF.search(ref):
        raise InvalidParameter("uri", f"{ref!r} cannot be a branch, a tag or a commit")
    if {".", ".."} & set(folder.split("/")):
        raise InvalidParameter("uri", f"{folder!r} cannot be a folder of a repository")
    names = path.split("/")
    if not all(_NAME.fullmatch(name) and name not in {".", ".."} for name in names):
        raise InvalidParameter("uri", f"{_FORMS}, not {text!r}")
    if root:
        return Address(root, path, ref, folder)
    if len(names) != 2 or not _OWNER.fullmatch(names[0]):
        raise InvalidParameter("uri", f"{_FORMS}, not {text!r}")
    return Address("", path.lower(), ref, folder)


def canonical(uri: str) -> str:
    """Return the one spelling of an address; see :func:`parse`.

    Raises:
        InvalidParameter: it names no repository.
    """
    return str(parse(uri))


def quoted(path: str) -> str:
    """Escape a path or ref for a URL."""
    return quote(path, safe="/")


def _split(text: str) -> tuple[str, str]:
    """Return root and path; the root is empty for GitHub."""
    if "://" not in text:
        return "", text
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise InvalidParameter("uri", f"{_FORMS}, not {text!r}") from None
    if parts.username or parts.password:
        raise InvalidParameter("uri", "must not hold a password; give it as a header")
    if parts.scheme not in {"http", "https"} or not host:
        raise InvalidParameter("uri", f"{_FORMS}, not {text!r}")
    path = unquote(parts.path).strip("/")
    if host in {GITHUB, f"www.{GITHUB}"}:
        return "", path
    if ":" in host:
        host = f"[{host}]"
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}", path
