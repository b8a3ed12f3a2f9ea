"""Pushes an export into a knowledge base of Open WebUI, by its API.

https://docs.openwebui.com/getting-started/api-endpoints: a file is uploaded, processed by the
server, and added to a knowledge base by its id. What a file is of stands in its metadata, so that a
second push finds what is there, whatever became of the first.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from docstow.core.errors import (
    ConfigurationError,
    InvalidParameter,
    UnreadableInput,
    UpstreamError,
    UpstreamTimeout,
)
from docstow.ops.export.pieces import OneFile

if TYPE_CHECKING:
    from docstow.net import Answer, Fetcher

#: Members of a file's metadata: the source, the path in it, and the SHA-256 of the text.
_SOURCE, _PATH, _DIGEST = "docstow_source", "docstow_path", "docstow_sha256"
#: How often the server is asked whether it has processed a file, and the pause in seconds.
_MOST_POLLS, _POLL_S = 900, 1.0
#: Pages of a list; one of Open WebUI's has 30 entries.
_MOST_LISTED = 4000
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_REFUSED = (401, 403)
_ANSWERS = (200, 400, *_REFUSED, 404, 405, 413, 422)


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push did, or would do; paths are those of the export.

    Attributes:
        knowledge: the id of the knowledge base; empty where a dry run would make one.
        added: files that were not there.
        replaced: files that were there with another text.
        removed: files that the export does not have any more.
        unchanged: the number of files that were there already.
        failed: the reason by path; what was there of these stays.
    """

    knowledge: str
    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Stored:
    """A file that the server has."""

    id: str
    path: str
    digest: str
    state: str = ""


class _Rejected(Exception):
    """The server does not take one file; its message says why."""


