"""DNS records of hosts and file systems in the cluster's hosted zone."""

from collections.abc import Mapping

from landbridge.environment import Environment
from landbridge.plan.args import Args
from landbridge.plan.network.dns import private_zone
from landbridge.plan.network.hosts import service_hosts


class DnsRecordsArgs(Args):
    """DNS records in the cluster's hosted zone: hosts with fixed addresses. `ttl` in seconds."""

    cluster: str
    zone: str
    hosts: Mapping[str, str] = {}
    ttl: int = 300


def dns_records_args(environment: Environment) -> DnsRecordsArgs | None:
    """Plan the records of file systems and of services in AWS; None without a hosted zone or without records."""
    served = service_hosts(environment)
    hosts = {name: str(address) for name, address in served.addresses.items()} if served.site == "aws" else {}
    if environment.dns is None or not (hosts or environment.storage.in_aws()):
        return None
    return DnsRecordsArgs(cluster=environment.name, zone=private_zone(environment), hosts=hosts)


def alias(share: str) -> str:
    """Return a file system's short name in the zone: a host's name has no underscores."""
    return share.replace("_", "-")
