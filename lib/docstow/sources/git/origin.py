"""The documentation files of a Git repository at one commit, on GitHub or any forge.

The token is sent to the API's own host only, and a registration's headers to its forge's host only;
hosts that these redirect to get neither.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from docstow.core.errors import SourceNotFound, UnreadableInput, UpstreamError
from docstow.core.model import File, Known, Registration, Revision
from docstow.core.similar import similar_names
from docstow.formats import openapi
from docstow.net.client import REDIRECTS, follow_redirects, host_name
from docstow.sources import Event, Found, Same, Skipped, globs, tarball
from docstow.sources.git import refs as git_refs
from docstow.sources.git.refs import Address, parse, quoted

if TYPE_CHECKING:
    from docstow.net import Answer, Fetcher

_MIB = 1024 * 1024
_REFUSALS = (401, 403, 429)
_JSON = "application/vnd.github+json"
_SHA = "application/vnd.github.sha"
_MISSING = (404, 409, 422)
_NEAR = 5


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of an archive: in bytes as downloaded, and when unpacked."""

    compressed: int = 256 * _MIB
    unpacked: tarball.Caps = field(default_factory=tarball.Caps)


@dataclass(frozen=True, slots=True)
class _Resolved:
    """A resolved repository: its commit, URLs of its archive, and the root URL of its files."""

    commit: str
    archives: tuple[str, ...]
    pages: str


_DEFAULT_CAPS = Caps()


