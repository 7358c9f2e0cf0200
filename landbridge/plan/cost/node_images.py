"""What images that are built here cost: while nothing is being built, the snapshots that are kept."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.plan.cost.bill_lines import BillItem, by_volume


def node_images_spend(environment: Environment) -> Iterator[BillItem]:
    """Snapshots are billed by the blocks that differ from those before, which nobody knows before."""
    for name, source in environment.aws.images.items():
        if source.build is not None:
            what = f"snapshots of {source.build.keep} images {name}, at most {source.build.disk_gib} GiB each"
            yield by_volume(what, "storage", "ebs_snapshot", environment.region)
