"""Which modules of a package import which: a picture of it, bounded.

Only import lines are read; nothing is parsed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from docstow.core.errors import DocstowError
from docstow.languages.projects.packages import list_files
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.language import ModuleGraph
from docstow.languages.shared.project import Package

_MOST_NODES = 60
_MOST_EDGES = 300
_MOST_EXTERNAL = 40
#: Larger ones are bundles, which nobody wrote.
_LARGEST = 512 * 1024
#: Characters of all files together; there is no time for those after them.
_MOST = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ImportGraph:
    """The graph.

    Attributes:
        package: its name.
        nodes: modules; where there are too many, the packages that they are in.
        edges: importer, imported and how many import lines say so.
        external: what is imported from outside, most used first.
        modules: how many modules there are.
        unread: how many of them are too large, or too many, to be read.
        joined: whether nodes stand for more than one module.
    """

    package: str
    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str, int], ...]
    external: tuple[str, ...]
    modules: int
    unread: int
    joined: bool

    def as_json(self) -> dict[str, Any]:
        """Return the graph as JSON values."""
        return {
            "package": self.package,
            "modules": self.modules,
            "unread": self.unread,
            "joined": self.joined,
            "nodes": list(self.nodes),
            "edges": [list(each) for each in self.edges],
            "external": list(self.external),
        }

    def as_mermaid(self) -> str:
        """Format a Mermaid flowchart; names are quoted, so that none is taken for syntax."""
        ids = {name: f"n{number}" for number, name in enumerate(self.nodes)}
        lines = ["flowchart LR"]
        lines += [f'  {ids[name]}["{_quoted(name)}"]' for name in self.nodes]
        lines += [f"  {ids[one]} --> {ids[other]}" for one, other, _ in self.edges]
        return "\n".join(lines)


def import_graph(package: Package, boundary: Boundary, graph: ModuleGraph | None) -> ImportGraph:
    """Read the import lines of all files of a package.

    Args:
        package: an installed one.
        boundary: of its files.
        graph: how files of its language import each other; None where nobody reads that.
    """
    graph = graph or ModuleGraph("/", lambda _: {}, lambda *_: iter(()))
    modules = graph.modules(list_files(package, boundary))
    pairs: Counter[tuple[str, str]] = Counter()
    external: Counter[str] = Counter()
    left, unread = _MOST, 0
    for name, path in modules.items():
        text = _text(package, boundary, path) if left > 0 else None
        if text is None:
            unread += 1
            continue
        left -= len(text)
        for target in graph.imports(text, name, path, modules):
            module = graph.module_of(target, modules)
            if module not in modules:
                external[graph.outside(target)] += 1
            elif module != name:
                pairs[name, module] += 1
    own = graph.own(package)
    nodes, joined = _nodes(modules, graph.separator)
    edges: Counter[tuple[str, str]] = Counter()
    for (one, other), count in pairs.items():
        if nodes[one] != nodes[other]:
            edges[nodes[one], nodes[other]] += count
    strongest = edges.most_common(_MOST_EDGES)
    outside = [each for each, _ in external.most_common() if each and each not in own]
    return ImportGraph(
        package=package.name,
        nodes=tuple(sorted(set(nodes.values()))),
        edges=tuple(sorted((one, other, count) for (one, other), count in strongest)),
        external=tuple(outside[:_MOST_EXTERNAL]),
        modules=len(modules),
        unread=unread,
        joined=joined,
    )


def _text(package: Package, boundary: Boundary, path: str) -> str | None:
    """Return a file; None where it is too large, or cannot be read."""
    try:
        body = boundary.read(path, package.files_root, most=_LARGEST)
    except DocstowError:
        return None
    return body.decode(errors="replace")


def _nodes(modules: Mapping[str, str], separator: str) -> tuple[dict[str, str], bool]:
    """Return for each module its node: itself, or so much of its path that there are few enough."""
    nodes: dict[str, str] = {}
    deepest = max((name.count(separator) for name in modules), default=0) + 1
    for depth in range(deepest, 0, -1):
        deeper = nodes
        nodes = {name: separator.join(name.split(separator)[:depth]) for name in modules}
        count = len(set(nodes.values()))
        if count == 1 and deeper:
            # A folder that holds everything says nothing; what most of it is in does.
            nodes = deeper
            break
        if count <= _MOST_NODES:
            return nodes, depth < deepest
    common = Counter(nodes.values()).most_common(_MOST_NODES - 1) if modules else []
    kept = {name for name, _ in common}
    return {name: node if node in kept else "…" for name, node in nodes.items()}, True


def _quoted(name: str) -> str:
    return name.replace('"', "'").replace("\n", " ")
