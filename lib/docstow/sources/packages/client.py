"""What a registry is asked for: listings and files, with its credential, which it alone gets."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from docstow.core.errors import UnreadableInput, UpstreamError
from docstow.net.client import (
    REDIRECTS,
    content_range,
    follow_redirects,
    host_name,
    is_untapped,
)
from docstow.sources.listing_cache import EXPECTED, ListingCache
from docstow.sources.packages import Registry

if TYPE_CHECKING:
    from docstow.net import Answer, Fetcher
    from docstow.net.decompress import Limits

_T = TypeVar("_T")
_REFUSED = (401, 403)
_PART = 206
_STEP = 1024 * 1024
#: Algorithms by which a file is trusted, the best first.
_TRUSTED = ("sha512", "sha384", "sha256", "blake2b", "blake2s", "sha3_512", "sha3_256", "sha224")


class RegistryClient(Generic[_T]):
    """Asks one registry. Safe to share between threads.

    Args:
        fetcher: the HTTP client.
        registry: where it is.
        limits: caps on a listing.
        cached: number of listings that are kept.
        monotonic: seconds on a clock that never goes back.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        registry: Registry,
        limits: Limits,
        *,
        cached: int = 64,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.registry = registry
        self._fetcher = fetcher
        self._limits = limits
        self._listings: ListingCache[_T] = ListingCache(
            lambda url, headers: self.get(url, headers=headers, expected=EXPECTED),
            most=cached,
            monotonic=monotonic,
        )

    def listing(
        self, url: str, read: Callable[[Answer], _T | None], headers: Mapping[str, str]
    ) -> _T | None:
        """Return a listing, from the cache while it is fresh; None where there is none.

        Raises:
            UpstreamError, UpstreamTimeout: the registry does not answer and nothing is cached.
        """
        return self._listings.get(url, read, headers)

    def cached(self, url: str) -> _T | None:
        """Return a listing if it is here, however old; nothing is asked."""
        return self._listings.cached(url)

    def wants_credential(self, url: str) -> bool:
        """Whether the registry, or an address of its files, is sent a credential."""
        return any(map(self.registry.secret, (f"{self.registry.url}/", url)))

    def get(
        self, url: str, *, headers: Mapping[str, str], expected: Collection[int] = (200,)
    ) -> Answer:
        """Fetch a text that is checked by nothing else.

        Raises:
            UpstreamError, UpstreamTimeout, TooLarge, UnreadableInput: as the fetcher says.
        """

        def once(here: str, own: bool) -> Answer:  # noqa: FBT001 - the contract of its caller
            return self._fetcher.get(
                here,
                expected={*expected, *REDIRECTS, *_REFUSED},
                headers={**headers, **self._secret(here, own=own)},
                limits=self._limits,
            )

        return _checked(follow_redirects(url, once))

    def download(self, url: str, path: Path, hashes: Mapping[str, str], *, most: int) -> None:
        """Download a file and check it.

        Args:
            url: of the file.
            path: where to; there is no such file yet.
            hashes: by algorithm, in lower-case hex, what the registry says of it.
            most: the largest size in bytes.

        Raises:
            UnreadableInput: it is not what the registry says that it is.
            UpstreamError, UpstreamTimeout, TooLarge: as the fetcher says.
        """

        def once(here: str, own: bool) -> Answer:  # noqa: FBT001 - the contract of its caller
            return self._fetcher.download(
                here,
                path,
                most=most,
                expected={200, *REDIRECTS, *_REFUSED},
                headers=self._secret(here, own=own),
            )

        _checked(follow_redirects(url, once))
        check_file(path, hashes, name=url.rpartition("/")[2])

    def get_range(self, url: str, begin: int, end: int) -> tuple[bytes, int]:
        """Fetch a part of a file over a connection that nobody can change.

        Args:
            url: of the file.
            begin: the first byte; below zero counts from the end.
            end: the byte after the last one.

        Returns:
            The part, which may be shorter where the file ends, and the size of the whole.

        Raises:
            UpstreamError, UpstreamTimeout, TooLarge: as the fetcher says; also where the server
                does not send parts, or the connection is not secured.
        """

        def once(here: str, own: bool) -> Answer:  # noqa: FBT001 - the contract of its caller
            host = host_name(here)
            if not is_untapped(here):
                raise UpstreamError(f"{host} is not asked by https for parts.", host=host)
            return self._fetcher.get_range(
                here,
                begin,
                end,
                expected={200, 206, *REDIRECTS, *_REFUSED},
                headers=self._secret(here, own=own),
            )

        answer = _checked(follow_redirects(url, once))
        first, total = content_range(answer.headers.get("content-range", ""))
        wanted = max(0, (total or 0) + begin) if begin < 0 else begin
        if answer.status != _PART or total is None or first != wanted:
            host = host_name(answer.url)
            raise UpstreamError(f"{host} does not send the parts that are asked for.", host=host)
        return answer.body, total

    def _secret(self, url: str, *, own: bool) -> Mapping[str, str]:
        return self.registry.secret(url) if own else {}


def check_file(path: Path, hashes: Mapping[str, str], *, name: str) -> str:
    """Compare a file with its digests, by the best algorithm that is stated.

    Returns:
        The algorithm; empty where none is stated that is trusted, so that nothing was checked.

    Raises:
        UnreadableInput: it is another file.
    """
    algorithm = next((each for each in _TRUSTED if hashes.get(each)), "")
    if not algorithm:
        return ""
    digest = hashlib.new(algorithm)
    with path.open("rb") as stream:
        while piece := stream.read(_STEP):
            digest.update(piece)
    if digest.hexdigest() != hashes[algorithm].lower():
        raise UnreadableInput(
            f"{name} is not the file that the registry lists: its {algorithm} is"
            f" {digest.hexdigest()}, not {hashes[algorithm]}. Nothing of it was kept; try again,"
            " and tell whoever runs the registry if it stays."
        )
    return algorithm


def _checked(answer: Answer) -> Answer:
    if answer.status in _REFUSED:
        host = host_name(answer.url)
        raise UpstreamError(
            f"{host} answered {answer.status}: it wants a credential, or another one. Put it where"
            " the installer has it, or into the address of the registry in the settings.",
            host=host,
            status=answer.status,
        )
    return answer
