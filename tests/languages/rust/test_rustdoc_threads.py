"""Files are read by many threads at once, from the first one on."""

from __future__ import annotations

import subprocess
import sys

# In a process of its own, where nothing has been read yet.
PROGRAM = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
import zstandard
from docstow.languages.rust.rustdoc import read
from docstow.runtime import SAMPLE

sys.setswitchinterval(1e-6)
body, together = zstandard.decompress(SAMPLE.read_bytes()), threading.Barrier(8)

def count(_):
    together.wait()
    return len(read(body).documents)

with ThreadPoolExecutor(8) as pool:
    print(*set(pool.map(count, range(8))))
"""


def test_the_first_files_of_many_threads_are_whole() -> None:
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "83\n"), done.stderr
