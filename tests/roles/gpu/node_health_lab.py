"""Lab for the fault drills of node health: a controller and two GPU nodes."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.ops.scontrol import ScontrolError
from landbridge.plan.ansible.inventory import inventory
from sandbox.demo.cluster import wait_for
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, plan
from tests.roles.ansible_run import Played, connection, play
from tests.unit.core.samples import REMOVED, environment

REPAIR = Path(__file__).parents[3] / "ansible/playbooks/repair_node.yml"
PLATFORM = "dgx-h100"
ONPREM = IPv4Network("10.37.0.0/16")
CONTROLLER, NODES = ("ctl01", "10.37.0.11"), {"dgx01": "10.37.1.11", "dgx02": "10.37.1.12"}
#: Slurm's health check interval, within which a fault must show, and the interval of the node's own checks.
INTERVAL_SECONDS, ROUND_SECONDS = 5, 4
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


def site_environment(version: str, auth: str) -> Environment:
    """Return the site's environment, without accounting because there is no database."""
    overrides: dict[str, Any] = {
        "AccountingStorageType": None,
        "AccountingStorageHost": None,
        "AccountingStorageTRES": None,
        "SlurmdParameters": "config_overrides",
        "HealthCheckInterval": INTERVAL_SECONDS,
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
            ("scheduler", "overrides"): {"slurm_conf": overrides},
        }
    )


@dataclass(frozen=True)
class Drill:
    """The running cluster, with its operators' commands."""

    lab: Layout
    folder: Path
    version: str = "24.11"
    auth: str = "munge"

    def run(self, node: str, command: str) -> str:
        completed = nodes.exec(self.lab, node, [command])
        assert completed.returncode == 0, f"{node}: {command}: {completed.stderr}{completed.stdout}"
        return str(completed.stdout).strip()

    def node(self, name: str) -> tuple[set[str], str]:
        """Return Slurm's state flags of the node, and the reason."""
        node = json.loads(self.run("ctl01", f"scontrol show node {name} --json"))["nodes"][0]
        return set(node["state"]), str(node["reason"])

    def comment(self, name: str) -> str:
        """Return the node's comment in Slurm."""
        return str(json.loads(self.run("ctl01", f"scontrol show node {name} --json"))["nodes"][0]["comment"])

    def problems(self, name: str) -> list[dict[str, Any]]:
        """Return the problems that the node's last check found."""
        shown = json.loads(self.run(name, "/opt/landbridge/bin/landbridge-node-health show"))
        return list(shown["problems"])

    def drained(self) -> dict[str, str]:
        """Return the drain reason of each drained node."""
        nodes_shown = {name: self.node(name) for name in NODES}
        return {name: reason for name, (state, reason) in nodes_shown.items() if "DRAIN" in state}

    def wait(self, expected: dict[str, str]) -> None:
        """Wait until exactly these nodes are drained, each with a reason that begins with the given text."""
        wait_for(
            f"{expected or 'no node'} drained",
            self.drained,
            lambda reasons: has_reasons(reasons, expected),
            details=lambda: {name: self.run(name, "/opt/landbridge/bin/landbridge-node-health show") for name in NODES},
        )

    def converge(self) -> Played:
        """Run the roles."""
        return play(self.lab, self.folder, PLAYBOOK, self._inventory()).good()

    def repair(self, node: str, *variables: str) -> Played:
        """Run the playbook that resets the GPUs of a node or restarts it."""
        words = [word for variable in variables for word in ("-e", variable)]
        return play(self.lab, self.folder, REPAIR, self._inventory(), "--limit", node, *words)

    def scontrol(self, words: Sequence[str]) -> str:
        """Run scontrol on the controller. Raises ScontrolError if it fails."""
        completed = nodes.exec(self.lab, "ctl01", [shlex.join(["scontrol", *words])])
        if completed.returncode != 0:
            raise ScontrolError(f"{completed.stderr}{completed.stdout}")
        return str(completed.stdout)

    def _inventory(self) -> dict[str, Any]:
        data = inventory(site_environment(self.version, self.auth))
        data["all"]["vars"] |= {
            **connection(self.lab),
            "slurm_common_key": "k" * 64,
            "slurm_node_controllers": [CONTROLLER[1]],
            "node_health_seconds": ROUND_SECONDS,
            "node_health_driver_branch": "580",
        }
        data["slurm_controller"]["vars"]["slurm_controller_database_host"] = ""
        return data


def has_reasons(reasons: dict[str, str], expected: dict[str, str]) -> bool:
    """Tell whether exactly the expected nodes have a reason, and each begins with the expected text."""
    return reasons.keys() == expected.keys() and all(reasons[name].startswith(expected[name]) for name in expected)
