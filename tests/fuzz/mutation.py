"""Inputs made of others: cut, flipped, spliced, and parts said again and again."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from fuzz.seeds import LONGEST

#: What formats give a meaning to.
_TOKENS = (
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b" ", b"\t", b"\\", b'"', b"'", b"`"),
    *(b"{", b"}", b"[", b"]", b"(", b")", b"<", b">", b"</", b"<!--", b"/*", b"*/", b"//", b"#"),
    *(b"-1", b"0", b"1e999", b"99999999999999999999", b"NaN", b"null", b"\xed\xa0\x80", b"%00"),
    *(b"'''", b'"""', b"```", b":::", b"::", b"${", b"=>", b"&a", b"*a", b"<<", b"..", b"/", b"|"),
)
_place = st.integers(0, 2**20)


def _cut(draw: st.DrawFn, body: bytes, others: Sequence[bytes]) -> bytes:
    first, second = sorted((draw(_place) % (len(body) + 1), draw(_place) % (len(body) + 1)))
    return body[:first] + body[second:] if draw(st.booleans()) else body[first:second]


def _flip(draw: st.DrawFn, body: bytes, others: Sequence[bytes]) -> bytes:
    changed = bytearray(body or b"\0")
    for place in draw(st.lists(_place, min_size=1, max_size=8)):
        changed[place // 8 % len(changed)] ^= 1 << place % 8
    return bytes(changed)


def _insert(draw: st.DrawFn, body: bytes, others: Sequence[bytes]) -> bytes:
    place = draw(_place) % (len(body) + 1)
    part = draw(st.one_of(st.sampled_from(_TOKENS), st.binary(min_size=1, max_size=12)))
    return body[:place] + part + body[place:]


def _splice(draw: st.DrawFn, body: bytes, others: Sequence[bytes]) -> bytes:
    other = others[draw(_place) % len(others)]
    return body[: draw(_place) % (len(body) + 1)] + other[draw(_place) % (len(other) + 1) :]


def _repeat(draw: st.DrawFn, body: bytes, others: Sequence[bytes]) -> bytes:
    """Say a part so often that the input is as long as may be."""
    place = draw(_place) % (len(body) + 1)
    part = draw(st.sampled_from(_TOKENS)) if draw(st.booleans()) else b""
    part = body[place : place + draw(st.integers(1, 40))] + part or b"a"
    times = (LONGEST - min(len(body), LONGEST)) // len(part)
    return body[:place] + part * draw(st.sampled_from([times, times // 8, 100])) + body[place:]


def mutated(bodies: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Return what makes inputs of some, by up to four changes."""

    @st.composite
    def make(draw: st.DrawFn) -> bytes:
        body = bodies[draw(_place) % len(bodies)]
        changes = st.sampled_from([_cut, _flip, _insert, _splice, _repeat])
        for change in draw(st.lists(changes, max_size=4)):
            body = change(draw, body, bodies)[:LONGEST]
        return body

    return make()
