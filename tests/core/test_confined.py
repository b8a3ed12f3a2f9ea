"""Programs of others: what they cannot do."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from docstow.core import confined
from require import unavailable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")
READS = [sys.base_prefix, str(Path(sys.executable).resolve().parent)]


def run(
    code: str,
    *,
    reads: tuple[str, ...] = (),
    memory_bytes: int = 1 << 30,
    cpu_s: int = 10,
    writes: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    program = [str(Path(sys.executable).resolve()), "-I", "-S", "-c", code]
    command = confined.command(
        program,
        reads=[*READS, *reads],
        memory_bytes=memory_bytes,
        cpu_s=cpu_s,
        writes=writes,
        file_bytes=1000 if writes else 0,
    )
    environment = confined.environment("/nonexistent", {"LANG": "C.UTF-8"})
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=60, check=False
    )


def test_it_reads_what_it_is_given_and_nothing_else(tmp_path: Path) -> None:
    given, other = tmp_path / "given", tmp_path / "other"
    for each in (given, other):
        each.mkdir()
        (each / "file").write_text("text")
    (given / "link").symlink_to(other / "file")
    assert run(f"print(open({str(given / 'file')!r}).read())", reads=(str(given),)).stdout == (
        "text\n"
    )
    if run("open('/etc/passwd')").returncode == 0:
        unavailable("this kernel has no Landlock")
    for outside in (other / "file", given / "link", Path("/etc/passwd")):
        done = run(f"open({str(outside)!r})", reads=(str(given),))
        assert "PermissionError" in done.stderr, outside


def test_it_writes_nothing(tmp_path: Path) -> None:
    done = run(f"open({str(tmp_path / 'made')!r}, 'w').write('x' * 10)", reads=(str(tmp_path),))
    assert done.returncode != 0
    assert not (tmp_path / "made").exists() or not (tmp_path / "made").stat().st_size


def test_it_writes_where_it_is_told_to_files_of_a_largest_size(tmp_path: Path) -> None:
    place, other = tmp_path / "place", tmp_path / "other"
    for each in (place, other):
        each.mkdir()
    code = f"""
import os
os.mkdir({str(place / "made")!r})
open({str(place / "made" / "file")!r}, 'w').write('x' * 900)
open('/dev/null', 'w').write('x')
os.rename({str(place / "made" / "file")!r}, {str(place / "file")!r})
print(open({str(place / "file")!r}).read().count('x'))
"""
    assert run(code, writes=(str(place),)).stdout == "900\n"
    assert run("import sys; sys.exit(7)", writes=(str(place),)).returncode == 7
    large = f"open({str(place / 'large')!r}, 'wb', 0).write(b'x' * 2000)"
    assert run(large, writes=(str(place),)).returncode or (place / "large").stat().st_size <= 1000
    if run("open('/etc/passwd')").returncode == 0:
        unavailable("this kernel has no Landlock")
    made = run(f"open({str(other / 'made')!r}, 'w')", writes=(str(place),), reads=(str(other),))
    assert "PermissionError" in made.stderr
    assert not list(other.iterdir())


@pytest.mark.parametrize("writes", [False, True])
def test_it_reaches_nobody(tmp_path: Path, *, writes: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.01)
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        done = run(code, writes=(str(tmp_path),) if writes else ())
        if done.returncode == 0:
            unavailable("this system has neither network namespaces nor Landlock's")
        with pytest.raises(TimeoutError):
            server.accept()


def test_it_ends_where_it_takes_too_much() -> None:
    assert "MemoryError" in run("bytearray(300_000_000)", memory_bytes=200_000_000).stderr
    assert run("bytearray(100_000_000)", memory_bytes=200_000_000).returncode == 0
    assert run("while True: pass", cpu_s=1).returncode < 0


def test_it_has_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCSTOW_NPM_REGISTRY_URL", "https://user:secret@host.example")
    told = run("import os; print(dict(os.environ))").stdout
    assert "secret" not in told
    assert "'HOME': '/nonexistent'" in told
    assert "'PATH': ''" in told
