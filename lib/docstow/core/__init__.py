"""Words that every package shares: model, errors, settings, versions, URLs, credentials. No I/O."""
