"""SuspendExcNodes with kept nodes: the value that Slurm gets, and the commands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.slurm import slurm
from landbridge.burst.slurm.suspend_exclusions import exclusion_words, kept_nodes_of, with_keeps
from landbridge.hostlist import expand
from tests.unit.burst.slurm.commands import Install, commands  # noqa: F401

OWNED = [f"p5-{number}" for number in range(1, 9)]


@pytest.mark.parametrize(
    ("value", "nodes", "expected"),
    [
        ("", ["p5-3"], "p5-3:1"),
        ("(null)", ["p5-3", "p5-1"], "p5-1:1,p5-3:1"),
        ("dgx[01-02]", ["p5-3"], "dgx[01-02],p5-3:1"),
        ("dgx[01-02],p5-3:1", ["p5-3"], "dgx[01-02],p5-3:1"),
        ("dgx[01-02],p5-3:1", ["p5-4"], "dgx[01-02],p5-4:1"),
        ("dgx[01-02],p5-3:1", [], "dgx[01-02]"),
        ("p5-[1-8]:2,p5-3:1", [], "p5-[1-8]:2"),
        # Another cluster's node, and a node that an operator has excepted by its plain name.
        ("gpu-1:1,p5-2", ["p5-3"], "gpu-1:1,p5-2,p5-3:1"),
        # Beside a count Slurm divides at every comma.
        ("dgx[01,03-05]", ["p5-3"], "dgx01,dgx[03-05],p5-3:1"),
        ("r[1-2]n[1,3]", ["p5-3"], "r[1-2]n1,r[1-2]n3,p5-3:1"),
        ("dgx[01,03]", [], "dgx[01,03]"),
    ],
)
def test_kept_nodes_are_words_of_their_own(value: str, nodes: list[str], expected: str) -> None:
    assert with_keeps(value, nodes, OWNED) == expected
    assert with_keeps(expected, nodes, OWNED) == expected


def test_the_kept_nodes_are_read_from_the_value() -> None:
    assert kept_nodes_of("dgx[01-02],p5-[1-8]:2,p5-3:1,gpu-1:1,p5-4", OWNED) == ["p5-3"]


@given(
    st.lists(st.sampled_from(["dgx[01-02]", "a[1,3]", "p5-[1-8]:2", "p5-7", "p5-2:1", "b9"]), unique=True),
    st.sets(st.sampled_from(OWNED)),
)
def test_other_nodes_stay_excepted_and_are_divided_correctly_by_slurm(words: list[str], nodes: set[str]) -> None:
    value = with_keeps(",".join(words), nodes, OWNED)
    parts = value.split(",") if ":" in value else exclusion_words(value)
    names = {name for part in parts if part and ":" not in part for name in expand(part)}
    assert names == {name for word in words if ":" not in word for name in expand(word)}
    assert {part for part in parts if ":" in part} == {f"{node}:1" for node in nodes} | {"p5-[1-8]:2"} & set(words)


CONFIG = "SuspendExcNodes         = {}\nSuspendExcParts         = (null)\n"


def test_slurm_gets_a_command_only_if_the_value_changes(commands: Install) -> None:  # noqa: F811
    calls = commands(scontrol={"show": CONFIG.format("dgx[01-02],p5-3:1"), "update": ""})
    slurm.keep(["p5-3"], OWNED)
    slurm.keep(["p5-4"], OWNED)
    slurm.keep([], OWNED)
    assert [call[1:] for call in calls() if call[1] == "update"] == [
        ["update", "SuspendExcNodes=dgx[01-02],p5-4:1"],
        ["update", "SuspendExcNodes=dgx[01-02]"],
    ]


def test_a_value_without_nodes_is_read_as_empty(commands: Install) -> None:  # noqa: F811
    calls = commands(scontrol={"show": CONFIG.format("(null)"), "update": ""})
    assert slurm.suspend_exclusions() == ""
    slurm.keep([], OWNED)
    assert len(calls()) == 2
