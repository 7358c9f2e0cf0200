"""Plan of health checks: slurm.conf's keys, expectations of on-prem hosts and of pools, and errors of the driver."""

import json
import re
from typing import Any

import pytest

from landbridge.catalog import instances, platforms
from landbridge.catalog.hardware.health_checks import health_checks
from landbridge.catalog.hardware.xids import DRAINING, xids
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.node_health import pool_health
from landbridge.plan.aws.pool import pool_args
from landbridge.plan.site.health import INTERVAL_SECONDS, PROGRAM, expected_of, health_settings
from landbridge.plan.slurm.files import slurm_files
from tests.unit.core.samples import REMOVED, ROOT, environment


def keys(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if line.startswith("HealthCheck"))


def test_slurm_conf_has_the_health_check_if_there_are_nodes() -> None:
    expected = {"HealthCheckProgram": PROGRAM, "HealthCheckInterval": str(INTERVAL_SECONDS), "HealthCheckTimeout": "30"}
    expected["HealthCheckNodeState"] = "ANY"
    assert keys(slurm_files(environment())["slurm.conf"]) == expected
    cloud_only = environment({("onprem", "nodes"): REMOVED})
    assert keys(slurm_files(cloud_only)["slurm.conf"]) == expected, "the same program in the image of cloud nodes"
    onprem_only = environment({("aws", "pools"): []})
    assert keys(slurm_files(onprem_only)["slurm.conf"]) == expected
    bare = environment({("onprem", "nodes"): REMOVED, ("aws", "pools"): []})
    assert keys(slurm_files(bare)["slurm.conf"]) == {} == dict(health_settings(bare))


def test_a_site_may_disable_the_health_check() -> None:
    off = dict.fromkeys(f"HealthCheck{key}" for key in ("Program", "Interval", "Timeout", "NodeState"))
    assert keys(slurm_files(environment({("scheduler", "overrides"): {"slurm_conf": off}}))["slurm.conf"]) == {}


def test_every_node_has_the_expectations_of_its_platform_and_other_hosts_have_none() -> None:
    mixed = [
        {"hosts": "dgx01", "platform": "dgx-h100", "address": "10.20.1.11"},
        {"hosts": "old01", "platform": "pcie-v100", "address": "10.20.1.21"},
    ]
    site = environment({("onprem", "nodes"): mixed})
    hosts = inventory(site)["_meta"]["hostvars"]
    expected = {name: host["node_health_expected"] for name, host in hosts.items() if "node_health_expected" in host}
    assert set(expected) == {"dgx01", "old01"}
    assert json.loads(json.dumps(expected)) == expected, "plain values"
    assert expected["dgx01"] == {
        "gpus": {
            "count": 8,
            "type": "h100",
            "name": "NVIDIA H100 80GB HBM3",
            "memory_mib": 81559,
            "errors": "row_remapping",
            "pcie_generation": 5,
            "pcie_width": 16,
            "links": 18,
            "fabric": True,
            "fabric_seconds": 300,
        },
        "services": ["nvidia-fabricmanager"],
        "ports": {"400": 8},
        "mounts": ["/home"],
    }
    assert expected["old01"]["gpus"]["errors"] == "page_retirement"
    assert (
        "links" not in expected["old01"]["gpus"]
        and expected["old01"]["services"] == []
        and "ports" not in expected["old01"]
    )


CHANGES = [
    {"check": "thermal", "skip": "all", "reason": "fans are replaced on 2026-12-01"},
    {"check": "xid", "skip": ["119"], "reason": "firmware fault, case 1234"},
    {"check": "xid", "add": ["94"], "reason": "memory is watched"},
    {"check": "nvlink", "limit": 16, "reason": "two links are off, case 1235"},
    {"check": "disk", "limit": 10, "reason": "logs grow fast"},
    {"check": "service", "skip": ["nvidia-fabricmanager"], "reason": "the site starts it"},
    {"check": "service", "add": ["lustre-client.service"], "reason": "jobs need it"},
    {"check": "mount", "add": ["/data"], "reason": "jobs need it"},
]


def test_changes_of_the_checks_are_those_of_their_node_group_with_their_reasons() -> None:
    groups = [
        {"hosts": "dgx[01-03]", "platform": "dgx-h100", "address": "10.20.1.11", "health": CHANGES},
        {"hosts": "dgx04", "platform": "dgx-h100", "address": "10.20.1.21"},
    ]
    hosts = inventory(environment({("onprem", "nodes"): groups}))["_meta"]["hostvars"]
    changed, usual = hosts["dgx01"], hosts["dgx04"]
    assert changed["node_health_skip"] == ["thermal"]
    actions = {str(number): xid.action for number, xid in xids().items() if xid.drains}
    del actions["119"]
    assert changed["node_health_xids"] == {**actions, "94": "inspect"}
    assert changed["node_health_disks"] == {"/": 10}
    expected = changed["node_health_expected"]
    assert (expected["gpus"]["links"], usual["node_health_expected"]["gpus"]["links"]) == (16, 18)
    assert expected["services"] == ["lustre-client.service"] and expected["mounts"] == ["/home", "/data"]
    assert changed["node_health_changes"] == [
        "thermal is not checked: fans are replaced on 2026-12-01",
        "xid does not cover 119: firmware fault, case 1234",
        "xid covers 94 too: memory is watched",
        "nvlink has the limit 16: two links are off, case 1235",
        "disk has the limit 10: logs grow fast",
        "service does not cover nvidia-fabricmanager: the site starts it",
        "service covers lustre-client.service too: jobs need it",
        "mount covers /data too: jobs need it",
    ]
    assert not {"node_health_skip", "node_health_xids", "node_health_disks", "node_health_changes"} & set(usual)


