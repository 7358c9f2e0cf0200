"""Prolog, epilog and limits of jobs in slurm.conf and the inventory."""

import pytest

from landbridge.catalog import slurm_releases
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.slurm.files import slurm_files
from landbridge.plan.slurm.prolog_epilog import PROGRAM
from tests.unit.core.samples import GOOD, ROOT, environment

ROLES = ROOT / "ansible/roles"


def settings(release: str) -> dict[str, str]:
    text = slurm_files(environment({("scheduler", "slurm", "version"): release}))["slurm.conf"]
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and " " not in line)


@pytest.mark.parametrize("release", sorted(slurm_releases()))
def test_configless_brings_the_program_and_every_node_finds_it(release: str) -> None:
    found = settings(release)
    # Only plain names are sent along; what is sent lies in slurmd's folder, which has a fixed name.
    assert found["Prolog"] == found["Epilog"] == PROGRAM
    assert found["TaskProlog"] == f"/run/slurm/conf/{PROGRAM}"
    assert "Contain" in found["PrologFlags"].split(",")
    # Without these two, one broken node holds a job, or starts it before its other nodes are ready.
    assert {"DeferBatch", "ForceRequeueOnFail"} <= set(found["PrologFlags"].split(","))
    assert "nohold_on_prolog_fail" in found["SchedulerParameters"]


def test_the_controller_lays_down_what_slurm_conf_names() -> None:
    scripts = inventory(environment())["slurm_controller"]["vars"]["slurm_controller_scripts"]
    assert scripts == [PROGRAM]
    assert (ROLES / "slurm_controller/files" / PROGRAM).stat().st_mode & 0o111


def test_nodes_with_scratch_make_jobs_folders_there_and_want_it_mounted() -> None:
    group = {**GOOD["onprem"]["nodes"][0], "local_scratch": "/scratch"}
    other = {**GOOD["onprem"]["nodes"][0], "hosts": "smc01", "address": "10.20.1.31"}
    hosts = inventory(environment({("onprem", "nodes"): [group, other]}))["_meta"]["hostvars"]
    wanted = {
        "scratch_mount": "/scratch",
        "slurm_job_environment_root": "/scratch/jobs",
        "slurm_job_environment_mount": "/scratch",
    }
    assert wanted.items() <= hosts["dgx02"].items()
    assert not wanted.keys() & {*hosts["smc01"], *hosts["ctl01"]}
