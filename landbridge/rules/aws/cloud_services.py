"""Rules about environments without a site of their own: services in AWS, and what needs metal."""

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
    """The controller stands at one place: on a site of your own (`onprem`), or in AWS (`aws.services`).

    Source: docs/decisions/0023-start-in-the-cloud.md; one slurmctld writes one cluster's state.
    """
    site, services = environment.onprem is not None, environment.aws.services is not None
    if not site and not services:
        message = "nobody says where the controller is: there is neither onprem nor aws.services"
        fix = "describe your site under onprem (with link), or write aws.services: {zone: ...}"
        yield error(_SITE, message, fix=fix, related=_EITHER)
    elif site and services:
        message = "the controller would be on your site and in AWS"
        fix = "remove one of them; docs/how-to/add-metal-later.md says how to move"
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
        message = "the link leads to no site: there is no onprem"
        yield error(_LINK, message, fix="remove it, or describe the site under onprem", related=related)


@rule
def needs_onprem_site(environment: Environment) -> Iterator[Finding]:
    """What only a site of one's own can have is not asked for where there is none.

    Source: docs/decisions/0023-start-in-the-cloud.md.
    """
    if environment.onprem is not None or environment.aws.services is None:
        return
    for wanted, message, path, fix in _metal(environment):
        if wanted:
            yield error(path, message, fix=fix, related=(_SITE,))


def _metal(environment: Environment) -> Iterator[tuple[bool, str, DataPath, str]]:
    aws, remove = environment.aws, "remove it until there is a site"
    homes = "no host exports home directories where there is no site"
    yield environment.storage.home.kind == "nfs", homes, ("storage", "home"), "write storage: {home: {kind: efs}}"
    hybrid = aws.kubernetes is not None and aws.kubernetes.hybrid_nodes
    yield hybrid, "there are no on-prem nodes to join the cluster", ("aws", "kubernetes", "hybrid_nodes"), remove
    trust = "no host takes its credentials from Roles Anywhere: instances have roles of their own"
    yield aws.iam.anywhere is not None, trust, ("aws", "iam", "anywhere"), remove
    managed = "an activation is for machines that are no instances, and there are none"
    yield aws.iam.ssm_activation is not None, managed, ("aws", "iam", "ssm_activation"), remove
    seen = "no site sees AWS at an address of its own"
    yield aws.endpoints.onprem is not None, seen, ("aws", "endpoints", "onprem"), "use cloud: for the services too"
    for name, data_class in environment.data_classes.items():
        nowhere = f"data of class {name} may be on-prem only, and there is no site"
        fix = "remove the class, or let it be in AWS: sites: [aws]"
        yield "aws" not in data_class.sites, nowhere, ("data_classes", name, "sites"), fix
    for name, partition in environment.scheduler.partitions.items():
        for index, token in enumerate(partition.nodes):
            at: DataPath = ("scheduler", "partitions", name, "nodes", index)
            yield token == "onprem", "there are no on-prem nodes", at, "name pools, or aws"


@rule
def no_onprem_site(environment: Environment) -> Iterator[Finding]:
    """A cluster that starts in the cloud can get metal: the file grows by a site and a link, and the services move there.

    Source: docs/how-to/add-metal-later.md.
    """
    if environment.aws.services is not None and environment.onprem is None:
        message = (
            "the services are in AWS; when you have machines of your own, docs/how-to/add-metal-later.md is the path"
        )
        yield info(_SERVICES, message, related=(_SITE,))


@rule
def services_zone(environment: Environment) -> Iterator[Finding]:
    """The zones of the services are zones of the region, two different ones: RDS has a subnet in each.

    Source: RDS User Guide, "Working with a DB instance in a VPC": a subnet group covers two zones at least.
    """
    services, known = environment.aws.services, zones(environment.region)
    if services is None or not known:
        return
    for key, zone in (("zone", services.zone), ("standby_zone", services.standby_zone)):
        if zone is not None and zone not in known:
            message = f"{zone} is no zone of {environment.region}"
            path = (*_SERVICES, key)
            yield error(path, message, fix=suggestion(zone, known), related=(("region",),))
    if services.standby_zone == services.zone:
        message = "the database needs two zones, and this is the first one again"
        yield error((*_SERVICES, "standby_zone"), message, related=((*_SERVICES, "zone"),))


@rule
def services_addresses(environment: Environment) -> Iterator[Finding]:
    """The services' hosts have addresses in their zone's subnet, out of the range that nothing else there is given.

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
        message = f"the subnet of {services.zone} has no room for the services: it is a /27 at least"
        yield error(path, message, fix="widen aws.cidr, or the zone's subnet", related=related)
        return
    own = next(one.cidr for one in subnets(environment) if one.tier == "private" and one.zone == services.zone)
    for name, address in services.addresses.items():
        at: DataPath = (*_SERVICES, "addresses", name)
        more = (path, *related)
        if address not in own:
            message = f"{name}'s address {address} is outside {own}, the subnet of {services.zone}"
            yield error(at, message, fix=f"such as {planned.reserved[0]}", related=more)
        elif address not in planned.reserved:
            message = f"{address} is outside {planned.reserved}: AWS may have given it to something else already"
            yield warning(at, message, fix="leave it out", related=more)


@rule
def services_type(environment: Environment) -> Iterator[Finding]:
    """The services run on types that are known, of one kind of processor, and without accelerators that nobody uses.

    Source: EC2 DescribeInstanceTypes; an image is for one kind of processor.
    """
    services, known = environment.aws.services, instances()
    if services is None:
        return
    first = known.get(services.controller.instance)
    for key, name in (("controller", services.controller.instance), ("login", services.login.instance)):
        path, kind = (*_SERVICES, key, "instance"), known.get(name)
        if kind is None:
            message = f'unknown instance type "{name}"'
            yield error(path, message, fix=suggestion(name, known))
            continue
        if kind.accelerators is not None:
            message = f"{name} has {kind.accelerators.count} {kind.accelerators.type}, which no {key} host uses"
            yield warning(path, message, fix="such as m7i.large")
        if first is not None and kind.cpus.architecture != first.cpus.architecture:
            message = (
                f"{name} is {kind.cpus.architecture}, the controller {first.cpus.architecture}: one image is for one"
            )
            related: tuple[DataPath, ...] = ((*_SERVICES, "controller", "instance"),)
            yield error(path, message, related=related)


@rule
def services_keys(environment: Environment) -> Iterator[Finding]:
    """Somebody may log in to the services' hosts: without a key nobody can configure them.

    Source: sshd(8), AUTHORIZED_KEYS; Systems Manager carries ssh, and ssh asks for a key.
    """
    services = environment.aws.services
    if services is not None and not services.access.public_keys:
        path: DataPath = (*_SERVICES, "access", "public_keys")
        message = "no public key may log in, so that nothing can be configured"
        yield error(path, message, fix='such as ["ssh-ed25519 AAAA... you@example.org"]')


@rule
def home_share_name(environment: Environment) -> Iterator[Finding]:
    """No other file system is called `home` where the homes are one: outputs and mounts go by that name.

    Source: landbridge/plan/site/home_directories.py.
    """
    if ("home",) in environment.storage.in_aws() and "home" in environment.storage.cloud_shares:
        message = "the home directories are the file system `home` already"
        path: DataPath = ("storage", "cloud_shares", "home")
        yield error(path, message, fix="give it another name", related=(("storage", "home"),))
