"""What the platform hands a function, and what it takes back."""

from __future__ import annotations

import base64
import json
from typing import Any

#: A credential, unless a test sends another.
TOKEN = "docstow_a-token-for-tests"


def event(
    method: str, path: str, body: Any = None, *, encoded: bool = False, token: str = TOKEN
) -> dict[str, Any]:
    """An API Gateway HTTP API event, payload version 2.0, as the ``$default`` stage sends it."""
    text = "" if body is None else json.dumps(body)
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {
            "accept": "application/json, text/event-stream",
            **({"authorization": f"Bearer {token}"} if token else {}),
            "content-length": str(len(text)),
            "content-type": "application/json",
            "host": "abcde12345.execute-api.eu-central-1.amazonaws.com",
            "mcp-protocol-version": "2025-11-25",
            "user-agent": "an-agent/1.0",
            "x-amzn-trace-id": "Root=1-69207d35-5d2b0a3c1e6f47b089a1c2d3",
            "x-forwarded-for": "203.0.113.7",
            "x-forwarded-port": "443",
            "x-forwarded-proto": "https",
        },
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "abcde12345",
            "domainName": "abcde12345.execute-api.eu-central-1.amazonaws.com",
            "domainPrefix": "abcde12345",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.7",
                "userAgent": "an-agent/1.0",
            },
            "requestId": "JKJaXmPLvHcESHA=",
            "routeKey": "$default",
            "stage": "$default",
            "time": "21/Nov/2026:10:00:00 +0000",
            "timeEpoch": 1795255200000,
        },
        "body": base64.b64encode(text.encode()).decode() if encoded else text,
        "isBase64Encoded": encoded,
    }


def url_event(method: str, path: str, body: Any = None, *, token: str = TOKEN) -> dict[str, Any]:
    """A Function URL's event: the gateway's form, encoded, with no stage and no API of its own."""
    asked = event(method, path, body, encoded=True, token=token)
    domain = "u5c2yq3example.lambda-url.eu-central-1.on.aws"
    asked["headers"]["host"] = domain
    asked["requestContext"] |= {
        "accountId": "anonymous",
        "apiId": "u5c2yq3example",
        "authentication": None,
        "authorizer": None,
        "domainName": domain,
        "domainPrefix": "u5c2yq3example",
    }
    return asked


def schedule_event() -> dict[str, Any]:
    """What EventBridge sends when a schedule is due."""
    return {
        "version": "0",
        "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": "123456789012",
        "time": "2026-11-21T10:00:00Z",
        "region": "eu-central-1",
        "resources": ["arn:aws:events:eu-central-1:123456789012:rule/docstow-upkeep"],
        "detail": {},
    }


def body_of(answer: dict[str, Any]) -> Any:
    """The JSON of a function's answer."""
    text = answer["body"]
    return json.loads(base64.b64decode(text) if answer["isBase64Encoded"] else text)
