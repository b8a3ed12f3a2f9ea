"""Rust: rustdoc JSON, Cargo.lock, checks of code, diffs."""
