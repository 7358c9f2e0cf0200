"""Prolog, epilog and limits of jobs in slurm.conf and the inventory."""

import pytest

from landbridge.catalog import slurm_releases
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.slurm.files import slurm_files
from landbridge.plan.slurm.jobs.prolog_epilog import PROGRAM
from tests.unit.core.samples import GOOD, ROOT, environment

ROLES = ROOT / "ansible/roles"


def settings(release: str) -> dict[str, str]:
    text = slurm_files(environment({("scheduler", "slurm", "version"): release}))["slurm.conf"]
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and " " not in line)


@pytest.mark.parametrize("release", sorted(slurm_releases()))
def test_slurm_conf_has_the_prolog_by_a_name_that_configless_distributes(release: str) -> None:
    conf = settings(release)
    # Configless distributes only plain names; slurmd stores them in a directory with a fixed name.
    assert conf["Prolog"] == conf["Epilog"] == PROGRAM
    assert conf["TaskProlog"] == f"/run/slurm/conf/{PROGRAM}"
    assert "Contain" in conf["PrologFlags"].split(",")
    # Without these two, one broken node holds a job, or starts it before its other nodes are ready.
    assert {"DeferBatch", "ForceRequeueOnFail"} <= set(conf["PrologFlags"].split(","))
    assert "nohold_on_prolog_fail" in conf["SchedulerParameters"]


def test_the_controller_installs_the_program_of_slurm_conf() -> None:
    scripts = inventory(environment())["slurm_controller"]["vars"]["slurm_controller_scripts"]
    assert scripts == [PROGRAM]
    assert (ROLES / "slurm_controller/files" / PROGRAM).stat().st_mode & 0o111


def test_nodes_with_local_scratch_have_the_job_directories_there_and_require_the_mount() -> None:
    group = {**GOOD["onprem"]["nodes"][0], "local_scratch": "/scratch"}
    other = {**GOOD["onprem"]["nodes"][0], "hosts": "smc01", "address": "10.20.1.31"}
    hosts = inventory(environment({("onprem", "nodes"): [group, other]}))["_meta"]["hostvars"]
    expected = {
        "scratch_mount": "/scratch",
        "slurm_job_environment_root": "/scratch/jobs",
        "slurm_job_environment_mount": "/scratch",
    }
    assert expected.items() <= hosts["dgx02"].items()
    assert not expected.keys() & {*hosts["smc01"], *hosts["ctl01"]}
