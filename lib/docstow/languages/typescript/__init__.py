"""TypeScript and JavaScript: node_modules, sources, surfaces, checks of code, diffs."""
