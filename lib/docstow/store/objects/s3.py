"""The S3 store: conditional PutObject requests, with a write id for when an answer gets lost.

botocore is imported by the first request that obstore does not answer: the first write, or a read
where more than the environment says how the bucket is reached.
"""

from __future__ import annotations

import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from docstow.core.errors import StoreError
from docstow.core.records import dataclass
from docstow.core.threads import lazy
from docstow.store.objects.probe import probe
from docstow.store.objects.protocol import (
    AlreadyThere,
    Conflict,
    Entry,
    ReadOnlyStore,
    Stored,
    Unchanged,
    check_key,
)
from docstow.store.objects.quick_s3 import QuickS3, Unsure

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError
    from types_boto3_s3 import S3Client

log = logging.getLogger(__name__)

READ_ATTEMPTS = 3
_BUSY_PAUSES_S = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
_WRITE_ID = "write-id"


def connect(*, endpoint: str = "", region: str = "us-east-1") -> S3Client:
    """Return a client for AWS or, with ``endpoint``, for another S3 server (path-style)."""
    # 0.2 s of imports; botocore alone makes the same client as boto3 in four fifths of it.
    import botocore.session
    from botocore.config import Config

    own_server: dict[str, Any] = {
        "s3": {"addressing_style": "path"},
        # Servers other than AWS may refuse the newer checksum headers; digests are checked anyway.
        "request_checksum_calculation": "when_required",
        "response_checksum_validation": "when_required",
    }
    config = Config(
        retries={"mode": "standard", "total_max_attempts": 4},
        connect_timeout=5,
        read_timeout=30,
        max_pool_connections=32,
        **(own_server if endpoint else {}),
    )
    session = botocore.session.Session()
    client = session.create_client(
        "s3", region_name=region or None, endpoint_url=endpoint or None, config=config
    )
    return cast("S3Client", client)


@dataclass(frozen=True, slots=True)
class _Refused:
    """A write whose condition did not hold: the answer's status and what is there instead."""

    status: int
    found: str | None


