"""The tool ``get_dependencies``: what a crate needs, and the tree that this resolves to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import CrateNotFound, InvalidParameter
from docstow.core.model import STANDARD
from docstow.languages.rust.cargo_lock import Lock, parse
from docstow.tools import Answer, Tool
from docstow.tools.answers import TEXT, list_schema, paged, result_schema
from docstow.tools.crate_arguments import CRATE, CURSOR, LOCKFILE, VERSION
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.library import Library
    from docstow.sources.crates.dependencies import Node, ResolvedDependency

KINDS = ("normal", "build", "dev")
TREE_KINDS = ("normal", "build")
PER_PAGE = 100


def tool(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    need = result_schema(
        {"crate": TEXT, "resolved": TEXT, "active": {"type": "boolean"}},
        kind=TEXT,
        requirement=TEXT,
    )
    return Tool(
        name="get_dependencies",
        toolset="rust",
        title="Dependencies",
        description=(
            "What a crate depends on, with features and resolved versions, and the whole "
            "tree. Not for its own features (get_crate_summary). "
            'Example: {"crate": "axum", "version": "0.8", "depth": 2}.'
        ),
        parameters=(
            CRATE,
            VERSION,
            LOCKFILE,
            Parameter("depth", "integer", "", default=1, minimum=1, maximum=6),
            Parameter("kinds", "array", "", choices=KINDS),
            CURSOR,
        ),
        run=partial(_run, library),
        output_schema=list_schema(
            need, tree={"type": "array", "items": {"type": "object"}}, mermaid=TEXT
        ),
    )


def _run(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.sources.crates.dependencies import MOST_NODES, Tree, mermaid

    name, version, asked, lock, notices = _root(library, arguments)
    kinds = arguments["kinds"] or ()
    tree = Tree(
        library.releases,
        kinds=kinds or TREE_KINDS,
        listed=kinds or KINDS,
        depth=arguments["depth"],
        lock=lock,
    )
    needs = tree.build(name, version)
    if not tree.known:
        if lock is None or not lock.named(name):
            raise CrateNotFound(f"The index has no {name} {version}.")
        notices.append(f"{name} is not in the index: the lock file alone answers")
    if len(tree.nodes) >= MOST_NODES:
        notices.append(f"the tree is cut at {MOST_NODES} releases")
    answer: dict[str, Any] = {
        "crate": name,
        "asked": asked,
        "answered": version,
        "substituted": False,
        "url": f"https://crates.io/crates/{name}/{version}/dependencies" if tree.known else "",
    }
    if notices:
        answer["notice"] = "; ".join(notices)
    return Answer(
        answer
        | {"tree": [_node(each) for each in tree.nodes.values()], "mermaid": mermaid(tree.nodes)}
        | paged([_need(each) for each in needs], arguments["cursor"], f"{name} {version}", PER_PAGE)
    )


def _root(
    library: Library, arguments: Mapping[str, Any]
) -> tuple[str, str, str, Lock | None, list[str]]:
    """Return name, version, what was asked for, the lock file, and notices."""
    name, requirement = arguments["crate"], arguments["version"].strip()
    if name.replace("-", "_") in STANDARD:
        raise CrateNotFound(
            f"{name} comes with Rust: the index has no entry of it, and it has no dependencies "
            "that a project could choose."
        )
    if not arguments["lockfile"]:
        found, version = library.release(name, requirement)
        return found, version, requirement or "latest", None, []
    if requirement:
        raise InvalidParameter("lockfile", "give either version or lockfile, not both")
    lock = parse(arguments["lockfile"])
    locked = lock.locked(name)
    spelling = lock.named(name)[0].name
    notice = locked.notice(spelling)
    asked = f"lockfile: {locked.version}"
    return spelling, locked.version, asked, lock, [notice] if notice else []


def _need(need: ResolvedDependency) -> dict[str, Any]:
    row: dict[str, Any] = {"crate": need.name, "resolved": need.version, "active": need.active}
    each = need.dependency
    if each is None:
        return row
    row |= {
        "kind": each.kind,
        "requirement": each.requirement,
        "optional": each.optional,
        "features": list(each.features),
        "default_features": each.default_features,
    }
    details = {
        "target": each.target,
        "renamed": each.alias,
        "enabled_by": list(need.enabled_by[:10]),
    }
    return row | {name: value for name, value in details.items() if value}


def _node(node: Node) -> dict[str, Any]:
    shown: dict[str, Any] = {"release": node.key, "depth": node.depth}
    if node.children:
        shown["needs"] = list(node.children)
    if node.cut:
        shown["cut"] = True
    return shown
