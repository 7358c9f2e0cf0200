"""Leftover trust anchors, profiles and budgets, which still grant or act, are found by their tags and removed."""

from datetime import UTC, datetime

from landbridge.aws_api.client import AwsClient
from landbridge.live.sweep import find_leftovers, remove
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.aws import RESOURCE_TYPES, EmulatedAws
from tests.graph.support.permissions_environment import authority

NOW = datetime(2026, 11, 20, tzinfo=UTC)
MINE = {"IAM Roles Anywhere profile", "trust anchor", "budget"}


def estate(cloud: EmulatorProcess, cluster: str) -> None:
    connection, tags = EmulatedAws(cloud.endpoint, "us-east-1"), {"landbridge:cluster": cluster}

    def make(token: str, **inputs: object) -> None:
        RESOURCE_TYPES[token](connection).create({**inputs, "tags": tags})

    source = {"sourceType": "CERTIFICATE_BUNDLE", "sourceData": {"x509CertificateData": authority()}}
    make("aws:rolesanywhere/trustAnchor:TrustAnchor", name=f"{cluster}-site", enabled=True, source=source)
    make("aws:rolesanywhere/profile:Profile", name=f"{cluster}-node", enabled=True, roleArns=[])
    money = {"budgetType": "COST", "timeUnit": "MONTHLY", "limitAmount": "10", "limitUnit": "USD"}
    make("aws:budgets/budget:Budget", name=cluster, **money)


def test_leftovers_of_this_cluster_alone_are_removed(cloud: EmulatorProcess) -> None:
    estate(cloud, "other")
    estate(cloud, "test")

    def aws() -> AwsClient:
        return AwsClient("us-east-1", cloud.endpoint)

    leftovers = find_leftovers(aws(), "test", (), NOW, standing=False)
    assert {item.type.noun for item in leftovers.items} == MINE and len(leftovers.items) == len(MINE)
    assert not any(item.holds_data for item in leftovers.items)
    known = [item.id for item in leftovers.items if item.type.noun == "trust anchor"]
    assert len(find_leftovers(aws(), "test", known, NOW, standing=True).items) == len(MINE) - 1
    assert all(result.reason is None for result in remove(aws, leftovers.items, pause_seconds=0))
    assert find_leftovers(aws(), "test", (), NOW, standing=False).items == ()
    assert {item.type.noun for item in find_leftovers(aws(), "other", (), NOW, standing=False).items} == MINE


def test_a_partition_without_the_service_is_not_queried(cloud: EmulatorProcess) -> None:
    cloud.control(reset=True)
    leftovers = find_leftovers(AwsClient("us-gov-west-1", cloud.endpoint), "test", (), NOW, standing=False)
    assert leftovers.items == () and not any("budgets" in action for action in cloud.control()["asked"])
