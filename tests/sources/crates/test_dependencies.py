"""Dependency trees as Cargo would resolve them, over an index of a few lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from docstow.languages.rust.cargo_lock import Lock, parse
from docstow.sources.crates import dependencies
from docstow.sources.crates.dependencies import (
    ResolvedDependency,
    Tree,
    enabled_dependencies,
    highest,
    mermaid,
)
from docstow.sources.crates.index import Dependency, Release

REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def release(
    version: str, *needs: Dependency, yanked: bool = False, **features: Sequence[str]
) -> Release:
    return Release(version, yanked, {name: tuple(on) for name, on in features.items()}, needs)


TLS = Dependency("tls", "^1", optional=True)
NET = Dependency("net", "^0.3", features=("tcp",), default_features=False)
INDEX: dict[str, Sequence[Release]] = {
    "app": [
        release(
            "1.0.0",
            NET,
            TLS,
            Dependency("json-fast", "^2", optional=True, alias="json"),
            Dependency("cc", "^1.2", kind="build", target="cfg(windows)"),
            Dependency("check", "*", kind="dev"),
            default=["net/udp"],
            secure=["dep:tls", "tls?/ring"],
            all=["secure", "json"],
        )
    ],
    "net": [
        release("0.3.1"),
        release(
            "0.3.4",
            Dependency("bytes", "^1"),
            Dependency("slab", "^0.4", optional=True),
            tcp=[],
            udp=["dep:slab"],
            default=["tcp"],
        ),
        release("0.3.9", yanked=True),
        release("0.4.0"),
    ],
    "tls": [release("1.0.0", Dependency("net", "^0.3")), release("2.0.0")],
    "json-fast": [release("2.5.0"), release("2.6.0-rc.1")],
    "cc": [release("1.2.0"), release("1.2.9", Dependency("check", "^1", kind="dev"))],
    "bytes": [release("1.7.0", Dependency("app", "^1", optional=True))],
    "slab": [release("0.4.9")],
    "check": [release("1.1.0")],
}


def look_up(names: Sequence[str]) -> Mapping[str, Sequence[Release]]:
    return {name: INDEX[name] for name in names if name in INDEX}


def tree(depth: int, lock: Lock | None = None, **kinds: Any) -> Tree:
    listed = {"kinds": ("normal", "build"), "listed": ("normal", "build", "dev"), **kinds}
    return Tree(look_up, depth=depth, lock=lock, **listed)


def shown(grown: Tree) -> dict[str, list[str]]:
    return {key: list(node.children) for key, node in grown.nodes.items()}


def test_the_highest_that_matches_is_taken() -> None:
    versions = ["0.3.1", "0.3.4", "0.4.0", "1.0.0-rc.1"]
    assert highest("^0.3", versions) == "0.3.4"
    assert highest("*", versions) == "0.4.0"
    assert highest("^1.0.0-rc", versions) == "1.0.0-rc.1"
    assert highest("=0.3.2", versions) == ""
    assert highest("what", versions) == ""


def test_features_turn_dependencies_on_as_the_cargo_book_says() -> None:
    (app,) = INDEX["app"]
    assert enabled_dependencies(app, {"default"}) == {"net": {"udp"}}
    assert enabled_dependencies(app, {"secure"}) == {"tls": {"ring"}}
    assert enabled_dependencies(app, {"all"}) == {"tls": {"ring"}, "json": set()}
    assert enabled_dependencies(app, {"unknown"}) == {}
    looped = release("1.0.0", TLS, one=["two"], two=["one", "tls"])
    assert enabled_dependencies(looped, {"one"}) == {"tls": set()}
    weak = release("1.0.0", TLS, only=["tls?/ring"])
    assert enabled_dependencies(weak, {"only"}) == {}


def test_direct_dependencies_say_what_turns_them_on() -> None:
    needs = tree(1).build("app", "1.0.0")
    (app,) = INDEX["app"]
    net, tls, json, cc, check = app.dependencies
    assert needs == [
        ResolvedDependency("net", net, "0.3.4", active=True),
        ResolvedDependency("tls", tls, "1.0.0", active=False, enabled_by=("secure", "all")),
        ResolvedDependency("json-fast", json, "2.5.0", active=False, enabled_by=("json", "all")),
        ResolvedDependency("cc", cc, "1.2.9", active=True),
        ResolvedDependency("check", check, "1.1.0", active=True),
    ]


def test_the_tree_has_each_release_once_and_says_where_it_is_cut() -> None:
    grown = tree(6)
    grown.build("app", "1.0.0")
    assert shown(grown) == {
        "app 1.0.0": ["net 0.3.4", "cc 1.2.9"],
        "net 0.3.4": ["bytes 1.7.0", "slab 0.4.9"],
        "cc 1.2.9": [],
        "bytes 1.7.0": [],
        "slab 0.4.9": [],
    }
    assert grown.nodes["net 0.3.4"].features == {"tcp", "udp"}
    assert not any(node.cut for node in grown.nodes.values())
    short = tree(1)
    short.build("app", "1.0.0")
    assert [key for key, node in short.nodes.items() if node.cut] == ["net 0.3.4"]


def test_features_that_come_later_are_gone_through_again() -> None:
    index = {
        "a": [release("1.0.0", Dependency("b", "^1"), Dependency("c", "^1"))],
        "b": [release("1.0.0", Dependency("d", "^1", optional=True), extra=["dep:d"])],
        "c": [release("1.0.0", Dependency("b", "^1", features=("extra",)))],
        "d": [release("1.0.0", Dependency("a", "^1"))],
    }
    grown = Tree(
        lambda names: {name: index[name] for name in names}, kinds=("normal",), listed=(), depth=6
    )
    grown.build("a", "1.0.0")
    assert shown(grown) == {
        "a 1.0.0": ["b 1.0.0", "c 1.0.0"],
        "b 1.0.0": ["d 1.0.0"],
        "c 1.0.0": ["b 1.0.0"],
        "d 1.0.0": ["a 1.0.0"],
    }


LOCK = f"""
version = 4
[[package]]
name = "private"
version = "0.1.0"
dependencies = ["app"]
[[package]]
name = "app"
version = "1.0.0"
source = "{REGISTRY}"
dependencies = ["net", "tls"]
[[package]]
name = "net"
version = "0.3.1"
source = "{REGISTRY}"
[[package]]
name = "tls"
version = "1.0.0"
source = "{REGISTRY}"
dependencies = ["net"]
"""


def test_a_lock_file_overrules_versions_and_features() -> None:
    grown = tree(6, parse(LOCK))
    needs = grown.build("app", "1.0.0")
    assert shown(grown) == {
        "app 1.0.0": ["net 0.3.1", "tls 1.0.0"],
        "net 0.3.1": [],
        "tls 1.0.0": ["net 0.3.1"],
    }
    assert [(need.name, need.version, need.active) for need in needs] == [
        ("net", "0.3.1", True),
        ("tls", "1.0.0", True),
        ("json-fast", "", False),
        ("cc", "", False),
        ("check", "", False),
    ]


def test_a_crate_of_the_project_answers_from_the_lock_file_alone() -> None:
    asked: list[str] = []

    def watched(names: Sequence[str]) -> Mapping[str, Sequence[Release]]:
        asked.extend(names)
        return look_up(names)

    grown = Tree(watched, kinds=("normal",), listed=("normal",), depth=2, lock=parse(LOCK))
    assert grown.build("private", "0.1.0") == [
        ResolvedDependency("app", None, "1.0.0", active=True)
    ]
    assert list(grown.nodes) == ["private 0.1.0", "app 1.0.0", "net 0.3.1", "tls 1.0.0"]
    assert not grown.known
    assert "private" not in asked
    # The file does not say of which kind a dependency is, so nothing is dotted.
    assert mermaid(grown.nodes).splitlines()[5:] == [
        "    n0 --> n1",
        "    n1 --> n2",
        "    n1 --> n3",
    ]


def test_a_large_tree_is_cut() -> None:
    names = [f"leaf{number}" for number in range(dependencies.MOST_NODES + 5)]
    index = {name: [release("1.0.0")] for name in names}
    index["root"] = [release("1.0.0", *(Dependency(name, "^1") for name in names))]
    grown = Tree(
        lambda wanted: {name: index[name] for name in wanted}, kinds=("normal",), listed=(), depth=2
    )
    grown.build("root", "1.0.0")
    assert len(grown.nodes) == dependencies.MOST_NODES
    assert grown.nodes["root 1.0.0"].cut
    graph = mermaid(grown.nodes, most=10).splitlines()
    assert len(graph) == 1 + 11 + 10 + 1
    assert graph[-1] == "    %% 289 further edges are left out"


def test_the_graph_is_a_flowchart() -> None:
    grown = tree(1)
    grown.build("app", "1.0.0")
    assert mermaid(grown.nodes) == "\n".join(
        [
            "graph LR",
            '    n0["app 1.0.0"]',
            '    n1["net 0.3.4 …"]',
            '    n2["cc 1.2.9"]',
            "    n0 --> n1",
            "    n0 -. build .-> n2",
        ]
    )
