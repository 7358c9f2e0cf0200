"""Runner of host commands: captures output; a failure is a LabError with the last lines of the command's output."""

import errno
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sandbox.nspawn.errors import LabError

_LAST_LINES = 12


def run(
    command: Sequence[str | Path],
    *,
    stdin: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = 120,
    check: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Run `command`. Raise LabError for a missing program, a time-out and, with `check`, a non-zero exit code."""
    words = [str(word) for word in command]
    try:
        completed = subprocess.run(
            words, input=stdin, env=env, cwd=cwd, timeout=timeout, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise LabError(f"the program '{words[0]}' is missing", "landbridge sandbox up installs it as root") from None
    except subprocess.TimeoutExpired:
        raise LabError(f"'{' '.join(words[:4])}' did not end within {timeout:.0f} s") from None
    if check and completed.returncode != 0:
        raise failure(words, completed.returncode, completed.stderr or completed.stdout)
    return completed


def failure(words: Sequence[str], code: int, output: str) -> LabError:
    """Return the error for a failed command; a full disk gets the same message for every program."""
    tail = "\n    ".join(output.strip().splitlines()[-_LAST_LINES:])
    if "No space left on device" in output:
        return disk_full(f"while running {words[0]}")
    return LabError(f"'{' '.join(words[:6])}' failed with exit code {code}:\n    {tail}")


def disk_full(activity: str) -> LabError:
    return LabError(
        f"the disk is full ({activity})",
        "free some space: `landbridge sandbox down --images` removes the lab's nodes and images",
    )


@contextmanager
def explained() -> Iterator[None]:
    """Raise LabError instead of the operating system's error for a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(f"while writing {error.filename}" if error.filename else "while writing") from error
        raise