class GitOrigin:
    """One repository, for one sync.

    Args:
        registration: its URI names repository and ref.
        fetcher: the HTTP client.
        api_url: GitHub's API, or the root of another host that serves ``owner/repo`` by git's
            protocol.
        token: for the API.
        caps: limits of the archive.
    """

    def __init__(
        self,
        registration: Registration,
        fetcher: Fetcher,
        *,
        api_url: str,
        token: str = "",
        caps: Caps = _DEFAULT_CAPS,
    ) -> None:
        self._registration = registration
        self._address: Address = parse(registration.uri)
        self._selection = globs.Selection.from_options(registration.options)
        self._fetcher = fetcher
        self._home = (self._address.root or api_url).rstrip("/")
        self._headers = dict(registration.headers)
        if token and not self._address.root:
            self._headers.setdefault("Authorization", f"Bearer {token}")
        self._caps = caps
        self._resolved: _Resolved | None = None

    def resolve(self) -> Revision:
        """Return the commit that the ref names now.

        Raises:
            SourceNotFound: there is no such repository, or no such ref in it.
            UpstreamError, UpstreamTimeout: the host does not answer.
        """
        if self._resolved is None:
            known = None if self._address.root else self._by_api()
            self._resolved = known or self._by_git()
        return self._registration.revision(self._resolved.commit)

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        """Yield the selected files at the commit; validators are digests of their bytes.

        Raises:
            UnreadableInput: the archive is damaged or ends early.
            TooLarge: it exceeds a cap.
            SourceNotFound, UpstreamError, UpstreamTimeout: it cannot be downloaded.
        """
        self.resolve()
        assert self._resolved is not None
        with tempfile.TemporaryDirectory(prefix="docstow-") as folder:
            path = Path(folder) / "archive.tar.gz"
            name, pages = self._download(self._resolved, path)
            budget = globs.Budget(self._selection)
            met: set[str] = set()
            with path.open("rb") as stream:
                for entry in tarball.entries(stream, name=name, caps=self._caps.unpacked):
                    if entry.path in met:
                        yield Skipped(entry.path, "named twice")
                        continue
                    met.add(entry.path)
                    yield from self._event(entry, pages, budget, known)

    def _event(
        self, entry: tarball.Entry, pages: str, budget: globs.Budget, known: Mapping[str, Known]
    ) -> Iterator[Event]:
        """Yield the event of an entry; none if it is not documentation."""
        path = entry.path
        if entry.refusal == "unsafe path":
            yield Skipped(path, entry.refusal)
            return
        if not self._selection.includes(path, globs.TEXT_SUFFIXES):
            return
        api = self._selection.may_describe(path)
        if api and not entry.refusal and entry.size <= self._selection.max_size(path):
            body = entry.read()
            if not openapi.is_description(body):
                return
        if reason := entry.refusal or budget.take(path, entry.size):
            yield Skipped(path, reason)
            return
        body = body if api else entry.read()
        validator = hashlib.sha256(body).hexdigest()
        if path in known and known[path].validator == validator:
            yield Same(path)
        elif globs.is_binary(path, body):
            yield Skipped(path, "not text")
        else:
            url = f"{pages}/{quoted(path)}"
            media_type = openapi.MEDIA_TYPE if api else globs.media_type(path)
            yield Found(File(path, url, media_type, body), validator)

    def _by_api(self) -> _Resolved | None:
        """Resolve by GitHub's API; None where there is no such API or repository."""
        base = f"{self._home}/repos/{self._address.path}"
        answer = self._ask(base, _JSON)
        if answer.status in _MISSING:
            return None
        described = _object(answer)
        if described is None:
            return None
        ref = self._address.ref or str(described.get("default_branch") or "HEAD")
        answer = self._ask(f"{base}/commits/{quoted(ref)}", _SHA)
        commit = _commit(answer) if answer.status == 200 else ""
        if not commit:
            raise SourceNotFound(
                f"{self._address.path} has no branch, tag or commit {ref}; its default branch is"
                f" {described.get('default_branch')}."
            )
        pages = str(described.get("html_url") or "")
        if urlsplit(pages).scheme not in {"http", "https"}:
            pages = f"https://github.com/{self._address.path}"
        return _Resolved(commit, (f"{base}/tarball/{commit}",), f"{pages}/blob/{commit}")

    def _by_git(self) -> _Resolved:
        """Resolve by git's own protocol, which every forge speaks."""
        base = f"{self._home}/{self._address.path}"
        answer = self._ask(f"{base}.git/info/refs?service={git_refs.SERVICE}", "*/*")
        if answer.status in _MISSING or answer.status == 401:
            raise self._unknown()
        refs = git_refs.parse_refs(answer.body)
        commit = refs.find(self._address.ref)
        if not commit:
            raise _no_ref(self._address, refs)
        name = self._address.path.rpartition("/")[2]
        archives = (
            f"{base}/archive/{commit}.tar.gz",
            f"{base}/-/archive/{commit}/{name}-{commit}.tar.gz",
        )
        view = f"src/commit/{commit}" if self._address.root else f"blob/{commit}"
        return _Resolved(commit, archives, f"{base}/{view}")

    def _download(self, resolved: _Resolved, path: Path) -> tuple[str, str]:
        """Download the first archive that exists; return its URL and that of its pages."""
        for url in resolved.archives:
            answer = self._ask(url, "*/*", path)
            if answer.status == 200:
                # GitLab alone has its archives below /-/, and its pages.
                gitlab = "/-/archive/" in url
                pages = (
                    resolved.pages.replace("/src/commit/", "/-/blob/") if gitlab else resolved.pages
                )
                return url, pages
        raise SourceNotFound(
            f"{self._address} has no archive of commit {resolved.commit} at {resolved.archives[0]};"
            " the host may not offer archives, or needs a token."
        )

    def _ask(self, url: str, accept: str, path: Path | None = None) -> Answer:
        """Request a URL; redirects to other hosts get no secret headers."""

        def once(here: str, own: bool) -> Answer:  # noqa: FBT001 - the signature of a callback
            headers = {"Accept": accept, **(self._headers if own else {})}
            expected = (200, *_MISSING, *_REFUSALS, *REDIRECTS)
            if path is None:
                return self._fetcher.get(here, expected=expected, headers=headers)
            return self._fetcher.download(
                here, path, most=self._caps.compressed, expected=expected, headers=headers
            )

        answer = follow_redirects(url, once)
        return self._refused(answer, url) if answer.status in _REFUSALS else answer

    def _refused(self, answer: Answer, url: str) -> Answer:
        """Raise the error of a refusal: rate limit, invalid token or forbidden; else return it."""
        host, headers = host_name(url), answer.headers
        limited = headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers
        if limited or answer.status == 429:
            raise UpstreamError(
                f"{host} allows no more requests for now; set DOCSTOW_GITHUB_TOKEN (or a header of"
                " this source) for a higher limit, or try again later.",
                **{"host": host, "status": answer.status, **_wait(headers)},
            )
        if self._headers.get("Authorization") and answer.status == 401:
            raise UpstreamError(
                f"{host} does not accept the token; check DOCSTOW_GITHUB_TOKEN.",
                host=host,
                status=answer.status,
            )
        if answer.status == 403:
            raise UpstreamError(
                f"{host} answered 403 for {self._address}; it may need a token with access to it.",
                host=host,
                status=answer.status,
            )
        return answer

    def _unknown(self) -> SourceNotFound:
        advice = "a header of this source" if self._address.root else "DOCSTOW_GITHUB_TOKEN"
        host = host_name(self._home)
        return SourceNotFound(
            f"There is no repository {self._address.path} at {host}, or it is private:"
            f" check its name, or give a token with access to it as {advice}."
        )


def _object(answer: Answer) -> dict[str, Any] | None:
    try:
        described = json.loads(answer.body)
    except ValueError:
        return None
    return described if isinstance(described, dict) and "default_branch" in described else None


def _commit(answer: Answer) -> str:
    """Return the commit of an answer: as plain text, GitHub's media type, or in JSON."""
    text = answer.body.decode("ascii", "replace").strip()
    if text.startswith("{"):
        try:
            text = str(json.loads(text).get("sha"))
        except ValueError:
            return ""
    if not git_refs.COMMIT.fullmatch(text):
        raise UnreadableInput(f"{answer.url} answered without a commit; check DOCSTOW_GITHUB_URL.")
    return text


def _no_ref(address: Address, refs: git_refs.Refs) -> SourceNotFound:
    near = similar_names(address.ref, refs.names(), most=_NEAR, least=0)
    head = refs.head.removeprefix("refs/heads/")
    return SourceNotFound(
        f"{address.path} has no branch, tag or commit {address.ref or 'to begin with'}."
        + (f" Its default branch is {head}." if head else ""),
        suggestions=[{"ref": name, "score": round(score, 2)} for name, score in near],
    )


def _wait(headers: Mapping[str, str]) -> dict[str, Any]:
    wait = headers.get("retry-after", "")
    return {"retry_after_s": int(wait)} if wait.isascii() and wait.isdigit() else {}
