"""Text without its origin: Markdown to chunks, sentences, tokens and BM25 weights. Pure."""
