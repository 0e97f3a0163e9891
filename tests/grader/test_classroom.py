"""The folders of a class: what is read of them, and that a file is written whole or not at all."""

import errno
import fcntl
import os
import resource
from pathlib import Path

import pytest
from others import as_somebody
from small import CELLS, FIRST, MODULE, SECOND, SMALL, cell, filled, own, saved

from grader import classroom
from grader.classroom import Classroom, Submission, find_submission, only_writer, write_whole
from grader.errors import CourseError
from grader.rebuild import fit

RIGHT, OTHER = saved(filled()), saved([own("x = 1")])


def handed_in(folder: Path, **files: bytes) -> Submission:
    """What is found where these files are; a name stands without its `.ipynb`."""
    place = folder / "submitted" / "ada" / MODULE
    place.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (place / f"{name}.ipynb").write_bytes(data)
    return find_submission(place, "ada", SMALL, fit)


def test_the_folders(tmp_path: Path) -> None:
    klass = Classroom(tmp_path)
    assert klass.submitted("ada", MODULE) == tmp_path / "submitted" / "ada" / "07_small"
    assert klass.autograded("ada", MODULE) == tmp_path / "autograded" / "ada" / "07_small"
    directory = klass.nbgrader_config().CourseDirectory
    assert directory.db_url == f"sqlite:///{tmp_path}/gradebook.db" and directory.course_id == "tinytorch"
    assert directory.submitted_directory == f"{tmp_path}/submitted"
    assert directory.autograded_directory == f"{tmp_path}/autograded"
    assert directory.feedback_directory == f"{tmp_path}/feedback"


def test_students_are_folders(tmp_path: Path) -> None:
    """Stray files and hidden folders are nobody; a link is somebody, whose work is not read."""
    for name in ("ben", "ada", ".ipynb_checkpoints", ".hidden"):
        (tmp_path / "submitted" / name).mkdir(parents=True)
    (tmp_path / "submitted" / "notes.txt").write_text("stray")
    (tmp_path / "submitted" / "cleo").symlink_to(tmp_path / "submitted" / "ada")
    (tmp_path / "submitted" / "dan").symlink_to("/nowhere")
    assert Classroom(tmp_path).students() == ["ada", "ben", "cleo", "dan"]


def test_a_class_without_submissions(tmp_path: Path) -> None:
    with pytest.raises(CourseError) as caught:
        Classroom(tmp_path).students()
    where = tmp_path / "submitted"
    assert str(caught.value) == f"{where}: no such folder; submissions are expected in {where}/<student>/<module>/"


def test_the_notebook_with_the_right_name_is_read_whatever_is_in_it(tmp_path: Path) -> None:
    assert handed_in(tmp_path, small=OTHER, another=RIGHT) == Submission("ada", OTHER)


@pytest.mark.parametrize("name", ["a", "z"])
def test_of_two_notebooks_with_other_names_the_one_that_fits(tmp_path: Path, name: str) -> None:
    assert handed_in(tmp_path, m=OTHER, **{name: RIGHT}) == Submission(
        "ada", RIGHT, note=f'the file is called "{name}.ipynb"'
    )


def test_a_notebook_that_fits_badly_is_better_than_none_and_none_that_is_damaged(tmp_path: Path) -> None:
    assert handed_in(tmp_path, a=b"{", b=OTHER, c=b"").note == 'the file is called "b.ipynb"'


def test_an_upper_case_ending(tmp_path: Path) -> None:
    handed_in(tmp_path)
    (tmp_path / "submitted" / "ada" / MODULE / "Small.IPYNB").write_bytes(RIGHT)
    assert handed_in(tmp_path) == Submission("ada", RIGHT, note='the file is called "Small.IPYNB"')


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        (b"2026-03-01 12:00:00 UTC\n", "2026-03-01 12:00:00 UTC"),
        (b"", ""),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"1" * 150, "1" * 100),
    ],
)
def test_a_timestamp(tmp_path: Path, stamp: bytes, expected: str) -> None:
    handed_in(tmp_path, small=RIGHT)
    (tmp_path / "submitted" / "ada" / MODULE / "timestamp.txt").write_bytes(stamp)
    assert handed_in(tmp_path) == Submission("ada", RIGHT, expected)


