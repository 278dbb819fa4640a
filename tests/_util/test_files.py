from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys

import pytest

from laconic._util.files import whole_file, write_whole

# Writes half a file, says so, and waits.
STALLED = """
import sys, time
from laconic._util.files import whole_file
with whole_file(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    print("half", flush=True)
    time.sleep(60)
"""

# No file may grow beyond ten bytes.
LIMITED = """
import resource, sys
from laconic._util.files import write_whole
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
try:
    write_whole(sys.argv[1], b"x" * 10_000)
except OSError as error:
    print(error)
"""


@pytest.fixture
def stalled(tmp_path):
    """A program that is about to write a file."""
    (tmp_path / "page.html").write_bytes(b"old")
    command = [sys.executable, "-c", STALLED, str(tmp_path / "page.html")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "half\n"
        yield program
        program.kill()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_with_its_permissions(tmp_path):
    path = tmp_path / "page.html"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert names(tmp_path) == ["page.html"]


def test_an_exception_leaves_the_old_file(tmp_path):
    path = tmp_path / "page.html"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), whole_file(path) as stream:
        stream.writelines([b"half", "text"])
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["page.html"]


@pytest.mark.skipif(os.name != "posix", reason="limits on files are those of POSIX")
def test_a_full_disk_leaves_the_old_file_and_names_it(tmp_path):
    path = tmp_path / "page.html"
    path.write_bytes(b"old")
    command = [sys.executable, "-c", LIMITED, str(path)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert os.strerror(errno.EFBIG) in output
    assert repr(str(path)) in output
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["page.html"]


def test_what_a_killed_program_left_is_removed(tmp_path, stalled):
    stalled.kill()
    stalled.wait()
    assert len(names(tmp_path)) == 2
    assert (tmp_path / "page.html").read_bytes() == b"old"
    write_whole(tmp_path / "other.html", b"new")
    assert names(tmp_path) == ["other.html", "page.html"]


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_what_another_program_is_writing_is_spared(tmp_path, stalled):
    write_whole(tmp_path / "other.html", b"new")
    assert len(names(tmp_path)) == 3
    stalled.send_signal(signal.SIGINT)
    stalled.wait()
    assert names(tmp_path) == ["other.html", "page.html"]


def test_devices_are_written_to():
    write_whole(os.devnull, b"anything")
    assert not os.path.isfile(os.devnull)


def test_a_folder_or_no_folder_is_an_error_that_names_it(tmp_path):
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        write_whole(tmp_path, b"new")
    with pytest.raises(FileNotFoundError, match=r"no.page\.html"):
        write_whole(tmp_path / "no" / "page.html", b"new")


def test_many_writers_of_one_file_leave_one_of_theirs(tmp_path):
    path = tmp_path / "page.html"
    program = (
        "import sys; from laconic._util.files import write_whole\n"
        "for _ in range(50): write_whole(sys.argv[1], sys.argv[2].encode() * 10_000)"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", program, str(path), letter]) for letter in "ab"
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert path.read_bytes() in (b"a" * 10_000, b"b" * 10_000)
    assert names(tmp_path) == ["page.html"]
