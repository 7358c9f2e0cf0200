"""Import into Pulumi's state: a record with its id, in its place, and no pending operation left."""

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
    operations = [{"type": kind, "resource": one} for kind, one in pending]
    time = "2026-11-21T19:53:07.123456789Z"
    return {"manifest": {"time": time}, "resources": list(resources), "pending_operations": operations}


def test_pending_creates_are_told_from_what_may_be_done_again() -> None:
    found = deployment(pending=(("creating", resource(VPC)), ("updating", resource(NET))))
    assert [one["urn"] for one in state.pending_creates(found)] == [VPC]
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


def test_what_is_found_becomes_a_resource_and_the_rest_is_forgotten() -> None:
    record = resource(VPC, inputs={"cidrBlock": "10.0.0.0/16"}, parent=PARENT)
    before = deployment(resource(PARENT), pending=(("creating", record), ("creating", resource(NET))))
    after = state.taken_in(before, state.pending_creates(before), {VPC: "vpc-1"})
    assert "pending_operations" not in after and after["manifest"] == before["manifest"]
    assert [one["urn"] for one in after["resources"]] == [PARENT, VPC]
    assert after["resources"][1]["id"] == "vpc-1"
    assert after["resources"][1]["outputs"] == record["inputs"]
    assert before["resources"] == [resource(PARENT)], "the state that was read is not touched"


def test_what_was_to_take_anothers_place_takes_it() -> None:
    old, user, record = resource(VPC, id="vpc-1"), resource(NET, id="subnet-1", dependencies=[VPC]), resource(VPC)
    # Made before the old one goes: the old one waits for its end, and nobody's dependency is later than himself.
    after = state.taken_in(deployment(old, user), [record], {VPC: "vpc-2"})["resources"]
    assert [(one["id"], one.get("delete", False)) for one in after] == [
        ("vpc-2", False),
        ("vpc-1", True),
        ("subnet-1", False),
    ]
    # Made after the old one has gone: it is not there any more.
    gone = {**old, "pendingReplacement": True}
    after = state.taken_in(deployment(gone, user), [record], {VPC: "vpc-2"})["resources"]
    assert [one["id"] for one in after] == ["vpc-2", "subnet-1"] and "pendingReplacement" not in after[0]


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
    found = deployment(resource(VPC, id="vpc-1", outputs={"arn": "arn:vpc"}), resource(PROVIDER, id="1"))
    assert state.known_ids(found)["aws:ec2/vpc:Vpc"] == {"vpc-1"}
    assert state.remembered(found) == {"vpc-1", "arn:vpc"}
