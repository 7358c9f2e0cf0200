"""Rules about environments without an on-prem site: services in AWS, and settings that need a site."""

from collections.abc import Iterator

from landbridge.catalog import instances, zones
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, info, warning
from landbridge.plan.network.cloud_hosts import cloud_hosts
from landbridge.plan.network.subnets import subnets
from landbridge.rules.environment_paths import POOL_ZONES, suggestion
from landbridge.rules.registry import rule

_SERVICES: DataPath = ("aws", "services")
_SITE: DataPath = ("onprem",)
_LINK: DataPath = ("link",)
_EITHER: tuple[DataPath, ...] = (_SITE, _SERVICES)


@rule
def controller_location(environment: Environment) -> Iterator[Finding]:
    """The controller is at one site: on-prem (`onprem`) or in AWS (`aws.services`).

    Source: docs/decisions/0023-start-in-the-cloud.md; one slurmctld writes one cluster's state.
    """
    site, services = environment.onprem is not None, environment.aws.services is not None
    if not site and not services:
        message = "the environment has no controller: neither onprem nor aws.services is written"
        fix = "describe your site under onprem (with link), or write aws.services: {zone: ...}"
        yield error(_SITE, message, fix=fix, related=_EITHER)
    elif site and services:
        message = "the environment has two controllers: both onprem and aws.services are written"
        fix = "remove one of them; docs/how-to/add-metal-later.md describes the move"
        yield error(_SERVICES, message, fix=fix, related=_EITHER)


@rule
def link_and_site(environment: Environment) -> Iterator[Finding]:
    """A site has a link to AWS, and a link has a site at its other end.

    Source: docs/decisions/0005-link.md.
    """
    related = (_SITE, _LINK)
    if environment.onprem is not None and environment.link is None:
        fix = "add link: {kind: vpn, gateway_address: ...}"
        yield error(_LINK, "the site has no link to AWS", fix=fix, related=related)
    if environment.onprem is None and environment.aws.services is not None and environment.link is not None:
        message = "the link has no site at its other end: there is no onprem"
        yield error(_LINK, message, fix="remove it, or describe the site under onprem", related=related)


@rule
def needs_onprem_site(environment: Environment) -> Iterator[Finding]:
    """Settings that need an on-prem site are written only in an environment with one.

    Source: docs/decisions/0023-start-in-the-cloud.md.
    """
    if environment.onprem is not None or environment.aws.services is None:
        return
    for needed, message, path, fix in _site_settings(environment):
        if needed:
            yield error(path, message, fix=fix, related=(_SITE,))


def _site_settings(environment: Environment) -> Iterator[tuple[bool, str, DataPath, str]]:
    aws, remove = environment.aws, "remove it until there is a site"
    home_message = "home directories over NFS need an on-prem host that exports them, and there is no site"
    yield (
        environment.storage.home.kind == "nfs",
        home_message,
        ("storage", "home"),
        "write storage: {home: {kind: efs}}",
    )
    anywhere_message = "IAM Roles Anywhere is for on-prem hosts, and there is no site: instances have instance profiles"
    yield aws.iam.anywhere is not None, anywhere_message, ("aws", "iam", "anywhere"), remove
    activation_message = "a hybrid activation is for on-prem hosts, and there is no site"
    yield aws.iam.ssm_activation is not None, activation_message, ("aws", "iam", "ssm_activation"), remove
    endpoint_message = "endpoints.onprem is for an on-prem site, and there is none"
    yield (
        aws.endpoints.onprem is not None,
        endpoint_message,
        ("aws", "endpoints", "onprem"),
        "use endpoints.cloud for the services too",
    )
    for name, data_class in environment.data_classes.items():
        class_message = f"data of class {name} may be on-prem only, and there is no site"
        fix = "remove the class, or let it be in AWS: sites: [aws]"
        yield "aws" not in data_class.sites, class_message, ("data_classes", name, "sites"), fix
    for name, partition in environment.scheduler.partitions.items():
        for index, token in enumerate(partition.nodes):
            path: DataPath = ("scheduler", "partitions", name, "nodes", index)
            yield (
                token == "onprem",
                "the partition has on-prem nodes, and there is no site",
                path,
                "write pools, or aws",
            )


@rule
def no_onprem_site(environment: Environment) -> Iterator[Finding]:
    """A cluster without an on-prem site can get one later: the file gets a site and a link, and the services move there.

    Source: docs/how-to/add-metal-later.md.
    """
    if environment.aws.services is not None and environment.onprem is None:
        message = "the services are in AWS; docs/how-to/add-metal-later.md describes how an on-prem site is added"
        yield info(_SERVICES, message, related=(_SITE,))


