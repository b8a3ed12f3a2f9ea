"""How often a process looks for garbage."""

import subprocess
import sys

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
