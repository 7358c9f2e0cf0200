"""Rules about the scale of model services, and about their hosts in AWS: zones, type, and the services that may use them."""

from collections.abc import Iterator

from landbridge.catalog import instances, zones
from landbridge.environment import CloudModelServers, Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.network.cloud_hosts import cloud_model_server_addresses
from landbridge.plan.network.services.serving import cloud_model_servers, model_slots, serving_of
from landbridge.rules.environment_paths import suggestion
from landbridge.rules.registry import rule

_AWS: DataPath = ("serving", "aws")
_SERVICES: DataPath = ("serving", "services")


@rule
def serving_scale(environment: Environment) -> Iterator[Finding]:
    """A service that scales follows the registry at one gateway, and its most hosts hold the rate of its objective.

    The gateway that counts the requests sets the number of hosts; the other one of a pair does not know its load.
    Source: Landbridge (docs/explanation/models.md).
    """
    serving = environment.serving
    if serving is None:
        return
    for name, service in serving.services.items():
        scale = service.scale
        path: DataPath = ("serving", "services", name, "scale")
        if scale is None:
            continue
        if service.canary is None:
            message = "model servers without canary are started by hand, so nothing scales them"
            yield error(path, message, fix="write canary: {}", related=(("serving", "services", name, "canary"),))
        if len(serving.gateways) > 1:
            message = "two gateways do not know the load of each other"
            yield error(path, message, fix="remove it, or keep one gateway", related=(("serving", "gateway"),))
        replicas: tuple[DataPath, ...] = (("serving", "services", name, "replicas"),)
        if scale.least > service.replicas:
            message = f"least is {scale.least}, and the service has {service.replicas} replicas"
            yield error((*path, "least"), message, fix="write at most replicas", related=replicas)
        most = scale.host_rate * service.replicas
        if most < service.objective.rate:
            message = (
                f"{service.replicas} hosts hold {most:g} requests/s, and the objective is {service.objective.rate:g}"
            )
            related = (*replicas, ("serving", "services", name, "objective", "rate"))
            yield warning((*path, "host_rate"), message, fix="write more replicas", related=related)


@rule
def serving_aws_hosts(environment: Environment) -> Iterator[Finding]:
    """Hosts of model servers in AWS are of a known type, in zones of the region whose subnets have room, and have packages.

    Source: EC2 DescribeInstanceTypeOfferings; Amazon VPC User Guide, "Subnet CIDR reservations".
    """
    serving = serving_of(environment)
    if serving is None or serving.aws is None:
        return
    settings = serving.aws
    yield from _type(environment, settings)
    known, planned = zones(environment.region), cloud_model_server_addresses(environment)
    for zone in settings.zones:
        path: DataPath = (*_AWS, "zones", zone)
        if known and zone not in known:
            message = f"{environment.region} has no zone {zone}"
            yield error(path, message, fix=suggestion(zone, known), related=(("region",),))
            continue
        without = [host for host, of in cloud_model_servers(environment).items() if of == zone and host not in planned]
        if without:
            message = f"{', '.join(without)} has no address: the subnet of {zone} has no room for a reserved range"
            related: tuple[DataPath, ...] = (("aws", "cidr"), ("aws", "subnets"), ("aws", "vpc"))
            yield error(path, message, fix="write fewer hosts, or give the zone a larger subnet", related=related)
    site = environment.onprem
    clashes = [host for host in cloud_model_servers(environment) if site is not None and host in site.addresses]
    if clashes:
        message = f"{clashes[0]} is the name of a host of the site too"
        yield error((*_AWS, "zones"), message, fix="give the host of the site another name")
    if environment.aws.nat == "none" and site is not None and site.packages.apt_proxy is None:
        message = "the VPC has no way to the internet, so these hosts have no source of packages"
        fix = "write aws.nat: single, or onprem.packages.apt_proxy"
        yield warning(_AWS, message, fix=fix, related=(("aws", "nat"), ("onprem", "packages")))


@rule
def serving_aws_gateway(environment: Environment) -> Iterator[Finding]:
    """One model gateway starts and stops the hosts in AWS, and a service uses them.

    The gateway that counts the requests knows the number of hosts; the other one of a pair does not.
    Source: Landbridge (docs/explanation/models.md).
    """
    serving = serving_of(environment)
    if serving is None or serving.aws is None:
        return
    if len(serving.gateways) > 1:
        message = "two gateways do not know the load of each other: neither may stop a host"
        yield error(_AWS, message, fix="remove it, or keep one gateway", related=(("serving", "gateway"),))
    in_aws = cloud_model_servers(environment)
    if not any(slot.host in in_aws for slot in model_slots(environment)):
        message = "no service uses these hosts: only their volumes cost money"
        fix = f"write scale, and more than {len(serving.hosts)} replicas, for a service whose class may be in AWS"
        yield warning(_AWS, message, fix=fix, related=((*_SERVICES, "*", "replicas"), (*_SERVICES, "*", "scale")))


@rule(suppressible=False)
def serving_aws_class(environment: Environment) -> Iterator[Finding]:
    """A model of data that stays on-prem is not served in AWS, and a service without a scale neither: nothing would start its hosts.

    A model contains what it has learnt from data of its class. Source: Landbridge (docs/decisions/0006-data.md).
    """
    serving = serving_of(environment)
    if serving is None or serving.aws is None:
        return
    at_site = len(dict.fromkeys(serving.hosts))
    for name, service in serving.services.items():
        path: DataPath = (*_SERVICES, name, "replicas")
        data_class = environment.data_classes.get(service.data_class)
        if service.replicas <= at_site or data_class is None:
            continue
        if "aws" not in data_class.sites:
            message = (
                f"{service.replicas} replicas on {at_site} hosts of the site: data of class {service.data_class} may not be in AWS, "
                "and neither may its models"
            )
            related: tuple[DataPath, ...] = (("data_classes", service.data_class, "sites"), _AWS)
            yield error(path, message, fix=f"write at most {at_site} replicas", related=related)
        elif service.scale is None:
            message = "without a scale nothing starts the hosts in AWS for this service"
            fix = f"write scale, or at most {at_site} replicas"
            yield error(path, message, fix=fix, related=((*_SERVICES, name, "scale"), _AWS))


def _type(environment: Environment, settings: CloudModelServers) -> Iterator[Finding]:
    kind, path = instances().get(settings.instance), (*_AWS, "instance")
    if kind is None:
        yield error(
            path, f'unknown instance type "{settings.instance}"', fix=suggestion(settings.instance, instances())
        )
        return
    known = zones(environment.region)
    without = [zone for zone in settings.zones if zone in known and kind.zones and zone not in kind.zones_in(known)]
    if without and kind.zones_in(known):
        message = f"{settings.instance} is not offered in {', '.join(without)}"
        fix = f"zones with it: {', '.join(kind.zones_in(known))}"
        yield error(path, message, fix=fix, related=((*_AWS, "zones"),))
    if kind.accelerators is not None:
        message = f"{settings.instance} has {kind.accelerators.count} {kind.accelerators.type}, which model servers in AWS do not use"
        yield warning(path, message, fix="use a type without accelerators, such as m7i.large")
