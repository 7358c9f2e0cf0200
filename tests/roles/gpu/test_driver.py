"""NVIDIA's driver, installed by the real apt: one release of one repository, upgraded as a whole, never during jobs."""

from collections.abc import Iterator

import pytest

from landbridge import yaml_text
from landbridge.catalog import gpu_stack
from sandbox.hardware.packages.repository import publish
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from sandbox.nspawn.machine import nodes
from tests.roles.ansible_run import Played
from tests.roles.gpu.driver_lab import NODES, NVLINK_5, SITE, SLURM, Fleet

pytestmark = [pytest.mark.lab]
OLD, NEW = "580.95.05", "580.159.04"
MACHINE = "/usr/local/lib/lab/hardware/machine.json"
OWNER = {"nvidia_driver_secure_boot": "mok", "nvidia_driver_mok_password": "once-only"}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Yield new nodes: no driver, and no NVIDIA repository."""
    lab = layout("landbridge-driver")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        fleet = Fleet(lab, tmp_path_factory.mktemp("driver"), publish(lab))
        for name in NODES:
            fleet.run(name, f'sed -i \'s/"driver": .*/"driver": null,/\' {MACHINE}')
        yield fleet
    finally:
        cleanup.down(lab)


@pytest.fixture(scope="module")
def checked(bare: Fleet) -> tuple[Played, str]:
    """Run a check on a bare host; return the run and the host's files and packages afterwards."""
    ran = bare.converge({"version": OLD}, "--check", "--diff", "--limit", "dgx02")
    return ran, bare.run("dgx02", "ls /etc/apt/preferences.d /etc/apt/sources.list.d; dpkg -l | grep -c nvidia || true")


@pytest.fixture(scope="module")
def fleet(bare: Fleet, checked: tuple[Played, str]) -> Fleet:
    """Return the nodes with a driver, one of them in a cluster."""
    bare.run("dgx02", NVLINK_5)
    nvlink_5 = {"nvidia_fabric_subnet_manager": True, "nvidia_driver_beside": ["subnet_manager"]}
    ran = bare.converge({"version": OLD}, host_variables={"dgx02": nvlink_5})
    assert ran.code == 0, ran.text[-3000:]
    bare.run("dgx01", SLURM)
    bare.wait_state("dgx01", "idle")
    return bare


@pytest.fixture(scope="module")
def again(fleet: Fleet) -> Played:
    """Run a second time; one host now has a second source of the driver, as cuda-keyring adds one."""
    source = "deb http://mirror.example.org/compute/cuda/repos/debian13/x86_64/ /"
    # DGX OS has such a source, too, and says in this file that it is not Ubuntu.
    fleet.run("dgx02", f"echo '{source}' > /etc/apt/sources.list.d/cuda.list; touch /etc/dgx-release")
    ran = fleet.converge({"version": OLD})
    fleet.run("dgx02", "rm /etc/apt/sources.list.d/cuda.list /etc/dgx-release")
    return ran


@pytest.fixture(scope="module")
def upgraded(fleet: Fleet, again: Played) -> tuple[Played, int, str]:
    """Configure a newer release while a job runs: one node may be drained for it, the other may not."""
    fleet.run("dgx01", "mkdir -p /var/lib/lab && echo '{\"secure_boot\": true}' > /var/lib/lab/firmware.json")
    # The job writes this file at its end: a killed job does not.
    job = fleet.run("dgx01", "sbatch --parsable -o /dev/null --wrap 'sleep 8; date +%s > /var/tmp/job-ended'")
    drained = {"nvidia_driver_reboot": "drained", "node_restart_policy": "drained", **OWNER}
    # A machine that needs longer for its restart than the role waits.
    slow = {"dgx01": {**drained, "nvidia_driver_reboot_timeout": 1}}
    timed_out = fleet.configure({"version": NEW}, slow)
    assert timed_out.counts["dgx01"]["failed"] == 1, timed_out.text[-3000:]
    assert "recognises its own drain" in timed_out.one_line
    nodes.wait_ssh(fleet.lab, ["dgx01"])
    fleet.wait_drained("dgx01")
    assert f"Reason=landbridge: configure: driver {NEW} is installed" in fleet.run("dgx01", "scontrol show node dgx01")
    ran = fleet.configure({"version": NEW}, {"dgx01": drained})
    assert ran.code == 0, ran.text[-3000:]
    return ran, int(fleet.run("dgx01", "cat /var/tmp/job-ended")), job


@pytest.fixture(scope="module")
def afterwards(fleet: Fleet, upgraded: tuple[Played, int, str]) -> Played:
    """On one node the fabric's settings change; on the other an operator has upgraded only Fabric Manager."""
    command = f"apt-get -qq --allow-change-held-packages install nvidia-fabricmanager={NEW}-1"
    fleet.run("dgx02", f"DEBIAN_FRONTEND=noninteractive {command}; mv /var/tmp/joined /var/tmp/joined-before")
    host_variables = {"dgx01": {"nvidia_driver_version": NEW, "nvidia_fabric_settings": {"LOG_LEVEL": 3}, **OWNER}}
    return fleet.converge({"version": OLD}, host_variables=host_variables)


def test_a_check_of_a_bare_host_changes_nothing(checked: tuple[Played, str]) -> None:
    ran, state = checked
    assert ran.code == 0, ran.text[-3000:]
    assert "nvidia-driver" not in state and "nvidia-cuda" not in state and state.endswith("0")


