"""Rules about pools and how their capacity is bought."""

from collections.abc import Iterator

from landbridge.catalog import instances
from landbridge.environment import CapacityBlock, Environment, FsxLustre, OnDemand, Spot
from landbridge.findings import DataPath, Finding, Severity
from landbridge.rules.registry import rule


@rule
def duplicate_pool(environment: Environment) -> Iterator[Finding]:
    """A pool's name is its nodes' and its queue's: it may not be another's, nor `gpu`, `onprem` or `aws`."""
    taken: dict[str, DataPath] = {"gpu": (), "onprem": (), "aws": ()}
    for index, pool in enumerate(environment.aws.pools):
        path: DataPath = ("aws", "pools", index, "name")
        if pool.name in taken:
            what = "is used by Landbridge itself" if not taken[pool.name] else "is another pool's already"
            yield Finding("duplicate-pool", f'the name "{pool.name}" {what}', path, related=(taken[pool.name] or path,))
        taken.setdefault(pool.name, path)


@rule
def purchase_not_offered(environment: Environment) -> Iterator[Finding]:
    """Not every type can be had as a Capacity Block (DescribeInstanceTypes, SupportedUsageClasses)."""
    for index, pool in enumerate(environment.aws.pools):
        kind = instances().get(pool.instance)
        for number, capacity in enumerate(pool.capacity):
            if (
                kind is None
                or not isinstance(capacity, (OnDemand, Spot, CapacityBlock))
                or capacity.kind in kind.purchase
            ):
                continue
            message = f"{pool.instance} cannot be bought as {capacity.kind}; it can as {', '.join(kind.purchase)}"
            path: DataPath = ("aws", "pools", index, "capacity", number, "kind")
            yield Finding("purchase-not-offered", message, path, related=(("aws", "pools", index, "instance"),))


@rule
def block_order(environment: Environment) -> Iterator[Finding]:
    """A Capacity Block is paid for whatever runs, so nothing that costs extra is tried before it."""
    for index, pool in enumerate(environment.aws.pools):
        kinds = [capacity.kind for capacity in pool.capacity]
        for number, kind in enumerate(kinds):
            before = [k for k in kinds[:number] if k in ("on_demand", "spot")]
            if kind == "capacity_block" and before:
                message = f"{before[0]} is tried before a Capacity Block that is paid for already"
                path: DataPath = ("aws", "pools", index, "capacity", number)
                yield Finding("block-order", message, path, "put the block first", Severity.WARNING)


@rule
def block_window(environment: Environment) -> Iterator[Finding]:
    """A window ends after it starts."""
    for index, pool in enumerate(environment.aws.pools):
        for number, capacity in enumerate(pool.capacity):
            if not isinstance(capacity, CapacityBlock) or capacity.starts is None or capacity.ends is None:
                continue
            path: DataPath = ("aws", "pools", index, "capacity", number, "ends")
            if capacity.starts.utcoffset() is None or capacity.ends.utcoffset() is None:
                fix = "end it with Z, or +02:00"
                yield Finding("block-window", "a window's times need their time zone", path, fix)
            elif capacity.ends <= capacity.starts:
                yield Finding("block-window", "the window ends before it starts", path)


@rule
def spot_alone(environment: Environment) -> Iterator[Finding]:
    """A pool with spot alone can be empty for days: training jobs then wait without an end in sight."""
    for index, pool in enumerate(environment.aws.pools):
        if all(isinstance(capacity, Spot) for capacity in pool.capacity):
            message = f"the pool {pool.name} has spot capacity alone"
            fix = "add {kind: on_demand} after it, or accept the wait"
            yield Finding("spot-alone", message, ("aws", "pools", index, "capacity"), fix, Severity.WARNING)


@rule
def lustre_size(environment: Environment) -> Iterator[Finding]:
    """FSx for Lustre comes in 1200 GiB or multiples of 2400 (FSx for Lustre User Guide, "Storage capacity")."""
    scratch = environment.storage.cloud_scratch
    if isinstance(scratch, FsxLustre) and scratch.capacity_gib != 1200 and scratch.capacity_gib % 2400:
        rounded = max(2400, (scratch.capacity_gib // 2400 + 1) * 2400)
        message = f"FSx for Lustre has no size of {scratch.capacity_gib} GiB"
        yield Finding(
            "lustre-size", message, ("storage", "cloud_scratch", "capacity_gib"), f"the next size is {rounded}"
        )


@rule
def not_built_yet(environment: Environment) -> Iterator[Finding]:
    """What the file may say already, and Landbridge plans but does not build: nobody should wait for it unknowingly."""
    pending: list[tuple[bool, str, DataPath]] = [
        (environment.storage.cloud_scratch is not None, "FSx for Lustre", ("storage", "cloud_scratch")),
        (environment.mlops.registry is not None, "a container registry", ("mlops", "registry")),
        (
            len(environment.onprem.services.controller) > 1,
            "a standby controller",
            ("onprem", "services", "controller", 1),
        ),
        (environment.link.kind == "direct_connect", "Direct Connect", ("link", "kind")),
    ]
    for wanted, what, path in pending:
        if wanted:
            yield Finding(
                "not-built-yet", f"{what} is checked and planned, but not built yet", path, severity=Severity.WARNING
            )
