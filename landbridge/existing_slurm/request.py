"""Values that the files of a running Slurm do not contain: the operator gives them as options of `landbridge adopt`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network


@dataclass(frozen=True, slots=True)
class PoolRequest:
    """Pool in AWS: its name, its instance type, and its maximum number of nodes."""

    name: str
    instance: str
    max_nodes: int

    @property
    def node_names(self) -> tuple[str, ...]:
        """Return the names that its nodes get."""
        return tuple(f"{self.name}-{number}" for number in range(1, self.max_nodes + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptRequest:
    """Options of `landbridge adopt`. `release` is the one that `slurmctld -V` prints, such as 24.11.5; `uid` that of the
    account slurm; `addresses` are those of a hosts file; `home` is server and export of the home directories.
    """

    name: str
    owner: str
    region: str
    release: str
    onprem_cidr: IPv4Network
    aws_cidr: IPv4Network
    pools: tuple[PoolRequest, ...]
    accounts: Mapping[str, str]
    gateway: str
    gateway_address: IPv4Address
    asn: int
    uid: int
    logins: tuple[str, ...] = ()
    home: tuple[str, str] | None = None
    monthly_usd: int | None = None
    addresses: Mapping[str, IPv4Address] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """Return the first two numbers of the release: 24.11."""
        return ".".join(self.release.split(".")[:2])


def hosts_file(text: str) -> dict[str, IPv4Address]:
    """Return the IPv4 addresses of a file in the format of hosts(5), by name in lower case; the first line of a name
    counts.
    """
    addresses: dict[str, IPv4Address] = {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if len(words) < 2:
            continue
        try:
            address = IPv4Address(words[0])
        except ValueError:
            continue
        if not address.is_loopback:
            for name in words[1:]:
                addresses.setdefault(name.casefold(), address)
    return addresses
