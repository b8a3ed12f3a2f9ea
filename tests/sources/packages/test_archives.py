"""Archives of packages are unpacked whole, and hostile ones do no harm."""

from __future__ import annotations

import gzip
import io
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from docstow.core.errors import TooLarge, UnreadableInput
from docstow.sources.packages.archives import Unpacker, made_whole
from docstow.sources.tarball import Caps

Form = Callable[[Path, Iterable[tuple[str, bytes]]], Path]


def zipped(path: Path, entries: Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in entries:
            archive.writestr(name, body)
    return path


def tarred(path: Path, entries: Iterable[tuple[str | tarfile.TarInfo, bytes]]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, body in entries:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return path


def tree(folder: Path) -> dict[str, bytes]:
    return {
        each.relative_to(folder).as_posix(): each.read_bytes()
        for each in folder.rglob("*")
        if not each.is_dir()
    }


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """A folder in a folder, so that what gets out of it is seen."""
    made = tmp_path / "outer" / "box"
    made.mkdir(parents=True)
    return made


def test_a_wheel_is_unpacked_as_it_is(tmp_path: Path, box: Path) -> None:
    archive = zipped(
        tmp_path / "a.whl", [("a/__init__.py", b"x = 1"), ("a/b.py", b""), ("c/", b"")]
    )
    assert not Unpacker(box).add(archive, "a.whl")
    assert tree(box) == {"a/__init__.py": b"x = 1", "a/b.py": b""}


def test_the_folder_at_the_top_of_a_tarball_is_no_part_of_it(tmp_path: Path, box: Path) -> None:
    archive = tarred(
        tmp_path / "a.tgz", [("package/index.js", b"1"), ("./package//b/./c.js", b"2")]
    )
    assert not Unpacker(box).add(archive, "a.tgz")
    assert tree(box) == {"index.js": b"1", "b/c.js": b"2"}


def test_files_are_placed_and_chosen(tmp_path: Path, box: Path) -> None:
    archive = zipped(tmp_path / "a.whl", [("a.py", b"1"), ("b.so", b"2"), ("c.txt", b"3")])
    Unpacker(box).add(
        archive,
        "a.whl",
        lambda path: "" if path == "c.txt" else f"site/{path}",
        content=lambda path: path.endswith(".py"),
    )
    assert tree(box) == {"site/a.py": b"1", "site/b.so": b""}


@pytest.mark.parametrize(
    "name",
    ["../evil", "a/../../evil", "/evil", "//evil", "C:/evil", "c:evil", "a\\..\\..\\evil", "a/..",
     "\\\\host\\evil", "a/.. /evil", "~/evil"],
)  # fmt: skip
@pytest.mark.parametrize("form", [zipped, tarred])
def test_names_that_lead_out_refuse_the_archive(
    tmp_path: Path, box: Path, name: str, form: Form
) -> None:
    entry = f"package/{name}" if form is tarred and name[0] in "a~" else name
    archive = form(tmp_path / "x", [(entry, b"evil")])
    with pytest.raises(UnreadableInput, match="leads out of it"):
        Unpacker(box).add(archive, "x")
    assert tree(box.parent) == {}


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_are_not_made(tmp_path: Path, box: Path, kind: bytes) -> None:
    link = tarfile.TarInfo("package/link")
    link.type, link.linkname = kind, "/etc"
    through = ("package/link/passwd", b"evil")
    archive = tarred(tmp_path / "x", [(link, b""), through, ("package/a.js", b"a")])
    left_out = Unpacker(box).add(archive, "x")
    assert left_out.total() == 1
    assert tree(box) == {"link/passwd": b"evil", "a.js": b"a"}
    assert not (box / "link").is_symlink()


def test_links_in_a_zip_are_not_made(tmp_path: Path, box: Path) -> None:
    link = zipfile.ZipInfo("a/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive = zipped(tmp_path / "x", [(link, b"/etc/passwd"), ("a/b.py", b"b")])
    assert Unpacker(box).add(archive, "x") == {"link": 1}
    assert tree(box) == {"a/b.py": b"b"}


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (["a/Readme", "a/README"], ["a/Readme"]),
        (["A/x", "a/y"], ["A/x"]),
        (["a", "a/b"], ["a"]),
        (["a/b", "a"], ["a/b"]),
        (["\u00e9.py", "e\u0301.py"], ["\u00e9.py"]),
        (["b", "aux.py"], ["b"]),
        (["b", "x/NUL"], ["b"]),
        (["b", "COM1.txt"], ["b"]),
        (["b", "x/trailing."], ["b"]),
        (["b", "x/a:stream"], ["b"]),
        (["b", "x/" + "n" * 256], ["b"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", [zipped, tarred])
def test_what_not_every_system_can_keep_is_left_out(
    tmp_path: Path, box: Path, names: list[str], kept: list[str], form: Form
) -> None:
    prefix = "package/" if form is tarred else ""
    archive = form(tmp_path / "x", [(prefix + each, b"") for each in names])
    left_out = Unpacker(box).add(archive, "x")
    assert left_out.total() == 1
    assert list(tree(box)) == kept


def test_of_a_name_that_comes_twice_the_last_is_taken(tmp_path: Path, box: Path) -> None:
    archive = tarred(tmp_path / "x", [("p/a.js", b"first"), ("p/a.js", b"last")])
    Unpacker(box).add(archive, "x")
    assert tree(box) == {"a.js": b"last"}


def test_an_entry_without_a_name_is_no_file(tmp_path: Path, box: Path) -> None:
    wheel = tmp_path / "x.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        with archive.open(zipfile.ZipInfo(""), "w") as entry:
            entry.write(b"1")
        archive.writestr("a.py", b"2")
    Unpacker(box).add(wheel, "x.whl")
    assert [each.name for each in box.iterdir()] == ["a.py"]


def test_a_later_archive_replaces_nothing(tmp_path: Path, box: Path) -> None:
    unpacker = Unpacker(box)
    unpacker.add(zipped(tmp_path / "a.whl", [("a/x.py", b"own")]), "a.whl")
    second = zipped(tmp_path / "b.whl", [("a/x.py", b"others"), ("A/y.py", b""), ("b.py", b"b")])
    assert unpacker.add(second, "b.whl") == {"another file has its name": 2}
    assert tree(box) == {"a/x.py": b"own", "b.py": b"b"}


@pytest.mark.parametrize("form", [zipped, tarred])
def test_a_bomb_is_not_read_to_its_end(tmp_path: Path, box: Path, form: Form) -> None:
    archive = form(tmp_path / "x", [("p/zeros", bytes(64 << 20))])
    with pytest.raises(TooLarge):
        Unpacker(box).add(archive, "x")
    assert sum(map(len, tree(box).values())) < 20 << 20


@pytest.mark.parametrize("caps", [Caps(entries=9), Caps(plain=4_000)])
def test_sizes_and_counts_hold_for_all_archives_together(
    tmp_path: Path, box: Path, caps: Caps
) -> None:
    files = [(f"{n}.py", bytes([n]) * 500) for n in range(5)]
    unpacker = Unpacker(box, caps)
    unpacker.add(zipped(tmp_path / "x", ((f"a/{name}", body) for name, body in files)), "first")
    second = zipped(tmp_path / "y", ((f"b/{name}", body) for name, body in files))
    with pytest.raises(TooLarge):
        unpacker.add(second, "second")


def test_a_list_of_a_million_files_is_not_read(tmp_path: Path, box: Path) -> None:
    path = tmp_path / "x"
    name = b"n" * 16
    record = b"PK\1\2" + bytes(24) + len(name).to_bytes(2, "little") + bytes(16) + name
    count = 1_000_000
    size = len(record) * count
    end64 = b"PK\6\6" + (44).to_bytes(8, "little") + bytes(12) + count.to_bytes(8, "little") * 2
    end64 += size.to_bytes(8, "little") + bytes(8)
    locator = b"PK\6\7" + bytes(4) + size.to_bytes(8, "little") + (1).to_bytes(4, "little")
    end = b"PK\5\6" + bytes(4) + b"\xff" * 12 + bytes(2)
    path.write_bytes(record * count + end64 + locator + end)
    with pytest.raises(TooLarge, match="list of files"):
        Unpacker(box).add(path, "x")


def test_sizes_that_lie_are_told(tmp_path: Path, box: Path) -> None:
    path = zipped(tmp_path / "x", [("a.py", b"real content")])
    body = bytearray(path.read_bytes())
    at = body.rindex(b"PK\1\2") + 24
    body[at : at + 4] = (5).to_bytes(4, "little")
    path.write_bytes(body)
    with pytest.raises(UnreadableInput, match="damaged"):
        Unpacker(box).add(path, "x")


def test_paths_without_end_are_refused(tmp_path: Path, box: Path) -> None:
    for name in ("a/" * 40 + "b", "a" * 1100):
        with pytest.raises(TooLarge, match="path of more than"):
            Unpacker(box).add(zipped(tmp_path / "x", [(name, b"")]), "x")


@pytest.mark.parametrize(
    "body", [b"", b"P", b"PK", b"PK\3\4 not an archive", b"<html>", b"\x1f\x8b\x08"]
)
def test_what_is_no_archive_is_told(tmp_path: Path, box: Path, body: bytes) -> None:
    (tmp_path / "x").write_bytes(body)
    with pytest.raises(UnreadableInput):
        Unpacker(box).add(tmp_path / "x", "x")


def test_a_folder_has_its_name_when_it_is_whole(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), made_whole(tmp_path / "made") as inside:
        (inside / "a" / "b").write_text("b")
    assert list(tmp_path.iterdir()) == []
    with made_whole(tmp_path / "made") as inside:
        (inside / "a").write_text("a")
        assert not (tmp_path / "made").exists()
    assert tree(tmp_path) == {"made/a": b"a"}


# Extended headers of tarballs


def header(name: str, size: int = 0, kind: bytes = b"0") -> bytes:
    made = tarfile.TarInfo(name)
    made.size, made.type = size, kind
    return made.tobuf(tarfile.GNU_FORMAT)


def extended(fields: Mapping[str, str], kind: bytes = b"x") -> bytes:
    """An extended header of POSIX; each record begins with its own length."""
    records = b""
    for name, value in fields.items():
        rest = f" {name}={value}\n".encode()
        size = len(rest)
        while len(str(size)) + len(rest) != size:
            size = len(str(size)) + len(rest)
        records += str(size).encode() + rest
    return header("pax", len(records), kind) + padded(records)


def padded(body: bytes) -> bytes:
    return body + b"\0" * (-len(body) % 512)


SPARSE = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
ONE = header("package/a.py", 3) + padded(b"a=1")


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        (extended(SPARSE) + header("package/a.py", 512) + padded(b"9999\n" + b"1" * 400), "sparse"),
        (extended({"GNU.sparse.map": "1,x,3", "GNU.sparse.size": "3"}) + ONE, "sparse"),
        (header("package/a.py", 512, b"S") + padded(b"1" * 512), "sparse"),
        (extended({"comment": "a"}) * 5000 + ONE, "extended headers"),
        ((header("././@LongLink", 4, b"L") + padded(b"p/y")) * 5000 + ONE, "extended headers"),
        (extended({f"k{n}": "v" for n in range(20_000)}, b"g") + ONE * 1000, "extended headers"),
        (extended({"mtime": "1" * 400, "size": "9" * 400}) + ONE, "damaged"),
        (extended({"size": "-1"}) + ONE, "damaged"),
    ],
)  # fmt: skip
def test_extended_headers_without_end_or_sense_are_refused(
    tmp_path: Path, box: Path, entries: bytes, reason: str
) -> None:
    """tarfile reads each within the one before, and gives every file a copy of what is for all."""
    archive = tmp_path / "a.tar.gz"
    archive.write_bytes(gzip.compress(entries + bytes(1024), 6))
    with pytest.raises(UnreadableInput, match=reason):
        Unpacker(box).add(archive, "a.tar.gz")


def test_a_comment_for_all_files_does_no_harm(tmp_path: Path, box: Path) -> None:
    archive = tmp_path / "a.tar.gz"
    comment = extended({"comment": "0123456789"}, b"g")
    archive.write_bytes(gzip.compress(comment + ONE + bytes(1024)))
    assert Unpacker(box).add(archive, "a.tar.gz") == {}
    assert (box / "a.py").read_bytes() == b"a=1"


def test_places_that_no_file_has_are_told(tmp_path: Path, box: Path) -> None:
    """A list of files that says it is 2**62 bytes away, by the fields of 64 bits."""
    body = zipped(tmp_path / "whole.whl", [("a.py", b"1")]).read_bytes()
    at = body.rindex(b"PK\x05\x06")
    size = struct.unpack_from("<I", body, at + 12)[0]
    for count, length, start in ((1, size, 2**62), (1, 2**62, 0), (2**63, 2**63, 2**63)):
        record = struct.pack(
            "<4sQ2HIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, length, start
        )
        locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, at, 1)
        end = struct.pack("<4s4H2LH", b"PK\x05\x06", *[0xFFFF] * 4, *[0xFFFFFFFF] * 2, 0)
        archive = tmp_path / "a.whl"
        archive.write_bytes(body[:at] + record + locator + end)
        with pytest.raises((UnreadableInput, TooLarge)):
            Unpacker(box).add(archive, "a.whl")
