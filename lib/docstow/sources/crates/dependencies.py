"""What a crate needs: its direct dependencies, and the tree that they resolve to.

This room knows which version Cargo would take for a requirement, which optional dependencies a
set of features turns on, and how a lock file overrules both. It does not know where the index's
entries come from. A tree holds each release once and is bounded in depth and size.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from docstow.core.versions import Requirement, Version
from docstow.languages.rust.cargo_lock import Lock, Package

if TYPE_CHECKING:
    from docstow.sources.crates.index import Dependency, Release

#: How lock files name packages of crates.io; others are not in the index.
REGISTRIES = (
    "registry+https://github.com/rust-lang/crates.io-index",
    "sparse+https://index.crates.io/",
)

#: A tree has at most this many releases; what hangs below them is cut.
MOST_NODES = 300

#: Gives the releases of crates by name; a name that the index does not have is left out.
LookUp = Callable[[Sequence[str]], Mapping[str, Sequence["Release"]]]


@dataclass(frozen=True, slots=True)
class Need:
    """One dependency of a release, and what it resolves to.

    Attributes:
        name: the package.
        dependency: as the index states it; None where a lock file alone knows.
        version: the release that it resolves to; empty if there is none.
        active: whether it is part of a build with the features at hand, for some platform.
        enabled_by: of an optional one, the features of the crate that turn it on.
    """

    name: str
    dependency: Dependency | None
    version: str
    active: bool
    enabled_by: tuple[str, ...] = ()


@dataclass(slots=True)
class Node:
    """One release in a tree.

    Attributes:
        name: the package.
        version: its version; empty if no release fits.
        depth: how far it is from the root, by the shortest way.
        features: those that are on, by all that depend on it.
        children: what it needs, as ``name version``; each stands in the tree once.
        cut: it needs more, which the bounds leave out.
    """

    name: str
    version: str
    depth: int
    features: set[str] = field(default_factory=set)
    children: dict[str, str] = field(default_factory=dict)
    cut: bool = False

    @property
    def key(self) -> str:
        """``name version``, which names the node."""
        return f"{self.name} {self.version}".strip()


def highest(requirement: str, versions: Iterable[str]) -> str:
    """The version that Cargo takes for a requirement: the highest that matches, or empty."""
    try:
        wanted = Requirement.parse(requirement)
    except ValueError:  # some of the index's oldest lines have requirements that Cargo refuses too
        return ""
    fitting = [each for text in versions if wanted.matches(each := Version.parse(text))]
    return str(max(fitting)) if fitting else ""


def activated(release: Release, features: Collection[str]) -> dict[str, set[str]]:
    """What a set of features turns on in a release.

    The rules are those of the Cargo book, "Features": ``dep:x``, ``x/feature``, ``x?/feature``, and
    the feature that an optional dependency is of itself.

    Args:
        release: as the index has it.
        features: those asked for; unknown ones are left aside.

    Returns:
        The optional dependencies that are on, and the features that are asked of dependencies, by
        the name that the manifest gives them.
    """
    optional = {_alias(each) for each in release.dependencies if each.optional}
    on: set[str] = set()  # so that features that turn each other on come to an end
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


def direct(
    release: Release,
    kinds: Collection[str],
    releases: Mapping[str, Sequence[Release]],
    locked: Mapping[str, Sequence[str]] | None = None,
) -> list[Need]:
    """The direct dependencies of a release, in the index's order.

    Args:
        release: the crate's.
        kinds: of ``normal``, ``build`` and ``dev``.
        releases: of all crates that it depends on.
        locked: package to locked versions, where a lock file is the judge.
    """
    asked, enabling = activated(release, {"default"}), _enabling(release)
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
        needs.append(Need(each.name, each, version, active, tuple(enabling.get(_alias(each), ()))))
    return needs


def _enabling(release: Release) -> dict[str, list[str]]:
    """The features of a crate that turn each of its optional dependencies on."""
    found: dict[str, list[str]] = {_alias(e): [] for e in release.dependencies if e.optional}
    named = {word for enabled in release.features.values() for word in enabled}
    for alias, features in found.items():
        if alias not in release.features and f"dep:{alias}" not in named:
            features.append(alias)
    for feature in release.features if found else ():
        for alias in activated(release, {feature}):
            if alias in found:
                found[alias].append(feature)
    return found


def _offered(releases: Sequence[Release]) -> Iterator[str]:
    return (each.version for each in releases if not each.yanked)


def _alias(dependency: Dependency) -> str:
    return dependency.alias or dependency.name


class Tree:
    """The resolved tree below a release, each release once.

    It is what ``cargo tree --target all`` shows for default features, with one difference: each
    requirement is resolved by itself, where Cargo may take a lower version that suits two.

    Args:
        look_up: the index.
        kinds: kinds of the root's dependencies in the tree; below it development ones never count.
        listed: kinds of those in the list of direct ones.
        depth: levels below the root.
        lock: overrules the index's versions and features.
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

    def grow(self, name: str, version: str) -> list[Need]:
        """Resolve level by level; the root's own needs are returned.

        Features come from all that depend on a release, so one that is met again with further
        features is gone through again.
        """
        root = Node(name, version, 0, {"default"})
        self.nodes[root.key] = root
        self._learn([name])
        level = [root]
        while level:
            inner = [node for node in level if node.depth < self._depth]
            self._learn([each.name for node in inner for each in self._stated(node)])
            changed: dict[str, Node] = {}
            for node in level:
                changed |= self._expand(node)
            level = list(changed.values())
        release = self._release(root)
        if release is None:
            return [Need(each.name, None, each.version, active=True) for each in self._locked(root)]
        self._learn([each.name for each in release.dependencies if each.kind in self._listed])
        return direct(release, self._listed, self.releases, self._versions(root))

    def _learn(self, names: Iterable[str]) -> None:
        """Look up the crates that are not known yet; the project's own are nobody's business."""
        unknown = sorted(each for each in set(names) - self.releases.keys() if self._public(each))
        if unknown:
            found = self._look_up(unknown)
            self.releases |= {name: found.get(name, ()) for name in unknown}

    def _public(self, name: str) -> bool:
        packages = self._lock.named(name) if self._lock is not None else ()
        return all(each.source.startswith(REGISTRIES) for each in packages)

    def _release(self, node: Node) -> Release | None:
        known = self.releases.get(node.name, ())
        return next((each for each in known if each.version == node.version), None)

    def _stated(self, node: Node) -> list[Dependency]:
        """What the index says that a release needs, of the kinds that count there."""
        release = self._release(node)
        kinds = self._kinds if node.depth == 0 else {"normal", "build"}
        needs = release.dependencies if release is not None else ()
        return [each for each in needs if each.kind in kinds]

    def _locked(self, node: Node) -> list[Package]:
        """What the lock file has below a release."""
        if self._lock is None:
            return []
        own = [each for each in self._lock.named(node.name) if each.version == node.version]
        return [each for package in own[:1] for each in self._lock.needs(package)]

    def _versions(self, node: Node) -> dict[str, list[str]] | None:
        """The same, versions by name; None where no lock file is the judge."""
        if self._lock is None:
            return None
        versions: dict[str, list[str]] = {}
        for each in self._locked(node):
            versions.setdefault(each.name, []).append(each.version)
        return versions

    def _expand(self, node: Node) -> dict[str, Node]:
        """Add what one release needs; the nodes that are new, or have new features."""
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
            # A dependency that is both a normal and another one is a normal one.
            if node.children.get(key) != "normal":
                node.children[key] = kind
        return changed

    def _edges(self, node: Node) -> Iterator[tuple[str, str, str, set[str]]]:
        """Name, version, kind and features of what a release needs, as far as it is on."""
        release = self._release(node)
        if release is None:
            for package in self._locked(node):
                yield package.name, package.version, "", set()
            return
        asked = activated(release, node.features)
        locked = self._versions(node)
        for each in self._stated(node):
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
    """The tree as a Mermaid flowchart of at most ``most`` edges; the rest is left out and counted.

    Edges to build and development dependencies are dotted and say so.
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