@rule
def services_zone(environment: Environment) -> Iterator[Finding]:
    """The services have two different zones of the region: RDS needs a subnet in each.

    Source: RDS User Guide, "Working with a DB instance in a VPC": a subnet group covers two zones at least.
    """
    services, known_zones = environment.aws.services, zones(environment.region)
    if services is None or not known_zones:
        return
    for key, zone in (("zone", services.zone), ("standby_zone", services.standby_zone)):
        if zone is not None and zone not in known_zones:
            message = f"{environment.region} has no zone {zone}"
            path = (*_SERVICES, key)
            yield error(path, message, fix=suggestion(zone, known_zones), related=(("region",),))
    if services.standby_zone == services.zone:
        message = "standby_zone is the same zone as zone: the database needs two different ones"
        yield error((*_SERVICES, "standby_zone"), message, related=((*_SERVICES, "zone"),))


@rule
def services_addresses(environment: Environment) -> Iterator[Finding]:
    """The services' hosts have addresses in their zone's subnet, inside the range that is reserved for them.

    Source: Amazon VPC User Guide, "Subnet CIDR reservations"; landbridge/plan/network/cloud_hosts.py.
    """
    services = environment.aws.services
    if services is None:
        return
    planned, related = (
        cloud_hosts(environment, services),
        (*POOL_ZONES, ("aws", "cidr"), ("aws", "vpc"), ("aws", "subnets")),
    )
    path: DataPath = (*_SERVICES, "zone")
    if planned.reserved is None:
        message = f"the subnet of {services.zone} is too small for the services: they need a /27 or larger"
        yield error(path, message, fix="widen aws.cidr, or the zone's subnet", related=related)
        return
    subnet_cidr = next(
        subnet.cidr for subnet in subnets(environment) if subnet.tier == "private" and subnet.zone == services.zone
    )
    for name, address in services.addresses.items():
        at: DataPath = (*_SERVICES, "addresses", name)
        all_related = (path, *related)
        if address not in subnet_cidr:
            message = f"{name}'s address {address} is outside {subnet_cidr}, the subnet of {services.zone}"
            yield error(at, message, fix=f"such as {planned.reserved[0]}", related=all_related)
        elif address not in planned.reserved:
            message = f"{address} is outside the reserved range {planned.reserved}: AWS may have assigned it to another interface"
            yield warning(at, message, fix="remove it: an address is chosen", related=all_related)


@rule
def services_type(environment: Environment) -> Iterator[Finding]:
    """The services run on types of the catalogue, of one processor architecture, and without accelerators.

    Source: EC2 DescribeInstanceTypes; an image is for one kind of processor.
    """
    services, instance_types = environment.aws.services, instances()
    if services is None:
        return
    first = instance_types.get(services.controller.instance)
    for key, name in (("controller", services.controller.instance), ("login", services.login.instance)):
        path, kind = (*_SERVICES, key, "instance"), instance_types.get(name)
        if kind is None:
            message = f'unknown instance type "{name}"'
            yield error(path, message, fix=suggestion(name, instance_types))
            continue
        if kind.accelerators is not None:
            message = f"{name} has {kind.accelerators.count} {kind.accelerators.type}, which a {key} host does not use"
            yield warning(path, message, fix="use a type without accelerators, such as m7i.large")
        if first is not None and kind.cpus.architecture != first.cpus.architecture:
            message = f"{name} is {kind.cpus.architecture}, the controller {first.cpus.architecture}: both boot one image, which has one architecture"
            related: tuple[DataPath, ...] = ((*_SERVICES, "controller", "instance"),)
            yield error(path, message, related=related)


@rule
def services_keys(environment: Environment) -> Iterator[Finding]:
    """The services' hosts have at least one public key for SSH: without it, Ansible cannot configure them.

    Source: sshd(8), AUTHORIZED_KEYS; Systems Manager tunnels ssh, and ssh needs a key.
    """
    services = environment.aws.services
    if services is not None and not services.access.public_keys:
        path: DataPath = (*_SERVICES, "access", "public_keys")
        message = "there is no public key, so Ansible cannot log in to the services' hosts"
        yield error(path, message, fix='write your key, such as ["ssh-ed25519 AAAA... you@example.org"]')


@rule
def home_share_name(environment: Environment) -> Iterator[Finding]:
    """No cloud share is named `home` if the home directories are a file system in AWS, which outputs and mounts call `home`.

    Source: landbridge/plan/site/home_directories.py.
    """
    if ("home",) in environment.storage.in_aws() and "home" in environment.storage.cloud_shares:
        message = "the name `home` is used by the file system of the home directories"
        path: DataPath = ("storage", "cloud_shares", "home")
        yield error(path, message, fix="give it another name", related=(("storage", "home"),))
