"""Rules about file systems in AWS."""

from collections.abc import Iterator

from landbridge.environment import Environment, FsxLustre
from landbridge.findings import Finding
from landbridge.rules.registry import rule


@rule
def lustre_size(environment: Environment) -> Iterator[Finding]:
    """FSx for Lustre comes in 1200 GiB or multiples of 2400.

    Source: FSx for Lustre User Guide, "Storage capacity".
    """
    scratch = environment.storage.cloud_scratch
    if (
        isinstance(scratch, FsxLustre)
        and scratch.capacity_gib
        and scratch.capacity_gib != 1200
        and scratch.capacity_gib % 2400
    ):
        rounded = max(2400, (scratch.capacity_gib // 2400 + 1) * 2400)
        message = f"FSx for Lustre has no size of {scratch.capacity_gib} GiB"
        yield Finding(
            "lustre-size", message, ("storage", "cloud_scratch", "capacity_gib"), f"the next size is {rounded}"
        )
