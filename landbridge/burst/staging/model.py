"""Values of the decision about data: jobs that state data or results, releases and comments. Standard library only."""

from collections.abc import Mapping
from dataclasses import dataclass

from landbridge.staging.places import DatasetPlace
from landbridge.staging.results import ResultsStatement


@dataclass(frozen=True, slots=True)
class DataJob:
    """Job that states data or results. `is_held`: it has not been released; `note`: its AdminComment; `submission`: number of
    the job or of its array.
    """

    id: int
    slurm_id: str
    data: tuple[str, ...]  # NAME:VERSION
    partition: str
    account: str
    is_held: bool
    note: str = ""
    deadline: float | None = None
    eligible: float | None = None  # that of SlurmJob
    expected_start: float | None = None
    minutes: int | None = None
    is_pending: bool = True
    results: ResultsStatement | None = None
    submission: int = 0
    user: str = ""
    uid: int = 0


@dataclass(frozen=True, slots=True)
class StagingNote:
    """New AdminComment of a job that is released, or that stays held."""

    job: int
    slurm_id: str
    text: str


@dataclass(frozen=True, slots=True)
class StagingDecision:
    """Decision of one pass: requests to the mover (true: copy, false: estimate only), releases and comments.

    `seconds_to_aws`: for each job, the time until its data are in AWS; None: not known, or the job is held.
    """

    requests: Mapping[DatasetPlace, bool]
    releases: tuple[StagingNote, ...]
    notes: tuple[StagingNote, ...]
    seconds_to_aws: Mapping[int, float | None]
