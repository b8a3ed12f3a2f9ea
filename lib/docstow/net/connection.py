"""How hosts are reached: whose certificates are trusted, which one is shown, by which proxy."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import httpx

from docstow.core.errors import ConfigurationError

#: A proxy is for the outside; it cannot reach this machine's loopback.
_HERE = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Connection:
    """What a client is configured with. Certificates are always checked.

    Attributes:
        authorities: a file or a folder of PEM; trusted in place of the usual authorities.
        pem: authorities as text, likewise.
        further: a file of PEM whose authorities are trusted beside the usual ones.
        certificate: a file of PEM with the client's certificate and its key.
        proxy: its address; empty for none, None for those that the environment names.
        direct: hosts, with those below them, that are reached without a proxy; ``*`` for all.
        notice: what of a configuration is not obeyed, for people; empty if all is.
    """

    authorities: Path | None = None
    pem: str = ""
    further: Path | None = None
    certificate: Path | None = None
    proxy: str | None = None
    direct: tuple[str, ...] = ()
    notice: str = ""

    def context(self) -> ssl.SSLContext:
        """Return what TLS is spoken with.

        Raises:
            ConfigurationError: a file is not there, or has no certificate.
        """
        own = self.authorities
        try:
            if own is not None or self.pem:
                folder = own is not None and own.is_dir()
                made = ssl.create_default_context(
                    cafile=None if own is None or folder else str(own),
                    capath=str(own) if folder else None,
                    cadata=self.pem or None,
                )
            else:
                made = httpx.create_ssl_context()
            if self.further is not None:
                made.load_verify_locations(cafile=str(self.further))
            if self.certificate is not None:
                made.load_cert_chain(str(self.certificate))
        except (OSError, ValueError) as error:
            files = [self.authorities, self.further, self.certificate]
            named = ", ".join(str(each) for each in files if each is not None) or "The given text"
            reason = getattr(error, "reason", "") or getattr(error, "strerror", "") or error
            raise ConfigurationError(
                f"{named} cannot be read as certificates in PEM ({reason}); correct what the"
                " installer is configured with, as its cert or cafile."
            ) from error
        return made

    def mounts(self, context: ssl.SSLContext) -> Mapping[str, httpx.HTTPTransport | None]:
        """Return what requests go through, by patterns of addresses; None for straight ahead.

        Raises:
            ConfigurationError: the proxy is no address.
        """
        hosts = (*_HERE, *self.direct)
        if "*" in hosts:
            return {"all://": None}
        straight = {_pattern(host): None for host in hosts}
        if not self.proxy:
            return straight
        address = self.proxy if "://" in self.proxy else f"http://{self.proxy}"
        try:
            through = httpx.HTTPTransport(verify=context, proxy=httpx.Proxy(address))
        except (ValueError, httpx.InvalidURL, ImportError):
            # The address may have a password.
            raise ConfigurationError(
                "The proxy that the installer is configured with is no address of http."
            ) from None
        return {"all://": through, **straight}


def _pattern(host: str) -> str:
    """Return what matches a host and those below it; of an address that alone."""
    host = host.strip().lstrip(".").lower()
    try:
        return f"all://[{host}]" if ip_address(host).version == 6 else f"all://{host}"
    except ValueError:
        return f"all://{host}" if host == "localhost" else f"all://*{host}"
