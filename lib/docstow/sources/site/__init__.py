"""The kind of documentation websites, and their options: names, types, ranges and defaults."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter
from docstow.core.similar import similar_names
from docstow.core.urls import canonical_url, clean_url
from docstow.sources import Command, Origin, SourceKind, Upstreams

if TYPE_CHECKING:
    from docstow.core.model import Registration

#: The largest ``max_pages``.
_MOST_PAGES = 100_000
#: The largest number of concurrent requests to one host.
_MOST_AT_ONCE = 5

_DEFAULTS: Mapping[str, Any] = {
    "start_urls": [],  # the registration's own address
    "allowed_domains": [],  # the hosts of the start addresses
    "path_prefixes": [],  # the directories of the start addresses
    "include": [],
    "exclude": [],
    # As many as a crawl of one page a second visits within the quarter of an hour that a cloud
    # function may run, with time left to embed them.
    "max_pages": 500,
    "max_depth": 6,  # real manuals reach 5 links from their start page
    "delay_s": 1.0,
    "max_page_bytes": 10_000_000,
    "concurrency": 2,
    "sitemap": True,
    "llms": "auto",
    "render_js": False,
    "fetch_assets": False,
}
_RANGES: Mapping[str, tuple[float, float]] = {
    "max_pages": (1, _MOST_PAGES),
    "max_depth": (0, 100),
    "delay_s": (0, 3600),
    "max_page_bytes": (1, 1_000_000_000),
    "concurrency": (1, _MOST_AT_ONCE),
}


def options(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of a site, checked and completed by defaults.

    Args:
        raw: ``start_urls``, ``allowed_domains``, ``path_prefixes``, ``include``, ``exclude``
            (lists), ``max_pages``, ``max_depth``, ``delay_s``, ``max_page_bytes``,
            ``concurrency`` (numbers), ``sitemap``, ``render_js``, ``fetch_assets`` (booleans)
            and ``llms`` (``auto`` or ``off``).

    Raises:
        InvalidParameter: an option is unknown or invalid.
    """
    for name in raw:
        if name not in _DEFAULTS:
            near = similar_names(name, _DEFAULTS, most=1)
            hint = f"did you mean {near[0][0]}?" if near else f"there are {', '.join(_DEFAULTS)}"
            raise InvalidParameter(name, f"is no option of a website; {hint}")
    checked: dict[str, Any] = {
        name: _checked(name, raw[name], default) if raw.get(name) is not None else _copy(default)
        for name, default in _DEFAULTS.items()
    }
    checked["start_urls"] = [_address(url) for url in checked["start_urls"]]
    checked["allowed_domains"] = [_domain(name) for name in checked["allowed_domains"]]
    checked["path_prefixes"] = [f"/{each.strip('/')}" for each in checked["path_prefixes"]]
    return checked


def _copy(default: object) -> object:
    return list(default) if isinstance(default, list) else default


def _checked(name: str, value: object, default: object) -> object:
    """Return a value if it has the type of the default and is in range."""
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise InvalidParameter(name, "must be true or false")
        return value
    if isinstance(default, list):
        many = [value] if isinstance(value, str) else value
        if not isinstance(many, list | tuple) or not all(
            isinstance(each, str) and each.strip() for each in many
        ):
            raise InvalidParameter(name, "must be a list of texts, none of them empty")
        return [each.strip() for each in many]
    if name == "llms":
        if value not in {"auto", "off"}:
            raise InvalidParameter(name, "must be auto or off")
        return value
    return _number(name, value, whole=isinstance(default, int))


def _number(name: str, value: object, *, whole: bool) -> float:
    least, most = _RANGES[name]
    kind = "a whole number" if whole else "a number"
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise InvalidParameter(name, f"must be {kind} from {least:.0f} to {most:.0f}")
    if whole and value != int(value):
        raise InvalidParameter(name, f"must be {kind}, not {value}")
    return int(value) if whole else float(value)


def _address(url: str) -> str:
    try:
        return clean_url(url)
    except InvalidParameter as error:
        raise InvalidParameter("start_urls", error.details["reason"]) from None


def _domain(name: str) -> str:
    """Return a host, optionally with a ``*.`` prefix and a port."""
    host = name.lower()
    try:
        clean_url(f"http://{host.removeprefix('*.')}/")
    except InvalidParameter:
        host = "/"
    if set(host) & set("/?#@*") - ({"*"} if host.startswith("*.") else set()):
        raise InvalidParameter(
            "allowed_domains",
            "must hold hosts, such as docs.example.org, *.example.org or localhost:8000",
        )
    return host


@contextlib.contextmanager
def _open(registration: Registration, upstreams: Upstreams) -> Iterator[Origin]:
    from docstow.sources.site.origin import SiteOrigin, scope

    fetcher = upstreams.guarded_fetcher()
    registration = replace(registration, options=options(registration.options))
    if not registration.options["render_js"]:
        yield SiteOrigin(registration, fetcher)
        return
    from docstow.sources.site.browser import Browser

    chromium, inside = upstreams.settings.chromium, scope(registration)
    with Browser(fetcher, chromium=chromium, may_open=inside.holds) as browser:
        yield SiteOrigin(registration, fetcher, render=browser.render)


KIND = SourceKind(
    "site",
    canonical=canonical_url,
    options=lambda raw, _: options(raw),
    open=_open,
    refreshable=True,
    paths_are_urls=True,
    preset=True,
    command=Command(
        "URL|PRESET",
        "a documentation website",
        flags=MappingProxyType({"max_pages": "as --option max_pages=N"}),
        takes_preset=True,
    ),
)
