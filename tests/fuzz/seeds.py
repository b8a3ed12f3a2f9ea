"""Inputs that fuzzing begins with: the data of the tests, and the texts that stand in them."""

from __future__ import annotations

import ast
import io
import json
import tarfile
import zipfile
from collections.abc import Iterable, Iterator

import zstandard

from paths import FIXTURES, SUPPORT, TESTS

#: Further from its seed no input gets; what a reader may take is for this length.
LONGEST = 100_000
#: Texts in tests that are shorter are names and words.
_SHORTEST = 30


def files(*patterns: str) -> list[bytes]:
    """Return the fixtures that a pattern matches, cut to the longest input."""
    found = [path for each in patterns for path in sorted(FIXTURES.glob(each))]
    return _cut(path.read_bytes() for path in found)


def support(*patterns: str) -> list[bytes]:
    """Return the files beside the tests' servers that a pattern matches."""
    return _cut(path.read_bytes() for each in patterns for path in sorted(SUPPORT.glob(each)))


def literals(*patterns: str) -> list[bytes]:
    """Return the texts that tests have as literals: what each of them is about, and its corners."""
    found: dict[bytes, None] = {}
    for path in sorted(path for each in patterns for path in TESTS.glob(each)):
        for node in ast.walk(ast.parse(path.read_bytes())):
            value = node.value if isinstance(node, ast.Constant) else None
            body = value.encode("utf-8", "replace") if isinstance(value, str) else value
            if isinstance(body, bytes) and len(body) >= _SHORTEST:
                found[body] = None
    return _cut(found)


def rustdoc() -> list[bytes]:
    """Return files of rustdoc; the large ones as their outermost items."""
    found = []
    for path in sorted((FIXTURES / "crates").glob("*/*.zst")):
        crate = json.loads(zstandard.ZstdDecompressor().decompress(path.read_bytes()))
        kept, size = {}, 2000
        for number in _from_root(crate):
            item = crate["index"].get(number)
            if item is not None and (size := size + len(json.dumps(item))) < LONGEST // 2:
                kept[number] = item
        crate["index"] = kept
        crate["paths"] = {n: each for n, each in crate["paths"].items() if n in kept}
        body = json.dumps(crate, separators=(",", ":")).encode()
        found.append(body if len(body) <= LONGEST else json.dumps(crate | {"paths": {}}).encode())
    return _cut(found)


def _from_root(crate: dict[str, object]) -> Iterator[str]:
    """Yield the ids of items, those near the root first."""
    index = crate["index"]
    assert isinstance(index, dict)
    waiting, seen = [str(crate["root"])], {str(crate["root"])}
    for number in waiting:
        yield number
        for word in _numbers(index.get(number, {}).get("inner")):
            if word in index and word not in seen:
                seen.add(word)
                waiting.append(word)


def _numbers(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _numbers(each)
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(each)
    elif isinstance(value, (int, str)):
        yield str(value)


def notebooks() -> list[bytes]:
    """Return notebooks of both layouts."""
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "\n", "Some *words*."]},
        {
            "cell_type": "code",
            "source": "print(1)\n",
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "execute_result", "data": {"text/html": "<b>x</b>"}},
            ],
        },
        {"cell_type": "raw", "source": "raw"},
    ]
    new = {"nbformat": 4, "metadata": {"language_info": {"name": "python"}}, "cells": cells}
    old = {"nbformat": 3, "metadata": {"name": "x"}, "worksheets": [{"cells": cells}]}
    return [json.dumps(each).encode() for each in (new, old)]


