"""Words that every package shares: model, errors, settings, versions, URLs, relations. No I/O."""
