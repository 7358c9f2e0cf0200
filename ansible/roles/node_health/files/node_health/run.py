"""Runner of programs that may hang: a process that waits for faulty hardware cannot be killed."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


# Time of the monotonic clock at which this program must have ended; None: no limit.
_end: float | None = None


class OutOfTimeError(Exception):
    """Error: the time of this program has passed, or passed while another program ran."""


def limit(seconds: float | None) -> None:
    """Limit the time of all further programs together; None removes the limit."""
    global _end
    _end = None if seconds is None else time.monotonic() + seconds


@dataclass(frozen=True)
class Output:
    """Result of a program. `code` is None after a timeout, 127 if the program does not exist."""

    code: int | None
    text: str

    @property
    def first_line(self) -> str:
        """First line that is not empty."""
        return next((line.strip() for line in self.text.splitlines() if line.strip()), "")


def run(command: Sequence[str], seconds: float = 15) -> Output:
    """Run a command and return its output on both channels. Never waits longer than `seconds`.

    Raises OutOfTimeError if the limit of all programs ends first.
    """
    remaining = None if _end is None else _end - time.monotonic()
    if remaining is not None and remaining <= 0:
        raise OutOfTimeError(command[0])
    wait = seconds if remaining is None else min(seconds, remaining)
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"PATH": PATH, "LC_ALL": "C.UTF-8"},
            text=True,
            errors="replace",
        )
    except OSError as error:
        return Output(127, f"{command[0]}: {error.strerror}")
    try:
        text, _ = process.communicate(timeout=wait)
    except subprocess.TimeoutExpired:
        # Without waiting for its end: in an uninterruptible sleep it remains until its hardware answers.
        process.kill()
        if wait < seconds:
            raise OutOfTimeError(command[0]) from None
        return Output(None, "")
    return Output(process.returncode, text)
