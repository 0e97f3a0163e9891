"""Messages between us and a jail: a length, JSON, and then the arrays that the JSON announces by dtype and shape.

Both sides import this file. Nothing that comes from a student's process is trusted: sizes are checked before they are read.
"""

import json
import re
import struct
from enum import StrEnum
from typing import Any, Protocol

import numpy as np

LONGEST = 4096  # bytes of an order to the warm process, or of its answer
ALL_TEXT, ALL_ARRAYS = 1 << 29, 1 << 30  # bytes of a message of ours
MOST_ARRAYS, MOST_AXES, LONGEST_NAME = 64, 8, 64
PLAIN_NUMBERS = re.compile(r"[<>|](f2|f4|f8|f16|[iu][1248]|b1)")


class Order(StrEnum):
    """What we tell the warm process to do with a copy."""

    START = "start"
    END = "end"


class Request(StrEnum):
    """What we ask of a copy."""

    LOOK_AROUND = "look around"
    RUN = "run"
    AGAIN = "run again"  # cells that have been run in another copy
    DEFINE = "define"  # what a cell that is not run defines and imports
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


def receive(
    connection: Readable, text: int = ALL_TEXT, numbers: int = ALL_ARRAYS
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """One message of at most so many bytes of text and of numbers; EOFError if the other side is gone.

    Raises ValueError if it is none or is larger, before more than the length of what is too long has been read.
    """
    (length,) = struct.unpack("<I", _exactly(connection, 4))
    if length > text:
        raise ValueError(f"a message of {length} bytes")
    try:
        message = json.loads(_exactly(connection, length))
    except RecursionError:
        raise ValueError("a message that is nested too deeply") from None
    announced = message.get("arrays") if isinstance(message, dict) else None
    if not isinstance(announced, list) or len(announced) > MOST_ARRAYS:
        raise ValueError("no message")
    kinds = [_announced(entry) for entry in announced]
    whole = sum(size for _, _, _, size in kinds)
    if whole > numbers:
        raise ValueError(f"arrays of more than {numbers} bytes")
    if len({name for name, _, _, _ in kinds}) < len(kinds):
        raise ValueError("two arrays of one name")
    data, start, arrays = _exactly(connection, whole), 0, {}
    for name, dtype, shape, size in kinds:
        arrays[name] = np.frombuffer(data[start : start + size], dtype).reshape(shape)
        start += size
    return message, arrays


def _announced(entry: Any) -> tuple[str, np.dtype[Any], tuple[int, ...], int]:
    """Name, type, shape and bytes of an array that a message announces; ValueError if it is none."""
    if not isinstance(entry, list) or len(entry) != 3:
        raise ValueError("no array")
    name, code, shape = entry
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        raise ValueError("an array of no name")
    if not isinstance(code, str) or not PLAIN_NUMBERS.fullmatch(code):
        raise ValueError(f"an array of type {str(code)[:20]}")
    if not isinstance(shape, list) or len(shape) > MOST_AXES:
        raise ValueError("an array of no shape")
    dtype = np.dtype(code)
    size = dtype.itemsize
    for n in shape:
        if type(n) is not int or not 0 <= n <= 1 << 30:  # True is no size
            raise ValueError("an array of no shape")
        size *= n
    return name, dtype, tuple(shape), size


def text_in(message: dict[str, Any], key: str, most: int) -> str:
    """A text of a message, cut, with `?` for a lone surrogate; ValueError if there is none under this key."""
    value = message.get(key)
    if not isinstance(value, str):
        raise ValueError(f"no text under {key}")  # noqa: TRY004  (what is said, not how we were called, is wrong)
    return value[:most].encode(errors="replace").decode()


def _exactly(connection: Readable, length: int) -> bytes:
    parts = []
    while length:
        part = connection.recv(min(length, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
