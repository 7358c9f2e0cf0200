"""Cost of node images built in this account: their EBS snapshots."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.plan.cost.bill_lines import BillItem, by_volume


def node_images_spend(environment: Environment) -> Iterator[BillItem]:
    """Yield the snapshots. AWS bills changed blocks, whose number is not known in advance."""
    for name, source in environment.aws.images.items():
        if source.build is not None:
            description = f"snapshots of {source.build.keep} images {name}, at most {source.build.disk_gib} GiB each"
            yield by_volume(description, "storage", "ebs_snapshot", environment.region)
