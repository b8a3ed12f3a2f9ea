"""Bundles: stored sources as one file, for stores without a network and for backups."""
