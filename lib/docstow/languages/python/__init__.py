"""Python: environments, sources, surfaces, checks of code, diffs."""
