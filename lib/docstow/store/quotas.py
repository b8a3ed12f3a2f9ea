"""Quotas: how many sources each caller has added to a store, and how much text these hold.

A caller's account is one small object that changes by compare-and-swap, so that all processes of a
store agree. Whoever runs the store has none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from docstow.core.errors import QuotaExceeded
from docstow.core.records import dataclass
from docstow.store.objects import ObjectStore
from docstow.store.update import Codec, update

PREFIX = "quotas/"
SCHEMA = 1
_MIB = 1024 * 1024
#: A source that was added so long ago and is not registered never was, or is no more.
_ADDING = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class _Share:
    """What one source takes of an account: bytes of text, and when it was added."""

    size: int
    at: datetime


_Account = Mapping[str, _Share]


class Quotas:
    """The accounts of a store. Safe to share between threads.

    Args:
        store: where they are.
        most_sources: that a caller may add; 0 for any number.
        most_bytes: of text that these may hold; 0 for any number.
        clock: the time, with its zone.
    """

    def __init__(
        self,
        store: ObjectStore,
        most_sources: int = 0,
        most_bytes: int = 0,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._most_sources = most_sources
        self._most_bytes = most_bytes
        self._clock = clock

    def add_source(self, account: str, identity: str, stands: Callable[[str], bool]) -> None:
        """Count a source that is about to be registered.

        Args:
            account: whose; nothing for one without quotas.
            identity: its id.
            stands: whether a source of an id is registered and this account's. It is asked where
                the account is full, so that what a process that died has counted is forgotten.

        Raises:
            QuotaExceeded: the account has as many as it may.
        """
        if not account or not self._most_sources:
            return

        def add(current: _Account | None) -> _Account:
            shares = dict(current or {})
            if identity in shares:
                return current or {}
            if len(shares) >= self._most_sources:
                since = self._clock() - _ADDING
                shares = {k: v for k, v in shares.items() if v.at > since or stands(k)}
            if len(shares) >= self._most_sources:
                raise QuotaExceeded(
                    f"The {account} has added {len(shares)} sources, and may add"
                    f" {self._most_sources}. Delete what is not needed any more (delete_source), or"
                    " ask whoever runs this server for more (quota_sources).",
                    limit=self._most_sources,
                )
            return {**shares, identity: _Share(0, self._clock())}

        update(self._store, _key(account), _CODEC, add)

    def remove_source(self, account: str, identity: str) -> None:
        """Count a source no more, nor its text."""
        if not account or not (self._most_sources or self._most_bytes):
            return

        def remove(current: _Account | None) -> _Account | None:
            if current is None or identity not in current:
                return current
            return {k: v for k, v in current.items() if k != identity}

        update(self._store, _key(account), _CODEC, remove)

    def set_bytes(self, account: str, identity: str, size: int) -> None:
        """Count so many bytes as the text of a source, in place of what was counted.

        Raises:
            QuotaExceeded: with them the account has more than it may.
        """
        self._change_bytes(account, identity, lambda _: size)

    def add_bytes(self, account: str, identity: str, size: int) -> None:
        """Count so many bytes more, or less, as the text of a source.

        Raises:
            QuotaExceeded: with them the account has more than it may.
        """
        self._change_bytes(account, identity, lambda before: max(before + size, 0))

    def require_room(self, account: str, identity: str) -> None:
        """Refuse to fetch what could not be stowed: the account's other sources fill it.

        Raises:
            QuotaExceeded: they do.
        """
        if not account or not self._most_bytes:
            return
        stored = self._store.get(_key(account))
        shares = _decode(stored.body, _key(account)) if stored is not None else None
        others = sum(each.size for k, each in (shares or {}).items() if k != identity)
        if others >= self._most_bytes:
            raise self._too_much(account, others)

    def _change_bytes(self, account: str, identity: str, change: Callable[[int], int]) -> None:
        if not account or not self._most_bytes:
            return

        def count(current: _Account | None) -> _Account:
            shares = dict(current or {})
            before = shares.get(identity) or _Share(0, self._clock())
            after = change(before.size)
            if after == before.size and identity in shares:
                return current or {}
            shares[identity] = replace(before, size=after)
            total = sum(each.size for each in shares.values())
            if after > before.size and total > self._most_bytes:
                raise self._too_much(account, total)
            return shares

        update(self._store, _key(account), _CODEC, count)

    def _too_much(self, account: str, total: int) -> QuotaExceeded:
        return QuotaExceeded(
            f"With this the sources of the {account} hold {total / _MIB:.1f} MiB of text, and"
            f" {self._most_bytes / _MIB:.1f} MiB are allowed. Delete what is not needed any more"
            " (delete_source, delete_document), lower max_pages, or ask whoever runs this server"
            " for more (quota_bytes).",
            limit=self._most_bytes,
        )


def _key(account: str) -> str:
    return f"{PREFIX}{hashlib.sha256(account.encode()).hexdigest()[:32]}.json"


def _encode(account: _Account) -> bytes:
    shares = {k: {"bytes": v.size, "at": v.at.isoformat()} for k, v in sorted(account.items())}
    return json.dumps({"schema": SCHEMA, "sources": shares}).encode()


def _decode(body: bytes, _: str) -> _Account | None:
    """Return an account; None where it is damaged, so that it begins anew."""
    try:
        fields = json.loads(body)
        if fields["schema"] != SCHEMA:
            return None
        return {
            str(k): _Share(int(v["bytes"]), datetime.fromisoformat(v["at"]))
            for k, v in fields["sources"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


_CODEC: Codec[_Account] = Codec(_decode, _encode)
