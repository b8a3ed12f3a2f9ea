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
from docstow.net import redirects
from docstow.sources import globs
from docstow.sources.git import refs as git_refs
from docstow.sources.git import tarball
from docstow.sources.git.refs import Address, parse, quoted
from docstow.sources.protocol import Event, Found, Same, Skipped

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
    """How large an archive may be: as it arrives, and what is read of it."""

    packed: int = 256 * _MIB
    plain: tarball.Caps = field(default_factory=tarball.Caps)


@dataclass(frozen=True, slots=True)
class _Place:
    """A repository as it resolved: its commit, its archives, and where people read its files."""

    commit: str
    archives: tuple[str, ...]
    pages: str


_DEFAULT_CAPS = Caps()


class GitOrigin:
    """One repository, for one sync.

    Args:
        registration: its URI says which repository and ref.
        fetcher: asks over HTTP.
        api_url: GitHub's API; or the root of another host, that serves ``owner/repo`` by git's
            own protocol.
        token: for the API.
        caps: bounds on the archive.
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
        self._selection = globs.Selection.of(registration.options)
        self._fetcher = fetcher
        self._home = (self._address.root or api_url).rstrip("/")
        self._headers = dict(registration.headers)
        if token and not self._address.root:
            self._headers.setdefault("Authorization", f"Bearer {token}")
        self._caps = caps
        self._place: _Place | None = None

    def resolve(self) -> Revision:
        """Return the commit that the ref names now.

        Raises:
            SourceNotFound: there is no such repository, or no such ref in it.
            UpstreamError, UpstreamTimeout: the host cannot be asked.
        """
        if self._place is None:
            known = None if self._address.root else self._by_api()
            self._place = known or self._by_git()
        return self._registration.revision(self._place.commit)

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        """The wanted files at the commit; validators are digests of their bytes.

        Raises:
            UnreadableInput: the archive is damaged or ends early.
            TooLarge: it exceeds a cap.
            SourceNotFound, UpstreamError, UpstreamTimeout: it cannot be had.
        """
        self.resolve()
        assert self._place is not None
        with tempfile.TemporaryDirectory(prefix="docstow-") as folder:
            path = Path(folder) / "archive.tar.gz"
            name, pages = self._download(self._place, path)
            budget = globs.Budget(self._selection)
            met: set[str] = set()
            with path.open("rb") as stream:
                for entry in tarball.entries(stream, name=name, caps=self._caps.plain):
                    if entry.path in met:
                        yield Skipped(entry.path, "named twice")
                        continue
                    met.add(entry.path)
                    yield from self._event(entry, pages, budget, known)

    def _event(
        self, entry: tarball.Entry, pages: str, budget: globs.Budget, known: Mapping[str, Known]
    ) -> Iterator[Event]:
        """What there is to say of an entry; nothing of the many that are no documentation."""
        path = entry.path
        if entry.refusal == "unsafe path":
            yield Skipped(path, entry.refusal)
            return
        if not self._selection.takes(path, globs.TEXT_SUFFIXES):
            return
        if reason := entry.refusal or budget.refusal(path, entry.size):
            yield Skipped(path, reason)
            return
        body = entry.read()
        validator = hashlib.sha256(body).hexdigest()
        if path in known and known[path].validator == validator:
            yield Same(path)
        elif globs.binary(path, body):
            yield Skipped(path, "not text")
        else:
            url = f"{pages}/{quoted(path)}"
            yield Found(File(path, url, globs.media_type(path), body), validator)

    def _by_api(self) -> _Place | None:
        """The repository as GitHub's API has it; None where there is no such API or repository."""
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
        return _Place(commit, (f"{base}/tarball/{commit}",), f"{pages}/blob/{commit}")

    def _by_git(self) -> _Place:
        """The repository as git's own protocol has it, which every forge speaks."""
        base = f"{self._home}/{self._address.path}"
        answer = self._ask(f"{base}.git/info/refs?service={git_refs.SERVICE}", "*/*")
        if answer.status in _MISSING or answer.status == 401:
            raise self._unknown()
        refs = git_refs.read(answer.body)
        commit = refs.find(self._address.ref)
        if not commit:
            raise _no_ref(self._address, refs)
        name = self._address.path.rpartition("/")[2]
        archives = (
            f"{base}/archive/{commit}.tar.gz",
            f"{base}/-/archive/{commit}/{name}-{commit}.tar.gz",
        )
        view = f"src/commit/{commit}" if self._address.root else f"blob/{commit}"
        return _Place(commit, archives, f"{base}/{view}")

    def _download(self, place: _Place, path: Path) -> tuple[str, str]:
        """Fetch the first archive that there is; gives its address and that of its pages."""
        for url in place.archives:
            answer = self._ask(url, "*/*", path)
            if answer.status == 200:
                # GitLab alone has its archives below /-/, and its pages.
                gitlab = "/-/archive/" in url
                pages = place.pages.replace("/src/commit/", "/-/blob/") if gitlab else place.pages
                return url, pages
        raise SourceNotFound(
            f"{self._address} has no archive of commit {place.commit} at {place.archives[0]};"
            " the host may not offer archives, or needs a token."
        )

    def _ask(self, url: str, accept: str, path: Path | None = None) -> Answer:
        """Ask, following redirects with the secrets left behind at the first other host."""

        def once(here: str, own: bool) -> Answer:  # noqa: FBT001 - as it is called back
            headers = {"Accept": accept, **(self._headers if own else {})}
            return self._once(here, headers, path)

        answer = redirects.follow(url, once)
        return self._refused(answer, url) if answer.status in _REFUSALS else answer

    def _once(self, url: str, headers: Mapping[str, str], path: Path | None) -> Answer:
        expected = (200, *_MISSING, *_REFUSALS, *redirects.STATUSES)
        if path is None:
            return self._fetcher.get(url, expected=expected, headers=headers)
        return self._fetcher.download(
            url, path, most=self._caps.packed, expected=expected, headers=headers
        )

    def _refused(self, answer: Answer, url: str) -> Answer:
        """What a refusal means: out of requests, a wrong token, or nothing to see here."""
        host, headers = redirects.host(url), answer.headers
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
        host = redirects.host(self._home)
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
    """The commit in an answer: alone, as GitHub's media type has it, or in JSON."""
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
    from rapidfuzz import fuzz, process

    near = process.extract(address.ref, refs.names(), scorer=fuzz.ratio, limit=_NEAR)
    head = refs.head.removeprefix("refs/heads/")
    return SourceNotFound(
        f"{address.path} has no branch, tag or commit {address.ref or 'to begin with'}."
        + (f" Its default branch is {head}." if head else ""),
        suggestions=[{"ref": name, "score": round(score / 100, 2)} for name, score, _ in near],
    )


def _wait(headers: Mapping[str, str]) -> dict[str, Any]:
    wait = headers.get("retry-after", "")
    return {"retry_after_s": int(wait)} if wait.isascii() and wait.isdigit() else {}
