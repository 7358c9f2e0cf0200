"""A second controller: location and mounts of the shared state directory, and no change for a single controller."""

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


def conf(site: Environment, key: str) -> list[str]:
    lines = slurm_files(site)["slurm.conf"].splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith(f"{key}=")]


def variables(site: Environment, group: str) -> dict[str, Any]:
    group_variables: dict[str, Any] = inventory(site)[group]["vars"]
    return group_variables


def test_one_controller_keeps_its_state_on_its_own_disk() -> None:
    site = environment()
    assert conf(site, "StateSaveLocation") == ["/var/lib/slurm/slurmctld"]
    assert conf(site, "SlurmctldTimeout") == []
    assert not any("state" in key or "mounts" in key for key in variables(site, "slurm_controller"))
    assert "burst_snapshot_mount" not in variables(site, "burst")
    assert [export["path"] for export in variables(site, "nfs_server")["nfs_server_exports"]] == ["/export/home"]


def test_a_pair_shares_its_state_on_the_storage_host_and_no_other_host_may_mount_it() -> None:
    site = environment(PAIR)
    assert conf(site, "SlurmctldHost") == ["ctl01(10.20.0.11)", "ctl02(10.20.0.16)"]
    assert conf(site, "StateSaveLocation") == [FOLDER]
    assert conf(site, "SlurmctldTimeout") == ["60"]
    controller, server = variables(site, "slurm_controller"), variables(site, "nfs_server")
    assert controller["slurm_controller_state_folder"] == FOLDER
    assert controller["slurm_controller_state_mount"] == SHARED
    assert controller["landbridge_controller_mounts"] == [
        {"server": "nfs01", "export": "/export/slurm", "mount": SHARED, "options": "vers=4.2,hard,nosuid,nodev,noexec"}
    ]
    export = {"path": "/export/slurm", "clients": ["10.20.0.11", "10.20.0.16"], "root_squash": True}
    assert server["nfs_server_exports"][1:] == [export]
    assert {"path": "/export/slurm/test", "owner": SLURM_UID} in server["nfs_server_homes"]
    assert inventory(site)["burst"]["hosts"] == ["ctl01", "ctl02"]
    # systemd cannot read below the mount, because root is squashed.
    assert variables(site, "burst")["burst_snapshot_mount"] == SHARED
    assert inventory(site)["all"]["vars"]["slurm_node_controllers"] == ["ctl01", "ctl02"]


@pytest.mark.parametrize("changes", [PAIR, {}], ids=["a pair", "one controller"])
def test_an_external_filer_is_mounted_and_not_exported(changes: dict[DataPath, Any]) -> None:
    site = environment({**changes, **ON_FILER, STATE: FILER})
    assert conf(site, "StateSaveLocation") == [FOLDER]
    mount = variables(site, "slurm_controller")["landbridge_controller_mounts"][0]
    assert (mount["server"], mount["export"]) == ("filer.example.org", "/vol/slurm")
    assert variables(site, "nfs_server") == {}


def test_a_site_may_override_the_controller_timeout() -> None:
    changes: dict[DataPath, Any] = {("scheduler", "overrides", "slurm_conf"): {"SlurmctldTimeout": 10}}
    assert conf(environment({**PAIR, **changes}), "SlurmctldTimeout") == ["10"]
