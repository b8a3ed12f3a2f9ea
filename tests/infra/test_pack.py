"""Packing a function: what stays, what goes, and what is done to it."""

from __future__ import annotations

import importlib.util
import marshal
import shutil
import sys
from pathlib import Path

import pytest

from infra import pack


def library(into: Path, name: str, *needs: str) -> None:
    """An installed library of one module."""
    module = f"{name.replace('-', '_')}.py"
    (into / module).write_text("", encoding="utf-8")
    info = into / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    required = "".join(f"Requires-Dist: {each}\n" for each in needs)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{required}", encoding="utf-8"
    )
    (info / "RECORD").write_text(
        f"{module},,\n{info.name}/METADATA,,\n{info.name}/RECORD,,\n", encoding="utf-8"
    )


def put(file: Path, body: str = "") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(body, encoding="utf-8")
    return file


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        ("image", ["botocore.py", "httpx.py", "idna.py", "numpy.py", "tokenizers.py"]),
        ("zip", ["botocore.py", "httpx.py", "idna.py"]),
    ],
)
def test_libraries_that_only_those_need_which_are_left_out_go(
    tmp_path: Path, kind: str, left: list[str]
) -> None:
    library(tmp_path, "boto3", "botocore")
    library(tmp_path, "botocore")
    library(tmp_path, "httpx", "idna", 'h2>=3 ; extra == "http2"')
    library(tmp_path, "h2")
    library(tmp_path, "idna")
    library(tmp_path, "numpy")
    library(tmp_path, "tokenizers", "huggingface_hub<3,>=0.16")
    library(tmp_path, "huggingface-hub", "hf-xet ; platform_machine == 'x86_64'")
    library(tmp_path, "hf-xet")
    pack.drop_unreached(kind, tmp_path)
    assert names(tmp_path) == left
    assert len(list(tmp_path.glob("*.dist-info"))) == len(left)


def test_tests_stubs_and_services_that_are_not_called_go(tmp_path: Path) -> None:
    for path in (
        "numpy/core.py",
        "numpy/ma/tests/test_x.py",
        "numpy/testing/__init__.py",
        "botocore/data/s3/2006-03-01/service.py",
        "botocore/data/ec2/2016-11-15/service.py",
        "docstow/ingest/sample/x.py",
    ):
        put(tmp_path / path)
    endpoints = put(tmp_path / "botocore/data/endpoints.json")
    stub = put(tmp_path / "numpy/core.pyi")
    read = put(tmp_path / "typeshed_client/typeshed/json.pyi")
    pack.prune("image", tmp_path)
    left = ["botocore/data/s3/2006-03-01/service.py", "numpy/core.py", "numpy/testing/__init__.py"]
    assert names(tmp_path) == [left[0], "docstow/ingest/sample/x.py", *left[1:]]
    assert endpoints.exists()
    assert not stub.exists()
    assert read.exists()
    pack.prune("zip", tmp_path)
    assert names(tmp_path) == left


def test_bytecode_does_not_look_at_its_source(tmp_path: Path) -> None:
    source = put(tmp_path / "package" / "module.py", "def f(): pass\n")
    pack.compile_all(tmp_path)
    body = Path(importlib.util.cache_from_source(str(source))).read_bytes()
    # Bit 0: by hash and not by time; bit 1, that the hash is checked, is not set.
    assert int.from_bytes(body[4:8], "little") == 0b01
    assert Path(marshal.loads(body[16:]).co_filename) == Path("package", "module.py")


def test_vendored_libraries_keep_their_symbols(tmp_path: Path) -> None:
    if sys.platform != "linux" or not (shutil.which("llvm-strip") or shutil.which("strip")):
        pytest.skip("needs Linux's strip")
    specification = importlib.util.find_spec("zstandard.backend_c")
    assert specification is not None
    assert specification.origin is not None
    extension, vendored = tmp_path / "x" / "x.so", tmp_path / "x.libs" / "y.so.1"
    for copy in (extension, vendored):
        copy.parent.mkdir()
        shutil.copy(specification.origin, copy)
    whole = pack.size(vendored)
    pack.strip(tmp_path)
    assert pack.size(vendored) == whole
    assert pack.size(extension) < whole


def test_what_lambda_would_not_take_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "large", "x" * pack.MIB)
    monkeypatch.setitem(pack.LIMITS, "zip", pack.MIB)
    assert pack.report("zip", tmp_path, 2 * pack.MIB, "arm64") == 0
    shown = capsys.readouterr().out
    assert "upkeep (zip, " in shown
    assert "1.0 MiB unpacked, 2.0 before" in shown
    put(tmp_path / "more", "x")
    assert pack.report("zip", tmp_path, 2 * pack.MIB, "arm64") == 1


def test_another_python_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        pack.main(["zip", str(tmp_path), "--python", "2.7"])
    assert ended.value.code == 2
    assert "run it with python2.7" in capsys.readouterr().err
