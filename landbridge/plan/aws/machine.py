"""EC2 instance of a service host in AWS, with a planned private address."""

import json
from collections.abc import Iterator, Mapping
from typing import Literal
from urllib.parse import urlsplit

from landbridge.catalog import instances
from landbridge.environment import CloudServices, Environment
from landbridge.findings import Finding, FindingsError
from landbridge.plan.args import Args
from landbridge.plan.aws.images import services_image
from landbridge.plan.aws.pool import SecurityGroupRule, rule_description
from landbridge.plan.network.hosts import ServiceHosts, service_hosts

__all__ = [
    "MachinePlan",
    "internet_egress_rules",
    "machine_plan",
    "node_cidrs",
    "security_group_rule",
]
#: Debian's names of EC2's processor architectures.
_DEBIAN = {"x86_64": "amd64", "arm64": "arm64"}
_DEFAULT_PORTS = {"http": 80, "https": 443}


class MachinePlan(Args):
    """EC2 instance. `host` is its name in the cluster, `name` its name in AWS; `image` is an AMI id or the SSM
    parameter of one.

    Image and user data are used only at creation; later the Ansible roles update the host.
    """

    host: str
    name: str
    zone: str
    address: str
    instance_type: str
    image: str
    root_gib: int
    user_data: str


def machine_plan(
    environment: Environment,
    services: CloudServices,
    host: str,
    instance_type: str,
    root_gib: int,
    locked: Mapping[str, str] | None,
) -> MachinePlan:
    """Plan one service host. Raises FindingsError for a host without an address."""
    address = service_hosts(environment).addresses.get(host)
    if address is None:
        message = f"{host} has no address: the subnet of {services.zone} has no room for a reserved range"
        fix = "set its addresses, or give the zone a larger subnet"
        raise FindingsError([Finding("services-without-address", message, ("aws", "services", "addresses"), fix)])
    image_choice = services_image(environment, locked)
    image = image_choice.reference if image_choice is not None else ""
    return MachinePlan(
        host=host,
        name=f"{environment.name}-{host}",
        zone=services.zone,
        address=str(address),
        instance_type=instance_type,
        image=image.removeprefix("resolve:ssm:"),
        root_gib=root_gib,
        user_data=_user_data(environment, services, host, instance_type),
    )


def _user_data(environment: Environment, services: CloudServices, host: str, instance_type: str) -> str:
    """Return the cloud-init user data: host name, ssh keys, and the SSM Agent. No secrets.

    Debian's images do not contain the agent; it is downloaded from the region's own bucket, so that the S3 endpoint is
    enough.
    Source: Systems Manager User Guide, "Manually installing SSM Agent on Debian Server instances".
    """
    kind = instances().get(instance_type)
    processor = _DEBIAN.get(kind.cpus.architecture if kind is not None else "x86_64", "amd64")
    suffix = "amazonaws.com.cn" if environment.region.startswith("cn-") else "amazonaws.com"
    region, script = environment.region, "/usr/local/sbin/landbridge-session-agent"
    url = f"https://s3.{region}.{suffix}/amazon-ssm-{region}/latest/debian_{processor}/amazon-ssm-agent.deb"
    content = {
        "fqdn": f"{host}.{services.domain}",
        "prefer_fqdn_over_hostname": False,
        "hostname": host,
        "ssh_authorized_keys": list(services.access.public_keys),
        "write_files": [{"path": script, "permissions": "0755", "content": _AGENT.replace("@URL@", url)}],
        "runcmd": [[script]],
    }
    return "#cloud-config\n" + json.dumps({key: value for key, value in content.items() if value != []}, sort_keys=True)


# Retries until the VPC endpoint or the NAT gateway works: without the agent, the host is unreachable.
_AGENT = """#!/bin/sh
set -u
systemctl list-unit-files 'amazon-ssm-agent*' 'snap.amazon-ssm-agent*' | grep -q enabled && exit 0
for try in $(seq 60); do
    python3 -c 'import urllib.request as u; u.urlretrieve("@URL@", "/run/agent.deb")' && break
    sleep 10
done
dpkg --install /run/agent.deb && systemctl enable --now amazon-ssm-agent
"""


def security_group_rule(
    key: str, direction: Literal["in", "out"], peer: str, protocol: str, ports: tuple[int, int] | int | None, why: str
) -> SecurityGroupRule:
    """Return a rule of a host's security group; `ports` may be a single port."""
    port_range = (ports, ports) if isinstance(ports, int) else ports
    description = rule_description(why)
    return SecurityGroupRule(
        key=key, direction=direction, peer=peer, protocol=protocol, ports=port_range, why=description
    )


def node_cidrs(environment: Environment) -> tuple[tuple[str, str], ...]:
    """Return the rule keys and CIDR ranges of nodes. A key is the range itself, so that a new range changes no other
    rule.
    """
    settings = environment.aws
    return tuple((str(cidr).replace("/", "-"), str(cidr)) for cidr in (settings.cidr, *settings.secondary_cidrs))


def internet_egress_rules(services: CloudServices | ServiceHosts) -> Iterator[SecurityGroupRule]:
    """Yield a host's egress rules to AWS services and package sources."""
    yield security_group_rule("https", "out", "0.0.0.0/0", "tcp", 443, "services of AWS, and packages")
    urls = (services.packages.apt_proxy, services.packages.python_find_links)
    ports = {_port(url) for url in urls if url is not None}
    # Debian's archive is read over HTTP: its packages are signed.
    for port in sorted(ports - {443} if services.packages.apt_proxy else {*ports, 80} - {443}):
        yield security_group_rule(f"packages-{port}", "out", "0.0.0.0/0", "tcp", port, "packages, which are signed")


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or _DEFAULT_PORTS.get(parts.scheme, 443)
