"""Service hosts in AWS: names, zone and planned addresses.

Addresses are planned, so that slurm.conf, the inventory and security groups are the same before and after anything is built.
They are the second /28 of the zone's private subnet, which a CIDR reservation of kind `explicit` keeps from everything that
EC2 gives an address by itself. Source: Amazon VPC User Guide, "Subnet CIDR reservations".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from landbridge.environment import CloudServices, Environment
from landbridge.plan.network.subnets import subnets

#: The controller's name, and the beginning of the login hosts'.
CONTROLLER, LOGIN = "ctl01", "login"
#: The size of the reserved range, and how far behind the subnet's first address it begins: AWS keeps the first four.
_PREFIX, _BEHIND = 28, 16


@dataclass(frozen=True, slots=True)
class CloudHosts:
    """Service hosts in AWS. `addresses` has every host with a known address, `reserved` is the CIDR reservation.

    `reserved` is None where the zone's subnet is too small, or is not there: a rule says so.
    """

    zone: str
    controller: str
    logins: tuple[str, ...]
    addresses: Mapping[str, IPv4Address]
    reserved: IPv4Network | None

    @property
    def names(self) -> tuple[str, ...]:
        """Every host, the controller first."""
        return (self.controller, *self.logins)


def cloud_hosts(environment: Environment, services: CloudServices) -> CloudHosts:
    """Plan the hosts of `services` in the network of an environment."""
    logins = tuple(f"{LOGIN}{number:02d}" for number in range(1, services.login.count + 1))
    reserved = _reserved(environment, services.zone)
    planned: dict[str, IPv4Address] = {}
    if reserved is not None:
        # A host's place depends on its own number alone, so that another login host moves no other host.
        planned = {name: reserved.network_address + number for number, name in enumerate((CONTROLLER, *logins))}
    return CloudHosts(
        zone=services.zone,
        controller=CONTROLLER,
        logins=logins,
        addresses={**planned, **services.addresses},
        reserved=reserved,
    )


def _reserved(environment: Environment, zone: str) -> IPv4Network | None:
    private_subnet = next(
        (subnet for subnet in subnets(environment) if subnet.tier == "private" and subnet.zone == zone), None
    )
    if private_subnet is None or private_subnet.cidr.prefixlen >= _PREFIX:
        return None
    return IPv4Network((int(private_subnet.cidr.network_address) + _BEHIND, _PREFIX))
