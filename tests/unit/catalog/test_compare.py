"""Comparison of the catalogue with descriptions of EC2: it reports the differences and nothing else."""

import copy
from typing import Any

import pytest

from landbridge.catalog import InstanceType, instances, zones
from landbridge.catalog.compare import Difference, compare, described_facts, facts_of
from landbridge.catalog.differences import explanation
from tests.unit.catalog.peers.moto import descriptions

P5, B300 = "p5.48xlarge", "p6-b300.48xlarge"


def described(name: str) -> dict[str, Any]:
    description: dict[str, Any] = copy.deepcopy(descriptions()[name])
    return description


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
def test_a_wrong_fact_of_the_catalogue_is_reported(
    changes: dict[str, Any], fact: str, ours: object, theirs: object
) -> None:
    differences = {difference.fact: difference for difference in compare(altered(P5, **changes), [described(P5)])}
    assert differences[fact] == Difference(P5, fact, ours, theirs)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("gpu", "differences"),
    [
        ({"Count": 0, "LogicalGpuCount": 1, "GpuPartitionSize": 1.0}, {}),
        ({"Count": 0}, {}),
        ({"Count": 1}, {}),
        ({"Count": 0, "LogicalGpuCount": 1, "GpuPartitionSize": 0.125}, {"accelerators.fraction": (1.0, 0.125)}),
        ({"Count": 2, "LogicalGpuCount": 2}, {"accelerators.count": (1, 2)}),
    ],
)
def test_a_count_of_zero_whole_gpus_is_no_missing_gpu(
    gpu: dict[str, Any], differences: dict[str, tuple[float, float]]
) -> None:
    description = {
        "InstanceType": "g6.xlarge",
        "GpuInfo": {"Gpus": [{"Name": "L4", **gpu}]},
        "InstanceStorageInfo": {"TotalSizeInGB": 250},
    }
    compared = {
        difference.fact: (difference.ours, difference.theirs) for difference in compare(instances(), [description])
    }
    assert compared == differences


def test_a_fraction_of_a_gpu_has_a_gres_type_and_a_driver_of_its_own() -> None:
    whole = instances()["g6.xlarge"]
    row = whole.model_dump() | {"driver": ["grid"], "cards": whole.cards}
    eighth = {"count": 1, "type": "l4_eighth", "memory_mib": 2861, "fraction": 0.125}
    kind = InstanceType.model_validate({**row, "accelerators": eighth})
    assert kind.accelerators is not None and kind.accelerators.model == "l4"
    description = {
        "Name": "L4",
        "Count": 0,
        "LogicalGpuCount": 1,
        "GpuPartitionSize": 0.125,
        "MemoryInfo": {"SizeInMiB": 2861},
    }
    described = {
        "InstanceType": kind.name,
        "GpuInfo": {"Gpus": [description]},
        "InstanceStorageInfo": {"TotalSizeInGB": 250},
    }
    assert compare({kind.name: kind}, [described]) == ()
    for wrong in (
        {"accelerators": {**eighth, "type": "l4"}},
        {"driver": ["open"]},
        {"accelerators": {**eighth, "fraction": 0.3}},
    ):
        with pytest.raises(ValueError, match="fraction of a GPU"):
            InstanceType.model_validate({**row, "accelerators": eighth, **wrong})


def test_a_change_of_a_single_card_is_reported() -> None:
    theirs = described(B300)
    theirs["NetworkInfo"]["NetworkCards"][5]["InterfaceTypes"] = ["interface"]
    theirs["NetworkInfo"]["EfaInfo"]["MaximumEfaInterfaces"] = 15
    differences = {difference.fact: difference for difference in compare(instances(), [theirs])}
    assert set(differences) == {"cards.types", "efa_cards"}
    assert differences["cards.types"].theirs == (
        "0: interface; 1-4: efa, efa-only, interface; 5: interface; 6-16: efa, efa-only, interface"
    )
    assert (differences["efa_cards"].ours, differences["efa_cards"].theirs) == (16, 15)


def test_the_order_of_cards_does_not_matter() -> None:
    theirs = described(P5)
    theirs["NetworkInfo"]["NetworkCards"].reverse()
    assert compare(instances(), [theirs]) == ()


def test_missing_parts_of_a_description_are_not_compared() -> None:
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
    new, other_family = {**described(P5), "InstanceType": "p5.96xlarge"}, {**described(P5), "InstanceType": "x9.huge"}
    assert compare(instances(), [new, other_family]) == (Difference("p5.96xlarge", "type", None, "described"),)


def test_offerings_are_compared_in_the_given_zones() -> None:
    given_zones = zones("us-east-1")
    offerings = [
        {"InstanceType": name, "LocationType": "availability-zone-id", "Location": zone}
        for name, kind in instances().items()
        for zone in kind.zones_in(given_zones)
    ]
    assert compare(instances(), [], offerings, given_zones) == ()
    assert compare(instances(), [], [], ()) == ()
    fewer = [entry for entry in offerings if (entry["InstanceType"], entry["Location"]) != (P5, "use1-az4")]
    assert compare(instances(), [], fewer, given_zones) == (Difference(P5, "zones", ("use1-az4",), None),)
    more = [*offerings, {"InstanceType": "p6-b300.48xlarge", "Location": "use1-az1"}]
    assert compare(instances(), [], more, given_zones) == (Difference(B300, "zones", None, ("use1-az1",)),)


@pytest.mark.parametrize("name", [name for name in instances() if name in descriptions()])
def test_every_described_fact_is_a_fact_of_the_catalogue(name: str) -> None:
    assert set(described_facts(described(name))) <= set(facts_of(instances()[name]))


def test_a_known_difference_has_its_explanation() -> None:
    (difference,) = compare(instances(), [described("p6-b200.48xlarge")])
    known = explanation(difference)
    assert known is not None and known.right == "both" and "ENA" in known.why
    assert explanation(Difference(P5, "memory_mib", 1, 2)) is None
