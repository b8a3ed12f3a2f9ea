"""Search for functions by their signature: ``Vec<T> -> Option<&T>``.

The idea is that of Hoogle (Mitchell, "Hoogle Overview", The Monad.Reader 12, 2008), which finds
functions by unifying types and counts what had to be bent; rustdoc's search by type has the same
habits for Rust: arguments in any order, a receiver is an argument, a lone capital is a variable.
"""
