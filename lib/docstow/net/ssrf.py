"""The SSRF guard: connections never reach a private address by way of a public name.

When a connection is opened, every address that the name resolves to is checked, and one of exactly
these addresses is connected to, so that DNS rebinding gains nothing.
"""

from __future__ import annotations

import socket
import ssl
import typing
from collections.abc import Callable, Collection, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import httpcore
import httpx

from docstow.core.errors import Forbidden

_NAT64 = IPv6Network("64:ff9b::/96")

#: Private whatever the Python that runs this says, whose tables differ by release. Of IANA's
#: registries of special-purpose addresses, but for the last of each family.
_PRIVATE = tuple(
    map(
        IPv4Network,
        (
            *("192.0.0.0/24", "192.88.99.0/24", "192.31.196.0/24", "192.52.193.0/24"),
            *("192.175.48.0/24", "198.18.0.0/15", "192.0.2.0/24", "198.51.100.0/24"),
            *("203.0.113.0/24", "100.64.0.0/10"),
            # Azure's platform, which answers every virtual machine.
            "168.63.129.16/32",
        ),
    )
) + tuple(
    map(
        IPv6Network,
        (
            *("100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16"),
            *("64:ff9b:1::/48", "::/96"),
            # Site-local addresses, deprecated by RFC 3879 and still routed by some.
            "fec0::/10",
        ),
    )
)
#: Returns the addresses of a host and port, in the order in which they are tried.
Resolve = Callable[[str, int], list[str]]


def is_public(address: str) -> bool:
    """Return whether an address is public, and every IPv4 address embedded in it."""
    ip = ip_address(address.partition("%")[0])
    embedded = _embedded(ip)
    return all(map(_is_global, embedded)) if embedded else _is_global(ip)


def _is_global(ip: IPv4Address | IPv6Address) -> bool:
    special = ip.is_multicast or ip.is_reserved or ip.is_unspecified
    return ip.is_global and not special and not any(ip in network for network in _PRIVATE)


def _embedded(ip: IPv4Address | IPv6Address) -> list[IPv4Address]:
    """Return the IPv4 addresses in an IPv6 address: mapped, 6to4, Teredo, NAT64."""
    if isinstance(ip, IPv4Address):
        return []
    embedded = [ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())]
    if ip in _NAT64:
        embedded.append(IPv4Address(int(ip) & 0xFFFFFFFF))
    return [each for each in embedded if each is not None]


def resolve(host: str, port: int) -> list[str]:
    """Return every address of a host, as the system resolves it.

    Raises:
        OSError: the name has no address.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


class GuardedBackend(httpcore.NetworkBackend):
    """A network backend that connects to public addresses, and private ones of allowed hosts.

    Args:
        allowed: names or addresses of hosts that may be private.
        resolve: returns the addresses of a name.
    """

    def __init__(self, allowed: Collection[str], resolve: Resolve = resolve) -> None:
        self._allowed = {name.lower().strip("[]") for name in allowed}
        self._resolve = resolve
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[typing.Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address that answers.

        Raises:
            Forbidden: one of the host's addresses is not public, and the host is not allowed.
        """
        failure: httpcore.ConnectError | httpcore.ConnectTimeout
        failure = httpcore.ConnectError(f"{host} has no address")
        for address in self._addresses(host, port):
            try:
                return self._backend.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    def _addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host, all checked."""
        name = host.lower().strip("[]")
        try:
            addresses = self._resolve(name, port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error
        if name not in self._allowed and not all(is_public(address) for address in addresses):
            raise Forbidden(
                f"{host} is on a private address, which this server does not fetch from. Its"
                f" operator can allow it: private_hosts (DOCSTOW_PRIVATE_HOSTS={host}).",
                host=host,
            )
        return addresses


class GuardedTransport(httpx.HTTPTransport):
    """httpx's own transport over :class:`GuardedBackend`.

    A proxy of the environment is not used: it would resolve names past this guard.
    """

    def __init__(
        self,
        allowed: Collection[str],
        resolve: Resolve = resolve,
        context: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__()
        self._pool.close()
        # The pool takes a backend, but httpx has no parameter for it.
        self._pool = httpcore.ConnectionPool(
            ssl_context=context or httpx.create_ssl_context(),
            max_connections=100,
            max_keepalive_connections=20,
            keepalive_expiry=5.0,
            network_backend=GuardedBackend(allowed, resolve),
        )
