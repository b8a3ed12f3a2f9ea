"""Names that only the lines of examples have that rustdoc compiles and does not show."""

from __future__ import annotations

import json

import pytest
import zstandard

from docstow import Docs
from docstow.core.settings import Settings
from paths import CRATES
from servers.docs_rs import DocsRs

EXAMPLE = """Makes one.

```
# use members::{helpers, Plain};
# members::block_on(async {
let plain = Plain::new(1);
# });
```
"""


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Docs:
    """Crates whose docs have such an example."""
    folder = tmp_path_factory.mktemp("crates")
    packed = (CRATES / "members" / "rustdoc.json.zst").read_bytes()
    read = json.loads(zstandard.ZstdDecompressor().stream_reader(packed).read())
    (new,) = (e for e in read["index"].values() if e["name"] == "new" and e["docs"])
    new["docs"] = EXAMPLE
    place = folder / "corpus" / "members" / "1.0.0"
    place.mkdir(parents=True)
    (place / "rustdoc.json.zst").write_bytes(zstandard.compress(json.dumps(read).encode()))
    with DocsRs(folder / "corpus") as upstream:
        settings = Settings(
            store=str(folder / "store"),
            cache=str(folder / "cache"),
            docs_rs_url=upstream.url,
            crates_index_url=upstream.index_url,
            upstream_interval_s=0,
        )
        found = Docs(settings)
        found.crate("members")
    return found


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("use members::block_on;", "not_checked"),
        ("use members::helpers;", "not_checked"),
        ("use members::block_in;", "unknown"),
        ("use members::helper;", "unknown"),
        ("fn f(plain: members::Plain) { plain.r#shown; }", "ok"),
        ("fn f(plain: members::Plain) { plain.r#hide; }", "unknown"),
    ],
)
def test_a_name_that_hidden_lines_have_is_there(docs: Docs, code: str, status: str) -> None:
    found = docs.verify(code, "rust").findings
    assert found[-1].status == status
