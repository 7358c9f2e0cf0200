"""Stand-ins of sinfo, squeue and scontrol on PATH, which print recorded output."""

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.model import SlurmJob
from landbridge.burst.slurm.slurm_text import JOB_FIELDS, jobs_of

DATA = Path(__file__).parents[1] / "data"
#: Separator of the recorded output of squeue; the stand-in prints the requested separator.
SEPARATOR = "|00c0ffee|"
Calls = Callable[[], list[list[str]]]
Install = Callable[..., Calls]

_PROGRAM = """#!{python}
import json, sys, pathlib
with open({calls!r}, "a") as file: print(json.dumps(sys.argv), file=file)
words = " ".join(sys.argv)
separator = next((w.split(",")[0].partition(":0")[2] for w in sys.argv if w.startswith("--Format=JobID:0")), "")
for word, answer in {answers!r}:
    if word in words:
        if answer.startswith("fail:"): sys.exit(answer)
        text = pathlib.Path(answer).read_text() if answer.startswith("/") else answer
        print(text.replace({recorded!r}, separator), end=""); break
"""


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that puts the stand-ins on PATH and returns a function with their calls.

    An answer is a text, the path of a file, or a table of them by a word of the arguments.
    """

    def install(**answers: Path | str | dict[str, Path | str]) -> Calls:
        calls = tmp_path / "calls"
        for name, answer in answers.items():
            table = answer if isinstance(answer, dict) else {"": answer}
            program = tmp_path / name
            program.write_text(
                _PROGRAM.format(
                    python=sys.executable,
                    calls=str(calls),
                    answers=[(word, _printed(value, tmp_path)) for word, value in table.items()],
                    recorded=SEPARATOR,
                )
            )
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        return lambda: [
            [Path(words[0]).name, *words[1:]]
            for words in map(json.loads, calls.read_text().splitlines() if calls.exists() else [])
        ]

    return install


def _printed(answer: Path | str, folder: Path) -> str:
    """Return an answer; a recorded one of squeue is the path of a copy with all fields."""
    if not isinstance(answer, Path) or not answer.name.endswith(".squeue.txt"):
        return str(answer)
    copy = folder / f"{answer.parent.name}-{answer.name}"
    copy.write_text(recorded_text(answer))
    return str(copy)


def recorded_text(path: Path) -> str:
    """Return a recorded answer of squeue with `N/A` for the last field, which was not requested then."""
    *fields, rest = path.read_text().split(SEPARATOR)
    size = len(JOB_FIELDS) - 1
    records = [fields[start : start + size] for start in range(0, len(fields), size)]
    return "".join(SEPARATOR.join([*record, "N/A", ""]) for record in records) + rest


def recorded(name: str, version: str) -> dict[str, Any]:
    """Return recorded JSON."""
    return dict(json.loads((DATA / version / f"{name}.json").read_text()))


def recorded_jobs(moment: str, version: str) -> list[SlurmJob]:
    """Return the jobs of a recorded answer of squeue by their ids."""
    text = recorded_text(DATA / version / f"{moment}.squeue.txt")
    return sorted(jobs_of(text, SEPARATOR), key=lambda job: job.id)
