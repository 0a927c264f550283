"""What comes from the libraries of the extra `presence`; where they are missing, an error says how to get them."""

from __future__ import annotations

from setveil.errors import Missing


def missing_extra(name: str, library: str) -> Missing:
    """Return the error about an extra that is not installed."""
    return Missing(f"this needs {library}, which is not installed; install it with: pip install 'setveil[{name}]'")


def aes_blocks(key: bytes, blocks: bytes) -> bytes:
    """Return AES of each 16-byte block."""
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415 - an extra
    except ImportError:
        raise missing_extra("presence", "cryptography") from None
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - of distinct blocks, as a function
    return encryptor.update(blocks) + encryptor.finalize()
