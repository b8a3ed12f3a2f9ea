"""MCP's protocol versions: those with a handshake, and the stateless ones with an envelope.

Sources: the protocol's revisions 2024-11-05 to 2026-07-28, "Base protocol", "Versioning" and
"Transports: Streamable HTTP".
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from typing import Any

from docstow.server.mcp.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    RpcError,
)

# A client opens with ``initialize`` and both sides keep to the version agreed on.
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
# Each request says its version itself; there is no handshake and no session.
STATELESS = ("2026-07-28",)
# The only revision with arrays of messages; its clients send no version header.
BATCHES = "2025-03-26"

HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"

VERSION_HEADER = "mcp-protocol-version"
METHOD_HEADER = "mcp-method"
NAME_HEADER = "mcp-name"

# Which parameter a request of that method repeats in its Mcp-Name header.
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

_ENCODED = re.compile(r"=\?base64\?(.*)\?=")


def http_status(error: RpcError, *, stateless: bool) -> int:
    """Return the HTTP status that carries an error.

    Clients of handshake versions take a status from 400 on for a broken transport, so that only
    what is no proper request at all gets one.
    """
    if stateless:
        return 404 if error.code == METHOD_NOT_FOUND else 400
    return 400 if error.code in (PARSE_ERROR, INVALID_REQUEST, UNSUPPORTED_VERSION) else 200


def fold(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers by lower-case name, repeated ones joined by commas (RFC 9110, 5.3).

    A routing header that was sent twice thus never equals the value in the body.
    """
    folded: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        folded[key] = f"{folded[key]}, {value.strip()}" if key in folded else value.strip()
    return folded


def is_stateless(message: Mapping[str, Any], headers: Mapping[str, str] | None) -> bool:
    """Return whether a request is of a stateless version.

    Args:
        message: a JSON-RPC request.
        headers: by lower-case name; None where the transport has none.

    Raises:
        RpcError: the header names an unknown version, and the body names none.
    """
    if VERSION_KEY in _meta(message):
        return True
    # A client may shake hands after a discovery, and some then still send the newer header.
    if message["method"] == "initialize":
        return False
    if message["method"] == "server/discover":
        return True
    version = (headers or {}).get(VERSION_HEADER, BATCHES)
    if version in HANDSHAKE:
        return False
    if version in STATELESS:
        return True
    raise unsupported(version)


def check_envelope(message: Mapping[str, Any], headers: Mapping[str, str] | None) -> dict[str, Any]:
    """Check what each stateless request carries about itself.

    Args:
        message: a JSON-RPC request.
        headers: by lower-case name; None where the transport has none.

    Returns:
        The capabilities of the client.

    Raises:
        RpcError: ``_meta`` lacks a key, header and body disagree, or the version is not served.
    """
    meta = _meta(message)
    if missing := [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]:
        raise RpcError(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    version, capabilities = meta[VERSION_KEY], meta[CAPABILITIES_KEY]
    if headers is not None:
        _check_headers(message, version, headers)
    if not isinstance(version, str) or not isinstance(capabilities, dict):
        raise RpcError(INVALID_PARAMS, f"{VERSION_KEY} is a string, {CAPABILITIES_KEY} an object")
    if version not in STATELESS:
        raise unsupported(version)
    return capabilities


def unsupported(version: str) -> RpcError:
    """Return the error for a version that is not served; it names those that are."""
    return RpcError(
        UNSUPPORTED_VERSION,
        f"Unsupported protocol version; this server speaks {', '.join(STATELESS)}, and "
        f"{', '.join(HANDSHAKE)} after an initialize request.",
        {"supported": list(STATELESS), "requested": version},
    )


def _check_headers(message: Mapping[str, Any], version: Any, headers: Mapping[str, str]) -> None:
    """Header and body must agree, so that a proxy may route by the header alone."""
    method = message["method"]
    expected = {VERSION_HEADER: version, METHOD_HEADER: method}
    if method in NAMED_BY and (name := message["params"].get(NAMED_BY[method])) is not None:
        expected[NAME_HEADER] = name
    for header, value in expected.items():
        sent = headers.get(header)
        if header == NAME_HEADER and sent is not None:
            sent = decode_header(sent)
        if sent != value:
            raise RpcError(HEADER_MISMATCH, f"The {header} header does not match the body")


def decode_header(value: str) -> str | None:
    """Decode ``=?base64?…?=``, or return the value itself; None for a broken encoding."""
    if not (encoded := _ENCODED.fullmatch(value)):
        return value
    try:
        raw = base64.b64decode(encoded[1], validate=True)
        text = raw.decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    # Only the canonical spelling counts, or two spellings of one name would pass a proxy's rule.
    return text if base64.b64encode(raw).decode() == encoded[1] else None


def _meta(message: Mapping[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}
