"""Statuses of instances: read from the emulated AWS, and composed from its rows."""

from datetime import UTC, datetime
from typing import Any

import pytest

from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.aws.instance_status import status_of
from landbridge.burst.model import InstanceStatus, Offering
from landbridge.burst.model.errors import AwsError, ErrorKind, facts
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.burst.launches import TAGS, attempt

RETIRED = {"code": "instance-retirement", "seconds": 3600}


def launched(shell: Ec2, offering: Offering, *nodes: str) -> list[str]:
    return list(shell.run(attempt(*nodes), offering, TAGS, True).instances.values())


def test_only_failing_instances_of_the_cluster_are_returned(
    cloud: EmulatorProcess, shell: Ec2, offering: Offering
) -> None:
    ids = launched(shell, offering, "p5-1", "p5-2", "p5-3", "p5-4", "p5-5")
    assert shell.instance_statuses(ids) == {}
    cloud.control(
        statuses={
            ids[0]: {"system": "impaired", "events": [RETIRED]},
            ids[1]: {"instance": "impaired"},
            ids[2]: {"system": "insufficient-data", "instance": "initializing"},
            ids[3]: {"events": [RETIRED]},
            ids[4]: {"ebs": "impaired"},
        }
    )
    statuses = shell.instance_statuses([*ids[:3], ids[4]])
    assert statuses.keys() == {*ids[:2], ids[4]}
    assert statuses[ids[4]] == InstanceStatus(("attached EBS",))
    assert (statuses[ids[0]].impaired, statuses[ids[0]].event) == (("system",), "instance-retirement")
    assert statuses[ids[1]] == InstanceStatus(("instance",))


def test_all_pages_are_read(
    cloud: EmulatorProcess, shell: Ec2, offering: Offering, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = launched(shell, offering, *(f"p5-{number}" for number in range(1, 8)))
    cloud.control(statuses={id_: {"events": [RETIRED]} for id_ in ids})
    monkeypatch.setitem(facts()["calls"], "status", 5)
    assert shell.instance_statuses(ids).keys() == set(ids)
    assert cloud.control()["calls"]["DescribeInstanceStatus"] == 5


@pytest.mark.parametrize(
    ("code", "kind"),
    [("UnauthorizedOperation", ErrorKind.CONFIGURATION), ("RequestLimitExceeded", ErrorKind.THROTTLE)],
)
def test_a_refused_call_is_an_error(
    cloud: EmulatorProcess, shell: Ec2, monkeypatch: pytest.MonkeyPatch, code: str, kind: ErrorKind
) -> None:
    monkeypatch.setattr("landbridge.burst.aws.ec2_clients.time.sleep", lambda _: None)
    cloud.control(faults={"DescribeInstanceStatus": {"code": code, "status": 403, "times": 4}})
    with pytest.raises(AwsError) as caught:
        shell.instance_statuses(["i-1"])
    assert caught.value.kind is kind


def event(hour: int, code: str = "system-reboot", text: str = "planned") -> dict[str, Any]:
    return {
        "Code": code,
        "Description": text,
        "InstanceEventId": f"instance-event-{hour}",
        "NotBefore": datetime(2026, 12, 1, hour, tzinfo=UTC),
    }


AT_SIX = datetime(2026, 12, 1, 6, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({}, None),
        ({"SystemStatus": {"Status": "ok"}, "Events": []}, None),
        ({"SystemStatus": {"Status": "insufficient-data"}}, None),
        ({"Events": [event(6)]}, InstanceStatus((), "system-reboot", AT_SIX, "instance-event-6")),
        (
            {"Events": [event(9, "instance-stop"), event(6), event(3, text="[Completed] planned")]},
            InstanceStatus((), "system-reboot", AT_SIX, "instance-event-6"),
        ),
        ({"Events": [event(3, text="[Completed] planned"), event(4, text="[Canceled] planned")]}, None),
        ({"Events": [{"Code": "instance-stop"}]}, InstanceStatus((), "instance-stop")),
        (
            {"SystemStatus": {"Status": "impaired"}, "InstanceStatus": {"Status": "impaired"}},
            InstanceStatus(("system", "instance")),
        ),
    ],
)
def test_a_status_has_the_failed_checks_and_the_next_event(
    row: dict[str, Any], expected: InstanceStatus | None
) -> None:
    assert status_of({"InstanceId": "i-1", **row}) == expected
