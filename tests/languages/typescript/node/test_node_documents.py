"""Node packages as documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from docstow.core.model import Document
from docstow.languages.typescript.reading import documents
from docstow.languages.typescript.surface import NodeSurface
from languages.typescript.node.test_node_written import written
from node_environment import surfaces

Npm = Callable[[str], NodeSurface]


#: Kept with the documents for checks of code, which have tests of their own.
KEPT_FOR_CHECKS = {"others", "certain", "through", "heirs", "parameters", "beside"}


def without_facts(document: Document) -> Document:
    kept = {k: v for k, v in document.attributes.items() if k not in KEPT_FOR_CHECKS}
    return replace(document, attributes=kept)


def test_the_documents_of_a_package(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "README.md": "# lib\n\nRead me.\n",
            "index.d.ts": (
                "/** Adds. */\nexport declare function add(a: number): number;\n"
                "export declare class Box {\n"
                "  /** @deprecated Use `add`. */\n  put(x: 1): void;\n}\n"
                "export { add as plus };\nexport default add;\n"
            ),
        },
        description="Small things.",
        types="index.d.ts",
    )
    found = surfaces(tmp_path)("lib")
    assert found is not None
    place = {"language": "typescript", "file": "index.d.ts"}
    assert [without_facts(each) for each in documents(found)] == [
        Document(
            "lib/README.md",
            "page",
            "lib",
            "",
            "# lib\n\nRead me.\n",
            attributes={
                "language": "typescript",
                "file": "README.md",
                "media_type": "text/markdown",
            },
        ),
        Document("lib", "module", "lib", "", "Small things.", attributes={**place, "line": 1}),
        Document(
            "lib.Box", "class", "Box", "class Box", parent="lib", attributes={**place, "line": 3}
        ),
        Document(
            "lib.add",
            "function",
            "add",
            "function add(a: number): number",
            "Adds.",
            parent="lib",
            attributes={**place, "line": 2},
        ),
        Document(
            "lib.plus",
            "function",
            "plus",
            "function add(a: number): number",
            "Adds.",
            parent="lib",
            attributes={**place, "line": 2, "target": "lib.add"},
        ),
        Document(
            "lib.Box.put",
            "method",
            "put",
            "put(x: 1): void",
            "**Deprecated** Use `add`.",
            parent="lib.Box",
            attributes={**place, "line": 5, "deprecated": "Use `add`."},
        ),
    ]


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("zod", ["zod.object", "zod.ZodObject.extend", "zod/README.md"]),
        ("react", ["react.useState", "react.Component.setState"]),
        ("lodash", ["lodash.debounce", "lodash.chunk"]),
        ("@tanstack/react-query", ["@tanstack/react-query.QueryClient.invalidateQueries"]),
        ("vue", ["vue.ref", "vue.createApp"]),
        ("express", ["express.Router", "express.Response.json"]),
    ],
)
def test_the_documents_of_real_packages(npm: Npm, name: str, paths: list[str]) -> None:
    found = list(documents(npm(name)))
    counts = Counter((each.path, each.kind) for each in found)
    assert [key for key, count in counts.items() if count > 1] == []
    assert set(paths) <= {each.path for each in found}
