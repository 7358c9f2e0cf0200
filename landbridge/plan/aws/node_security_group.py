"""Security group of nodes: every permitted connection by protocol, ports and peer."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Literal

from landbridge.environment import Egress, Environment, Ingress
from landbridge.plan.args import Args
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.service_flows import cloud_scrapes, port_range, service_flows
from landbridge.plan.other_regions import aws_ranges
from landbridge.plan.slurm_ports import slurm_ports

#: Source: Slurm, Network Configuration Guide, "Communication for slurmd".
_FORWARDED = "slurmd passes messages on to other nodes in AWS"


class SecurityGroupRule(Args):
    """Security group rule: direction, peer, protocol and ports; peer `self` is the pool's own group."""

    key: str
    direction: Literal["in", "out"]
    peer: str
    protocol: str
    ports: tuple[int, int] | None
    why: str


def rule_description(text: str) -> str:
    """Remove characters that EC2 rejects in a description of a security group or a rule, such as quotes.

    Source: EC2 API Reference, IpRange (Description) and CreateSecurityGroup (GroupDescription).
    """
    return re.sub(r"[^a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]", "", text)[:255]


def pool_security_group_rules(environment: Environment) -> tuple[SecurityGroupRule, ...]:
    """Return the rules of the pool's security group; all other traffic is denied in both directions."""
    served = service_hosts(environment)
    site_cidr, is_onprem = str(served.cidr), served.site == "onprem"

    def security_group_rule(
        key: str, direction: Literal["in", "out"], peer: str, protocol: str, ports: tuple[int, int] | None, why: str
    ) -> SecurityGroupRule:
        return SecurityGroupRule(
            key=key, direction=direction, peer=peer, protocol=protocol, ports=ports, why=rule_description(why)
        )

    _, slurmd_port, srun_port = slurm_ports(environment)
    slurmd, srun = port_range(slurmd_port), port_range(srun_port)
    directions: tuple[Literal["in", "out"], ...] = ("in", "out")
    return (
        security_group_rule("self-in", "in", "self", "-1", None, "EFA and MPI between nodes of the pool"),
        security_group_rule(
            "self-out", "out", "self", "-1", None, "EFA refuses to start without a rule to its own group"
        ),
        security_group_rule(
            "slurmd", "in", site_cidr, "tcp", slurmd, f"slurmctld and {'on-prem ' * is_onprem}steps reach slurmd"
        ),
        security_group_rule(
            "ssh",
            "in",
            site_cidr,
            "tcp",
            (22, 22),
            f"operators, through the {'link' if is_onprem else 'services'} only",
        ),
        security_group_rule("srun", "in", site_cidr, "tcp", srun, "srun and its tasks"),
        *(
            security_group_rule(
                f"slurmd-{direction}-{str(cidr).replace('/', '-')}", direction, str(cidr), "tcp", slurmd, _FORWARDED
            )
            for cidr in aws_ranges(environment)
            for direction in directions
        ),
        *(
            security_group_rule(f"metrics-{port}", "in", source, "tcp", (port, port), why)
            for _, source, port, why in cloud_scrapes(environment)
        ),
        security_group_rule("icmp", "in", site_cidr, "icmp", (-1, -1), "path MTU discovery, and netcheck"),
        *_service_rules(environment, site_cidr),
        security_group_rule("icmp-out", "out", site_cidr, "icmp", (-1, -1), "path MTU discovery, and netcheck"),
        security_group_rule(
            "https", "out", "0.0.0.0/0", "tcp", (443, 443), "services of AWS: S3, KMS, Secrets Manager"
        ),
        *{rule.key: rule for rule in map(_ingress, environment.aws.ingress)}.values(),
        *{rule.key: rule for rule in map(_egress, environment.aws.egress)}.values(),
    )


def _service_rules(environment: Environment, site_cidr: str) -> Iterator[SecurityGroupRule]:
    """Yield a rule for each port of the services: EC2 refuses two rules for one port and range."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for flow in service_flows(environment):
        reasons.setdefault((flow.protocol, flow.ports), []).append(flow.why)
    for (protocol, ports), why in reasons.items():
        yield SecurityGroupRule(
            key=f"services-{protocol}-{ports}",
            direction="out",
            peer=site_cidr,
            protocol=protocol,
            ports=port_range(ports),
            why=rule_description("; ".join(dict.fromkeys(why))),
        )


def _ingress(entry: Ingress) -> SecurityGroupRule:
    """Return the rule of an ingress entry of the file."""
    return _file_rule("ingress", "in", entry.source, entry)


def _egress(entry: Egress) -> SecurityGroupRule:
    """Return the rule of an egress entry of the file."""
    return _file_rule("egress", "out", entry.destination, entry)


def _file_rule(
    prefix: str, direction: Literal["in", "out"], peer: IPv4Network, entry: Ingress | Egress
) -> SecurityGroupRule:
    """Return the rule of an entry of the file. Its key depends on its content only, not on its position."""
    ports = port_range(entry.ports) if entry.protocol in ("tcp", "udp") and entry.ports else None
    key = [prefix, str(peer).replace("/", "-"), entry.protocol, *([entry.ports] if entry.ports else [])]
    return SecurityGroupRule(
        key="-".join(key),
        direction=direction,
        peer=str(peer),
        protocol="-1" if entry.protocol == "all" else entry.protocol,
        ports=(-1, -1) if entry.protocol == "icmp" else ports,
        why=rule_description(entry.why),
    )