class S3Store:
    """Objects in a bucket, below a prefix.

    Args:
        client: a botocore or boto3 S3 client, or what opens one when it is first needed; it is
            used from many threads.
        bucket: the bucket's name; it must exist.
        prefix: put before every key, with slashes or without.
        page_size: keys per listing request.
        quick: what is asked for objects and folders before the client is.
        doubted: its server may ignore the conditions of writes: it is probed before the first one.
    """

    def __init__(
        self,
        client: S3Client | Callable[[], S3Client],
        bucket: str,
        prefix: str = "",
        *,
        page_size: int = 1000,
        quick: QuickS3 | None = None,
        doubted: bool = False,
    ) -> None:
        self.bucket = bucket
        self.prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._given = client
        self._page_size = page_size
        self._quoted = True
        self._quick = quick
        self._doubted = doubted

    @lazy
    def _client(self) -> S3Client:
        return self._given() if callable(self._given) else self._given

    def get(self, key: str) -> Stored | None:
        """Return an object; None when it is absent."""
        stored = self._get(key, "")
        return None if isinstance(stored, Unchanged) else stored

    def get_changed(self, key: str, etag: str) -> Stored | Unchanged | None:
        """Return an object unless its state is still the one named ``etag``."""
        stored = self._get(key, etag)
        # A server that knows the tag only in its other spelling sends the body again.
        return Unchanged() if isinstance(stored, Stored) and stored.etag == etag else stored

    def get_range(self, key: str, start: int, size: int) -> bytes | None:
        """Return ``size`` bytes of an object from ``start`` on; None when it is absent."""
        if size <= 0:
            return b""
        stored = self._get(key, "", start, size)
        if not isinstance(stored, Stored):
            return None
        # A server that knows no ranges sends everything.
        return stored.body if len(stored.body) <= size else stored.body[start : start + size]

    def check(self) -> None:
        """Refuse a server that ignores the conditions of writes, if it may; it is probed once.

        Raises:
            ReadOnlyStore: the bucket cannot be written.
            StoreError: a condition was ignored, or the bucket cannot be used at all.
        """
        _ = self._probed

    @lazy
    def _probed(self) -> bool:
        if self._doubted:
            probe(S3Store(self._client, self.bucket, self.prefix))
        return self._doubted

    def create(self, key: str, body: bytes) -> str:
        """Write an object that is not there yet; return its tag. Raises AlreadyThere."""
        if not body and (quick := self._quick) is not None:
            # Whoever wrote it, it is the same: no lost answer needs to be looked into.
            with contextlib.suppress(Unsure):
                return quick.create_empty(self._full(key))
        self.check()
        write_id = uuid.uuid4().hex
        for pause in _BUSY_PAUSES_S:
            time.sleep(pause)
            outcome = self._put(key, body, write_id, {"IfNoneMatch": "*"})
            if isinstance(outcome, str):
                return outcome
            if outcome.found is not None:
                raise AlreadyThere(key)
            # 409: another write of this key, or its deletion, was under way. Nothing is there yet.
        raise self._busy(key)

    def swap(self, key: str, body: bytes, etag: str) -> str:
        """Replace exactly the state named ``etag``; return the new tag.

        Raises Conflict, also if it is absent.
        """
        self.check()
        write_id = uuid.uuid4().hex
        for pause in _BUSY_PAUSES_S:
            time.sleep(pause)
            quoted = self._quoted
            outcome = self._put(key, body, write_id, {"IfMatch": _format_etag(etag, quoted)})
            if isinstance(outcome, str):
                return outcome
            if outcome.found != etag:
                raise Conflict(key)
            if outcome.status == 412:
                # Refused although nothing changed: Ceph knows tags only without their quotes.
                # The other spelling than this one's: many threads may find that out at once.
                self._quoted = not quoted
        raise self._busy(key)

    def list(self, prefix: str) -> Iterator[Entry]:
        """Yield all objects whose key starts with ``prefix``, in the order of their keys' bytes."""
        found = self._list_folder(self.prefix + prefix)
        if found is None:
            found = self._list_pages(self.prefix + prefix)
        # SeaweedFS lists by folder: `a/1` comes before `a-b`.
        yield from sorted(found, key=lambda entry: entry.key.encode())

    def _list_folder(self, prefix: str) -> Sequence[Entry] | None:
        """Return a folder's objects in any order; None where the client has to be asked."""
        if (quick := self._quick) is not None and prefix.endswith("/"):
            with self._asked_first():
                listed = quick.folder(prefix)
                return [replace(each, key=each.key.removeprefix(self.prefix)) for each in listed]
        return None

    def _list_pages(self, prefix: str) -> Sequence[Entry]:
        with self._explained("list", prefix.removeprefix(self.prefix)):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self.bucket,
                Prefix=prefix,
                PaginationConfig={"PageSize": self._page_size},
            )
            return [
                Entry(
                    each["Key"].removeprefix(self.prefix),
                    each["Size"],
                    each["LastModified"],
                    _parse_etag(each.get("ETag", "")),
                )
                for page in pages
                for each in page.get("Contents", ())
            ]

    def delete(self, key: str) -> None:
        """Remove an object; one that is absent is fine."""
        with self._explained("delete", key):
            self._client.delete_object(Bucket=self.bucket, Key=self._full(key))

    def _full(self, key: str) -> str:
        return self.prefix + check_key(key)

    @contextlib.contextmanager
    def _asked_first(self) -> Iterator[None]:
        """Go on with the client, now and from then on, if the block ends without a plain answer."""
        try:
            yield
        except Unsure as fault:
            log.info("botocore reads the store from here on: %s", fault.__cause__)
            self._quick = None

    def _get(self, key: str, etag: str, start: int = 0, size: int = 0) -> Stored | Unchanged | None:
        """Read an object, or a span of it, again if the connection breaks within the body."""
        if (quick := self._quick) is not None:
            full = self._full(key)
            with self._asked_first():
                return quick.get(full, etag, start, size)
        from botocore.exceptions import BotoCoreError, ClientError

        request: dict[str, Any] = {"Bucket": self.bucket, "Key": self._full(key)}
        if etag:
            request["IfNoneMatch"] = _format_etag(etag, self._quoted)
        if size:
            request["Range"] = f"bytes={start}-{start + size - 1}"
        with self._explained("read", key):
            for attempt in range(1, READ_ATTEMPTS + 1):
                try:
                    answer = self._client.get_object(**request)
                except ClientError as fault:
                    if _status(fault) == 304:
                        return Unchanged()
                    if _code(fault) == "NoSuchKey":
                        return None
                    raise
                try:
                    return Stored(answer["Body"].read(), _parse_etag(answer["ETag"]))
                except BotoCoreError:
                    # botocore repeats requests, but not the reading of a body.
                    if attempt == READ_ATTEMPTS:
                        raise
        raise AssertionError("the last attempt returns or raises")

    def _put(
        self, key: str, body: bytes, write_id: str, condition: dict[str, Any]
    ) -> str | _Refused:
        """Write under a condition; return the new tag, or what stood in the way.

        The write may have landed though its answer was lost, and then a repetition (botocore's own
        too) is refused. So what is there is read back: our write id on it means success.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        with self._explained("write", key):
            try:
                answer = self._client.put_object(
                    Bucket=self.bucket,
                    Key=self._full(key),
                    Body=body,
                    Metadata={_WRITE_ID: write_id},
                    **condition,
                )
                return _parse_etag(answer["ETag"])
            except ClientError as fault:
                status = _status(fault)
                if status not in (404, 409, 412) or _code(fault) == "NoSuchBucket":
                    raise
                found, found_id = self._look(key)
            except BotoCoreError:
                # No answer in any attempt; the store may be back for this one question.
                found, found_id = self._look(key)
                if found_id != write_id:
                    raise
                status = 0
        return found if found is not None and found_id == write_id else _Refused(status, found)

    def _look(self, key: str) -> tuple[str | None, str]:
        """Return tag and write id of what is there; (None, "") when nothing is."""
        from botocore.exceptions import ClientError

        try:
            answer = self._client.head_object(Bucket=self.bucket, Key=self._full(key))
        except ClientError as fault:
            if _status(fault) == 404:
                return None, ""
            raise
        return _parse_etag(answer["ETag"]), answer["Metadata"].get(_WRITE_ID, "")

    def _busy(self, key: str) -> StoreError:
        return StoreError(
            f"The store keeps refusing to write {key} though nothing stands in the way; try again."
        )

    @contextlib.contextmanager
    def _explained(self, action: str, key: str) -> Iterator[None]:
        """Turn botocore's errors into StoreError, with advice."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except (BotoCoreError, ClientError) as fault:
            address = f"s3://{self.bucket}/{self.prefix}{key}"
            reason = str(fault).rstrip(".")
            refused = isinstance(fault, ClientError) and _status(fault) in (403, 405)
            refused = refused and not _is_skewed(fault)
            read_only = refused and action in ("write", "delete")
            raise (ReadOnlyStore if read_only else StoreError)(
                f"Cannot {action} {address}: {reason}. {_advice(fault)}"
            ) from fault


