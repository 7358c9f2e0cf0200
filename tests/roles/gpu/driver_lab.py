"""Lab with two GPU nodes without a driver, which the real apt installs, upgrades or refuses; one runs a small Slurm."""

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
from tests.roles.ansible_run import ROOT, Played, connection, play
from tests.unit.core.samples import REMOVED, environment

ONPREM = IPv4Network("10.41.0.0/16")
OPERATOR = operator_address(ONPREM)
NODES = {"dgx01": "10.41.1.11", "dgx02": "10.41.1.12"}
GPUS = platforms()["dgx-h100"].gpus.count
SITE = plan(
    ONPREM,
    IPv4Network("10.81.0.0/16"),
    None,
    tuple(Machine(name, address, gpus=GPUS, platform="dgx-h100") for name, address in NODES.items()),
)
# As in site.yml; the later plays are represented by a file.
DRIVER = """
- hosts: dgx01:dgx02
  gather_facts: false
  tasks:
    - ansible.builtin.include_role: {name: nvidia_driver}
    - ansible.builtin.include_role: {name: nvidia_fabric}
      when: nvidia_fabric_manager
- hosts: dgx01:dgx02
  gather_facts: false
  tasks:
    - ansible.builtin.copy: {dest: /var/tmp/joined, content: "", mode: "0644"}
"""
#: Stand-ins for the kernel's modules: a container cannot load one. Fabric Manager of an NVLink 5 machine refuses to start without ib_umad.
NVLINK_5 = """set -e
mkdir -p /etc/systemd/system/nvidia-fabricmanager.service.d
printf '#!/bin/sh\\nmkdir -p /run/lab-modules && touch "/run/lab-modules/$1"\\n' > /usr/local/sbin/modprobe
chmod +x /usr/local/sbin/modprobe
printf '[Service]\\nExecStartPre=/usr/bin/test -e /run/lab-modules/ib_umad\\n' > /etc/systemd/system/nvidia-fabricmanager.service.d/lab.conf
systemctl daemon-reload
"""
# The smallest Slurm that runs jobs and can be drained: its configuration is not tested here.
SLURM = """set -e
export DEBIAN_FRONTEND=noninteractive
printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
apt-get -qq -o APT::Install-Recommends=false install munge slurmctld slurmd slurm-client >/dev/null 2>&1
rm /usr/sbin/policy-rc.d
mkdir -p /etc/slurm /var/lib/slurm/slurmctld /var/spool/slurmd && chown -R slurm: /var/lib/slurm
cat > /etc/slurm/slurm.conf <<END
ClusterName=lab
SlurmctldHost=dgx01
SlurmUser=slurm
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=1
SlurmdParameters=config_overrides
NodeName=dgx01 CPUs=8
PartitionName=all Nodes=ALL Default=YES
END
echo CgroupPlugin=disabled > /etc/slurm/cgroup.conf
systemctl enable -q munge slurmctld slurmd
systemctl start munge slurmctld slurmd
"""


def site_environment(driver: Mapping[str, Any]) -> Environment:
    """Return the site's environment with these driver settings."""
    addresses = {name: f"10.41.0.{last}" for name, last in (("db01", 12), ("login01", 13), ("nfs01", 14), ("gw01", 1))}
    return environment(
        {
            ("onprem", "cidr"): str(ONPREM),
            ("onprem", "nodes", 0, "address"): NODES["dgx01"],
            ("onprem", "addresses"): {**addresses, "ctl01": "10.41.0.11", "mlops01": "10.41.0.15"},
            ("onprem", "driver"): dict(driver),
            ("aws", "cidr"): "10.81.0.0/16",
            ("aws", "pools"): [],
            ("link",): REMOVED,
            ("scheduler", "accounts"): REMOVED,
        }
    )


@dataclass(frozen=True)
class Fleet:
    """The nodes, with their operators' commands."""

    lab: Layout
    folder: Path
    packages: Repository

    def run(self, node: str, command: str) -> str:
        completed = nodes.exec(self.lab, node, [command])
        assert completed.returncode == 0, f"{node}: {command}: {completed.stderr}{completed.stdout}"
        return str(completed.stdout).strip()

    def version(self, node: str, package: str) -> str:
        """Return the installed release, without Debian's revision."""
        return self.run(node, f"dpkg-query -W -f '${{Version}}' {package}").partition("-")[0]

    def loaded(self, node: str) -> set[str]:
        """Return the versions of the loaded driver, one per GPU, without duplicates."""
        versions = self.run(node, "nvidia-smi --query-gpu=driver_version --format=csv,noheader,nounits")
        return set(versions.splitlines())

    def state(self, node: str) -> str:
        return self.run("dgx01", f"sinfo -h -N -n {node} -o %T").splitlines()[0]

    def wait_state(self, node: str, expected: str) -> None:
        """Wait until Slurm shows the node in this state."""
        wait_for(
            f"{node} to be {expected}",
            lambda: self.state(node),
            lambda state: state == expected,
            details=lambda: self.run("dgx01", f"scontrol show node {node}; squeue --all"),
        )

    def wait_drained(self, node: str) -> None:
        """Wait until slurmctld answers after a restart and shows the node drained and registered."""
        wait_for(
            f"{node} to register",
            lambda: nodes.exec(self.lab, "dgx01", [f"sinfo -h -N -n {node} -o %T"]).stdout,
            lambda state: state.strip() in ("drained", "down"),
        )

    def converge(
        self,
        driver: Mapping[str, Any],
        *words: str,
        host_variables: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Played:
        """Run the roles with `host_variables` of single hosts; the result contains failures."""
        return play(self.lab, self.folder, DRIVER, self._inventory(driver, host_variables or {}), *words)

    def configure(self, driver: Mapping[str, Any], host_variables: Mapping[str, Mapping[str, Any]]) -> Played:
        """Run the driver's plays of site.yml, which drain nodes in service last and a few at a time."""
        data = self._inventory(driver, host_variables)
        data["all"]["vars"] |= {"landbridge_base": False, "landbridge_secrets": str(self.folder / "secrets")}
        words = ("--tags", "driver", "--limit", ",".join(NODES))
        return play(self.lab, self.folder, ROOT / "ansible/site.yml", data, *words)

    def _inventory(self, driver: Mapping[str, Any], host_variables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        mirror = self.packages.address(OPERATOR, "debian13")
        data = inventory(site_environment({"mirror": mirror, **driver}))
        data["all"]["vars"] |= connection(self.lab)
        for host, variables in host_variables.items():
            data["_meta"]["hostvars"][host] |= variables
        return data
