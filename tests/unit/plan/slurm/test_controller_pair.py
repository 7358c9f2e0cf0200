"""A second controller: where the queue is, who may mount it, and that one controller alone is as it was."""

from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.slurm.controller_pair import SHARED, SLURM_UID
from landbridge.plan.slurm.files import slurm_files
from tests.unit.core.samples import environment
from tests.unit.rules.slurm.rows_controller_pair import FILER, ON_FILER, PAIR, STATE

FOLDER = f"{SHARED}/test"


def conf(found: Environment, key: str) -> list[str]:
    lines = slurm_files(found)["slurm.conf"].splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith(f"{key}=")]


def variables(found: Environment, group: str) -> dict[str, Any]:
    own: dict[str, Any] = inventory(found)[group]["vars"]
    return own


def test_one_controller_keeps_its_queue_on_its_own_disk() -> None:
    found = environment()
    assert conf(found, "StateSaveLocation") == ["/var/lib/slurm/slurmctld"]
    assert conf(found, "SlurmctldTimeout") == []
    assert not any("state" in key or "mounts" in key for key in variables(found, "slurm_controller"))
    assert "burst_snapshot_mount" not in variables(found, "burst")
    assert [one["path"] for one in variables(found, "nfs_server")["nfs_server_exports"]] == ["/export/home"]


def test_a_pair_shares_it_on_the_storage_host_and_nobody_else_may_mount_it() -> None:
    found = environment(PAIR)
    assert conf(found, "SlurmctldHost") == ["ctl01(10.20.0.11)", "ctl02(10.20.0.16)"]
    assert conf(found, "StateSaveLocation") == [FOLDER]
    assert conf(found, "SlurmctldTimeout") == ["60"]
    controller, server = variables(found, "slurm_controller"), variables(found, "nfs_server")
    assert controller["slurm_controller_state_folder"] == FOLDER
    assert controller["slurm_controller_state_mount"] == SHARED
    assert controller["landbridge_controller_mounts"] == [
        {"server": "nfs01", "export": "/export/slurm", "mount": SHARED, "options": "vers=4.2,hard,nosuid,nodev,noexec"}
    ]
    export = {"path": "/export/slurm", "clients": ["10.20.0.11", "10.20.0.16"], "root_squash": True}
    assert server["nfs_server_exports"][1:] == [export]
    assert {"path": "/export/slurm/test", "owner": SLURM_UID} in server["nfs_server_homes"]
    assert inventory(found)["burst"]["hosts"] == ["ctl01", "ctl02"]
    # Its systemd cannot look below the mount, where root is nobody.
    assert variables(found, "burst")["burst_snapshot_mount"] == SHARED
    assert inventory(found)["all"]["vars"]["slurm_node_controllers"] == ["ctl01", "ctl02"]


@pytest.mark.parametrize("changes", [PAIR, {}], ids=["a pair", "one controller"])
def test_a_filer_of_somebody_elses_is_mounted_and_not_exported(changes: dict[DataPath, Any]) -> None:
    found = environment({**changes, **ON_FILER, STATE: FILER})
    assert conf(found, "StateSaveLocation") == [FOLDER]
    mount = variables(found, "slurm_controller")["landbridge_controller_mounts"][0]
    assert (mount["server"], mount["export"]) == ("filer.example.org", "/vol/slurm")
    assert variables(found, "nfs_server") == {}


def test_a_site_may_be_more_or_less_patient() -> None:
    changes: dict[DataPath, Any] = {("scheduler", "overrides", "slurm_conf"): {"SlurmctldTimeout": 10}}
    assert conf(environment({**PAIR, **changes}), "SlurmctldTimeout") == ["10"]
