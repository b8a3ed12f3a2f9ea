"""The tools: what docstow offers, apart from how a face carries it.

This room's front door knows what a tool is. Each toolset has a module of its own beside it,
which this front door must not import.
"""

from docstow.tools._tools_registry import Answer, Tool, Toolbox
from docstow.tools.parameters import Parameter

__all__ = ["Answer", "Parameter", "Tool", "Toolbox"]
