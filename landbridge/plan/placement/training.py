"""Filters of SageMaker: data classes of its jobs, its limits, a known price, and the budget."""

import math
from collections.abc import Iterator

from landbridge.catalog.models.training_jobs import training_facts
from landbridge.environment import Environment
from landbridge.plan.aws.sagemaker import job_classes
from landbridge.plan.placement.destinations import Destination
from landbridge.plan.placement.job import PlacementJob
from landbridge.plan.placement.refusal import DestinationRefusal
from landbridge.staging.statement import stated_data


def training_refusals(
    environment: Environment, job: PlacementJob, destination: Destination, left_usd: float | None
) -> Iterator[DestinationRefusal]:
    """Yield the reasons why a job may not be a training job."""
    account = environment.scheduler.accounts.get(job.account)
    if account is not None and account.data_class not in job_classes(environment):
        text = f"jobs of SageMaker may not use data of class {account.data_class}"
        yield DestinationRefusal("residency", text, "mlops.sagemaker.data_classes")
    yield from _limits(job)
    if destination.usd_hour is None:
        yield DestinationRefusal("price", destination.basis, "mlops.sagemaker.usd_hour")
        return
    # The ledger holds the whole time limit before AWS is called.
    usd = math.ceil(job.gpus / destination.node_gpus) * job.hours * destination.usd_hour
    for name, cap in _caps(environment, job.account, left_usd):
        if usd > cap:
            text = f"its time limit costs at most {usd:,.2f} USD, and the limit is {cap:,.2f} USD"
            yield DestinationRefusal("budget", text, name)


def _limits(job: PlacementJob) -> Iterator[DestinationRefusal]:
    longest = training_facts().longest_seconds
    if job.hours * 3600 > longest:
        text = f"a training job runs for at most {longest // 86_400} days"
        yield DestinationRefusal("deadline", text, "Amazon SageMaker, StoppingCondition")
    try:
        datasets = stated_data(job.comment)
    except ValueError:
        datasets = ()  # a comment of another form states no data
    if datasets:
        text = f"{', '.join(datasets)}: versions of datasets are blocks in S3, which SageMaker does not unpack"
        yield DestinationRefusal("gravity", text, "the job's comment")


def _caps(environment: Environment, account: str, left_usd: float | None) -> Iterator[tuple[str, float]]:
    """Yield the hard caps with their keys. Those of a month hold for one job too."""
    budget = environment.budget
    if left_usd is not None:
        yield "budget, less what the journal has spent and held", left_usd
        return
    limit = budget.accounts.get(account) if budget is not None else None
    if limit is not None and limit.hard:
        yield f"budget.accounts.{account}", limit.monthly_usd
    if budget is not None and budget.hard and budget.monthly_usd is not None:
        yield "budget.monthly_usd", budget.monthly_usd
