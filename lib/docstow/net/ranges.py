"""A file that arrives in parts: what is there already, and what is asked for next.

RFC 9110, 14: a server that knows ranges answers 206 with the rest, one that does not answers 200
with the whole, and 416 when there is no more. This room knows one file and its
ranges. It does not ask for them.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx

from docstow.core.errors import StoreError, TooLarge, UpstreamError
from docstow.net.errors import Fault, host_of


class PartFile:
    """The part of a download that has arrived, on disk, so that another attempt can go on.

    Args:
        path: where it is kept; what is there already counts as the download's beginning.
        most: the largest size in bytes.
    """

    def __init__(self, path: Path, most: int) -> None:
        self.path = path
        self._most = most
        self._etag = ""

    def headers(self) -> Mapping[str, str]:
        """Ask for what is missing, or for the whole if the file has changed since."""
        # A range counts the bytes of one encoding.
        headers = {"Accept-Encoding": "identity"}
        if size := self._size():
            headers["Range"] = f"bytes={size}-"
            if self._etag:
                headers["If-Range"] = self._etag
        return headers

    def take(self, response: httpx.Response, pieces: Iterator[bytes]) -> None:
        """Add what an answer brings.

        Raises:
            TooLarge: the file would exceed its limit.
            Fault: the answer does not fit what is there, which has been thrown away.
            StoreError: the disk refuses it.
        """
        size = self._size()
        begin, total = _content_range(response.headers.get("content-range", ""))
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            if size and total == size:
                return
            self._refuse(response)
        if response.status_code == httpx.codes.PARTIAL_CONTENT and begin != size:
            self._refuse(response)
        if response.status_code == httpx.codes.OK:
            size = 0
        etag = response.headers.get("etag", "")
        self._etag = "" if etag.startswith("W/") else etag
        with self._explained():
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

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as fault:
            raise StoreError(
                f"What is fetched cannot be kept: {fault.strerror or fault}. Free some space on the"
                " disk of temporary files."
            ) from fault

    def _size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def _refuse(self, response: httpx.Response) -> None:
        self.path.unlink(missing_ok=True)
        host = host_of(response.url)
        raise Fault(
            UpstreamError(f"{host} sent another range than was asked for; try again.", host=host)
        )


def _content_range(value: str) -> tuple[int | None, int | None]:
    """First byte and total size of a ``Content-Range`` header, as far as it tells them."""
    match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(?:(\d+)|\*)", value)
    if match is None:
        return None, None
    return (int(match[1]) if match[1] else None), (int(match[2]) if match[2] else None)
