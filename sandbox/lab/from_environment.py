"""The lab's site from an environment file: the only place here that knows what an environment looks like."""

from pathlib import Path

from landbridge import hostlist
from landbridge.catalog import instances, platforms
from landbridge.environment import Environment, find_environment, load_environment
from landbridge.findings import FindingsError
from sandbox.lab.errors import LabError
from sandbox.lab.site import Machine, Site, plan

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


def site(name: str) -> Site:
    """What the lab builds for the environment of that name."""
    chosen = environment(name)
    link = chosen.link
    return plan(
        onprem=chosen.onprem.cidr,
        cloud=chosen.aws.cidr,
        gateway_outside=link.gateway_address if link else None,
        machines=machines(chosen),
    )


def machines(chosen: Environment) -> tuple[Machine, ...]:
    """Every on-prem host, service hosts first."""
    onprem = chosen.onprem
    services = onprem.services
    found = []
    for host in services.hosts():
        address = onprem.addresses.get(host)
        if address is None:
            raise LabError(f"host {host} has no address", f"onprem.addresses: {{{host}: …}} in the environment file")
        found.append(Machine(host, str(address), storage=host == services.storage, gateway=host == services.gateway))
    for group in onprem.nodes:
        gpus = platforms()[group.platform].gpus.count
        for index, host in enumerate(hostlist.expand(group.hosts)):
            found.append(Machine(host, str(group.address + index), gpus=gpus))
    return tuple(found)


def instance_gpus(instance_type: str) -> int:
    """How many GPUs an instance type has; none when the catalogue does not know the type."""
    known = instances().get(instance_type)
    return known.accelerators.count if known and known.accelerators and known.accelerators.kind == "gpu" else 0
