"""Environments for tests: a small good one, and changes of it."""

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
    "data_classes": {
        "internal": {"sites": ["onprem", "aws"]},
        "restricted": {"sites": ["onprem"], "regime": "hipaa"},
    },
    "users": [{"name": "alice", "uid": 20001}, {"name": "bob", "uid": 20002}],
    "onprem": {
        "cidr": "10.20.0.0/16",
        "nodes": [{"hosts": "dgx[01-02]", "platform": "dgx-h100", "address": "10.20.1.11", "rack": "r1"}],
        "addresses": {name: f"10.20.0.{last}" for name, last in ADDRESSES.items()},
    },
    "aws": {
        "cidr": "10.60.0.0/16",
        "pools": [
            {
                "name": "p5",
                "instance": "p5.48xlarge",
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
    """The good environment's file with values put in (or REMOVED) by path. JSON, which is YAML, one value a line."""
    body = deepcopy(GOOD)
    for path, value in changes.items():
        holder: Any = body
        for part, following in pairwise(path):
            if isinstance(holder, dict):
                holder = holder.setdefault(part, [] if isinstance(following, int) else {})
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
    **more: Any,
) -> Loaded:
    """The good environment with changes, loaded; `edit` replaces the first such piece of its text."""
    text = changed(changes or {}, **more)
    if edit is not None:
        assert edit[0] in text, edit
        text = text.replace(*edit, 1)
    return load_text(text, Path(f"stacks/Pulumi.{environment}.yaml"))


def environment(changes: Mapping[DataPath, Any] | None = None, **more: Any) -> Environment:
    """The good environment with changes that keep it good."""
    found = loaded(changes, **more)
    assert found.environment is not None, found.findings
    return found.environment


def findings(changes: Mapping[DataPath, Any] | None = None, **more: Any) -> tuple[Finding, ...]:
    """Return all findings of `check` in the good environment with changes."""
    return check(loaded(changes, **more))


def shipped(name: str) -> Environment:
    """An environment of this repository."""
    found = load_environment(ROOT / "stacks" / f"Pulumi.{name}.yaml")
    assert found.environment is not None, found.findings
    return found.environment
