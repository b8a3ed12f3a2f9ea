"""Serves MCP over standard streams, as a client's extension."""

import sys

from docstow.cli import main

sys.exit(main(["serve", "--stdio"]))
