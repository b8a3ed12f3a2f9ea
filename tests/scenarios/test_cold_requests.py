"""What a process asks of a bucket before its first answer."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from docstow.core.settings import load
from docstow.runtime import SAMPLE, Runtime
from servers import s3
from servers.docs_rs import DocsRs


def test_an_exact_version_is_found_by_its_heads_alone(tmp_path: Path) -> None:
    place = tmp_path / "crates" / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    asked: list[tuple[str, str]] = []
    with s3.bucket() as there, DocsRs(tmp_path / "crates") as upstream:
        forward = s3.forward(there.endpoint)

        def respond(request: s3.Request) -> s3.Answer:
            asked.append((request.method, request.path.partition("/docs/")[2]))
            return forward(request)

        with s3.serve(respond) as endpoint:
            settings = {
                "store": there.at("docs"),
                "s3_endpoint": endpoint,
                "docs_rs_url": upstream.url,
                "crates_index_url": upstream.index_url,
                "upstream_interval_s": "0",
                "wait_s": "60",
            }
            with contextlib.closing(
                Runtime(load(settings | {"cache": f"{tmp_path}/a"}, {}))
            ) as one:
                one.library.crate("stowage", "0.1.0")
            asked.clear()
            upstream.requests.clear()
            with contextlib.closing(
                Runtime(load(settings | {"cache": f"{tmp_path}/b"}, {}))
            ) as two:
                found = {"crate": "stowage", "version": "0.1.0", "query": "stow", "k": 1}
                assert '"answered":"0.1.0"' in two.toolbox.call("search_items", found).render()
    assert upstream.requests == []
    assert sorted(asked[:2]) == [
        ("GET", "heads/crate/stowage/0.1.0.json"),
        ("GET", "heads/local/stowage/0.1.0.json"),
    ]
    rest = {(method, path.partition("/")[0]) for method, path in asked[2:]}
    assert rest <= {("GET", "blobs"), ("PUT", "touched"), ("HEAD", "touched")}
    assert ("GET", "blobs") in rest
