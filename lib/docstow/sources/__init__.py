"""Where bytes come from: one module a kind of source.

An origin knows how to resolve a source and to fetch it. It does not know what the bytes mean.
"""
