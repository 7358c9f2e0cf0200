"""Each AWS resource type is one entry, and each entry is complete."""

import re
from pathlib import Path

import pytest

from landbridge.aws_resources import BY_TOKEN, RESOURCE_TYPES, SERVICES, SWEPT
from landbridge.catalog.aws.impact import impact_facts
from landbridge.live.recovery import recover
from landbridge.plan.resource_change import ResourceChange

ROOT = Path(__file__).resolve().parents[3]
PAIRS = {"landbridge:cluster": "test"}
ELASTIC_IP = "aws:ec2/eip:Eip"
GOLDEN = ROOT / "tests" / "graph" / "golden"


def tokens_of_graphs() -> set[str]:
    texts = [path.read_text() for path in GOLDEN.glob("*.txt")]
    return {token for text in texts for token in re.findall(r"\baws:[a-z0-9]+/\w+:\w+", text)}


def test_each_type_of_the_golden_graphs_has_an_entry_and_an_impact() -> None:
    tokens = tokens_of_graphs()
    assert len(tokens) > 50
    assert tokens - set(BY_TOKEN) == set()
    assert [token for token in tokens if BY_TOKEN[token].impact is None] == []


def test_a_token_has_one_entry() -> None:
    tokens = [entry.token for entry in RESOURCE_TYPES if entry.token]
    assert len(tokens) == len(set(tokens))


@pytest.mark.parametrize("entry", RESOURCE_TYPES, ids=[entry.token or entry.noun for entry in RESOURCE_TYPES])
def test_an_entry_is_complete(entry) -> None:
    if entry.token is None:
        assert entry.sweep and not entry.recover, "AWS or the burst controller creates it: only sweep can find it"
    else:
        assert bool(entry.recover) is not bool(entry.repeatable), "it is found again, or its creation is repeated"
        row = impact_facts().types.get(entry.token)
        assert entry.impact is not None
        assert row is None or row.noun == entry.noun, "one noun in impact.yaml and in the entry"
        assert row or not entry.holds_data, "a type that holds data has a row: the policy pack reads rows alone"
        assert row is None or not row.holds or entry.holds_data or not row.guarded or entry.noun == "instance"
    if entry.billed or entry.holds_data:
        assert bool(entry.sweep) is not bool(entry.not_swept), "a billed leftover is deleted, or a reason is given"


def test_ranks_of_deletion_are_unique() -> None:
    ranks = [entry.sweep.rank for entry in SWEPT if entry.sweep]
    assert ranks == sorted(set(ranks))


def test_each_service_module_has_types() -> None:
    assert len(SERVICES) > 10 and all(SERVICES.values())


def test_a_resource_that_is_in_the_state_or_was_found_before_is_not_found_again() -> None:
    class Client:
        region = "us-east-1"

        def ask(self, service: str, operation: str, **parameters: object) -> object:
            addresses = [
                {
                    "AllocationId": each,
                    "Domain": "vpc",
                    "Tags": [{"Key": key, "Value": value} for key, value in PAIRS.items()],
                }
                for each in ("one", "two", "three")
            ]
            return {"Addresses": addresses}

    assert ELASTIC_IP in BY_TOKEN
    begun = [
        ResourceChange(
            urn=f"urn:pulumi:a::b::{ELASTIC_IP}::{number}", operation="create", new={"domain": "vpc", "tags": PAIRS}
        )
        for number in range(3)
    ]
    recovered = recover(lambda region: Client(), begun, {ELASTIC_IP: frozenset({"two"})})  # type: ignore[arg-type,return-value]
    assert sorted(recovered.values()) == ["one", "three"]
