"""The lab's site from an environment file; the only module of the lab that reads environments."""

from ipaddress import IPv4Network
from pathlib import Path

from landbridge import hostlist
from landbridge.catalog import instances, platforms
from landbridge.environment import Environment, find_environment, load_environment
from landbridge.findings import FindingsError
from landbridge.plan.network.hosts import service_hosts
from sandbox.nspawn.errors import LabError
from sandbox.nspawn.site import LabSite, Machine, plan

CHECKOUT = Path(__file__).resolve().parents[2]


def find(name: str) -> Path:
    """The environment's file: from the current folder's checkout, else from the one this code is in."""
    try:
        return find_environment(name)
    except FindingsError:
        try:
            return find_environment(name, CHECKOUT)
        except FindingsError as error:
            raise LabError(str(error)) from None


def environment(name: str) -> Environment:
    """The environment; a LabError when its file does not check out."""
    path = find(name)
    loaded = load_environment(path)
    if loaded.environment is None:
        raise LabError(f"{path} has errors", f"landbridge check -s {name} tells them")
    return loaded.environment


def site(name: str) -> LabSite:
    """Return the lab site of an environment, by name."""
    chosen = environment(name)
    link = chosen.link
    return plan(
        onprem=site_range(chosen),
        cloud=chosen.aws.cidr,
        gateway_outside=link.gateway_address if link else None,
        machines=machines(chosen),
    )


def site_range(chosen: Environment) -> IPv4Network:
    """The site's addresses. Raises LabError for an environment without a site: there is nothing for a lab to be."""
    if chosen.onprem is None:
        fix = "run it under the emulated AWS alone, or take an environment with onprem"
        raise LabError(f"{chosen.name} has no site of its own that a lab could stand for", fix)
    return chosen.onprem.cidr


def machines(chosen: Environment) -> tuple[Machine, ...]:
    """Every on-prem host, service hosts first."""
    site_range(chosen)
    services = service_hosts(chosen)
    found = []
    for host in services.names:
        address = services.addresses.get(host)
        if address is None:
            raise LabError(f"host {host} has no address", f"onprem.addresses: {{{host}: …}} in the environment file")
        found.append(Machine(host, str(address), storage=host == services.storage, gateway=host == services.gateway))
    for group in chosen.node_groups:
        gpus = platforms()[group.platform].gpus.count
        for index, host in enumerate(hostlist.expand(group.hosts)):
            found.append(Machine(host, str(group.address + index), gpus=gpus, platform=group.platform))
    return tuple(found)


def instance_gpus(instance_type: str) -> int:
    """Return the number of GPUs of an instance type; 0 if the catalogue lacks the type."""
    facts = instances().get(instance_type)
    return facts.accelerators.count if facts and facts.accelerators and facts.accelerators.kind == "gpu" else 0
