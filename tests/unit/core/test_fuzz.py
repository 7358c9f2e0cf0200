"""Mutations of the shipped environments: whatever is done to a file, `check` answers with located findings."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from landbridge import yaml_text
from landbridge.environment.load import load_text
from landbridge.findings import DataPath, Finding
from landbridge.rules import check
from tests.unit.core.samples import SHIPPED

TEXTS = {path.name: path.read_text() for path in SHIPPED}
TREES = {name: yaml_text.load(text) for name, text in TEXTS.items()}
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["dgx[01-", "10.20.0.0/16", "10.20.0.1", "255.255.255.255", "p5.48xlarge", "aws", "0x", "[", "\ud800"]
    ),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(["kind", "config", "x"]), st.sampled_from(["vpn", "spot", 5]), max_size=2),
)
QUICK = settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])


def paths(tree: Any, here: DataPath = ()) -> list[DataPath]:
    """Every path in a tree, the root's first."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [here, *(path for key, value in items for path in paths(value, (*here, key)))]


def mutate(tree: Any, path: DataPath, how: str, junk: Any) -> Any:
    """Replace, remove, rename or repeat what is at a path."""
    tree = deepcopy(tree)
    if not path:
        return junk
    holder = tree
    for part in path[:-1]:
        if (
            not isinstance(holder, (dict, list))
            or (isinstance(holder, list) and part >= len(holder))
            or (isinstance(holder, dict) and part not in holder)
        ):
            return tree
        holder = holder[part]
    key = path[-1]
    if isinstance(holder, list) and isinstance(key, int) and key < len(holder):
        if how == "repeat":
            holder.append(deepcopy(holder[key]))
        elif how == "remove":
            del holder[key]
        else:
            holder[key] = junk
    elif isinstance(holder, dict) and key in holder:
        if how == "remove":
            del holder[key]
        elif how == "rename":
            holder[f"{key}x"] = holder.pop(key)
        else:
            holder[key] = junk
    return tree


def assert_located(text: str | bytes) -> tuple[Finding, ...]:
    """What `check` says; every finding is located and in words."""
    lines = len(text.splitlines()) + 1
    loaded = load_text(text, Path("stacks/Pulumi.fuzz.yaml"))
    found = check(loaded)
    for finding in found:
        assert finding.line is not None and 1 <= finding.line <= lines, finding
        assert finding.column is not None and finding.column >= 1, finding
        assert finding.message and finding.rule == finding.rule.lower()
    if loaded.environment is None:
        assert any(finding.severity == "error" for finding in found)
    return found


@pytest.mark.parametrize("name", TREES)
@QUICK
@given(data=st.data())
def test_a_changed_tree(name: str, data: st.DataObject) -> None:
    tree = TREES[name]
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(paths(tree)))
        how = data.draw(st.sampled_from(["replace", "remove", "rename", "repeat"]))
        tree = mutate(tree, path, how, data.draw(JUNK))
    assert_located(json.dumps(tree, indent=1))


@pytest.mark.parametrize("name", TEXTS)
@QUICK
@given(data=st.data())
def test_a_changed_text(name: str, data: st.DataObject) -> None:
    text = TEXTS[name]
    at = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 12))
    inserted = data.draw(st.text(alphabet="{}[]:,-#&*!|>'\"%@`\t\n 0aé\x00", max_size=4))
    assert_located(text[:at] + inserted + text[at + length :])


@QUICK
@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    assert_located(data)
