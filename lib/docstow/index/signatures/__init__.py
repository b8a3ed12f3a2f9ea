"""Search by the shape of a function: ``Vec<T> -> Option<&T>``.

This room knows Rust's syntax of signatures and how alike two of them are. It does not know
crates, documents or tools, and does no I/O.

The idea is that of Hoogle (Mitchell, "Hoogle Overview", The Monad.Reader 12, 2008), which finds
functions by unifying types and counts what had to be bent; rustdoc's search by type has the same
habits for Rust: arguments in any order, a receiver is an argument, a lone capital is a variable.
"""

from docstow.index.signatures.parser import BadSignature, declarations, owner_type, query
from docstow.index.signatures.tree import Function, Type, Variable

__all__ = [
    "BadSignature",
    "Function",
    "Type",
    "Variable",
    "declarations",
    "owner_type",
    "query",
]
