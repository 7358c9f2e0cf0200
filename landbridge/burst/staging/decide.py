"""Decision about jobs that state data: pure, from the jobs, the mover's reports and the policy. No clock, no calls.

A job is released when its data are at every site at which its partitions may start it. One that states results alone is
held until the controller has recorded them. A job that may be promoted to
AWS needs its data there first; they are copied only if that takes less time than the wait at the site.
"""

from collections.abc import Iterable, Mapping

from landbridge.burst.model import BurstPolicy, PromotionPolicy, StagingPolicy
from landbridge.burst.staging.model import DataJob, StagingDecision, StagingNote
from landbridge.staging.places import DataInUse, DataReport, DatasetPlace, DataSite, StagingReports
from landbridge.staging.statement import HELD_PREFIX

#: Prefix of the AdminComment of a job whose data are in place.
RELEASED_PREFIX = "landbridge: data in place: "
#: AdminComment of a released job that states results and no data.
RECORDED = "landbridge: results are recorded"
_SITES: tuple[DataSite, ...] = ("onprem", "aws")
_WORDS: Mapping[DataSite, str] = {"onprem": "on-prem", "aws": "in AWS"}
#: Characters of an AdminComment.
_MAX_NOTE = 500
#: Jobs whose comments change in one pass: Slurm serves a request for each.
MAX_NOTES = 200
#: Age of the reports at which the mover counts as stopped.
SILENT_SECONDS = 300.0


def decide_staging(
    jobs: Iterable[DataJob], reports: StagingReports, policy: BurstPolicy, staging: StagingPolicy, now: float
) -> StagingDecision:
    """Return the decision for all pending jobs that state data or results."""
    requests: dict[DatasetPlace, bool] = {}
    releases: list[StagingNote] = []
    notes: list[StagingNote] = []
    seconds_to_aws: dict[int, float | None] = {}
    pending = (job for job in jobs if job.is_pending)
    for job in sorted(pending, key=lambda job: (job.eligible or 0.0, job.id)):
        if not job.is_held:
            in_aws = data_in_aws(job, policy)
            seconds_to_aws[job.id] = seconds_until(in_aws, reports)
            promotion = promotion_of(job, policy, staging)
            if promotion is not None:
                is_worth_it = copy_refusal(job, promotion, seconds_to_aws[job.id], now) is None
                for place in in_aws:
                    requests[place] = requests.get(place, False) or is_worth_it
            continue
        seconds_to_aws[job.id] = None
        needed = places(job, policy, staging)
        requests |= dict.fromkeys(needed, True)
        absent = [place for place in needed if not is_present(place, reports)]
        if (needed or not job.data) and not absent:
            releases.append(StagingNote(job.id, job.slurm_id, released_text(needed, reports)))
        elif len(notes) < MAX_NOTES and (text := held_text(absent, reports)) != job.note:
            notes.append(StagingNote(job.id, job.slurm_id, text))
    return StagingDecision(requests, tuple(releases), tuple(notes), seconds_to_aws)


def places(job: DataJob, policy: BurstPolicy, staging: StagingPolicy) -> tuple[DatasetPlace, ...]:
    """Return the places at which a job needs its data before it starts: each dataset at each site of its partitions.

    A partition that the policy does not have may start a job at any site.
    """
    named = [name for name in job.partition.split(",") if name]
    sites = {site for name in named for site in staging.partitions.get(name, _SITES)}
    account = policy.accounts.get(job.account)
    # Without a known class there is no bucket: the mover refuses the place.
    data_class = account.data_class if account is not None else ""
    return tuple(DatasetPlace(dataset, data_class, site) for site in _SITES if site in sites for dataset in job.data)


def promotion_of(job: DataJob, policy: BurstPolicy, staging: StagingPolicy) -> PromotionPolicy | None:
    """Return the rule that may promote the job to AWS; None if it starts there anyway, or may not be there."""
    account = policy.accounts.get(job.account)
    if account is None or not account.aws or any(place.site == "aws" for place in places(job, policy, staging)):
        return None
    return next((rule for rule in policy.promotions if rule.partition == job.partition), None)


def copy_refusal(job: DataJob, promotion: PromotionPolicy, seconds: float | None, now: float) -> str | None:
    """Return the reason why the job's data are not copied to AWS; None if the copy is worth it.

    `seconds`: the time that the copy takes.
    """
    if job.expected_start is not None and job.expected_start > now:
        wait = job.expected_start - max(now, job.eligible or 0.0)
        known_wait = f"it is expected to start on-prem in {wait:.0f} s"
    else:
        wait = 0.0 if job.eligible is None else max(0.0, now - job.eligible)
        known_wait = f"it has waited {wait:.0f} s"
    if wait <= promotion.wait_seconds:
        return f"{known_wait}, and may wait {promotion.wait_seconds:.0f} s"
    if seconds is None:
        return "no rate of the link has been measured, or the mover has not reported"
    is_estimate = job.expected_start is not None and job.expected_start > now
    if is_estimate and seconds >= wait:
        return f"{known_wait}, and the copy of its data takes {seconds:.0f} s"
    if job.deadline is not None and now + seconds + 60 * (job.minutes or 0) > job.deadline:
        return f"the copy of its data takes {seconds:.0f} s, and the job would end after its deadline"
    return None


