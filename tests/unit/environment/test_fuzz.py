"""Mutations of environments: whatever is done to a file, `check` answers with located findings, or the plan can be made.

The sweep is the same every time: every path of every sample, changed in every way where there is time (`make test-long`), and in a
quarter of the ways, another quarter from path to path, where there is less. Hypothesis does what the sweep does not: several changes
at once, and changes of the text.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from landbridge.environment.file.load import load_text
from landbridge.findings import DataPath, Finding, FindingsError, Severity, path_text
from landbridge.rules import check
from tests.thorough import LONG
from tests.unit.core.plans import plans
from tests.unit.core.samples import SHIPPED
from tests.unit.rules.full import FULL

TODAY = date(2026, 11, 20)
TEXTS = {path.name: path.read_text() for path in (*SHIPPED, *FULL)}
TREES = {name: load_text(text, Path(name)).source.data for name, text in TEXTS.items()}
#: Into how many tests each sample's sweep is cut.
PARTS = 4
#: JSON has no word for it; YAML has.
NAN = "a float that is no number"
#: What is put in the place of every value.
VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "negative": -7,
    "huge": 10**15,
    "float": 1.5,
    "nan": NAN,
    "text": "no-such-word",
    "empty": "",
    "list": [],
    "mapping": {},
    "unicode": "zoë\u202e☃\u0007",
}
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
QUICK = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])


def paths(tree: Any, here: DataPath = ()) -> list[DataPath]:
    """Every path in a tree, the root's first."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [here, *(path for key, value in items for path in paths(value, (*here, key)))]


def mutate(tree: Any, path: DataPath, how: str, junk: Any) -> Any:
    """Replace, remove, rename or repeat what is at a path; what is not on the way there is shared with `tree`."""
    if not path:
        return junk
    key, rest = path[0], path[1:]
    if isinstance(tree, list) and isinstance(key, int) and key < len(tree):
        inner = [mutate(tree[key], rest, how, junk)] if rest or how == "replace" else []
        inner = [tree[key], tree[key]] if how == "repeat" and not rest else inner
        return [*tree[:key], *inner, *tree[key + 1 :]]
    if isinstance(tree, dict) and key in tree:
        found = dict(tree)
        if rest or how == "replace":
            found[key] = mutate(tree[key], rest, how, junk)
        elif how in ("remove", "rename"):
            del found[key]
            found |= {f"{key}x": tree[key]} if how == "rename" else {}
        return found
    return tree


def assert_located(text: str | bytes) -> tuple[Finding, ...]:
    """Assert that every finding of `check` has a location and a message, and that without an error every plan can be
    made.
    """
    lines = len(text.splitlines()) + 1
    loaded = load_text(text, Path("stacks/Pulumi.fuzz.yaml"))
    found = check(loaded, TODAY)
    for finding in found:
        assert finding.line is not None and 1 <= finding.line <= lines, finding
        assert finding.column is not None and finding.column >= 1, finding
        assert finding.message and finding.rule == finding.rule.lower()
        assert finding.rule != "rule-failed", finding
    errors = [finding for finding in found if finding.severity is Severity.ERROR]
    if loaded.environment is None:
        assert errors
    elif not errors:
        for plan in plans(loaded.environment):
            # What is planned and not built yet is said by check as a warning.
            pending = "not-built-yet" in {finding.rule for finding in found}
            with suppress(FindingsError) if pending else nullcontext():
                plan()
    return found


def changes(tree: Any, path: DataPath, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """A path changed in each of these ways."""
    for name in names:
        yield name, mutate(tree, path, "replace", VALUES[name]) if name in VALUES else mutate(tree, path, name, None)


def ways(path: DataPath, number: int) -> list[str]:
    """Return the mutations of the path of this number: names of replacement values, and of other changes."""
    every = ["remove", "repeat" if path and isinstance(path[-1], int) else "rename", *VALUES]
    return every if LONG else every[number % 4 :: 4]


def written(tree: Any) -> str:
    """A tree as a file: JSON, which is YAML."""
    return json.dumps(tree).replace(json.dumps(NAN), ".nan")


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", TREES)
def test_every_change_of_every_path(name: str, part: int) -> None:
    tree = TREES[name]
    original = assert_located(written(tree))
    assert [finding for finding in original if finding.severity is Severity.ERROR] == []
    # The full samples hold every key; the shipped ones, which many write from, only other neighbours of it.
    full = name in {path.name for path in FULL}
    wrong: list[str] = []
    before = ""
    for number, path in list(enumerate(paths(tree)))[part::PARTS]:
        for how, changed in changes(tree, path, ways(path, number) if full else ("remove", "null", "text", "mapping")):
            text = written(changed)
            if text == before:
                continue
            before = text
            try:
                assert_located(text)
            except Exception as error:  # noqa: BLE001  (all of them at once are worth more than the first)
                wrong.append(f"{path_text(path)} {how}: {type(error).__name__}: {str(error)[:300]}")
    assert wrong == [], f"{len(wrong)} of the changes:\n" + "\n".join(wrong[:40])


@pytest.mark.parametrize("name", TREES)
@QUICK
@given(data=st.data())
def test_a_changed_tree(name: str, data: st.DataObject) -> None:
    tree = TREES[name]
    for _ in range(data.draw(st.integers(1, 4))):
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


def test_the_sweep_runs_every_plan() -> None:
    names = {plan.__name__ for plan in plans(load_text(TEXTS["full.yaml"], Path("Pulumi.x.yaml")).environment)}
    assert {"slurm_files", "network_args", "pool_args", "ip_budget", "spend", "endpoint_services"} <= names
