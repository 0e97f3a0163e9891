"""What one submission may use: time, memory, files."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Times in seconds, sizes in bytes."""

    cell_time: float = 10  # one cell
    probe_time: float = 4  # one question
    whole_time: float = 60  # all cells and questions together
    memory: int = 1536 << 20  # address space, of which the warm process has about 400 MB
    threads: int = 16  # in one process; it can start no other
    file_size: int = 16 << 20
    scratch: int = 64 << 20
    output: int = 10_000  # characters of one cell
    reply: int = 64 << 20
