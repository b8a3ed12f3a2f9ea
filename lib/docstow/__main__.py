"""``python -m docstow`` is the command ``docstow``."""

import sys

from docstow.cli import main

sys.exit(main())
