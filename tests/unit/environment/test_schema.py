"""JSON Schema: the errors in an editor agree with the findings of `check` about the structure of a file."""

import json
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from landbridge import yaml_text
from landbridge.environment.file.load import load_text
from landbridge.environment.file.schema import FILE_NAME, MODELINE, json_schema
from tests.thorough import examples
from tests.unit.core.samples import SHIPPED
from tests.unit.environment.test_fuzz import mutate, paths

VALIDATOR = Draft202012Validator(json_schema())
TREES = {path.name: yaml_text.load(path.read_text()) for path in SHIPPED}
# Findings about the structure of a file that a schema detects too.
SEEN_BY_SCHEMA = {"unknown-key", "missing-key", "unknown-value", "wrong-type"}
JUNK = st.sampled_from([None, True, 7, -1, 2.5, "", "text", [], {}, ["text"], {"kind": "spot"}, {"kind": "nothing"}])


def errors(tree: Any) -> list[str]:
    """Return the errors that an editor would underline."""
    reported = (inner for error in VALIDATOR.iter_errors(tree) for inner in inside(error))
    return [f"{error.json_path}: {error.message[:200]}" for error in reported]


def inside(error: ValidationError) -> Iterator[ValidationError]:
    """Yield the errors inside an optional part, as editors show them, instead of one error that no alternative is
    valid."""
    options = error.schema.get("anyOf", []) if error.validator == "anyOf" else []
    deeper = (
        [inner for inner in error.context or () if options[inner.schema_path[0]] != {"type": "null"}] if options else []
    )
    if {"type": "null"} in options and deeper:
        for inner in deeper:
            yield from inside(inner)
    else:
        yield error


def test_the_schema_is_valid() -> None:
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("name", TREES)
def test_shipped_environments_are_valid_and_refer_to_the_schema(name: str) -> None:
    assert errors(TREES[name]) == []
    path = next(path for path in SHIPPED if path.name == name)
    assert path.read_text().splitlines()[0] == MODELINE


def test_the_shipped_schema_is_the_output_of_the_command() -> None:
    printed = subprocess.run(
        [str(Path(sys.executable).parent / "landbridge"), "schema"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    shipped = SHIPPED[0].parent / FILE_NAME
    assert shipped.read_text() == printed, f"landbridge schema > stacks/{FILE_NAME}"


def test_keys_have_their_descriptions_and_choices() -> None:
    pool = json_schema()["$defs"]["PoolSettings"]["properties"]
    assert "EFA" in pool["nics"]["description"]
    assert set(pool["nics"]["enum"]) == {"ip_optimised", "bandwidth", "legacy"}
    assert "p5.48xlarge" in pool["instance"]["enum"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("aws", "pools", 0, "instanse"), "p5.48xlarge"),
        (("aws", "pools", 0, "instance"), "p5.48xlrge"),
        (("aws", "pools", 0, "capacity"), [{"kind": "on-demand"}]),
        (("aws", "cidr"), "10.60.0.0"),
        (("link", "gateway_address"), "999.1.1.1"),
        (("owner",), None),
        (("region",), "us-east-1"),
    ],
    ids=str,
)
def test_mistakes_are_errors_in_an_editor(path: tuple[str | int, ...], value: Any) -> None:
    tree = deepcopy(TREES["Pulumi.example.yaml"])
    holder = tree["config"]["landbridge:environment"]
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    assert errors(tree)


@pytest.mark.parametrize("name", TREES)
@settings(deadline=None, max_examples=examples(20, 60), suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_the_schema_and_check_agree_about_structure(name: str, data: st.DataObject) -> None:
    tree = TREES[name]
    path = data.draw(st.sampled_from(paths(tree)))
    tree = mutate(tree, path, data.draw(st.sampled_from(["replace", "remove", "rename"])), data.draw(JUNK))
    loaded = load_text(json.dumps(tree, indent=1), Path("stacks/Pulumi.fuzz.yaml"))
    underlined = errors(tree)
    rules = {finding.rule for finding in loaded.findings}
    if not rules & SEEN_BY_SCHEMA:
        # A name that the catalogue lacks is a finding of a rule, not of the structure.
        unknown = [text for text in underlined if "is not one of" not in text]
        assert rules or not unknown, (path, unknown)
    else:
        assert underlined, (path, loaded.findings)