def test_a_timestamp_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("2020-01-01 12:00:00 UTC")
    handed_in(tmp_path, other=RIGHT)
    (tmp_path / "submitted" / "ada" / MODULE / "timestamp.txt").symlink_to(tmp_path / "secret")
    assert handed_in(tmp_path) == Submission("ada", RIGHT, note='the file is called "other.ipynb"')


def test_a_timestamp_stands_beside_any_name(tmp_path: Path) -> None:
    handed_in(tmp_path, other=RIGHT)
    (tmp_path / "submitted" / "ada" / MODULE / "timestamp.txt").write_text("2026-03-01")
    assert handed_in(tmp_path) == Submission("ada", RIGHT, "2026-03-01", 'the file is called "other.ipynb"')


def test_nothing_was_handed_in(tmp_path: Path) -> None:
    found = find_submission(tmp_path / "submitted" / "ada" / MODULE, "ada", SMALL)
    assert found == Submission("ada", missing="nothing was handed in")
    assert handed_in(tmp_path) == Submission("ada", missing="there is no notebook in the folder")


def test_no_notebook_among_the_files(tmp_path: Path) -> None:
    """The files are named as far as anybody can read them; what is ours, or the system's, is not."""
    handed_in(tmp_path)
    place = tmp_path / "submitted" / "ada" / MODULE
    for name in ("timestamp.txt", "origin.json", ".DS_Store", "._small.ipynb"):
        (place / name).write_text("{}")
    assert handed_in(tmp_path) == Submission("ada", timestamp="", missing="there is no notebook in the folder")
    (place / "folder.ipynb").mkdir()
    assert handed_in(tmp_path).missing == "there is no notebook in the folder, only folder.ipynb"
    for name in ("a\nb\u202e.pdf", "c.json"):
        (place / name).write_text('{"no": "notebook"}')
    names = r"a\x0ab\u202e.pdf, c.json, folder.ipynb"
    assert handed_in(tmp_path) == Submission("ada", unreadable=f"there is no notebook among the files: {names}")
    for name in "defg":
        (place / name).write_text("")
    assert handed_in(tmp_path).unreadable.endswith("c.json, d, e, f and 2 more")


@pytest.mark.parametrize("name", ["small.ipynb.txt", "small.json", "small", "Notizen.TXT"])
@pytest.mark.parametrize("data", [RIGHT, b"\xef\xbb\xbf" + RIGHT, RIGHT.decode().encode("utf-16")])
def test_a_notebook_with_another_ending_is_taken(tmp_path: Path, name: str, data: bytes) -> None:
    handed_in(tmp_path)
    for other in ("a.json", "z.json"):
        (tmp_path / "submitted" / "ada" / MODULE / other).write_bytes(OTHER)
    (tmp_path / "submitted" / "ada" / MODULE / name).write_bytes(data)
    assert handed_in(tmp_path) == Submission("ada", data, note=f'the file is called "{name}"')


def test_a_file_in_a_folders_place_is_no_work(tmp_path: Path) -> None:
    (tmp_path / "submitted" / "ada").mkdir(parents=True)
    (tmp_path / "submitted" / "ada" / MODULE).write_bytes(RIGHT)
    found = find_submission(tmp_path / "submitted" / "ada" / MODULE, "ada", SMALL, fit)
    assert found == Submission("ada", missing=f"{MODULE} is not a folder")
    found = find_submission(tmp_path / "submitted" / "ada" / MODULE / "sub", "ada", SMALL, fit)
    assert found.failed.startswith("sub cannot be read (Not a directory); remove the file")


