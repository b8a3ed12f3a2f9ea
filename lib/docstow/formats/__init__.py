"""Readers know what bytes are: pure functions from a body to documents, without any I/O."""
