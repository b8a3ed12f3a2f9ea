"""Dependencies of a crate: the direct ones, and the tree that they resolve to.

A tree holds each release once and is bounded in depth and size. A lock file overrides the versions
and features of the index.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from docstow.core.versions import Requirement, Version
from docstow.languages.rust.cargo_lock import Lock, Package

if TYPE_CHECKING:
    from docstow.sources.crates.index import Dependency, Release

#: Prefixes of crates.io in lock files; other packages are not in the index.
REGISTRIES = (
    "registry+https://github.com/rust-lang/crates.io-index",
    "sparse+https://index.crates.io/",
)

#: The largest number of releases in a tree.
MOST_NODES = 300

#: Returns the releases of crates by name, without names that the index does not have.
LookUp = Callable[[Sequence[str]], Mapping[str, Sequence["Release"]]]


@dataclass(frozen=True, slots=True)
class ResolvedDependency:
    """A dependency of a release, and what it resolves to.

    Attributes:
        name: the package.
        dependency: of the index; None where only a lock file has it.
        version: the release that it resolves to; empty if there is none.
        active: whether it is built with the enabled features, on some platform.
        enabled_by: the features of the crate that enable an optional dependency.
    """

    name: str
    dependency: Dependency | None
    version: str
    active: bool
    enabled_by: tuple[str, ...] = ()


@dataclass(slots=True)
class Node:
    """A release in a tree.

    Attributes:
        name: the package.
        version: its version; empty if no release matches.
        depth: its shortest distance from the root.
        features: those that its dependents enable.
        children: kinds of its dependencies by ``name version``; each node is in the tree once.
        cut: whether it has further dependencies beyond the bounds.
    """

    name: str
    version: str
    depth: int
    features: set[str] = field(default_factory=set)
    children: dict[str, str] = field(default_factory=dict)
    cut: bool = False

    @property
    def key(self) -> str:
        """The key of the node: ``name version``."""
        return f"{self.name} {self.version}".strip()


def highest(requirement: str, versions: Iterable[str]) -> str:
    """Return the version that Cargo selects: the highest that matches, or empty."""
    try:
        wanted = Requirement.parse(requirement)
    except ValueError:  # Cargo refuses requirements of some of the index's oldest entries too
        return ""
    matching = [each for text in versions if wanted.matches(each := Version.parse(text))]
    return str(max(matching)) if matching else ""


def enabled_dependencies(release: Release, features: Collection[str]) -> dict[str, set[str]]:
    """Return what a set of features enables in a release.

    The rules are those of the Cargo book, "Features": ``dep:x``, ``x/feature``, ``x?/feature``, and
    the implicit feature of an optional dependency.

    Args:
        release: of the index.
        features: the requested ones; unknown ones are ignored.

    Returns:
        By name in the manifest the features that are enabled in a dependency; an optional one
        that is not among them is not enabled.
    """
    optional = {_alias(each) for each in release.dependencies if each.optional}
    on: set[str] = set()  # features may enable each other in a circle
    asked: dict[str, set[str]] = {}
    weak: list[tuple[str, str]] = []
    queue = sorted(features)
    while queue:
        word = queue.pop()
        name, slash, feature = word.partition("/")
        if slash and name.endswith("?"):
            weak.append((name[:-1], feature))
        elif slash:
            asked.setdefault(name, set()).add(feature)
            if name in optional and name in release.features:
                queue.append(name)
        elif word.startswith("dep:"):
            asked.setdefault(word[4:], set())
        elif word not in on and word in release.features:
            on.add(word)
            queue.extend(release.features[word])
        elif word in optional:
            on.add(word)
            asked.setdefault(word, set())
    for name, feature in weak:
        if name in asked or name not in optional:
            asked.setdefault(name, set()).add(feature)
    return asked


def direct_dependencies(
    release: Release,
    kinds: Collection[str],
    releases: Mapping[str, Sequence[Release]],
    locked: Mapping[str, Sequence[str]] | None = None,
) -> list[ResolvedDependency]:
    """Return the direct dependencies of a release, in the order of the index.

    Args:
        release: the crate's.
        kinds: of ``normal``, ``build`` and ``dev``.
        releases: of all crates that it depends on.
        locked: the locked versions by package, if there is a lock file.
    """
    asked, enabling = enabled_dependencies(release, {"default"}), _enabling(release)
    needs = []
    for each in release.dependencies:
        if each.kind not in kinds:
            continue
        if locked is None:
            version = highest(each.requirement, _offered(releases.get(each.name, ())))
            active = not each.optional or _alias(each) in asked
        else:
            version = highest(each.requirement, locked.get(each.name, ()))
            active = bool(version)
        needs.append(
            ResolvedDependency(
                each.name, each, version, active, tuple(enabling.get(_alias(each), ()))
            )
        )
    return needs


def _enabling(release: Release) -> dict[str, list[str]]:
    """Return, for each optional dependency, the features that enable it."""
    found: dict[str, list[str]] = {_alias(e): [] for e in release.dependencies if e.optional}
    named = {word for enabled in release.features.values() for word in enabled}
    for alias, features in found.items():
        if alias not in release.features and f"dep:{alias}" not in named:
            features.append(alias)
    for feature in release.features if found else ():
        for alias in enabled_dependencies(release, {feature}):
            if alias in found:
                found[alias].append(feature)
    return found


def _offered(releases: Sequence[Release]) -> Iterator[str]:
    return (each.version for each in releases if not each.yanked)


def _alias(dependency: Dependency) -> str:
    return dependency.alias or dependency.name


class Tree:
    """The resolved tree below a release.

    It equals ``cargo tree --target all`` for default features, except that each requirement is
    resolved by itself, where Cargo may select a lower version that satisfies two.

    Args:
        look_up: the index.
        kinds: of the root's dependencies in the tree; below it there are no dev dependencies.
        listed: kinds in the list of direct dependencies.
        depth: levels below the root.
        lock: overrides the versions and features of the index.
    """

    def __init__(
        self,
        look_up: LookUp,
        *,
        kinds: Collection[str],
        listed: Collection[str],
        depth: int,
        lock: Lock | None = None,
    ) -> None:
        self._look_up = look_up
        self._kinds = kinds
        self._listed = listed
        self._depth = depth
        self._lock = lock
        self.releases: dict[str, Sequence[Release]] = {}
        self.nodes: dict[str, Node] = {}

    @property
    def known(self) -> bool:
        """Whether the index has the root."""
        return self._release(next(iter(self.nodes.values()))) is not None

    def build(self, name: str, version: str) -> list[ResolvedDependency]:
        """Build the tree level by level; return the direct dependencies of the root.

        A release that gets further features from another dependent is expanded again.
        """
        root = Node(name, version, 0, {"default"})
        self.nodes[root.key] = root
        self._load([name])
        level = [root]
        while level:
            inner = [node for node in level if node.depth < self._depth]
            self._load([each.name for node in inner for each in self._indexed(node)])
            changed: dict[str, Node] = {}
            for node in level:
                changed |= self._expand(node)
            level = list(changed.values())
        release = self._release(root)
        if release is None:
            return [
                ResolvedDependency(each.name, None, each.version, active=True)
                for each in self._locked(root)
            ]
        self._load([each.name for each in release.dependencies if each.kind in self._listed])
        return direct_dependencies(release, self._listed, self.releases, self._versions(root))

    def _load(self, names: Iterable[str]) -> None:
        """Look up crates that are not loaded yet; names of private packages are not sent."""
        unknown = sorted(
            each for each in set(names) - self.releases.keys() if self._is_public(each)
        )
        if unknown:
            found = self._look_up(unknown)
            self.releases |= {name: found.get(name, ()) for name in unknown}

    def _is_public(self, name: str) -> bool:
        packages = self._lock.named(name) if self._lock is not None else ()
        return all(each.source.startswith(REGISTRIES) for each in packages)

    def _release(self, node: Node) -> Release | None:
        known = self.releases.get(node.name, ())
        return next((each for each in known if each.version == node.version), None)

    def _indexed(self, node: Node) -> list[Dependency]:
        """Return the dependencies of a release in the index, of the kinds in the tree."""
        release = self._release(node)
        kinds = self._kinds if node.depth == 0 else {"normal", "build"}
        needs = release.dependencies if release is not None else ()
        return [each for each in needs if each.kind in kinds]

    def _locked(self, node: Node) -> list[Package]:
        """Return the dependencies of a release in the lock file."""
        if self._lock is None:
            return []
        own = [each for each in self._lock.named(node.name) if each.version == node.version]
        return [each for package in own[:1] for each in self._lock.needs(package)]

    def _versions(self, node: Node) -> dict[str, list[str]] | None:
        """Return the locked versions by name; None without a lock file."""
        if self._lock is None:
            return None
        versions: dict[str, list[str]] = {}
        for each in self._locked(node):
            versions.setdefault(each.name, []).append(each.version)
        return versions

    def _expand(self, node: Node) -> dict[str, Node]:
        """Add the dependencies of a release; return the nodes that are new or have new features."""
        if node.depth >= self._depth:
            node.cut = next(self._edges(node), None) is not None
            return {}
        changed: dict[str, Node] = {}
        for name, version, kind, features in self._edges(node):
            key = f"{name} {version}".strip()
            child = self.nodes.get(key)
            if child is None and len(self.nodes) >= MOST_NODES:
                node.cut = True
                continue
            if child is None:
                child = self.nodes[key] = Node(name, version, node.depth + 1)
                changed[key] = child
            elif not features <= child.features:
                changed[key] = child
            child.features |= features
            # A dependency that is normal and of another kind counts as normal.
            if node.children.get(key) != "normal":
                node.children[key] = kind
        return changed

    def _edges(self, node: Node) -> Iterator[tuple[str, str, str, set[str]]]:
        """Yield name, version, kind and features of the enabled dependencies of a release."""
        release = self._release(node)
        if release is None:
            for package in self._locked(node):
                yield package.name, package.version, "", set()
            return
        asked = enabled_dependencies(release, node.features)
        locked = self._versions(node)
        for each in self._indexed(node):
            if locked is not None:
                version = highest(each.requirement, locked.get(each.name, ()))
                if not version:
                    continue
            elif each.optional and _alias(each) not in asked:
                continue
            else:
                offered = _offered(self.releases.get(each.name, ()))
                version = highest(each.requirement, offered)
            features = {*each.features, *asked.get(_alias(each), ())}
            if each.default_features:
                features.add("default")
            yield each.name, version, each.kind, features


def mermaid(nodes: Mapping[str, Node], *, most: int = 120) -> str:
    """Return the tree as a Mermaid flowchart of at most ``most`` edges; the rest is counted.

    Edges to build and dev dependencies are dotted and labelled.
    """
    numbers = {key: number for number, key in enumerate(nodes)}
    edges = [
        (numbers[node.key], numbers[child], kind)
        for node in nodes.values()
        for child, kind in node.children.items()
    ]
    shown = edges[:most]
    used = {0, *(end for begin, to, _ in shown for end in (begin, to))}
    lines = ["graph LR"]
    for key, number in numbers.items():
        if number in used:
            more = " …" if nodes[key].cut else ""
            lines.append(f'    n{number}["{key}{more}"]')
    for begin, end, kind in shown:
        # A lock file does not say of which kind a dependency is.
        arrow = "-->" if kind in {"", "normal"} else f"-. {kind} .->"
        lines.append(f"    n{begin} {arrow} n{end}")
    if len(edges) > most:
        lines.append(f"    %% {len(edges) - most} further edges are left out")
    return "\n".join(lines)
