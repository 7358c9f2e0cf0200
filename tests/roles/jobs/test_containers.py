"""Containers in real jobs: limits, devices, and the source of images."""

import json
import sys
from collections.abc import Iterator

import pytest

from landbridge.catalog.hardware.containers import container_facts
from landbridge.plan.site.containers import PLUGIN, PLUGIN_LINK
from sandbox.demo.cluster import ClusterError, LabCluster, wait_for
from sandbox.hardware.packages import repository
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.jobs.containers_lab import DEVICES, NAME, Containers, give_plugin, know_nvidia, publish, site

pytestmark = [pytest.mark.lab]
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
        containers = Containers(cluster, tmp_path_factory.mktemp("containers"), "26.05", publish(cluster), packages)
        for node in ("ctl01", "dgx01"):
            give_plugin(cluster, node, "26.05")
        know_nvidia(cluster, packages)
        # A check of a bare host changes nothing.
        assert containers.converge("--check", "--diff", plays=ROLES).good().changed["dgx01"] > 10
        with pytest.raises(ClusterError):
            cluster.run("dgx01", "ls", "/etc/containers")
        containers.converge().good()
        cluster.put("dgx01", "/etc/cdi/nvidia.json", json.dumps(DEVICES).encode(), "root")
        in_service(cluster)
        yield containers
    finally:
        cleanup.down(lab)


def test_a_job_runs_in_an_image_by_digest_from_the_cache(site_with_containers: Containers) -> None:
    containers = site_with_containers
    script = "podman run --rm --quiet $(cat /etc/landbridge/images/tiny) sh -c 'cat /etc/os-release; id -u'"
    assert containers.srun(*QUIET, "sh", "-c", script) == 'PRETTY_NAME="a tiny image"\n0\n'
    # The registry itself cannot be reached from here: the image came from the cache on the controller.
    stored = containers.srun(*QUIET, "podman", "images", "--digests", "--noheading")
    assert NAME in stored and containers.digest in stored
    # Only its user can read an image folder.
    with pytest.raises(ClusterError, match="Permission denied"):
        containers.cluster.run("dgx01", "ls", "/export/containers/podman/20001", user="bob")
    with pytest.raises(ClusterError, match=r"manifest unknown|not found"):
        containers.srun(*RUN, f"{NAME}@sha256:{'0' * 64}", "id")


def test_a_container_sees_the_jobs_gpus_and_no_others(site_with_containers: Containers) -> None:
    containers = site_with_containers
    script = "for number in 0 1 2 3 4 5 6 7; do head -c1 /dev/nvidia$number; done 2>&1; true"
    output = containers.srun(
        *RUN,
        "--device=nvidia.com/gpu=all",
        f"{NAME}@{containers.digest}",
        "sh",
        "-c",
        script,
        options=("--gres=gpu:h100:2",),
    )
    # No driver is loaded: a permitted open fails with "No such device", a denied one with "Operation not permitted".
    assert output.count("No such device") == 2 and output.count("Operation not permitted") == 6


def test_a_container_has_the_jobs_memory_limit(site_with_containers: Containers) -> None:
    containers = site_with_containers
    with pytest.raises(ClusterError, match=r"(?i)oom|out of memory|137|killed"):
        containers.srun(
            *RUN, f"{NAME}@{containers.digest}", "sh", "-c", "head -c 400M /dev/zero | tail", options=("--mem=100",)
        )


def test_files_written_by_a_container_belong_to_the_jobs_user(site_with_containers: Containers) -> None:
    containers = site_with_containers
    containers.srun(*RUN, "--volume=/home/alice:/data", f"{NAME}@{containers.digest}", "touch", "/data/result")
    assert containers.cluster.run("dgx01", "stat", "--format=%U", "/home/alice/result").strip() == "alice"


def test_nothing_of_a_container_outlives_its_job(site_with_containers: Containers) -> None:
    containers = site_with_containers
    words = ("sbatch", "--parsable", "--time=2", "--mem=200", "--chdir=/tmp", "--output=/tmp/%j.out", "--wrap")
    command = " ".join((*RUN, "--detach", f"{NAME}@{containers.digest}", "sleep", "4747"))
    number = containers.cluster.run("ctl01", *words, f"{command}; sleep 1", user="alice").strip()
    listed = ("squeue", "-h", "-j", number)
    wait_for("the job's end", lambda: containers.cluster.run("ctl01", *listed), lambda lines: lines == "")
    remaining = containers.cluster.run("dgx01", "ps", "-u", "alice", "-o", "args=") if _processes(containers) else ""
    assert remaining == ""
    in_service(containers.cluster)