class OpenWebUi:
    """The API of one server.

    Args:
        fetcher: the HTTP client.
        url: where people open it: ``https://chat.example.org``.
        token: an API key, sent to that host alone.
        poll_s: seconds between two questions whether a file is processed.
    """

    def __init__(self, fetcher: Fetcher, url: str, token: str, *, poll_s: float = _POLL_S) -> None:
        from docstow.net.client import host_name

        if not re.fullmatch(r"https?://[^/?#@\s]+(?:/[^?#\s]*)?", url):
            raise InvalidParameter("push", "must be an address such as https://chat.example.org")
        if not token:
            raise ConfigurationError(
                "Open WebUI needs an API key (its Settings, Account): set DOCSTOW_OPEN_WEBUI_TOKEN."
            )
        self._fetcher = fetcher
        self._api = f"{url.rstrip('/')}/api/v1/"
        self._host = host_name(url)
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._poll_s = poll_s

    def push(
        self,
        files: Iterable[OneFile],
        *,
        source: str,
        title: str,
        about: str = "",
        knowledge: str = "",
        dry_run: bool = False,
    ) -> Pushed:
        """Make a knowledge base have these files of a source, and no others of it.

        Files of other sources and of people are left alone. A file is replaced after its successor
        is there.

        Args:
            files: of the export, each path once.
            source: what the files are of: two sources may share a knowledge base.
            title: the name of the knowledge base, which is made where there is none.
            about: its description, if it is made.
            knowledge: the name or id of another one.
            dry_run: ask what is there, and change nothing.

        Raises:
            InvalidParameter: there is no knowledge base of that id, or several of that name.
            UpstreamError, UpstreamTimeout: the server cannot be asked, or refuses the key.
            UnreadableInput: something else than Open WebUI answers.
        """
        base = self._find(knowledge or title)
        if not base and not dry_run:
            base = self._create(knowledge or title, about)
        there: defaultdict[str, list[_Stored]] = defaultdict(list)
        for stored in self._files_of(base, source) if base else ():
            there[stored.path].append(stored)
        added: list[str] = []
        replaced: list[str] = []
        unchanged = 0
        failed: dict[str, str] = {}
        for file in files:
            former = there.pop(file.path, [])
            digest = hashlib.sha256(file.text.encode()).hexdigest()
            stale = [each for each in former if each.digest != digest]
            if len(stale) < len(former):
                unchanged += 1
            else:
                try:
                    if not dry_run:
                        self._put(base, source, file, digest)
                except _Rejected as error:
                    failed[file.path] = str(error)
                    continue
                (replaced if former else added).append(file.path)
            if not dry_run:
                self._remove(base, stale)
        for gone in there.values():
            if not dry_run:
                self._remove(base, gone)
        return Pushed(base, tuple(added), tuple(replaced), tuple(there), unchanged, failed)

    def _find(self, word: str) -> str:
        """Return the id of a knowledge base that may be written; empty where there is none."""
        if _ID.fullmatch(word):
            found = self._json(self._get(f"knowledge/{word}"))
            if not isinstance(found, dict) or found.get("id") != word:
                raise InvalidParameter("knowledge", f"{self._host} has none of the id {word}")
            return word
        named = [
            str(each["id"])
            for each in self._listed("knowledge/")
            if each.get("name") == word and each.get("write_access") is not False
        ]
        if len(named) > 1:
            raise InvalidParameter(
                "knowledge", f"{self._host} has {len(named)} named {word!r}; give an id"
            )
        return named[0] if named else ""

    def _create(self, name: str, about: str) -> str:
        # Releases differ in the member that says who may read; both mean its owner alone.
        wanted = {"name": name, "description": about, "access_control": {}, "access_grants": []}
        found = self._json(self._post_json("knowledge/create", wanted, idempotent=False))
        if not isinstance(found, dict) or not isinstance(found.get("id"), str):
            raise UnreadableInput(f"{self._host} does not answer as Open WebUI does.")
        return str(found["id"])

    def _files_of(self, base: str, source: str) -> Iterator[_Stored]:
        """Yield the files of a knowledge base that were pushed from a source."""
        for each in self._listed(f"knowledge/{base}/files", older=f"knowledge/{base}"):
            stored, of = _stored(each)
            if stored is not None and of == source:
                yield stored

    def _listed(self, path: str, older: str = "") -> Iterator[dict[str, Any]]:
        """Yield what a list has, page by page.

        Args:
            path: of the list; older releases give it at once.
            older: where older releases have it, as the member ``files``.
        """
        met: set[str] = set()
        for number in range(1, _MOST_LISTED + 1):
            found = self._json(self._get(f"{path}?{urlencode({'page': number})}"))
            if number == 1 and older and not isinstance(found, dict | list):
                whole = self._json(self._get(older))
                found = whole.get("files") or [] if isinstance(whole, dict) else None
            entries = found.get("items") if isinstance(found, dict) else found
            if not isinstance(entries, list):
                raise UnreadableInput(
                    f"{self._host} does not answer as Open WebUI does; check the address."
                )
            new = [e for e in entries if isinstance(e, dict) and str(e.get("id")) not in met]
            yield from new
            met.update(str(each.get("id")) for each in new)
            if not new or isinstance(found, list) or len(met) >= int(found.get("total") or 0):
                return

    def _put(self, base: str, source: str, file: OneFile, digest: str) -> None:
        """Upload a file, wait until it is processed, and add it."""
        left = self._left_over(source, file, digest)
        identity = left or self._upload(source, file, digest)
        try:
            self._await_processed(identity)
            self._add(base, identity)
        except _Rejected:
            self._fetcher.delete(
                f"{self._api}files/{quote(identity)}", expected=_ANSWERS, headers=self._headers
            )
            raise

    def _add(self, base: str, identity: str) -> None:
        answer = self._post_json(f"knowledge/{base}/file/add", {"file_id": identity})
        if answer.status != 200:
            raise _Rejected(self._reason(answer))

    def _left_over(self, source: str, file: OneFile, digest: str) -> str:
        """Return the id of an upload that an earlier push did not come to add."""
        query = urlencode({"filename": file.name, "content": "false"})
        found = self._json(self._get(f"files/search?{query}"))
        for each in found if isinstance(found, list) else ():
            stored, of = _stored(each) if isinstance(each, dict) else (None, "")
            same = stored and (of, stored.path, stored.digest) == (source, file.path, digest)
            if stored and same and stored.state != "failed":
                return stored.id
        return ""

    def _upload(self, source: str, file: OneFile, digest: str) -> str:
        metadata = {_SOURCE: source, _PATH: file.path, _DIGEST: digest}
        body, media_type = _form(file, json.dumps(metadata))
        answer = self._fetcher.post(
            f"{self._api}files/",
            body,
            expected=_ANSWERS,
            headers={**self._headers, "Content-Type": media_type},
            idempotent=False,
        )
        found = self._json(self._checked(answer))
        if answer.status != 200:
            raise _Rejected(self._reason(answer))
        stored, of = _stored(found) if isinstance(found, dict) else (None, "")
        if stored is None or (of, stored.digest) != (source, digest):
            raise UnreadableInput(
                f"{self._host} does not keep what is said of a file, without which a second push"
                " could not find it; newer releases of Open WebUI do."
            )
        return stored.id

    def _await_processed(self, identity: str) -> None:
        for _ in range(_MOST_POLLS):
            path = f"files/{quote(identity)}/process/status"
            found = self._json(self._get(path, interval_s=self._poll_s))
            # Older releases have no such status, and answer the upload when they are done.
            state = found.get("status") if isinstance(found, dict) else "completed"
            if state == "failed":
                told = self._json(self._get(f"files/{quote(identity)}"))
                data = told.get("data") if isinstance(told, dict) else None
                why = data.get("error") if isinstance(data, dict) else None
                raise _Rejected(f"{self._host} cannot process it: {why or 'it does not say why'}")
            if state not in ("pending", "processing"):
                return
        raise UpstreamTimeout(
            f"{self._host} is still processing {identity}; push again later, it goes on from there."
        )

    def _remove(self, base: str, files: Iterable[_Stored]) -> None:
        for each in files:
            answer = self._post_json(f"knowledge/{base}/file/remove", {"file_id": each.id})
            # 400 and 404: it is gone already.
            if answer.status not in (200, 400, 404):
                raise UpstreamError(self._reason(answer), host=self._host, status=answer.status)

    def _get(self, path: str, interval_s: float = 0.0) -> Answer:
        from docstow.net.client import REDIRECTS

        answer = self._fetcher.get(
            f"{self._api}{path}",
            expected=(*_ANSWERS, *REDIRECTS),
            headers=self._headers,
            interval_s=interval_s,
        )
        if answer.status in REDIRECTS:
            raise UpstreamError(
                f"{self._host} redirects to another address; give that one, the key is sent to no"
                " other.",
                host=self._host,
                status=answer.status,
            )
        return self._checked(answer)

    def _post_json(
        self, path: str, members: Mapping[str, Any], *, idempotent: bool = True
    ) -> Answer:
        answer = self._fetcher.post(
            f"{self._api}{path}",
            json.dumps(members).encode(),
            expected=_ANSWERS,
            headers={**self._headers, "Content-Type": "application/json"},
            idempotent=idempotent,
        )
        return self._checked(answer)

    def _checked(self, answer: Answer) -> Answer:
        if answer.status in _REFUSED:
            raise UpstreamError(
                f"{self._host} answered {answer.status}: check DOCSTOW_OPEN_WEBUI_TOKEN, that API"
                " keys are allowed there, and that its user may write the knowledge base.",
                host=self._host,
                status=answer.status,
            )
        return answer

    @staticmethod
    def _json(answer: Answer) -> Any:
        """Return the value of an answer; None where it has none.

        What the API does not know is answered by the page of the application.
        """
        try:
            return json.loads(answer.body) if answer.status == 200 else None
        except ValueError:
            return None

    def _reason(self, answer: Answer) -> str:
        try:
            detail = json.loads(answer.body)["detail"]
        except (ValueError, KeyError, TypeError):
            detail = ""
        told = detail if isinstance(detail, str) else json.dumps(detail)
        return f"{self._host} answered {answer.status}{f': {told[:300]}' if told else ''}"


def _stored(found: Mapping[str, Any]) -> tuple[_Stored | None, str]:
    """Return a file of the server and the source that it was pushed from; None for others."""
    meta = found.get("meta")
    data = meta.get("data") if isinstance(meta, dict) else None
    if not isinstance(data, dict) or not isinstance(data.get(_SOURCE), str):
        return None, ""
    content = found.get("data")
    state = content.get("status") if isinstance(content, dict) else ""
    path, digest = str(data.get(_PATH, "")), str(data.get(_DIGEST, ""))
    return _Stored(str(found.get("id", "")), path, digest, str(state or "")), data[_SOURCE]


def _form(file: OneFile, metadata: str) -> tuple[bytes, str]:
    """Return a form's body and media type (RFC 7578)."""
    content = file.text.encode()
    boundary = f"docstow-{hashlib.sha256(content + metadata.encode()).hexdigest()}"
    name = re.sub(r'[\r\n"\\]', "-", file.name)
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n{metadata}\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: text/markdown\r\n\r\n"
    )
    body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"
