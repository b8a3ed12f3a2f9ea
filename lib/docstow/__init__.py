"""docstow: documentation for AI coding agents, stowed in a bucket."""

__version__ = "0.1.0"
