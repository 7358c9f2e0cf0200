"""Buckets of checkpoints and of results by data class, and the site's object store, as comments in slurm.conf.

Configless Slurm distributes slurm.conf to every node of both sites. The names of buckets in AWS are known from the stack's
outputs; landbridge-job sets the variables of jobs from these lines.
"""

from collections.abc import Iterator

from landbridge.catalog.object_store import object_store_facts
from landbridge.environment import Environment
from landbridge.plan.aws.storage.dataset_place import class_fault, hub_buckets
from landbridge.plan.network.services.object_store import store_buckets, store_url
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.site.data_exchange import data_staging
from landbridge.staging.results import RESULTS


def data_lines(environment: Environment, outputs: StackOutputs | None) -> list[str]:
    """Return the lines of each class with a bucket for checkpoints or results, and the object store's line; none
    without accounts.
    """
    if not environment.scheduler.accounts:
        return []
    prefix = object_store_facts().checkpoints
    lines = [
        f"# landbridge-checkpoints {name} s3://{bucket}/{prefix}" for name, bucket in _buckets(environment, outputs)
    ]
    if data_staging(environment) is not None and outputs is not None:
        in_aws = hub_buckets(environment, outputs)
        lines += [
            f"# landbridge-results {name} s3://{bucket}/{RESULTS}"
            for name, bucket in sorted(in_aws.items())
            if class_fault(environment, name, "onprem") is None
        ]
    if url := store_url(environment):
        lines.append(f"# landbridge-store {url} {object_store_facts().region}")
    return lines


def _buckets(environment: Environment, outputs: StackOutputs | None) -> Iterator[tuple[str, str]]:
    """Yield the bucket of each class. A class that may be in AWS has one place for both sites, so that one pointer decides which
    checkpoint is the newest.
    """
    in_store = {bucket.data_class: bucket.name for bucket in store_buckets(environment)}
    for name, data_class in environment.data_classes.items():
        if "aws" in data_class.sites:
            if outputs is not None and name in outputs.data_hub.buckets:
                yield name, outputs.data_hub.buckets[name].name
        elif name in in_store:
            yield name, in_store[name]
