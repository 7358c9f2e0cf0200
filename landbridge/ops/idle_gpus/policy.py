"""Actions on idle jobs: exemptions, the notice, and after a grace time the policy's action. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from landbridge import timestamps
from landbridge.environment.slurm.idle_gpus import IdleAction, IdleGpus
from landbridge.ops.idle_gpus.judge import IdleJob

#: Comment of a job that its user keeps: sbatch --comment=idle=keep.
KEEP = "idle=keep"
NOTICE = "landbridge: idle: "


@dataclass(frozen=True, slots=True)
class IdleLimits:
    """Times of the policy."""

    grace_minutes: float
    keep_hours: float


@dataclass(frozen=True, slots=True)
class IdleDecision:
    """Decision on an idle job: an action now, or its exemption. `freed`: GPU-hours until the job's time limit."""

    idle: IdleJob
    action: IdleAction
    text: str
    exemption: str = ""
    freed: float = 0.0


@dataclass(frozen=True, slots=True)
class IdleJournal:
    """Time of the notice of each idle job, by id and start: a requeued job is another one."""

    noticed: Mapping[str, float] = field(default_factory=dict)


def decide(
    idle_jobs: Sequence[IdleJob],
    settings: IdleGpus,
    limits: IdleLimits,
    classes: Mapping[str, str],
    journal: IdleJournal,
    now: float,
) -> tuple[tuple[IdleDecision, ...], IdleJournal]:
    """Return a decision for each idle job, and the next journal. `classes`: workload class by job id.

    A job that works again loses its notice, so that the next one has its whole grace time.
    """
    decisions, noticed = [], {}
    for idle in idle_jobs:
        key = f"{idle.job.id}@{idle.job.started:.0f}"
        last_action = settled_action(idle, settings, classes)
        exemption = _exemption(idle, last_action, limits, now)
        if exemption:
            decisions.append(IdleDecision(idle, "nothing", idle.text, exemption))
            continue
        noticed[key] = journal.noticed.get(key, now)
        is_new = key not in journal.noticed
        acts_at = noticed[key] + limits.grace_minutes * 60
        may_end = last_action != "notice" and idle.kind.is_whole and idle.job.is_batch
        if may_end and last_action == "requeue" and not idle.job.may_requeue:
            may_end = False
        if is_new or not may_end or now < acts_at:
            then = f"; {last_action} at {timestamps.iso(acts_at)}" if may_end else ""
            action: IdleAction = "notice" if is_new else "nothing"
            exemption = "" if is_new else "noticed"
            decisions.append(IdleDecision(idle, action, f"{NOTICE}{idle.text}{then}", exemption))
            continue
        freed = max(0.0, (idle.job.ends or now) - now) / 3600 * len(idle.job.gpus)
        decisions.append(IdleDecision(idle, last_action, f"{NOTICE}{idle.text}; {last_action}", "", freed))
    return tuple(decisions), IdleJournal(noticed)


def settled_action(idle: IdleJob, settings: IdleGpus, classes: Mapping[str, str]) -> IdleAction:
    """Return the action of the job's account, workload class or partition, or the default."""
    for actions, name in (
        (settings.accounts, idle.job.account),
        (settings.classes, classes.get(idle.job.id, "")),
        (settings.partitions, idle.job.partition),
    ):
        if name in actions:
            return actions[name]
    return settings.action


def _exemption(idle: IdleJob, action: IdleAction, limits: IdleLimits, now: float) -> str:
    if action == "nothing":
        return "policy"
    if KEEP in idle.job.comment.replace(",", " ").split() and now - idle.job.started < limits.keep_hours * 3600:
        return f"{KEEP} until {timestamps.iso(idle.job.started + limits.keep_hours * 3600)}"
    return ""
