"""The format of the pipe between a party and its MPyC process: frames of a tag, a length and bytes.

A request or an answer is a short JSON header followed by arrays of a few plain types. Nothing is unpickled, here or anywhere else.
"""

from __future__ import annotations

import json
import math
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.presence.secure.rules import Linear, Rules

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

    from numpy.typing import NDArray

    Arrays = Sequence[NDArray[Any]]

TALK = 0
"""A request to the process, or its answer."""
FAILED = 1
"""The process failed; the header describes the error, with the number of the peer that caused it, if known."""
FIRST_LINE = 16
"""Bytes for or from party p have the tag FIRST_LINE + p."""

MOST_BYTES = 1 << 32
_HEAD = struct.Struct("<BQ")
_LENGTH = struct.Struct("<I")
_TYPES = {"int64": "<i8", "bool": "?"}


def write_frame(stream: IO[bytes], tag: int, payload: bytes | bytearray | memoryview) -> None:
    """Write one frame and flush the stream."""
    stream.write(_HEAD.pack(tag, len(payload)))
    stream.write(payload)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[int, bytes] | None:
    """Read one frame; None if the other end is closed, even in the middle of a frame."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    tag, length = _HEAD.unpack(head)
    if length > MOST_BYTES:
        return None
    payload = stream.read(length)
    return None if len(payload) < length else (tag, payload)


def pack(header: dict[str, Any], arrays: Arrays = ()) -> bytes:
    """Return a header and arrays as bytes."""
    described = [[array.dtype.name, list(array.shape)] for array in arrays]
    plain = [array.astype(_TYPES[array.dtype.name], copy=False) for array in arrays]
    text = json.dumps({"header": header, "arrays": described}, sort_keys=True).encode()
    return b"".join([_LENGTH.pack(len(text)), text, *(array.tobytes() for array in plain)])


def unpack(payload: bytes) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Return the header and the arrays of bytes that `pack` made; raise `ValueError` for other bytes."""
    if len(payload) < _LENGTH.size:
        raise ValueError("too short")
    end = _LENGTH.size + _LENGTH.unpack_from(payload)[0]
    try:
        content = json.loads(payload[_LENGTH.size : end])
        header, described = content["header"], content["arrays"]
        arrays = []
        for name, shape in described:
            if name not in _TYPES or any(not isinstance(side, int) or side < 0 for side in shape):
                raise ValueError("an array of a kind that is not known")
            count = math.prod(shape)
            if count > len(payload):
                raise ValueError("an array longer than what was sent")
            arrays.append(np.frombuffer(payload, _TYPES[name], count, end).reshape(shape))
            end += arrays[-1].nbytes
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError("a header of a kind that is not known") from error
    if not isinstance(header, dict) or end != len(payload):
        raise ValueError("a header or a length of a kind that is not known")
    return header, arrays


def pack_rules(rules: Rules) -> bytes:
    """Return the public rules as bytes."""
    header = {
        "population": rules.population,
        "values": rules.values,
        "candidates": rules.candidates,
        "least_values": rules.least_values,
        "entropy_weight": rules.entropy_weight,
        "widest": rules.widest,
    }
    linears = [part for linear in (rules.root, rules.part) for part in (linear.weights, linear.constants)]
    return pack(header, [part.astype(np.int64) for part in linears])


def unpack_rules(payload: bytes) -> Rules:
    """Return the public rules of bytes that `pack_rules` made."""
    header, (root_weights, root_constants, part_weights, part_constants) = unpack(payload)
    root, part = Linear(root_weights, root_constants), Linear(part_weights, part_constants)
    return Rules(root=root, part=part, **header)
