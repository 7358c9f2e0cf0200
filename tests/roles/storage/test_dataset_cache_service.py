"""Role dataset_cache on a node: its hardened service, datasets with the rights of users, and a lost disk."""

import sys
from collections.abc import Iterator

import pytest

from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.storage.dataset_cache_lab import ROOT, SCRATCH, CacheLab
from tests.roles.storage.dataset_cache_lab import SITE as MOUNT
from tests.roles.storage.dataset_cache_node import staged
from tests.roles.storage.storage_lab import CLIENT, SITE, Storage

pytestmark = [pytest.mark.lab, pytest.mark.long]
UNIT = "landbridge-dataset-cache"
PATH = "landbridge-data path corpus:v1"
SIZES = [20_000_000, 5_000_000, 0, 70]
#: SHA-256 of all files of a dataset in the order of their names, without the program's own.
SUMS = "find part-* -type f -print0 | sort -z | xargs -0 sha256sum"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CacheLab]:
    lab = layout("landbridge-test-dataset-cache")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE, lambda line: print(f"  {line}", file=sys.stderr))
        ready = CacheLab(Storage(lab, tmp_path_factory.mktemp("cache")))
        ready.settle()
        site = tmp_path_factory.mktemp("site")
        for data_class in ("internal", "restricted"):
            staged(site, "corpus", SIZES, data_class)
            ready.send(site / data_class, data_class)
        ready.configure("--check", "--diff").good()
        ready.configure().good()
        yield ready
    finally:
        cleanup.down(lab)


def cached(node: CacheLab, data_class: str) -> list[str]:
    return node.run(f"ls {ROOT}/{data_class}").split()


def test_a_second_run_changes_nothing_and_the_service_runs(node: CacheLab) -> None:
    second_run = node.configure().good()
    assert second_run.changed[CLIENT] == 0, second_run.one_line
    assert node.run(f"systemctl is-active {UNIT}; systemctl is-enabled {UNIT}") == "active\nenabled"


def test_jobs_read_the_copy_and_not_the_site(node: CacheLab) -> None:
    folder = node.job(1, "alice", PATH)
    assert folder.startswith(f"{ROOT}/internal/"), folder + node.run(f"journalctl -u {UNIT} -n 30 --no-pager")
    sums = node.job(1, "alice", f"cd {MOUNT}/internal/corpus/v1 && {SUMS}")
    assert sums.count("\n") == len(SIZES) - 1 and node.job(2, "alice", PATH) == folder
    # Without the site's files.
    node.run(f"mv {MOUNT}/internal/corpus/v1/part-0 {MOUNT}/internal/part-0")
    try:
        assert node.job(2, "alice", f"cd $({PATH}) && {SUMS}") == sums
    finally:
        node.run(f"mv {MOUNT}/internal/part-0 {MOUNT}/internal/corpus/v1/part-0")


def test_a_user_gets_only_datasets_of_the_own_group(node: CacheLab) -> None:
    folder = node.job(1, "alice", PATH)
    # carol is not of the lab: neither the service nor the folder gives it to her, and alice gets none of the clinic.
    refused = node.job(3, "carol", PATH)
    assert "Permission denied" in refused and ROOT not in refused.splitlines()[-1]
    assert "Permission denied" in node.job(3, "carol", f"ls {folder}")
    assert "Permission denied" in node.job(1, "alice", PATH, "restricted")
    # A process outside of a job.
    outside = node.run(
        f"setpriv --reuid=alice --regid=alice --init-groups env LANDBRIDGE_DATA_CLASS=internal {PATH} 2>&1"
    )
    assert "not a process of a Slurm job" in outside and outside.splitlines()[-1] == f"{MOUNT}/internal/corpus/v1"
    assert "Permission denied" in node.job(4, "alice", f"echo x > {folder}/written")
    for job in (3, 4):
        node.end(job)


def test_data_of_a_class_that_is_not_kept_leave_the_disk_with_the_last_job(node: CacheLab) -> None:
    folder = node.job(5, "carol", PATH, "restricted")
    assert folder.startswith(f"{ROOT}/restricted/"), folder
    node.run(f"systemctl restart {UNIT}")
    assert node.job(5, "carol", PATH, "restricted") == folder
    node.end(5)
    wait_for("the removal", lambda: cached(node, "restricted"), lambda names: names == [])
    assert len(cached(node, "internal")) == 1


def test_a_killed_service_starts_again_and_jobs_read_meanwhile(node: CacheLab) -> None:
    folder, show = node.job(1, "alice", PATH), f"systemctl show --value -p MainPID {UNIT}"
    former = node.run(show)
    node.run(f"systemctl kill --signal=KILL {UNIT}")
    assert node.job(1, "alice", PATH).splitlines()[-1] in (folder, f"{MOUNT}/internal/corpus/v1")
    wait_for(
        "the service",
        lambda: (node.run(show), node.job(1, "alice", PATH)),
        lambda state: state[0] not in (former, "0") and state[1] == folder,
    )


def test_without_the_disk_jobs_read_from_the_site_and_the_system_disk_stays_empty(node: CacheLab) -> None:
    node.run(f"systemctl stop {UNIT}; umount {SCRATCH}; systemctl start {UNIT}; true")
    output = node.job(1, "alice", PATH)
    assert output.splitlines()[-1] == f"{MOUNT}/internal/corpus/v1" and "is read from the site" in output
    assert node.run(f"ls -A {SCRATCH}") == ""
    node.mount()
    node.run(f"systemctl start {UNIT}")
    assert node.job(1, "alice", PATH).startswith(f"{ROOT}/internal/")
