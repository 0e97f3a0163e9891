"""The files of an archive, zip or folder: their names as people read them, their content when it is asked for.

Nothing is written here, so no name in an archive can point anywhere. Names in zip files: PKWARE's APPNOTE 4.4.4 (bit 11) and 4.6.9
(Unicode path, 0x7075); programs on Unix and macOS write UTF-8 without saying so.
"""

import os
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path, PurePosixPath

from grader.classroom import read_file
from grader.errors import CourseError
from grader.notebook import LARGEST

MOST_ENTRIES, MOST_BYTES = 100_000, 8 << 30  # of an archive; what is larger is left out, with a line
JUNK_FOLDERS = {"__MACOSX", ".git", ".ipynb_checkpoints", "__pycache__", ".AppleDouble", ".Trashes", ".Spotlight-V100"}
JUNK_FILES = {".ds_store", "thumbs.db", "desktop.ini", "icon\r", ".localized"}
UNIX_HOSTS, DOS_HOSTS = (3, 19), (0, 10, 11, 14)  # "made by", in an entry of a zip file
UTF_8, ENCRYPTED = 0x800, 0x1  # flags of an entry
UNICODE_PATH = 0x7075
NEWEST = 63  # version of the format, times ten, that zipfile reads
OUT = "its path leads out of the archive"


class Damaged(Exception):
    """A file in an archive cannot be read; the message says why."""


@dataclass(frozen=True, eq=False)
class Member:
    """A file in an archive; two are the same only if they are one.

    parts     of its path, in Unicode's composed form
    trouble   why it is not looked at
    modified  the date that the archive has for it, "2026-03-01 12:00:00"; "" if it has none
    """

    parts: tuple[str, ...]
    load: Callable[[], bytes]
    size: int = 0
    trouble: str = ""
    modified: str = ""

    @property
    def path(self) -> str:
        return "/".join(self.parts)

    def read(self) -> bytes:
        """Its content. Raises Damaged."""
        try:
            data = self.load()
        except MemoryError:
            raise Damaged("it needs more memory than there is") from None
        except Exception as error:  # noqa: BLE001  (a damaged archive makes zipfile raise whatever it likes)
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise Damaged(f"it cannot be unpacked ({reason or type(error).__name__})") from None
        if len(data) > LARGEST:
            raise Damaged(f"it has more than {LARGEST >> 20} MB")
        return data


@dataclass(frozen=True)
class Archive:
    """What is in an archive. `junk` counts files that systems and programs add; `zipped` is false for a folder."""

    name: str
    members: tuple[Member, ...]
    junk: int
    zipped: bool


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """A zip file or a folder, as long as its files are read. Raises CourseError if it is neither."""
    if path.is_dir():
        yield _sorted_out(path.resolve().name, _in_folder(path), False)
        return
    if not path.is_file():
        raise CourseError(f"{path}: there is no such archive or folder")
    try:
        file = _zip(path)
    except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError) as error:
        raise CourseError(
            f"{path}: not a readable zip file ({error}); download it again, or unpack it and give the folder"
        ) from None
    with file:
        yield _sorted_out(path.stem, in_zip(file), True)


def _zip(source: Path | BytesIO) -> zipfile.ZipFile:
    """An opened zip file. One entry of a version that zipfile does not know costs that entry, not the archive."""
    newest = zipfile.MAX_EXTRACT_VERSION
    try:
        vars(zipfile)["MAX_EXTRACT_VERSION"] = 0xFFFF
        return zipfile.ZipFile(source)
    finally:
        vars(zipfile)["MAX_EXTRACT_VERSION"] = newest


def nested(data: bytes, most: int = 1000) -> list[Member]:
    """The files of a zip file that a student handed in; none if it cannot be read."""
    try:
        return [m for m in in_zip(_zip(BytesIO(data)), most) if not _is_junk(m.parts)]
    except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError):
        return []


def _sorted_out(name: str, members: Iterator[Member], zipped: bool) -> Archive:
    everything = list(members)
    kept = tuple(m for m in everything if not _is_junk(m.parts))
    return Archive(composed(name), kept, len(everything) - len(kept), zipped)


def _is_junk(parts: tuple[str, ...]) -> bool:
    return not JUNK_FOLDERS.isdisjoint(parts) or parts[-1].lower() in JUNK_FILES or parts[-1].startswith(("._", ".nfs"))


