"""Looking for what an operation has left: for as long as AWS may not know of it yet, and no longer."""

import time
from collections.abc import Mapping, Sequence

import pytest

from landbridge.plan.resource_change import ResourceChange
from landbridge.realise import settle

NET = "aws:ec2/subnet:Subnet"
Known = Mapping[str, frozenset[str]]


def begun(*names: str) -> list[ResourceChange]:
    return [ResourceChange(f"urn:pulumi:e::landbridge::{NET}::{name}", "create") for name in names]


class Late:
    """An AWS with so many subnets that are alike, which shows one more each time it is asked."""

    def __init__(self, things: int) -> None:
        self.things, self.asked = [f"subnet-{number}" for number in range(things)], 0

    def __call__(self, wanted: Sequence[ResourceChange], known: Known) -> dict[str, str]:
        self.asked += 1
        free = [one for one in self.things[: self.asked] if one not in known.get(NET, ())]
        return {change.urn: one for change, one in zip(wanted, free, strict=False)}


def test_what_shows_late_is_waited_for_and_given_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settle, "_PAUSE_SECONDS", 0.01)
    aws = Late(3)
    found = settle._patiently(aws, begun("a", "b", "c"), {}, time.monotonic() + 60)
    assert sorted(found.values()) == aws.things and aws.asked == 3
    # One of them is somebody's: the last one never comes, and the time is up.
    aws, known = Late(3), {NET: frozenset({"subnet-1"})}
    found = settle._patiently(aws, begun("a", "b", "c"), known, time.monotonic() + 0.3)
    assert sorted(found.values()) == ["subnet-0", "subnet-2"] and aws.asked > 3


def test_an_operation_of_long_ago_is_asked_for_once() -> None:
    aws = Late(0)
    long_ago = {"manifest": {"time": "2026-01-01T00:00:00Z"}}
    until = settle._until(long_ago, None, settle.SETTLED_SECONDS)
    assert settle._patiently(aws, begun("a"), {}, until) == {} and aws.asked == 1