def pdf() -> list[bytes]:
    """Return a document of one page with a form, an outline and a text."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Resources 8 0 R/Contents 4 0 R>>",
        b"<</Length 44>>stream\nBT /F 12 Tf 9 9 Td (Some words of it) Tj ET q Q\nendstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Type/Outlines/First 7 0 R/Last 7 0 R/Count 1>>",
        b"<</Title(One)/Parent 6 0 R/Dest[3 0 R/Fit]>>",
        b"<</Font<</F 5 0 R>>>>",
    ]
    body, places = b"%PDF-1.4\n", b""
    for number, each in enumerate(objects, 1):
        places += b"%010d 00000 n \n" % len(body)
        body += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, places)
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(body))
    return [body + table + end]


def archives() -> list[bytes]:
    """Return a wheel, a source distribution and a package of npm."""
    wheel = {
        "alpha/__init__.py": b"def one(a: int) -> int:\n    ...\n",
        "alpha-1.0.dist-info/METADATA": b"Name: alpha\nVersion: 1.0\nRequires-Dist: beta\n",
        "alpha-1.0.dist-info/RECORD": b"alpha/__init__.py,,\n",
    }
    source = {f"alpha-1.0/{name}": body for name, body in wheel.items()}
    module = {
        "package/package.json": b'{"name": "alpha", "version": "1.0.0", "types": "index.d.ts"}',
        "package/index.d.ts": b"export declare function one(a: number): number;\n",
    }
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as plain:
        plain.writestr("alpha.py", b"one = 1\n")
    return [_zipped(wheel), stored.getvalue(), _tarred(source), _tarred(module)]


def _zipped(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(zipfile.ZipInfo(name), body, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _tarred(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name, body in members.items():
            member = tarfile.TarInfo(name)
            member.size, member.pax_headers = len(body), {"comment": "x" * 40}
            archive.addfile(member, io.BytesIO(body))
    return made.getvalue()


def tar_members() -> list[bytes]:
    """Return an archive before it is packed, so that what is changed is what it says."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in ("top/README.md", f"top/{'long/' * 30}file.md"):
            member = tarfile.TarInfo(name)
            member.size = 5
            archive.addfile(member, io.BytesIO(b"words"))
    return [made.getvalue()]


def registries() -> list[bytes]:
    """Return what registries say of a package: two of Python, one of Node, one of crates."""
    name = "alpha-1.0-py3-none-any.whl"
    file: dict[str, object] = {
        "filename": name,
        "url": name,
        "hashes": {"sha256": "0" * 64},
        "yanked": "old",
    }
    file |= {"requires-python": ">=3.9", "upload-time": "2026-01-01T00:00:00Z", "size": 9}
    simple = {"meta": {"api-version": "1.1"}, "name": "alpha", "files": [file]}
    page = f'<!DOCTYPE html><meta name="pypi:repository-version" content="1.0"><a href="{name}'
    page += f'#sha256={"0" * 64}" data-requires-python="&gt;=3.9" data-yanked="">{name}</a>'
    version: dict[str, object] = {
        "version": "1.0.0",
        "dist": {"tarball": "https://r.example/alpha.tgz"},
    }
    version |= {"dependencies": {"beta": "^1"}, "peerDependenciesMeta": {"beta": {"optional": 1}}}
    package: dict[str, object] = {"name": "alpha"}
    package |= {"dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    crate: dict[str, object] = {
        "name": "alpha",
        "vers": "1.0.0",
        "cksum": "0" * 64,
        "yanked": False,
        "v": 2,
    }
    crate |= {"deps": [{"name": "beta", "req": "^1", "optional": True, "default_features": True}]}
    crate |= {"features": {"default": ["std"], "std": []}, "features2": {"x": ["dep:beta"]}}
    documents = [json.dumps(each) for each in (simple, package, crate)]
    return [each.encode() for each in (*documents, page, "\n".join([documents[2]] * 2))]


def refs() -> list[bytes]:
    """Return a server's list of the branches and tags of a repository of Git."""
    lines = [f"{'0' * 40} HEAD\0symref=HEAD:refs/heads/main\n"]
    lines += [f"{n * 40} refs/{ref}\n" for n, ref in (("1", "heads/main"), ("2", "tags/v1^{}"))]
    body = "".join(f"{len(each) + 4:04x}{each}" for each in lines)
    return [f"001e# service=git-upload-pack\n0000{body}0000".encode()]


def compressed() -> list[bytes]:
    """Return what comes packed: zstd and gzip, of which the second is what an archive is in."""
    return [zstandard.compress(b"some words " * 50), *archives()[2:]]


def _cut(bodies: Iterable[bytes]) -> list[bytes]:
    return [each[:LONGEST] for each in bodies]
