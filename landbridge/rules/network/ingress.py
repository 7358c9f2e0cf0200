"""Rules about ingress rules of the nodes' security groups."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from landbridge.catalog.network import network
from landbridge.environment import Egress, Environment, Ingress
from landbridge.findings import DataPath, Finding, Severity, error, warning
from landbridge.plan.aws.pool import pool_security_group_rules
from landbridge.plan.aws.storage.existing_file_systems import existing_share_rules
from landbridge.plan.aws.storage.file_system_rules import file_system_security_group_rules, room_for_rules
from landbridge.plan.aws_limits import is_internet, port_range_violations, rule_count_violations
from landbridge.rules.registry import rule

_INGRESS: DataPath = ("aws", "ingress")
_WITH_PORTS = ("tcp", "udp")
_RULES = "L-0EA8095F"
#: More ports than any service has.
_MANY_PORTS = 20_000


@rule
def ingress_ports(environment: Environment) -> Iterator[Finding]:
    """Rules for tcp and udp have ports from 1 to 65535, the lower one first; rules for icmp and all have none.

    EC2 treats tcp without ports as no port, or refuses the rule.
    Source: EC2 AuthorizeSecurityGroupIngress: FromPort and ToPort.
    """
    for index, entry in enumerate(environment.aws.ingress):
        yield from port_findings((*_INGRESS, index), entry)


def port_findings(entry_path: DataPath, entry: Ingress | Egress) -> Iterator[Finding]:
    """Yield the findings about the ports of one entry of the file."""
    path: DataPath = (*entry_path, "ports")
    related: tuple[DataPath, ...] = ((*entry_path, "protocol"),)
    if entry.protocol not in _WITH_PORTS and entry.ports is not None:
        yield error(path, f"{entry.protocol} has no ports", fix="remove them, or write tcp or udp", related=related)
        return
    first, last = _ports(entry) if entry.ports is not None else (None, None)
    violations = tuple(port_range_violations(entry.protocol, first, last))
    for fault in violations[:1]:
        fix = (
            "write ports such as 443, or 8000-8100" if first is None else f"write {last}-{first}" if fault.key else None
        )
        yield error(path, fault.message, fix=fix, related=related)
    if not violations and first == 0:
        yield error(path, "port 0 is not valid: ports are 1 to 65535")


@rule(suppressible=False)
def administration_open(environment: Environment) -> Iterator[Finding]:
    """Administration ports are not open to the internet: ssh, Slurm, NFS, kubelet, databases.

    Access to slurmd with a stolen key, or to a kubelet, gives access to GPUs and data.
    Source: CIS AWS Foundations Benchmark, "no security groups allow ingress from 0.0.0.0/0 to remote server
    administration ports"; landbridge/catalog/network.yaml.
    """
    for index, entry in enumerate(environment.aws.ingress):
        if not is_internet(entry.source):
            continue
        first, last = _ports(entry) if entry.protocol in _WITH_PORTS and entry.ports else (1, 65535)
        opened = [name for port, name in network().administration.items() if first <= port <= last]
        if entry.protocol != "icmp" and opened:
            message = f"{', '.join(opened[:4])}{' and more' * (len(opened) > 4)} {'is' if len(opened) == 1 else 'are'} open to the internet ({entry.source})"
            related: tuple[DataPath, ...] = ((*_INGRESS, index, "ports"), (*_INGRESS, index, "protocol"))
            fix = "write a private range; operators use the link or Session Manager"
            yield error((*_INGRESS, index, "source"), message, fix=fix, related=related)


@rule
def ingress_from_internet(environment: Environment) -> Iterator[Finding]:
    """Nodes are not reachable from the internet: public services belong behind a load balancer.

    Source: AWS Foundational Security Best Practices, EC2.18 and EC2.19.
    """
    for index, entry in enumerate(environment.aws.ingress):
        path: DataPath = (*_INGRESS, index, "source")
        if is_internet(entry.source):
            message = f"the source {entry.source} is the whole internet"
            yield error(path, message, fix="write the range of the clients")
        elif not network().is_private(entry.source) and entry.source.prefixlen < 24:
            message = f"the source {entry.source} has {entry.source.num_addresses} public addresses"
            fix = "write the narrowest range of the clients"
            yield warning(path, message, fix=fix)


@rule
def repeated_ingress(environment: Environment) -> Iterator[Finding]:
    """No ingress rule is covered by another one; AWS refuses two identical rules.

    Source: EC2 AuthorizeSecurityGroupIngress: InvalidPermission.Duplicate.
    """
    entries = environment.aws.ingress
    for index, entry in enumerate(entries):
        for number, other in enumerate(entries):
            if index == number or not _covers(other, entry) or (_covers(entry, other) and index < number):
                continue
            same = _covers(entry, other)
            message = f"ingress rule {number} allows {'the same' if same else 'this and more'}"
            severity = Severity.ERROR if same else Severity.WARNING
            related: tuple[DataPath, ...] = ((*_INGRESS, number),)
            yield Finding("repeated-ingress", message, (*_INGRESS, index), "remove one of the two", severity, related)
            break


@rule
def ingress_built_in(environment: Environment) -> Iterator[Finding]:
    """An ingress rule does not repeat a built-in one: AWS refuses a duplicate rule in a security group.

    Source: EC2 AuthorizeSecurityGroupIngress: InvalidPermission.Duplicate.
    """
    built_in_rules = [
        (rule, IPv4Network(rule.peer))
        for rule in pool_security_group_rules(environment)
        if rule.direction == "in" and "/" in rule.peer and not rule.key.startswith("ingress")
    ]
    for index, entry in enumerate(environment.aws.ingress):
        ports = _ports(entry) if entry.ports is not None else None
        for built_in, peer in built_in_rules:
            if built_in.protocol == entry.protocol and built_in.ports == ports and peer == entry.source:
                message = f"the rule exists already for the on-prem site: {built_in.why}"
                related: tuple[DataPath, ...] = (("onprem", "cidr"),)
                yield error((*_INGRESS, index), message, fix="remove it", related=related)
                break


@rule
def wide_ingress(environment: Environment) -> Iterator[Finding]:
    """An ingress rule allows specific ports.

    Source: CIS AWS Foundations Benchmark, security groups; AWS Foundational Security Best Practices, EC2.18.
    """
    for index, entry in enumerate(environment.aws.ingress):
        if is_internet(entry.source):
            continue
        first, last = _ports(entry) if entry.protocol in _WITH_PORTS and entry.ports else (0, 0)
        if entry.protocol == "all" or last - first >= _MANY_PORTS:
            scope = "every protocol" if entry.protocol == "all" else f"{last - first + 1} ports"
            message = f"the rule allows {scope} from {entry.source}, Slurm and ssh included"
            path: DataPath = (*_INGRESS, index, "protocol" if entry.protocol == "all" else "ports")
            yield warning(path, message, fix="write the ports")


@rule
def security_group_rules(environment: Environment) -> Iterator[Finding]:
    """The rules of the nodes' security group are within its quota.

    Source: Amazon VPC User Guide, "Amazon VPC quotas", security groups (L-0EA8095F).
    """
    entries, max_rules = environment.aws.ingress, room_for_rules(environment)
    ingress_count = sum(rule.direction == "in" for rule in pool_security_group_rules(environment))
    if not any(rule.key.startswith("ingress") for rule in pool_security_group_rules(environment)):
        ingress_count += len(entries)
    # Rules for callbacks of file systems count too.
    for share in environment.storage.in_aws().values():
        security_group_rules = file_system_security_group_rules(environment, share)
        ingress_count += sum(rule.peer == "client" and rule.direction == "out" for rule in security_group_rules)
    ingress_count += sum(row.direction == "in" for row in existing_share_rules(environment))
    for fault in rule_count_violations(ingress_count, max_rules) if entries else ():
        message = f"{fault.message}; Landbridge's own rules count"
        fix = f"merge ranges, or request an increase of quota {_RULES} and write it in aws.quotas"
        yield error(_INGRESS, message, fix=fix, related=(("aws", "quotas"),))


def _ports(entry: Ingress | Egress) -> tuple[int, int]:
    first, _, last = (entry.ports or "0").partition("-")
    return int(first), int(last or first)


def _covers(wide: Ingress, narrow: Ingress) -> bool:
    """Return true if `wide` allows all that `narrow` allows."""
    if not narrow.source.subnet_of(wide.source):
        return False
    if wide.protocol == "all":
        return True
    if wide.protocol != narrow.protocol:
        return False
    if wide.protocol == "icmp" or wide.ports is None or narrow.ports is None:
        return wide.ports == narrow.ports
    (low, high), (first, last) = _ports(wide), _ports(narrow)
    return low <= first and last <= high
