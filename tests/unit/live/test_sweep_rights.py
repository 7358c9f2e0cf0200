"""CAs that are still trusted and budgets that still act: found by their tags, and removed."""

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


def test_only_this_clusters_are_found_and_go(cloud: EmulatorProcess) -> None:
    estate(cloud, "other")
    estate(cloud, "test")

    def aws() -> AwsClient:
        return AwsClient("us-east-1", cloud.endpoint)

    found = find_leftovers(aws(), "test", (), NOW, standing=False)
    assert {one.type.noun for one in found.items} == MINE and len(found.items) == len(MINE)
    assert not any(one.holds_data for one in found.items)
    known = [one.id for one in found.items if one.type.noun == "trust anchor"]
    assert len(find_leftovers(aws(), "test", known, NOW, standing=True).items) == len(MINE) - 1
    assert all(one.reason is None for one in remove(aws, found.items, pause_seconds=0))
    assert find_leftovers(aws(), "test", (), NOW, standing=False).items == ()
    assert {one.type.noun for one in find_leftovers(aws(), "other", (), NOW, standing=False).items} == MINE


def test_where_there_is_no_such_service_nothing_is_asked(cloud: EmulatorProcess) -> None:
    cloud.control(reset=True)
    found = find_leftovers(AwsClient("us-gov-west-1", cloud.endpoint), "test", (), NOW, standing=False)
    assert found.items == () and not any("budgets" in asked for asked in cloud.control()["asked"])
