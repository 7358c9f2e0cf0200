"""`show --expanded`: its output loads to the same environment, with every default written out."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.environment import load_environment
from landbridge.environment.file.expanded import expanded
from landbridge.environment.file.load import load_text
from landbridge.findings import DataPath
from tests.thorough import examples
from tests.unit.core.samples import SHIPPED, loaded


def reload(original: Any) -> Any:
    return load_text(expanded(original), original.path)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_expanded_shipped_environments_load_to_the_same(path: Path) -> None:
    original = load_environment(path)
    reloaded = reload(original)
    assert reloaded.findings == ()
    assert reloaded.environment == original.environment
    assert expanded(reloaded).count("# default") == 0


def test_other_configuration_keys_are_kept() -> None:
    secure = {"landbridge:k": {"secure": "v1:ab+c/d=="}, "other:flag": True, "other:number": "007"}
    reloaded = reload(loaded(beside=secure))
    assert reloaded.secure_keys == {"landbridge:k"}
    assert reloaded.source.data["config"]["other:number"] == "007"


def test_defaults_are_marked_with_their_description() -> None:
    text = expanded(loaded())
    assert "suspend_after: 600  # default: idle time in seconds before a node is suspended" in text
    assert "max_nodes: 4\n" in text
    assert "aws_asn: 64512  # default: BGP ASN of the transit gateway; AWS's default" in text


def test_a_file_with_errors_is_refused() -> None:
    with pytest.raises(ValueError, match="has errors"):
        expanded(loaded({("owner",): 5}))


@pytest.mark.parametrize(
    "changes",
    [
        {("scheduler", "overrides"): {"slurm_conf": {"A": None, "B": True, "C": 5, "D": 1.5, "E": "no", "F": "~", "G": "1:2"}}},
        {("aws", "pools", 0, "capacity"): [{"kind": "spot"}, {"kind": "on_demand"}]},
        {
            ("aws", "pools", 0, "capacity", 0): {
                "kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az4", "starts": "2026-12-01T00:00:00Z",
            }
        },
        {("storage", "cloud_scratch"): {"kind": "fsx_lustre"}, ("mlops", "registry"): {}},
        {("aws", "tags"): {"a: b": "#c", "": "x"} | {"k": "- d"}},
    ],
)  # fmt: skip
def test_values_of_every_kind_load_to_the_same(changes: dict[DataPath, Any]) -> None:
    changes = {
        path: ({k: v for k, v in value.items() if k} if isinstance(value, dict) else value)
        for path, value in changes.items()
    }
    original = loaded(changes)
    assert original.environment is not None, original.findings
    assert reload(original).environment == original.environment


@settings(deadline=None, max_examples=examples(20, 60))
@given(st.text(min_size=1, max_size=12))
def test_any_text_loads_to_the_same(text: str) -> None:
    original = loaded({("owner",): text, ("scheduler", "accounts", "vision", "description"): text})
    if original.environment is not None:
        assert reload(original).environment == original.environment
