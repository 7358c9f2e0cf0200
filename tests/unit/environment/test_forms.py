"""Every pattern of the model has a description in words, and the examples of the description match."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.environment.file.forms import FORMS
from landbridge.findings import DataPath
from tests.unit.core.samples import findings


def patterns(node: Any) -> Iterator[str]:
    """Yield every pattern in a JSON Schema, including those of keys."""
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            yield node["pattern"]
        yield from node.get("patternProperties", {})
        for value in node.values():
            yield from patterns(value)
    elif isinstance(node, list):
        for item in node:
            yield from patterns(item)


def test_every_pattern_has_one_description() -> None:
    assert set(FORMS) == set(patterns(json.loads(json.dumps(Environment.model_json_schema()))))


@pytest.mark.parametrize("pattern", FORMS)
def test_an_example_of_a_description_matches_its_pattern(pattern: str) -> None:
    words = re.split(r"[\s,;()\"]+", FORMS[pattern])
    # Some examples contain spaces.
    words += re.findall(r"such as ([^:;]+)", FORMS[pattern])
    assert any(re.search(pattern, word.rstrip(":")) for word in words), FORMS[pattern]


@pytest.mark.parametrize(
    ("path", "value", "description"),
    [
        (("aws", "pools", 0, "capacity", 0, "zones"), ["us-east-1a"], "use1-az4"),
        (("aws", "pools", 0, "name"), "P5", "small letters"),
        (("aws", "account"), "12345", "12 digits"),
        (("storage", "cloud_scratch"), {"kind": "fsx_lustre", "import_path": "bucket"}, "s3://bucket/prefix"),
    ],
    ids=str,
)
def test_findings_describe_the_format_in_words(path: DataPath, value: Any, description: str) -> None:
    wrong_format = [finding for finding in findings({path: value}) if finding.rule == "wrong-format"]
    assert wrong_format
    assert all(description in finding.message and "[a-z" not in finding.message for finding in wrong_format)