def test_a_name_that_is_not_utf_8_cannot_be_in_the_gradebook(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (tmp_path / "submitted" / name / MODULE).mkdir(parents=True)
    assert Classroom(tmp_path).students() == [name]
    found = find_submission(tmp_path / "submitted" / name / MODULE, name, SMALL, fit)
    assert found == Submission(name, failed="the name of the folder is not UTF-8; give the folder another name")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become others")
@pytest.mark.parametrize("locked", ["notebook", "folder", "student", "submitted", "timestamp.txt", "other"])
def test_what_nobody_may_read_is_a_failure_of_ours(tmp_path: Path, locked: str) -> None:
    """In a process of another user, since root may read everything."""
    place = tmp_path / "submitted" / "ada" / MODULE
    handed_in(tmp_path, **{"a" if locked == "other" else "small": RIGHT, "b": OTHER})
    (place / "timestamp.txt").write_text("2026-03-01 12:00:00 UTC")
    path = {
        "notebook": place / "small.ipynb",
        "folder": place,
        "student": place.parent,
        "submitted": place.parent.parent,
        "timestamp.txt": place / "timestamp.txt",
        "other": place / "a.ipynb",
    }[locked]
    path.chmod(0)

    def look() -> str:
        try:
            assert Classroom(tmp_path).students() == ["ada"]
        except CourseError as error:
            return str(error)
        found = find_submission(place, "ada", SMALL, fit)
        return found.failed or f"{found.note} {found.timestamp} {len(found.data)}"

    refused = "(Permission denied); give yourself the right to read and write it (chmod, chown) and give the same command again"
    expected = {
        "notebook": f"small.ipynb cannot be read {refused}",
        "folder": f"{MODULE} cannot be read {refused}",
        "student": f"{MODULE} cannot be read {refused}",
        "submitted": f"{path}: Permission denied; {refused.partition('; ')[2]}",
        "timestamp.txt": f"timestamp.txt cannot be read (Permission denied) and is left out  {len(RIGHT)}",
        "other": f"a.ipynb cannot be read {refused}",
    }
    assert as_somebody(tmp_path, look) == expected[locked]


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(RIGHT)
    handed_in(tmp_path)
    (tmp_path / "submitted" / "ada" / MODULE / "small.ipynb").symlink_to(tmp_path / "secret")
    assert handed_in(tmp_path) == Submission("ada", missing="small.ipynb is a link, and links are not followed")
    missing = Submission("ada", missing="the folder is a link, and links are not followed")
    (tmp_path / "submitted" / "ben").symlink_to(tmp_path / "submitted" / "ada")
    assert find_submission(tmp_path / "submitted" / "ben" / MODULE, "ada", SMALL) == missing
    (tmp_path / "submitted" / "cleo").mkdir()
    (tmp_path / "submitted" / "cleo" / MODULE).symlink_to(tmp_path / "submitted" / "ada" / MODULE)
    assert find_submission(tmp_path / "submitted" / "cleo" / MODULE, "ada", SMALL) == missing


@pytest.mark.timeout(20)
def test_a_pipe_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the notebook, the time or another notebook; nor one that was put in a file's place while we looked."""
    handed_in(tmp_path)
    place = tmp_path / "submitted" / "ada" / MODULE
    for name in ("small.ipynb", "timestamp.txt", "other.ipynb"):
        os.mkfifo(place / name)
    assert handed_in(tmp_path) == Submission("ada", missing="small.ipynb is not a file")
    assert handed_in(tmp_path, another=RIGHT).note == 'the file is called "another.ipynb"'
    (place / "timestamp.txt").unlink()
    monkeypatch.setattr(classroom, "is_file", lambda path: path.exists())
    assert handed_in(tmp_path).failed.startswith("small.ipynb cannot be read (it is not a file); remove it")


def test_a_link_that_was_put_in_place_while_we_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handed_in(tmp_path / "elsewhere", small=RIGHT)
    handed_in(tmp_path)
    monkeypatch.setattr(classroom, "is_file", lambda path: path.exists())
    monkeypatch.setattr(Path, "is_symlink", lambda _path: False)
    place = tmp_path / "submitted" / "ada" / MODULE
    (place / "small.ipynb").symlink_to(tmp_path / "elsewhere" / "submitted" / "ada" / MODULE / "small.ipynb")
    assert handed_in(tmp_path).failed.startswith("small.ipynb cannot be read (")
    (place / "small.ipynb").unlink()
    place.rmdir()
    place.symlink_to(tmp_path / "elsewhere" / "submitted" / "ada" / MODULE)
    monkeypatch.setattr(classroom, "_kind", lambda path: path.stat().st_mode)
    assert handed_in(tmp_path).failed.startswith(f"{MODULE} cannot be read (it is a link or a file, not a folder)")


def test_no_more_is_read_than_can_be_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classroom, "LARGEST", 10)
    assert handed_in(tmp_path, small=b"0123456789abcdef").data == b"0123456789a"


@pytest.mark.parametrize(
    ("data", "answers"),
    [
        (RIGHT, 2),
        (saved(CELLS), 2),
        (saved([own(FIRST)]), 1),
        (saved([own(f"{FIRST}\n{SECOND}")]), 2),
        (saved([cell("first", "")]), 1),
        (saved([cell("first", FIRST), cell("first", FIRST)]), 1),
        (OTHER, 0),
        (saved([]), 0),
        (b"{", -1),
        (b"", -1),
    ],
)
def test_how_many_answers_a_notebook_has(data: bytes, answers: int) -> None:
    assert fit(data, SMALL) == answers


