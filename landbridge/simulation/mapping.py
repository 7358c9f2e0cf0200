"""Mapping of a trace's jobs to an environment's accounts: deterministic, by hash."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from landbridge.burst.model import BurstPolicy
from landbridge.burst.reconcile.residency import reject_if_restricted
from landbridge.simulation.result import SimulatedJob
from landbridge.trace import TraceJob
from landbridge.trace.sample import share_of


@dataclass(frozen=True, slots=True)
class AccountMapping:
    """Assumptions about a trace that it does not record. `restricted`: the share of its jobs whose data stays on-prem;
    `sample`: the share of its jobs that is replayed; `limit_factor`: the ratio of a job's time limit to its run
    time. With `kinds`, a job keeps the GPU type that the trace has.
    """

    restricted: float = 0.2
    sample: float = 1.0
    limit_factor: float = 2.0
    kinds: bool = False


def simulated_jobs(trace_jobs: Iterable[TraceJob], policy: BurstPolicy, mapping: AccountMapping) -> list[SimulatedJob]:
    """Return the jobs of the replay. An account of the trace that the environment has is kept; the other jobs get
    accounts by group, so that a group has one account that may be in AWS and one that may not."""
    allowed = sorted(name for name in policy.accounts if reject_if_restricted(policy, name) is None)
    must_stay = sorted(set(policy.accounts) - set(allowed))
    tasks = []
    for number, job in enumerate(trace_jobs):
        if mapping.sample < 1 and share_of(f"sample/{number}") >= mapping.sample:
            continue
        account = job.account
        if account not in policy.accounts:
            stays = must_stay and (not allowed or share_of(f"restricted/{number}") < mapping.restricted)
            names = must_stay if stays else allowed
            account = names[int(share_of(job.group) * len(names))] if names else ""
        minutes = job.minutes if job.minutes is not None else mapping.limit_factor * job.seconds / 60
        limit = 60.0 * max(1, math.ceil(minutes))
        kind = job.kind.casefold() if mapping.kinds else ""
        user = job.user or job.group
        tasks.append(SimulatedJob(job.ready, min(job.seconds, limit), job.gpus, account, limit, kind, user))
    return tasks
