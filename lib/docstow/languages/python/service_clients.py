"""Classes that boto3 and its like make of data: clients and resources of AWS services.

botocore describes each service in ``botocore/data/SERVICE/DATE/service-2.json``, boto3 the
resources in ``boto3/data/SERVICE/DATE/resources-1.json``. A description is read as the module of
its folder, with the source of the classes that are made of it; in its name hyphens are underscores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from keyword import iskeyword
from typing import Any

from docstow.core.errors import UnreadableInput

#: Files that describe a service, by the packages whose folders hold them.
DESCRIPTIONS: Mapping[str, tuple[str, ...]] = {
    "botocore.data": ("service-2.json.gz", "service-2.json"),
    "boto3.data": ("resources-1.json", "resources-1.json.gz"),
}
#: Functions that make a client or a resource of the service that their first argument names.
MAKERS: Mapping[str, str] = {
    "boto3.client": "botocore.data.{}.Client",
    "boto3.session.Session.client": "botocore.data.{}.Client",
    "botocore.session.Session.create_client": "botocore.data.{}.Client",
    "aiobotocore.session.AioSession.create_client": "botocore.data.{}.AioClient",
    "aioboto3.session.Session.client": "botocore.data.{}.AioClient",
    "boto3.resource": "boto3.data.{}.ServiceResource",
    "boto3.session.Session.resource": "boto3.data.{}.ServiceResource",
}
_LARGEST = 64 * 1024 * 1024
#: What each client has beside the operations of its service.
_CLIENT = """\
from botocore.paginate import Paginator
from botocore.waiter import Waiter
class Client:
    meta: object
    exceptions: object
    waiter_names: list
    def can_paginate(self, operation_name: str) -> bool: ...
    def get_paginator(self, operation_name: str) -> Paginator: ...
    def get_waiter(self, waiter_name: str) -> Waiter: ...
    def close(self) -> None: ...
    def generate_presigned_url(
        self, ClientMethod, Params=None, ExpiresIn=3600, HttpMethod=None
    ) -> str: ...
"""
#: What aiobotocore makes of a client, whose operations are awaited.
_AIO_CLIENT = """\
class AioClient(Client):
    async def __aenter__(self) -> "AioClient": ...
    def get_paginator(self, operation_name: str) -> object: ...
    def get_waiter(self, waiter_name: str) -> object: ...
"""
_TRANSFER = "ExtraArgs=None, Callback=None, Config=None"
#: What boto3 and botocore add to the clients of some services.
_ADDED: Mapping[str, str] = {
    "s3": f"""\
    def generate_presigned_post(
        self, Bucket, Key, Fields=None, Conditions=None, ExpiresIn=3600
    ) -> dict: ...
    def upload_file(self, Filename, Bucket, Key, {_TRANSFER}) -> None: ...
    def download_file(self, Bucket, Key, Filename, {_TRANSFER}) -> None: ...
    def upload_fileobj(self, Fileobj, Bucket, Key, {_TRANSFER}) -> None: ...
    def download_fileobj(self, Bucket, Key, Fileobj, {_TRANSFER}) -> None: ...
    def copy(
        self, CopySource, Bucket, Key, ExtraArgs=None, Callback=None, SourceClient=None, Config=None
    ) -> None: ...
""",
    "rds": """\
    def generate_db_auth_token(self, DBHostname, Port, DBUsername, Region=None) -> str: ...
""",
    "dsql": """\
    def generate_db_connect_auth_token(self, Hostname, Region=None, ExpiresIn=900) -> str: ...
    def generate_db_connect_admin_auth_token(self, Hostname, Region=None, ExpiresIn=900) -> str: ...
""",
}
#: What each resource has, whose data is read by name.
_RESOURCE = """\
    meta: object
    def __getattr__(self, name):
        return self._data[name]
"""
#: What boto3 adds to resources.
_ADDED_TO_RESOURCES: Mapping[tuple[str, str], str] = {
    **{
        ("s3", name): f"""\
    def upload_file(self, Filename, *args, {_TRANSFER}) -> None: ...
    def download_file(self, *args, {_TRANSFER}, **options) -> None: ...
    def upload_fileobj(self, Fileobj, *args, {_TRANSFER}) -> None: ...
    def download_fileobj(self, *args, {_TRANSFER}, **options) -> None: ...
    def copy(self, CopySource, *args, ExtraArgs=None, SourceClient=None, **options) -> None: ...
"""
        for name in ("Bucket", "Object", "ObjectSummary")
    },
    ("dynamodb", "Table"): """\
    def batch_writer(self, overwrite_by_pkeys=None) -> BatchWriter: ...
""",
    ("ec2", "ServiceResource"): "    def create_tags(self, **options) -> list: ...\n",
    ("ec2", "Instance"): "    def delete_tags(self, **options) -> None: ...\n",
}
#: What a collection of resources has.
_COLLECTION = """\
class {name}Collection:
    def all(self) -> "{name}Collection": ...
    def filter(self, **options) -> "{name}Collection": ...
    def limit(self, count: int) -> "{name}Collection": ...
    def page_size(self, count: int) -> "{name}Collection": ...
    def pages(self) -> list: ...
    def __iter__(self) -> Iterator["{name}"]: ...
