"""Alarms in the recorded graph, and created in the emulated AWS."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.ops.iam import Document, Policies, Request, evaluate
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.graph import Graph, GraphNode
from sandbox.pulumi_provider.recorder import apply
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import ACCOUNT, NAT, graph_of
from tests.graph.support.cloud_only_environment import write
from tests.graph.support.inventory import client, left
from tests.graph.support.policy_documents import recorded

ALARM, TOPIC = "aws:cloudwatch/metricAlarm:MetricAlarm", "aws:sns/topic:Topic"
SUBSCRIPTION, TOPIC_POLICY = "aws:sns/topicSubscription:TopicSubscription", "aws:sns/topicPolicy:TopicPolicy"
ON = ("protect: false", "protect: false\n      guardrails: {alarms: true, reaper: true}")
OWNER = "newcomer@example.org"


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def alarms(graph: Graph) -> dict[str, GraphNode]:
    return {node.inputs["name"].removeprefix("variant-"): node for node in graph.of_type(ALARM)}


def test_the_owner_receives_each_alarm_through_an_encrypted_topic(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, ON)
    (topic,), (subscription,) = graph.of_type(TOPIC), graph.of_type(SUBSCRIPTION)
    assert (subscription.inputs["protocol"], subscription.inputs["endpoint"]) == ("email", OWNER)
    assert topic.inputs["kmsMasterKeyId"] == f"arn:aws:test:us-east-1:{ACCOUNT}:variant-alarms"
    assert alarms(graph)
    for node in alarms(graph).values():
        arn = f"arn:aws:test:us-east-1:{ACCOUNT}:variant-alarms"
        assert node.inputs["alarmActions"] == node.inputs["okActions"] == [arn]


def test_the_emulated_aws_has_no_alarm_unless_the_file_has_them(tmp_path: Path) -> None:
    assert alarms(graph_of(tmp_path)) == {} and graph_of(tmp_path).of_type(TOPIC) == []


def test_a_connection_without_a_tunnel_and_each_tunnel_that_is_down_raise_an_alarm(tmp_path: Path) -> None:
    by_name = alarms(graph_of(tmp_path, ON))
    connection = by_name["vpn-onprem"].inputs
    assert (connection["namespace"], connection["metricName"]) == ("AWS/VPN", "TunnelState")
    # TunnelState is 1 for a BGP tunnel that is up; the maximum of both tunnels is below 1 if none is.
    assert (connection["statistic"], connection["comparisonOperator"], connection["threshold"]) == (
        "Maximum",
        "LessThanThreshold",
        1,
    )
    assert connection["dimensions"] == {"VpnId": "variant-id"} and connection["treatMissingData"] == "breaching"
    tunnels = [by_name[f"vpn-onprem-{number}"].inputs["dimensions"] for number in (1, 2)]
    assert [tunnel["TunnelIpAddress"] for tunnel in tunnels] == ["198.51.100.21", "198.51.100.22"]


def test_a_reaper_that_fails_or_is_not_invoked_raises_an_alarm(tmp_path: Path) -> None:
    by_name = alarms(graph_of(tmp_path, ON))
    failing, silent = by_name["reaper-errors"].inputs, by_name["reaper-silent"].inputs
    assert failing["dimensions"] == silent["dimensions"] == {"FunctionName": "variant-reaper"}
    assert (failing["metricName"], failing["comparisonOperator"], failing["treatMissingData"]) == (
        "Errors",
        "GreaterThanThreshold",
        "notBreaching",
    )
    # Three missed invocations of one every five minutes.
    assert (silent["metricName"], silent["period"], silent["treatMissingData"]) == ("Invocations", 900, "breaching")
    without = alarms(graph_of(tmp_path, (ON[0], ON[1].replace("reaper: true", "reaper: false"))))
    assert not [name for name in without if name.startswith("reaper")]


def test_a_burst_controller_without_heartbeat_raises_an_alarm_and_may_publish_only_there(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, ON)
    silent = alarms(graph)["burst-silent"].inputs
    assert (silent["namespace"], silent["dimensions"]) == ("Landbridge", {"Cluster": "variant"})
    assert silent["treatMissingData"] == "breaching"
    (policy,) = [node for node in graph.of_type("aws:iam/rolePolicy:RolePolicy") if node.name == "variant-heartbeat"]
    policies = Policies((Document.of("heartbeat", policy.inputs["policy"]),))

    def may(action: str, namespace: str) -> bool:
        role = f"arn:aws:iam::{ACCOUNT}:role/variant-launch"
        return evaluate(Request(role, action, "*", {"cloudwatch:namespace": namespace}), policies).allowed

    assert may("cloudwatch:PutMetricData", "Landbridge")
    assert not may("cloudwatch:PutMetricData", "AWS/Billing") and not may("cloudwatch:DeleteAlarms", "Landbridge")


def test_a_nat_gateway_without_free_ports_raises_an_alarm(tmp_path: Path) -> None:
    by_name = alarms(graph_of(tmp_path, ON, NAT))
    nat = {name: node.inputs for name, node in by_name.items() if name.startswith("nat-")}
    assert set(nat) == {"nat-use1-az4", "nat-use1-az6"}
    assert nat["nat-use1-az4"]["dimensions"] == {"NatGatewayId": "variant-use1-az4-id"}
    assert nat["nat-use1-az4"]["metricName"] == "ErrorPortAllocation"


def test_a_full_or_busy_accounting_database_raises_an_alarm(tmp_path: Path) -> None:
    file = write(tmp_path, "variant", endpoint="http://127.0.0.1:4580")
    file.write_text(file.read_text().replace(*ON))
    by_name = alarms(recorded(file))
    storage, processor = by_name["accounting-storage"].inputs, by_name["accounting-cpu"].inputs
    assert storage["dimensions"] == processor["dimensions"] == {"DBInstanceIdentifier": "variant-accounting"}
    assert (storage["statistic"], storage["comparisonOperator"]) == ("Minimum", "LessThanThreshold")
    assert storage["threshold"] == 0.05 * 20 * 2**30
    assert (processor["metricName"], processor["threshold"]) == ("CPUUtilization", 90)


def cloudwatch(action: str, resource: str, alarm: str, account: str = ACCOUNT) -> Request:
    context = {
        "aws:SourceAccount": account,
        "aws:SourceArn": f"arn:aws:cloudwatch:us-east-1:{account}:alarm:{alarm}",
    }
    return Request("cloudwatch.amazonaws.com", action, resource, context)


def test_only_alarms_of_this_cluster_publish_to_the_topic_and_use_its_key(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, ON)
    key = next(node for node in graph.of_type("aws:kms/key:Key") if node.name == "variant-alarms")
    (topic_policy,) = graph.of_type(TOPIC_POLICY)
    topic = f"arn:aws:test:us-east-1:{ACCOUNT}:variant-alarms"
    for text, resource, actions in (
        (topic_policy.inputs["policy"], topic, ["sns:Publish"]),
        (key.inputs["policy"], "*", ["kms:Decrypt", "kms:GenerateDataKey"]),
    ):
        policies = Policies(resource=Document.of("resource", text), resource_decides=True)
        for action in actions:
            assert evaluate(cloudwatch(action, resource, "variant-vpn-onprem"), policies).allowed, action
            assert not evaluate(cloudwatch(action, resource, "other-vpn"), policies).allowed
            assert not evaluate(cloudwatch(action, resource, "variant-vpn", "999999999999"), policies).allowed


def test_alarms_are_created_and_destroyed(cloud: EmulatorProcess, environment_file: Path) -> None:
    before = left(cloud)
    environment_file.write_text(environment_file.read_text().replace(*ON))
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    watched, topics = client(cloud, "cloudwatch"), client(cloud, "sns")
    listed: dict[str, Any] = {alarm["AlarmName"]: alarm for alarm in watched.describe_alarms()["MetricAlarms"]}
    assert {"graph-vpn-onprem", "graph-vpn-onprem-1", "graph-reaper-errors", "graph-burst-silent"} <= set(listed)
    (topic,) = topics.list_topics()["Topics"]
    assert listed["graph-vpn-onprem"]["AlarmActions"] == [topic["TopicArn"]]
    attributes = topics.get_topic_attributes(TopicArn=topic["TopicArn"])["Attributes"]
    assert attributes["KmsMasterKeyId"] and "cloudwatch.amazonaws.com" in json.dumps(json.loads(attributes["Policy"]))
    (subscription,) = topics.list_subscriptions()["Subscriptions"]
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", OWNER)
    applied.destroy()
    assert left(cloud) == before
    assert watched.describe_alarms()["MetricAlarms"] == [] and topics.list_topics()["Topics"] == []
