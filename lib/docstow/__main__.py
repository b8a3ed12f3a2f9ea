"""``python -m docstow`` is the command ``docstow``."""

from docstow.cli import run

run()
