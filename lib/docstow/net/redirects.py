"""Which redirects may be followed.

This room knows addresses alone. It does not follow them.
"""

from __future__ import annotations

from ipaddress import ip_address

import httpx

from docstow.core.errors import UpstreamError
from docstow.net.errors import host_of


def followed(here: httpx.URL, there: httpx.URL) -> httpx.URL:
    """The address that a redirect leads to, if it may be followed.

    Raises:
        UpstreamError: it is no http address, or it leaves https for a host other than loopback.
    """
    if there.scheme not in {"http", "https"}:
        raise UpstreamError(
            f"{host_of(here)} redirects to an address other than http, which is not followed.",
            host=host_of(here),
        )
    if here.scheme == "https" and there.scheme == "http" and not _loopback(there.host):
        raise UpstreamError(
            f"{host_of(here)} redirects from https to plain http on {host_of(there)}, which is not"
            " followed.",
            host=host_of(here),
        )
    return there


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