def test_a_second_writer_is_refused_and_the_next_is_not(tmp_path: Path) -> None:
    with only_writer(tmp_path / "new"):
        with pytest.raises(CourseError) as caught, only_writer(tmp_path / "new"):
            pass
        assert str(caught.value) == f"{tmp_path / 'new'}: another grader is at work here; wait until it is done"
        with only_writer(tmp_path / "another"):
            pass
    with only_writer(tmp_path / "new"):
        pass


@pytest.mark.timeout(20)
@pytest.mark.parametrize("place", ["folder", "link", "pipe", "file"])
def test_what_is_in_the_place_of_the_lock(tmp_path: Path, place: str) -> None:
    """A pipe locks as well as a file; nothing is waited for, and what a link leads to is not touched."""
    lock, other = tmp_path / ".grader.lock", tmp_path / "other"
    other.write_text("kept")
    reason = {
        "folder": "Is a directory; remove the folder",
        "link": "Too many levels of symbolic links; remove the link",
    }
    {"folder": lock.mkdir, "link": lambda: lock.symlink_to(other), "pipe": lambda: os.mkfifo(lock), "file": lock.touch}[
        place
    ]()
    if place in reason:
        with pytest.raises(CourseError, match=f"{lock}: {reason[place]}"), only_writer(tmp_path):
            pass
    else:
        with (
            only_writer(tmp_path),
            pytest.raises(CourseError, match="another grader is at work"),
            only_writer(tmp_path),
        ):
            pass
    assert other.read_text() == "kept"


def test_a_class_that_cannot_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CourseError, match=f"{tmp_path}/file: File exists; remove it"), only_writer(tmp_path / "file"):
        pass

    def no_locks(*_arguments: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with (
        pytest.raises(CourseError, match="No locks available; the disk knows no locks"),
        only_writer(tmp_path),
    ):
        pass


def test_a_name_may_have_all_the_bytes_that_a_disk_takes(tmp_path: Path) -> None:
    path = tmp_path / "submitted" / ("a" * 255) / MODULE / ("n" * 249 + ".ipynb")
    write_whole(path, RIGHT)
    assert Classroom(tmp_path).students() == ["a" * 255]
    assert find_submission(path.parent, "a" * 255, SMALL, fit).data == RIGHT


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, limits[1]))  # as on a full disk, the first byte is written
    try:
        for place in (path, tmp_path / "another"):
            with pytest.raises(OSError, match="File too large"):
                write_whole(place, b"newer")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


def test_nothing_is_written_through_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the file, nor the one that it is made from, nor a folder on the way below submitted/ or autograded/."""
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "elsewhere").mkdir()
    for name in ("file", ".file.new", ".known.new"):
        (tmp_path / name).symlink_to(tmp_path / "secret")
    write_whole(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new" and not (tmp_path / "file").is_symlink()
    monkeypatch.setattr(classroom, "token_hex", lambda _length: "known")
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "file", b"newer")
    for step in ("submitted", "autograded", "feedback"):
        (tmp_path / step / "ben").mkdir(parents=True)
        for link in (tmp_path / step / "ada", tmp_path / step / "ben" / MODULE):
            link.symlink_to(tmp_path / "elsewhere")
            with pytest.raises(CourseError) as caught:
                write_whole(tmp_path / step / link.relative_to(tmp_path / step).parts[0] / MODULE / "file", b"new")
            assert str(caught.value) == (
                f"{link}: it is a link or a file, not a folder; nothing is written there. "
                "Remove it and give the same command again"
            )
    assert (tmp_path / "secret").read_bytes() == b"secret" and list((tmp_path / "elsewhere").iterdir()) == []


def test_where_a_folder_is_no_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(CourseError, match=f"{tmp_path}/file: it is a folder, not a file; nothing is written there"):
        write_whole(tmp_path / "file", b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_the_folder_of_a_class_may_be_reached_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "class").symlink_to("disk")
    path = Classroom(tmp_path / "class").submitted("ada", MODULE) / "small.ipynb"
    write_whole(path, RIGHT)
    assert find_submission(path.parent, "ada", SMALL) == Submission("ada", RIGHT)
