"""A snapshot's tables and what is asked of them: schema, search, ranking, lookup, cards."""
