"""Redirects that are followed one by one, so that secret headers stay with their host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from docstow.core.errors import UpstreamError

if TYPE_CHECKING:
    from docstow.net import Answer

#: Statuses of redirects; ``ask`` of :func:`follow` returns answers with these.
STATUSES = (301, 302, 303, 307, 308)
_MOST = 5


def follow(url: str, ask: Callable[[str, bool], Answer]) -> Answer:
    """Request an address and follow its redirects one by one.

    Args:
        url: http or https.
        ask: requests one address; its second argument is whether secret headers may be sent,
            which is until the first redirect to another host.

    Raises:
        UpstreamError: the redirects do not end, or lead from https to plain http or elsewhere.
    """
    own = True
    home = origin(url)
    for _ in range(1 + _MOST):
        answer = ask(url, own)
        if answer.status not in STATUSES:
            return answer
        there = urljoin(url, answer.headers.get("location", ""))
        if urlsplit(there).scheme not in {"https", urlsplit(url).scheme}:
            raise UpstreamError(
                f"{host(url)} redirects to an address that is not https, which is not followed.",
                host=host(url),
            )
        url = there
        # A redirect back from another host is that host's request, not ours.
        own = own and origin(url) == home
    raise UpstreamError(
        f"{host(url)} redirects too often; check the configured URL.", host=host(url)
    )


def origin(url: str) -> tuple[str, str]:
    """Return scheme and host with port: what secret headers are meant for."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def host(url: str) -> str:
    """Return host and port of an address for messages; never credentials."""
    return urlsplit(url).netloc.rpartition("@")[2]
