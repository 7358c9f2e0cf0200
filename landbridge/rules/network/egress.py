"""Rules about egress rules of the nodes' security groups."""

from collections.abc import Iterator

from landbridge.environment import Egress, Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.aws.pool import pool_security_group_rules
from landbridge.plan.aws.storage.existing_file_systems import existing_share_rules
from landbridge.plan.aws.storage.file_system_rules import file_system_security_group_rules, room_for_rules
from landbridge.plan.aws_limits import is_internet, rule_count_violations
from landbridge.rules.network.ingress import port_findings
from landbridge.rules.registry import rule

_EGRESS: DataPath = ("aws", "egress")


@rule
def egress_ports(environment: Environment) -> Iterator[Finding]:
    """Rules for tcp and udp have ports from 1 to 65535, the lower one first; rules for icmp and all have none.

    Source: EC2 AuthorizeSecurityGroupEgress: FromPort and ToPort.
    """
    for index, entry in enumerate(environment.aws.egress):
        yield from port_findings((*_EGRESS, index), entry)


@rule
def egress_repeated(environment: Environment) -> Iterator[Finding]:
    """An egress rule repeats neither another one nor a rule of a service: EC2 refuses a duplicate rule.

    Source: EC2 AuthorizeSecurityGroupEgress: InvalidPermission.Duplicate.
    """
    used: dict[tuple[str, str, tuple[int, int] | None], str] = {
        (rule.peer, rule.protocol, rule.ports): f"of Landbridge: {rule.why}"
        for rule in pool_security_group_rules(_without_entries(environment))
        if rule.direction == "out"
    }
    for index, entry in enumerate(environment.aws.egress):
        if any(port_findings((*_EGRESS, index), entry)):
            continue
        (planned,) = (
            rule for rule in pool_security_group_rules(_without_entries(environment, entry)) if "egress-" in rule.key
        )
        key = (planned.peer, planned.protocol, planned.ports)
        if key in used:
            related: tuple[DataPath, ...] = (_EGRESS, ("onprem", "cidr"), ("mlops",), ("scheduler",))
            message = f"there is such a rule already, {used[key]}"
            yield error((*_EGRESS, index), message, fix="remove it", related=related)
        used.setdefault(key, f"entry {index + 1} of the list: {planned.why}")


def _without_entries(environment: Environment, *retained: Egress) -> Environment:
    """Return the environment with only these egress entries."""
    return environment.model_copy(update={"aws": environment.aws.model_copy(update={"egress": retained})})


@rule
def wide_egress(environment: Environment) -> Iterator[Finding]:
    """An egress rule names a destination and its ports: a job with stolen data could otherwise send it anywhere.

    Source: AWS Well-Architected Framework, Security Pillar, "Control traffic flow within your network layers".
    """
    for index, entry in enumerate(environment.aws.egress):
        if is_internet(entry.destination):
            message = f"the destination {entry.destination} is the whole internet"
            path: DataPath = (*_EGRESS, index, "destination")
            yield warning(path, message, fix="write the range of the servers")
        elif entry.protocol == "all":
            message = f"the rule allows every protocol to {entry.destination}"
            yield warning((*_EGRESS, index, "protocol"), message, fix="write the protocol and the ports")


@rule
def egress_rule_count(environment: Environment) -> Iterator[Finding]:
    """The egress rules of the nodes' security group are within its quota.

    Source: Amazon VPC User Guide, "Amazon VPC quotas", security groups (L-0EA8095F).
    """
    count = sum(row.direction == "out" for row in pool_security_group_rules(environment))
    for share in environment.storage.in_aws().values():
        rows = file_system_security_group_rules(environment, share)
        count += sum(row.peer == "client" and row.direction == "in" for row in rows)
    count += sum(row.direction == "out" for row in existing_share_rules(environment))
    for fault in rule_count_violations(count, room_for_rules(environment)) if environment.aws.egress else ():
        message = f"{fault.message}; Landbridge's own rules count"
        fix = "merge ranges, or request an increase of quota L-0EA8095F and write it in aws.quotas"
        yield error(_EGRESS, message, fix=fix, related=(("aws", "quotas"),))
