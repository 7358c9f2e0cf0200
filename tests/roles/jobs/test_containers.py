"""Containers in real jobs: whose limits hold in them, which devices they can open, where their images come from."""

import json
import sys
from collections.abc import Iterator

import pytest

from landbridge.catalog.hardware.containers import container_facts
from sandbox.demo.cluster import ClusterError, LabCluster, wait_for
from sandbox.hardware.packages import repository
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.jobs.containers_lab import DEVICES, NAME, Containers, give_plugin, know_nvidia, publish, site

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]
ROLES = [("dgx01", ["enroot_pyxis", "podman", "apptainer", "gds"])]
QUIET = ("env", "PODMAN_IGNORE_CGROUPSV1_WARNING=1")
RUN = (*QUIET, "podman", "run", "--rm", "--quiet")


def in_service(cluster: LabCluster) -> None:
    """Wait until the node is idle."""
    wait_for(
        "the node in service",
        lambda: cluster.run("ctl01", "sinfo", "--noheader", "--format=%T").strip(),
        lambda state: state == "idle",
        details=lambda: cluster.run("ctl01", "scontrol", "show", "node"),
    )


@pytest.fixture(scope="module")
def site_with_containers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Containers]:
    lab = layout("landbridge-test-containers")
    cleanup.down(lab)
    try:
        whole.up(lab, site(), lambda line: print(f"  {line}", file=sys.stderr))
        cluster = LabCluster(lab)
        packages = repository.publish(lab)
        found = Containers(cluster, tmp_path_factory.mktemp("containers"), "26.05", publish(cluster), packages)
        for node in ("ctl01", "dgx01"):
            give_plugin(cluster, node, "26.05")
        know_nvidia(cluster, packages)
        # A bare host can be looked at, and nothing is there afterwards.
        assert found.converge("--check", "--diff", plays=ROLES).good().changed["dgx01"] > 10
        with pytest.raises(ClusterError):
            cluster.run("dgx01", "ls", "/etc/containers")
        found.converge().good()
        cluster.put("dgx01", "/etc/cdi/nvidia.json", json.dumps(DEVICES).encode(), "root")
        in_service(cluster)
        yield found
    finally:
        cleanup.down(lab)


def test_a_job_runs_in_an_image_by_its_digest_from_the_cache(site_with_containers: Containers) -> None:
    found = site_with_containers
    script = "podman run --rm --quiet $(cat /etc/landbridge/images/tiny) sh -c 'cat /etc/os-release; id -u'"
    assert found.srun(*QUIET, "sh", "-c", script) == 'PRETTY_NAME="a tiny image"\n0\n'
    # The registry itself cannot be reached from here: the cache on the controller had it.
    stored = found.srun(*QUIET, "podman", "images", "--digests", "--noheading")
    assert NAME in stored and found.digest in stored
    # Another user has nothing of it: folders are their users' alone.
    with pytest.raises(ClusterError, match="Permission denied"):
        found.cluster.run("dgx01", "ls", "/export/containers/podman/20001", user="bob")
    with pytest.raises(ClusterError, match=r"manifest unknown|not found"):
        found.srun(*RUN, f"{NAME}@sha256:{'0' * 64}", "id")


def test_a_container_sees_the_jobs_gpus_and_no_others(site_with_containers: Containers) -> None:
    found = site_with_containers
    ask = "for number in 0 1 2 3 4 5 6 7; do head -c1 /dev/nvidia$number; done 2>&1; true"
    said = found.srun(
        *RUN, "--device=nvidia.com/gpu=all", f"{NAME}@{found.digest}", "sh", "-c", ask, options=("--gres=gpu:h100:2",)
    )
    # The driver that is not there answers who may open a device; who may not is stopped before.
    assert said.count("No such device") == 2 and said.count("Operation not permitted") == 6


def test_a_containers_memory_is_the_jobs(site_with_containers: Containers) -> None:
    found = site_with_containers
    with pytest.raises(ClusterError, match=r"(?i)oom|out of memory|137|killed"):
        found.srun(*RUN, f"{NAME}@{found.digest}", "sh", "-c", "head -c 400M /dev/zero | tail", options=("--mem=100",))


def test_what_a_container_writes_belongs_to_the_job_s_user(site_with_containers: Containers) -> None:
    found = site_with_containers
    found.srun(*RUN, "--volume=/home/alice:/data", f"{NAME}@{found.digest}", "touch", "/data/result")
    assert found.cluster.run("dgx01", "stat", "--format=%U", "/home/alice/result").strip() == "alice"


