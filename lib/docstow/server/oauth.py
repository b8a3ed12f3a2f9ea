"""The server as an OAuth 2.0 resource server: whom a JWT stands for, and where clients get one.

Access tokens are checked as RFC 8725 and 9068 ask, with the keys that the issuer's metadata name
(RFC 8414, or OpenID Connect's discovery). What a token's own header says of keys (``jku``, ``x5u``,
``jwk``) is never used. The metadata of the resource is RFC 9728's, as the authorization chapter of
MCP wants it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from docstow.core.auth import SCOPES
from docstow.core.errors import DocstowError, Unauthorized, UpstreamError
from docstow.core.records import dataclass

log = logging.getLogger(__name__)

#: Where clients look for the metadata of a resource; its path may follow.
METADATA_PATH = "/.well-known/oauth-protected-resource"

#: The accepted algorithms, each with the type and the curve of its keys.
_ALGORITHMS = {"RS256": ("RSA", None), "ES256": ("EC", "P-256"), "EdDSA": ("OKP", "Ed25519")}
_LEAST_RSA_BITS = 2048
#: What an access token may call itself (RFC 9068, 2.1; most issuers write JWT, or nothing).
_TYPES = {"", "jwt", "at+jwt", "application/at+jwt"}
_LONGEST = 8192
#: Seconds by which clocks may differ.
_LEEWAY_S = 60
#: Keys are asked for again after so many seconds, and held for so many where nobody answers.
_FRESH_S, _STALE_S = 600.0, 86_400.0
#: The issuer is asked at most once in so many seconds, whatever callers send.
_PAUSE_S = 30.0


@dataclass(frozen=True, slots=True)
class Resource:
    """This server as its issuer and its clients know it.

    Attributes:
        address: the URL of the MCP endpoint, which tokens are asked for; a path alone is at the
            host that was asked.
        issuer: identifier of the authorization server.
    """

    address: str
    issuer: str

    def at(self, origin: str) -> Resource:
        """Return it as a client knows it that asked at an origin, as ``https://docs.example``."""
        if self.address.startswith("/"):
            return replace(self, address=origin + self.address)
        return self

    @property
    def metadata_path(self) -> str:
        """The path of the metadata, by RFC 9728, 3.1."""
        return METADATA_PATH + urlsplit(self.address).path.rstrip("/")

    @property
    def metadata_url(self) -> str:
        """Where the metadata are."""
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}{self.metadata_path}"

    def metadata(self) -> dict[str, Any]:
        """Return the metadata of RFC 9728."""
        return {
            "resource": self.address,
            "authorization_servers": [self.issuer],
            "scopes_supported": [f"docstow:{scope}" for scope in SCOPES],
            "bearer_methods_supported": ["header"],
            "resource_name": "docstow",
        }


