"""The catalogue: readable, consistent, and with a source and a date on every row."""

import re
from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest

from landbridge import yaml_text
from landbridge.catalog import (
    CatalogueError,
    Instances,
    Price,
    PriceRange,
    generation,
    gpus,
    instances,
    offered,
    platforms,
    price_of,
    prices,
    regions,
    slurm_releases,
    zones,
)
from landbridge.environment import SlurmSettings
from tests.unit.catalog.peers.compared import COMPLETE

FOLDER = Path(str(files("landbridge.catalog")))
FILES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.yaml"))


@pytest.mark.parametrize("name", FILES)
def test_every_file_has_a_source_and_a_date(name: str) -> None:
    data = yaml_text.load((FOLDER / name).read_text())
    assert len(data["source"]) > 20
    assert date.fromisoformat(data["date"])


def test_every_family_is_in_the_catalogue() -> None:
    assert COMPLETE | {"p3", "p6e-gb200"} <= set(instances().families)
    assert {"p5.4xlarge", "p5.48xlarge"} <= set(instances().family("p5"))
    assert len(instances().family("g4dn")) == 7


def test_p5_has_32_cards_with_efa() -> None:
    p5 = instances()["p5.48xlarge"]
    assert [(card.index, card.interfaces, card.efa_only) for card in p5.cards] == [(n, 2, True) for n in range(32)]
    assert [card.index for card in p5.cards if card.ip] == [0, 4, 8, 12, 16, 20, 24, 28]
    accelerators = p5.accelerators
    assert accelerators is not None
    assert (accelerators.kind, accelerators.count, accelerators.type) == ("gpu", 8, "h100")
    assert (p5.cpus.logical, p5.memory_mib, p5.nvlink_domain) == (192, 2 * 2**20, 8)


def test_the_first_card_of_p6_b300_has_no_efa() -> None:
    b300 = instances()["p6-b300.48xlarge"]
    assert (len(b300.cards), b300.efa_cards) == (17, frozenset(range(1, 17)))
    assert b300.cards[0].types == {"interface"}


def test_cpu_types_have_no_accelerators_and_trainium_is_no_gpu() -> None:
    assert instances()["m7i.large"].accelerators is None
    trainium = instances()["trn2.48xlarge"].accelerators
    assert trainium is not None and (trainium.kind, trainium.count) == ("neuron", 16)


@pytest.mark.parametrize("name", instances())
def test_instance_types_are_consistent(name: str) -> None:
    kind = instances()[name]
    assert kind.name == name and kind.family == name.split(".")[0]
    accelerators = kind.accelerators
    if accelerators is not None:
        assert accelerators.count > 0 and re.fullmatch(r"[a-z0-9]+", accelerators.type)
    assert bool(kind.driver) == (accelerators is not None)
    assert ("neuron" in kind.driver) == (accelerators is not None and accelerators.kind == "neuron")
    assert kind.cpus.cores % kind.cpus.sockets == 0
    assert kind.cards[0].ip and "interface" in kind.cards[0].types
    assert kind.network_baseline_gbps is None or kind.network_baseline_gbps < kind.network_gbps
    assert kind.ebs is None or kind.ebs.baseline_iops is None or kind.ebs.baseline_iops <= kind.ebs.iops
    known = {zone for region in regions().values() for zone in region.zones}
    assert set(kind.zones) <= known and set(kind.regions) <= set(regions())
    assert len(kind.purchase) == len(set(kind.purchase)) > 0


@pytest.mark.parametrize(
    ("name", "region", "is_offered"),
    [
        ("p5.48xlarge", "us-east-1", True),
        ("p5.48xlarge", "us-gov-west-1", True),
        ("p5.48xlarge", "eu-central-1", False),
        ("p5.48xlarge", "cn-north-1", False),
        ("p3.16xlarge", "us-east-1", True),
        ("p5.48xlarge", "mars-1", None),
    ],
)
def test_a_type_is_offered_in_its_regions(name: str, region: str, is_offered: bool | None) -> None:
    assert offered(instances()[name], region) is is_offered


def test_a_lookup_of_a_type_reads_only_its_file(tmp_path: Path) -> None:
    (tmp_path / "instances").mkdir()
    for family in ("p5", "g6e"):
        (tmp_path / "instances" / f"{family}.yaml").write_text((FOLDER / "instances" / f"{family}.yaml").read_text())
    (tmp_path / "instances" / "bad.yaml").write_text("source: [")
    catalogue = Instances(tmp_path)
    assert catalogue["p5.48xlarge"] == instances()["p5.48xlarge"]
    assert "g6e.xlarge" in catalogue and "g6e.huge" not in catalogue and "p6.48xlarge" not in catalogue
    with pytest.raises(CatalogueError, match=r"instances/bad\.yaml"):
        list(catalogue)


@pytest.mark.parametrize(
    "name", ["", "p5", ".48xlarge", "../p5.48xlarge", "p5/../p5.48xlarge", "P5.48xlarge", "p5.48xlarge\n"]
)
def test_invalid_type_names_are_not_found(name: str) -> None:
    assert name not in instances()


@pytest.mark.parametrize(
    ("change", "replacement"),
    [
        ('cards: "0-31"', 'cards: "0-30,32"'),
        ('cards: "0-31"', 'cards: "1-31"'),
        ('"0,4,8,12,16,20,24,28"', '"0,32"'),
        ("memory_mib: 2097152", "memory_mb: 2097152"),
        ("types: [interface, efa, efa-only]", "types: [interface, efaa]"),
        ("  p5.48xlarge:", "  p5e.48xlarge:"),
        ("date: 2026-11-20", "data: 2026-11-20"),
    ],
)
def test_a_wrong_row_is_refused_with_its_file(tmp_path: Path, change: str, replacement: str) -> None:
    (tmp_path / "instances").mkdir()
    text = (FOLDER / "instances/p5.yaml").read_text()
    assert change in text
    (tmp_path / "instances/p5.yaml").write_text(text.replace(change, replacement))
    with pytest.raises(CatalogueError, match=r"instances/p5\.yaml: "):
        list(Instances(tmp_path).values())


