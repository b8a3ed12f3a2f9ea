"""A bucket by obstore, which is imported in a thirtieth of the time that botocore takes.

What is not plainly an answer (a refusal, a missing bucket, a broken connection) is no error here:
botocore is asked then, which repeats, follows redirects and says what is wrong.
"""

from __future__ import annotations

import importlib.util
import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docstow.store.objects.protocol import AlreadyThere, Entry, Stored, Unchanged

if TYPE_CHECKING:
    from obstore.store import S3Store as Bucket

_CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
#: What botocore would also follow, and obstore does not.
_ELSEWHERE = (
    "AWS_CONFIG_FILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    "AWS_PROFILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_USE_DUALSTACK_ENDPOINT",
    "AWS_USE_FIPS_ENDPOINT",
)
#: Further authorities of TLS, which matter where that is spoken.
_AUTHORITIES = ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE")


class Unsure(Exception):
    """The answer is none that can be relied on: ask in another way."""


def open_quick(bucket: str, *, endpoint: str, region: str) -> QuickS3 | None:
    """Return what uses a bucket as the environment says; None where more has to be looked at.

    Args:
        bucket: its name.
        endpoint: address of an S3 server other than AWS.
        region: the bucket's; empty leaves it to the environment.
    """
    named = (os.environ.get(name) for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"))
    address = endpoint or next(filter(None, named), "")
    heeded = _ELSEWHERE if address.startswith("http://") else _ELSEWHERE + _AUTHORITIES
    configured = any(map(os.environ.get, heeded)) or Path("~/.aws").expanduser().exists()
    if configured or not all(map(os.environ.get, _CREDENTIALS)):
        return None
    if importlib.util.find_spec("obstore") is None:
        return None
    region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ""
    return QuickS3(bucket, address, region)


class QuickS3:
    """Reads a bucket, and writes empty objects. Safe to share between threads.

    Args:
        bucket: its name.
        endpoint: address of an S3 server other than AWS (path-style); empty for AWS.
        region: the bucket's.
    """

    def __init__(self, bucket: str, endpoint: str, region: str) -> None:
        from obstore.store import S3Store

        # A name with dots is no name that AWS's certificate is for.
        by_host = not endpoint and "." not in bucket
        given: dict[str, Any] = {"endpoint": endpoint} if endpoint else {}
        if region:
            given["region"] = region
        self._bucket: Bucket = S3Store(
            bucket,
            virtual_hosted_style_request=by_host,
            client_options={
                "allow_http": endpoint.startswith("http://"),
                "connect_timeout": timedelta(seconds=5),
                "timeout": timedelta(seconds=30),
            },
            retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=30)},
            **given,
        )

    def get(
        self, key: str, etag: str = "", start: int = 0, size: int = 0
    ) -> Stored | Unchanged | None:
        """Read an object; None when it is absent.

        Args:
            key: of the object, whole.
            etag: of a state that need not be sent again.
            start: the first byte that is wanted.
            size: how many bytes; 0 for all of them.

        Raises:
            Unsure: there is no plain answer.
        """
        import obstore
        from obstore.exceptions import BaseError, NotModifiedError

        options: Any = {"if_none_match": f'"{etag}"'} if etag else {}
        if size:
            options["range"] = (start, start + size)
        try:
            found = obstore.get(self._bucket, key, options=options)
            return Stored(bytes(found.bytes()), (found.meta["e_tag"] or "").strip('"'))
        except NotModifiedError:
            return Unchanged()
        except FileNotFoundError as fault:
            if "NoSuchKey" not in str(fault):
                raise Unsure from fault
            return None
        except (BaseError, OSError, ValueError, RuntimeError) as fault:
            raise Unsure from fault

    def folder(self, prefix: str) -> list[Entry]:
        """Return the objects below a prefix that ends in a slash, in any order.

        Raises:
            Unsure: there is no plain answer.
        """
        import obstore
        from obstore.exceptions import BaseError

        try:
            found = obstore.list(self._bucket, prefix).collect()
        except (BaseError, OSError, ValueError, RuntimeError) as fault:
            raise Unsure from fault
        return [
            Entry(
                each["path"], each["size"], each["last_modified"], (each["e_tag"] or "").strip('"')
            )
            for each in found
        ]

    def create_empty(self, key: str) -> str:
        """Write an empty object that is not there yet; return its tag.

        Raises:
            AlreadyThere: it is there; maybe by an earlier try, whose answer was lost.
            Unsure: there is no plain answer.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, BaseError

        try:
            made = obstore.put(self._bucket, key, b"", mode="create", use_multipart=False)
        except AlreadyExistsError:
            raise AlreadyThere(key) from None
        except (BaseError, OSError, ValueError, RuntimeError) as fault:
            raise Unsure from fault
        return (made["e_tag"] or "").strip('"')