class AccessTokens:
    """Checks the access tokens of one issuer. Safe to share between threads.

    Args:
        issuer: its identifier, as tokens name it.
        audiences: a token is for one of these, or by a client of these where it names no audience
            (as Amazon Cognito's do).
        fetch: returns the JSON at an address.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        issuer: str,
        audiences: Sequence[str],
        fetch: Callable[[str], Any],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._audiences = list(audiences)
        self._fetch = fetch
        self._clock = clock
        self._lock = threading.Lock()
        self._keys: Sequence[Mapping[str, Any]] = ()
        self._fetched: float | None = None
        self._asked: float | None = None
        self._failure: DocstowError | None = None

    def claims(self, token: str) -> Mapping[str, Any]:
        """Return the claims of a token that is valid here and now.

        Raises:
            Unauthorized: it is not; says what is wrong, without the token.
            UpstreamError, UpstreamTimeout: the issuer's keys are not known, and it does not answer.
        """
        import jwt  # only where an issuer is configured

        try:
            if len(token) > _LONGEST:
                raise Unauthorized(f"This token is longer than {_LONGEST} characters.")
            header = jwt.get_unverified_header(token)
            algorithm = str(header.get("alg"))
            if algorithm not in _ALGORITHMS:
                raise Unauthorized(f"This token is not signed by one of {', '.join(_ALGORITHMS)}.")
            if str(header.get("typ", "")).lower() not in _TYPES:
                raise Unauthorized("This is no access token: its type is another.")
            if "crit" in header:
                raise Unauthorized("This token asks for extensions that are not known here.")
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key(header.get("kid"), algorithm),
                algorithms=[algorithm],
                issuer=self._issuer,
                leeway=_LEEWAY_S,
                # The audience is looked at below.
                options={"require": ["exp", "iss"], "verify_aud": False},
            )
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            reason = str(error)[:200] if isinstance(error, jwt.PyJWTError) else "it is damaged"
            raise Unauthorized(f"This token is not valid: {reason}.") from None
        self._check_audience(claims)
        return claims

    def _check_audience(self, claims: Mapping[str, Any]) -> None:
        named = claims["aud"] if "aud" in claims else claims.get("client_id")
        held = named if isinstance(named, list) else [named]
        if not any(each in self._audiences for each in held if isinstance(each, str)):
            raise Unauthorized("This token is for another audience than this server.")

    def _key(self, kid: object, algorithm: str) -> Any:
        """Return the public key of a token.

        Raises:
            Unauthorized: the issuer has none that fits.
            jwt.PyJWTError: what it has is damaged.
        """
        import jwt

        with self._lock:
            self._refresh(_FRESH_S)
            found = self._matching(kid, algorithm)
            if not found:
                # A new key comes with the first token that it signs.
                self._refresh(0.0)
                found = self._matching(kid, algorithm)
            if not found and self._failure is not None and not self._keys:
                raise self._failure
        if len(found) != 1:
            raise Unauthorized("This token is signed by a key that its issuer does not name.")
        key = jwt.PyJWK.from_dict(dict(found[0]), algorithm=algorithm).key
        if getattr(key, "key_size", _LEAST_RSA_BITS) < _LEAST_RSA_BITS and algorithm == "RS256":
            raise Unauthorized(f"The issuer's key has less than {_LEAST_RSA_BITS} bits.")
        return key

    def _matching(self, kid: object, algorithm: str) -> list[Mapping[str, Any]]:
        kind, curve = _ALGORITHMS[algorithm]
        return [
            each
            for each in self._keys
            if each.get("kty") == kind
            and each.get("crv") == curve
            and each.get("use", "sig") == "sig"
            and each.get("alg", algorithm) == algorithm
            and (each.get("kid") == kid or kid is None)
        ]

    def _refresh(self, age_s: float) -> None:
        """Ask for the keys if they are older than this; keep what is there if that fails."""
        now = self._clock()
        if self._fetched is not None and now - self._fetched < age_s:
            return
        if self._asked is not None and now - self._asked < _PAUSE_S:
            return
        self._asked = now
        try:
            keys = self._fetch(self._keys_address())
            found = keys.get("keys") if isinstance(keys, Mapping) else None
            if not isinstance(found, list):
                raise UpstreamError("The issuer's set of keys is none (RFC 7517).")
            self._keys = [each for each in found if isinstance(each, Mapping)]
            self._fetched, self._failure = now, None
        except DocstowError as error:
            log.warning("the keys of %s cannot be had: %s", self._issuer, error)
            self._failure = error
            if self._fetched is not None and now - self._fetched > _STALE_S:
                self._keys = ()

    def _keys_address(self) -> str:
        from docstow.net.client import is_untapped  # httpx takes long to import

        parts = urlsplit(self._issuer)
        root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        failure: DocstowError = UpstreamError("The issuer has no metadata.")
        for address in (
            f"{root}/.well-known/oauth-authorization-server{path}",
            f"{root}{path}/.well-known/openid-configuration",
        ):
            try:
                found = self._fetch(address)
            except UpstreamError as error:
                failure = error
                continue
            if isinstance(found, Mapping) and found.get("issuer") == self._issuer:
                keys = str(found.get("jwks_uri", ""))
                if is_untapped(keys):
                    return keys
            failure = UpstreamError(
                f"The metadata at {address} are not of the issuer {self._issuer}, or name no"
                " address of keys over https; correct oauth_issuer."
            )
        raise failure
