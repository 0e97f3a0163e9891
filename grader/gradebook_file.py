"""The gradebook as a file: its address, whether it can be used, copies of it, and its database's errors in plain words.

Nothing of nbgrader is imported here.
"""

import errno
import filecmp
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, unquote

from grader.errors import GradebookError

KEPT = 20  # backups
UPGRADE = "run `.venv/bin/python -m nbgrader db upgrade` in the project's folder, which keeps a copy, and give the same command again"
FULL = "no space is left on the disk; make room and give the same command again"
# what SQLite says, and what is said here
SENTENCES = {
    "locked": "another program is writing into the gradebook; close it or wait until it is done, and give the same command again",
    "readonly": "the gradebook may not be written; allow it for the file and its folder, and give the same command again",
    "full": FULL,
    "unable to open": "the gradebook cannot be opened; see that its folder is there, and that both may be read and written",
    "disk i/o": "the disk cannot be read or written; look after it before anything else",
    "no such table": f"the gradebook is of another nbgrader than this; {UPGRADE}",
    "no such column": f"the gradebook is of another nbgrader than this; {UPGRADE}",
}
DAMAGED = ("not a database", "malformed", "is encrypted")
OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)  # the next file would fare no better


def sqlite_url(path: Path) -> str:
    """SQLAlchemy's address of a gradebook, whatever is in its path."""
    text = str(path)
    # SQLAlchemy decodes a path, and takes a question mark for the beginning of options
    return f"sqlite:///{quote(text) if '?' in text or '%' in text else text}"


def file_of(db_url: str) -> Path | None:
    """The file of a gradebook; None if it is in another database than SQLite's."""
    if not db_url.startswith("sqlite:///"):
        return None
    address = db_url.removeprefix("sqlite:///").partition("?")[0]
    return None if address in ("", ":memory:") else Path(unquote(address))


@contextmanager
def in_plain_words(where: object) -> Iterator[None]:
    """Errors of a database or a disk become a GradebookError with the next step; all others stay what they are."""
    try:
        yield
    except GradebookError:
        raise
    except Exception as error:
        sentence = _sentence(error, file_of(str(where)) or where)
        if sentence is None:
            raise
        raise GradebookError(sentence) from None


def _sentence(error: Exception, where: object) -> str | None:
    found = getattr(error, "orig", None) or error  # SQLAlchemy has the database's own error inside its own
    if isinstance(found, OSError):
        return f"{found.filename or where}: {FULL if found.errno == errno.ENOSPC else found.strerror}"
    if not isinstance(found, sqlite3.Error):
        return None
    said = str(found).lower()
    if any(word in said for word in DAMAGED):
        return f"{where}: it is no gradebook, or a damaged one. Move it away{_last(Path(str(where)))}"
    return next((f"{where}: {sentence}" for word, sentence in SENTENCES.items() if word in said), None)


def _last(path: Path) -> str:
    kept = backups(path)
    return f" and copy the last backup to its place: {kept[-1]}" if kept else "; there is no backup"


def _reading(path: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True))


def check_file(path: Path) -> None:
    """Raises GradebookError if something is in the way of a gradebook. That there is none yet is no error."""
    if path.is_dir():
        raise GradebookError(f"{path}: it is a folder, and the gradebook is to be there. Move it away")
    if path.is_symlink() and not path.exists():
        raise GradebookError(f"{path}: it is a link to nothing. Remove it")


def changed(path: Path | None) -> float:
    """When a gradebook was changed last; 0 if there is none yet."""
    try:
        found = path.stat() if path else None
    except OSError:
        return 0.0
    return found.st_mtime if found and found.st_size else 0.0


def version_in(path: Path) -> tuple[str, dict[str, set[str]]]:
    """The version of a gradebook's tables, "" if it has none, and the columns of each. Raises sqlite3.Error."""
    if not changed(path):
        return "", {}
    with _reading(path) as book:
        names = [name for (name,) in book.execute("select name from sqlite_master where type = 'table'")]
        columns = {name: {row[1] for row in book.execute(f'pragma table_info("{name}")')} for name in names}
        rows = book.execute("select version_num from alembic_version").fetchall() if "alembic_version" in names else []
    return (str(rows[0][0]) if rows else ""), columns


def stamp(path: Path, version: str) -> None:
    """Write the version of its tables into a gradebook that has none."""
    with closing(sqlite3.connect(path)) as book, book:
        book.execute("create table if not exists alembic_version (version_num varchar(32) not null)")
        book.execute("insert into alembic_version (version_num) values (?)", (version,))


def backups(path: Path) -> list[Path]:
    """The backups of a gradebook, the newest last."""
    return sorted((path.parent / "backups").glob(f"{path.stem}-*Z.db"))


def back_up(path: Path) -> Path | None:
    """Copy the gradebook to backups/, unless the last copy is the same; the newest KEPT stay.

    The copy is whole, whoever has the gradebook open. Raises GradebookError if it cannot be made.
    """
    if not changed(path):
        return None
    folder = path.parent / "backups"
    copy = folder / f"{path.stem}-{datetime.now(UTC):%Y-%m-%dT%H%M%S.%f}Z.db"
    new = folder / f".{copy.name}.new"
    try:
        with in_plain_words(path):
            folder.mkdir(exist_ok=True)
            new.touch()
            _copy(path, new)
            before = backups(path)
            if before and filecmp.cmp(before[-1], new, shallow=False):
                return None
            new.rename(copy)
            for old in backups(path)[:-KEPT]:
                old.unlink()
    except GradebookError as error:
        raise GradebookError(f"{error}. There is no backup in {folder}, and without one nothing is changed") from None
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)
    return copy


def _copy(path: Path, new: Path) -> None:
    with _reading(path) as book, closing(sqlite3.connect(new)) as copy:
        # read first: a lock is waited for here, and with an error, while `backup` would wait for ever
        book.execute("begin")
        book.execute("select count(*) from sqlite_master").fetchone()
        book.backup(copy)


def copies_with(path: Path, student: str) -> list[Path]:
    """The backups of a gradebook, ours and those of `nbgrader db upgrade`, that have a student."""
    found = []
    for copy in [*backups(path), *sorted(path.parent.glob(f"{path.name}.*"))]:
        if not re.search(r"-(journal|wal|shm)$", copy.name):
            with suppress(sqlite3.Error, UnicodeError), _reading(copy) as book:
                if book.execute("select 1 from student where id = ?", (student,)).fetchone():
                    found.append(copy)
    return found


def forget(path: Path) -> None:
    """Write the file anew without what was deleted in it, which SQLite leaves in place."""
    with in_plain_words(path), closing(sqlite3.connect(path)) as book:
        book.execute("vacuum")
