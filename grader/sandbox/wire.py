"""Messages between us and a jail: a length, JSON, and then the arrays that the JSON announces by dtype and shape.

Both sides import this file. Nothing that comes from a student's process is trusted: sizes are checked before they are read.
"""

import json
import struct
from enum import StrEnum
from typing import Any, Protocol

import numpy as np

LONGEST = 4096  # bytes of an order to the warm process, or of its answer


class Order(StrEnum):
    """What we tell the warm process to do with a copy."""

    START = "start"
    END = "end"


class Request(StrEnum):
    """What we ask of a copy."""

    LOOK_AROUND = "look around"
    RUN = "run"
    ASK = "ask"


class Answer(StrEnum):
    """What the warm process says to an order."""

    READY = "ready"
    STARTED = "started"
    ENDED = "ended"
    NO_NAMESPACES = "no namespaces"  # the kernel allows none inside the jail
    NO_PROCESS = "no process"


class Readable(Protocol):
    def recv(self, size: int, /) -> bytes: ...


def send(connection: Any, message: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    flat = {name: np.asarray(a, order="C") for name, a in arrays.items()}
    message = message | {"arrays": [[name, a.dtype.str, a.shape] for name, a in flat.items()]}
    text = json.dumps(message).encode()
    connection.sendall(struct.pack("<I", len(text)) + text + b"".join(a.tobytes() for a in flat.values()))


def receive(connection: Readable, most: int = 1 << 30) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """One message; ValueError if it is not one or is larger than `most` bytes, EOFError if the other side is gone."""
    (length,) = struct.unpack("<I", _exactly(connection, 4))
    if length > min(most, 1 << 20):
        raise ValueError(f"a message of {length} bytes")
    message = json.loads(_exactly(connection, length))
    if not isinstance(message, dict) or not isinstance(message.get("arrays"), list) or len(message["arrays"]) > 64:
        raise ValueError("no message")
    arrays, left = {}, most
    for name, code, shape in message["arrays"]:
        dtype = np.dtype(code) if isinstance(code, str) and len(code) <= 4 else None
        if dtype is None or dtype.kind not in "fiub" or len(shape) > 8:
            raise ValueError(f"an array of type {str(code)[:20]}")
        if not all(isinstance(n, int) and 0 <= n <= 1 << 30 for n in shape):
            raise ValueError("an array of no shape")
        size = dtype.itemsize
        for n in shape:
            size *= n
        if size > left:
            raise ValueError(f"arrays of more than {most} bytes")
        left -= size
        arrays[str(name)] = np.frombuffer(_exactly(connection, size), dtype).reshape(shape)
    return message, arrays


def _exactly(connection: Readable, length: int) -> bytes:
    parts = []
    while length:
        part = connection.recv(min(length, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
