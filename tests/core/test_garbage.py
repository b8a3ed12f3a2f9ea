"""When a process looks for garbage, and gives memory back."""

import os
import platform
import subprocess
import sys

import pytest

from docstow.core.garbage import SMALL_HEAP

_CODE = """
import gc
import docstow
from docstow.cli import main
print(gc.get_threshold()[0])
assert main(["token", "new", "somebody"]) == 0
print(gc.get_threshold()[0])
"""


def test_a_command_looks_seldom_and_the_library_leaves_it_to_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True)
    before, *_, after = done.stdout.split()
    plain = subprocess.run(
        [sys.executable, "-c", "import gc; print(gc.get_threshold()[0])"],
        capture_output=True,
        text=True,
    )
    assert before == plain.stdout.strip(), done.stderr
    assert int(after) > 10 * int(before)


#: Of blocks that Python gets from the C library every 64th stays, so that the others do not lie at
#: the end of what the system gave.
SCATTERED = """
from docstow.core.garbage import return_memory

def pages():
    return int(open("/proc/self/statm").read().split()[1])

begun = pages()
blocks = [bytearray(4096) for _ in range(20_000)]
full = pages()
kept = blocks[::64]
del blocks
return_memory()
print(begun, full, pages())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries do it themselves")
def test_memory_between_what_is_kept_goes_back_to_the_system() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCATTERED], capture_output=True, text=True, check=True
    )
    begun, full, left = map(int, done.stdout.split())
    assert left - begun < (full - begun) / 4


#: A block of 16 MB is let go of first, from which glibc learns to keep what is smaller; between
#: those that follow small ones stay.
LARGE_BLOCKS = """
def pages():
    return int(open("/proc/self/statm").read().split()[1])

bytearray(16 << 20)
begun = pages()
blocks = [(bytearray(3 << 20), bytearray(4096)) for _ in range(30)]
full = pages()
kept = [small for _, small in blocks]
del blocks
print(begun, full, pages())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries do it themselves")
def test_large_blocks_go_back_at_once_where_the_heap_is_small() -> None:
    def left(settings: dict[str, str]) -> float:
        done = subprocess.run(
            [sys.executable, "-c", LARGE_BLOCKS],
            env={**settings, **os.environ},
            capture_output=True,
            text=True,
            check=True,
        )
        begun, full, after = map(int, done.stdout.split())
        return (after - begun) / (full - begun)

    assert left({}) > 0.9
    assert left(SMALL_HEAP) < 0.1
