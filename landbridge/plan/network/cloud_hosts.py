"""Service hosts in AWS: names, zone and planned addresses.

Addresses are planned, so that slurm.conf, the inventory and security groups are the same before and after deployment.
They are in a range that is reserved for hosts (landbridge/plan/network/reserved_ranges.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from landbridge.environment import CloudServices, Environment
from landbridge.plan.network.reserved_ranges import HOSTS, reserved_range
from landbridge.plan.network.services.serving import cloud_model_servers

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


def cloud_model_server_addresses(environment: Environment) -> dict[str, IPv4Address]:
    """Return the planned address of each host of model servers in AWS; a host without room in its zone's subnet has none.

    Environments with these hosts have their services on-prem, so that the reserved range is free for them.
    """
    planned, used = dict[str, IPv4Address](), dict[str, int]()
    for host, zone in cloud_model_servers(environment).items():
        reserved = reserved_range(environment, zone, HOSTS)
        number = used[zone] = used.get(zone, -1) + 1
        if reserved is not None and number < reserved.num_addresses:
            planned[host] = reserved.network_address + number
    return planned


def reserved_for_hosts(environment: Environment, zone: str) -> IPv4Network | None:
    """Return the range of a zone's subnet that is reserved for hosts with planned addresses; None without such hosts."""
    services = environment.aws.services
    is_used = (services is not None and services.zone == zone) or zone in cloud_model_servers(environment).values()
    return reserved_range(environment, zone, HOSTS) if is_used else None
