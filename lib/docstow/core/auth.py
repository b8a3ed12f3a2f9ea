"""Authorization: bearer tokens, their scopes, and the current caller.

A server sets the caller of a request by :func:`calling`; tools check it by :func:`require`.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from docstow.core.errors import ConfigurationError, Forbidden, Unauthorized

READ, WRITE, ADMIN = "read", "write", "admin"

#: In ascending order: each scope includes those before it.
SCOPES = (READ, WRITE, ADMIN)

#: Entries of the setting other than tokens.
OPEN, JWT, ANONYMOUS_READ = "open", "jwt", "anonymous:read"

PREFIX = "docstow_"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: A scope as identity providers write it: docstow:read, docstow/read, https://…/docstow/read, or
#: bare; scopes of other services are ignored.
_CLAIM = re.compile(r"(?:(?:.*[/:.])?docstow[/:.])?(read|write|admin)")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller.

    Attributes:
        name: of the token or of the JWT's subject; for logs. Empty for an anonymous caller.
        scope: the largest that the caller has; empty: none.
    """

    name: str
    scope: str

    @property
    def anonymous(self) -> bool:
        """Whether no credential was sent."""
        return not self.name

    def may(self, scope: str) -> bool:
        """Return whether the caller's scope includes this one."""
        return bool(self.scope) and SCOPES.index(self.scope) >= SCOPES.index(scope)


#: The user who runs the program: the command line, stdio, a server on loopback.
OWNER = Caller("owner", ADMIN)
NOBODY = Caller("", "")

_caller: ContextVar[Caller] = ContextVar("caller", default=OWNER)


@contextlib.contextmanager
def calling(caller: Caller) -> Iterator[None]:
    """Set the caller within; threads started with a copy of the context inherit it."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def caller() -> Caller:
    """Return the current caller; the owner where no server has set another."""
    return _caller.get()


def require(scope: str) -> None:
    """Refuse a caller whose scope is too small.

    Raises:
        Unauthorized: a credential is needed, and none was sent.
        Forbidden: the credential's scope does not include this one.
    """
    who = caller()
    if who.may(scope):
        return
    if who.anonymous:
        raise Unauthorized(
            f"This needs a credential with the scope {scope!r}. Send it as 'Authorization: Bearer "
            "TOKEN'; whoever runs this server makes tokens with 'docstow token new'."
        )
    raise Forbidden(
        f"The credential {who.name!r} has the scope {who.scope!r}; this needs {scope!r}. Ask "
        "whoever runs this server for another one.",
        scope=scope,
    )


def require_credential(purpose: str) -> None:
    """Refuse an anonymous caller; ``purpose`` is a clause that begins the message.

    Raises:
        Unauthorized: no credential was sent.
    """
    if caller().anonymous:
        raise Unauthorized(
            f"{purpose}, which needs a credential: send 'Authorization: Bearer TOKEN'. Anonymous "
            "callers are answered from what is stowed already."
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """The parsed setting ``auth``.

    Attributes:
        open: no credential is needed, and everybody has every scope.
        loopback: it is open only because nobody but this machine's users can reach the server, so
            that what a proxy passes on is not meant.
        jwt: an authorizer in front verifies the credential; its scopes apply.
        anonymous: the scope of a caller without a credential; empty: none.
        tokens: SHA-256 in hex of each token, with its caller.
    """

    open: bool = False
    loopback: bool = False
    jwt: bool = False
    anonymous: str = ""
    tokens: tuple[tuple[str, Caller], ...] = ()

    def identify(self, authorization: str) -> Caller:
        """Return the caller that the value of an Authorization header identifies.

        Raises:
            Unauthorized: the credential is unknown.
        """
        if self.open:
            return OWNER
        scheme, _, token = authorization.strip().partition(" ")
        if not scheme:
            return Caller("", self.anonymous)
        digest = token_digest(token.strip()) if scheme.lower() == "bearer" else ""
        # Every token is compared, so that the time taken does not depend on which one matches.
        matches = [who for known, who in self.tokens if hmac.compare_digest(known, digest)]
        if not matches:
            raise Unauthorized("This credential is not known here. Ask for a new token.")
        return matches[0]

    def from_claims(self, subject: str, scopes: Iterable[str]) -> Caller:
        """Return the caller of the claims of a JWT that has been verified."""
        granted = {match[1] for match in map(_CLAIM.fullmatch, scopes) if match}
        held = [scope for scope in SCOPES if scope in granted]
        return Caller(subject or "jwt", held[-1] if held else "")


#: The policy of an empty setting on a server that others can reach.
CLOSED = Policy()


def parse(entries: Sequence[str], *, exposed: bool) -> Policy:
    """Read the setting ``auth``.

    Args:
        entries: ``open``, ``jwt``, ``anonymous:read`` and ``NAME:SCOPE:SHA256`` in any number.
        exposed: whether others than this machine's user can reach the server; then only what the
            entries allow is allowed.

    Raises:
        ConfigurationError: with all mistakes at once and without digests.
    """
    if not entries:
        return Policy(open=not exposed, loopback=not exposed)
    mistakes: list[str] = []
    tokens: list[tuple[str, Caller]] = []
    for entry in entries:
        if entry in {OPEN, JWT, ANONYMOUS_READ}:
            continue
        name, _, rest = entry.partition(":")
        scope, _, digest = rest.partition(":")
        if not _NAME.fullmatch(name) or scope not in SCOPES or not _DIGEST.fullmatch(digest):
            mistakes.append(
                f"auth: the entry of {name!r} is not open, jwt, anonymous:read or "
                "NAME:read|write|admin:SHA256; 'docstow token new' prints one"
            )
        tokens.append((digest, Caller(name, scope)))
    names = [who.name for _, who in tokens]
    mistakes += [f"auth: {name!r} is there twice" for name in {*names} if names.count(name) > 1]
    if OPEN in entries and len(entries) > 1:
        mistakes.append("auth: open lets everybody in, so nothing else may stand beside it")
    if mistakes:
        raise ConfigurationError("\n".join(mistakes), mistakes=mistakes)
    return Policy(
        open=OPEN in entries,
        jwt=JWT in entries,
        anonymous=READ if ANONYMOUS_READ in entries else "",
        tokens=tuple(tokens),
    )


def new_token() -> str:
    """Return a random token of 256 bits, with a prefix that secret scanners recognise."""
    return PREFIX + secrets.token_urlsafe(32)


def token_digest(token: str) -> str:
    """Return the stored form of a token: SHA-256 in hex; 256 random bits need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()