def _processes(containers: Containers) -> bool:
    return containers.cluster.run("dgx01", "sh", "-c", "ps -u alice -o pid= || true").strip() != ""


def test_deepops_942_srun_supports_the_mpi_types_of_the_catalogue(site_with_containers: Containers) -> None:
    containers = site_with_containers
    output = containers.cluster.run("ctl01", "sh", "-c", "srun --mpi=list 2>&1")
    kinds = {line.strip() for line in output.splitlines() if line.startswith(("\t", " "))} - {""}
    assert {kind.partition("_v")[0] for kind in kinds} & {"none", "pmi2", "pmix"} == set(
        container_facts().mpi[containers.release]
    )


def test_deepops_1303_ranks_in_containers_find_each_other_without_mpi(site_with_containers: Containers) -> None:
    containers = site_with_containers
    script = 'echo "$SLURM_PROCID of $SLURM_NTASKS"'
    output = containers.srun(
        *RUN, "--env=SLURM_*", f"{NAME}@{containers.digest}", "sh", "-c", script, options=("--ntasks=2",)
    )
    assert sorted(output.splitlines()) == ["0 of 2", "1 of 2"]


def test_packages_that_no_distribution_carries_come_from_the_sites_own_repository(
    site_with_containers: Containers,
) -> None:
    run = site_with_containers.cluster.run
    names = ("enroot", "enroot+caps", "nvslurm-plugin-pyxis", "apptainer", "nvidia-gds", "nvidia-fs-dkms")
    packages = run("dgx01", "dpkg-query", "--show", "--showformat=${Package} ${db:Status-Abbrev}\n", *names)
    assert sorted(packages.split()) == sorted([*names, *("ii",) * len(names)])
    assert run("dgx01", "readlink", PLUGIN_LINK).strip() == PLUGIN
    assert "ENROOT_RESTRICT_DEV yes" in run("dgx01", "cat", "/etc/enroot/enroot.conf.d/50-site.conf")
    assert run("dgx01", "cat", "/etc/landbridge/images/tiny.enroot").startswith("nvcr.io#test/tiny@sha256:")
    conf = run("dgx01", "cat", "/etc/apptainer/apptainer.conf").splitlines()
    assert "mount hostfs = no" in conf and "sessiondir max size = 1024" in conf and "mount home = yes" in conf
    assert json.loads(run("dgx01", "cat", "/etc/cufile.json"))["properties"] == {"allow_compat_mode": True}
    # A job's prolog created the folders of its user only.
    assert (
        run("dgx01", "ls", "/export/containers/enroot", "/export/containers/apptainer", "/run/enroot").count("20001")
        == 3
    )


def test_a_second_run_and_a_check_change_nothing(site_with_containers: Containers) -> None:
    assert site_with_containers.converge().good().changed == {"ctl01": 0, "dgx01": 0}
    assert site_with_containers.converge("--check", "--diff", plays=ROLES).good().changed == {"dgx01": 0}


def test_pyxis_for_another_slurm_release_is_refused(site_with_containers: Containers) -> None:
    """The plugin's package does not state its Slurm release; with another release Slurm ends every job."""
    containers = site_with_containers
    assert containers.srun("hostname") == "dgx01\n", "jobs run with the right plugin"
    give_plugin(containers.cluster, "dgx01", "24.11")
    try:
        refused = containers.converge(plays=ROLES)
        assert refused.code != 0 and "built for Slurm 24.11, and this host has 26.05" in refused.one_line
        with pytest.raises(ClusterError):
            containers.srun("hostname")
    finally:
        give_plugin(containers.cluster, "dgx01", "26.05")
        containers.cluster.run("ctl01", "sh", "-c", "scontrol update nodename=dgx01 state=resume 2>/dev/null || true")
        in_service(containers.cluster)
    assert containers.srun("hostname") == "dgx01\n"
