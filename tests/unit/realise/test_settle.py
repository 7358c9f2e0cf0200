"""Search for resources of an interrupted operation: as long as AWS may not show them yet, and no longer."""

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
    """Stand-in of AWS with `count` equal subnets, which shows one more of them at each query."""

    def __init__(self, count: int) -> None:
        self.subnets, self.queries = [f"subnet-{number}" for number in range(count)], 0

    def __call__(self, changes: Sequence[ResourceChange], known: Known) -> dict[str, str]:
        self.queries += 1
        free = [subnet for subnet in self.subnets[: self.queries] if subnet not in known.get(NET, ())]
        return {change.urn: subnet for change, subnet in zip(changes, free, strict=False)}


def test_resources_that_appear_late_are_waited_for_and_assigned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settle, "_PAUSE_SECONDS", 0.01)
    aws = Late(3)
    recovered = settle._find_until(aws, begun("a", "b", "c"), {}, time.monotonic() + 60)
    assert sorted(recovered.values()) == aws.subnets and aws.queries == 3
    # One of them is in the state already: the third never appears, and the search ends at its time limit.
    aws, known = Late(3), {NET: frozenset({"subnet-1"})}
    recovered = settle._find_until(aws, begun("a", "b", "c"), known, time.monotonic() + 0.3)
    assert sorted(recovered.values()) == ["subnet-0", "subnet-2"] and aws.queries > 3


def test_an_old_operation_is_searched_for_once() -> None:
    aws = Late(0)
    long_ago = {"manifest": {"time": "2026-01-01T00:00:00Z"}}
    until = settle._until(long_ago, None, settle.SETTLED_SECONDS)
    assert settle._find_until(aws, begun("a"), {}, until) == {} and aws.queries == 1