def _advice(fault: BotoCoreError | ClientError) -> str:
    from botocore.exceptions import (
        ClientError,
        ConnectionError,  # noqa: A004 - botocore's name
        HTTPClientError,
        NoCredentialsError,
        SSLError,
    )

    if isinstance(fault, SSLError):
        return "Name a file with the authority of its certificate in AWS_CA_BUNDLE."
    if isinstance(fault, NoCredentialsError):
        return "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role."
    if isinstance(fault, (ConnectionError, HTTPClientError)):
        return "Check the network and the S3 endpoint; the store did not answer."
    if not isinstance(fault, ClientError):
        return "Check the AWS configuration and credentials."
    status = _status(fault)
    if _is_skewed(fault):
        return "Set this machine's clock: stores refuse requests that are 15 minutes off."
    if _code(fault) == "NoSuchBucket":
        return "Create the bucket, or correct its name in the store setting."
    if status in (401, 403):
        return (
            "Check the credentials; they need s3:GetObject, s3:PutObject, s3:DeleteObject and"
            " s3:ListBucket on this bucket."
        )
    if status in (429, 503):
        return "The store is asking for fewer requests; try again in a minute."
    if status == 501:
        return "This server does not know conditional writes; use one that does, or a directory."
    return "Try again; if it stays, see the S3 server's log."


def _is_skewed(fault: Exception) -> bool:
    """Return whether a request was refused because of this machine's clock."""
    response = getattr(fault, "response", {})
    return response.get("Error", {}).get("Code") in ("RequestTimeTooSkewed", "RequestExpired")


def _format_etag(etag: str, quoted: bool) -> str:  # noqa: FBT001
    return f'"{etag}"' if quoted else etag


def _status(fault: ClientError) -> int:
    return fault.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)


def _code(fault: ClientError) -> str:
    return fault.response.get("Error", {}).get("Code", "")


def _parse_etag(etag: str) -> str:
    """Return an ETag without quotes and weakness mark: servers differ in both."""
    return etag.removeprefix("W/").strip('"')
