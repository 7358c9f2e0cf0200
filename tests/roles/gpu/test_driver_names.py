"""The driver's packages by operating system: the role's variables, and apt's choice with the role's pins."""

import subprocess
from pathlib import Path
from typing import Any

import jinja2
import pytest

from landbridge import yaml_text
from landbridge.catalog import gpu_stack, platforms
from landbridge.environment.onprem.driver import Driver
from landbridge.plan.roles.nodes.nvidia_driver import software
from sandbox.hardware.packages.repository import index
from sandbox.hardware.packages.rows import suites
from sandbox.nspawn.host.host_packages import find_program

ROOT = Path(__file__).parents[3]
ROLE = ROOT / "ansible/roles/nvidia_driver"
OLDER, OLD, NEW, NEXT = "570.172.08", "580.95.05", "580.159.04", "590.48.01"
#: Operating system, its repository, the sandbox's suite for it, the configured driver, and the expected release.
CASES: list[tuple[str, Any, str, Driver, str]] = [
    ("Debian-13", "nvidia", "debian13", Driver(version=OLD), OLD),
    ("Ubuntu-24.04", "nvidia", "ubuntu2404", Driver(version=OLDER), OLDER),
    ("Ubuntu-24.04", "nvidia", "ubuntu2404", Driver(version=OLD), OLD),
    ("Ubuntu-24.04", "nvidia", "ubuntu2404", Driver(version=NEXT), NEXT),
    ("Ubuntu-24.04", "distribution", "noble", Driver(repository="distribution"), NEW),
]


@pytest.mark.skipif(find_program("apt-get") is None, reason="needs apt")
@pytest.mark.parametrize(("system", "archive", "suite", "driver", "release"), CASES)
@pytest.mark.parametrize("platform", ["dgx-h100", "hgx-a100", "dgx-b200", "gb200-nvl72", "pcie-l40s"])
def test_driver_role_81_72_every_name_is_found_in_one_release(
    tmp_path: Path, system: str, archive: Any, suite: str, driver: Driver, release: str, platform: str
) -> None:
    source = gpu_stack().systems[system][archive]
    stack = software(driver, platforms()[platform])
    prefix = f"{stack.version}-" if stack.version else f"{stack.branch}."
    template = jinja2.Template((ROLE / "templates/preferences.j2").read_text())
    pins = template.render(
        ansible_managed="", nvidia_driver_source=source.model_dump(), nvidia_driver_version_prefix=prefix
    )
    requested = stack.packages(source)
    planned = simulate(
        tmp_path, suite, pins, [f"{name}={version}-*" if version else name for name, version in requested.items()]
    )
    assert set(requested) <= set(planned)
    # All their dependencies are of the same release.
    versions = {
        name: version for name, version in planned.items() if name.startswith(("nvidia-", "libnvidia-", "libcuda"))
    }
    assert {version.partition("-")[0] for version in versions.values()} == {release}


@pytest.mark.skipif(find_program("apt-get") is None, reason="needs apt")
def test_driver_role_28_a_pin_of_only_the_meta_package_installs_another_branch(tmp_path: Path) -> None:
    # The reason for the pins: users often install it like this.
    planned = simulate(tmp_path, "debian13", "", [f"nvidia-open={OLD}-*"])
    assert planned["nvidia-open"] == f"{OLD}-1" and planned["nvidia-driver-cuda"] == f"{NEXT}-1"


def test_the_roles_systems_are_the_catalogues() -> None:
    files = {path.stem: path for path in (ROLE / "vars").glob("*-*.yml")}
    raw = yaml_text.load((ROOT / "landbridge/catalog/gpu_stack.yaml").read_text())["systems"]
    assert set(files) == set(raw)
    for name, path in files.items():
        assert yaml_text.load(path.read_text())["nvidia_driver_system"] == raw[name]


def simulate(folder: Path, suite: str, pins: str, names: list[str]) -> dict[str, str]:
    """Return the packages that apt would install on an empty system, by name."""
    packages = [(package, package.archive()) for package in suites()[suite]]
    for part in ("lists/partial", "cache/archives/partial", "repository"):
        (folder / part).mkdir(parents=True)
    (folder / "repository/Packages").write_text(index(packages))
    (folder / "list").write_text(f"deb [trusted=yes] file:{folder}/repository ./\n")
    (folder / "pins").write_text(pins)
    (folder / "status").touch()
    options = {
        "Dir::Etc::SourceList": folder / "list",
        "Dir::Etc::SourceParts": folder / "none",
        "Dir::Etc::Preferences": folder / "pins",
        "Dir::Etc::PreferencesParts": folder / "none",
        "Dir::State::Lists": folder / "lists",
        "Dir::State::Status": folder / "status",
        "Dir::Cache": folder / "cache",
        "APT::Architecture": "amd64",
        # apt's own user could not read files that only root may read.
        "APT::Sandbox::User": "root",
    }
    words = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
    subprocess.run(["apt-get", "-qq", *words, "update"], capture_output=True, text=True, check=True)
    completed = subprocess.run(
        ["apt-get", "-s", *words, "install", *names], capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr + completed.stdout
    lines = [line.split() for line in completed.stdout.splitlines() if line.startswith("Inst ")]
    return {line[1]: line[2].lstrip("(") for line in lines}
