"""SageMaker for a job of Slurm: what the budget leaves on this host, and the price or the reasons against it as text."""

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landbridge.burst.journal.store import Store
    from landbridge.burst.model import BurstPolicy
    from landbridge.environment import Environment


def left_on_host(account: str) -> float | None:
    """Return what the hard caps leave for a training job, by the journal of this host; None without one."""
    from landbridge.burst.config.config import ConfigError, load
    from landbridge.burst.journal.store import Store
    from landbridge.burst.operator.training_jobs import left_usd

    try:
        config = load(None)
        # A user who may not read the journal gets the caps of the environment.
        if not os.access(config.database, os.R_OK | os.W_OK):
            return None
    except (ConfigError, OSError):
        return None
    store = Store(config.database)
    try:
        return left_usd(store, config.policy, account, time.time())
    finally:
        store.close()


def training_text(
    environment: "Environment", raw: Mapping[str, Any] | None, store: "Store", policy: "BurstPolicy", now: float
) -> str:
    """Return what a pending job would cost in SageMaker, or why it may not run there; empty for another job."""
    from landbridge.burst.operator.training_jobs import left_usd
    from landbridge.burst.slurm.slurm_json import job_of
    from landbridge.cli.place.slurm_job import SlurmJobError, placement_job
    from landbridge.plan.placement.evaluate import place_job
    from landbridge.plan.placement.job import SiteState
    from landbridge.plan.training.destinations import training_destinations

    if raw is None or job_of(raw).state != "PENDING":
        return ""
    try:
        job = placement_job({"jobs": [raw]})
    except SlurmJobError as error:
        return f"not possible: {error}"
    places = training_destinations(environment, job)
    if not places:
        return "not possible: the environment has no mlops.sagemaker"
    state = SiteState(left_usd=left_usd(store, policy, job.account, now))
    decision = place_job(environment, job, state, places)
    for rejected in decision.rejected:
        reasons = "; ".join(f"{each.text} ({each.citation})" for each in rejected.refusals)
        return f"not possible: {reasons}"
    (ranked,) = decision.ranked
    usd = next(part.usd or 0.0 for part in ranked.cost.parts if part.name == "instances")
    return f"possible: {ranked.destination.basis}; at most {usd:,.2f} USD (landbridge sagemaker submit)"
