"""AES and the elliptic curve from the libraries of the extra `presence`, imported when first needed; and a check for MPyC."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from setveil.errors import Missing

if TYPE_CHECKING:
    from types import ModuleType


def _missing(library: str) -> Missing:
    return Missing(f"this needs {library}, which is not installed; install it with: pip install 'setveil[presence]'")


def require_mpyc() -> None:
    """Raise `Missing` if MPyC is not installed. Only a child process imports it."""
    if importlib.util.find_spec("mpyc") is None:
        raise Missing(
            "the backend 'mpyc' requires a library that is not installed; install it with: pip install 'setveil[mpyc]'"
        )


def _ciphers() -> ModuleType:
    try:
        from cryptography.hazmat.primitives import ciphers  # noqa: PLC0415 - an extra
    except ImportError:
        raise _missing("cryptography") from None
    return ciphers


def aes_permutation(key: bytes) -> Any:
    """Return an encryptor of single blocks: AES as a permutation of blocks, not to hide data."""
    ciphers = _ciphers()
    return ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.ECB()).encryptor()


def aes_blocks(key: bytes, blocks: bytes) -> bytes:
    """Return AES of each 16-byte block."""
    encrypted: bytes = aes_permutation(key).update(blocks)
    return encrypted


def aes_stream(key: bytes) -> Any:
    """Return an encryptor that turns zeros into a stream of random bytes: AES in counter mode."""
    ciphers = _ciphers()
    return ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.CTR(bytes(16))).encryptor()


def curve() -> ModuleType:
    """Return the bindings to the group operations of libsodium."""
    try:
        from nacl import bindings  # noqa: PLC0415 - an extra
    except ImportError:
        raise _missing("PyNaCl") from None
    return bindings
