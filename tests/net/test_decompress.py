"""Both archive forms in any pieces, both caps, and bombs that stop early."""

from __future__ import annotations

import gzip
import random
import tracemalloc
from collections.abc import Callable, Iterator

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.errors import TooLarge, UnreadableInput
from docstow.net.decompress import Limits, decompress
from servers.loopback import zstd_bomb

MIB = 1024 * 1024
TEXT = b'{"root": 0}' * 5000
NOISE = random.Random(7).randbytes(200_000)
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "zstd": zstandard.compress,
    "gzip": gzip.compress,
}


def pieces(body: bytes, size: int) -> Iterator[bytes]:
    return (body[start : start + size] for start in range(0, len(body), size))


@given(
    body=st.one_of(st.binary(max_size=2000).map(lambda tail: b"{" + tail), st.just(TEXT)),
    packing=st.sampled_from(sorted(PACKERS)),
    size=st.integers(min_value=1, max_value=70_000),
    parts=st.integers(min_value=1, max_value=3),
)
def test_any_packing_in_any_pieces_is_unpacked(
    body: bytes, packing: str, size: int, parts: int
) -> None:
    packed = PACKERS[packing](body) * parts
    assert decompress(pieces(packed, size), Limits(), name="it") == body * parts


@pytest.mark.parametrize("body", [b"", b"{", b"\x28\xb5", b"\x1f"])
def test_what_is_too_short_to_be_packed_is_plain(body: bytes) -> None:
    assert decompress(iter([body]), Limits(), name="it") == body


def test_a_zstd_stream_without_its_content_size_is_unpacked() -> None:
    stream = zstandard.ZstdCompressor().compressobj()
    packed = stream.compress(TEXT) + stream.flush()
    assert decompress([packed], Limits(), name="it") == TEXT


@pytest.mark.parametrize("packing", ["zstd", "gzip"])
@pytest.mark.parametrize("lost", [1, 5, 1000])
def test_a_truncated_archive_is_unreadable(packing: str, lost: int) -> None:
    packed = PACKERS[packing](NOISE)[:-lost]
    with pytest.raises(UnreadableInput, match="it ends before its archive does"):
        decompress(pieces(packed, 4096), Limits(), name="it")


@pytest.mark.parametrize("packing", ["zstd", "gzip"])
def test_a_damaged_archive_is_unreadable(packing: str) -> None:
    packed = bytearray(PACKERS[packing](TEXT))
    packed[4:12] = b"\xff" * 8
    with pytest.raises(UnreadableInput, match="it is a damaged archive"):
        decompress([bytes(packed)], Limits(), name="it")


@pytest.mark.parametrize("packing", ["zstd", "gzip"])
def test_bytes_behind_an_archive_are_damage(packing: str) -> None:
    with pytest.raises(UnreadableInput, match="it is a damaged archive"):
        decompress([PACKERS[packing](TEXT) + b"trailing bytes"], Limits(), name="it")


@pytest.mark.parametrize("packing", ["plain", "zstd", "gzip"])
def test_the_decompressed_cap_is_exact(packing: str) -> None:
    packed = PACKERS[packing](TEXT)
    assert decompress([packed], Limits(decompressed=len(TEXT)), name="it") == TEXT
    with pytest.raises(TooLarge, match="decompressed") as caught:
        decompress([packed], Limits(decompressed=len(TEXT) - 1), name="it")
    assert caught.value.body()["limit"] == len(TEXT) - 1


@pytest.mark.parametrize("packing", ["zstd", "gzip"])
def test_the_compressed_cap_is_exact(packing: str) -> None:
    packed = PACKERS[packing](NOISE)
    limits = Limits(compressed=len(packed))
    assert decompress(pieces(packed, 4096), limits, name="it", declared=len(packed)) == NOISE
    with pytest.raises(TooLarge, match="compressed") as caught:
        decompress(pieces(packed, 4096), Limits(compressed=len(packed) - 1), name="it")
    assert caught.value.body()["limit"] == len(packed) - 1


def test_plain_content_may_be_longer_than_the_compressed_cap() -> None:
    assert decompress([TEXT], Limits(compressed=10), name="it", declared=len(TEXT)) == TEXT


@pytest.mark.parametrize(
    ("first", "limits"),
    [
        (zstandard.compress(TEXT)[:8], Limits(compressed=1000)),
        (b'{"root"', Limits(decompressed=1000)),
    ],
)
def test_a_declared_length_beyond_the_cap_is_refused_at_once(first: bytes, limits: Limits) -> None:
    def chunks() -> Iterator[bytes]:
        yield first
        pytest.fail("more was read than the first chunk")

    with pytest.raises(TooLarge):
        decompress(chunks(), limits, name="it", declared=1001)


@pytest.mark.parametrize(
    "bomb",
    [zstd_bomb(4096 * MIB), gzip.compress(bytes(64 * MIB), 1)],
    ids=["zstd, 32768 to 1", "gzip, 200 to 1"],
)
def test_a_bomb_stops_early_in_little_memory(bomb: bytes) -> None:
    taken = 0

    def chunks() -> Iterator[bytes]:
        nonlocal taken
        for chunk in pieces(bomb, 16 * 1024):
            taken += len(chunk)
            yield chunk

    tracemalloc.start()
    with pytest.raises(TooLarge) as caught:
        decompress(chunks(), Limits(decompressed=16 * MIB), name="it")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.body()["limit"] == 16 * MIB
    # What was kept (with a buffer's spare room) and what one call yields.
    assert peak < 16 * MIB * 9 / 8 + 2 * 8 * MIB + MIB
    assert taken < len(bomb) / 2


def test_the_bomb_is_a_real_one() -> None:
    assert decompress([zstd_bomb(3 * MIB)], Limits(), name="it") == bytes(3 * MIB)
