"""What a project writes into its ``Cargo.toml`` to have a crate with certain features.

This room knows the manifest's syntax and which features are on by themselves. It does not know
what needs them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from docstow.core.model import LOCAL, STANDARD, Snapshot
from docstow.core.versions import Version


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
        """The package that a snapshot documents."""
        source, facts = snapshot.revision.source, snapshot.facts
        return cls(
            source.name,
            snapshot.revision.version,
            facts.get("features") or {},
            facts.get("rust_version") or "",
            local=source.kind == LOCAL,
        )

    def enabling(self, required: Collection[str]) -> str:
        """How to turn features on, as Markdown; empty if there is nothing that a manifest can do.

        Features that the package does not have are left out: docs may name those of others.
        """
        known = [name for name in required if not self.features or name in self.features]
        if not known or self.name in STANDARD:
            return ""
        if self._on_by_default() >= set(known):
            return "on by default"
        wanted = ", ".join(f'"{name}"' for name in known)
        place = 'path = "…"' if self.local else f'version = "{self._requirement()}"'
        return f"`{self.name} = {{ {place}, features = [{wanted}] }}`"

    def _requirement(self) -> str:
        """The shortest one that asks for what the documented version has."""
        version = Version.parse(self.version)
        if version.prerelease or not (version.major or version.minor):
            return self.version.partition("+")[0]
        return f"{version.major}.{version.minor}"

    def _on_by_default(self) -> set[str]:
        on: set[str] = set()
        queue = ["default"]
        while queue:
            name = queue.pop()
            if name in self.features and name not in on:
                on.add(name)
                queue.extend(self.features[name])
        return on