def test_a_bare_host_ends_with_one_release_on_disk_and_in_the_kernel(fleet: Fleet, again: Played) -> None:
    assert again.changed["dgx01"] == 0 and again.counts["dgx01"]["failed"] == 0, again.text[-3000:]
    for node in NODES:
        assert fleet.loaded(node) == {OLD}
        parts = ("nvidia-driver-cuda", "nvidia-kernel-open-dkms", "libcuda1", "nvidia-fabricmanager", "libnvidia-nscq")
        assert {fleet.version(node, name) for name in parts} == {OLD}
        assert fleet.run(node, "systemctl is-active nvidia-fabricmanager") == "active"


def test_canvos_700_fabric_manager_of_nvlink_5_starts_in_the_first_run(fleet: Fleet) -> None:
    # The driver's restart comes before it; at that boot Fabric Manager refused.
    assert fleet.run("dgx02", "systemctl is-active nvidia-fabricmanager; ls /run/lab-modules") == "active\nib_umad"
    assert fleet.run("dgx02", "cat /etc/modules-load.d/nvlsm.conf") == "ib_umad"
    assert fleet.version("dgx02", "nvlsm")


def test_the_newest_branch_is_not_taken_and_the_kernel_is_held_with_the_driver(fleet: Fleet, again: Played) -> None:
    # 590 is in the same repository, and the meta-package's dependencies would take it.
    listed = fleet.run("dgx02", "apt-cache madison nvidia-driver-cuda")
    assert "590.48.01-1" in listed
    assert "nvidia" not in fleet.run("dgx02", "apt-get -s dist-upgrade | grep ^Inst || true")
    assert {"nvidia-driver-cuda", "nvidia-fabricmanager", "linux-headers-amd64"} <= set(
        fleet.run("dgx02", "apt-mark showhold").split()
    )
    # The pin alone suffices for packages that are not installed yet.
    assert f"Candidate: {OLD}-1" in fleet.run("dgx02", "apt-cache policy nvidia-imex")


def test_driver_role_28_33_a_new_pin_upgrades_packages_that_the_old_one_held(
    fleet: Fleet, upgraded: tuple[Played, int, str]
) -> None:
    # "held broken packages": the old version's pin and hold against the new version's dependencies.
    assert fleet.loaded("dgx01") == {NEW}
    for name in ("nvidia-driver-cuda", "libcuda1", "nvidia-fabricmanager", "libnvidia-nscq", "nvidia-kernel-support"):
        assert fleet.version("dgx01", name) == NEW
    assert "nvidia-fabricmanager" in fleet.run("dgx01", "apt-mark showhold").split()


def test_the_driver_changes_after_the_job_ends_and_the_node_resumes(
    fleet: Fleet, upgraded: tuple[Played, int, str]
) -> None:
    _, ended, job = upgraded
    booted = int(fleet.run("dgx01", 'date +%s -d "$(systemctl show --value --property=UserspaceTimestamp)"'))
    assert ended <= booted
    assert "JobState=COMPLETED" in fleet.run("dgx01", f"scontrol show job {job}")
    fleet.wait_state("dgx01", "idle")


def test_a_driver_in_use_is_not_changed_if_no_drain_is_allowed(fleet: Fleet, upgraded: tuple[Played, int, str]) -> None:
    ran, _, _ = upgraded
    assert fleet.loaded("dgx02") == {OLD} and fleet.version("dgx02", "nvidia-driver-cuda") == OLD
    assert f"dgx02 keeps driver {OLD}" in ran.one_line and ran.changed["dgx02"] == 0


def test_nccl_1488_fabric_manager_is_not_restarted_for_a_setting(fleet: Fleet, afterwards: Played) -> None:
    assert afterwards.counts["dgx01"]["failed"] == 0, afterwards.text[-3000:]
    assert "no service is restarted under running jobs" in afterwards.one_line
    assert "LOG_LEVEL=3" in fleet.run("dgx01", "cat /usr/share/nvidia/nvswitch/fabricmanager.cfg")
    # The process is older than the file.
    running = fleet.run("dgx01", "stat -c %Y /proc/$(systemctl show -P MainPID nvidia-fabricmanager)")
    assert int(running) <= int(fleet.run("dgx01", "stat -c %Y /usr/share/nvidia/nvswitch/fabricmanager.cfg"))


def test_gpu_operator_544_one_part_of_another_release_stops_the_host(fleet: Fleet, afterwards: Played) -> None:
    # Slurm's plays come after this one: a node with a wrong driver never joins.
    fleet.run("dgx02", "test -e /var/tmp/joined-before && ! test -e /var/tmp/joined")
    assert afterwards.counts["dgx02"]["failed"] == 1
    assert f"The loaded driver is {OLD}, installed are" in afterwards.one_line and NEW in afterwards.one_line
    fleet.run(
        "dgx02", "! systemctl restart nvidia-fabricmanager || { sleep 1; ! systemctl is-active nvidia-fabricmanager; }"
    )


def test_the_owner_key_is_enrolled_once_and_the_password_is_not_shown(
    fleet: Fleet, upgraded: tuple[Played, int, str], afterwards: Played
) -> None:
    requests = yaml_text.load(fleet.run("dgx01", "cat /var/lib/lab/firmware.json"))["asked"]
    assert requests == [gpu_stack().systems["Debian-13"]["nvidia"].owner_key]
    assert "once-only" not in upgraded[0].text + afterwards.text


def test_a_second_source_of_the_driver_is_refused(again: Played) -> None:
    assert again.counts["dgx02"]["failed"] == 1
    assert "The driver has two sources. Remove /etc/apt/sources.list.d/cuda.list" in again.one_line
    assert "This host has DGX OS, whose driver is kept with os: dgx-os-7" in again.one_line
