"""Redirects that are followed one by one, so that secrets stay with the host they are meant for.

This room knows addresses. It does not ask: it is handed what asks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from docstow.core.errors import UpstreamError

if TYPE_CHECKING:
    from docstow.net import Answer

#: Statuses that ``ask`` must take for an answer.
STATUSES = (301, 302, 303, 307, 308)
_MOST = 5


def follow(url: str, ask: Callable[[str, bool], Answer]) -> Answer:
    """Ask, and ask again where an answer leads.

    Args:
        url: http or https.
        ask: asks once for an address; is told whether it is still of the first one's host, and
            may be sent its secrets.

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
        # A host that is come back to by way of another has not been asked by us.
        own = own and origin(url) == home
    raise UpstreamError(
        f"{host(url)} redirects too often; check the configured URL.", host=host(url)
    )


def origin(url: str) -> tuple[str, str]:
    """Scheme and host, with the port: what secrets are meant for."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def host(url: str) -> str:
    """Host and port of an address, for people; never a name or password."""
    return urlsplit(url).netloc.rpartition("@")[2]
