"""JSON-RPC 2.0 as MCP uses it: check messages, render errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602


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
