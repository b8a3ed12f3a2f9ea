"""Code that is made to be slow is refused after about the time that honest code takes."""

from __future__ import annotations

import pytest

from docstow.core.errors import UnreadableInput
from docstow.languages.rust.check.scope import parse as parse_rust
from docstow.languages.typescript.check.syntax import parse as parse_typescript
from docstow.languages.typescript.source.statements import read_file

_SIZE = 60_000


@pytest.mark.parametrize("part", ["#!", 'r#"'])
def test_rust_that_is_read_to_its_end_again_and_again_is_refused(part: str) -> None:
    with pytest.raises(UnreadableInput, match="longer to parse"):
        parse_rust(part * (_SIZE // len(part)))


def test_honest_rust_of_that_length_is_parsed() -> None:
    text = "fn é(a: Vec<u8>) -> usize { a.len() }\n"
    tree = parse_rust(text * (_SIZE // len(text)))
    assert not tree.root_node.has_error
    names = {each.named_children[0].text for each in tree.root_node.named_children}
    assert names == {"é".encode()}


def test_typescript_of_many_meanings_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="longer to parse"):
        parse_typescript("a<b," * (_SIZE // 4))


def test_of_a_package_file_that_takes_too_long_nothing_is_known() -> None:
    honest = read_file("index.d.ts", b"export declare const a: number;\n" * 200)
    assert "a" in honest.scope.exports
    hostile = read_file("index.ts", b"export const a = 1;\n" + b"a<b," * (_SIZE // 4))
    assert not hostile.scope.exports
    assert hostile.scope.dynamic
