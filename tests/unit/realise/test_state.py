"""Import into Pulumi's state: a record with its id, at its position, and no pending operation remains."""

from datetime import UTC, datetime
from typing import Any

import pytest

from landbridge.plan.resource_change import ResourceChange
from landbridge.realise import state

VPC = "urn:pulumi:e::landbridge::landbridge:index:Network$aws:ec2/vpc:Vpc::e"
NET = "urn:pulumi:e::landbridge::landbridge:index:Network$aws:ec2/subnet:Subnet::e-a"
PARENT = "urn:pulumi:e::landbridge::landbridge:index:Network::e"
PROVIDER = "urn:pulumi:e::landbridge::pulumi:providers:aws::aws"


def resource(urn: str, **more: Any) -> dict[str, Any]:
    token = urn.split("::")[2].rsplit("$", 1)[-1]
    return {"urn": urn, "type": token, "custom": True, **more}


def deployment(*resources: dict[str, Any], pending: tuple[tuple[str, dict[str, Any]], ...] = ()) -> dict[str, Any]:
    operations = [{"type": kind, "resource": record} for kind, record in pending]
    time = "2026-11-21T19:53:07.123456789Z"
    return {"manifest": {"time": time}, "resources": list(resources), "pending_operations": operations}


def test_pending_creates_are_distinguished_from_repeatable_operations() -> None:
    stored = deployment(pending=(("creating", resource(VPC)), ("updating", resource(NET))))
    assert [record["urn"] for record in state.pending_creates(stored)] == [VPC]
    assert state.pending_creates({}) == ()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-21T19:53:07.123456789Z", datetime(2026, 11, 21, 19, 53, 7, 123456, UTC)),
        ("2026-11-21T19:53:07Z", datetime(2026, 11, 21, 19, 53, 7, 0, UTC)),
        ("2026-11-21T20:53:07.5+01:00", datetime(2026, 11, 21, 19, 53, 7, 500000, UTC)),
        ("", None),
        ("yesterday", None),
    ],
)
def test_the_time_of_a_state_is_read_as_go_writes_it(text: str, moment: datetime | None) -> None:
    assert state.written_at({"manifest": {"time": text}}) == moment


def test_a_recovered_resource_is_recorded_and_other_operations_are_dropped() -> None:
    record = resource(VPC, inputs={"cidrBlock": "10.0.0.0/16"}, parent=PARENT)
    before = deployment(resource(PARENT), pending=(("creating", record), ("creating", resource(NET))))
    after = state.taken_in(before, state.pending_creates(before), {VPC: "vpc-1"})
    assert "pending_operations" not in after and after["manifest"] == before["manifest"]
    assert [entry["urn"] for entry in after["resources"]] == [PARENT, VPC]
    assert after["resources"][1]["id"] == "vpc-1"
    assert after["resources"][1]["outputs"] == record["inputs"]
    assert before["resources"] == [resource(PARENT)], "the state that was read is not touched"


def test_a_recovered_replacement_takes_the_place_of_the_old_resource() -> None:
    old, user, record = resource(VPC, id="vpc-1"), resource(NET, id="subnet-1", dependencies=[VPC]), resource(VPC)
    # Created before the old one is deleted: the old one is marked for deletion, and dependencies precede dependents.
    after = state.taken_in(deployment(old, user), [record], {VPC: "vpc-2"})["resources"]
    assert [(entry["id"], entry.get("delete", False)) for entry in after] == [
        ("vpc-2", False),
        ("vpc-1", True),
        ("subnet-1", False),
    ]
    # Created after the old one was deleted: the old one is no longer in the state.
    deleted = {**old, "pendingReplacement": True}
    after = state.taken_in(deployment(deleted, user), [record], {VPC: "vpc-2"})["resources"]
    assert [entry["id"] for entry in after] == ["vpc-2", "subnet-1"] and "pendingReplacement" not in after[0]


def test_a_record_of_a_preview_has_its_parent_its_provider_and_its_secrets() -> None:
    vpn = "urn:pulumi:e::landbridge::aws:ec2/vpnConnection:VpnConnection::e"
    known = deployment(resource(PARENT), resource(PROVIDER, id="1234"))
    change = ResourceChange(vpn, "create", new={"type": "ipsec.1"}, parent=PARENT)
    record = state.record_of_change(change, known)
    assert record["parent"] == PARENT and record["provider"] == f"{PROVIDER}::1234"
    assert "tunnel1PresharedKey" in record["additionalSecretOutputs"]
    other = ResourceChange(vpn, "create", parent="urn:pulumi:e::landbridge::nowhere::x", provider=f"{PROVIDER}::5678")
    record = state.record_of_change(other, known)
    assert "parent" not in record and record["provider"] == f"{PROVIDER}::5678"


def test_ids_are_known_by_type() -> None:
    stored = deployment(resource(VPC, id="vpc-1", outputs={"arn": "arn:vpc"}), resource(PROVIDER, id="1"))
    assert state.known_ids(stored)["aws:ec2/vpc:Vpc"] == {"vpc-1"}
    assert state.remembered(stored) == {"vpc-1", "arn:vpc"}
