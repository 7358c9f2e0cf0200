"""Limits of EBS volumes."""

from collections.abc import Iterator

from landbridge.catalog.aws.limits import limits
from landbridge.plan.aws_limits.violation import LimitViolation


def volume_violations(
    kind: str, *, gib: int | None = None, iops: int | None = None, throughput: int | None = None
) -> tuple[LimitViolation, ...]:
    """Return the violations of a volume type's limits: `gib`, `iops` and `throughput` (MiB/s), None if not set.

    A kind that is not in the catalogue is not judged. First whether each is possible by itself, only then their ratios.
    Source: EBS User Guide, "Amazon EBS volume types" (landbridge/catalog/limits.yaml).
    """
    return tuple(_alone(kind, gib, iops, throughput)) or tuple(_together(kind, gib, iops, throughput))


def _alone(kind: str, gib: int | None, iops: int | None, throughput: int | None) -> Iterator[LimitViolation]:
    type_limits = limits().volumes.types.get(kind)
    if type_limits is None:
        return
    for key, value, bounds, unit in (
        ("gib", gib, type_limits.gib, "GiB"),
        ("iops", iops, type_limits.iops, "IOPS"),
        ("throughput", throughput, type_limits.throughput, "MiB/s"),
    ):
        if value is not None and bounds is None:
            yield LimitViolation(key, f"a {kind} volume has no choice of {unit}")
        elif value is not None and bounds is not None and not bounds[0] <= value <= bounds[1]:
            near = min(max(value, bounds[0]), bounds[1])
            yield LimitViolation(
                key, f"a {kind} volume has {bounds[0]} to {bounds[1]} {unit}, not {value}", ((key, near),)
            )


def _together(kind: str, gib: int | None, iops: int | None, throughput: int | None) -> Iterator[LimitViolation]:
    type_limits = limits().volumes.types.get(kind)
    if type_limits is None or type_limits.iops is None:
        return
    if type_limits.iops_per_gib is not None and iops is not None and gib is not None:
        most = max(type_limits.iops_per_gib * gib, type_limits.iops[0])
        if iops > most:
            message = f"{iops} IOPS are more than the {most} that {kind} has on {gib} GiB"
            yield LimitViolation("iops", message, (("iops", most), ("gib", -(-iops // type_limits.iops_per_gib))))
    # What is not asked for is what every volume of the kind has.
    provisioned_iops = iops if iops is not None else type_limits.iops[0]
    if type_limits.throughput_per_iops is not None and throughput is not None:
        most = int(type_limits.throughput_per_iops * provisioned_iops)
        if throughput > most:
            message = f"{throughput} MiB/s are more than the {most} that {kind} has at {provisioned_iops} IOPS"
            needed = int(-(-throughput // type_limits.throughput_per_iops))
            yield LimitViolation("throughput", message, (("iops", needed), ("throughput", most)))