@pytest.mark.parametrize("name", platforms())
def test_platforms_are_consistent(name: str) -> None:
    platform = platforms()[name]
    assert platform.gpus.count in (4, 8, 16) and platform.gpus.kind == "gpu"
    assert platform.cpus.cores % platform.cpus.sockets == 0
    assert platform.power_kw is None or platform.power_kw > 1
    assert platform.gpus.memory_mib == platform.gpu.memory_mib and platform.gpus.type == platform.gpu.type
    # NVSwitches connect GPUs with NVLink; the required services follow from them alone.
    assert platform.nvswitch is None or platform.gpu.nvlink is not None
    assert not platform.subnet_manager or platform.fabric_manager
    assert generation(platform.gpu).modules


def test_the_fabric_of_a_platform_decides_the_services_beside_its_driver() -> None:
    needs = {
        name: (platform.fabric_manager, platform.subnet_manager, platform.imex)
        for name, platform in platforms().items()
    }
    assert needs["dgx-h100"] == needs["supermicro-hgx-h100"] == (True, False, False)
    assert needs["dgx-b200"] == needs["hgx-b200"] == (True, True, False)
    assert needs["pcie-h100"] == needs["dgx-1"] == (False, False, False)
    assert needs["gb200-nvl72"] == (False, False, True)


def test_no_two_forms_of_a_gpu_share_a_device_id() -> None:
    ids = [device_id for gpu in gpus().values() for device_id in gpu.pci]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(("gpu", "modules"), [("v100-sxm2", ("proprietary",)), ("b200-sxm", ("open",))])
def test_a_gpu_generation_has_its_kernel_modules(gpu: str, modules: tuple[str, ...]) -> None:
    assert generation(gpus()[gpu]).modules == modules


def test_prices_are_of_known_types_and_places() -> None:
    known = set(regions()) | {zone for region in regions().values() for zone in region.zones}
    ultraservers = {"u-p6e-gb200x72", "u-p6e-gb200x36"}
    for row in prices().rows:
        assert set(row.regions) <= known
        if row.kind in ("on_demand", "spot", "capacity_block"):
            assert set(row.usd) <= set(instances()) | ultraservers
            assert row.unit in ("instance-hour", "ultraserver-hour")
        for usd in row.usd.values():
            low, high = usd if isinstance(usd, tuple) else (usd, usd)
            assert 0 <= low <= high < 1000


def test_every_price_is_unique() -> None:
    listed = prices()
    seen = [
        (row.kind, row.unit, region, name, listed.sources[row.source].date)
        for row in listed.rows
        for region in row.regions
        for name in row.usd
    ]
    assert len(seen) == len(set(seen))
    assert set(listed.sources) == {row.source for row in listed.rows}


def test_the_newest_price_counts_and_older_ones_are_kept_by_date() -> None:
    now = price_of("on_demand", "p5.48xlarge", "us-east-1")
    assert isinstance(now, Price) and (now.usd, now.unit) == (55.04, "instance-hour")
    then = price_of("on_demand", "p5.48xlarge", "us-east-1", on=date(2025, 6, 1))
    assert isinstance(then, Price) and then.usd == 98.32
    assert price_of("on_demand", "p5.48xlarge", "us-east-1", on=date(2020, 1, 1)) is None
    block = price_of("capacity_block", "p5.48xlarge", "us-east-2")
    assert isinstance(block, Price) and (block.usd, block.as_of) == (47.76, date(2026, 10, 7))
    spot = price_of("spot", "p5.48xlarge", "us-east-1")
    assert isinstance(spot, PriceRange) and (spot.low, spot.high) == (16.95, 55.04)
    in_zone = price_of("spot", "p5.48xlarge", "use2-az2")
    assert isinstance(in_zone, Price) and in_zone.usd == 11.56
    assert price_of("on_demand", "p5e.48xlarge", "us-east-1") is None
    assert price_of("on_demand", "p5.48xlarge", "eu-south-2") is None


def test_zones_are_zone_ids() -> None:
    assert zones("us-east-1") == tuple(f"use1-az{number}" for number in range(1, 7))
    assert zones("nowhere") == ()
    assert regions()["us-gov-west-1"].partition == "aws-us-gov"


def test_every_selectable_slurm_version_is_in_the_catalogue() -> None:
    versions = SlurmSettings.model_json_schema()["properties"]["version"]["enum"]
    assert set(versions) == set(slurm_releases())


def test_regions_have_their_services_and_geography() -> None:
    virginia, gov, zurich = (regions()[name] for name in ("us-east-1", "us-gov-west-1", "eu-central-2"))
    assert {"fsx_lustre_efa", "capacity_block", "managed_grafana", "fsx_openzfs_single_az_ha_2"} <= virginia.services
    assert "hyperpod" not in gov.services and gov.geography == "us"
    assert "fsx_lustre_persistent_2" not in zurich.services and zurich.geography == "ch" and zurich.openzfs is None
    for region in regions().values():
        assert region.openzfs is None or "fsx_openzfs" in region.services
        assert "fsx_lustre_efa" not in region.services or "fsx_lustre_persistent_2" in region.services
