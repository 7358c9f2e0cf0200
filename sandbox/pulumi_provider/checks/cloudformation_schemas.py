"""Check of inputs against CloudFormation's resource schemas (as cfn-lint ships them).

They contain limits of AWS that neither the SDK nor botocore has: enumerations, patterns, ranges, properties that
exclude one another. Each resource type has its schema in its class (`cloudformation`). The files are read without
importing cfn-lint, which would add two seconds to the provider's start. Source: CloudFormation's registry, with
cfn-lint's corrections.
"""

import importlib.util
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path as File
from typing import Any

from sandbox.pulumi_provider.aws import RESOURCE_TYPES
from sandbox.pulumi_provider.checks.json_schema import Judge
from sandbox.pulumi_provider.checks.sdk_args import Problem


def schema_problems(token: str, bag: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield every value of a resource's inputs that its schema refuses."""
    resource = RESOURCE_TYPES.get(token)
    row = resource.cloudformation if resource else None
    if row is None:
        return
    schema = schema_of(row.type)
    judge = Judge(schema.get("definitions", {}), row.names)
    unchecked = {key: value for key, value in bag.items() if key not in row.without and key != "tags"}
    for place in row.at:
        subschema = judge.resolved(schema["properties"][place] if place else schema)
        if "items" in subschema:
            subschema = judge.resolved(subschema["items"])
        values = {key: value for key, value in unchecked.items() if _has(judge, subschema, key)}
        yield from judge.problems(values, {key: value for key, value in subschema.items() if key != "required"}, ())
        unchecked = {key: value for key, value in unchecked.items() if key not in values}
    for name in row.more:
        yield from judge.problems(dict(bag), _read(f"extensions/{_folder(row.type)}/{name}.json"), ())


@cache
def schema_of(type_: str) -> Mapping[str, Any]:
    """Return a resource type's schema in us-east-1, which has every type. Raise KeyError for an unknown type."""
    return _read(f"resources/{_read('providers/us-east-1.json')[type_]}.json")


def _has(judge: Judge, schema: Mapping[str, Any], key: str) -> bool:
    return any(judge.find({key: None}, name) for name in schema.get("properties", {}))


def _folder(type_: str) -> str:
    return type_.lower().replace("::", "_")


@cache
def _read(name: str) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = json.loads((_schemas() / name).read_text())
    return schema


@cache
def _schemas() -> File:
    spec = importlib.util.find_spec("cfnlint")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("cfn-lint's schemas are not installed: the sandbox's provider checks against them")
    return File(spec.submodule_search_locations[0]) / "data" / "schemas"
