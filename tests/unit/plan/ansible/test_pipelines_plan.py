"""Service of pipelines in the plan: its host, its configuration and its connections, and no change without the key."""

from typing import Any

import pytest

from landbridge.findings import DataPath
from landbridge.pipelines.service.config import parse_pipelines_config
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.cost.job_cost import node_hour_usd
from landbridge.plan.network.host_role import hosts
from landbridge.plan.site.firewall import firewall_rules
from tests.unit.core.samples import environment
from tests.unit.plan.ansible.test_data_mover import STAGING
from tests.unit.plan.site.test_firewall import CTL, MLOPS, open_at
from tests.unit.rules.aws.rows_cloud_services import with_services

KEY: dict[DataPath, Any] = {("mlops", "pipelines"): {}}
CONF: DataPath = ("scheduler", "overrides", "slurm_conf")


def planned(changes: dict[DataPath, Any] | None = None) -> dict[str, Any]:
    """Return the service's configuration."""
    variables: dict[str, Any] = inventory(environment({**KEY, **(changes or {})}))["pipelines"]["vars"]
    return variables


def test_the_service_reads_its_configuration_and_prices_each_node() -> None:
    site = environment(KEY)
    config = parse_pipelines_config(planned()["pipelines_config"])
    assert (config.accounts, config.owners) == ({"vision": "internal"}, ("alice",))
    assert (config.settle_seconds, config.sbatch_seconds, config.live_runs) == (420, 60, 100)
    assert set(config.rates) == {"dgx01", "dgx02", "p5-1", "p5-2", "p5-3", "p5-4"}
    for node, rate in config.rates.items():
        assert rate.gpus == 8 and rate.usd_hour == pytest.approx(node_hour_usd(site, node).usd, abs=1e-4)


def test_a_node_without_a_known_price_has_no_rate() -> None:
    spot = [{"kind": "spot", "zones": ["use1-az4"]}]
    config = parse_pipelines_config(planned({("aws", "pools", 0, "capacity"): spot})["pipelines_config"])
    assert set(config.rates) == {"dgx01", "dgx02"}


def test_a_longer_lifetime_of_credentials_delays_the_next_submission() -> None:
    config = planned({CONF: {"AuthInfo": "socket=/run/munge/munge.socket.2,ttl=900"}})["pipelines_config"]
    assert config["settle_seconds"] == 1020


def test_datasets_are_those_of_the_staging_unless_the_file_has_others() -> None:
    stated = {("mlops", "pipelines"): {"datasets": {"restricted": "/home/restricted"}}}
    assert planned(STAGING)["pipelines_config"]["datasets"] == {
        "internal": "/home/datasets/internal",
        "restricted": "/home/datasets/restricted",
    }
    assert planned({**STAGING, **stated})["pipelines_config"]["datasets"]["restricted"] == "/home/restricted"
    apart = {("storage", "staging"): {**STAGING[("storage", "staging")], "mount": "/datasets"}}
    assert planned(apart)["pipelines_config"]["datasets"] == {}


def test_the_mlflow_host_mounts_the_homes_and_reaches_slurm() -> None:
    site = environment(KEY)
    groups = {host.name: host.groups for host in hosts(site)}
    assert [name for name, members in groups.items() if "pipelines" in members] == ["mlops01"]
    assert "nfs_client" in groups["mlops01"] and "slurm_login" not in groups["mlops01"]
    assert open_at(site, "ctl01", MLOPS, 6817) and open_at(site, "db01", MLOPS, 6819)
    assert open_at(site, "mlops01", CTL, 6818) and not open_at(site, "dgx01", MLOPS, 6818)


def test_the_mlflow_host_that_is_a_controller_has_no_sackd_of_its_own() -> None:
    data = inventory(environment({**KEY, ("onprem", "services", "mlops"): "ctl01"}))
    assert data["pipelines"]["hosts"] == ["ctl01"]
    assert data["_meta"]["hostvars"]["ctl01"]["slurm_login_daemon"] is False


def test_in_aws_the_service_is_on_the_host_that_has_slurm_and_the_homes() -> None:
    data = inventory(environment({**with_services(login={"count": 0}), **KEY}))
    assert data["pipelines"]["hosts"] == ["ctl01"] and "ctl01" in data["nfs_client"]["hosts"]
    assert inventory(environment({**with_services(), **KEY}))["pipelines"]["hosts"] == []


def test_nothing_changes_without_pipelines() -> None:
    site = environment()
    data = inventory(site)
    assert data["pipelines"] == {"hosts": [], "vars": {}} and "mlops01" not in data["nfs_client"]["hosts"]
    assert "pipelines" not in firewall_rules(site)
    assert not open_at(site, "ctl01", MLOPS, 6817) and not open_at(site, "db01", MLOPS, 6819)
