"""Check host, origin and credential of every request; add CORS headers and a request id.

A page in a browser can reach servers on its user's machine, by DNS rebinding even under a name
of its own; hence neither a foreign ``Host`` nor a foreign ``Origin`` gets through.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from docstow.core import auth, logs
from docstow.core.auth import Caller, Policy
from docstow.core.errors import (
    DocstowError,
    Forbidden,
    Unauthorized,
    internal_error,
)
from docstow.core.visibility import bound_to
from docstow.server import sessions
from docstow.server.limits import UNLIMITED, Limits
from docstow.server.oauth import AccessTokens, Resource
from docstow.server.worker_threads import WorkerThreads

log = logging.getLogger(__name__)

_DOTS_OF_JWT = 2
#: Statuses of requests that were not allowed.
_REFUSED = frozenset({401, 403, 429})

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")

#: What proxies add to a request that they pass on. Anybody can send these, so they identify nobody:
#: they only tell that the caller may be on another machine.
_FORWARDED = (
    *("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"),
    *("x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip", "fly-client-ip"),
    "tailscale-user-login",
)

_PREFLIGHT = {
    "Access-Control-Allow-Methods": "DELETE, GET, POST",
    "Access-Control-Allow-Headers": "Accept, Authorization, Content-Type, Last-Event-ID, "
    "Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id",
    "Access-Control-Max-Age": "7200",
}


def challenge(error: DocstowError) -> dict[str, str]:
    """Return the header that says which credential would do; none where none would (RFC 6750)."""
    if error.status == Unauthorized.status:
        return {"WWW-Authenticate": 'Bearer realm="docstow"'}
    if isinstance(error, Forbidden) and (needed := error.details.get("scope")):
        told = f'error="insufficient_scope", scope="docstow:{needed}"'
        return {"WWW-Authenticate": f'Bearer realm="docstow", {told}'}
    return {}


def error_response(error: DocstowError, described: Mapping[str, Any] | None = None) -> Response:
    """Render an error as an HTTP response; ``retry_after_s`` becomes ``Retry-After``.

    Args:
        error: what happened.
        described: the body, if it is not the error's own.
    """
    headers = challenge(error)
    if (wait := error.details.get("retry_after_s")) is not None:
        headers["Retry-After"] = str(math.ceil(wait))
    # Escaped to ASCII, since a body may repeat what a client sent, half a surrogate pair included.
    body = json.dumps(error.body() if described is None else described)
    return Response(body, error.status, headers, media_type="application/json")


class AccessMiddleware:
    """The outermost middleware: plain ASGI, so that it buffers and cancels nothing.

    Args:
        app: the application behind it.
        allowed_hosts: acceptable ``Host`` headers, with or without port; ``*`` for any.
        allowed_origins: acceptable ``Origin`` headers beside those on acceptable hosts.
        policy: whom a credential stands for.
        public: paths that reveal nothing of what is stowed and are answered to anybody.
        limits: rates of one caller, who is known by :attr:`Caller.key`.
        tokens: checks JWTs, if an issuer of them is configured.
        resource: this server as clients of OAuth know it; every challenge leads to its metadata.
        sources_claim: the claim of JWTs with the patterns of the sources that they see; a JWT
            without it sees none. Empty: they see all.
        pages: whether there are pages for people, who sign in.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        allowed_hosts: Sequence[str],
        allowed_origins: Sequence[str],
        policy: Policy,
        public: Collection[str] = (),
        limits: Limits = UNLIMITED,
        tokens: AccessTokens | None = None,
        resource: Resource | None = None,
        sources_claim: str = "",
        pages: bool = False,
    ) -> None:
        self.pages = pages
        self.sources_claim = sources_claim
        self.limits = limits
        self.tokens = tokens
        self._threads = WorkerThreads()
        self.resource = resource
        self.app = app
        self.policy = policy
        self.public = frozenset(public)
        self.hosts = frozenset(host.lower() for host in allowed_hosts)
        self.origins = frozenset(origin.lower().rstrip("/") for origin in allowed_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        headers = Headers(scope=scope)
        peer = (scope.get("client") or ("",))[0]
        # Links, cookies and what clients of OAuth are told go by the address that people use.
        told = self.limits.scheme(peer, headers.get("x-forwarded-proto", ""))
        scope["scheme"] = told or scope["scheme"]
        refusal = self._refusal(headers)
        shared_with = "" if refusal else headers.get("origin", "")
        answer = refusal or _preflight(scope["method"], headers)
        caller = auth.NOBODY
        if answer is None:
            try:
                caller = await self._admit(scope, headers)
            except DocstowError as error:
                answer = self._refused(scope, error)
        began = time.perf_counter()
        status = 0

        async def send_marked(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                answered = MutableHeaders(scope=message)
                _mark(answered, request_id, shared_with)
                self._complete_challenge(answered, status, scope, headers)
                if status in _REFUSED:
                    logs.audit_refusal(f"{scope['method']} {scope['path']}", str(status))
            await send(message)

        try:
            with auth.calling(caller), logs.in_request(request_id):
                await (answer or self.app)(scope, receive, send_marked)
        except ClientDisconnect:
            log.info("request %s: the client left", request_id)
        except Exception:
            log.exception("request %s failed", request_id)
            if not status:
                await error_response(internal_error(request_id))(scope, receive, send_marked)
        elapsed = (time.perf_counter() - began) * 1000
        log.info("%s %r %d %.1f ms %s", scope["method"], scope["path"], status, elapsed, request_id)

    async def _admit(self, scope: Scope, headers: Headers) -> Caller:
        """Identify the caller, and count the request: by credential, else by address.

        Raises:
            Unauthorized, Forbidden, UpstreamError, UpstreamTimeout: as :meth:`_caller` does.
            TooManyRequests: the caller asks too often.
        """
        peer = (scope.get("client") or ("",))[0]
        key = peer and self.limits.address(peer, headers.getlist("x-forwarded-for"))
        try:
            caller = await self._caller(scope, headers)
        except DocstowError:
            self.limits.requests.take(key)
            raise
        if caller.name and not self.policy.open:
            key = f"{auth.CREDENTIAL}{caller.name}"
        if scope["path"] not in self.public:
            self.limits.requests.take(key)
        # Whoever alone reaches the server is not limited.
        return replace(caller, key="" if self.policy.loopback else key)

    async def _caller(self, scope: Scope, headers: Headers) -> Caller:
        """Identify the caller.

        Raises:
            Unauthorized: the credential is not known, or there is none where one is needed, or
                the request came through a proxy to a server that trusts its own machine.
            Forbidden: the JWT has no scope of this server.
            UpstreamError, UpstreamTimeout: the issuer of JWTs does not answer.
        """
        claims = _claims(scope) if self.policy.jwt else None
        authorization = headers.get("authorization", "")
        if self.pages:
            authorization = sessions.credential(scope["path"], headers)
        if claims is None and self.tokens is not None and (token := _jwt(authorization)):
            claims = await self._threads.run(partial(self.tokens.claims, token))
        if claims is not None:
            claim = self.sources_claim
            bound = bound_to(_words(claims.get(claim))) if claim else None
            caller = self.policy.from_claims(str(claims.get("sub", "")), _scopes(claims), bound)
            if not caller.scope and scope["path"] not in self.public:
                raise Forbidden(
                    "This token has no scope of this server; ask its issuer for docstow:read,"
                    " docstow:write or docstow:admin.",
                    scope=auth.READ,
                )
            return caller
        if self.policy.loopback and scope["path"] not in self.public:
            _refuse_forwarded(headers)
        if scope["path"] == sessions.SIGN_IN:
            # An old cookie must not keep anybody from signing in anew.
            authorization = headers.get("authorization", "")
        caller = self.policy.identify(authorization)
        if not caller.scope and scope["path"] not in self.public:
            raise Unauthorized(
                "This server answers nobody without a credential: send 'Authorization: Bearer "
                "TOKEN'. Whoever runs it makes tokens with 'docstow token new'."
            )
        return caller

    def _refused(self, scope: Scope, error: DocstowError) -> Response:
        """Return the answer to who is not admitted; people are asked to sign in."""
        page = self.pages and scope["method"] == "GET" and sessions.is_page(scope["path"])
        if page and isinstance(error, Unauthorized) and not self.policy.loopback:
            return sessions.ask_to_sign_in(scope["path"], scope["query_string"].decode("latin-1"))
        return error_response(error)

    def _complete_challenge(
        self, answered: MutableHeaders, status: int, scope: Scope, sent: Headers
    ) -> None:
        """Add to a challenge what a client of OAuth goes by (RFC 6750, 3; RFC 9728, 5.1)."""
        told = answered.get("www-authenticate")
        if told is None or self.resource is None:
            return
        if status == Unauthorized.status:
            if "authorization" in sent:
                told += ', error="invalid_token"'
            told += f', scope="docstow:{auth.READ}"'
        asked = self.resource.at(f"{scope['scheme']}://{sent.get('host', '')}")
        answered["www-authenticate"] = f'{told}, resource_metadata="{asked.metadata_url}"'

    def _refusal(self, headers: Headers) -> Response | None:
        host, origin = headers.get("host", "").lower(), headers.get("origin", "").lower()
        if not self._is_allowed_host(host):
            advice = "Add it to the allowed hosts, if this server is to be reached by it."
            return error_response(Forbidden(f"This server does not answer as {host!r}. {advice}"))
        if origin and not self._is_allowed_origin(origin, host):
            advice = "Add it to the allowed origins, if its pages may use this server."
            return error_response(Forbidden(f"The origin {origin!r} is not allowed. {advice}"))
        return None

    def _is_allowed_host(self, host: str) -> bool:
        return bool({"*", host, _without_port(host)} & self.hosts)

    def _is_allowed_origin(self, origin: str, host: str) -> bool:
        if {"*", origin} & self.origins:
            return True
        authority = origin.partition("://")[2]
        if not authority:
            return False
        return authority == host or bool({authority, _without_port(authority)} & self.hosts)


def _refuse_forwarded(headers: Headers) -> None:
    if passed := next((name for name in _FORWARDED if name in headers), ""):
        raise Unauthorized(
            f"This request came through a proxy (it has the header {passed!r}), and this server "
            "trusts only callers on its own machine. Whoever runs it sets DOCSTOW_AUTH: tokens of "
            "'docstow token new', or 'open' where the proxy itself checks who calls."
        )


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def _jwt(authorization: str) -> str:
    """Return the bearer token of a header if it has a JWT's form, else nothing."""
    scheme, _, token = authorization.strip().partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token.count(".") == _DOTS_OF_JWT else ""


def _scopes(claims: Mapping[str, Any]) -> list[str]:
    """Return the scopes of a JWT: a text with blanks, or a list, as some issuers' ``scp`` is."""
    return _words(claims.get("scope") or claims.get("scp"))


def _words(found: object) -> list[str]:
    """Return the words of a claim, which is a text or a list; none of anything else."""
    if isinstance(found, list):
        return [each for each in found if isinstance(each, str)]
    # API Gateway passes a list on as the text "[a b]".
    return found.strip("[]").split() if isinstance(found, str) else []


def _claims(scope: Scope) -> Mapping[str, Any] | None:
    """Return the claims of a JWT that the platform's authorizer has verified; None without one.

    They are part of the platform's event, which no client can write:
    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-jwt-authorizer.html
    """
    context = scope.get("aws.event", {}).get("requestContext", {})
    claims = context.get("authorizer", {}).get("jwt", {}).get("claims")
    return claims if isinstance(claims, dict) else None


def _preflight(method: str, headers: Headers) -> Response | None:
    """Answer a browser's preflight from an allowed origin; None for any other request."""
    if method == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers:
        return Response(status_code=204, headers=_PREFLIGHT)
    return None


def _mark(headers: MutableHeaders, request_id: str, origin: str) -> None:
    """Add the headers of every response, and for an allowed origin those of CORS."""
    headers["X-Request-Id"] = request_id
    headers.add_vary_header("Origin")
    if origin:
        headers["Access-Control-Allow-Origin"] = origin
        headers["Access-Control-Expose-Headers"] = "Retry-After, X-Request-Id"
