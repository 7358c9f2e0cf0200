"""Checks of the account's vCPU quotas against all pools and all other use."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.catalog import instances, limits
from landbridge.catalog.aws.limits import Quota
from landbridge.findings import Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Bought, Scene, error, info, warning

ASK = ("servicequotas:GetServiceQuota", "servicequotas:GetAWSDefaultServiceQuota")
#: States in which a reservation counts against the on-demand quota. Source: EC2 User Guide, "Capacity Reservations".
_COUNTING = ("assessing", "scheduled", "pending", "active", "delayed")


def quota_value(scene: Scene, service: str, code: str) -> float | None:
    """Return the account's value of a quota, else AWS's default; None if the quota does not exist."""
    for operation in ("get_service_quota", "get_aws_default_service_quota"):
        try:
            return float(
                scene.aws.ask("service-quotas", operation, ServiceCode=service, QuotaCode=code)["Quota"]["Value"]
            )
        except AwsRefusal as refused:
            if refused.kind is not RefusalKind.ANSWER:
                raise
    return None


def vcpu_quota(instance_type: str, market: str) -> Quota | None:
    """Return the vCPU quota of a type bought in a market (on_demand, spot); None if the catalogue has none."""
    family = instance_type.partition(".")[0]
    rows = [row for row in limits().quotas.rows if row.unit == "vcpu" and row.market == market]
    exact = [row for row in rows if family in row.families]
    if exact:
        return exact[0]
    # A family that is not in the catalogue counts against the quota of all families with its letters.
    alike = [row for row in rows if _letters(family) in {_letters(quota_family) for quota_family in row.families}]
    return alike[0] if len(alike) == 1 else None


@check("vCPU quotas", *ASK, "ec2:DescribeInstances", "ec2:DescribeCapacityReservations", "ec2:DescribeInstanceTypes")
def quota(scene: Scene) -> Iterator[Finding]:
    """The account's vCPU quotas permit max_nodes of all pools, besides everything else that runs in the account.

    A new account has a quota of 0 for P and Trn instances. A launch above a quota fails, and an increase takes days.
    Reservations count whether they are used or not; Capacity Blocks do not count.
    Source: EC2 User Guide, "EC2 instance type quotas"; Service Quotas API reference, GetServiceQuota.
    """
    first_choice: dict[str, dict[str, int]] = defaultdict(dict)
    any_choice: dict[str, dict[str, int]] = defaultdict(dict)
    rows: dict[str, Quota] = {}
    bought_by_code: dict[str, list[Bought]] = defaultdict(list)
    for bought in scene.bought():
        if bought.terms.kind not in ("on_demand", "spot") or bought.terms.instance not in instances():
            continue
        row = vcpu_quota(bought.terms.instance, bought.terms.kind)
        if row is None:
            message = f"the quota of {bought.terms.instance} as {bought.terms.kind} is not known"
            yield info("live-quota", message, bought.at("kind"), "check the EC2 quotas of the account")
            continue
        rows[row.code] = row
        bought_by_code[row.code].append(bought)
        need = bought.pool.max_nodes * instances()[bought.terms.instance].cpus.logical
        # A pool has at most max_nodes, whatever the number of its capacities.
        any_choice[row.code][bought.pool.name] = max(need, any_choice[row.code].get(bought.pool.name, 0))
        if bought.index == 0:
            first_choice[row.code][bought.pool.name] = need
    for code, row in rows.items():
        limit = quota_value(scene, row.service, code)
        if limit is None:
            yield info(
                "live-quota",
                f"{row.name} ({code}): AWS has no such quota in this region",
                bought_by_code[code][0].at("kind"),
            )
            continue
        used = _used(scene, row)
        for needs, report in ((first_choice[code], error), (any_choice[code], warning)):
            total = sum(needs.values())
            if total + used > limit:
                pools = ", ".join(f"{name} {count}" for name, count in needs.items())
                others = f", besides {used} in use or reserved" if used else ""
                message = f"{row.name}: {total} vCPUs are needed ({pools}){others}, and the quota is {limit:.0f}"
                fix = (
                    f"aws service-quotas request-service-quota-increase --service-code {row.service} "
                    f"--quota-code {code} --desired-value {total + used}, or fewer max_nodes"
                )
                yield report("live-quota", message, bought_by_code[code][0].pool_at("max_nodes"), fix)
                break


@check("quotas noted in the file", *ASK)
def quota_noted(scene: Scene) -> Iterator[Finding]:
    """The quotas in `aws.quotas` are the account's.

    `landbridge check` compares the pools with them offline: with an outdated number it accepts what AWS refuses.
    Source: Service Quotas API reference, GetServiceQuota.
    """
    services = {row.code: row.service for row in limits().quotas.rows}
    for code, noted in scene.environment.aws.quotas.items():
        if code not in services:
            continue
        actual = quota_value(scene, services[code], code)
        if actual is not None and actual != noted:
            message = f"{code} is {actual:.0f} now, and the file says {noted}"
            yield warning("live-quota-noted", message, ("aws", "quotas", code), f"write {actual:.0f}")


def _used(scene: Scene, row: Quota) -> int:
    """Return the vCPUs that count against a quota and do not belong to this environment."""
    states = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    total = 0
    for reservation in scene.aws.all("ec2", "describe_instances", "Reservations", Filters=states):
        for instance in reservation["Instances"]:
            market = {"spot": "spot", "capacity-block": ""}.get(str(instance.get("InstanceLifecycle")), "on_demand")
            counted = vcpu_quota(instance["InstanceType"], market) if market else None
            if counted == row and not scene.is_mine(instance.get("Tags")) and not instance.get("CapacityReservationId"):
                total += _vcpus(scene, instance["InstanceType"])
    if row.market == "on_demand":
        for reserved in _reservations(scene):
            if vcpu_quota(reserved["InstanceType"], "on_demand") == row and reserved["State"] in _COUNTING:
                total += reserved["TotalInstanceCount"] * _vcpus(scene, reserved["InstanceType"])
    return total


def _reservations(scene: Scene) -> Iterator[Any]:
    for reserved in scene.aws.all("ec2", "describe_capacity_reservations", "CapacityReservations"):
        if reserved.get("ReservationType", "default") == "default":
            yield reserved


def _vcpus(scene: Scene, instance_type: str) -> int:
    if instance_type in instances():
        return instances()[instance_type].cpus.logical
    answer = scene.aws.ask("ec2", "describe_instance_types", InstanceTypes=[instance_type])
    return int(answer["InstanceTypes"][0]["VCpuInfo"]["DefaultVCpus"])


def _letters(family: str) -> str:
    match = re.match("[a-z]+", family)
    return match[0] if match else family
