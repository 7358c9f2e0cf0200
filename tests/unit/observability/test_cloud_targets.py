"""Metrics of nodes in AWS in the plan: discovery, one certificate, least privilege, and one opening for one host."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.aws.metrics_targets import target_files
from landbridge.burst.aws.publish_certificate import published_value
from landbridge.burst.model import CloudInstance
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.ops.credentials.status import readiness
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.access.identity import documents, identity_args
from landbridge.plan.aws.node_security_group import pool_security_group_rules
from landbridge.plan.observability.alerts import planned_alerts
from landbridge.plan.observability.gaps import unmonitored
from landbridge.plan.observability.targets import planned_exporters
from landbridge.plan.roles.nodes.dcgm import gpu_metrics_hosts
from landbridge.plan.roles.prometheus import monitoring_variables
from landbridge.plan.site.link.flows import flow_expectations
from tests.unit.core.samples import environment

MONITORING = ("onprem", "services", "monitoring")
POOLS, HOST = ("aws", "pools"), "10.20.0.15/32"
PLACE = ArnContext("test", "aws", "us-east-1", "111122223333")
KEY, CERTIFICATE = "arn:key", "arn:certificate"


def monitored() -> Environment:
    return environment({MONITORING: "mlops01"})


def rights(site: Environment, role: str) -> dict[str, tuple[str, ...]]:
    """Return actions and resources of a role's Allow statements that concern the metrics of nodes."""
    args = identity_args(site)
    buckets = {plan.data_class: f"arn:{plan.data_class}" for plan in args.jobs}
    secret = CERTIFICATE if args.metrics_secret_name else None
    text = getattr(documents(args, PLACE, buckets, buckets, ["arn:node"], buckets, KEY, secret), role)
    allowed = [statement for statement in json.loads(text)["Statement"] if statement["Effect"] == "Allow"]
    return {each["Sid"]: (*each["Action"], each["Resource"]) for each in allowed if "Slurm" not in each["Sid"]}


def test_the_monitoring_host_may_find_instances_and_nothing_else() -> None:
    assert identity_args(monitored()).hosts["discovery"] == ("mlops01",)
    assert rights(monitored(), "discovery") == {"FindNodes": ("ec2:DescribeInstances", "*")}
    assert "discovery" not in identity_args(environment()).hosts
    variables = inventory(monitored())["monitoring"]["vars"]["prometheus_discovery"]
    assert variables["exporters"] == {
        "node": {"port": 9100, "pools": ["p5"]},
        "dcgm": {"port": 9400, "pools": ["p5"]},
    }


def test_nodes_read_the_certificate_and_only_the_controller_writes_it() -> None:
    read = rights(monitored(), "node")["ReadMetricsCertificate"]
    assert read == ("secretsmanager:GetSecretValue", CERTIFICATE)
    assert "secretsmanager:PutSecretValue" in rights(monitored(), "launch")["PublishMetricsCertificate"]
    for role in ("node", "launch"):
        assert not [sid for sid in rights(environment(), role) if "Metrics" in sid]
    assert identity_args(monitored()).metrics_secret_name == "test/node-metrics"


def test_the_monitoring_host_alone_reaches_the_exporters_of_nodes() -> None:
    rules = [rule for rule in pool_security_group_rules(monitored()) if rule.key.startswith("metrics")]
    assert [(rule.direction, rule.peer, rule.protocol, rule.ports) for rule in rules] == [
        ("in", HOST, "tcp", (9100, 9100)),
        ("in", HOST, "tcp", (9400, 9400)),
    ]
    flows = [flow for flow in flow_expectations(monitored()) if flow.host]
    assert [(flow.host, flow.origin, flow.port) for flow in flows] == [
        ("mlops01", "onprem", 9100),
        ("mlops01", "onprem", 9400),
    ]


def test_without_a_monitoring_host_or_without_pools_nothing_is_planned() -> None:
    for site in (environment(), environment({MONITORING: "mlops01", POOLS: []})):
        text = json.dumps(inventory(site))
        assert "cloud_metrics" not in text and "aws-node" not in text
        assert not [rule for rule in pool_security_group_rules(site) if rule.key.startswith("metrics")]
        assert "AwsNodeMetricsAbsent" not in planned_alerts(site, gpu_metrics_hosts(site))


