"""Runner of programs that may hang: a process that waits for faulty hardware cannot be killed."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


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
    """Run a command and return its output on both channels. Never waits longer than `seconds`."""
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
        text, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        # Without waiting for its end: in an uninterruptible sleep it remains until its hardware answers.
        process.kill()
        return Output(None, "")
    return Output(process.returncode, text)
