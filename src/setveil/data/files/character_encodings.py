"""Text in other character encodings than UTF-8: which names are allowed, which one fits a file, and reading it as UTF-8."""

from __future__ import annotations

import codecs
from typing import Any

from setveil.errors import BadData, BadParameter

_UTF8 = ("utf-8", "utf-8-sig", "ascii")


def encoding_named(name: str | None) -> str | None:
    """Return the encoding by Python's name for it, or None for UTF-8, which needs no decoding; refuse an unknown one."""
    if name is None:
        return None
    try:
        found = codecs.lookup(name)
        # Some codecs translate bytes into bytes, and some cannot decode a stream.
        known = found._is_text_encoding and found.incrementaldecoder is not None  # noqa: SLF001 - Python has no public name for it
    except (LookupError, ValueError):
        known = False
    if not known:
        raise BadParameter(
            f"the encoding is {name!r}; allowed is a text encoding that Python knows, such as 'cp1252', 'latin-1' or 'utf-16'"
        )
    return None if found.name in _UTF8 else found.name


def fitting_encoding(byte: int) -> str:
    """Return a common encoding of Western text that has this byte, which is not UTF-8."""
    return "latin-1" if byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else "cp1252"


def how_to_decode(byte: int) -> str:
    """Return the end of the message about a byte that is not UTF-8."""
    return f"save the file as UTF-8, or name its encoding, such as `encoding='{fitting_encoding(byte)}'`"


class DecodedStream:
    """A stream of bytes in an encoding, read as UTF-8 without a byte order mark. It holds one block in memory."""

    closed = False

    def __init__(self, stream: Any, encoding: str, file: str) -> None:
        self._stream, self._encoding, self._file = stream, encoding, file
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._waiting = b""
        self._lines = 1
        self._begun = self._ended = False

    def read(self, size: int) -> bytes:
        """Return the next bytes of UTF-8, at most `size`; none at the end."""
        while not self._waiting and not self._ended:
            block = self._stream.read(size)
            self._ended = not block
            self._waiting = self._decoded(bytes(block))
        found, self._waiting = self._waiting[:size], self._waiting[size:]
        return found

    def _decoded(self, block: bytes) -> bytes:
        try:
            text = self._decoder.decode(block, final=not block)
            if text and not self._begun:
                text, self._begun = text.removeprefix("\ufeff"), True
            found = text.encode()
        except UnicodeError as error:
            before = block[: error.start] if isinstance(error, UnicodeDecodeError) else b""
            line = self._lines + before.count(b"\n")
            raise BadData(
                f"holds bytes that are not text in the encoding {self._encoding!r}; name the encoding of the file with `encoding=`",
                file=self._file,
                line=line,
            ) from None
        self._lines += found.count(b"\n")
        return found

    def close(self) -> None:
        """Do nothing: the owner of the stream closes it."""
