"""Certificates and proxies, as the machine's own installers have them.

References: pip's "HTTPS Certificates" and "Using a Proxy Server", uv's "TLS certificates", npm's
``ca``, ``cafile``, ``strict-ssl``, ``proxy``, ``https-proxy`` and ``noproxy``. Configuration that
asks for certificates not to be checked is not obeyed.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from docstow.net.connection import Connection
from docstow.sources.packages.configuration import Surroundings, npm_values, pip_values

log = logging.getLogger(__name__)

_OFF = frozenset({"false", "0", "no", "off"})
_NONE = frozenset({"", "null", "false", "none"})


def python_connection(surroundings: Surroundings) -> Connection:
    """Return how pip reaches indexes, and where it is not configured, how uv does."""
    values = pip_values(surroundings)
    bundle = values.get("cert", "")
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        bundle = bundle or surroundings.variable(name)
    shown = values.get("client-cert", "") or surroundings.variable("SSL_CLIENT_CERT")
    insecure = values.get("trusted-host", "") or surroundings.variable("UV_INSECURE_HOST")
    # An explicit proxy of pip makes it ignore those of the environment, with their exceptions.
    return Connection(
        authorities=_path(bundle, surroundings),
        certificate=_path(shown, surroundings),
        proxy=values.get("proxy"),
        notice=_refuse("trusted-host of pip, or UV_INSECURE_HOST") if insecure else "",
    )


def npm_connection(surroundings: Surroundings) -> Connection:
    """Return how npm reaches registries."""
    values = npm_values(surroundings)
    named = _given(values, "cafile")
    pem = "\n".join(filter(None, (_given(values, "ca"), _given(values, "ca[]"))))
    further = surroundings.variable("NODE_EXTRA_CA_CERTS")
    # Node itself warns of a missing file and goes on; with authorities of its own npm reads none.
    beside = _path(further, surroundings) if further and not (named or pem) else None
    if beside is not None and not beside.is_file():
        log.warning("NODE_EXTRA_CA_CERTS names %s, which is not there", beside)
        beside = None
    proxy = _given(values, "https-proxy") or _given(values, "proxy")
    direct = values.get("noproxy", "") or values.get("no-proxy", "")
    if proxy and not direct:
        direct = surroundings.variable("NO_PROXY") or surroundings.variable("no_proxy")
    off = values.get("strict-ssl", "").lower() in _OFF
    off = off or surroundings.variable("NODE_TLS_REJECT_UNAUTHORIZED") == "0"
    return Connection(
        authorities=_path(named, surroundings),
        pem=pem.replace("\\n", "\n"),
        further=beside,
        proxy=proxy or (None if values.get("proxy") != "false" else ""),
        direct=tuple(filter(None, (each.strip() for each in direct.split(",")))),
        notice=_refuse("strict-ssl of npm, or NODE_TLS_REJECT_UNAUTHORIZED,") if off else "",
    )


def _given(values: Mapping[str, str], key: str) -> str:
    value = values.get(key, "")
    return "" if value.lower() in _NONE else value


def _path(text: str, surroundings: Surroundings) -> Path | None:
    if not text:
        return None
    return surroundings.home / text[2:] if text.startswith("~/") else Path(text)


def _refuse(what: str) -> str:
    notice = f"{what} asks for certificates not to be checked, which is not obeyed."
    log.warning("%s", notice)
    return notice
