"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, which deletes no file that is open
    fcntl = None  # type: ignore[assignment]

_UNFINISHED = ".laconic-{}.tmp"


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file beside the one it replaces, and put it there when it is complete.

    A failure, such as a full disk or the end of the program, leaves the old file unchanged. Errors
    name the given file. Unfinished files of killed programs in the same folder are removed.
    Devices, such as a terminal, are written to directly.
    """
    with whole_file(path) as stream:
        stream.write(content)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for `write_whole`, to be written in parts; an exception leaves the old one."""
    # Links are followed; replacing would turn the link into a file.
    target = Path(path).resolve()
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as stream:
                yield stream
            return
        _remove_unfinished(target.parent)
        with _replacement(target) as stream:
            yield stream
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, os.strerror(error.errno), os.fspath(path)) from None


@contextmanager
def _replacement(target: Path) -> Iterator[BinaryIO]:
    """Open a new file that replaces another if nothing fails."""
    stream = _locked_file(target.parent)
    unfinished = Path(stream.name)
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            with suppress(FileNotFoundError):  # there is none to replace
                unfinished.chmod(stat.S_IMODE(target.stat().st_mode))
            if os.name == "posix":  # under its lock; elsewhere open files cannot be moved
                unfinished.replace(target)
        if os.name != "posix":
            unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _locked_file(folder: Path) -> BinaryIO:
    """Create a file with a lock, which shows others that it is being written."""
    while True:
        stream = (folder / _UNFINISHED.format(uuid.uuid4().hex)).open("xb")
        # Before the lock, another program may have removed it as one that was left behind.
        if _lock(stream) and (os.name != "posix" or os.fstat(stream.fileno()).st_nlink > 0):
            return stream
        stream.close()


def _lock(stream: BinaryIO) -> bool:
    if fcntl is not None:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
    return True


def _remove_unfinished(folder: Path) -> None:
    """Remove files without a lock, which killed programs have left."""
    for path in folder.glob(_UNFINISHED.format("*")):
        with suppress(OSError):
            if os.name != "posix":
                path.unlink()  # fails while it is open
                continue
            with path.open("rb") as stream:
                if _lock(stream):
                    path.unlink()
