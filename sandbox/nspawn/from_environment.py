"""The lab's site from an environment file; the only module of the lab that reads environments."""

import os
from ipaddress import IPv4Network
from pathlib import Path

from landbridge import hostlist
from landbridge.catalog import instances, platforms
from landbridge.environment import Environment, find_environment, load_environment
from landbridge.findings import FindingsError
from landbridge.plan.network.hosts import service_hosts
from sandbox.nspawn.errors import LabError
from sandbox.nspawn.layout import CHECKOUT, DEFAULT_LAB, Layout, layout
from sandbox.nspawn.site import LabSite, Machine, plan


def find(name: str) -> Path:
    """Return the path of the environment's file for this lab: from the current folder's checkout, else from this module's."""
    try:
        path = find_environment(name)
    except FindingsError:
        try:
            path = find_environment(name, CHECKOUT)
        except FindingsError as error:
            raise LabError(str(error)) from None
    return of_lab(path, layout())


def of_lab(path: Path, lab: Layout) -> Path:
    """Return an environment file of the default lab as `lab` needs it: the file, or a copy in the folder of states.

    The copy has the lab's key, network namespace and loopback address, and another name: the name is that of the folder
    with the environment's state. The first lab of an own XDG_STATE_HOME has the file's name there.
    """
    text = path.read_text()
    changed = with_values_of(text, lab)
    if changed == text:
        return path
    copies = lab.state.parent / "stacks"
    copy = copies / lab.name / path.name
    # The first lab of a folder of states keeps the name.
    if not os.environ.get("XDG_STATE_HOME") or (not copy.exists() and any(copies.glob(f"*/{path.name}"))):
        copy = copy.with_name(f"{path.stem}{lab.name.removeprefix(DEFAULT_LAB)}.yaml")
    copy.parent.mkdir(parents=True, exist_ok=True)
    if not copy.exists() or copy.read_text() != changed:
        copy.write_text(changed)
    return copy


def with_values_of(text: str, lab: Layout) -> str:
    """Return an environment's text with the values of another lab than the default one."""
    key = "~/.local/state/landbridge/lab/id_ed25519"
    if Path(key).expanduser() != lab.private_key:
        text = text.replace(key, str(lab.private_key))
    text = text.replace(f"--net=/run/netns/{DEFAULT_LAB} ", f"--net=/run/netns/{lab.netns} ")
    return text.replace("http://127.0.0.1:4580", f"http://{lab.operator_address}:4580")


def environment(name: str) -> Environment:
    """Return the environment. Raise LabError if its file has errors."""
    path = find(name)
    loaded = load_environment(path)
    if loaded.environment is None:
        raise LabError(f"{path} has errors", f"landbridge check -s {name} lists them")
    return loaded.environment


def site(name: str) -> LabSite:
    """Return the lab site of an environment, by name."""
    return site_of(environment(name))


def site_of(chosen: Environment) -> LabSite:
    """Return the lab site of an environment."""
    address = chosen.link.gateway_address if chosen.link else None
    if isinstance(address, tuple):
        fix = "give link.gateway_address one address, or use tests/roles/hosts/test_gateway_pair.py"
        raise LabError(f"{chosen.name} has two gateways; the lab of an environment has one", fix)
    return plan(
        onprem=site_range(chosen),
        cloud=chosen.aws.cidr,
        gateway_outside=address,
        machines=machines(chosen),
    )


def site_range(chosen: Environment) -> IPv4Network:
    """Return the on-prem site's CIDR. Raise LabError if there is no on-prem site: a lab would have no hosts."""
    if chosen.onprem is None:
        fix = "use the emulated AWS without a lab, or an environment with onprem"
        raise LabError(f"{chosen.name} has no on-prem site for a lab", fix)
    return chosen.onprem.cidr


def machines(chosen: Environment) -> tuple[Machine, ...]:
    """Return every on-prem host, service hosts first."""
    site_range(chosen)
    services = service_hosts(chosen)
    hosts = []
    for host in services.names:
        address = services.addresses.get(host)
        if address is None:
            raise LabError(f"host {host} has no address", f"onprem.addresses: {{{host}: …}} in the environment file")
        hosts.append(Machine(host, str(address), storage=host == services.storage, gateway=host in services.gateways))
    for group in chosen.node_groups:
        gpus = platforms()[group.platform].gpus.count
        for index, host in enumerate(hostlist.expand(group.hosts)):
            hosts.append(Machine(host, str(group.address + index), gpus=gpus, platform=group.platform))
    return tuple(hosts)


def instance_gpus(instance_type: str) -> int:
    """Return the number of GPUs of an instance type; 0 if the catalogue lacks the type."""
    facts = instances().get(instance_type)
    return facts.accelerators.count if facts and facts.accelerators and facts.accelerators.kind == "gpu" else 0