"""
_PLURAL = re.compile(r"[A-Z]{2,}s$")
_WORD = re.compile(r"(.)([A-Z][a-z]+)")
_END = re.compile(r"([a-z0-9])([A-Z])")
#: Words whose capitals begin no other word.
_WORDS = ("iSCSI", "HITs", "PartiQL", "OAuth2", "OTel", "WhatsApp")
_TYPES: Mapping[str, str] = {
    "string": "str",
    "boolean": "bool",
    "integer": "int",
    "long": "int",
    "float": "float",
    "double": "float",
    "list": "list",
    "map": "dict",
    "structure": "dict",
}


def service_source(body: bytes, service: str) -> bytes:
    """Return the source of the classes that are made of a description.

    Args:
        body: of the file, compressed or not.
        service: the name of its folder.

    Raises:
        UnreadableInput: it is no description.
        TooLarge: it is larger than any description.
    """
    from docstow.net.decompress import Limits, decompress

    text = decompress([body], Limits(_LARGEST, _LARGEST), name=f"the description of {service}")
    try:
        described = json.loads(text)
        is_client = "resources" not in described
        lines = _client(described, service) if is_client else _resources(described, service)
        return "".join(lines).encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableInput(f"No description of a service: {error}") from error


def _client(described: Mapping[str, Any], service: str) -> Iterator[str]:
    yield _CLIENT
    shapes = described["shapes"]
    for name, operation in described["operations"].items():
        taken = shapes[operation["input"]["shape"]] if "input" in operation else {}
        parameters = _parameters(taken, shapes)
        yield f"    def {method_name(name)}(self{parameters}) -> dict: ...\n"
    yield _ADDED.get(service, "")
    yield _AIO_CLIENT


def _parameters(taken: Mapping[str, Any], shapes: Mapping[str, Any]) -> str:
    """Return the parameters of an operation, which are passed by name."""
    required = taken.get("required", ())
    found = [
        f"{name}: {_TYPES.get(shapes[each['shape']]['type'], 'object')}"
        + ("" if name in required else " = ...")
        for name, each in taken.get("members", {}).items()
        if name.isidentifier() and not iskeyword(name)
    ]
    if len(found) < len(taken.get("members", {})):
        return ", **parameters"
    return "".join(f", {each}" for each in ["*", *found]) if found else ""


def _resources(described: Mapping[str, Any], service: str) -> Iterator[str]:
    yield "from collections.abc import Iterator\n"
    yield "from boto3.dynamodb.table import BatchWriter\n" if service == "dynamodb" else ""
    every = {"ServiceResource": described["service"], **described["resources"]}
    listed: set[str] = set()
    for name, each in every.items():
        yield f"class {name}:\n{_RESOURCE}"
        for one in each.get("identifiers", ()):
            yield f"    {method_name(one['name'])}: str\n"
        for action, made in each.get("actions", {}).items():
            kind = made.get("resource", {}).get("type", "")
            is_one = kind in every and "[]" not in made["resource"].get("path", "")
            returned = f' -> "{kind}"' if is_one and kind else ""
            yield f"    def {method_name(action)}(self, **options){returned}: ...\n"
        if "load" in each or "shape" in each:
            yield "    def load(self) -> None: ...\n    def reload(self) -> None: ...\n"
        for waiter in each.get("waiters", {}):
            yield f"    def wait_until_{method_name(waiter)}(self, **options) -> None: ...\n"
        has = {one: made["resource"]["type"] for one, made in each.get("has", {}).items()}
        if name == "ServiceResource":
            # It has all resources, those with several identifiers without being told.
            has = {**{one: one for one in described["resources"]}, **has}
        for one, kind in has.items():
            yield f'    def {one}(self, *names: str) -> "{kind}": ...\n'
        if name != "ServiceResource":
            yield "    def get_available_subresources(self) -> list: ...\n"
        for many, made in each.get("hasMany", {}).items():
            kind = made["resource"]["type"]
            listed.add(kind)
            yield f'    {method_name(many)}: "{kind}Collection"\n'
        yield _ADDED_TO_RESOURCES.get((service, name), "")
    for kind in sorted(listed):
        yield _COLLECTION.format(name=kind)
        for action in every[kind].get("batchActions", ()):
            yield f"    def {method_name(action)}(self, **options) -> list: ...\n"


def method_name(operation: str) -> str:
    """Return the name that botocore gives to the method of an operation: ``ListObjectsV2``.

    The rules are those of ``botocore.xform_name``.
    """
    if "_" in operation:
        return operation
    for word in _WORDS:
        operation = operation.replace(word, word.capitalize())
    if found := _PLURAL.search(operation):
        operation = f"{operation[: found.start()]}_{found[0].lower()}"
    return _END.sub(r"\1_\2", _WORD.sub(r"\1_\2", operation)).lower()
