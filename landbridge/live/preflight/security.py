"""Checks of existing security groups in a pool's `security_groups`."""

from collections.abc import Iterator
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.quotas import ASK, quota_value
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error
from landbridge.plan.instances.network_interfaces import pool_interfaces

_PER_INTERFACE = "L-2AFB9258"


@check("security groups", "ec2:DescribeSecurityGroups")
def security_group(scene: Scene) -> Iterator[Finding]:
    """An existing security group is in the VPC and, with EFA, permits all traffic from and to itself.

    EFA is not IP: rules for ports and CIDR ranges do not match it, not even 0.0.0.0/0. With several groups on an
    interface each one needs the rule; without it NCCL hangs or uses TCP, and reports no error.
    Source: EC2 User Guide, "Get started with EFA", "Prepare an EFA-enabled security group".
    """
    vpc = scene.environment.aws.vpc
    for index, pool in enumerate(scene.environment.aws.pools):
        efa = any(
            nic.type != "interface"
            for bought in scene.bought()
            if bought.pool_index == index
            for nic in pool_interfaces(pool, bought.terms.instance)
        )
        for position, name in enumerate(pool.security_groups):
            path: DataPath = ("aws", "pools", index, "security_groups", position)
            try:
                group = scene.aws.ask("ec2", "describe_security_groups", GroupIds=[name])["SecurityGroups"][0]
            except AwsRefusal as refused:
                if refused.kind is not RefusalKind.ANSWER:
                    raise
                message = f"there is no security group {name} in {scene.environment.region}"
                yield error("live-security-group", message, path)
                continue
            if vpc is not None and group.get("VpcId") != vpc.id:
                message = f"{name} is in {group.get('VpcId')}, and nodes are in {vpc.id}"
                yield error("live-security-group", message, path, "a group works in its own VPC only")
            elif vpc is None:
                message = f"{name} is in {group.get('VpcId')}, and the nodes are in a VPC that Landbridge creates"
                yield error("live-security-group", message, path, "write the VPC under aws.vpc, or remove the group")
            for key, direction in (("IpPermissions", "from"), ("IpPermissionsEgress", "to")) if efa else ():
                if not _to_itself(group, key):
                    message = f"{name} does not allow all traffic {direction} itself, which EFA needs"
                    command = "authorize-security-group-" + ("ingress" if key == "IpPermissions" else "egress")
                    fix = f"aws ec2 {command} --group-id {name} --ip-permissions IpProtocol=-1,UserIdGroupPairs=[{{GroupId={name}}}]"
                    yield error("live-security-group", message, path, fix)


@check("quota of security groups on an interface", *ASK)
def security_group_quota(scene: Scene) -> Iterator[Finding]:
    """The quota of security groups per interface permits the pool's own group and all of its `security_groups`.

    Source: VPC User Guide, "Amazon VPC quotas", security groups per network interface (L-2AFB9258).
    """
    for index, pool in enumerate(scene.environment.aws.pools):
        if not pool.security_groups:
            continue
        limit = quota_value(scene, "vpc", _PER_INTERFACE)
        if limit is not None and len(pool.security_groups) + 1 > limit:
            message = f"an interface takes {limit:.0f} security groups; {pool.name} has its own and {len(pool.security_groups)}"
            path: DataPath = ("aws", "pools", index, "security_groups")
            fix = f"ask for more (quota {_PER_INTERFACE}), or combine rules in fewer groups"
            yield error("live-security-group-quota", message, path, fix)


def _to_itself(group: Any, key: str) -> bool:
    return any(
        rule.get("IpProtocol") == "-1"
        and any(pair.get("GroupId") == group["GroupId"] for pair in rule.get("UserIdGroupPairs") or ())
        for rule in group.get(key) or ()
    )
