"""Service hosts in AWS: names, zone and planned addresses.

Addresses are planned, so that slurm.conf, the inventory and security groups are the same before and after deployment.
They are in a range that is reserved for hosts (landbridge/plan/network/reserved_ranges.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from landbridge.environment import CloudServices, Environment
from landbridge.plan.network.reserved_ranges import HOSTS, reserved_range

#: Name of the controller, and name prefix of login hosts.
CONTROLLER, LOGIN = "ctl01", "login"


@dataclass(frozen=True, slots=True)
class CloudHosts:
    """Service hosts in AWS. `addresses` has every host with a known address, `reserved` is the CIDR reservation.

    `reserved` is None if the zone's subnet is too small or does not exist: a rule reports it.
    """

    zone: str
    controller: str
    logins: tuple[str, ...]
    addresses: Mapping[str, IPv4Address]
    reserved: IPv4Network | None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all hosts, the controller first."""
        return (self.controller, *self.logins)


def cloud_hosts(environment: Environment, services: CloudServices) -> CloudHosts:
    """Plan the hosts of `services` in the network of an environment."""
    logins = tuple(f"{LOGIN}{number:02d}" for number in range(1, services.login.count + 1))
    reserved = reserved_range(environment, services.zone, HOSTS)
    planned: dict[str, IPv4Address] = {}
    if reserved is not None:
        # An address depends only on the host's number, so that a new login host changes no other address.
        planned = {name: reserved.network_address + number for number, name in enumerate((CONTROLLER, *logins))}
    return CloudHosts(
        zone=services.zone,
        controller=CONTROLLER,
        logins=logins,
        addresses={**planned, **services.addresses},
        reserved=reserved,
    )
