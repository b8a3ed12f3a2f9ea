"""TypeScript and JavaScript: Node packages, surfaces, checks of code, differences of versions."""

from __future__ import annotations

from docstow.core.spelling import Spelling
from docstow.languages.shared.language import Language, deferred

TYPESCRIPT = Language(
    spelling=Spelling(
        name="typescript",
        aliases=("javascript",),
        ecosystem="node",
        kind="node",
        import_separator="/",
        scoped=True,
    ),
    fences={
        ".ts": "typescript",
        ".tsx": "tsx",
        ".mts": "typescript",
        ".cts": "typescript",
        ".js": "javascript",
        ".mjs": "javascript",
        ".cjs": "javascript",
        ".jsx": "jsx",
    },
    scanning=deferred("docstow.languages.typescript.scanning:SCANNING"),
    texts=deferred("docstow.languages.typescript.scanning:TEXTS"),
    versions=deferred("docstow.languages.typescript.scanning:VERSIONS"),
    reading=deferred("docstow.languages.typescript.reading:READING"),
    checking=deferred("docstow.languages.typescript.resolver:CHECKING"),
    comparing=deferred("docstow.languages.typescript.diff:COMPARING"),
    examples=("typescript", "ts", "tsx", "javascript", "js", "jsx"),
    registries=("npm", "node"),
    runtime="Node",
    install=("npm install {name}@{version}",),
)
