"""Mutations of environments: for any change of a file, `check` reports located findings, or every plan can be computed.

The sweep is deterministic. `make test-long` makes every mutation of every path of every sample. Otherwise each path of
the full samples has one mutation, and every third path of a shipped environment has one; the kinds rotate from path to
path. Hypothesis covers several changes at once, and changes of the text.
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
from tests.thorough import LONG, examples
from tests.unit.core.plans import plans
from tests.unit.core.samples import SHIPPED
from tests.unit.rules.full import FULL

TODAY = date(2026, 11, 20)
TEXTS = {path.name: path.read_text() for path in (*SHIPPED, *FULL)}
TREES = {name: load_text(text, Path(name)).source.data for name, text in TEXTS.items()}
#: Number of tests into which the sweep of a sample is divided.
PARTS = 4
#: Placeholder for NaN, which exists in YAML and not in JSON.
NAN = "a float that is not a number"
#: Replacements for every value.
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
#: Mutations of a shipped environment.
SHIPPED_MUTATIONS = ["remove", "null", "text", "mapping"]
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
QUICK = settings(deadline=None, max_examples=examples(20, 150), suppress_health_check=[HealthCheck.too_slow])


def paths(tree: Any, prefix: DataPath = ()) -> list[DataPath]:
    """Return every path in a tree, that of the root first."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [prefix, *(path for key, value in items for path in paths(value, (*prefix, key)))]


def mutate(tree: Any, path: DataPath, how: str, junk: Any) -> Any:
    """Replace, remove, rename or repeat the value at a path; branches beside the path are shared with `tree`."""
    if not path:
        return junk
    key, tail = path[0], path[1:]
    if isinstance(tree, list) and isinstance(key, int) and key < len(tree):
        inner = [mutate(tree[key], tail, how, junk)] if tail or how == "replace" else []
        inner = [tree[key], tree[key]] if how == "repeat" and not tail else inner
        return [*tree[:key], *inner, *tree[key + 1 :]]
    if isinstance(tree, dict) and key in tree:
        changed = dict(tree)
        if tail or how == "replace":
            changed[key] = mutate(tree[key], tail, how, junk)
        elif how in ("remove", "rename"):
            del changed[key]
            changed |= {f"{key}x": tree[key]} if how == "rename" else {}
        return changed
    return tree


def assert_located(text: str | bytes) -> tuple[Finding, ...]:
    """Assert that every finding of `check` has a location and a message, and that without an error every plan can be
    made.
    """
    lines = len(text.splitlines()) + 1
    loaded = load_text(text, Path("stacks/Pulumi.fuzz.yaml"))
    reported = check(loaded, TODAY)
    for finding in reported:
        assert finding.line is not None and 1 <= finding.line <= lines, finding
        assert finding.column is not None and finding.column >= 1, finding
        assert finding.message and finding.rule == finding.rule.lower()
        assert finding.rule != "rule-failed", finding
    errors = [finding for finding in reported if finding.severity is Severity.ERROR]
    if loaded.environment is None:
        assert errors
    elif not errors:
        for plan in plans(loaded.environment):
            # A plan that cannot be built yet is a warning of check.
            pending = "not-built-yet" in {finding.rule for finding in reported}
            with suppress(FindingsError) if pending else nullcontext():
                plan()
    return reported


def changes(tree: Any, path: DataPath, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield each named mutation of a path, with the changed tree."""
    for name in names:
        yield name, mutate(tree, path, "replace", VALUES[name]) if name in VALUES else mutate(tree, path, name, None)


def mutations(path: DataPath, number: int) -> list[str]:
    """Return the mutations of the path of this number: names of replacement values, and of other changes."""
    all_mutations = ["remove", "repeat" if path and isinstance(path[-1], int) else "rename", *VALUES]
    return all_mutations if LONG else [all_mutations[number % len(all_mutations)]]


def shipped_mutations(number: int) -> list[str]:
    """Return the mutations of the path of this number in a shipped environment."""
    if LONG:
        return SHIPPED_MUTATIONS
    return [SHIPPED_MUTATIONS[number // 3 % len(SHIPPED_MUTATIONS)]] if number % 3 == 0 else []


def written(tree: Any) -> str:
    """Return a tree as the text of a file: JSON, which is valid YAML."""
    return json.dumps(tree).replace(json.dumps(NAN), ".nan")


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", TREES)
def test_every_mutation_of_every_path_gives_located_findings_or_plans(name: str, part: int) -> None:
    tree = TREES[name]
    original = assert_located(written(tree))
    assert [finding for finding in original if finding.severity is Severity.ERROR] == []
    # The full samples contain every key; shipped environments only add other neighbours of a key.
    full = name in {path.name for path in FULL}
    wrong: list[str] = []
    before = ""
    for number, path in list(enumerate(paths(tree)))[part::PARTS]:
        for how, changed in changes(tree, path, mutations(path, number) if full else shipped_mutations(number)):
            text = written(changed)
            if text == before:
                continue
            before = text
            try:
                assert_located(text)
            except Exception as error:  # noqa: BLE001  (report all failures, not only the first)
                wrong.append(f"{path_text(path)} {how}: {type(error).__name__}: {str(error)[:300]}")
    assert wrong == [], f"{len(wrong)} of the changes:\n" + "\n".join(wrong[:40])


@pytest.mark.parametrize("name", TREES)
@QUICK
@given(data=st.data())
def test_several_mutations_give_located_findings_or_plans(name: str, data: st.DataObject) -> None:
    tree = TREES[name]
    for _ in range(data.draw(st.integers(1, 4))):
        path = data.draw(st.sampled_from(paths(tree)))
        how = data.draw(st.sampled_from(["replace", "remove", "rename", "repeat"]))
        tree = mutate(tree, path, how, data.draw(JUNK))
    assert_located(json.dumps(tree, indent=1))


@pytest.mark.parametrize("name", TEXTS)
@QUICK
@given(data=st.data())
def test_a_changed_text_gives_located_findings_or_plans(name: str, data: st.DataObject) -> None:
    text = TEXTS[name]
    at = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 12))
    inserted = data.draw(st.text(alphabet="{}[]:,-#&*!|>'\"%@`\t\n 0aé\x00", max_size=4))
    assert_located(text[:at] + inserted + text[at + length :])


@QUICK
@given(st.binary(max_size=60))
def test_any_bytes_give_located_findings(data: bytes) -> None:
    assert_located(data)


def test_the_sweep_runs_the_plan_functions() -> None:
    names = {plan.__name__ for plan in plans(load_text(TEXTS["full.yaml"], Path("Pulumi.x.yaml")).environment)}
    assert {"slurm_files", "network_args", "pool_args", "ip_budget", "spend", "endpoint_services"} <= names
