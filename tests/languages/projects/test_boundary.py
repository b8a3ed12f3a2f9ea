"""Nothing leads out of a directory, however it is written."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docstow.core.errors import DocstowError, DocumentNotFound, Forbidden, TooLarge, UnreadableInput
from docstow.languages.shared import boundary as boundary_module
from docstow.languages.shared.boundary import Boundary, is_binary

SECRET = b"the secret outside"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with every kind of thing in it, beside a secret."""
    above = tmp_path_factory.mktemp("above")
    (above / "secret.txt").write_bytes(SECRET)
    (above / "root-other").mkdir()
    (above / "root-other" / "secret.txt").write_bytes(SECRET)
    made = above / "root"
    (made / "pkg" / "sub").mkdir(parents=True)
    (made / "pkg" / "mod.py").write_text("x = 1\n")
    (made / "pkg" / "größe 100%.py").write_text("y = 1\n")
    (made / "pkg" / "out.py").symlink_to(above / "secret.txt")
    (made / "pkg" / "relative.py").symlink_to("../../secret.txt")
    (made / "pkg" / "etc").symlink_to("/etc")
    (made / "pkg" / "parent").symlink_to("../..")
    (made / "pkg" / "loop").symlink_to("loop")
    (made / "pkg" / "loop1").symlink_to("loop2")
    (made / "pkg" / "loop2").symlink_to("loop1")
    (made / "pkg" / "chain1").symlink_to("chain2")
    (made / "pkg" / "chain2").symlink_to(above / "secret.txt")
    (made / "pkg" / "proc").symlink_to("/proc/self")
    (made / "pkg" / "zero").symlink_to("/dev/zero")
    (made / "pkg" / "dangling").symlink_to(above / "missing")
    (made / "pkg" / "inside.py").symlink_to("mod.py")
    os.mkfifo(made / "pkg" / "pipe")
    (made / "pkg" / "native.so").write_bytes(b"\x7fELF\x02\x01\x01\0\0")
    (made / "pkg" / "picture.py").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (made / "pkg" / "small.txt.gz").write_bytes(b"\x1f\x8babc")
    (made / "pkg" / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\nname = 'caf\xe9'\n")
    (made / "pkg" / "unreadable").mkdir()
    return made


REFUSED = [
    "..",
    "../secret.txt",
    "pkg/../../secret.txt",
    "pkg/sub/../../../secret.txt",
    "./../secret.txt",
    "pkg/..",
    ".. /secret.txt",
    " ../secret.txt",
    "pkg/.. /../secret.txt",
    "../root-other/secret.txt",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/environ",
    "/dev/zero",
    "/",
    "~",
    "~/.ssh/id_rsa",
    "~root/.bashrc",
    "file:///etc/passwd",
    "file:/etc/passwd",
    "FILE:///etc/passwd",
    "file://localhost/etc/passwd",
    "http://127.0.0.1/x",
    "data:text/plain,x",
    "jar:file:///x!/y",
    "..\\secret.txt",
    "pkg\\..\\..\\secret.txt",
    "C:\\Windows\\win.ini",
    "C:/Windows/win.ini",
    "c:secret.txt",
    "\\\\server\\share\\x",
    "\\\\?\\C:\\x",
    "//?/C:/x",
    "%2e%2e/secret.txt",
    "%2e%2e%2fsecret.txt",
    "..%2fsecret.txt",
    "%2E%2E/secret.txt",
    ".%2e/secret.txt",
    "%252e%252e/secret.txt",
    "%252e%252e%252fsecret.txt",
    "%c0%ae%c0%ae/secret.txt",
    "%uff0e%uff0e/secret.txt",
    "..%5csecret.txt",
    "%2fetc%2fpasswd",
    "pkg%2fmod.py",
    "pkg/mod.py%00.txt",
    "pkg/mod.py\0",
    "pkg/mod.py\0.png",
    "\0",
    "pkg/\nmod.py",
    "pkg/\x1b[0m",
    "\uff0e\uff0e/secret.txt",
    "..\u2215secret.txt",
    "..\u2044secret.txt",
    "..\uff0fsecret.txt",
    "..\uff3csecret.txt",
    "\u2025/secret.txt",
    "\u2024\u2024/secret.txt",
    "\u2026/secret.txt",
    "pkg/\ud800",
    "",
    " ",
    "a" * 5000,
    "a/" * 3000,
    "pkg/" + "b" * 300,
    "pkg/out.py",
    "pkg/relative.py",
    "pkg/etc/passwd",
    "pkg/etc",
    "pkg/parent/secret.txt",
    "pkg/parent/root-other/secret.txt",
    "pkg/loop",
    "pkg/loop1",
    "pkg/loop/x",
    "pkg/chain1",
    "pkg/proc/environ",
    "pkg/proc",
    "pkg/zero",
    "pkg/dangling",
    "pkg/pipe",
    "pkg/native.so",
    "pkg/picture.py",
    "pkg/small.txt.gz",
    "pkg",
    "pkg/sub",
    "PKG/../../SECRET.TXT",
    "pkg/mod.py/x",
    "pkg/missing.py",
]


@pytest.mark.parametrize("path", REFUSED, ids=ascii)
def test_what_is_no_text_file_inside_is_not_read(root: Path, path: str) -> None:
    with pytest.raises(DocstowError) as caught:
        Boundary(root).read(path)
    assert str(root.parent) not in caught.value.message


def test_a_file_inside_is_read_by_its_name_and_by_links_to_it(root: Path) -> None:
    boundary = Boundary(root)
    assert boundary.read("pkg/mod.py") == b"x = 1\n"
    assert boundary.read("./pkg/mod.py") == b"x = 1\n"
    assert boundary.read("mod.py", root / "pkg") == b"x = 1\n"
    assert boundary.read("pkg/inside.py") == b"x = 1\n"
    assert boundary.read("pkg/größe 100%.py") == b"y = 1\n"
    assert boundary.read("pkg/latin.py").endswith(b"'caf\xe9'\n")
    assert boundary.read("pkg/native.so", text=False).startswith(b"\x7fELF")


def test_each_refusal_says_what_it_is(root: Path) -> None:
    boundary = Boundary(root)
    for path, error in {
        "../secret.txt": Forbidden,
        "pkg/out.py": Forbidden,
        "pkg/missing.py": DocumentNotFound,
        "pkg/native.so": UnreadableInput,
        "pkg/pipe": UnreadableInput,
        "pkg": UnreadableInput,
    }.items():
        with pytest.raises(error):
            boundary.read(path)
    with pytest.raises(TooLarge) as caught:
        boundary.read("pkg/mod.py", most=3)
    assert caught.value.body()["limit"] == 3


def test_a_socket_is_not_read(root: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "s"))
        with pytest.raises(UnreadableInput):
            Boundary(tmp_path).read("s")


