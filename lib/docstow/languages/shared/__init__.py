"""What all languages share: records, scans, surfaces, findings, the sandbox."""