def seconds_until(needed: Iterable[DatasetPlace], reports: StagingReports) -> float | None:
    """Return the time until all places are complete: 0 if they are; None if it is unknown or one is refused."""
    total = 0.0
    for place in needed:
        report = reports.by_place.get(place)
        if report is None or report.state == "refused" or (report.state != "present" and report.seconds is None):
            return None
        total += 0.0 if report.state == "present" else report.seconds or 0.0
    return total


def is_present(place: DatasetPlace, reports: StagingReports) -> bool:
    """Return whether the mover has reported a place as complete."""
    report = reports.by_place.get(place)
    return report is not None and report.state == "present"


def released_text(needed: Iterable[DatasetPlace], reports: StagingReports) -> str:
    """Return the AdminComment of a released job: where it reads its data, or that its results are recorded."""
    paths = dict.fromkeys(reports.by_place[place].path for place in needed)
    return RELEASED_PREFIX + ", ".join(path for path in paths if path) if paths else RECORDED


def held_text(absent: Iterable[DatasetPlace], reports: StagingReports) -> str:
    """Return the AdminComment of a held job. It has no progress: each change of it costs slurmctld a write."""
    parts = []
    for place in absent:
        report = reports.by_place.get(place)
        where = f"{place.dataset} {_WORDS[place.site]}"
        if report is not None and report.state == "refused":
            parts.append(f"cannot have {where}: {report.text}")
        else:
            parts.append(f"waits for {where}")
    # As Slurm stores it: else each pass would write it again.
    return " ".join((HELD_PREFIX + "; ".join(parts)).replace('"', "'").split())[:_MAX_NOTE]


def place_text(place: DatasetPlace, report: DataReport | None) -> str:
    """Return the state of a place for `landbridge burst why`."""
    where = f"{place.dataset} {_WORDS[place.site]}"
    if report is None:
        return f"{where}: the mover has not reported"
    if report.state == "present":
        return f"{where}: in place, {report.path}"
    if report.state == "refused":
        return f"{where}: {report.text}"
    time = "an unknown time" if report.seconds is None else f"about {report.seconds:.0f} s"
    cost = "an unknown price" if report.usd is None else f"at most {report.usd:.4f} USD"
    verb = "is being copied" if report.state == "moving" else "is not there"
    return f"{where}: {verb}; {report.left:,} of {report.size:,} bytes are left, {time}, {cost}"


def explain_data(
    job: DataJob, reports: StagingReports, policy: BurstPolicy, staging: StagingPolicy, now: float
) -> tuple[str, ...]:
    """Return the state of a job's data, the age of old reports, and why the job is not promoted yet."""
    needed = places(job, policy, staging)
    texts = [place_text(place, reports.by_place.get(place)) for place in needed]
    promotion = None if job.is_held else promotion_of(job, policy, staging)
    if promotion is not None:
        in_aws = data_in_aws(job, policy)
        texts += [place_text(place, reports.by_place.get(place)) for place in in_aws]
        refusal = copy_refusal(job, promotion, seconds_until(in_aws, reports), now)
        texts.append(
            f"its data are not copied to AWS: {refusal}" if refusal else "its data are copied to AWS, or are there"
        )
    if reports.at is None or now - reports.at > SILENT_SECONDS:
        ago = "never reported" if reports.at is None else f"not reported for {now - reports.at:.0f} s"
        texts.append(f"the mover has {ago}: check landbridge-mover.service on the storage host")
    return tuple(texts)


def data_in_aws(job: DataJob, policy: BurstPolicy) -> tuple[DatasetPlace, ...]:
    """Return the places of a job's data in AWS."""
    account = policy.accounts.get(job.account)
    data_class = account.data_class if account is not None else ""
    return tuple(DatasetPlace(dataset, data_class, "aws") for dataset in job.data)


def data_in_use(jobs: Iterable[DataJob], policy: BurstPolicy, reports: StagingReports) -> DataInUse:
    """Return the datasets that pending and running jobs state. Copies of them are not deleted."""
    places_in_aws = (place for job in jobs for place in data_in_aws(job, policy))
    return DataInUse(reports.inspected, frozenset((place.data_class, place.dataset) for place in places_in_aws))
