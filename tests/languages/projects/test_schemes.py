"""A module whose name has a scheme is found without it, too."""

from __future__ import annotations

from pathlib import Path

from languages.projects.test_sources import runtime_at
from languages.typescript.node.test_node_written import written


def test_a_module_is_found_without_its_scheme(tmp_path: Path) -> None:
    root = tmp_path / "project"
    text = 'declare module "sys:files" {\n  /** Reads. */\n  export function read(): void;\n}\n'
    written(root, {"index.d.ts": text}, types="index.d.ts", version="1.0.0")
    (root / "package.json").write_text('{"dependencies": {"lib": "1"}}')
    with runtime_at(tmp_path, root) as runtime:
        for path in ("sys:files.read", "files.read"):
            arguments = {"language": "typescript", "crate": "lib", "item_path": path}
            page = runtime.toolbox.call("get_item_doc", arguments).text
            assert "`sys:files.read`" in page
            assert "Reads." in page
