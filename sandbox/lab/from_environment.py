"""Reads an environment file for the lab. (Raw YAML for now: landbridge.environment takes over when it can load.)"""

import re
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from sandbox.lab.errors import LabError
from sandbox.lab.site import Machine, Site, plan


def find(name: str) -> Path:
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[2]):
        path = folder / "stacks" / f"Pulumi.{name}.yaml"
        if path.exists():
            return path
    raise LabError(f"no environment '{name}'", f"write stacks/Pulumi.{name}.yaml")


def site(name: str) -> Site:
    raw: dict[str, Any] = YAML(typ="safe").load(find(name))["config"]["landbridge:environment"]
    onprem, link = raw["onprem"], raw.get("link") or {}
    services, addresses = onprem["services"], onprem["addresses"]
    machines = []
    for role, value in services.items():
        for host in value if isinstance(value, list) else [value]:
            machines.append(Machine(host, addresses[host], 0, role == "storage", role == "gateway"))
    for group in onprem["nodes"]:
        first = IPv4Address(group["address"])
        for index, host in enumerate(_expand(group["hosts"])):
            machines.append(Machine(host, str(first + index), 8))
    outside = link.get("gateway_address")
    return plan(
        IPv4Network(onprem["cidr"]),
        IPv4Network(raw["aws"]["cidr"]),
        IPv4Address(outside) if outside else None,
        tuple(machines),
    )


def _expand(hosts: str) -> list[str]:
    match = re.fullmatch(r"(.*)\[(\d+)-(\d+)\]", hosts)
    if not match:
        return [hosts]
    return [f"{match[1]}{n:0{len(match[2])}d}" for n in range(int(match[2]), int(match[3]) + 1)]
