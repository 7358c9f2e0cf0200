"""Nodes added to and removed from an environment file: only their lines change, other addresses and comments stay."""

from ipaddress import IPv4Address
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.environment.file.load import load_text
from landbridge.environment.file.members import Joining, node_addresses, with_nodes, without_nodes
from landbridge.findings import FindingsError
from tests.unit.core.samples import SHIPPED, changed

FLOW = """\
config:
  landbridge:environment:
    onprem:
      nodes:
        # The first rack.
        - {hosts: "dgx[01-04]", platform: dgx-h100, address: 10.20.1.11, rack: r1, features: [nvme]}  # bought 2024
        - {hosts: smc1, platform: hgx-a100, address: 10.20.1.31, rack: r2}
      cidr: 10.20.0.0/16
"""
BLOCK = """\
config:
  landbridge:environment:
    onprem:
      nodes:
      - hosts: dgx[01-03]   # three
        platform: dgx-h100
        address: 10.20.1.11
        hardware:
          memory_mib: 2048
      cidr: 10.20.0.0/16
"""


def difference(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the removed and the added lines, without indentation."""
    old, new = before.splitlines(), after.splitlines()
    return [line.strip() for line in old if line not in new], [line.strip() for line in new if line not in old]


def add(
    text: str,
    *names: str,
    address: str | None = None,
    platform: str | None = None,
    rack: str | None = None,
    system: str | None = None,
) -> str:
    at = IPv4Address(address) if address else None
    joining = Joining(names=names, address=at, platform=platform, rack=rack, os=system)
    return with_nodes(text, "Pulumi.acme.yaml", joining)


def remove(text: str, *names: str) -> str:
    return without_nodes(text, "Pulumi.acme.yaml", names)[0]


def test_the_next_node_of_a_range_extends_the_range() -> None:
    assert difference(FLOW, add(FLOW, "dgx05", "dgx06")) == (
        ['- {hosts: "dgx[01-04]", platform: dgx-h100, address: 10.20.1.11, rack: r1, features: [nvme]}  # bought 2024'],
        ['- {hosts: "dgx[01-06]", platform: dgx-h100, address: 10.20.1.11, rack: r1, features: [nvme]}  # bought 2024'],
    )
    assert difference(BLOCK, add(BLOCK, "dgx04"))[1] == ['- hosts: "dgx[01-04]"   # three']
    assert difference(FLOW, add(FLOW, "smc2", address="10.20.1.32"))[1][0].startswith('- {hosts: "smc[1-2]"')


def test_any_other_node_is_a_new_group_with_the_keys_of_its_platform() -> None:
    removed, added = difference(FLOW, add(FLOW, "dgx05", rack="r3", address="10.20.1.40"))
    assert removed == []
    assert added == ["- {hosts: dgx05, platform: dgx-h100, address: 10.20.1.40, rack: r3, features: [nvme]}"]
    other = add(BLOCK, "b1", platform="dgx-b200", address="10.20.1.50")
    assert difference(BLOCK, other) == ([], ["- {hosts: b1, platform: dgx-b200, address: 10.20.1.50}"])
    assert node_addresses(other, "f")["b1"] == "10.20.1.50"


#: FLOW with an operating system for each platform, and a third platform with two.
MIXED = FLOW.replace("rack: r1,", "os: ubuntu-24.04, rack: r1,").replace(
    "rack: r2}",
    "rack: r2}\n"
    "        - {hosts: b1, platform: dgx-b200, address: 10.20.1.41, os: dgx-os-7}\n"
    "        - {hosts: c1, platform: dgx-b200, address: 10.20.1.51, os: ubuntu-24.04}",
)


@pytest.mark.parametrize(
    ("name", "platform", "system", "written"),
    [
        # Its name stem and platform, its platform, and the option.
        ("dgx09", None, None, "ubuntu-24.04"),
        ("new1", "dgx-h100", None, "ubuntu-24.04"),
        ("new1", "hgx-a100", None, None),
        ("b7", "dgx-b200", None, "dgx-os-7"),
        ("new1", "dgx-b200", "dgx-os-7", "dgx-os-7"),
        ("dgx05", "dgx-h100", "debian-12", "debian-12"),
    ],
)
def test_a_new_group_has_the_operating_system_of_similar_nodes(
    name: str, platform: str | None, system: str | None, written: str | None
) -> None:
    address = "10.20.1.15" if name == "dgx05" else "10.20.1.90"
    removed, added = difference(MIXED, add(MIXED, name, address=address, platform=platform, system=system))
    assert removed == [] and len(added) == 1
    assert ("os: " in added[0]) == (written is not None) and (written is None or f"os: {written}" in added[0])


def test_a_node_with_the_system_of_its_group_continues_the_group() -> None:
    assert add(MIXED, "dgx05", system="ubuntu-24.04") == add(MIXED, "dgx05")
    assert add(FLOW, "smc2", address="10.20.1.32", system="debian-13").count("hosts: ") == 2


def test_removal_of_a_middle_node_leaves_two_groups_with_unchanged_addresses() -> None:
    removed, added = difference(FLOW, remove(FLOW, "dgx02"))
    shared, end = "platform: dgx-h100, address: 10.20.1.", "rack: r1, features: [nvme]}  # bought 2024"
    assert len(removed) == 1
    assert added == [f'- {{hosts: "dgx01", {shared}11, {end}', f'- {{hosts: "dgx[03-04]", {shared}13, {end}']
    remaining = node_addresses(remove(FLOW, "dgx02"), "f")
    assert remaining == {"dgx01": "10.20.1.11", "dgx03": "10.20.1.13", "dgx04": "10.20.1.14", "smc1": "10.20.1.31"}
    assert node_addresses(remove(BLOCK, "dgx02"), "f") == {"dgx01": "10.20.1.11", "dgx03": "10.20.1.13"}
    assert remove(BLOCK, "dgx02").count("memory_mib: 2048") == 2
    assert "# The first rack." in remove(FLOW, "dgx01") and "smc1" not in remove(FLOW, "smc1")


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("node-known", lambda: add(FLOW, "dgx03")),
        ("node-address", lambda: add(FLOW, "dgx09")),
        ("node-platform", lambda: add(FLOW, "new1", address="10.20.1.60")),
        ("node-os", lambda: add(MIXED, "new1", address="10.20.1.60", platform="dgx-b200")),
        ("node-os", lambda: add(MIXED, "new1", address="10.20.1.60", platform="dgx-h200")),
        ("node-unknown", lambda: remove(FLOW, "dgx09")),
        ("node-last", lambda: remove(BLOCK, "dgx01", "dgx02", "dgx03")),
        ("edit-layout", lambda: add(changed({}), "other1", address="10.20.1.60", platform="dgx-h100")),
        ("edit-layout", lambda: add("config: {}\n", "dgx01", address="10.20.1.60", platform="dgx-h100")),
        ("edit-group", lambda: add(FLOW.replace("10.20.1.11", "10.20.1"), "dgx05")),
        ("bad-yaml", lambda: add(FLOW + "  [", "dgx05")),
    ],
)  # fmt: skip
def test_an_impossible_change_is_a_located_finding(rule: str, change: object) -> None:
    with pytest.raises(FindingsError) as error:
        change()  # type: ignore[operator]
    assert [finding.rule for finding in error.value.findings] == [rule]
    assert error.value.findings[0].line


def test_an_edit_with_a_wrong_result_is_refused() -> None:
    twice = FLOW.replace('"dgx[01-04]"', "&first dgx01").replace("hosts: smc1", "hosts: *first")
    with pytest.raises(FindingsError) as error:
        add(twice, "dgx02")
    assert error.value.findings[0].rule in ("edit-layout", "edit-value")


@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
def test_a_node_can_be_added_to_and_removed_from_every_shipped_environment(path: Path) -> None:
    text = path.read_text()
    try:
        names = list(node_addresses(text, path.name))
    except FindingsError:
        names = []
    if not names:
        return
    grown = add(text, "zed1", address="10.20.250.1", platform="dgx-h100")
    assert load_text(grown, path).environment is not None
    assert remove(grown, "zed1") == text
    for name in names[1:-1]:
        remaining = node_addresses(remove(text, name), path.name)
        assert list(remaining) == [other for other in names if other != name]


@given(st.sets(st.integers(1, 30), min_size=1, max_size=12), st.data())
def test_a_removal_changes_no_other_address(numbers: set[int], data: st.DataObject) -> None:
    names = [f"n{number}" for number in sorted(numbers)]
    text = FLOW.replace('"dgx[01-04]"', f'"{",".join(names)}"')
    before = node_addresses(text, "f")
    leaving = data.draw(st.lists(st.sampled_from(names), unique=True))
    remaining = node_addresses(remove(text, *leaving), "f")
    assert remaining == {name: address for name, address in before.items() if name not in leaving}
    assert [*pairwise(remaining)] == [*pairwise(name for name in before if name not in leaving)]
