"""URLs of pages: one spelling for each, and which of them belong to a site."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit, urlunsplit

from docstow.core.errors import InvalidParameter
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass

#: The longest URL that is fetched, in characters; longer ones are mostly crawler traps.
LONGEST = 2000
#: Of so many URLs the spelling is kept: the pages of a site link to the same ones.
_URLS_KEPT = 8192
_SCHEMES = {"http": 80, "https": 443}
_TRACKING = lazy_pattern(
    r"utm_.*|gclid|fbclid|msclkid|mc_[ce]id|_ga|_gl|ref|source"
    r"|phpsessid|jsessionid|aspsessionid.*|sid|session_?id",
    re.IGNORECASE,
)
_SESSION = lazy_pattern(r";(?:jsessionid|phpsessid|sid)=[^/;]*", re.IGNORECASE)
# RFC 3986: what may stand unescaped; "%" because escapes that are there stay.
_PATH_SAFE = "/%:@!$&'()*+,;=~-._"
_QUERY_SAFE = "/?%:@!$'()*+,;=~-._"
_ESCAPE = lazy_pattern(r"%([0-9a-fA-F]{2})")
_LOOSE_PERCENT = lazy_pattern(r"%(?![0-9a-fA-F]{2})")
_UNRESERVED = lazy_pattern(r"[A-Za-z0-9~._-]")
_ASSET_SEGMENTS = {
    "assets",
    "static",
    "_static",
    "_sources",
    "img",
    "images",
    "_images",
    "css",
    "js",
    "fonts",
}
# Only suffixes that no page's name has: "array.map" and "node.class" may be pages.
_ASSET = lazy_pattern(
    r".*\.(?:png|jpe?g|gif|svg|webp|avif|ico|bmp|tiff?|mp[34]|m4a|og[agv]|webm|wav|flac|mov|avi|mkv"
    r"|woff2?|ttf|otf|eot|css|m?js|wasm|zip|t?gz|bz2|xz|zst|7z|rar|tar|jar|war|whl|egg|deb|rpm|apk"
    r"|dmg|pkg|exe|msi|iso|dll|dylib|pyc|parquet|sqlite|docx?|xlsx?|pptx?|od[tps]|epub|json|xml"
    r"|rss|atom|csv|ya?ml|toml)"
    # Sphinx's indexes, which only link to other pages.
    r"|(?:genindex(?:-\w+)?|(?:py-)?modindex)(?:\.html)?"
)
#: Files that are read where a site's files are wanted, wherever they are on it.
_FILE = lazy_pattern(r".*\.(?:json|ya?ml|pdf|ipynb)")
#: How often a segment may occur in a path, in a row and in total; more is taken for a loop.
_MOST_IN_A_ROW, _MOST_OF_ONE = 2, 3


@dataclass(frozen=True, slots=True)
class Scope:
    """Which URLs belong to a site.

    Attributes:
        domains: hosts, with a port where it matters; ``*.example.org`` for all below one.
        prefixes: beginnings of paths by whole segments; empty for any.
        include: globs of which one must match the path (or the URL, where a glob has ``://``);
            empty for any.
        exclude: globs of which none may match.
        files: whether files that pages link to belong to it, outside of the prefixes too.
    """

    domains: Sequence[str]
    prefixes: Sequence[str] = ()
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    files: bool = False

    def holds(self, url: str) -> bool:
        """Return whether a URL belongs to the site and may be a page."""
        try:
            return not exclusion_reason(clean_url(url), self)
        except InvalidParameter:
            return False


@lru_cache(maxsize=_URLS_KEPT)
def canonical_url(url: str) -> str:
    """Return the one spelling of a URL, which identifies a page or a source.

    Beyond :func:`clean_url` the query is sorted and slashes at the end of the path are dropped.

    Raises:
        InvalidParameter: it is not an http or https URL.
    """
    parts = urlsplit(clean_url(url))
    query = "&".join(sorted(parts.query.split("&")))
    path, longer = parts.path, ""
    while path != longer:  # without its slash, the last segment may end with empty parameters
        path, longer = _without_dots(path.rstrip("/")), path
    return urlunsplit((parts.scheme, parts.netloc, path, query, ""))


@lru_cache(maxsize=_URLS_KEPT)
def clean_url(url: str) -> str:
    """Return a URL as it is requested: without fragment, tracking and session, else as written.

    Scheme and host are in lower case, default ports and dot segments are removed, and characters
    are escaped as needed. Tracking parameters (``utm_*``, ``gclid``, ``ref`` …) are dropped.

    Raises:
        InvalidParameter: it is not an http or https URL.
    """
    parts = _split(url)
    path = re.sub("/{2,}", "/", _SESSION.sub("", _escaped(parts.path, _PATH_SAFE)))
    path = _without_dots(path)
    kept = [
        part
        for part in _escaped(parts.query, _QUERY_SAFE + "&").split("&")
        if part and not _TRACKING.fullmatch(unquote(part.partition("=")[0]))
    ]
    return urlunsplit((parts.scheme, netloc(parts), path, "&".join(kept), ""))


def netloc(parts: SplitResult) -> str:
    """Return the host in lower case, with the port if it is not the scheme's default."""
    host = (parts.hostname or "").rstrip(".")
    try:
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        raise InvalidParameter("url", f"{host} is no host's name") from None
    host = f"[{host}]" if ":" in host else host
    port = parts.port
    return host if port in {None, _SCHEMES.get(parts.scheme)} else f"{host}:{port}"


def site_of(url: str) -> str:
    """Return scheme, host and port of a URL: ``https://docs.example.org``."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{netloc(parts)}"


def directory_of(url: str) -> str:
    """Return the path below which the rest of a site is expected, without a trailing slash.

    A last segment with a suffix (``intro.html``) is a file; any other is taken for a directory,
    as its trailing slash may have been dropped.
    """
    path = urlsplit(url).path
    head, _, last = path.rpartition("/")
    file = re.fullmatch(r".*\.(?:x?html?|md|txt|rst|php|aspx?|jsp)", last, re.IGNORECASE)
    return (head if file else path).rstrip("/")


def on_site(url: str, domains: Sequence[str]) -> bool:
    """Return whether a URL's host is one of these; a domain without a port matches any port."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    for domain in domains:
        wanted = domain.lower()
        if wanted in {host, netloc(parts), f"[{host}]"}:
            return True
        if wanted.startswith("*.") and host.endswith(wanted[1:]):
            return True
    return False


def exclusion_reason(url: str, scope: Scope) -> str:
    """Return why a clean URL is not fetched, in a few words; empty if it is.

    Args:
        url: as :func:`clean_url` gives it.
        scope: of the site.
    """
    parts = urlsplit(url)
    path = unquote(parts.path)
    prefix = _prefix(path, scope.prefixes)
    wanted_file = scope.files and _FILE.fullmatch(path.rpartition("/")[2].lower()) is not None
    if not on_site(url, scope.domains) or (prefix is None and not wanted_file):
        return "out of scope"
    if any(_matches(glob, url, path) for glob in scope.exclude):
        return "excluded"
    if scope.include and not any(_matches(glob, url, path) for glob in scope.include):
        return "not included"
    segments = path[len(prefix or "") :].lower().split("/")
    named_so = _ASSET_SEGMENTS.intersection(segments) or _ASSET.fullmatch(segments[-1])
    if named_so and not wanted_file:
        return "not a page"
    return "endless address" if _endless(url, [part for part in path.split("/") if part]) else ""


def _split(url: str) -> SplitResult:
    """Split a URL; raise InvalidParameter if it cannot be requested."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        raise InvalidParameter("url", "must be an http or https address") from None
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise InvalidParameter("url", "must be an address such as https://docs.example.org/guide/")
    if parts.username is not None or parts.password is not None:
        raise InvalidParameter(
            "url", "must not hold a user's name or password; send them as a header instead"
        )
    if re.search(r"[\s<>\"\\^`{|}]", parts.hostname):
        raise InvalidParameter("url", "must name a host that can exist")
    return parts


def _escaped(text: str, safe: str) -> str:
    """Return text with the minimal escapes, in upper-case digits."""
    whole = quote(_LOOSE_PERCENT.sub("%25", text), safe=safe)

    def one(match: re.Match[str]) -> str:
        char = chr(int(match[1], 16))
        return char if _UNRESERVED.fullmatch(char) else match[0].upper()

    return _ESCAPE.sub(one, whole)


def _without_dots(path: str) -> str:
    """Remove dot segments (RFC 3986, 5.2.4), and the semicolon of empty parameters at the end."""
    return urlsplit(urljoin("http://host/", path)).path or "/"


def _prefix(path: str, prefixes: Sequence[str]) -> str | None:
    """Return the longest prefix that a path is below; None if it is below none."""
    if not prefixes:
        return ""
    stripped = (unquote(prefix).rstrip("/") for prefix in prefixes)
    fits = [each for each in stripped if path == each or path.startswith(f"{each}/")]
    return max(fits, key=len, default=None)


def _matches(glob: str, url: str, path: str) -> bool:
    """Match a glob, whose ``*`` matches slashes too; without a leading slash it starts at root."""
    if "://" in glob:
        return fnmatchcase(url, glob)
    return fnmatchcase(path, glob if glob.startswith(("/", "*")) else f"/{glob}")


def _endless(url: str, segments: Sequence[str]) -> bool:
    """Return whether a URL looks like a crawler trap: very long, or with repeated segments."""
    most = _MOST_IN_A_ROW + 1
    row = any(
        len(set(segments[start : start + most])) == 1 for start in range(len(segments) - most + 1)
    )
    often = max(Counter(segments).values(), default=0) > _MOST_OF_ONE
    return len(url) > LONGEST or row or often
