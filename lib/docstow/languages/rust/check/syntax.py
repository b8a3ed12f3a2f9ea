"""Parse Rust code with tree-sitter."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@lru_cache(maxsize=1)
def parser() -> Parser:
    """Return the parser of Rust, made when it is first needed."""
    import tree_sitter_rust
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_rust.language()))


def text_of(node: Node) -> str:
    """Return the source of a node."""
    return (node.text or b"").decode()