def composed(text: str) -> str:
    """A name in Unicode's composed form; bytes of a file system that are no UTF-8 are read as Western European."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raw = text.encode(errors="surrogateescape" if _escaped(text) else "replace")
        text = raw.decode("cp1252", errors="replace")
    return unicodedata.normalize("NFC", text)


def _escaped(text: str) -> bool:
    """Whether all lone surrogates in a text stand for bytes."""
    return all("\udc80" <= c <= "\udcff" for c in text if "\ud800" <= c <= "\udfff")


def _in_folder(folder: Path) -> Iterator[Member]:
    unreadable: list[OSError] = []
    count = 0
    for place, folders, files in os.walk(folder, onerror=unreadable.append):
        folders.sort()
        links = [name for name in folders if Path(place, name).is_symlink()]
        for name in sorted([*files, *links]):
            path = Path(place, name)
            count += 1
            trouble = f"the archive has more than {MOST_ENTRIES} files" if count > MOST_ENTRIES else _trouble_of(path)
            yield _on_disk(path, path.relative_to(folder), trouble)
    for error in unreadable:
        path = Path(error.filename)
        yield _on_disk(path, path.relative_to(folder), f"it cannot be read ({error.strerror})")


def _trouble_of(path: Path) -> str:
    try:
        about = path.lstat()
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    if stat.S_ISLNK(about.st_mode):
        return "it is a link, and links are not followed"
    if not stat.S_ISREG(about.st_mode):
        return "it is not a file"
    return f"it has {about.st_size >> 20} MB" if about.st_size > LARGEST else ""


def _on_disk(path: Path, relative: Path, trouble: str) -> Member:
    try:
        about = path.lstat()
        modified, size = datetime.fromtimestamp(int(about.st_mtime), UTC).strftime("%Y-%m-%d %H:%M:%S"), about.st_size
    except (OSError, ValueError, OverflowError):
        modified, size = "", 0
    parts = tuple(composed(part) for part in relative.parts) or (composed(path.name),)
    return Member(parts, lambda: read_file(path), size, trouble, modified)


def in_zip(archive: zipfile.ZipFile, most: int = 0) -> Iterator[Member]:
    """The files of a zip file, in their order there; at most so many, MOST_ENTRIES if 0 is given."""
    left, most = MOST_BYTES, most or MOST_ENTRIES
    infos = [info for info in archive.infolist() if not _is_folder(info)]
    slashes = any("/" in info.orig_filename for info in infos)
    for number, info in enumerate(infos):
        name = _name(info)
        if "\\" in name and (not slashes or info.create_system in DOS_HOSTS):
            name = name.replace("\\", "/")
        trouble = f"the archive has more than {most} entries" if number >= most else _trouble_in(info, name, left)
        if not trouble:
            left -= info.file_size
        parts = tuple(p for p in name.split("/") if p not in ("", ".")) or (name or "(no name)",)
        yield Member(parts, _loader(archive, info), info.file_size, trouble, _date(info))


def _is_folder(info: zipfile.ZipInfo) -> bool:
    return info.is_dir() or (info.orig_filename.endswith("\\") and not info.file_size)


def _loader(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], bytes]:
    def load() -> bytes:
        with archive.open(info) as stream:
            return stream.read(LARGEST + 1)  # whatever the header says

    return load


def _trouble_in(info: zipfile.ZipInfo, name: str, left: int) -> str:
    if stat.S_ISLNK(info.external_attr >> 16):
        return "it is a link, and links are not followed"
    if not name.strip("/"):
        return "it has no name"
    if name.startswith("/") or ".." in PurePosixPath(name).parts or (name[1:3] == ":/" and name[0].isalpha()):
        return OUT
    if info.extract_version > NEWEST:
        return f"it cannot be unpacked (it needs version {info.extract_version / 10} of the format)"
    if info.flag_bits & ENCRYPTED:
        return "it is encrypted"
    if info.file_size > LARGEST:
        return f"it unpacks to {info.file_size >> 20} MB"
    if info.file_size > left:
        return f"the files unpack to more than {MOST_BYTES >> 30} GB together"
    return ""


def _date(info: zipfile.ZipInfo) -> str:
    """The date of an entry; "" for the first that there is, which says nothing."""
    year, *_ = info.date_time
    return "" if year <= 1980 else "{:04}-{:02}-{:02} {:02}:{:02}:{:02}".format(*info.date_time)


def _name(info: zipfile.ZipInfo) -> str:
    """An entry's name, whatever its encoding."""
    name = info.orig_filename.partition("\0")[0]
    if info.flag_bits & UTF_8:
        return composed(name)
    raw = name.encode("cp437", errors="replace")
    declared = _unicode_path(info.extra, raw)
    if declared is not None:
        return composed(declared)
    try:
        return composed(raw.decode())
    except UnicodeDecodeError:
        encoding = "cp1252" if info.create_system in UNIX_HOSTS else "cp437"
        return composed(raw.decode(encoding, errors="replace"))


def _unicode_path(extra: bytes, raw: bytes) -> str | None:
    """The name in an entry's field 0x7075, if that was written for this name."""
    place = 0
    while place + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, place)
        field = extra[place + 4 : place + 4 + size]
        fits = kind == UNICODE_PATH and len(field) > 5 and field[0] == 1
        if fits and struct.unpack_from("<I", field, 1)[0] == zlib.crc32(raw):
            with suppress(UnicodeDecodeError):
                return field[5:].decode()
        place += 4 + size
    return None
