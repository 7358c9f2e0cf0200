"""The catalogue: readable, consistent, and with a source and a date on every file."""

import re
from datetime import date
from importlib.resources import files

import pytest
from ruamel.yaml import YAML

from landbridge.catalog import instances, platforms, prices, regions, slurm_releases, zones
from landbridge.environment import Slurm

FILES = sorted(entry.name for entry in files("landbridge.catalog").iterdir() if entry.name.endswith(".yaml"))


@pytest.mark.parametrize("name", FILES)
def test_every_file_says_from_where_and_when(name: str) -> None:
    data = YAML(typ="safe", pure=True).load(files("landbridge.catalog").joinpath(name).read_text())
    assert len(data["source"]) > 20
    assert isinstance(data["date"], date)


def test_p5_has_32_cards_with_efa() -> None:
    p5 = instances()["p5.48xlarge"]
    assert (p5.cards.count, p5.cards.efa, p5.cards.interfaces) == (32, frozenset(range(32)), 2)
    assert sorted(p5.cards.ip) == [0, 4, 8, 12, 16, 20, 24, 28]
    assert (p5.gpus.count, p5.gpus.type, p5.cpus.logical, p5.memory_mib) == (8, "h100", 192, 2 * 2**20)


def test_the_first_card_of_p6_b300_has_no_efa() -> None:
    cards = instances()["p6-b300.48xlarge"].cards
    assert (cards.count, cards.efa) == (17, frozenset(range(1, 17)))


@pytest.mark.parametrize("name", instances())
def test_instance_types_are_consistent(name: str) -> None:
    kind = instances()[name]
    assert kind.gpus.count > 0 and re.fullmatch(r"[a-z0-9]+", kind.gpus.type)
    assert kind.cpus.cores % kind.cpus.sockets == 0
    assert (kind.cards.efa | kind.cards.ip) <= frozenset(range(kind.cards.count))
    known = {zone for listed in regions().values() for zone in listed}
    assert set(kind.zones) <= known and kind.zones


@pytest.mark.parametrize("name", platforms())
def test_platforms_are_consistent(name: str) -> None:
    platform = platforms()[name]
    assert platform.gpus.count in (8, 16)
    assert platform.cpus.cores % platform.cpus.sockets == 0
    assert platform.power_kw > 1


def test_prices_are_of_known_types_and_regions() -> None:
    listed = prices()
    assert set(listed.on_demand) <= set(regions())
    assert {name for region in listed.on_demand.values() for name in region} <= set(instances())
    assert set(listed.capacity_block) <= set(instances())
    assert listed.on_demand["us-east-1"]["p5.48xlarge"] == 55.04


def test_zones_are_ids() -> None:
    assert zones("us-east-1") == tuple(f"use1-az{number}" for number in range(1, 7))
    assert zones("nowhere") == ()


def test_every_slurm_version_one_may_choose_is_described() -> None:
    versions = Slurm.model_json_schema()["properties"]["version"]["enum"]
    assert set(versions) == set(slurm_releases())
