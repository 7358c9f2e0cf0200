"""Results that a Slurm job states in its comment, `results=PATH[:NAME]`, and the requests and reports about them.

The job writes below LANDBRIDGE_RESULTS_URL, in the bucket of its data class. After its end the mover copies the folder
PATH of that place to the site. Standard library only.
"""

import re
from dataclasses import dataclass
from typing import Literal

#: Prefix of results in the bucket of a data class, and of the notes about those that are at the site.
RESULTS, RESULTS_AT_SITE = "results", "results-at-site"
#: Folder of results in the site's folder of a data class. No dataset may have this name.
RESULTS_FOLDER = "_results"
_STATEMENT = re.compile(r"(?:^|[\s;])results=([^\s;]*)")
_PART = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_FORM = re.compile(rf"(\.|{_PART}(?:/{_PART})*)(?::({_PART}))?")
_MAX_PATH, _MAX_NAME = 200, 63

#: open: the job has not ended; absent: not copied yet; moving: the mover copies them; home: complete and verified at the site;
#: empty: the job has written nothing; refused: they cannot be copied, with the reason in `text`.
ResultsState = Literal["open", "absent", "moving", "home", "empty", "refused"]
RESULTS_STATES: tuple[ResultsState, ...] = ("open", "absent", "moving", "home", "empty", "refused")


@dataclass(frozen=True, slots=True)
class ResultsStatement:
    """Folder below LANDBRIDGE_RESULTS_URL (`.`: all of it), and name of the folder at the site (empty: the job's number)."""

    path: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class ResultsRequest:
    """Results of a job. `run`: cluster and number of the job or of its array; `ended`: time at which the controller saw the end
    of the job; None: it may still write.
    """

    run: str
    data_class: str
    user: str
    uid: int
    path: str
    name: str
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class ResultsReport:
    """Report of the mover about the results of a run that ended at `ended`; the other fields as in a report about data."""

    state: ResultsState
    ended: float | None = None
    size: int = 0
    left: int = 0
    seconds: float | None = None
    usd: float | None = None
    path: str = ""
    text: str = ""


def stated_results(comment: str) -> ResultsStatement | None:
    """Return the results of a job's comment; None without a statement. Raises ValueError for another form."""
    statement = _STATEMENT.search(comment)
    if statement is None:
        return None
    matched = _FORM.fullmatch(statement[1])
    if matched is None or len(matched[1]) > _MAX_PATH or len(matched[2] or "") > _MAX_NAME:
        raise ValueError(f"'{statement[1]}' is not PATH[:NAME]")
    return ResultsStatement(matched[1], matched[2] or "")


def results_prefix(run: str, path: str) -> str:
    """Return the key prefix of a run's results, or of one of its folders."""
    return f"{RESULTS}/{run}/" if path == "." else f"{RESULTS}/{run}/{path}/"
