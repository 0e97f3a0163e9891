"""Tables in a page, each between two marks: <!-- name --> and <!-- end of name -->; and what a table was measured on."""

import ctypes
import platform
import re
from pathlib import Path


def replace_tables(page: Path, name: str, lines: list[str]) -> None:
    """Put the lines between the marks of that name. Raises ValueError if the page has none."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, also_found, after = rest.partition(end)
    if not (found and also_found):
        raise ValueError(f"{page}: there is no {begin} ... {end} to put the tables in")
    page.write_text("\n".join([before + begin, "", *lines, "", end + after]), encoding="utf-8")


def processor() -> str:
    """The processor's name and its widest vectors."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    flags = set(re.findall(r"\b(avx512f|avx2|neon|asimd|sve)\b", text))
    name = model.group(1) if model else platform.machine()
    return f"{name} ({', '.join(sorted(flags)) or 'no vector flags known'})"


def blas_kernel() -> str:
    """The kernel that NumPy's OpenBLAS runs on this processor, as it says itself."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8") if Path("/proc/self/maps").exists() else ""
    for path in sorted(set(re.findall(r"\S*openblas\S*\.so\S*", maps))):
        library = ctypes.CDLL(path)
        for name in ("scipy_openblas_get_corename64_", "scipy_openblas_get_corename", "openblas_get_corename"):
            if hasattr(library, name):
                function = getattr(library, name)
                function.restype = ctypes.c_char_p
                return f"OpenBLAS {function().decode()}"
    return "a BLAS that does not say"
