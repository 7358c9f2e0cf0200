"""A small cluster for the drills of node health: a controller and two GPU nodes in a lab of its own."""

import json
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.plan.ansible.inventory import inventory
from sandbox.demo.cluster import wait_for
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, plan
from tests.roles.ansible_run import Played, connection, play
from tests.unit.core.samples import REMOVED, environment

PLATFORM = "dgx-h100"
ONPREM = IPv4Network("10.37.0.0/16")
CONTROLLER, NODES = ("ctl01", "10.37.0.11"), {"dgx01": "10.37.1.11", "dgx02": "10.37.1.12"}
#: Seconds. Slurm's own interval here; a fault has to show within it, and the round of checks before it.
INTERVAL, ROUND = 10, 4
SITE = plan(
    ONPREM,
    IPv4Network("10.77.0.0/16"),
    None,
    (
        Machine(*CONTROLLER),
        *(
            Machine(name, address, gpus=platforms()[PLATFORM].gpus.count, platform=PLATFORM)
            for name, address in NODES.items()
        ),
    ),
)
PLAYBOOK = """
- hosts: dgx01:dgx02
  gather_facts: false
  roles: [node_health]
- hosts: ctl01
  gather_facts: false
  roles: [slurm_controller]
- hosts: dgx01:dgx02
  gather_facts: false
  roles: [slurm_node]
"""


def described(version: str, auth: str) -> Environment:
    """The site as a file would describe it: no accounting, because there is no database."""
    own: dict[str, Any] = {
        "AccountingStorageType": None,
        "AccountingStorageHost": None,
        "AccountingStorageTRES": None,
        "SlurmdParameters": "config_overrides",
        "HealthCheckInterval": INTERVAL,
        "ReturnToService": 2,
    }
    addresses = {name: f"10.37.0.{last}" for name, last in (("db01", 12), ("login01", 13), ("nfs01", 14), ("gw01", 1))}
    return environment(
        {
            ("onprem", "cidr"): str(ONPREM),
            ("onprem", "nodes", 0, "address"): str(IPv4Address(NODES["dgx01"])),
            ("onprem", "addresses"): {**addresses, "ctl01": CONTROLLER[1], "mlops01": "10.37.0.15"},
            ("aws", "cidr"): "10.77.0.0/16",
            ("aws", "pools"): [],
            ("link",): REMOVED,
            ("scheduler", "accounts"): REMOVED,
            ("scheduler", "slurm"): {"version": version, "packages_mirror": None},
            ("scheduler", "auth"): auth,
            ("scheduler", "cgroup"): "v1",
            ("scheduler", "overrides"): {"slurm_conf": own},
        }
    )


@dataclass(frozen=True)
class Drill:
    """The running cluster, asked as its operators ask it."""

    lab: Layout
    folder: Path
    version: str = "24.11"
    auth: str = "munge"

    def run(self, node: str, command: str) -> str:
        done = nodes.exec(self.lab, node, [command])
        assert done.returncode == 0, f"{node}: {command}: {done.stderr}{done.stdout}"
        return str(done.stdout).strip()

    def node(self, name: str) -> tuple[set[str], str]:
        """Slurm's words for the node's state, and the reason."""
        found = json.loads(self.run("ctl01", f"scontrol show node {name} --json"))["nodes"][0]
        return set(found["state"]), str(found["reason"])

    def drained(self) -> dict[str, str]:
        """Reasons of the nodes that get no new job."""
        said = {name: self.node(name) for name in NODES}
        return {name: reason for name, (state, reason) in said.items() if "DRAIN" in state}

    def wait(self, wanted: dict[str, str]) -> None:
        """Wait until exactly these nodes are drained, each with a reason that begins so."""
        wait_for(
            f"{wanted or 'no node'} drained",
            self.drained,
            lambda reasons: has_reasons(reasons, wanted),
            details=lambda: {name: self.run(name, "/opt/landbridge/bin/landbridge-node-health show") for name in NODES},
        )

    def converge(self) -> Played:
        """Run the roles."""
        return play(self.lab, self.folder, PLAYBOOK, self._inventory()).good()

    def _inventory(self) -> dict[str, Any]:
        data = inventory(described(self.version, self.auth))
        data["all"]["vars"] |= {
            **connection(self.lab),
            "slurm_common_key": "k" * 64,
            "slurm_node_controllers": [CONTROLLER[1]],
            "node_health_seconds": ROUND,
            "node_health_driver_branch": "580",
        }
        data["slurm_controller"]["vars"]["slurm_controller_database_host"] = ""
        return data


def has_reasons(reasons: dict[str, str], wanted: dict[str, str]) -> bool:
    """Tell whether exactly the wanted nodes have a reason, and each begins as wanted."""
    return reasons.keys() == wanted.keys() and all(reasons[name].startswith(wanted[name]) for name in wanted)
