"""Range requests: a download that continues where an earlier attempt broke off.

RFC 9110, 14: a server that supports ranges answers 206 with the rest, another answers 200 with the
whole, and 416 means that there is no more.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx

from docstow.core.errors import StoreError, TooLarge, UpstreamError
from docstow.net.errors import RetryableError, host_of


class PartialFile:
    """The part of a download that has arrived, on disk, so that another attempt can continue.

    Args:
        path: the file; bytes in it count as the beginning of the download.
        most: the largest size in bytes.
    """

    def __init__(self, path: Path, most: int) -> None:
        self.path = path
        self._most = most
        self._etag = ""

    def headers(self) -> Mapping[str, str]:
        """Return headers that request the missing rest, or the whole if the file has changed."""
        # A range counts the bytes of one encoding.
        headers = {"Accept-Encoding": "identity"}
        if size := self._size():
            headers["Range"] = f"bytes={size}-"
            if self._etag:
                headers["If-Range"] = self._etag
        return headers

    def append(self, response: httpx.Response, pieces: Iterator[bytes]) -> None:
        """Append the body of an answer.

        Raises:
            TooLarge: the file would exceed its limit.
            RetryableError: the answer does not fit the part, which is deleted.
            StoreError: it cannot be written.
        """
        size = self._size()
        begin, total = _content_range(response.headers.get("content-range", ""))
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            if size and total == size:
                return
            self._discard(response)
        if response.status_code == httpx.codes.PARTIAL_CONTENT and begin != size:
            self._discard(response)
        if response.status_code == httpx.codes.OK:
            size = 0
        etag = response.headers.get("etag", "")
        self._etag = "" if etag.startswith("W/") else etag
        with _write_errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab" if size else "wb") as file:
                for piece in pieces:
                    size += len(piece)
                    if size > self._most:
                        raise TooLarge(
                            f"{response.url.path} is larger than {self._most} bytes, the most that"
                            " is fetched.",
                            limit=self._most,
                        )
                    file.write(piece)

    def _size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def _discard(self, response: httpx.Response) -> None:
        self.path.unlink(missing_ok=True)
        host = host_of(response.url)
        raise RetryableError(
            UpstreamError(f"{host} sent another range than was asked for; try again.", host=host)
        )


@contextlib.contextmanager
def _write_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"What is fetched cannot be kept: {error.strerror or error}. Free some space on the"
            " disk of temporary files."
        ) from error


def _content_range(value: str) -> tuple[int | None, int | None]:
    """Return first byte and total size of a ``Content-Range`` header, each None if not given."""
    match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(?:(\d+)|\*)", value)
    if match is None:
        return None, None
    return (int(match[1]) if match[1] else None), (int(match[2]) if match[2] else None)
