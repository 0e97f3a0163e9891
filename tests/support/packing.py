"""Zip files as programs pack them, down to flags, code pages and the files that they add."""

import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

BIT_11 = 0x800  # the name is UTF-8
DOS, UNIX = 0, 3  # made by
DATE = (2026, 3, 2, 10, 0, 0)  # of packing: nobody handed in then
APPLE = b"\x00\x05\x16\x07\x00\x02\x00\x00" + bytes(74)


class Entry(zipfile.ZipInfo):
    """An entry whose name is written as these bytes, with these flags."""

    def __init__(self, raw: bytes, flags: int = 0, made_by: int = UNIX, extra: bytes = b"") -> None:
        super().__init__(raw.decode("cp437"), DATE)
        self.raw, self.flags = raw, flags
        self.create_system, self.extra = made_by, extra
        self.external_attr = 0o644 << 16 if made_by == UNIX else 0

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:
        return self.raw, self.flag_bits | self.flags


def plain(path: str) -> Entry:
    """As Python, Moodle (ZipStream) and most platforms do."""
    return Entry(path.encode(), 0 if path.isascii() else BIT_11)


def mac(path: str) -> Entry:
    """Archive Utility: UTF-8 in the form of the file system, without a flag."""
    return Entry(unicodedata.normalize("NFD", path).encode())


def linux(path: str) -> Entry:
    """UTF-8 without a flag, as it is."""
    return Entry(path.encode())


def windows(path: str) -> Entry:
    """Compress-Archive of Windows PowerShell 5.1."""
    return Entry(path.replace("/", "\\").encode(), 0 if path.isascii() else BIT_11, DOS)


def code_page(name: str) -> Callable[[str], Entry]:
    """Explorer before Windows 10: the code page of the country, without a flag."""
    return lambda path: Entry(path.encode(name), 0, DOS)


def unicode_path(path: str) -> Entry:
    """Info-ZIP's field 0x7075: the true name beside one that an old program can read."""
    raw = path.encode("ascii", "replace").replace(b"?", b"_")
    field = struct.pack("<BL", 1, zlib.crc32(raw)) + path.encode()
    return Entry(raw, 0, DOS, struct.pack("<HH", 0x7075, len(field)) + field)


PACKINGS: dict[str, Callable[[str], Entry]] = {
    "utf-8": plain,
    "unflagged utf-8": linux,
    "mac": mac,
    "windows": windows,
    "cp437": code_page("cp437"),
    "cp850": code_page("cp850"),
    "unicode path": unicode_path,
}


def pack(path: Path, files: Mapping[str, bytes], how: str = "utf-8") -> Path:
    """A zip file. A Mac adds its own files, and a folder around everything."""
    if how == "mac":
        files = _with_apples(files)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(PACKINGS[how](name), data, zipfile.ZIP_DEFLATED)
    return path


def _with_apples(files: Mapping[str, bytes]) -> dict[str, bytes]:
    found = {"Download/": b"", "Download/.DS_Store": b"\x00\x00\x00\x01Bud1", "__MACOSX/._Download": APPLE}
    for name, data in files.items():
        folder, _, file = f"Download/{name}".rpartition("/")
        found |= {f"Download/{name}": data, f"__MACOSX/{folder}/._{file}": APPLE}
    return found


def unpack(folder: Path, files: Mapping[str, bytes]) -> Path:
    """The same files in a folder."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def changed(path: Path, member: str, place: int, byte: int, central: bool = False) -> Path:
    """Change a byte of a member's packed content, or, counted from its start, of its record in the central directory."""
    whole = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(member)
    if central:
        start = whole.rindex(member.encode()) - 46
    else:
        name_size, extra_size = struct.unpack("<HH", whole[info.header_offset + 26 : info.header_offset + 30])
        start = info.header_offset + 30 + name_size + extra_size
    whole[start + place] = byte
    path.write_bytes(bytes(whole))
    return path
