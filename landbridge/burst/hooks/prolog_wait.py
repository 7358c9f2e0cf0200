"""PrologSlurmctld that asks the daemon whether a job may start on its nodes, and waits until they are up.

    landbridge-prolog-ask [PROGRAM [ARGUMENT ...]]     PROGRAM: the command that asks again

No process of a job starts before this program has ended with status 0; status 1 requeues a batch job and ends an
interactive one. Slurm starts a job on resumed nodes at its next check, every 30 s, or when this program ends. If the
daemon does not run, the program decides without it (prolog_alone.py).

Python only asks: a shell waits for the answer, with 0.1 MB in place of 10. The end of the daemon closes the connection,
and the shell asks again. Only `_socket` is imported: `socket` needs as much time as the start of Python itself.
"""

import _socket
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from landbridge.burst.journal.paths import CONFIG, CONFIG_VARIABLE, SOCKET, prolog_socket

#: Seconds in which the daemon accepts a connection.
CONNECT_SECONDS = 10.0
#: Environment variable with the count of questions of this program.
ASKED = "LANDBRIDGE_PROLOG_ASKED"
#: Questions after which the program decides without the daemon. A job that may not start waits for a daemon that starts
#: again, which gives its nodes up with the reason: twelve times the shell's five seconds.
MAX_QUESTIONS = 12
#: Program of the shell: an answer is an exit status and a text; the end of the connection is none.
WAIT = """
read -r status text
case $status in
    0 | 1) [ -z "$text" ] || echo "landbridge-prolog-wait: $text" >&2; exit "$status" ;;
esac
sleep 5
exec "$@"
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 for a job that may not start on its nodes, else 0; does not return if the daemon answers."""
    again = sys.argv[1:] if arguments is None else arguments
    if not os.environ.get("SLURM_JOB_NODELIST"):
        print("landbridge-prolog-wait: SLURM_JOB_NODELIST is not set", file=sys.stderr)
        return 0
    question_count = int(os.environ.get(ASKED) or 0)
    again = again or [sys.executable, "-m", "landbridge.burst.hooks.prolog_wait"]
    connection = _ask(_path(), question_count == 0) if question_count < MAX_QUESTIONS else None
    if connection is None:
        from landbridge.burst.hooks import prolog_alone

        reason = prolog_alone.reject_job(os.environ)
        if reason is None:
            return 0
        if question_count in (0, MAX_QUESTIONS):
            print(f"landbridge-prolog-wait: {reason}", file=sys.stderr)
        if question_count >= MAX_QUESTIONS:
            return 1
    os.environ[ASKED] = str(question_count + 1)
    return _wait(connection, again)


def _ask(path: str, is_first: bool) -> "_socket.socket | None":
    """Send the question; return its connection, or None if no daemon accepts it."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(CONNECT_SECONDS)
    variables = ("SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_JOB_ACCOUNT", "SLURM_WCKEY")
    try:
        connection.connect(path)
    except OSError as error:
        if is_first:
            print(f"landbridge-prolog-wait: {path}: {error.strerror or error}", file=sys.stderr)
        connection.close()
        return None
    with contextlib.suppress(OSError):  # a daemon that ends now: the shell reads no answer, and asks again
        connection.sendall(b"".join(os.fsencode(os.environ.get(name, "")) + b"\0" for name in variables))
    return connection


def _wait(connection: "_socket.socket | None", again: Sequence[str]) -> NoReturn:
    """Become the shell that waits for the answer, or only for the next question. All other files are closed, and with
    them the lock of the program that called this."""
    if connection is None:
        descriptor = os.open(os.devnull, os.O_RDONLY)
    else:
        connection.settimeout(None)
        descriptor = connection.fileno()
    os.dup2(descriptor, 0)
    os.set_inheritable(0, True)
    os.closerange(3, 64)
    os.execv("/bin/sh", ["sh", "-c", WAIT, "landbridge-prolog-wait", *again])


def _path() -> str:
    raw = None
    with contextlib.suppress(OSError, ValueError), open(os.environ.get(CONFIG_VARIABLE) or CONFIG, "rb") as file:
        import json

        raw = json.load(file)
    return prolog_socket(str((isinstance(raw, dict) and raw.get("socket")) or SOCKET))


if __name__ == "__main__":
    sys.exit(main())
