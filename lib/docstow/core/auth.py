"""Who may call what: bearer tokens, their scopes, and the caller of the moment.

This room knows credentials and scopes. It does not know HTTP, MCP or what a tool does: a face
says who calls, and the registry of tools asks whether that caller may.
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

#: From the least to the most: each scope includes those before it.
SCOPES = (READ, WRITE, ADMIN)

#: Words of the setting that stand for themselves.
OPEN, JWT, ANONYMOUS_READ = "open", "jwt", "anonymous:read"

PREFIX = "docstow_"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: A scope as identity providers write it: docstow:read, docstow/read, https://…/docstow/read, or
#: bare; one of another service is none of ours.
_CLAIM = re.compile(r"(?:(?:.*[/:.])?docstow[/:.])?(read|write|admin)")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone who calls.

    Attributes:
        name: of the token or of the JWT's subject; for logs. Empty for an anonymous caller.
        scope: the most that it may do; empty: nothing.
    """

    name: str
    scope: str

    @property
    def anonymous(self) -> bool:
        """Whether no credential was shown."""
        return not self.name

    def may(self, scope: str) -> bool:
        """Whether the caller's scope includes this one."""
        return bool(self.scope) and SCOPES.index(self.scope) >= SCOPES.index(scope)


#: Whoever runs the program itself: the command line, stdio, a server on loopback.
OWNER = Caller("owner", ADMIN)
NOBODY = Caller("", "")

_caller: ContextVar[Caller] = ContextVar("caller", default=OWNER)


@contextlib.contextmanager
def calling(caller: Caller) -> Iterator[None]:
    """Make someone the caller of everything within; threads started with the context inherit it."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def caller() -> Caller:
    """Who calls now; the owner where no face has said otherwise."""
    return _caller.get()


def require(scope: str) -> None:
    """Refuse a caller whose scope is too small.

    Raises:
        Unauthorized: no credential was shown, and one is needed.
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
        "whoever runs this server for another one."
    )


def require_credential(purpose: str) -> None:
    """Refuse an anonymous caller something that costs: ``purpose`` says what, as a clause.

    Raises:
        Unauthorized: no credential was shown.
    """
    if caller().anonymous:
        raise Unauthorized(
            f"{purpose}, which needs a credential: send 'Authorization: Bearer TOKEN'. Anonymous "
            "callers are answered from what is stowed already."
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """What the setting ``auth`` says.

    Attributes:
        open: nobody is asked for a credential, and everybody may do everything.
        jwt: an authorizer in front has checked the credential; its scopes hold.
        anonymous: what a caller without a credential may do; empty: nothing.
        tokens: SHA-256 in hex of each token, with whom it stands for.
    """

    open: bool = False
    jwt: bool = False
    anonymous: str = ""
    tokens: tuple[tuple[str, Caller], ...] = ()

    def identify(self, authorization: str) -> Caller:
        """Whom the value of an Authorization header stands for.

        Raises:
            Unauthorized: it is no credential that is known here.
        """
        if self.open:
            return OWNER
        scheme, _, token = authorization.strip().partition(" ")
        if not scheme:
            return Caller("", self.anonymous)
        digest = token_digest(token.strip()) if scheme.lower() == "bearer" else ""
        # Every token is compared, so that the time taken tells nothing of which one came near.
        matches = [who for known, who in self.tokens if hmac.compare_digest(known, digest)]
        if not matches:
            raise Unauthorized("This credential is not known here. Ask for a new token.")
        return matches[0]

    def from_claims(self, subject: str, scopes: Iterable[str]) -> Caller:
        """Whom a JWT's claims stand for, which the authorizer in front has verified."""
        granted = {match[1] for match in map(_CLAIM.fullmatch, scopes) if match}
        held = [scope for scope in SCOPES if scope in granted]
        return Caller(subject or "jwt", held[-1] if held else "")


#: What the setting says that says nothing, of a server that others can reach.
CLOSED = Policy()


def parse(words: Sequence[str], *, exposed: bool) -> Policy:
    """Read the setting ``auth``.

    Args:
        words: ``open``, ``jwt``, ``anonymous:read`` and ``NAME:SCOPE:SHA256`` in any number.
        exposed: whether others than this machine's user can reach the server; then nothing is
            allowed that the words do not allow.

    Raises:
        ConfigurationError: with all mistakes at once; digests are not repeated.
    """
    if not words:
        return Policy(open=not exposed)
    mistakes: list[str] = []
    tokens: list[tuple[str, Caller]] = []
    for word in words:
        if word in {OPEN, JWT, ANONYMOUS_READ}:
            continue
        name, _, rest = word.partition(":")
        scope, _, digest = rest.partition(":")
        if not _NAME.fullmatch(name) or scope not in SCOPES or not _DIGEST.fullmatch(digest):
            mistakes.append(
                f"auth: the entry of {name!r} is not open, jwt, anonymous:read or "
                "NAME:read|write|admin:SHA256; 'docstow token new' prints one"
            )
        tokens.append((digest, Caller(name, scope)))
    names = [who.name for _, who in tokens]
    mistakes += [f"auth: {name!r} is there twice" for name in {*names} if names.count(name) > 1]
    if OPEN in words and len(words) > 1:
        mistakes.append("auth: open lets everybody in, so nothing else may stand beside it")
    if mistakes:
        raise ConfigurationError("\n".join(mistakes), mistakes=mistakes)
    return Policy(
        open=OPEN in words,
        jwt=JWT in words,
        anonymous=READ if ANONYMOUS_READ in words else "",
        tokens=tuple(tokens),
    )


def new_token() -> str:
    """A token that nobody can guess: 256 random bits, with a prefix that scanners can find."""
    return PREFIX + secrets.token_urlsafe(32)


def token_digest(token: str) -> str:
    """What is stored of a token: SHA-256 in hex; so many random bits need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()
