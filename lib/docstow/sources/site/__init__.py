"""The kind of documentation websites."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING

from docstow.core.urls import canonical_url
from docstow.sources.protocol import Command, SourceKind
from docstow.sources.site.options import options

if TYPE_CHECKING:
    from docstow.core.model import Registration
    from docstow.sources.protocol import Environment, Origin


@contextlib.contextmanager
def _open(registration: Registration, environment: Environment) -> Iterator[Origin]:
    from docstow.sources.site.origin import SiteOrigin, scope

    fetcher = environment.guarded_fetcher()
    if not registration.options.get("render_js"):
        yield SiteOrigin(registration, fetcher)
        return
    from docstow.sources.site.browser import Browser

    chromium, inside = environment.settings.chromium, scope(registration)
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
