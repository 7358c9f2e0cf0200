"""Requests about jobs' results: pure, from the requests of the pass before, Slurm's queue and the mover's reports."""

from collections.abc import Iterable, Mapping

from landbridge.burst.model import BurstPolicy
from landbridge.burst.staging.model import DataJob
from landbridge.staging.results import ResultsReport, ResultsRequest

#: Time for which refused results are requested again after the end of their job. They stay in the bucket.
GIVE_UP_SECONDS = 7 * 86400.0


def requested_results(
    before: Mapping[str, ResultsRequest],
    jobs: Iterable[DataJob],
    reports: Mapping[str, ResultsReport],
    policy: BurstPolicy,
    now: float,
) -> dict[str, ResultsRequest]:
    """Return the requests by run: of each job in the queue, and of those that have left it until the mover is done.

    An array is one run, which ends with its last task. A job that is queued again after its end is open again.
    """
    requests: dict[str, ResultsRequest] = {}
    for job in jobs:
        if job.results is not None:
            request = _open_request(job, policy)
            requests[request.run] = request
    for run, request in before.items():
        if run in requests:
            continue
        ended = request.ended if request.ended is not None else now
        if not _is_done(reports.get(run), ended, now):
            requests[run] = ResultsRequest(
                run, request.data_class, request.user, request.uid, request.path, request.name, ended
            )
    return requests


def results_text(request: ResultsRequest, report: ResultsReport | None) -> str:
    """Return the state of a run's results for `landbridge burst why`."""
    about = f"results of {request.run}"
    if request.ended is None:
        return f"{about}: they are copied to the site after the end of the job"
    if report is None or report.ended != request.ended:
        return f"{about}: the mover has not reported"
    if report.state == "refused":
        return f"{about}: {report.text}"
    if report.state in ("home", "empty"):
        return f"{about}: {report.path or report.text}"
    time = "an unknown time" if report.seconds is None else f"about {report.seconds:.0f} s"
    cost = "an unknown price" if report.usd is None else f"at most {report.usd:.4f} USD"
    return f"{about}: {report.left:,} of {report.size:,} bytes are left, {time}, {cost}; no node runs for them"


def _open_request(job: DataJob, policy: BurstPolicy) -> ResultsRequest:
    assert job.results is not None
    account = policy.accounts.get(job.account)
    return ResultsRequest(
        run=f"{policy.cluster}-{job.submission}",
        # Without a known class there is no bucket: the mover refuses it.
        data_class=account.data_class if account is not None else "",
        user=job.user,
        uid=job.uid,
        path=job.results.path,
        name=job.results.name or str(job.submission),
    )


def _is_done(report: ResultsReport | None, ended: float, now: float) -> bool:
    """Return true if the mover has finished with a run that ended at this time."""
    if report is None or report.ended != ended:
        return False
    return report.state in ("home", "empty") or (report.state == "refused" and now - ended > GIVE_UP_SECONDS)
