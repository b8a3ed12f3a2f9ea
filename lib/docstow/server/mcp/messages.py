"""JSON-RPC 2.0 as MCP uses it, and MCP's versions: with a handshake, or stateless with an envelope.

Sources: the protocol's revisions 2024-11-05 to 2026-07-28, "Base protocol", "Versioning" and
"Transports: Streamable HTTP".
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from docstow.core.calls import LEVELS
from docstow.core.patterns import lazy_pattern

# Error codes: of JSON-RPC, then of MCP.
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

# A client opens with ``initialize`` and both sides keep to the version agreed on.
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
# Each request says its version itself; there is no handshake and no session.
STATELESS = ("2026-07-28",)
# The only revision with arrays of messages; its clients send no version header.
BATCHES = "2025-03-26"

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_MIRROR_KEY = "x-mcp-header"
_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"

VERSION_HEADER = "mcp-protocol-version"
_METHOD_HEADER = "mcp-method"
_NAME_HEADER = "mcp-name"

# Which parameter a request of that method repeats in its Mcp-Name header.
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

_ENCODED = lazy_pattern(r"=\?base64\?(.*)\?=")


class RpcError(Exception):
    """A JSON-RPC error: the message was understood to be wrong, so no tool has run."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def body(self) -> dict[str, Any]:
        """The ``error`` member of a response."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        return error if self.data is None else {**error, "data": self.data}


def parse(body: bytes) -> Any:
    """Parse the JSON value of a body.

    Raises:
        RpcError: it is not JSON, not UTF-8, or nested too deep to be meant.
    """
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, "The body is not JSON in UTF-8") from error


def request_id(message: Any) -> str | int | None:
    """Return the id of a message; None where it has none that is allowed."""
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def wants_answer(message: Any) -> bool:
    """Return whether a message is a request; notifications and responses get no answer.

    Raises:
        RpcError: it is none of the three.
    """
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'A message is an object with "jsonrpc": "2.0"')
    if not isinstance(message.get("method"), str):
        if "result" in message or "error" in message:
            return False
        raise RpcError(INVALID_REQUEST, "A request needs a method")
    if "id" in message and request_id(message) is None:
        raise RpcError(INVALID_REQUEST, "An id is a string or an integer")
    return "id" in message


def parameters(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a request, by name.

    Raises:
        RpcError: they are not an object.
    """
    params = message.get("params")
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params must be an object")
    return params


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


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
    if _VERSION_KEY in _meta(message):
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
    raise _unsupported(version)


def check_request_meta(
    message: Mapping[str, Any], headers: Mapping[str, str] | None
) -> dict[str, Any]:
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
    if missing := [key for key in (_VERSION_KEY, _CAPABILITIES_KEY) if key not in meta]:
        raise RpcError(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    version, capabilities = meta[_VERSION_KEY], meta[_CAPABILITIES_KEY]
    if headers is not None:
        _check_headers(message, version, headers)
    if not isinstance(version, str) or not isinstance(capabilities, dict):
        raise RpcError(INVALID_PARAMS, f"{_VERSION_KEY} is a string, {_CAPABILITIES_KEY} an object")
    if version not in STATELESS:
        raise _unsupported(version)
    return capabilities


def _unsupported(version: str) -> RpcError:
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
    expected = {VERSION_HEADER: version, _METHOD_HEADER: method}
    if method in _NAMED_BY and (name := message["params"].get(_NAMED_BY[method])) is not None:
        expected[_NAME_HEADER] = name
    for header, value in expected.items():
        sent = headers.get(header)
        if header == _NAME_HEADER and sent is not None:
            sent = decode_header(sent)
        if sent != value:
            raise RpcError(HEADER_MISMATCH, f"The {header} header does not match the body")


def check_mirrored(
    schema: Mapping[str, Any], arguments: Mapping[str, Any], headers: Mapping[str, str]
) -> None:
    """Check the headers that repeat arguments of a call, where its tool asks for such.

    Args:
        schema: of the arguments; ``x-mcp-header`` of a property names its header.
        arguments: as they came.
        headers: by lower-case name.

    Raises:
        RpcError: a header is not what the body has, or one of them lacks it.
    """
    for name, each in schema.get("properties", {}).items():
        if (suffix := each.get(_MIRROR_KEY)) is None:
            continue
        value = arguments.get(name)
        said = value if value is None or isinstance(value, str) else json.dumps(value)
        sent = headers.get(f"mcp-param-{suffix.lower()}")
        if (None if sent is None else decode_header(sent)) != said or (sent is None) != (
            said is None
        ):
            raise RpcError(
                HEADER_MISMATCH, f"The Mcp-Param-{suffix} header does not match the body"
            )


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


def progress_token(message: Mapping[str, Any]) -> str | int | None:
    """Return the mark of the reports of progress that a client wants; None where it wants none."""
    found = _meta(message).get("progressToken")
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def message_level(message: Mapping[str, Any]) -> str:
    """Return the least level of messages that a stateless request asks for; empty for none."""
    found = _meta(message).get(_LEVEL_KEY)
    return found if found in LEVELS else ""


def _meta(message: Mapping[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}
