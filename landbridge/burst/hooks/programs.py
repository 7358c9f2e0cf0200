"""ResumeProgram, SuspendProgram and ResumeFailProgram of Slurm.

Each writes one order into the journal and exits; the daemon carries it out. The daemon need not run: the order waits
for it. Slurm keeps the resume file only while the program runs, so its text is copied first. Only a small part of the
standard library is imported: slurmctld may start one program for every few nodes.
"""

import contextlib
import json
import os
import socket
import sqlite3
import sys
import time
from collections.abc import Sequence

from landbridge.burst.journal.database import connect, write_order
from landbridge.burst.journal.paths import CONFIG, CONFIG_VARIABLE, DATABASE, SOCKET, STATE_DIR

RESUME_FILE = "SLURM_RESUME_FILE"
LOCK_TIMEOUT_SECONDS = 2.0  # for a busy journal


def resume(argv: Sequence[str] | None = None) -> int:
    """Run as ResumeProgram: order a launch of the nodes in the last argument."""
    return main("resume", argv)


def suspend(argv: Sequence[str] | None = None) -> int:
    """Run as SuspendProgram: order the termination of the nodes in the last argument."""
    return main("suspend", argv)


def resume_fail(argv: Sequence[str] | None = None) -> int:
    """Run as ResumeFailProgram: the nodes in the last argument did not register in time; Slurm has already set them
    down."""
    return main("resume-fail", argv)


def main(kind: str, argv: Sequence[str] | None = None) -> int:
    """Write an order; return 0 when it is on disk, else 1: then Slurm's time-outs and the daemon's next pass apply."""
    arguments = sys.argv[1:] if argv is None else argv
    if not arguments:
        print(f"landbridge-{kind}: the node list is missing", file=sys.stderr)
        return 2
    text = _resume_file() if kind == "resume" else None
    database, daemon = _files()
    try:
        connection = connect(database, LOCK_TIMEOUT_SECONDS)
        try:
            # A PowerAction puts its own options before the node list.
            write_order(connection, kind, arguments[-1], text, time.time())
        finally:
            connection.close()
    except sqlite3.Error as error:
        print(f"landbridge-{kind}: {database}: {error}; order not written: {arguments[-1]}", file=sys.stderr)
        return 1
    wake(daemon)
    return 0


def _resume_file() -> str | None:
    path = os.environ.get(RESUME_FILE)
    if not path:
        return None
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        print(f"landbridge-resume: {path}: {error.strerror}; only the node list is used", file=sys.stderr)
        return None


def _files() -> tuple[str, str]:
    """Return the paths of the journal and of the daemon's socket. An unreadable burst.json does not prevent an order."""
    try:
        with open(os.environ.get(CONFIG_VARIABLE) or CONFIG, "rb") as file:
            raw = json.load(file)
    except (OSError, ValueError):
        raw = {}
    config = raw if isinstance(raw, dict) else {}
    return os.path.join(str(config.get("state_dir") or STATE_DIR), DATABASE), str(config.get("socket") or SOCKET)


def wake(path: str) -> None:
    """Wake the daemon; if none runs, the order waits in the journal."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.setblocking(False)
        with contextlib.suppress(OSError):
            out.sendto(b"1", path)


PROGRAMS = {"resume": resume, "suspend": suspend, "resume-fail": resume_fail}

if __name__ == "__main__":
    sys.exit(PROGRAMS[sys.argv[1]](sys.argv[2:]))
