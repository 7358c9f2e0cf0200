"""Limits of EBS volumes."""

from collections.abc import Iterator

from landbridge.catalog.aws.limits import limits
from landbridge.plan.aws_limits.violation import LimitViolation


def volume_violations(
    kind: str, *, gib: int | None = None, iops: int | None = None, throughput: int | None = None
) -> tuple[LimitViolation, ...]:
    """Return the violations of a volume type's limits: `gib`, `iops` and `throughput` (MiB/s), None if not set.

    A type that is not in the catalogue has no violations. Ratios are checked only if each value is valid by itself.
    Source: EBS User Guide, "Amazon EBS volume types" (landbridge/catalog/limits.yaml).
    """
    return tuple(_single_value_violations(kind, gib, iops, throughput)) or tuple(
        _ratio_violations(kind, gib, iops, throughput)
    )


def _single_value_violations(
    kind: str, gib: int | None, iops: int | None, throughput: int | None
) -> Iterator[LimitViolation]:
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


def _ratio_violations(kind: str, gib: int | None, iops: int | None, throughput: int | None) -> Iterator[LimitViolation]:
    type_limits = limits().volumes.types.get(kind)
    if type_limits is None or type_limits.iops is None:
        return
    if type_limits.iops_per_gib is not None and iops is not None and gib is not None:
        maximum = max(type_limits.iops_per_gib * gib, type_limits.iops[0])
        if iops > maximum:
            message = f"{iops} IOPS are more than the {maximum} that {kind} has on {gib} GiB"
            yield LimitViolation("iops", message, (("iops", maximum), ("gib", -(-iops // type_limits.iops_per_gib))))
    # Without an own value, the volume has the type's included IOPS.
    provisioned_iops = iops if iops is not None else type_limits.iops[0]
    if type_limits.throughput_per_iops is not None and throughput is not None:
        maximum = int(type_limits.throughput_per_iops * provisioned_iops)
        if throughput > maximum:
            message = f"{throughput} MiB/s are more than the {maximum} that {kind} has at {provisioned_iops} IOPS"
            needed = int(-(-throughput // type_limits.throughput_per_iops))
            yield LimitViolation("throughput", message, (("iops", needed), ("throughput", maximum)))
