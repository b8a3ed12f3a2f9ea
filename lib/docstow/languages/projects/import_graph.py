"""Which modules of a package import which: a picture of it, bounded.

This room knows a package's files. It does not parse them: their import lines are enough.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from docstow.core.errors import DocstowError
from docstow.languages.shared.package_files import files
from docstow.languages.shared.project import Package
from docstow.languages.shared.sandbox import Boundary

# Which modules a file imports, read from its lines alone.


_PYTHON = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<of>\.*[\w.]*)[ \t]+import[ \t]*"
    r"(?:\((?P<many>[^)]*)\)|(?P<some>[^#\n\\]*))"
    r"|import[ \t]+(?P<plain>[\w., \t]+))",
    re.MULTILINE,
)


# Each form begins with a plain word, which is much faster to look for than what may be before it.
_JAVASCRIPT = re.compile(
    r"""(?:from(?<![\w$.]from)[ \t]*|import(?<![\w$.]import)[ \t]*(?:\([ \t]*)?"""
    r"""|require(?<![\w$.]require)[ \t]*\([ \t]*)(['"])([^'"\n]+)\1"""
)


_COMMENT = re.compile(r"#[^\n]*")


def of_python(text: str, module: str, *, package: bool) -> Iterator[str]:
    """Dotted names of what is imported, and of names that may be modules, absolute."""
    base = module.split(".") if package else module.split(".")[:-1]
    for found in _PYTHON.finditer(text):
        if found["plain"]:
            yield from (part.split()[0] for part in found["plain"].split(",") if part.split())
            continue
        name = found["of"]
        level = len(name) - len(name.lstrip("."))
        above = base[: len(base) - level + 1] if level else []
        source = ".".join([*above, *([name[level:]] if name[level:] else [])])
        if source:
            yield source
        inner = _COMMENT.sub("", found["many"] or found["some"] or "")
        for part in inner.split(","):
            if part.split() and part.split()[0].isidentifier():
                yield f"{source}.{part.split()[0]}"


def of_javascript(text: str) -> Iterator[str]:
    """The specifiers, as written."""
    for found in _JAVASCRIPT.finditer(text):
        yield found[2]


_MOST_NODES = 60


_MOST_EDGES = 300


_MOST_EXTERNAL = 40


#: Larger ones are bundles, which nobody wrote.
_LARGEST = 512 * 1024


#: Characters of all files together; there is no time for those after them.
_MOST = 32 * 1024 * 1024


_SCRIPT = re.compile(r"(\.d)?\.[mc]?[jt]sx?$")


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
        """JSON values."""
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
        """A Mermaid flowchart; names are quoted, so that none of them is taken for syntax."""
        ids = {name: f"n{number}" for number, name in enumerate(self.nodes)}
        lines = ["flowchart LR"]
        lines += [f'  {ids[name]}["{_quoted(name)}"]' for name in self.nodes]
        lines += [f"  {ids[one]} --> {ids[other]}" for one, other, _ in self.edges]
        return "\n".join(lines)


def import_graph(package: Package, boundary: Boundary) -> ImportGraph:
    """Read the import lines of all files."""
    found = files(package, boundary)
    python = package.ecosystem == "python"
    modules = _python_modules(found) if python else _script_modules(found)
    pairs: Counter[tuple[str, str]] = Counter()
    external: Counter[str] = Counter()
    left, unread = _MOST, 0
    for name, path in modules.items():
        text = _text(package, boundary, path) if left > 0 else None
        if text is None:
            unread += 1
            continue
        left -= len(text)
        for target in _imports(text, name, path, modules):
            known = _module_of(target, modules) if python else target
            if known in modules:
                if known != name:
                    pairs[name, known] += 1
            else:
                external[_outside(target, python=python)] += 1
    own = {each.split(".")[0] for each in package.import_names} if python else set()
    nodes, joined = _nodes(modules, "." if python else "/")
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
    """A file; None where it is too large, or cannot be read."""
    try:
        body = boundary.read(path, package.files_root, most=_LARGEST)
    except DocstowError:
        return None
    return body.decode(errors="replace")


def _imports(text: str, name: str, path: str, modules: Mapping[str, str]) -> Iterator[str]:
    if path.endswith((".py", ".pyi")):
        yield from of_python(text, name, package="/__init__.py" in path)
        return
    for each in of_javascript(text):
        if not each.startswith("."):
            yield each
            continue
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), each))
        stem = _SCRIPT.sub("", target)
        yield next((known for known in (stem, f"{stem}/index") if known in modules), "")


def _python_modules(found: Iterable[str]) -> dict[str, str]:
    modules: dict[str, str] = {}
    for each in found:
        stem, _, suffix = each.rpartition(".")
        if suffix in {"py", "pyi"}:
            name = stem.removesuffix("/__init__").replace("-stubs", "").replace("/", ".")
            if suffix == "py" or name not in modules:
                modules[name] = each
    return modules


def _script_modules(found: Iterable[str]) -> dict[str, str]:
    modules: dict[str, str] = {}
    for each in found:
        if _SCRIPT.search(each):
            name = _SCRIPT.sub("", each)
            if name not in modules or ".d." in modules[name]:
                modules[name] = each
    return modules


def _module_of(target: str, modules: Mapping[str, str]) -> str:
    """The module that a dotted name is in."""
    while target and target not in modules:
        target = target.rpartition(".")[0]
    return target


def _outside(target: str, *, python: bool) -> str:
    if python:
        return target.split(".")[0]
    parts = target.split("/")
    return "/".join(parts[: 2 if target.startswith("@") else 1])


def _nodes(modules: Mapping[str, str], separator: str) -> tuple[dict[str, str], bool]:
    """For each module its node: itself, or so much of its path that there are few enough."""
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
