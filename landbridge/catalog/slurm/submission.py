"""Submission of a batch job whose result is not known (slurm_submission.yaml)."""

from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class SubmissionFact(Facts):
    """Time in seconds and the reason for it."""

    value: int
    why: str


class SlurmSubmission(Facts):
    """Facts of slurm_submission.yaml. After one of `unknown_results` in the output of sbatch a job may exist."""

    source: str
    as_of: date = Field(alias="date")
    sbatch_seconds: SubmissionFact
    credential_seconds: SubmissionFact
    margin_seconds: SubmissionFact
    min_job_age_seconds: SubmissionFact
    unknown_results: tuple[str, ...]

    def settle_seconds(self, credential_seconds: int | None = None) -> int:
        """Return the time after which no job of a submission can appear any more, for a lifetime of credentials."""
        lifetime = self.credential_seconds.value if credential_seconds is None else credential_seconds
        return self.sbatch_seconds.value + lifetime + self.margin_seconds.value


@cache
def slurm_submission() -> SlurmSubmission:
    """Return the facts of a submission (cached)."""
    return read("slurm_submission", SlurmSubmission)
