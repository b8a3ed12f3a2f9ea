"""Decompression of zstd and gzip, recognised by their first bytes, chunk by chunk under caps."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import zstandard

from docstow.core.errors import TooLarge, UnreadableInput

ZSTD = b"\x28\xb5\x2f\xfd"
GZIP = b"\x1f\x8b"
_MIB = 1024 * 1024
# Four bytes of zstd can stand for 128 KiB, and its decompressor takes no bound on output: slices
# this small keep what one call can yield to 8 MiB. They cost 0.02 s on an input of 3 MB.
_SLICE = 256
_STEP = 128 * 1024
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps in bytes: on compressed input, and on the decompressed result."""

    compressed: int = 30 * _MIB
    decompressed: int = 100 * _MIB


def decompress(
    chunks: Iterable[bytes], limits: Limits, *, name: str, declared: int | None = None
) -> bytes:
    """Join the chunks, decompressed if they begin as zstd or gzip.

    Args:
        chunks: the content in pieces of any size.
        limits: both caps; only the second applies to plain content.
        name: names the content in messages.
        declared: the total length of the chunks in bytes, if it is known beforehand.

    Raises:
        TooLarge: a cap is exceeded; nothing beyond it is kept.
        UnreadableInput: the compressed stream is damaged or ends early.
    """
    rest = iter(chunks)
    first = b""
    for chunk in rest:
        first += chunk
        if len(first) >= len(ZSTD):
            break
    packed = first.startswith((ZSTD, GZIP))
    if packed and declared is not None and declared > limits.compressed:
        raise _too_large(name, limits.compressed, "compressed")
    if not packed and declared is not None and declared > limits.decompressed:
        raise _too_large(name, limits.decompressed, "decompressed")
    whole = chain([first], rest)
    if not packed:
        return _joined(whole, limits, name)
    arriving = _counted(whole, limits, name)
    try:
        plain = _unzstd(arriving) if first.startswith(ZSTD) else _gunzip(arriving)
        return _joined(plain, limits, name)
    except (zstandard.ZstdError, zlib.error) as error:
        raise UnreadableInput(f"{name} is a damaged archive ({error}); get it again.") from error
    except EOFError as error:
        raise UnreadableInput(f"{name} ends before its archive does; get it again.") from error


def _joined(chunks: Iterable[bytes], limits: Limits, name: str) -> bytes:
    # BytesIO hands its buffer over without a copy: at its peak the content is held once.
    body = io.BytesIO()
    for chunk in chunks:
        if body.tell() + len(chunk) > limits.decompressed:
            raise _too_large(name, limits.decompressed, "decompressed")
        body.write(chunk)
    return body.getvalue()


def _counted(chunks: Iterable[bytes], limits: Limits, name: str) -> Iterator[bytes]:
    taken = 0
    for chunk in chunks:
        taken += len(chunk)
        if taken > limits.compressed:
            raise _too_large(name, limits.compressed, "compressed")
        yield chunk


def _unzstd(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the content of zstd frames; raise EOFError when the last one is incomplete."""
    decompressor = zstandard.ZstdDecompressor()
    frame = decompressor.decompressobj()
    for chunk in chunks:
        for start in range(0, len(chunk), _SLICE):
            piece = chunk[start : start + _SLICE]
            while piece:
                if frame.eof:
                    frame = decompressor.decompressobj()
                yield frame.decompress(piece)
                piece = frame.unused_data if frame.eof else b""
    if not frame.eof:
        raise EOFError


def _gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the content of gzip members; raise EOFError when the last one is incomplete."""
    member = zlib.decompressobj(_GZIP_WINDOW)
    for chunk in chunks:
        piece = chunk
        while piece:
            if member.eof:
                member = zlib.decompressobj(_GZIP_WINDOW)
            yield member.decompress(piece, _STEP)
            piece = member.unused_data if member.eof else member.unconsumed_tail
    # A bounded call can leave a few kilobytes in the decompressor when its input is all taken.
    yield member.flush()
    if not member.eof:
        raise EOFError


def _too_large(name: str, limit: int, state: str) -> TooLarge:
    return TooLarge(
        f"{name} is larger than the limit of {limit / _MIB:.6g} MiB {state};"
        " raise that limit in the settings if this source is wanted.",
        limit=limit,
    )
