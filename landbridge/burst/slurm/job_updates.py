"""Groups of jobs for `scontrol update`, and the errors that it prints for single jobs. Pure.

scontrol accepts a list of job ids. It sends a request for each, continues after an error, and then prints the error with
the id: `ERROR for job 12`, or `4_[2]: ERROR` for the task of an array (Slurm's src/scontrol/update_job.c, 23.11 to 26.05).
"""

import re
from collections.abc import Iterable, Iterator

from landbridge.burst.model import JobComment

_ERROR_OF_JOB = re.compile(r"^.* for job (\d\S*)$|^(\d+_)\[?(\d+)\]?: .*$", re.MULTILINE)
MAX_COMMENT_CHARACTERS = 500


def groups(comments: Iterable[JobComment], size: int) -> Iterator[list[JobComment]]:
    """Yield comments with the same text and start, at most `size` together: one command can write them."""
    by_text: dict[tuple[str, float | None], list[JobComment]] = {}
    for comment in comments:
        by_text.setdefault((comment.text, comment.until), []).append(comment)
    for group in by_text.values():
        for first in range(0, len(group), size):
            yield group[first : first + size]


def one_line(text: str) -> str:
    """Return the text as one short line without double quotes, which Slurm's output does not escape."""
    return " ".join(text.split())[:MAX_COMMENT_CHARACTERS].replace('"', "'")


def errors_by_id(output: str, slurm_ids: Iterable[str]) -> dict[str, str]:
    """Return the errors in the output of a failed command, by job id; all jobs failed if it names none of them."""
    known = set(slurm_ids)
    errors = {match[1] or match[2] + match[3]: match[0].strip() for match in _ERROR_OF_JOB.finditer(output)}
    return {id: error for id, error in errors.items() if id in known} or dict.fromkeys(known, output.strip())
