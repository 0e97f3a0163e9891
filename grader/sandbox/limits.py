"""What one submission may use: time, memory, files."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Times in seconds, sizes in bytes.

    Times are a process's own (see Stopwatch in running.py): time for which it waits for a processor is not counted.
    """

    cell_time: float = 10  # one cell
    probe_time: float = 4  # one question
    whole_time: float = 50  # all answers, given cells and questions together
    own_time: float = 20  # all cells of the student's own together
    judge_time: float = 15  # of processor time: reading and judging, which is our part
    judge_memory: int = 512 << 20  # for reading and judging
    memory: int = 1536 << 20  # address space, of which the warm process has about 400 MB
    threads: int = 16  # in one process; it can start no other
    file_size: int = 16 << 20
    scratch: int = 64 << 20
    output: int = 10_000  # characters of one cell
