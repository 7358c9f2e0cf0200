"""One release of Slurm on every host: the planned one is installed, held, and replaced only by the role.

The packages are empty; the repository is what `landbridge packages slurm` writes, with two releases and two systems.
"""

import base64
import io
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan.slurm.packages import slurm_packages
from landbridge.realise.slurm_packages.repository import Added, add
from landbridge.realise.slurm_packages.sign import sign
from sandbox.hardware.packages.deb import Package
from sandbox.hardware.packages.repository import index
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, plan
from tests.roles.ansible_run import Played, connection, play
from tests.unit.core.samples import environment

pytestmark = [pytest.mark.lab]

ADDRESS = "10.54.0.11"
SITE = plan(IPv4Network("10.54.0.0/16"), IPv4Network("10.94.0.0/16"), None, (Machine("all01", ADDRESS),))
PLAYS = [{"hosts": "all", "gather_facts": False, "roles": ["slurm_common"]}]


def repository(folder: Path) -> tuple[bytes, str]:
    """Return a signed repository as an archive, and its public key."""
    for codename in ("trixie", "noble"):
        for release in ("24.11.5", "24.11.6"):
            output = folder / f"{codename}-{release}"
            output.mkdir(parents=True)
            version = f"{release}-1+landbridge1~{codename}"
            packages = [
                Package("slurm-smd", version, files={"/etc/slurm/README": ""}),
                Package("slurm-smd-client", version, {"Depends": f"slurm-smd (= {version})"}),
            ]
            rows = [(package, package.archive()) for package in packages]
            for package, data in rows:
                (output / package.file_name).write_bytes(data)
            (output / "Packages").write_text(index(rows))
            added = Added(codename, release, "amd64")
            # Not below the test's folder: the path of a socket may have 107 characters at most.
            with tempfile.TemporaryDirectory(prefix="lb-keys-") as home:
                keys = folder / "keys"
                keys.mkdir(exist_ok=True)
                Path(home, "keys").symlink_to(keys)
                sign(add(folder / "slurm", added, output), Path(home, "keys"), folder / "slurm/key.asc")
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        archive.add(folder / "slurm", "slurm")
    return target.getvalue(), (folder / "slurm/key.asc").read_text()


@dataclass(frozen=True)
class Host:
    """The host, with its operator's commands."""

    lab: Layout
    folder: Path
    key: str

    def run(self, command: str) -> str:
        completed = nodes.exec(self.lab, "all01", [command], timeout=120)
        assert completed.returncode == 0, f"{command}: {completed.stderr}{completed.stdout}"
        return str(completed.stdout).strip()

    def converge(self, release: str | None, *words: str) -> Played:
        slurm: dict[str, Any] = {"version": "24.11", "packaging": "schedmd", "packages_mirror": "http://127.0.0.1/x"}
        slurm |= {"packages_key": self.key, "release": release}
        variables = slurm_packages(environment({("scheduler", "slurm"): slurm}))
        variables["slurm_common_repository"]["uris"] = "file:/srv/slurm"
        variables |= {"slurm_common_auth": "slurm", "slurm_common_key": "k" * 64, **connection(self.lab)}
        hosts = {"all": {"hosts": {"all01": {"ansible_host": ADDRESS}}, "vars": variables}}
        return play(self.lab, self.folder, PLAYS, hosts, *words)

    def versions(self) -> set[str]:
        return set(self.run("dpkg-query -W -f '${Version}\\n' slurm-smd slurm-smd-client").splitlines())

    def held(self) -> set[str]:
        return set(self.run("apt-mark showhold").split())


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    lab = layout("landbridge-slurm-release")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        archive, key = repository(tmp_path_factory.mktemp("repository"))
        started = Host(lab, tmp_path_factory.mktemp("release"), key)
        text = base64.b64encode(archive).decode()
        started.run(f"echo {text} | base64 -d | tar -C /srv -xz && chmod -R a+rX /srv/slurm")
        yield started
    finally:
        cleanup.down(lab)


def test_the_release_of_the_catalogue_is_installed_and_held_although_a_newer_one_exists(host: Host) -> None:
    host.converge(None).good()
    assert host.versions() == {"24.11.5-1+landbridge1~trixie"}, "not the newest, and not Ubuntu's"
    assert host.held() == {"slurm-smd", "slurm-smd-client"}
    assert host.converge(None).good().changed == {"all01": 0}
    # Simulated: the lab's sources have Debian testing, which would replace the C library.
    planned = host.run("apt-get --simulate dist-upgrade")
    assert "Inst slurm" not in planned and "slurm-smd" in planned.partition("kept back")[2], planned


UNIT = "[Service]\nExecStart=/usr/bin/sleep infinity\n"


def test_a_new_release_in_the_file_replaces_the_held_one_and_restarts_the_daemon(host: Host) -> None:
    # slurmd of the old release cannot start jobs with the new slurmstepd on the disk.
    host.run(f"printf '{UNIT}' > /run/systemd/system/slurmd.service; systemctl start slurmd".replace("\n", "\\n"))
    before = host.run("systemctl show -P MainPID slurmd")
    host.converge("24.11.6").good()
    after = host.run("systemctl show -P MainPID slurmd")
    assert after not in (before, "0")
    assert host.versions() == {"24.11.6-1+landbridge1~trixie"}
    assert host.held() == {"slurm-smd", "slurm-smd-client"}
    assert host.converge("24.11.6").good().changed == {"all01": 0}
    assert host.run("systemctl show -P MainPID slurmd") == after


def test_a_release_that_the_sources_lack_is_an_error_with_the_remedy(host: Host) -> None:
    failed = host.converge("24.11.9")
    assert failed.code != 0 and "scheduler.slurm.release" in failed.one_line and "24.11.9" in failed.one_line
    assert host.versions() == {"24.11.6-1+landbridge1~trixie"}
