"""Secrets of every shipped environment: secret outputs, and no secret in the inputs of a resource."""

import base64
import json
from typing import Any

import pytest

from landbridge.clear_text import secrets_in
from sandbox.pulumi_provider.graph import Graph
from tests.graph.golden import ROOT, SHIPPED, environment_of, recorded

#: Inputs that would contain a secret's value: AWS creates such values itself, or only their user knows them.
VALUES = {"password", "passwordWo", "masterPassword", "secretString", "secretBinary", "presharedKey", "authToken"}


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "stacks")


@pytest.mark.parametrize("name", SHIPPED)
def test_keys_are_secret_outputs(name: str) -> None:
    graph, linked = recorded(name), environment_of(name).link is not None
    assert graph.secret_outputs == ({"link_pre_shared_keys"} if linked else set())
    public = {key: value for key, value in graph.outputs.items() if key not in graph.secret_outputs}
    assert not _keys(json.dumps(public, default=str))
    assert bool(_keys(json.dumps(graph.outputs, default=str))) == linked


@pytest.mark.parametrize("name", SHIPPED)
def test_no_resource_has_a_secret_in_its_inputs(name: str) -> None:
    for node in recorded(name).nodes.values():
        text = json.dumps(node.inputs, default=str)
        assert not _keys(text) and secrets_in(_opened(node.inputs)) == [], node.key
        assert not VALUES & set(_names(node.inputs)), node.key


def test_the_search_finds_a_key_and_a_token() -> None:
    graph = Graph()
    assert graph.secret_outputs == frozenset() and _keys('{"a": "psk1"}')
    assert secrets_in(_opened({"userData": base64.b64encode(b"API_TOKEN=abcdefgh").decode()})) != []


def _keys(text: str) -> bool:
    """Return true if a text contains one of the tunnel keys of the recorder's AWS."""
    return any(f"psk{number}" in text for number in (1, 2))


def _opened(inputs: dict[str, Any]) -> str:
    """Return all text of a resource, a line each; user data is decoded."""
    text = [value for _, value in _leaves(inputs) if isinstance(value, str)]
    data = inputs.get("userData", inputs.get("userDataBase64"))
    if isinstance(data, str):
        text.append(base64.b64decode(data).decode(errors="replace"))
    return "\n".join(text)


def _names(value: Any) -> list[str]:
    return [name for name, _ in _leaves(value)]


def _leaves(value: Any, name: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _leaves(item, str(key))]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _leaves(item, name)]
    return [(name, value)]