def test_a_folder_elsewhere_is_read_only_if_it_is_allowed(root: Path) -> None:
    outside = root.parent / "root-other"
    with pytest.raises(Forbidden):
        Boundary(root).read(outside / "secret.txt")
    assert Boundary(root, [outside]).read(outside / "secret.txt") == SECRET


def test_walking_does_not_leave(root: Path) -> None:
    found = [path.relative_to(root).as_posix() for path in Boundary(root).walk(root, {"sub"})]
    assert found == [
        "pkg/größe 100%.py",
        "pkg/inside.py",
        "pkg/latin.py",
        "pkg/mod.py",
        "pkg/native.so",
        "pkg/picture.py",
        "pkg/small.txt.gz",
    ]
    with pytest.raises(Forbidden):
        next(Boundary(root).walk(root.parent))


def test_the_system_is_not_read_even_where_it_is_the_root() -> None:
    with pytest.raises(Forbidden):
        Boundary(Path("/")).read("proc/self/environ")
    with pytest.raises(Forbidden):
        Boundary(Path("/")).read(Path("/dev/zero"))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["..", ".", "pkg", "sub", "secret.txt", "parent", "%2e%2e", "\u2025", "~", "etc", ""]
        ),
        min_size=1,
        max_size=8,
    )
)
def test_no_path_of_such_parts_reads_the_secret(root: Path, parts: list[str]) -> None:
    try:
        body = Boundary(root).read("/".join(parts))
    except DocstowError:
        return
    assert body != SECRET


@pytest.mark.parametrize(
    ("body", "binary"),
    [
        (b"", False),
        (b"plain\ttext\r\n\x0c", False),
        ("größe €".encode(), False),
        ("€".encode() * 4000, False),
        (b"caf\xe9", False),
        (b"\x1b[31mred\x1b[0m", False),
        (b"a\0b", True),
        (b"%PDF-1.7", True),
        (b"PK\x03\x04", True),
        (b"\x28\xb5\x2f\xfd rest", True),
        (b"\xff\xfe\x01\x02", True),
        ("utf sixteen".encode("utf-16"), True),
    ],
)
def test_text_is_told_by_its_content(body: bytes, *, binary: bool) -> None:
    assert is_binary(body) is binary


def test_where_a_folder_was_is_not_where_it_is(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder, text in ((root / "a", "first"), (root / "b", "second"), (outside, "secret")):
        folder.mkdir(parents=True)
        (folder / "x.py").write_text(text)
    boundary = Boundary(root)
    assert boundary.read(root / "a/x.py") == b"first"
    (root / "a").rename(root / "c")
    (root / "a").symlink_to(root / "b")
    assert boundary.read(root / "a/x.py") == b"second"
    (root / "a").unlink()
    (root / "a").symlink_to(outside)
    with pytest.raises(Forbidden):
        boundary.read(root / "a/x.py")
    (root / "a").unlink()
    with pytest.raises(DocumentNotFound):
        boundary.read(root / "a/x.py")
    (root / "c").rename(root / "a")
    (root / "a/x.py").unlink()
    (root / "a/x.py").symlink_to(outside / "x.py")
    with pytest.raises(Forbidden):
        boundary.read(root / "a/x.py")


def test_files_are_read_where_the_system_does_not_say_what_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boundary_module, "_OPENED", str(tmp_path / "nothing"))
    (tmp_path / "x.py").write_text("first")
    assert [Boundary(tmp_path).read(tmp_path / "x.py") for _ in range(2)] == [b"first"] * 2
