"""Environments for tests: a small valid one, and changes of it."""

import json
from collections.abc import Mapping
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

from landbridge.environment import Environment, Loaded, load_environment
from landbridge.environment.file.load import load_text
from landbridge.findings import DataPath, Finding
from landbridge.rules import check

ROOT = Path(__file__).parents[3]
SHIPPED = tuple(sorted((ROOT / "stacks").glob("Pulumi.*.yaml")))
ADDRESSES = {"ctl01": 11, "db01": 12, "login01": 13, "nfs01": 14, "gw01": 1, "mlops01": 15}
GOOD: dict[str, Any] = {
    "owner": "a@example.org",
    "state": {"backend": "local"},
    "data_classes": {
        "internal": {"sites": ["onprem", "aws"]},
        "restricted": {"sites": ["onprem"], "regime": "hipaa"},
    },
    "users": [{"name": "alice", "uid": 20001}, {"name": "bob", "uid": 20002}],
    "onprem": {
        "cidr": "10.20.0.0/16",
        "nodes": [{"hosts": "dgx[01-02]", "platform": "dgx-h100", "address": "10.20.1.11", "rack": "r1"}],
        "addresses": {name: f"10.20.0.{last}" for name, last in ADDRESSES.items()},
        # NVIDIA's own repository has neither the default driver nor DCGM for Debian 13.
        "driver": {"mirror": "http://mirror.example.org/cuda/debian13/"},
        "aws_credentials": "files",
    },
    "aws": {
        "cidr": "10.60.0.0/16",
        "pools": [
            {
                "name": "p5",
                "instance": "p5.48xlarge",
                "image": "ami-0123456789abcdef0",
                "max_nodes": 4,
                "capacity": [{"kind": "on_demand", "zones": ["use1-az4"]}],
            }
        ],
    },
    "link": {"kind": "vpn", "gateway_address": "3.3.3.3", "onprem_asn": 65010},
    "scheduler": {"accounts": {"vision": {"users": ["alice"], "data_class": "internal"}}},
}
REMOVED = object()


def changed(changes: Mapping[DataPath, Any], region: str = "us-east-1", beside: Mapping[str, Any] | None = None) -> str:
    """Return the file of the valid environment with values set (or REMOVED) by path, as JSON (valid YAML), one value a
    line."""
    body = deepcopy(GOOD)
    for path, value in changes.items():
        holder: Any = body
        for part, next_part in pairwise(path):
            if isinstance(holder, dict):
                holder = holder.setdefault(part, [] if isinstance(next_part, int) else {})
            else:
                holder = holder[part]
        if value is REMOVED:
            del holder[path[-1]]
        elif isinstance(holder, list) and path[-1] == len(holder):
            holder.append(value)
        else:
            holder[path[-1]] = value
    whole = {"config": {"aws:region": region, **(beside or {}), "landbridge:environment": body}}
    return json.dumps(whole, indent=1)


def loaded(
    changes: Mapping[DataPath, Any] | None = None,
    *,
    edit: tuple[str, str] | None = None,
    environment: str = "test",
    **options: Any,
) -> Loaded:
    """Load the valid environment with changes; `edit` replaces the first occurrence of a piece of its text."""
    text = changed(changes or {}, **options)
    if edit is not None:
        assert edit[0] in text, edit
        text = text.replace(*edit, 1)
    return load_text(text, Path(f"stacks/Pulumi.{environment}.yaml"))


def environment(changes: Mapping[DataPath, Any] | None = None, **options: Any) -> Environment:
    """Return the valid environment with changes that keep it valid."""
    result = loaded(changes, **options)
    assert result.environment is not None, result.findings
    return result.environment


def findings(changes: Mapping[DataPath, Any] | None = None, **options: Any) -> tuple[Finding, ...]:
    """Return all findings of `check` in the good environment with changes."""
    return check(loaded(changes, **options))


def shipped(name: str) -> Environment:
    """Return a shipped environment of this repository."""
    result = load_environment(ROOT / "stacks" / f"Pulumi.{name}.yaml")
    assert result.environment is not None, result.findings
    return result.environment
