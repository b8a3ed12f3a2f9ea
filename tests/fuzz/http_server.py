"""A server with the sample crate and a token for every scope, on a real socket."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from docstow.core import auth
from docstow.core.settings import load
from docstow.runtime import Runtime
from servers.web import serve

#: Every scope, and that of a caller without a token, who may read.
SCOPES = ("", *auth.SCOPES)


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """A server that is running.

    Attributes:
        url: its root.
        headers: what a caller of a scope sends.
    """

    url: str
    headers: Mapping[str, Mapping[str, str]]


@contextlib.contextmanager
def fuzzed(folder: Path) -> Iterator[Fuzzed]:
    """Serve a store below a folder, offline and without rates, for as long as a block runs."""
    tokens = {scope: auth.new_token() for scope in auth.SCOPES}
    entries = [f"{scope}:{scope}:{auth.token_digest(each)}" for scope, each in tokens.items()]
    flags = {
        "store": str(folder / "store"),
        "cache": str(folder / "cache"),
        "auth": ",".join(["anonymous:read", *entries]),
        "offline": True,
        "rate": 0,
        "slow_rate": 0,
        "wait_s": 1,
    }
    headers: dict[str, Mapping[str, str]] = {"": {}}
    headers |= {scope: {"Authorization": f"Bearer {each}"} for scope, each in tokens.items()}
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        runtime.ingest_sample()
        with serve(runtime.app) as url:
            yield Fuzzed(url, headers)
