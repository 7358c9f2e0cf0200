"""Rows of one run of a job: an export of overlapping months, or of two joined files, has a run more than once."""

import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

Run = TypeVar("Run")
#: Fix of a finding about such rows: without this column, two jobs of a federation may be taken for one.
FIX = "nothing, if the export was joined from several; add Cluster to its columns if it has jobs of several clusters"
#: Id of a step. Source: sacct(1), JobID: JobID.StepID, with the words batch, extern and interactive.
_STEP = re.compile(r"\d+(?:[_+]\d+)?\.(?:batch|extern|interactive|\d+)")


def is_step(job: str) -> bool:
    """Return whether an id is the id of a step, such as 201.batch, whose time is in the row of its job too."""
    return _STEP.fullmatch(job) is not None


def once(
    runs: Sequence[Run], identity: Callable[[Run], Hashable | None], known: Callable[[Run], Any]
) -> tuple[list[Run], int]:
    """Return each run once, in the order of their first rows, and the number of rows that were left out.

    Rows with the same `identity` are of one run; None: of a run of its own. The row with the largest `known` is kept.
    """
    runs_by_key: dict[Hashable, Run] = {}
    for number, run in enumerate(runs):
        key = identity(run)
        key = number if key is None else key
        runs_by_key[key] = max(runs_by_key.get(key, run), run, key=known)
    return list(runs_by_key.values()), len(runs) - len(runs_by_key)


def repeated_message(count: int) -> str:
    """Return the message of a finding about rows that were left out."""
    return f"rows of a run that an earlier row has, by job, user and start: {count:,}; each run counts once"
