"""What a changed declaration of TypeScript breaks."""

from __future__ import annotations

import pytest

from docstow.languages.typescript.diff import same, takes_as_much


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("row(a: string, b?: X): this", "row( a: string, other?: X, ): this"),
        ("row(f: (...a: any[]) => void): this", "row(f: (this: this, ...b: any[]) => void): this"),
        ("type Oar = | 'a' | 'b'", "type Oar = 'b' | \"a\""),
        ("readonly x: { a: string; b: number; }", "readonly x: {b: number, a: string}"),
        ("function row(a?: A | undefined): B", "function row(a?: A): B"),
        ("function is(a: unknown): a is X", "function is(b: unknown): b is X"),
        ("static make(a: A<T, D>): R<T>", "static make(a: A<T,D>): R< T >"),
        ("x?: boolean", "x?: boolean | undefined"),
        ("type A = { a?: X; }", "type A = { a?: X | undefined }"),
        ("make: <T_1 extends A>(a: T_1) => R<T_1>", "make: <E extends A>(b: E) => R<E>"),
        ("{{{ not TypeScript", "{{{  not TypeScript"),
    ],
)
def test_how_a_declaration_is_written_is_no_change(before: str, after: str) -> None:
    assert same(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("row(a: string): void", "row(a: string | number, b?: X): void"),
        ("row(a: string): void", "row(a: string, ...more: X[]): void"),
        ("row(a: string): A | B", "row(a?: string): A"),
        ("function row(a: string): A", "function row(a: string): A\nfunction row(a: number): B"),
        ("row(c?: C): never\nrow(f?: F): never", "row(c?: C): never\nrow(f: F): never"),
        ("class A<T> extends B", "class A<T, U = any> extends B implements C"),
        ("interface A", "interface A extends B<C, D>"),
        ("class A extends B<C, D>", "class A extends B<C, D, E>"),
        ("type A = { a: X; }", "type A = { b?: Y; a: X; }"),
        ("const row: (a: string) => void", "const row: (a: string, b?: number) => void"),
    ],
)
def test_what_takes_as_much_as_before(before: str, after: str) -> None:
    assert not same(before, after)
    assert takes_as_much(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("row(a: string): void", "row(a: string, b: X): void"),
        ("row(a?: string): void", "row(a: string): void"),
        ("row(a: string | number): void", "row(a: string): void"),
        ("row(a: string): A", "row(a: string): A | B"),
        ("row(a: string, b?: X): A", "row(a: string): A"),
        ("row<T>(a: T): A", "row<T, U>(a: T): A"),
        ("x?: boolean", "x: boolean"),
        ("type Oar = 'a' | 'b'", "type Oar = 'a'"),
        ("class A extends B", "class A extends C"),
        ("class A extends B<C, D>", "class A extends B<D, C>"),
        ("type A = { a: X; }", "type A = { a: X; b: Y; }"),
        ("type A = { a: X; }", "type A = { a: Y; }"),
        ("interface A<T>", "interface A<T, U>"),
        ("const x: string", "const x: number"),
        ("get x(): string", "get x(): number"),
    ],
)
def test_what_does_not(before: str, after: str) -> None:
    assert not same(before, after)
    assert not takes_as_much(before, after)
