"""Terminations of which EC2 refuses some, against a function that refuses as EC2 does."""

from collections.abc import Collection, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.aws.terminate import terminate_each
from landbridge.burst.model import ActionOutcome
from landbridge.burst.model.errors import AwsError, facts

REFUSED = ("OperationNotPermitted", "The instance may not be terminated.")


class Zones:
    """TerminateInstances: an Availability Zone with a protected instance in the call keeps its instances."""

    def __init__(self, zone_of: Mapping[str, str], protected: Collection[str], throttled_at: int = 0) -> None:
        self.zone_of, self.protected, self.throttled_at = zone_of, protected, throttled_at
        self.ended: set[str] = set()
        self.calls = 0

    def __call__(self, ids: list[str]) -> None:
        self.calls += 1
        if self.calls == self.throttled_at:
            raise AwsError("RequestLimitExceeded", "")
        closed_zones = {self.zone_of[id] for id in ids if id in self.protected}
        self.ended |= {id for id in ids if self.zone_of[id] not in closed_zones}
        if closed_zones:
            raise AwsError(*REFUSED)


def names(count: int) -> list[str]:
    return [f"i-{number:08x}" for number in range(count)]


def one_zone(ids: list[str]) -> dict[str, str]:
    return dict.fromkeys(ids, "a")


def test_a_protected_instance_shields_no_other_of_its_batch() -> None:
    ids = names(500)
    ec2 = Zones(one_zone(ids), [ids[6]])
    assert terminate_each([ids], ec2) == ActionOutcome(refused={ids[6]: REFUSED})
    assert ec2.ended == set(ids) - {ids[6]} and ec2.calls <= 20


@given(st.data())
def test_whatever_is_protected_every_other_instance_ends_and_the_refused_ones_are_known(data: st.DataObject) -> None:
    ids = names(data.draw(st.integers(1, 40)))
    zone_of = {id: data.draw(st.sampled_from("ab")) for id in ids}
    protected = data.draw(st.sets(st.sampled_from(ids), max_size=facts()["calls"]["refusals"] - 1))
    size = data.draw(st.integers(1, 40))
    ec2 = Zones(zone_of, protected)
    outcome = terminate_each([ids[at : at + size] for at in range(0, len(ids), size)], ec2)
    assert outcome == ActionOutcome(refused=dict.fromkeys(protected, REFUSED)) and ec2.ended == set(ids) - protected


def test_a_missing_permission_costs_few_calls_and_the_next_batch_is_tried() -> None:
    ids = names(600)
    ec2 = Zones(one_zone(ids), ids[:500])
    outcome = terminate_each([ids[:500], ids[500:]], ec2)
    assert outcome.code == "OperationNotPermitted" and ec2.calls < 40 and ec2.ended == set(ids[500:])
    # The pass after the refused ones are set apart continues with the others.
    assert set(outcome.refused) == set(ids[: facts()["calls"]["refusals"]])


@pytest.mark.parametrize("at", [2, 5])
def test_a_throttled_call_ends_all_and_keeps_the_refusals_until_then(at: int) -> None:
    ids = names(4)
    ec2 = Zones(one_zone(ids), [ids[0]], throttled_at=at)
    outcome = terminate_each([ids], ec2)
    assert outcome.code == "RequestLimitExceeded" and set(outcome.refused) == ({ids[0]} if at == 5 else set())
