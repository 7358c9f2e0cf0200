"""Guardrails in the recorded graph, and those that the emulated AWS supports, created there."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.guard.package import files
from landbridge.ops.iam import Answer, Document, Policies, Request, evaluate
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.aws import RESOURCE_TYPES, EmulatedAws, ProviderError
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.graph import Graph
from sandbox.pulumi_provider.recorder import apply
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import ACCOUNT, graph_of
from tests.graph.iam.whole_launch import cluster_of
from tests.graph.support.inventory import client, left
from tests.graph.support.permissions_environment import request_permissions

BUDGET, ACTION = "aws:budgets/budget:Budget", "aws:budgets/budgetAction:BudgetAction"
FUNCTION, RULE = "aws:lambda/function:Function", "aws:cloudwatch/eventRule:EventRule"
TAG, MONITOR = "aws:costexplorer/costAllocationTag:CostAllocationTag", "aws:costexplorer/anomalyMonitor:AnomalyMonitor"
TRAIL, LOCK = "aws:cloudtrail/trail:Trail", "aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration"
MONEY = "budget: {monthly_usd: 1000}"
PUBLIC = next(
    (line, "") for line in SANDBOX.read_text().splitlines(keepends=True) if line.lstrip().startswith("endpoints:")
)


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def guarded(text: str) -> tuple[str, str]:
    return "protect: false", f"protect: false\n      guardrails: {text}"


def inputs_of(graph: Graph, token: str) -> dict[str, Any]:
    (node,) = graph.of_type(token)
    return node.inputs


def test_a_budget_notifies_the_owner_and_stops_nothing(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    budget = inputs_of(graph, BUDGET)
    assert (budget["limitAmount"], budget["limitUnit"], budget["timeUnit"]) == ("1000", "USD", "MONTHLY")
    alarms = [(alarm["notificationType"], alarm["threshold"]) for alarm in budget["notifications"]]
    assert alarms == [("ACTUAL", 50), ("ACTUAL", 80), ("ACTUAL", 100), ("FORECASTED", 100)]
    assert {address for alarm in budget["notifications"] for address in alarm["subscriberEmailAddresses"]} == {
        "newcomer@example.org"
    }
    # Without the tags in billing, a budget of the cluster alone would count nothing.
    assert "costFilters" not in budget and graph.of_type(ACTION) == []


def test_no_budget_no_alarm(tmp_path: Path) -> None:
    assert graph_of(tmp_path, (MONEY, "budget: {}")).of_type(BUDGET) == []
    assert graph_of(tmp_path, ("owner: newcomer@example.org", "owner: somebody")).of_type(BUDGET) == []


def test_with_cost_tags_the_budget_is_the_clusters(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, guarded("{cost_tags: true, anomaly_usd: 250.5}"))
    assert inputs_of(graph, BUDGET)["costFilters"] == [
        {"name": "TagKeyValue", "values": ["user:landbridge:cluster$variant"]}
    ]
    assert {node.inputs["tagKey"] for node in graph.of_type(TAG)} >= {"landbridge:cluster", "landbridge:cost-center"}
    monitor = inputs_of(graph, MONITOR)
    assert monitor["monitorType"] == "CUSTOM" and "monitorDimension" not in monitor
    assert json.loads(monitor["monitorSpecification"])["Tags"]["Values"] == ["variant"]
    subscription = inputs_of(graph, "aws:costexplorer/anomalySubscription:AnomalySubscription")
    assert subscription["thresholdExpression"]["dimension"]["values"] == ["250.5"]


def test_without_cost_tags_the_accounts_costs_are_monitored(tmp_path: Path) -> None:
    monitor = inputs_of(graph_of(tmp_path, guarded("{anomaly_usd: 10}")), MONITOR)
    assert monitor["monitorDimension"] == "SERVICE" and "monitorSpecification" not in monitor


def test_a_hard_budget_denies_launches_and_nothing_else(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, (MONEY, "budget: {monthly_usd: 1000, hard: true, subscribers: [a@example.org]}"))
    action = inputs_of(graph, ACTION)
    assert action["approvalModel"] == "AUTOMATIC" and action["actionThreshold"]["actionThresholdValue"] == 100
    assert action["definition"]["iamActionDefinition"]["roles"] == ["variant-launch"]
    assert action["subscribers"] == [{"subscriptionType": "EMAIL", "address": "a@example.org"}]
    role = next(node for node in graph.of_type("aws:iam/role:Role") if node.name == "variant-budget")
    (trust,) = json.loads(role.inputs["assumeRolePolicy"])["Statement"]
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": ACCOUNT}}
    cluster = cluster_of(tmp_path / "Pulumi.variant.yaml")
    request = cluster.request(*next(cluster.offerings()))
    denial = Document.of("denial", inputs_of(graph, "aws:iam/policy:Policy")["policy"])
    assert cluster.decide(request).allowed
    assert cluster.decide(request, attached=(denial,)).answer is Answer.EXPLICIT_DENY
    allowing = Document.of("all", json.dumps({"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}))
    see = Request(f"arn:aws:iam::{ACCOUNT}:role/variant-launch", "ec2:DescribeInstances", "*")
    assert evaluate(see, Policies((allowing, denial))).allowed


def test_the_reaper_runs_every_few_minutes_in_the_public_aws(tmp_path: Path) -> None:
    assert graph_of(tmp_path).of_type(FUNCTION) == []
    graph = graph_of(tmp_path, PUBLIC)
    function = inputs_of(graph, FUNCTION)
    assert function["environment"]["variables"] == {"CLUSTER": "variant", "GRACE_MINUTES": "5", "UNLEASED_HOURS": "24"}
    assert function["code"]["assets"]["reaper.py"]["text"] == files()["reaper.py"]
    assert inputs_of(graph, RULE)["scheduleExpression"] == "rate(5 minutes)"
    assert (
        inputs_of(graph, "aws:lambda/permission:Permission")["sourceArn"]
        == f"arn:aws:test:us-east-1:{ACCOUNT}:variant-reaper"
    )
    # Deletion is in the reverse order: the reaper and the role that terminates nodes outlive the pool.
    (pool,) = graph.of_type("landbridge:components:Pool")
    before = {(node.type, node.name) for node in graph.nodes.values() if node.key in pool.dependencies}
    assert {(FUNCTION, "variant-reaper"), (RULE, "variant-reaper")} <= before
    assert ("aws:iam/rolePolicy:RolePolicy", "variant-terminate") in before
    assert graph_of(tmp_path, PUBLIC, guarded("{reaper: false}")).of_type(FUNCTION) == []


def test_the_trail_is_kept_and_cannot_be_shortened(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path, ("protect: false", "protect: true\n      guardrails: {trail: {days: 400, mode: compliance}}")
    )
    trail = inputs_of(graph, TRAIL)
    assert trail["isMultiRegionTrail"] and trail["enableLogFileValidation"]
    assert inputs_of(graph, LOCK)["rule"]["defaultRetention"] == {"mode": "COMPLIANCE", "days": 400}
    bucket = next(node for node in graph.of_type("aws:s3/bucket:Bucket") if node.name == "variant-audit")
    assert bucket.inputs["objectLockEnabled"] and bucket.protect
    policy = next(node for node in graph.of_type("aws:s3/bucketPolicy:BucketPolicy") if node.name == "variant-audit")
    statements = {statement["Sid"]: statement for statement in json.loads(policy.inputs["policy"])["Statement"]}
    source = f"arn:aws:cloudtrail:us-east-1:{ACCOUNT}:trail/variant-audit"
    assert statements["AllowCloudTrailPutObject"]["Condition"]["StringEquals"]["aws:SourceArn"] == source


REGULATED = ("internal: {sites: [onprem, aws]}", "internal: {sites: [onprem, aws], regime: hipaa}")
TRAILED = ("protect: false", "protect: true\n      guardrails: {trail: {}}")


def test_reads_and_writes_of_a_regulated_classs_objects_are_recorded(tmp_path: Path) -> None:
    assert "eventSelectors" not in inputs_of(graph_of(tmp_path, TRAILED), TRAIL)
    (selector,) = inputs_of(graph_of(tmp_path, TRAILED, REGULATED), TRAIL)["eventSelectors"]
    assert (selector["readWriteType"], selector["includeManagementEvents"]) == ("All", True)
    assert selector["dataResources"] == [
        {"type": "AWS::S3::Object", "values": [f"arn:aws:s3:::variant-internal-{ACCOUNT}/"]}
    ]


def test_only_this_trail_encrypts_with_the_trails_key(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, TRAILED)
    (key,) = [node for node in graph.of_type("aws:kms/key:Key") if node.name == "variant-audit"]
    assert key.protect and key.inputs["enableKeyRotation"]
    assert inputs_of(graph, TRAIL)["kmsKeyId"] == f"arn:aws:test:us-east-1:{ACCOUNT}:variant-audit"
    policies = Policies(resource=Document.of("key", key.inputs["policy"]), resource_decides=True)
    mine, other = (f"arn:aws:cloudtrail:us-east-1:{ACCOUNT}:trail/{name}" for name in ("variant-audit", "other"))

    def may(action: str, source: str, encrypted: str, principal: str = "cloudtrail.amazonaws.com") -> bool:
        context = {"aws:SourceArn": source, "kms:EncryptionContext:aws:cloudtrail:arn": encrypted}
        return evaluate(Request(principal, action, "*", context), policies).allowed

    assert may("kms:GenerateDataKey", mine, mine) and may("kms:DescribeKey", mine, mine)
    assert not may("kms:GenerateDataKey", other, other) and not may("kms:GenerateDataKey", mine, other)
    assert not may("kms:Decrypt", mine, mine) and not may("kms:GenerateDataKey", mine, mine, "s3.amazonaws.com")


def test_everything_at_once_is_valid_in_a_preview_too(tmp_path: Path) -> None:
    change = guarded("{cost_tags: true, anomaly_usd: 10, trail: {}, reaper: true}")
    graph = graph_of(tmp_path, change, (MONEY, "budget: {monthly_usd: 1000, hard: true}"), preview=True)
    for node in graph.nodes.values():
        if node.custom and not node.type.startswith("pulumi:"):
            assert [(sdk_args.spell(path), why) for path, why in sdk_args.problems(node.type, node.inputs)] == [], (
                node.key
            )


def test_permissions_and_cost_guardrails_are_created_and_destroyed(
    cloud: EmulatorProcess, environment_file: Path
) -> None:
    before = left(cloud)
    request_permissions(environment_file, cloud)
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    counts = {kind: len(names - before[kind]) for kind, names in left(cloud).items()}
    assert (counts["trust anchors"], counts["activations"], counts["anomalies"]) == (1, 1, 2)
    assert (counts["budgets"], counts["actions of budgets"], counts["tags in billing"]) == (1, 1, 4)
    assert counts["profiles of roles"] == 6
    applied.destroy()
    assert left(cloud) == before


def test_tags_that_billing_does_not_know_yet_are_refused(cloud: EmulatorProcess) -> None:
    before = left(cloud)
    with pytest.raises(ProviderError, match="TagKeysNotFoundException"):
        RESOURCE_TYPES[TAG](EmulatedAws(cloud.endpoint, "us-east-1")).create(
            {"tagKey": "nobody:has-seen", "status": "Active"}
        )
    assert left(cloud) == before


def test_budget_and_reaper_are_created_and_destroyed(cloud: EmulatorProcess, environment_file: Path) -> None:
    before = left(cloud)
    text = environment_file.read_text().replace(*guarded("{reaper: true, trail: {days: 2}}")).replace(*REGULATED)
    environment_file.write_text(text)
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    functions, events = client(cloud, "lambda"), client(cloud, "events")
    settings = functions.get_function(FunctionName="graph-reaper")
    assert settings["Configuration"]["Handler"] == "reaper.handler"
    assert settings["Configuration"]["Environment"]["Variables"]["CLUSTER"] == "graph"
    (target,) = events.list_targets_by_rule(Rule="graph-reaper")["Targets"]
    assert target["Arn"] == settings["Configuration"]["FunctionArn"]
    budget = client(cloud, "budgets").describe_budget(AccountId=ACCOUNT, BudgetName="graph")["Budget"]
    assert float(budget["BudgetLimit"]["Amount"]) == 1000
    trail = client(cloud, "cloudtrail").get_trail_status(Name="graph-audit")
    assert trail["IsLogging"]
    described = client(cloud, "cloudtrail").get_trail(Name="graph-audit")["Trail"]
    assert ":key/" in described["KmsKeyId"] and described["LogFileValidationEnabled"]
    (selector,) = client(cloud, "cloudtrail").get_event_selectors(TrailName="graph-audit")["EventSelectors"]
    assert selector["DataResources"][0]["Values"] == [f"arn:aws:s3:::graph-internal-{ACCOUNT}/"]
    lock = client(cloud, "s3").get_object_lock_configuration(Bucket=f"graph-audit-trail-{ACCOUNT}")
    assert (
        lock["ObjectLockConfiguration"]["Rule"]["DefaultRetention"].items() >= {"Mode": "GOVERNANCE", "Days": 2}.items()
    )
    applied.destroy()
    assert left(cloud) == before
    assert functions.list_functions()["Functions"] == [] and events.list_rules()["Rules"] == []
    assert client(cloud, "budgets").describe_budgets(AccountId=ACCOUNT).get("Budgets", []) == []
