"""TypeScript and JavaScript files, parsed: statements, declarations, types."""
