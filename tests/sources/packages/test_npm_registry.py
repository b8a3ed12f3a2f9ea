"""npm's registries: what is chosen, fetched, checked and laid out, against one on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from docstow.core.errors import (
    DocstowError,
    InvalidParameter,
    PackageNotFound,
    TooLarge,
    UnreadableInput,
    UpstreamError,
)
from docstow.core.model import Source
from docstow.net import Answer, Fetcher
from docstow.net.decompress import Limits
from docstow.sources.packages import Registry, packuments
from docstow.sources.packages.configuration import NpmRegistries
from docstow.sources.packages.npm_registry import MOST_BESIDE, NpmRegistry
from servers.loopback import content, redirect, status
from servers.npm import ABBREVIATED, NpmServer, integrity, tarball

LIMITS = Limits(compressed=1 << 20, decompressed=4 << 20)


@pytest.fixture
def npm() -> Iterator[NpmServer]:
    with NpmServer() as server:
        yield server


def open_registry(fetcher: Fetcher, server: NpmServer, node: str = "") -> NpmRegistry:
    return NpmRegistry(fetcher, NpmRegistries(Registry(server.url)), limits=LIMITS, node=node)


@pytest.fixture
def registry(npm: NpmServer, fetcher: Fetcher) -> NpmRegistry:
    return open_registry(fetcher, npm)


def files(folder: Path) -> set[str]:
    return {str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()}


# --- Packuments -----------------------------------------------------------------------------------


def test_a_listing_has_what_npm_says(npm: NpmServer, registry: NpmRegistry) -> None:
    npm.publish("sails", "1.10.0", engines={"node": ">=18"}, dependencies={"ropes": "^1"})
    npm.publish("sails", "1.9.0", tag="old")["deprecated"] = "too small"
    npm.publish(
        "sails",
        "2.0.0-rc.1",
        tag="next",
        peerDependencies={"masts": "1", "flags": "*"},
        peerDependenciesMeta={"flags": {"optional": True}},
        dependencies={"winches": "1"},
        optionalDependencies={"winches": "1"},
    )
    listing = registry.listing("sails")
    assert [each.version for each in listing.releases] == ["1.9.0", "1.10.0", "2.0.0-rc.1"]
    assert listing.tags == {"old": "1.9.0", "latest": "1.10.0", "next": "2.0.0-rc.1"}
    old, new, rc = listing.releases
    assert (old.withdrawn, new.withdrawn) == ("too small", "")
    assert new.requires == ">=18"
    assert [(each.name, each.kind) for each in new.dependencies or ()] == [("ropes", "normal")]
    assert {(each.name, each.kind) for each in rc.dependencies or ()} == {
        ("winches", "optional"),
        ("masts", "peer"),
        ("flags", "optional"),
    }
    body = npm.tarballs["/sails/-/sails-1.10.0.tgz"]
    assert (
        integrity(body)
        == "sha512-"
        + __import__("base64")
        .b64encode(bytes.fromhex(new.distributions[0].hashes["sha512"]))
        .decode()
    )
    assert npm.requests[0].headers["accept"].startswith(ABBREVIATED)


def test_a_listing_is_cached(npm: NpmServer, registry: NpmRegistry) -> None:
    npm.publish("sails", "1.0.0")
    assert registry.listing("sails") is registry.listing("sails")
    assert len(npm.requests) == 1


def test_scopes_are_written_as_npm_writes_them(npm: NpmServer, registry: NpmRegistry) -> None:
    npm.publish("@boats/sails", "1.0.0")
    assert registry.resolve("@boats/sails").source == Source("node", "@boats/sails", "1.0.0")
    assert registry.resolve("sails", "npm:@boats/sails@^1").source.name == "@boats/sails"


def test_each_scope_may_have_its_registry(npm: NpmServer, fetcher: Fetcher) -> None:
    with NpmServer(token="hidden") as private:
        private.publish("@corp/tool", "1.0.0")
        npm.publish("sails", "1.0.0")
        place = f"//{private.url.removeprefix('http://')}/"
        credentials = MappingProxyType({place: {"Authorization": "Bearer hidden"}})
        registries = NpmRegistries(
            Registry(npm.url, credentials=credentials),
            {"@corp": Registry(private.url, credentials=credentials)},
        )
        registry = NpmRegistry(fetcher, registries, limits=LIMITS)
        assert registry.resolve("@corp/tool").version == "1.0.0"
        assert registry.resolve("sails").version == "1.0.0"
        assert all("authorization" not in each.headers for each in npm.requests)
        assert all(each.headers["authorization"] == "Bearer hidden" for each in private.requests)


def test_a_credential_does_not_follow_a_redirect(
    npm: NpmServer, fetcher: Fetcher, tmp_path: Path
) -> None:
    with NpmServer(token="hidden") as private:
        private.publish("sails", "1.0.0")
        path = "/sails/-/sails-1.0.0.tgz"
        npm.tarballs[path] = private.tarballs[path]
        private.always(path, redirect(f"{npm.url}{path}"))
        place = f"//{private.url.removeprefix('http://')}/"
        registry = NpmRegistry(
            fetcher,
            NpmRegistries(
                Registry(private.url, credentials={place: {"Authorization": "Bearer hidden"}})
            ),
            limits=LIMITS,
        )
        registry.unpack(registry.resolve("sails"), tmp_path / "out")
        assert [each.path for each in npm.requests] == [path]
        assert "authorization" not in npm.requests[0].headers


def test_a_missing_credential_is_said_without_one(npm: NpmServer, registry: NpmRegistry) -> None:
    npm.token = "hidden"
    npm.publish("sails", "1.0.0")
    with pytest.raises(UpstreamError, match="401") as caught:
        registry.resolve("sails")
    assert "hidden" not in str(caught.value.body())


def test_what_is_not_there_is_said(npm: NpmServer, registry: NpmRegistry) -> None:
    npm.publish("sails", "1.0.0")
    npm.publish("sails", "1.2.0")
    with pytest.raises(PackageNotFound, match="no npm package named sales"):
        registry.resolve("sales")
    with pytest.raises(PackageNotFound, match=r"matches \^2\. Ask for one of 1\.2\.0") as no:
        registry.resolve("sails", "^2")
    assert no.value.suggestions[0]["version"] == "1.2.0"
    with pytest.raises(PackageNotFound, match="by a tag: latest"):
        registry.resolve("sails", "nightly")
    with pytest.raises(InvalidParameter, match="registry"):
        registry.resolve("sails", "git+ssh://host/sails.git")


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "@a", "@/b", "a b", "a" * 215, "é"])
def test_names_that_cannot_be_are_not_asked_for(
    npm: NpmServer, registry: NpmRegistry, name: str
) -> None:
    with pytest.raises(InvalidParameter, match="npm package"):
        registry.listing(name)
    assert npm.requests == []


def test_the_choice_is_npms(npm: NpmServer, fetcher: Fetcher) -> None:
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        npm.publish("sails", version, engines={"node": ">=22"} if version == "1.2.0" else {})
    npm.packuments["sails"]["versions"]["1.1.0"]["deprecated"] = "leaks"
    assert open_registry(fetcher, npm).resolve("sails", "^1").version == "1.2.0"
    assert open_registry(fetcher, npm, "20.1.0").resolve("sails", "^1").version == "1.0.0"
    assert open_registry(fetcher, npm, "20.1.0").resolve("sails", "~1.1").version == "1.1.0"
    assert open_registry(fetcher, npm, "20.1.0").resolve("sails", ">1.0").version == "1.1.0"


# --- Hostile packuments ---------------------------------------------------------------------------


DEEP = b'{"versions":{"1.0.0":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}}"


@pytest.mark.parametrize(
    "body",
    [
        *(
            b"",
            b"<html>",
            b"[]",
            b"null",
            b'{"versions": []}',
            b'{"versions": {"1.0.0": 1',
            b"\xff",
        ),
        DEEP,
        b"[" * 1_000_000,
    ],
)
def test_what_is_no_packument_is_refused(
    npm: NpmServer, registry: NpmRegistry, body: bytes
) -> None:
    npm.always("sails", content(body))
    with pytest.raises((UpstreamError, PackageNotFound)) as caught:
        registry.listing("sails")
    assert len(str(caught.value)) < 500


def test_a_packument_of_another_package_is_refused(npm: NpmServer, registry: NpmRegistry) -> None:
    npm.publish("anchors", "1.0.0")
    npm.packuments["sails"] = npm.packuments["anchors"]
    with pytest.raises(UpstreamError, match="'anchors' and not sails"):
        registry.listing("sails")


def test_versions_that_are_none_are_left_out(npm: NpmServer, registry: NpmRegistry) -> None:
    npm.publish("sails", "1.0.0")
    good = npm.packuments["sails"]["versions"]["1.0.0"]
    odd: dict[str, Any] = {
        "not a version": good,
        "1.1.0": None,
        "1.2.0": {"dist": []},
        "1.3.0": {"dist": {"tarball": "file:///etc/passwd"}},
        "1.4.0": {**good, "engines": ["node >= 1"], "dependencies": [], "deprecated": False},
        "1.5.0": {**good, "dependencies": {"x": 1}, "deprecated": {"a": 1}},
    }
    npm.packuments["sails"]["versions"] |= odd
    npm.packuments["sails"]["dist-tags"] = {"latest": "9.9.9", "bad": 1}
    listing = registry.listing("sails")
    assert [each.version for each in listing.releases] == ["1.0.0", "1.4.0", "1.5.0"]
    assert [each.withdrawn for each in listing.releases] == ["", "", ""]
    assert registry.resolve("sails").version == "1.5.0"


def test_too_many_versions_are_refused(npm: NpmServer, registry: NpmRegistry) -> None:
    body = json.dumps({"versions": {f"1.0.{each}": {} for each in range(150_000)}}).encode()
    npm.always("sails", content(body))
    with pytest.raises(TooLarge, match="150000 versions"):
        registry.listing("sails")
    npm.always("sails", content(b'{"versions": {' + b" " * (5 << 20) + b"}}"))
    with pytest.raises(TooLarge):
        registry.listing("sails2")


def test_too_many_dependencies_are_refused() -> None:
    needs = {f"a{each}": "1" for each in range(1000)}
    entry = {"dist": {"tarball": "http://host/x.tgz"}, "dependencies": needs}
    body = json.dumps({"versions": {f"1.0.{each}": entry for each in range(1001)}}).encode()
    with pytest.raises(TooLarge, match="1000000 dependencies"):
        packuments.read(Answer(200, "http://host/sails", {}, body), "sails")


@pytest.mark.parametrize(
    ("tarball", "read"),
    [
        ("http://[::1/x.tgz", None),
        ("http://host:99999999/x.tgz", None),
        ("file:///etc/passwd", None),
        ("https:///x.tgz", None),
        ("https://me:hidden@host/x.tgz#y", "https://host/x.tgz"),
    ],
)
def test_addresses_of_tarballs_are_those_of_http_without_password(
    tarball: str, read: str | None
) -> None:
    body = json.dumps({"versions": {"1.0.0": {"dist": {"tarball": tarball}}}}).encode()
    listing = packuments.read(Answer(200, "http://host/sails", {}, body), "sails")
    assert (listing.releases[0].distributions[0].url if listing else None) == read


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("integrity", integrity(b"something else")),
        ("shasum", "0" * 40),
        ("integrity", ""),
    ],
)
def test_a_tarball_that_is_not_the_one_that_is_stated_is_refused(
    npm: NpmServer, registry: NpmRegistry, tmp_path: Path, field: str, value: str
) -> None:
    dist = npm.publish("sails", "1.0.0")["dist"]
    dist[field] = value
    if not value:
        dist["shasum"] = "0" * 40
    with pytest.raises(UnreadableInput, match="not the file that the registry lists"):
        registry.unpack(registry.resolve("sails"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_old_package_is_checked_by_its_shasum(
    npm: NpmServer, registry: NpmRegistry, tmp_path: Path
) -> None:
    del npm.publish("sails", "1.0.0")["dist"]["integrity"]
    registry.unpack(registry.resolve("sails"), tmp_path / "out")
    assert (tmp_path / "out" / "node_modules" / "sails" / "package.json").is_file()


def test_cycles_of_redirects_and_refused_names_leave_nothing(
    npm: NpmServer, registry: NpmRegistry, fetcher: Fetcher, tmp_path: Path
) -> None:
    dist = npm.publish("sails", "1.0.0")["dist"]
    npm.always("sails-1.0.0", redirect(dist["tarball"]))
    with pytest.raises(UpstreamError, match="redirects"):
        registry.unpack(registry.resolve("sails"), tmp_path / "out")
    npm.always("sails-1.0.0", None)
    body = tarball({"../../../escaped": "x"})
    npm.tarballs["/sails/-/sails-1.0.0.tgz"] = body
    dist |= {"integrity": integrity(body), "shasum": None}
    fresh = open_registry(fetcher, npm)
    with pytest.raises(UnreadableInput):
        fresh.unpack(fresh.resolve("sails"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


# --- What is laid out -----------------------------------------------------------------------------


def test_a_package_lies_as_npm_installs_it(
    npm: NpmServer, registry: NpmRegistry, tmp_path: Path
) -> None:
    npm.publish(
        "@boats/sails",
        "1.0.0",
        {"index.d.ts": "export const a: 1;", "lib/x.js": "1", "logo.png": b"\x89PNG"},
        scripts={"install": "touch /tmp/ran"},
    )
    got = registry.unpack(registry.resolve("@boats/sails"), tmp_path / "out")
    assert files(tmp_path / "out") == {
        "package.json",
        *(
            f"node_modules/@boats/sails/{each}"
            for each in ("package.json", "index.d.ts", "lib/x.js", "logo.png")
        ),
    }
    assert (tmp_path / "out/node_modules/@boats/sails/logo.png").stat().st_size == 0
    assert (got.beside, got.left_out) == ((), ())
    assert not list(tmp_path.glob(".*"))


def test_types_of_the_series_lie_beside(
    npm: NpmServer, registry: NpmRegistry, tmp_path: Path
) -> None:
    npm.publish("@boats/sails", "1.4.2", {"index.js": "module.exports = {}"})
    for version in ("1.2.7", "1.4.0", "1.4.9", "1.5.0", "2.0.0"):
        npm.publish(
            "@types/boats__sails",
            version,
            {"index.d.ts": 'import { Rope } from "ropes";\nexport const rope: Rope;'},
            dependencies={"ropes": "^1", "unused": "1"},
        )
    npm.publish("ropes", "1.0.0", {"index.d.ts": "export type Rope = 1;"})
    got = registry.unpack(registry.resolve("@boats/sails"), tmp_path / "out")
    assert got.beside == ("@types/boats__sails 1.4.9", "ropes 1.0.0")
    assert not npm.paths("unused")


@pytest.mark.parametrize(
    ("manifest", "files", "beside"),
    [
        # One of its modules has types, and not what is imported by the package's name.
        ({"exports": {".": "./a.js", "./b": {"types": "./b.d.ts"}}}, ["b.d.ts"], True),
        ({"main": "lib/a.js"}, ["b.d.ts"], True),
        ({"main": "../../other/a.js"}, ["b.d.ts"], True),
        ({"exports": {".": {"import": {"types": "./b.d.ts"}}}}, ["b.d.ts"], False),
        ({"main": "lib/a.js"}, ["lib/a.d.ts"], False),
        ({"main": "lib"}, ["lib/index.d.ts"], False),
        ({"typings": "b"}, ["b.d.ts"], False),
        ({}, ["index.d.ts"], False),
    ],
)
def test_types_come_beside_a_package_that_declares_only_a_part(
    npm: NpmServer,
    registry: NpmRegistry,
    tmp_path: Path,
    manifest: dict[str, Any],
    files: list[str],
    beside: bool,
) -> None:
    declared = dict.fromkeys(files, "export const mast: 1;")
    npm.publish("sails", "1.0.0", {"a.js": "module.exports = {}", **declared}, **manifest)
    npm.publish("@types/sails", "1.0.0", {"index.d.ts": "export const rope: 1;"})
    got = registry.unpack(registry.resolve("sails"), tmp_path / "out")
    assert got.beside == (("@types/sails 1.0.0",) if beside else ())


@pytest.mark.parametrize(
    ("published", "chosen"),
    [
        (("1.2.7", "1.3.1", "1.6.0"), "1.3.1"),
        (("1.6.0", "2.0.0"), "1.6.0"),
        (("2.0.0",), "2.0.0"),
        ((), None),
    ],
)
def test_the_nearest_types_are_taken(
    npm: NpmServer, registry: NpmRegistry, published: tuple[str, ...], chosen: str | None
) -> None:
    for version in published:
        npm.publish("@types/sails", version)
    found = registry.types_of("sails", "1.4.2")
    assert (found.version if found else None) == chosen


def test_types_that_only_say_that_there_are_own_ones_are_left(
    npm: NpmServer, registry: NpmRegistry
) -> None:
    npm.publish("@types/sails", "1.0.0")["deprecated"] = "sails has its own types"
    assert registry.types_of("sails", "1.0.0") is None


def test_what_declarations_import_lies_beside(
    npm: NpmServer, registry: NpmRegistry, tmp_path: Path
) -> None:
    npm.publish(
        "sails",
        "1.0.0",
        {
            "index.d.ts": """
                /// <reference types="masts" />
                import type { A } from "ropes/sub";
                import fs from "node:fs";
                export * from '@boats/hull';
                export type B = import("flags").B;
            """,
            "index.js": "require('runtime')",
        },
        dependencies={
            "ropes": "^1",
            "@boats/hull": "1",
            "runtime": "1",
            "@types/node": "*",
            "gone": "1",
        },
        peerDependencies={"@types/masts": "1", "flags": "1"},
        peerDependenciesMeta={"flags": {"optional": True}},
    )
    npm.publish("ropes", "1.1.0", {"index.d.ts": 'import "fibres"; export type A = 1;'})
    for name in ("@boats/hull", "runtime", "@types/node", "@types/masts", "flags", "fibres"):
        npm.publish(name, "1.0.0", {"index.d.ts": "export type B = 1;"})
    got = registry.unpack(registry.resolve("sails"), tmp_path / "out")
    assert set(got.beside) == {
        "ropes 1.1.0",
        "@boats/hull 1.0.0",
        "@types/node 1.0.0",
        "@types/masts 1.0.0",
    }
    assert got.left_out == ()


def test_packages_that_import_each_other_end(
    npm: NpmServer, registry: NpmRegistry, tmp_path: Path
) -> None:
    for one, other in (("a", "b"), ("b", "c"), ("c", "a")):
        npm.publish(
            one, "1.0.0", {"index.d.ts": f'export * from "{other}";'}, dependencies={other: "1"}
        )
    got = registry.unpack(registry.resolve("a"), tmp_path / "out")
    assert got.beside == ("b 1.0.0", "c 1.0.0")


def test_what_lies_beside_is_bounded_and_what_is_missing_said(
    npm: NpmServer, registry: NpmRegistry, tmp_path: Path
) -> None:
    names = [f"part{each}" for each in range(MOST_BESIDE + 5)]
    for name in names[1:]:
        npm.publish(name, "1.0.0")
    text = "".join(f'import "{name}";\n' for name in names)
    npm.publish("sails", "1.0.0", {"index.d.ts": text}, dependencies=dict.fromkeys(names, "1"))
    npm.plan("part1-1.0.0", *[status(404)] * 3)
    got = registry.unpack(registry.resolve("sails"), tmp_path / "out")
    assert len(got.beside) == MOST_BESIDE - 2
    assert any("Beyond the first" in each and "part28" in each for each in got.left_out)
    assert sum("is missing" in each for each in got.left_out) == 2


def test_a_tarball_at_an_address_that_is_gone_is_asked_of_the_registry(
    npm: NpmServer, registry: NpmRegistry, tmp_path: Path
) -> None:
    with NpmServer() as other:
        dist = npm.publish("sails", "1.0.0")["dist"]
        dist["tarball"] = dist["tarball"].replace(npm.url, other.url)
        registry.unpack(registry.resolve("sails"), tmp_path / "out")
        assert other.paths("sails-1.0.0") == npm.paths("sails-1.0.0")


def test_a_version_that_is_gone_is_said(
    npm: NpmServer, registry: NpmRegistry, fetcher: Fetcher, tmp_path: Path
) -> None:
    npm.publish("sails", "1.0.0")
    revision = registry.resolve("sails")
    npm.packuments["sails"]["versions"] = {}
    with pytest.raises(DocstowError):
        open_registry(fetcher, npm).unpack(revision, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_tarball_without_a_manifest_is_no_package(
    npm: NpmServer, registry: NpmRegistry, tmp_path: Path
) -> None:
    dist = npm.publish("sails", "1.0.0")["dist"]
    body = tarball({"index.js": ""})
    npm.tarballs["/sails/-/sails-1.0.0.tgz"] = body
    dist |= {"integrity": integrity(body), "shasum": None}
    with pytest.raises(UnreadableInput, match=r"package\.json"):
        registry.unpack(registry.resolve("sails"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