def test_gpus_of_nodes_in_aws_suffice_for_the_alerts_and_pages_of_gpus() -> None:
    assert "dcgm" in planned_exporters(monitored(), ())
    jobs = {job["job_name"]: job for job in monitoring_variables(monitored())["prometheus_settings"]["scrape_configs"]}
    for exporter in ("node", "dcgm"):
        job = jobs[f"aws-{exporter}"]
        assert job["tls_config"]["server_name"] == "aws-nodes.cluster.internal"
        assert job["basic_auth"] == jobs[exporter]["basic_auth"] and job["scheme"] == "https"
        assert job["metric_relabel_configs"] == jobs[exporter]["metric_relabel_configs"]


def test_an_image_of_others_is_named() -> None:
    assert ("aws", "pools", 0, "image") in dict(unmonitored(monitored(), ()))


def instance(node: str, **changes: object) -> CloudInstance:
    values = {
        "id": f"i-{node}",
        "node": node,
        "state": "running",
        "address": "10.60.0.4",
        "pool": "p5",
        "launched": 1.0,
    }
    values |= {"subnet": "s", "type": "p5.48xlarge", "market": "spot", "token": "", "region": "us-east-1"}
    return CloudInstance(**{**values, **changes})  # type: ignore[arg-type]


def test_targets_are_running_nodes_of_the_pools_with_the_exporter() -> None:
    instances = [
        instance("p5-1"),
        instance("p5-1", id="i-new", launched=2.0, address="10.60.0.9"),
        instance("p5-2", state="pending"),
        instance("", id="i-nameless"),
        instance("cpu-1", pool="cpu"),
    ]
    exporters = {"node": {"port": 9100, "pools": ["p5", "cpu"]}, "dcgm": {"port": 9400, "pools": ["p5"]}}
    files = target_files(instances, exporters)
    assert [group["targets"] for group in files["node"]] == [["10.60.0.4:9100"], ["10.60.0.9:9100"]]
    assert [group["labels"]["node"] for group in files["dcgm"]] == ["p5-1"]


def test_configure_needs_the_credentials_of_the_discovery(tmp_path: Path) -> None:
    stored = {"aws-credentials-burst", "aws-credentials-mlflow"}
    replica: dict[DataPath, Any] = {("storage", "data_hub", "classes"): {"internal": {"replica_region": "us-west-2"}}}
    archived = environment(
        {("onprem", "services", "monitoring"): "mlops01", ("observability", "timers"): {}, **replica}
    )
    both = ["aws-credentials-discovery", "aws-credentials-model-archive"]
    for site, absent in ((environment(), []), (monitored(), both[:1]), (archived, both)):
        assert site.onprem is not None
        files = site.model_copy(update={"onprem": site.onprem.model_copy(update={"aws_credentials": "files"})})
        findings = list(readiness(files, tmp_path, None, datetime.now(UTC), stored))
        assert len(findings) == len(absent)
        assert all(name in finding.message for name, finding in zip(absent, findings, strict=True))


PEM, CA = "-----BEGIN PRIVATE KEY-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----"
ACCOUNT = '{"account": "prometheus", "hash": "x"}'


@pytest.mark.parametrize(
    ("account", "certificate", "authority"),
    [
        ('{"account": "prometheus"}', PEM, CA),
        (ACCOUNT, "-----BEGIN CERTIFICATE-----", CA),
        ("[]", PEM, CA),
        ("", "", CA),
        (ACCOUNT, PEM, ""),
        # Nodes get the CA's certificate, and never its key.
        (ACCOUNT, PEM, PEM),
    ],
)
def test_an_incomplete_value_is_not_published(account: str, certificate: str, authority: str) -> None:
    with pytest.raises(ValueError):
        published_value(account, certificate, authority)


def test_the_value_has_the_certificate_of_the_ca() -> None:
    assert json.loads(published_value(ACCOUNT, PEM, CA))["authority"] == CA
