"""What is known of an item beside its docs: how its package is asked for, and what it asks."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

from docstow.core.model import LOCAL, STANDARD, Document, Snapshot
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.core.versions import Version

#: The first paragraph of the contract of an unsafe item.
_SAFETY = lazy_pattern(r"^#+ Safety\s*\n+((?:.+\n?)+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Package:
    """A package as a manifest names it.

    Attributes:
        name: the package, which may differ from its library in ``-`` and ``_``.
        version: the one that was documented.
        features: its features and what each turns on; empty where that is not known.
        rust_version: the oldest Rust it says it needs; empty where it does not say.
        local: it came from a file, so no registry may have it.
    """

    name: str
    version: str
    features: Mapping[str, Sequence[str]] = field(default_factory=dict)
    rust_version: str = ""
    local: bool = False

    @classmethod
    def of(cls, snapshot: Snapshot) -> Package:
        """Return the package that a snapshot documents."""
        source, facts = snapshot.revision.source, snapshot.facts
        return cls(
            source.name,
            snapshot.revision.version,
            facts.get("features") or {},
            facts.get("rust_version") or "",
            local=source.kind == LOCAL,
        )

    def enabling(self, required: Collection[str]) -> str:
        """Return how to turn features on, as Markdown; empty if a manifest cannot do that.

        Features that the package does not have are left out: docs may name those of others.
        """
        known = [name for name in required if not self.features or name in self.features]
        if not known or self.name in STANDARD:
            return ""
        if self._default_features() >= set(known):
            return "on by default"
        return f"`{self.dependency(known)}`"

    def dependency(self, features: Sequence[str] = ()) -> str:
        """Return the line of a ``Cargo.toml`` that asks for the package with these features."""
        place = 'path = "…"' if self.local else f'version = "{self._requirement()}"'
        if features:
            wanted = ", ".join(f'"{name}"' for name in features)
            return f"{self.name} = {{ {place}, features = [{wanted}] }}"
        return f"{self.name} = " + (f"{{ {place} }}" if self.local else f'"{self._requirement()}"')

    def _requirement(self) -> str:
        """Return the shortest one that asks for what the documented version has."""
        version = Version.parse(self.version)
        if version.prerelease or not (version.major or version.minor):
            return self.version.partition("+")[0]
        return f"{version.major}.{version.minor}"

    def _default_features(self) -> set[str]:
        on: set[str] = set()
        queue = ["default"]
        while queue:
            name = queue.pop()
            if name in self.features and name not in on:
                on.add(name)
                queue.extend(self.features[name])
        return on


def facts_of(document: Document, package: Package | None) -> list[str]:
    """Return what is known of an item, each a line of Markdown.

    Args:
        document: the item.
        package: says how required features are turned on, and which Rust is needed.
    """
    attributes = document.attributes
    told = []
    if (deprecated := attributes.get("deprecated")) is not None:
        details = {"note": deprecated} if isinstance(deprecated, str) else deprecated
        since = f" since {details['since']}" if details.get("since") else ""
        note = f": {details['note']}" if details.get("note") else ""
        told.append(f"**Deprecated{since}**{note}")
    if attributes.get("impl"):
        told.append(f"Defined in `{attributes['impl']}`")
    if available := attributes.get("available"):
        features = attributes.get("features", ())
        how = package.enabling(features) if package is not None and features else ""
        told.append(f"Available {available} ({how})" if how else f"Available {available}")
    if attributes.get("dyn_compatible") is False:
        told.append("Not dyn compatible: no `dyn` type of the trait is possible")
    told += _contract(document)
    if attributes.get("target"):
        url = attributes.get("target_url", "")
        told.append(f"Re-exported from `{attributes['target']}`" + (f": <{url}>" if url else ""))
    if attributes.get("aliases"):
        told.append("Also at: " + ", ".join(f"`{alias}`" for alias in attributes["aliases"]))
    if attributes.get("source"):
        told.append(f"Source: `{attributes['source']}`")
    if package is not None and package.rust_version:
        told.append(f"Needs Rust {package.rust_version} or newer")
    return told


def _contract(document: Document) -> list[str]:
    """Return what the item asks of its users, and how stable it is."""
    attributes = document.attributes
    told = []
    if must_use := attributes.get("must_use"):
        told.append("Must be used" + (f": {must_use}" if isinstance(must_use, str) else ""))
    if attributes.get("unsafe") and (contract := _SAFETY.search(document.text)):
        told.append(f"**Unsafe**: {' '.join(contract[1].split())}")
    if attributes.get("repr"):
        told.append(f"Representation: `#[repr({attributes['repr']})]`")
    if attributes.get("non_exhaustive"):
        told.append("Non-exhaustive: more may be added in a compatible version")
    if stability := attributes.get("stability"):
        since = f" since {stability['since']}" if stability.get("since") else ""
        gate = f" (feature `{stability['feature']}`)" if stability.get("feature") else ""
        stable = stability.get("level") == "stable"
        told.append(f"Stable{since}" if stable else f"**Unstable**{gate}: nightly only")
    return told