def test_nothing_of_a_container_outlives_its_job(site_with_containers: Containers) -> None:
    found = site_with_containers
    words = ("sbatch", "--parsable", "--time=2", "--mem=200", "--chdir=/tmp", "--output=/tmp/%j.out", "--wrap")
    command = " ".join((*RUN, "--detach", f"{NAME}@{found.digest}", "sleep", "4747"))
    number = found.cluster.run("ctl01", *words, f"{command}; sleep 1", user="alice").strip()
    listed = ("squeue", "-h", "-j", number)
    wait_for("the job's end", lambda: found.cluster.run("ctl01", *listed), lambda lines: lines == "")
    said = found.cluster.run("dgx01", "ps", "-u", "alice", "-o", "args=") if _processes(found) else ""
    assert said == ""
    in_service(found.cluster)


def _processes(found: Containers) -> bool:
    return found.cluster.run("dgx01", "sh", "-c", "ps -u alice -o pid= || true").strip() != ""


def test_deepops_942_srun_starts_the_kinds_of_mpi_that_the_catalogue_says(site_with_containers: Containers) -> None:
    found = site_with_containers
    said = found.cluster.run("ctl01", "sh", "-c", "srun --mpi=list 2>&1")
    kinds = {line.strip() for line in said.splitlines() if line.startswith(("\t", " "))} - {""}
    assert {kind.partition("_v")[0] for kind in kinds} & {"none", "pmi2", "pmix"} == set(
        container_facts().mpi[found.release]
    )


def test_deepops_1303_ranks_in_containers_know_each_other_without_any_mpi(site_with_containers: Containers) -> None:
    found = site_with_containers
    ask = 'echo "$SLURM_PROCID of $SLURM_NTASKS"'
    said = found.srun(*RUN, "--env=SLURM_*", f"{NAME}@{found.digest}", "sh", "-c", ask, options=("--ntasks=2",))
    assert sorted(said.splitlines()) == ["0 of 2", "1 of 2"]


def test_packages_that_no_distribution_carries_come_from_the_sites_own_repository(
    site_with_containers: Containers,
) -> None:
    run = site_with_containers.cluster.run
    names = ("enroot", "enroot+caps", "nvslurm-plugin-pyxis", "apptainer", "nvidia-gds", "nvidia-fs-dkms")
    said = run("dgx01", "dpkg-query", "--show", "--showformat=${Package} ${db:Status-Abbrev}\n", *names)
    assert sorted(said.split()) == sorted([*names, *("ii",) * len(names)])
    assert "ENROOT_RESTRICT_DEV yes" in run("dgx01", "cat", "/etc/enroot/enroot.conf.d/50-site.conf")
    assert run("dgx01", "cat", "/etc/landbridge/images/tiny.enroot").startswith("nvcr.io#test/tiny@sha256:")
    conf = run("dgx01", "cat", "/etc/apptainer/apptainer.conf").splitlines()
    assert "mount hostfs = no" in conf and "sessiondir max size = 1024" in conf and "mount home = yes" in conf
    assert json.loads(run("dgx01", "cat", "/etc/cufile.json"))["properties"] == {"allow_compat_mode": True}
    # A job's prolog made its user's folders, and nobody else's.
    assert (
        run("dgx01", "ls", "/export/containers/enroot", "/export/containers/apptainer", "/run/enroot").count("20001")
        == 3
    )


def test_a_second_run_changes_nothing_and_neither_does_a_look(site_with_containers: Containers) -> None:
    assert site_with_containers.converge().good().changed == {"ctl01": 0, "dgx01": 0}
    assert site_with_containers.converge("--check", "--diff", plays=ROLES).good().changed == {"dgx01": 0}


def test_pyxis_of_another_slurm_is_found_before_jobs_are(site_with_containers: Containers) -> None:
    """The plugin's package does not say for which Slurm it was built; Slurm ends every job where it was another."""
    found = site_with_containers
    assert found.srun("hostname") == "dgx01\n", "jobs run where the plugin is the right one"
    give_plugin(found.cluster, "dgx01", "24.11")
    try:
        refused = found.converge(plays=ROLES)
        assert refused.code != 0 and "built for Slurm 24.11, and this host has 26.05" in refused.said
        with pytest.raises(ClusterError):
            found.srun("hostname")
    finally:
        give_plugin(found.cluster, "dgx01", "26.05")
        found.cluster.run("ctl01", "sh", "-c", "scontrol update nodename=dgx01 state=resume 2>/dev/null || true")
        in_service(found.cluster)
    assert found.srun("hostname") == "dgx01\n"
