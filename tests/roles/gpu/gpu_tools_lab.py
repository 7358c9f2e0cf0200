"""Lab with a controller and one GPU node, for the tools beside the driver: MIG, DCGM, containers, RDMA."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.plan.ansible.inventory import inventory
from sandbox.demo.cluster import wait_for
from sandbox.hardware.packages.repository import Repository
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, operator_address, plan
from tests.roles.ansible_run import Played, connection, play
from tests.unit.core.samples import REMOVED, environment

NAME = "landbridge-gpu-tools"
ONPREM = IPv4Network("10.43.0.0/16")
OPERATOR = operator_address(ONPREM)
CONTROLLER, NODE = ("ctl01", "10.43.0.11"), ("dgx01", "10.43.1.11")
PLATFORM = "dgx-h100"
GPUS = platforms()[PLATFORM].gpus.count
SITE = plan(
    ONPREM,
    IPv4Network("10.83.0.0/16"),
    None,
    (Machine(*CONTROLLER), Machine(*NODE, gpus=GPUS, platform=PLATFORM)),
)
#: GPUs 6 and 7 are partitioned, the others whole.
MIG: list[dict[str, Any]] = [
    {"gpus": "6", "instances": {"3g.40gb": 1, "1g.10gb": 4}},
    {"gpus": "7", "instances": {"3g.40gb": 2}},
]
DCGM, TOOLKIT = "1:4.4.2-1", "1.18.0-1"
# As in site.yml: MIG instances are created before Slurm is configured with them.
TOOLS = """
- hosts: dgx01
  gather_facts: false
  roles: [mig, dcgm, nvidia_container_toolkit, rdma]
"""
SLURM = """
- hosts: ctl01
  gather_facts: false
  roles: [slurm_controller]
- hosts: dgx01
  gather_facts: false
  roles: [slurm_job_environment, slurm_node]
"""
RDMA = "- {hosts: dgx01, gather_facts: false, roles: [rdma]}\n"


def site_environment(packages: Repository, version: str, auth: str) -> Environment:
    """Return the site's environment, without accounting because there is no database."""
    absent = ("AccountingStorageType", "AccountingStorageHost", "AccountingStorageTRES", "HealthCheckProgram")
    overrides = dict.fromkeys((*absent, "HealthCheckInterval", "HealthCheckNodeState"))
    addresses = {name: f"10.43.0.{last}" for name, last in (("db01", 12), ("login01", 13), ("nfs01", 14), ("gw01", 1))}
    tools = {
        "dcgm_version": DCGM,
        "job_statistics": True,
        "container_toolkit_version": TOOLKIT,
        "container_toolkit_mirror": packages.address(OPERATOR, "container-toolkit"),
        "rdma": {"stack": "doca", "mirror": packages.address(OPERATOR, "doca")},
    }
    nodes_of = {"hosts": "dgx01", "platform": PLATFORM, "address": NODE[1], "rack": "r1", "mig": MIG}
    return environment(
        {
            ("onprem", "cidr"): str(ONPREM),
            ("onprem", "nodes"): [nodes_of],
            ("onprem", "addresses"): {**addresses, "ctl01": CONTROLLER[1], "mlops01": "10.43.0.15"},
            # The distribution's driver: the repository then contains only DCGM.
            ("onprem", "driver"): {"repository": "distribution", "mirror": packages.address(OPERATOR, "debian13")},
            ("onprem", "gpu_tools"): tools,
            ("aws", "cidr"): "10.83.0.0/16",
            ("aws", "pools"): [],
            ("link",): REMOVED,
            ("scheduler", "accounts"): REMOVED,
            ("scheduler", "slurm"): {"version": version, "packages_mirror": None},
            ("scheduler", "auth"): auth,
            ("scheduler", "cgroup"): "v1",
            ("scheduler", "overrides"): {
                "slurm_conf": {**overrides, "SlurmdParameters": "config_overrides", "ReturnToService": 2}
            },
        }
    )


@dataclass(frozen=True)
class Bench:
    """The node and its controller, with their operators' commands."""

    lab: Layout
    folder: Path
    packages: Repository
    version: str = "24.11"
    auth: str = "munge"

    def run(self, command: str, node: str = "dgx01") -> str:
        completed = nodes.exec(self.lab, node, [command], timeout=300)
        assert completed.returncode == 0, f"{node}: {command}: {completed.stderr}{completed.stdout}"
        return str(completed.stdout).strip()

    def code(self, command: str) -> tuple[int, str]:
        completed = nodes.exec(self.lab, "dgx01", [command], timeout=300)
        return completed.returncode, completed.stdout + completed.stderr

    def job(self, gres: str, command: str) -> str:
        """Return the output of a job with these GPUs."""
        return self.run(f"cd /tmp && srun -n1 -c1 --mem=100 --time=2 --gres={gres} sh -c '{command}'", "ctl01")

    def state(self) -> str:
        return self.run("sinfo -h -n dgx01 -p mig -o %T", "ctl01")

    def idle(self) -> None:
        """Wait until the node is idle."""
        wait_for("the node to be idle", self.state, lambda state: state == "idle", details=self.describe)

    def describe(self) -> str:
        """Return Slurm's record of the node, the failed job program's message and the end of slurmd's log."""
        output = self.run("scontrol show node dgx01; squeue --all", "ctl01")
        return output + self.code("cat /run/landbridge/job.failed; journalctl -u slurmd -o cat | tail -5")[1]

    def converge(self, playbook: str, *words: str) -> Played:
        """Run roles; the result contains failures."""
        return play(self.lab, self.folder, playbook, self._inventory(), *words)

    def _inventory(self) -> Mapping[str, Any]:
        data = inventory(site_environment(self.packages, self.version, self.auth))
        data["all"]["vars"] |= {
            **connection(self.lab),
            "slurm_common_key": "k" * 64,
            "slurm_node_controllers": [CONTROLLER[1]],
        }
        data["slurm_controller"]["vars"]["slurm_controller_database_host"] = ""
        return data
