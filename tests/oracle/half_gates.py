"""The hash and the gates of the two-party core once more, with Python's whole numbers and AES one block at a time.

Blocks are whole numbers of 128 bits, the lowest byte first.
"""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes


def permuted(key, block):
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - one block
    return int.from_bytes(encryptor.update(block.to_bytes(16, "little")) + encryptor.finalize(), "little")


def hashed(key, block, tweak):
    """TMMO: p(p(x) ^ i) ^ p(x)."""
    once = permuted(key, block)
    return permuted(key, once ^ tweak) ^ once


def garbled_and(key, delta, zero_a, zero_b, tweaks):
    """Return the two blocks of an AND and the label for 0 of its answer (figure 2 of Zahur, Rosulek and Evans)."""
    one_a, one_b = zero_a ^ delta, zero_b ^ delta
    bit_a, bit_b = zero_a & 1, zero_b & 1
    first, second = tweaks
    garbler = hashed(key, zero_a, first) ^ hashed(key, one_a, first) ^ (delta if bit_b else 0)
    half = hashed(key, zero_a, first) ^ (garbler if bit_a else 0)
    evaluator = hashed(key, zero_b, second) ^ hashed(key, one_b, second) ^ zero_a
    other = hashed(key, zero_b, second) ^ ((evaluator ^ zero_a) if bit_b else 0)
    return garbler, evaluator, half ^ other


def evaluated_and(key, label_a, label_b, garbler, evaluator, tweaks):
    """Return the label of the answer that whoever holds one label of each input gets."""
    half = hashed(key, label_a, tweaks[0]) ^ (garbler if label_a & 1 else 0)
    other = hashed(key, label_b, tweaks[1]) ^ ((evaluator ^ label_a) if label_b & 1 else 0)
    return half ^ other
