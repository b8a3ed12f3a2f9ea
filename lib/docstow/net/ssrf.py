"""Connections that never reach a private address by way of a public name.

The check is made when a connection is opened, on every address that the name stands for then,
and one of just these addresses is connected to: a name that changes its mind in between (DNS
rebinding) gains nothing. This room knows addresses. It does not know who asks, or why.
"""

from __future__ import annotations

import socket
import typing
from collections.abc import Callable, Collection, Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import httpcore
import httpx

from docstow.core.errors import Forbidden

_NAT64 = IPv6Network("64:ff9b::/96")
#: Address of a name, in the order in which they are tried.
Resolve = Callable[[str, int], list[str]]


def public(address: str) -> bool:
    """Whether an address is one of the public internet, whatever it is wrapped in."""
    ip = ip_address(address.partition("%")[0])
    wrapped = _inner(ip)
    return all(map(_public, wrapped)) if wrapped else _public(ip)


def _public(ip: IPv4Address | IPv6Address) -> bool:
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def _inner(ip: IPv4Address | IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 address leads to: mapped, 6to4, Teredo, NAT64."""
    if isinstance(ip, IPv4Address):
        return []
    wrapped = [ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())]
    if ip in _NAT64:
        wrapped.append(IPv4Address(int(ip) & 0xFFFFFFFF))
    return [each for each in wrapped if each is not None]


def resolve(host: str, port: int) -> list[str]:
    """Every address of a host's name, as the system gives them.

    Raises:
        OSError: the name has none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


class GuardedBackend(httpcore.NetworkBackend):
    """Opens connections to public addresses, and to private ones of the hosts that are named.

    Args:
        allowed: names (or addresses) of hosts that may be private.
        resolve: gives the addresses of a name.
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
        """The addresses of a host, all of which may be connected to."""
        name = host.lower().strip("[]")
        try:
            addresses = self._resolve(name, port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error
        if name not in self._allowed and not all(public(address) for address in addresses):
            raise Forbidden(
                f"{host} is on a private address, which this server does not fetch from. Its"
                f" operator can allow it: private_hosts (DOCSTOW_PRIVATE_HOSTS={host}).",
                host=host,
            )
        return addresses


class GuardedTransport(httpx.HTTPTransport):
    """httpx's own transport over :class:`GuardedBackend`.

    A proxy of the environment is not used: it would resolve names where nobody can look.
    """

    def __init__(self, allowed: Collection[str], resolve: Resolve = resolve) -> None:
        super().__init__()
        self._pool.close()
        # The pool takes a backend, but httpx has no parameter that hands one on.
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(),
            max_connections=100,
            max_keepalive_connections=20,
            keepalive_expiry=5.0,
            network_backend=GuardedBackend(allowed, resolve),
        )
