"""A private PostgreSQL server for tests, gone when they end."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def find_server() -> Path | None:
    """Folder of the newest server programs."""
    if FOLDERS:
        return FOLDERS[-1]
    program = shutil.which("initdb")
    return Path(program).resolve().parent if program else None


def other_user() -> dict[str, int]:
    """User and group to run the server as: it refuses to be run by root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid}
    raise RuntimeError("There is no user besides root to run PostgreSQL as.")


@contextmanager
def running_server(programs: Path):
    """Start a server in a temporary folder, and yield how to connect to it."""
    # Not the folder of pytest, which only its owner may enter and whose path may be too long
    # for a socket.
    folder = Path(tempfile.mkdtemp(prefix="laconic-pg-", dir="/tmp"))
    identity = other_user()
    if identity:
        os.chown(folder, identity["user"], identity["group"])

    def run(program, *arguments):
        command = [programs / program, "-D", folder / "data", *arguments]
        subprocess.run(
            command,
            cwd=folder,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            **identity,
        )

    try:
        run("initdb", "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        options = f"-c listen_addresses='' -c fsync=off -k {folder}"
        run("pg_ctl", "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield f"host={folder} user=tester dbname=postgres"
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
