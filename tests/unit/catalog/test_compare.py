"""The comparison with EC2's own descriptions: what differs is said, and nothing else."""

import copy
from typing import Any

import pytest

from landbridge.catalog import InstanceType, instances, zones
from landbridge.catalog.compare import Difference, compare, described_facts, facts_of
from landbridge.catalog.differences import explanation
from tests.unit.catalog.peers.moto import descriptions

P5, B300 = "p5.48xlarge", "p6-b300.48xlarge"


def described(name: str) -> dict[str, Any]:
    found: dict[str, Any] = copy.deepcopy(descriptions()[name])
    return found


def altered(name: str, **changes: Any) -> dict[str, InstanceType]:
    return {name: instances()[name].model_copy(update=changes)}


def test_equal_descriptions_differ_in_nothing() -> None:
    assert compare(instances(), [described(P5), described(B300), described("m7i.large")]) == ()


@pytest.mark.parametrize(
    ("changes", "fact", "ours", "theirs"),
    [
        ({"memory_mib": 1}, "memory_mib", 1, 2 * 2**20),
        ({"nvme_gb": 0}, "nvme_gb", 0, 30400),
        ({"network_gbps": 400.0}, "network_gbps", 400.0, 3200.0),
        ({"accelerators": None}, "accelerators.count", 0, 8),
        ({"purchase": ("on_demand",)}, "purchase", ("on_demand",), ("capacity_block", "on_demand", "spot")),
        ({"placement": ()}, "placement", (), ("cluster", "partition", "spread")),
        ({"cards": instances()[B300].cards}, "cards", 17, 32),
    ],
)
def test_a_wrong_fact_of_ours_is_found(changes: dict[str, Any], fact: str, ours: object, theirs: object) -> None:
    found = {one.fact: one for one in compare(altered(P5, **changes), [described(P5)])}
    assert found[fact] == Difference(P5, fact, ours, theirs)  # type: ignore[arg-type]


def test_a_change_of_a_single_card_is_found() -> None:
    theirs = described(B300)
    theirs["NetworkInfo"]["NetworkCards"][5]["InterfaceTypes"] = ["interface"]
    theirs["NetworkInfo"]["EfaInfo"]["MaximumEfaInterfaces"] = 15
    found = {one.fact: one for one in compare(instances(), [theirs])}
    assert set(found) == {"cards.types", "efa_cards"}
    assert found["cards.types"].theirs == (
        "0: interface; 1-4: efa, efa-only, interface; 5: interface; 6-16: efa, efa-only, interface"
    )
    assert (found["efa_cards"].ours, found["efa_cards"].theirs) == (16, 15)


def test_the_order_of_cards_does_not_matter() -> None:
    theirs = described(P5)
    theirs["NetworkInfo"]["NetworkCards"].reverse()
    assert compare(instances(), [theirs]) == ()


def test_a_description_without_parts_says_nothing_about_them() -> None:
    assert (
        compare(
            instances(),
            [
                {
                    "InstanceType": P5,
                    "GpuInfo": described(P5)["GpuInfo"],
                    "InstanceStorageInfo": {"TotalSizeInGB": 30400},
                }
            ],
        )
        == ()
    )


def test_a_new_type_of_a_known_family_is_reported_and_of_others_not() -> None:
    new, stranger = {**described(P5), "InstanceType": "p5.96xlarge"}, {**described(P5), "InstanceType": "x9.huge"}
    assert compare(instances(), [new, stranger]) == (Difference("p5.96xlarge", "type", None, "described"),)


def test_offerings_are_compared_in_the_zones_asked_about() -> None:
    asked = zones("us-east-1")
    offerings = [
        {"InstanceType": name, "LocationType": "availability-zone-id", "Location": zone}
        for name, kind in instances().items()
        for zone in kind.zones_in(asked)
    ]
    assert compare(instances(), [], offerings, asked) == ()
    assert compare(instances(), [], [], ()) == ()
    fewer = [one for one in offerings if (one["InstanceType"], one["Location"]) != (P5, "use1-az4")]
    assert compare(instances(), [], fewer, asked) == (Difference(P5, "zones", ("use1-az4",), None),)
    more = [*offerings, {"InstanceType": "p6-b300.48xlarge", "Location": "use1-az1"}]
    assert compare(instances(), [], more, asked) == (Difference(B300, "zones", None, ("use1-az1",)),)


@pytest.mark.parametrize("name", [name for name in instances() if name in descriptions()])
def test_both_sides_speak_of_the_same_facts(name: str) -> None:
    assert set(described_facts(described(name))) <= set(facts_of(instances()[name]))


def test_what_is_known_of_a_difference_is_found_again() -> None:
    (found,) = compare(instances(), [described("p6-b200.48xlarge")])
    known = explanation(found)
    assert known is not None and known.right == "both" and "ENA" in known.why
    assert explanation(Difference(P5, "memory_mib", 1, 2)) is None
