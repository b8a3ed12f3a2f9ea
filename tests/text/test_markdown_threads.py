"""Texts are read by many threads at once, from the first one on."""

from __future__ import annotations

import json
import subprocess
import sys

# In a process of its own, where nothing has been read yet.
PROGRAM = """
import json, sys, threading

from docstow.text.parsing import parse

sys.setswitchinterval(1e-6)
together, found = threading.Barrier(16), []

def read(number):
    together.wait()
    try:
        (block,) = parse(f"{number} [a](https://b.c/d?e=f#g~h) &amp; `c`")
        found.append(block.text == f"{number} a & `c`")
    except Exception as error:
        found.append(repr(error))

threads = [threading.Thread(target=read, args=(number,)) for number in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(found))
"""


def test_the_first_texts_of_many_threads_are_read_whole() -> None:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert json.loads(done.stdout) == [True] * 16
