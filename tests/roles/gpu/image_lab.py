"""Lab with two hosts without GPUs, as a build of a cloud node's image is: one is Debian 13, one bears Ubuntu's identity.

The second one has Ubuntu 24.04's /etc/os-release and packages with the names of Ubuntu's and NVIDIA's archives for it; its C
library and its apt are Debian's. So it shows the roles' choice of packages, not that they run on Ubuntu.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from landbridge.catalog import images
from landbridge.plan.node_image.node_image import node_image_args
from sandbox.hardware.packages.installers import efa_sha256
from sandbox.hardware.packages.repository import Repository
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, operator_address, plan
from tests.roles.ansible_run import ROOT, Played, connection, play
from tests.unit.core.samples import environment

NAME = "landbridge-gpu-image"
ONPREM = IPv4Network("10.53.0.0/16")
OPERATOR = operator_address(ONPREM)
HOSTS = {"debian": "10.53.0.11", "ubuntu": "10.53.0.12"}
SITE = plan(
    ONPREM,
    IPv4Network("10.93.0.0/16"),
    None,
    tuple(Machine(name, address) for name, address in HOSTS.items()),
)
KERNEL = "6.14.0-1011-aws"
UBUNTU = 'NAME="Ubuntu"\nVERSION_ID="24.04"\nVERSION="24.04.2 LTS (Noble Numbat)"\nVERSION_CODENAME=noble\nID=ubuntu\n'
UBUNTU += 'ID_LIKE=debian\nPRETTY_NAME="Ubuntu 24.04.2 LTS"\n'
GPU_IMAGE = ROOT / "ansible/playbooks/tasks/gpu_image.yml"


def planned(parent: str) -> dict[str, Any]:
    """Return the plan's variables of an image for p5.48xlarge, built on a public image of the catalogue."""
    parameter = images()[parent].parameter_for("x86_64")
    sources = {"node": {"build": {"parent": "base"}}, "base": {"parameter": parameter}}
    site = environment({("aws", "images"): sources, ("aws", "pools", 0, "image"): "node"})
    (image,) = node_image_args(site, {})
    return image.variables


@dataclass(frozen=True)
class Builder:
    """The two hosts, with their operators' commands."""

    lab: Layout
    folder: Path
    packages: Repository

    def run(self, host: str, command: str) -> str:
        completed = nodes.exec(self.lab, host, [command], timeout=300)
        assert completed.returncode == 0, f"{host}: {command}: {completed.stderr}{completed.stdout}"
        return str(completed.stdout).strip()

    def installed(self, host: str) -> dict[str, str]:
        """Return the versions of the installed packages."""
        rows = self.run(host, "dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\\n'").splitlines()
        return {name: version for status, name, version in map(str.split, rows) if status == "installed"}

    def mirrors(self, suite: str) -> dict[str, Any]:
        """Return the variables of package sources: this lab's instead of NVIDIA's and AWS's."""
        beside = self.packages.address(OPERATOR, "debian13").removesuffix("debian13/")
        toolkit = self.packages.address(OPERATOR, "container-toolkit")
        return {
            "nvidia_driver_mirror": self.packages.address(OPERATOR, suite),
            "dcgm_mirror": self.packages.address(OPERATOR, suite),
            "nvidia_container_toolkit_mirror": toolkit,
            "nvidia_container_toolkit_key_url": f"{toolkit}gpgkey",
            "efa_address": f"{beside}efa",
            "efa_sha256": efa_sha256(),
            "gdrcopy_address": f"{beside}gdrcopy",
        }

    def converge(self, host: str, tasks: list[dict[str, Any]], variables: Mapping[str, Any], *words: str) -> Played:
        """Run tasks on one host; the result contains failures."""
        play_of_host = {"hosts": host, "gather_facts": False, "tasks": tasks}
        hosts = {
            "all": {
                "hosts": {host: {"ansible_host": HOSTS[host]}},
                "vars": {**connection(self.lab), **variables},
            }
        }
        return play(self.lab, self.folder, [play_of_host], hosts, *words)

    def image(self, host: str, variables: Mapping[str, Any], *words: str) -> Played:
        """Run the tasks of the image playbook for GPU nodes."""
        return self.converge(host, [{"ansible.builtin.include_tasks": str(GPU_IMAGE)}], variables, *words)


def role(name: str, **variables: Any) -> dict[str, Any]:
    """Return the task that includes a role."""
    return {"ansible.builtin.include_role": {"name": name}, "vars": variables}
