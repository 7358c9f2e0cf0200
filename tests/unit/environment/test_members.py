"""Nodes that join an environment file and leave it: exactly these lines, every other node at its address, comments kept."""

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
    """Lines that went, lines that came, without their indentation."""
    old, new = before.splitlines(), after.splitlines()
    return [one.strip() for one in old if one not in new], [one.strip() for one in new if one not in old]


def add(
    text: str, *names: str, address: str | None = None, platform: str | None = None, rack: str | None = None
) -> str:
    wanted = Joining(names=names, address=IPv4Address(address) if address else None, platform=platform, rack=rack)
    return with_nodes(text, "Pulumi.acme.yaml", wanted)


def take(text: str, *names: str) -> str:
    return without_nodes(text, "Pulumi.acme.yaml", names)


def test_the_next_of_a_row_only_makes_the_row_longer() -> None:
    assert difference(FLOW, add(FLOW, "dgx05", "dgx06")) == (
        ['- {hosts: "dgx[01-04]", platform: dgx-h100, address: 10.20.1.11, rack: r1, features: [nvme]}  # bought 2024'],
        ['- {hosts: "dgx[01-06]", platform: dgx-h100, address: 10.20.1.11, rack: r1, features: [nvme]}  # bought 2024'],
    )
    assert difference(BLOCK, add(BLOCK, "dgx04"))[1] == ['- hosts: "dgx[01-04]"   # three']
    assert difference(FLOW, add(FLOW, "smc2", address="10.20.1.32"))[1][0].startswith('- {hosts: "smc[1-2]"')


def test_any_other_node_is_a_group_of_its_own_with_what_its_kind_shares() -> None:
    gone, came = difference(FLOW, add(FLOW, "dgx05", rack="r3", address="10.20.1.40"))
    assert gone == []
    assert came == ["- {hosts: dgx05, platform: dgx-h100, address: 10.20.1.40, rack: r3, features: [nvme]}"]
    other = add(BLOCK, "b1", platform="dgx-b200", address="10.20.1.50")
    assert difference(BLOCK, other) == ([], ["- {hosts: b1, platform: dgx-b200, address: 10.20.1.50}"])
    assert node_addresses(other, "f")["b1"] == "10.20.1.50"


def test_a_node_in_the_middle_leaves_two_groups_and_every_other_address_as_it_was() -> None:
    gone, came = difference(FLOW, take(FLOW, "dgx02"))
    shared, end = "platform: dgx-h100, address: 10.20.1.", "rack: r1, features: [nvme]}  # bought 2024"
    assert len(gone) == 1
    assert came == [f'- {{hosts: "dgx01", {shared}11, {end}', f'- {{hosts: "dgx[03-04]", {shared}13, {end}']
    left = node_addresses(take(FLOW, "dgx02"), "f")
    assert left == {"dgx01": "10.20.1.11", "dgx03": "10.20.1.13", "dgx04": "10.20.1.14", "smc1": "10.20.1.31"}
    assert node_addresses(take(BLOCK, "dgx02"), "f") == {"dgx01": "10.20.1.11", "dgx03": "10.20.1.13"}
    assert take(BLOCK, "dgx02").count("memory_mib: 2048") == 2
    assert "# The first rack." in take(FLOW, "dgx01") and "smc1" not in take(FLOW, "smc1")


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("node-known", lambda: add(FLOW, "dgx03")),
        ("node-address", lambda: add(FLOW, "dgx09")),
        ("node-platform", lambda: add(FLOW, "new1", address="10.20.1.60")),
        ("node-unknown", lambda: take(FLOW, "dgx09")),
        ("node-last", lambda: take(BLOCK, "dgx01", "dgx02", "dgx03")),
        ("edit-layout", lambda: add(changed({}), "other1", address="10.20.1.60", platform="dgx-h100")),
        ("edit-layout", lambda: add("config: {}\n", "dgx01", address="10.20.1.60", platform="dgx-h100")),
        ("edit-group", lambda: add(FLOW.replace("10.20.1.11", "10.20.1"), "dgx05")),
        ("bad-yaml", lambda: add(FLOW + "  [", "dgx05")),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_with_its_place_and_nothing_is_half_done(rule: str, change: object) -> None:
    with pytest.raises(FindingsError) as error:
        change()  # type: ignore[operator]
    assert [one.rule for one in error.value.findings] == [rule]
    assert error.value.findings[0].line


def test_a_layout_that_the_edit_misunderstands_is_refused_by_reading_again() -> None:
    twice = FLOW.replace('"dgx[01-04]"', "&first dgx01").replace("hosts: smc1", "hosts: *first")
    with pytest.raises(FindingsError) as error:
        add(twice, "dgx02")
    assert error.value.findings[0].rule in ("edit-layout", "edit-value")


@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
def test_every_shipped_environment_can_be_grown_and_shrunk_back(path: Path) -> None:
    text = path.read_text()
    try:
        names = list(node_addresses(text, path.name))
    except FindingsError:
        names = []
    if not names:
        return
    grown = add(text, "zed1", address="10.20.250.1", platform="dgx-h100")
    assert load_text(grown, path).environment is not None
    assert take(grown, "zed1") == text
    for name in names[1:-1]:
        left = node_addresses(take(text, name), path.name)
        assert list(left) == [other for other in names if other != name]


@given(st.sets(st.integers(1, 30), min_size=1, max_size=12), st.data())
def test_whatever_leaves_nobody_else_moves(numbers: set[int], data: st.DataObject) -> None:
    names = [f"n{number}" for number in sorted(numbers)]
    text = FLOW.replace('"dgx[01-04]"', f'"{",".join(names)}"')
    before = node_addresses(text, "f")
    leaving = data.draw(st.lists(st.sampled_from(names), unique=True))
    left = node_addresses(take(text, *leaving), "f")
    assert left == {name: address for name, address in before.items() if name not in leaving}
    assert [*pairwise(left)] == [*pairwise(name for name in before if name not in leaving)]
