"""Staging of jobs' data in the plan: the exchange of controllers and mover, both configurations, and no change without it."""

from typing import Any

import pytest

from landbridge.burst.config.config import parse
from landbridge.findings import DataPath
from landbridge.live.staging.config import MoverClass, parse_mover_config
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.outputs import BucketOutput, DataHubOutput
from landbridge.plan.roles.burst import burst_config
from landbridge.plan.slurm.controller_pair import SLURM_UID
from tests.unit.core.samples import environment
from tests.unit.plan.ansible.test_burst import built
from tests.unit.rules.slurm.rows_controller_pair import PAIR

STAGING: dict[DataPath, Any] = {
    ("storage", "staging"): {
        "folder": "/export/home/datasets",
        "mount": "/home/datasets",
        "groups": {"internal": "lab"},
        "limit_mbps": 400,
    }
}
HUB = DataHubOutput(buckets={"internal": BucketOutput(name="test-internal", key_arn="-")})
FOLDER = "/var/lib/landbridge-mover/test"


@pytest.mark.parametrize("changes", [{}, PAIR], ids=["one controller", "a pair"])
def test_controllers_and_mover_share_a_folder_of_the_storage_host(changes: dict[DataPath, Any]) -> None:
    site = environment({**changes, **STAGING})
    data = inventory(site)
    controllers = ["10.20.0.11", "10.20.0.16"] if changes else ["10.20.0.11"]
    export = {"path": "/export/landbridge-mover", "clients": controllers, "root_squash": True}
    assert export in data["nfs_server"]["vars"]["nfs_server_exports"]
    folder = {"path": "/export/landbridge-mover/test", "owner": SLURM_UID}
    assert folder in data["nfs_server"]["vars"]["nfs_server_homes"]
    mounts = data["slurm_controller"]["vars"]["landbridge_controller_mounts"]
    assert [mount["mount"] for mount in mounts][-1] == "/var/lib/landbridge-mover" and len(mounts) == 1 + bool(changes)
    assert mounts[-1]["options"].startswith("vers=4.2,soft")
    assert data["burst"]["vars"]["burst_exchange_mount"] == "/var/lib/landbridge-mover"


def test_a_controller_that_is_the_storage_host_mounts_nothing() -> None:
    site = environment({**STAGING, ("onprem", "services", "storage"): "ctl01"})
    data = inventory(site)
    assert "landbridge_controller_mounts" not in data["slurm_controller"]["vars"]
    assert [export["path"] for export in data["nfs_server"]["vars"]["nfs_server_exports"]] == ["/export/home"]
    assert data["burst"]["vars"]["burst_exchange_mount"] == "/export/landbridge-mover"


def test_both_programs_read_their_configuration() -> None:
    site = environment(STAGING)
    outputs = built(site).model_copy(update={"data_hub": HUB})
    staging = parse(burst_config(site, outputs)).policy.staging
    assert staging is not None and staging.exchange == FOLDER
    assert staging.partitions["onprem"] == ("onprem",) and staging.partitions["p5"] == ("aws",)
    assert set(staging.partitions["gpu"]) == {"onprem", "aws"}
    hosts = inventory(site, outputs)["_meta"]["hostvars"]
    assert [name for name, variables in hosts.items() if "data_mover_config" in variables] == ["nfs01"]
    config = parse_mover_config(hosts["nfs01"]["data_mover_config"])
    assert config.classes["internal"] == MoverClass(("onprem", "aws"), "test-internal")
    assert config.classes["restricted"] == MoverClass(("onprem",))
    assert config.limit_mbps == 400 and config.usd_gb_out is not None
    assert str(config.exchange) == "/export/landbridge-mover/test"
    folders = {folder["path"]: folder["group"] for folder in hosts["nfs01"]["data_mover_folders"]}
    assert folders["/export/home/datasets/internal"] == "lab" and folders["/export/home/datasets/restricted"] == ""


def test_jobs_read_the_bucket_through_lustre_if_it_is_linked() -> None:
    lustre = {
        "kind": "fsx_lustre",
        "deployment": "persistent_2",
        "repositories": [{"folder": "/in", "data_class": "internal"}],
    }
    site = environment({**STAGING, ("storage", "cloud_scratch"): lustre})
    config = inventory(site, built(site).model_copy(update={"data_hub": HUB}))["_meta"]["hostvars"]["nfs01"][
        "data_mover_config"
    ]
    assert config["classes"]["internal"]["mount"] == "/scratch/in"


def test_nothing_changes_without_staging() -> None:
    site = environment()
    data = inventory(site, built(site).model_copy(update={"data_hub": HUB}))
    assert "staging" not in burst_config(site, built(site))
    assert "burst_exchange_mount" not in data["burst"]["vars"]
    assert not any("data_mover_config" in variables for variables in data["_meta"]["hostvars"].values())
