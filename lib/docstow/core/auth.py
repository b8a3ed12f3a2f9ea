"""Authorization: bearer tokens, their scopes and sources, and the current caller.

A server sets the caller of a request by :func:`calling`; tools check its scope by :func:`require`.
Whatever reads heads, records, jobs or cards gives those alone that the caller :func:`sees`.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextvars import ContextVar

from docstow.core.errors import ConfigurationError, Forbidden, Unauthorized
from docstow.core.model import Revision, Source
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.core.visibility import Visibility, is_open, name_of, read_patterns

READ, WRITE, ADMIN = "read", "write", "admin"

#: In ascending order: each scope includes those before it.
SCOPES = (READ, WRITE, ADMIN)

#: Entries of the setting other than tokens.
OPEN, JWT, ANONYMOUS_READ = "open", "jwt", "anonymous:read"

PREFIX = "docstow_"
#: What the key of a caller with a credential begins with; its name follows.
CREDENTIAL = "credential "
_TOKEN = lazy_pattern(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,63}):(?P<scope>read|write|admin)"
    r":(?P<digest>[0-9a-f]{64})(?::(?P<patterns>.*))?"
)
_ANONYMOUS = lazy_pattern(r"(?P<name>)(?P<digest>)anonymous:(?P<scope>read)(?::(?P<patterns>.*))?")
#: A scope as identity providers write it: docstow:read, docstow/read, https://…/docstow/read, or
#: bare; scopes of other services are ignored.
_CLAIM = lazy_pattern(r"(?:(?:.*[/:.])?docstow[/:.])?(read|write|admin)")


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller.

    Attributes:
        name: of the token or of the JWT's subject; for logs. Empty for an anonymous caller.
        scope: the largest that the caller has; empty: none.
        bound: the sources that the caller sees; None for all.
        key: what rates, turns and quotas count for: a credential, else an address. Empty for
            whoever is not limited.
    """

    name: str
    scope: str
    bound: Visibility | None = None
    key: str = ""

    @property
    def account(self) -> str:
        """What quotas count for; nothing for addresses, and for whoever may change everything."""
        unlimited = self.scope == ADMIN and self.bound is None
        return self.key if self.key.startswith(CREDENTIAL) and not unlimited else ""

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


def sees(kind: str, name: str) -> bool:
    """Return whether the current caller sees a source; see :mod:`docstow.core.visibility`."""
    bound = caller().bound
    return bound is None or bound.sees(kind, name)


def sees_head(source: Source) -> bool:
    """Return whether the current caller sees a source, as far as the key of its head tells.

    Of pages the snapshot tells it, see :func:`sees_snapshot`, and their registration.
    """
    return is_open(source, caller().bound)


def sees_snapshot(revision: Revision) -> bool:
    """Return whether the current caller sees what a snapshot was made from."""
    bound = caller().bound
    return bound is None or bound.sees(revision.source.kind, name_of(revision))


def unseen(kind: str, name: str) -> str:
    """Return why the current caller has no source of a name; empty where the caller sees it.

    It is the same whether or not there is such a source.
    """
    if sees(kind, name):
        return ""
    who = caller()
    own = ", ".join(who.bound.patterns) if who.bound is not None else ""
    named = f"the credential {who.name!r}" if who.name else "who sends no credential"
    return (
        f"{kind}:{name[:200]} is not for {named}, which sees {own or 'no source'}. Ask whoever runs"
        " this server for one that does."
    )


def require_sight(kind: str, name: str) -> None:
    """Refuse a caller that does not see a source, whether or not there is one.

    Raises:
        Forbidden: it does not.
    """
    if told := unseen(kind, name):
        raise Forbidden(told)


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
        anonymous: the caller without a credential.
        tokens: SHA-256 in hex of each token, with its caller.
    """

    open: bool = False
    loopback: bool = False
    jwt: bool = False
    anonymous: Caller = NOBODY
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
            return self.anonymous
        digest = token_digest(token.strip()) if scheme.lower() == "bearer" else ""
        # Every token is compared, so that the time taken does not depend on which one matches.
        matches = [who for known, who in self.tokens if hmac.compare_digest(known, digest)]
        if not matches:
            raise Unauthorized("This credential is not known here. Ask for a new token.")
        return matches[0]

    def from_claims(
        self, subject: str, scopes: Iterable[str], bound: Visibility | None = None
    ) -> Caller:
        """Return the caller of the claims of a JWT that has been verified."""
        granted = {match[1] for match in map(_CLAIM.fullmatch, scopes) if match}
        held = [scope for scope in SCOPES if scope in granted]
        return Caller(subject or "jwt", held[-1] if held else "", bound)


#: The policy of an empty setting on a server that others can reach.
CLOSED = Policy()


def parse(
    entries: Sequence[str], *, exposed: bool, kinds: Callable[[], Collection[str]] = tuple
) -> Policy:
    """Read the setting ``auth``.

    Args:
        entries: ``open``, ``jwt``, ``anonymous:read`` and ``NAME:SCOPE:SHA256`` in any number; the
            last two with ``:PATTERNS`` where they are bound to sources.
        exposed: whether others than this machine's user can reach the server; then only what the
            entries allow is allowed.
        kinds: returns those that patterns may name; none where that is not checked.

    Raises:
        ConfigurationError: with all mistakes at once and without digests.
    """
    if not entries:
        return Policy(open=not exposed, loopback=not exposed)
    mistakes: list[str] = []
    tokens: list[tuple[str, Caller]] = []
    anonymous = NOBODY
    for entry in entries:
        if entry in {OPEN, JWT}:
            continue
        try:
            digest, who = _read_entry(entry, kinds)
        except ValueError as error:
            mistakes.append(f"auth: the entry of {entry.partition(':')[0]!r} {error}")
            continue
        if digest:
            tokens.append((digest, who))
        else:
            anonymous = who
    names = [who.name for _, who in tokens]
    mistakes += [f"auth: {name!r} is there twice" for name in {*names} if names.count(name) > 1]
    if OPEN in entries and len(entries) > 1:
        mistakes.append("auth: open lets everybody in, so nothing else may stand beside it")
    if mistakes:
        raise ConfigurationError("\n".join(mistakes), mistakes=mistakes)
    return Policy(
        open=OPEN in entries,
        jwt=JWT in entries,
        anonymous=anonymous,
        tokens=tuple(tokens),
    )


def _read_entry(entry: str, kinds: Callable[[], Collection[str]]) -> tuple[str, Caller]:
    """Return digest and caller of a token's entry, or no digest of that without one.

    Raises:
        ValueError: with what is wrong, for people.
    """
    match = _TOKEN.fullmatch(entry) or _ANONYMOUS.fullmatch(entry)
    if match is None:
        raise ValueError(
            "is not open, jwt, anonymous:read or NAME:read|write|admin:SHA256, the last two with "
            ":PATTERNS if they are bound to sources; 'docstow token new' prints one"
        )
    name, scope, digest, patterns = match.group("name", "scope", "digest", "patterns")
    bound = None if patterns is None else read_patterns(patterns, kinds())
    return digest, Caller(name, scope, bound)


def new_token() -> str:
    """Return a random token of 256 bits, with a prefix that secret scanners recognise."""
    return PREFIX + secrets.token_urlsafe(32)


def token_digest(token: str) -> str:
    """Return the stored form of a token: SHA-256 in hex; 256 random bits need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()
