"""Variables of the role nvidia_driver on hosts of other systems, from recorded package lists: kernel flavours, names, addresses."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from landbridge.catalog import gpu_stack, platforms
from landbridge.environment.onprem.driver import Driver
from landbridge.plan.roles.nodes.nvidia_driver import software

ROLE = Path(__file__).parents[3] / "ansible/roles/nvidia_driver"
#: Release of the driver, and the end of the names of Fabric Manager, NSCQ and IMEX in NVIDIA's repository.
RELEASES = {"570.172.08": "-570", "580.159.04": "", "610.43.02": ""}
SHOWN = ("flavours", "headers", "kernel_packages", "every_package", "uris")


@dataclass(frozen=True)
class Host:
    """Recorded facts of a host: its system, the kernels in dpkg's list, the running one, and the role's variables.

    `expected` are the flavours of its kernels.
    """

    kernel: str
    packages: tuple[str, ...]
    expected: tuple[str, ...]
    system: str = "Ubuntu-24.04"
    architecture: str = "x86_64"
    driver: Driver = field(default_factory=Driver)

    def installed(self) -> dict[str, str]:
        return dict.fromkeys((*self.packages, f"linux-image-{self.kernel}", "linux-firmware", "linux-base"), "1")


def metas(flavour: str) -> tuple[str, ...]:
    """Return the meta packages of a kernel flavour of Ubuntu."""
    return f"linux-{flavour}", f"linux-image-{flavour}", f"linux-headers-{flavour}"


# Kernels and their meta packages, as in Ubuntu's archive (noble, 2026-11-25; 64k: on Arm only) and Debian's.
HOSTS = {
    "generic": Host("6.8.0-88-generic", metas("generic"), ("generic",)),
    "hwe": Host("6.17.0-19-generic", metas("generic-hwe-24.04"), ("generic-hwe-24.04",)),
    "both": Host(
        "6.8.0-88-generic", (*metas("generic"), *metas("generic-hwe-24.04")), ("generic", "generic-hwe-24.04")
    ),
    "nvidia": Host("6.8.0-1040-nvidia", metas("nvidia"), ("nvidia",)),
    "grace": Host(
        "6.14.0-1011-nvidia-64k", metas("nvidia-64k-hwe-24.04"), ("nvidia-64k-hwe-24.04",), architecture="aarch64"
    ),
    "signed": Host(
        "6.8.0-1040-nvidia",
        metas("nvidia"),
        ("nvidia",),
        driver=Driver(repository="distribution", secure_boot="signed"),
    ),
    "older": Host("6.8.0-88-generic", metas("generic"), ("generic",), driver=Driver(branch="570")),
    "no package": Host("6.12.0-custom", (), ()),
    "debian": Host("6.12.57+deb13-amd64", ("linux-image-amd64",), ("amd64",), system="Debian-13"),
    "debian cloud": Host(
        "6.12.57+deb13-cloud-amd64", ("linux-image-cloud-amd64",), ("cloud-amd64",), system="Debian-12"
    ),
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, Any]]:
    """Return the role's variables on each host, from one run of Ansible."""
    folder = tmp_path_factory.mktemp("variables")
    plays = []
    for name, host in HOSTS.items():
        stack = software(host.driver, platforms()["dgx-h100"])
        variables = {
            "ansible_facts": {"architecture": host.architecture},
            "nvidia_driver_installed_versions": host.installed(),
            "nvidia_driver_running_kernel": {"stdout": host.kernel},
            "nvidia_driver_branch": stack.branch,
            "nvidia_driver_version": stack.version,
            "nvidia_driver_repository": host.driver.repository,
            "nvidia_driver_locked": list(stack.locked),
        }
        content = {key: f"{{{{ nvidia_driver_{key} }}}}" for key in SHOWN}
        task = {"ansible.builtin.copy": {"dest": f"{folder}/{name}.json", "content": content}, "vars": variables}
        files = [str(ROLE / part) for part in ("defaults/main.yml", "vars/main.yml", f"vars/{host.system}.yml")]
        plays.append({"hosts": "localhost", "gather_facts": False, "vars_files": files, "tasks": [task]})
    for release in RELEASES:
        content = {"suffix": "{{ nvidia_fabric_suffix }}", "subnet": "{{ nvidia_fabric_subnet_packages }}"}
        copied = {"ansible.builtin.copy": {"dest": f"{folder}/{release}.json", "content": content}}
        task = {**copied, "vars": {"nvidia_fabric_release": release}}
        files = [str(ROLE.with_name("nvidia_fabric") / "vars/main.yml")]
        plays.append({"hosts": "localhost", "gather_facts": False, "vars_files": files, "tasks": [task]})
    book = folder / "play.yml"
    book.write_text(json.dumps(plays))
    program = Path(sys.executable).with_name("ansible-playbook")
    run = [str(program), "-i", "localhost,", "-c", "local", str(book)]
    completed = subprocess.run(run, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in (*HOSTS, *RELEASES)}


@pytest.mark.parametrize("name", HOSTS)
def test_every_flavour_of_the_host_has_headers_and_is_held(shown: Mapping[str, Any], name: str) -> None:
    host, variables = HOSTS[name], shown[name]
    assert variables["flavours"] == list(host.expected)
    assert set(variables["kernel_packages"]) == set(host.packages)
    source = gpu_stack().systems[host.system][host.driver.repository]
    headers = {f"linux-headers-{flavour}" for flavour in host.expected} | {f"linux-headers-{host.kernel}"}
    # Canonical's modules are built with each kernel, on no host.
    assert set(variables["headers"]) == (headers if source.headers else set())


@pytest.mark.parametrize("name", HOSTS)
def test_the_role_and_the_plan_name_the_same_packages(shown: Mapping[str, Any], name: str) -> None:
    host = HOSTS[name]
    stack = software(host.driver, platforms()["dgx-h100"])
    source = gpu_stack().systems[host.system][host.driver.repository]
    planned = stack.packages(source, (host.expected or ("generic",))[0])
    assert set(planned) <= set(shown[name]["every_package"])
    assert len(planned) == len(shown[name]["every_package"])


def test_modules_of_canonical_and_the_repository_are_those_of_the_hosts_kernel_and_processor(
    shown: Mapping[str, Any],
) -> None:
    assert "linux-modules-nvidia-580-server-open-nvidia" in shown["signed"]["every_package"]
    assert shown["grace"]["uris"].endswith("/ubuntu2404/sbsa/") and shown["nvidia"]["uris"].endswith("/x86_64/")


@pytest.mark.parametrize("release", RELEASES)
def test_missing_fabric_packages_have_the_names_of_the_drivers_branch(shown: Mapping[str, Any], release: str) -> None:
    assert shown[release]["suffix"] == RELEASES[release]
