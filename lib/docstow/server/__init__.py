"""Serve the tools: MCP over HTTP and stdio, plain routes, and the parser of the command line."""