@pytest.mark.parametrize(
    ("hosts", "percent", "count"),
    [
        ("dgx[01-20]", None, 10),
        ("dgx[01-20]", 15, 3),
        ("dgx[01-02]", None, 1),
        ("dgx01", None, 1),
        ("dgx[01-03]", 1, 1),
    ],
)
def test_the_failure_budget_is_a_share_of_the_on_prem_nodes(hosts: str, percent: int | None, count: int) -> None:
    site = environment({("onprem", "nodes", 0, "hosts"): hosts, ("onprem", "max_drained_percent"): percent})
    variables = inventory(site)["_meta"]["hostvars"]["dgx01"]
    assert variables["node_health_budget"] == count


def test_the_catalogue_has_every_check_of_the_program() -> None:
    files = (ROOT / "ansible/roles/node_health/files/node_health").glob("*.py")
    in_program = {name for path in files for name in re.findall(r'Problem\(\s*"([a-z]+)"', path.read_text())}
    assert in_program | {"xid", "sxid"} == set(health_checks().checks)


def test_every_platform_has_expectations() -> None:
    for name, platform in platforms().items():
        expectations = expected_of(environment(), name)
        assert expectations["gpus"]["count"] == platform.gpus.count
        assert ("nvidia-imex" in expectations["services"]) == platform.imex


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        ("p5.48xlarge", {"services": ["nvidia-fabricmanager"], "efa": 32, "gpus": {"count": 8, "type": "h100", "name": "NVIDIA H100 80GB HBM3", "memory_mib": 81559, "errors": "row_remapping", "links": 18, "fabric": True}}),
        ("p4d.24xlarge", {"services": ["nvidia-fabricmanager"], "efa": 4, "gpus": {"count": 8, "type": "a100", "name": "NVIDIA A100-SXM4-40GB", "memory_mib": 40960, "errors": "row_remapping", "links": 12, "fabric": True}}),
        # NVLinks without switches: some lead to GPUs of other instances.
        ("p3.8xlarge", {"services": [], "gpus": {"count": 4, "type": "v100", "name": "Tesla V100-SXM2-16GB", "memory_mib": 16384, "errors": "page_retirement"}}),
        # No row of gpus.yaml: only what EC2's own catalogue says.
        ("g4dn.12xlarge", {"services": [], "efa": 1, "gpus": {"count": 4, "type": "t4"}}),
        ("m7i.large", {"services": []}),
    ],
)  # fmt: skip
def test_a_pool_has_the_expectations_of_its_instance_type(instance: str, expected: dict[str, Any]) -> None:
    site = environment(
        {("aws", "pools", 0, "instance"): instance, ("aws", "pools", 0, "capacity"): [{"kind": "on_demand"}]}
    )
    health = pool_health(site, site.aws.pools[0])
    assert json.loads(json.dumps(health))["types"] == {instance: expected}


def test_the_launch_template_has_the_expectations_and_skipped_hardware_is_not_expected() -> None:
    site = environment()
    assert pool_args(site, site.aws.pools[0]).user_data().count('\\"health\\":') == 1
    skip = ["gpus", "efa-devices", "fabric-manager"]
    site = environment({("aws", "node_checks"): {"skip": skip}})
    (hardware,) = pool_health(site, site.aws.pools[0])["types"].values()
    assert hardware == {"services": []}


def test_every_known_gpu_instance_type_has_expectations_of_its_gpus() -> None:
    site = environment()
    for name, kind in instances().items():
        pool = site.aws.pools[0].model_copy(update={"instance": name})
        (hardware,) = pool_health(site, pool)["types"].values()
        accelerators = kind.accelerators
        if accelerators is not None and accelerators.kind == "gpu":
            assert hardware["gpus"]["count"] == accelerators.count and hardware["gpus"]["type"] == accelerators.type
        else:
            assert "gpus" not in hardware


def test_only_hardware_errors_drain_a_node() -> None:
    by_number = xids()
    assert not any(by_number[number].drains for number in (8, 13, 31, 32, 45, 69, 94, 144, 154))
    assert {number: by_number[number].action for number in (48, 79, 95, 119)} == {
        48: "reset",
        79: "reboot",
        95: "reset",
        119: "reset",
    }
    assert {xid.action for xid in by_number.values()} - set(DRAINING) == {"application", "driver"}
    # Ignored, because the checks query the same state from the GPU.
    assert not {43, 63, 92} & set(by_number)
