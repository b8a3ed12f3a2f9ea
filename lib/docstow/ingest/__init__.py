"""The write path: sources are fetched, read and published, by jobs or in the caller's thread."""
