"""CloudFormation's resource schemas as cfn-lint ships them: what AWS allows where neither the SDK nor botocore says it.

The files are read as they lie: importing cfn-lint would take the provider two seconds to start.
"""

import importlib.util
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path as File
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from landbridge import yaml_text
from sandbox.pulumi_provider.aws.schema import Judge
from sandbox.pulumi_provider.bags import Problem


class Described(BaseModel):
    """One type's schema: see cfn.yaml."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str = Field(alias="is")
    at: tuple[str, ...] = ("",)
    names: Mapping[str, str] = {}
    more: tuple[str, ...] = ()
    without: tuple[str, ...] = Field((), alias="not")


class Table(BaseModel):
    """Which types have a schema, and which have none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    types: Mapping[str, Described]
    none: tuple[str, ...]


@cache
def described() -> Table:
    """The table, read once."""
    return Table.model_validate(yaml_text.load(File(__file__).with_name("cfn.yaml").read_text()))


def schema_problems(token: str, bag: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield every value of a resource's inputs that its schema refuses."""
    own = described().types.get(token)
    if own is None:
        return
    schema = schema_of(own.type)
    judge = Judge(schema.get("definitions", {}), own.names)
    judged = {key: value for key, value in bag.items() if key not in own.without and key != "tags"}
    for place in own.at:
        here = judge.resolved(schema["properties"][place] if place else schema)
        if "items" in here:
            here = judge.resolved(here["items"])
        mine = {key: value for key, value in judged.items() if _has(judge, here, key)}
        yield from judge.problems(mine, {key: value for key, value in here.items() if key != "required"}, ())
        judged = {key: value for key, value in judged.items() if key not in mine}
    for name in own.more:
        yield from judge.problems(dict(bag), _read(f"extensions/{_folder(own.type)}/{name}.json"), ())


@cache
def schema_of(type_: str) -> Mapping[str, Any]:
    """A resource type's schema in us-east-1, which has every type. Raises KeyError for a type that there is not."""
    return _read(f"resources/{_read('providers/us-east-1.json')[type_]}.json")


def _has(judge: Judge, schema: Mapping[str, Any], key: str) -> bool:
    return any(judge.find({key: None}, name) for name in schema.get("properties", {}))


def _folder(type_: str) -> str:
    return type_.lower().replace("::", "_")


@cache
def _read(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((_schemas() / name).read_text())
    return found


@cache
def _schemas() -> File:
    spec = importlib.util.find_spec("cfnlint")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("cfn-lint's schemas are not installed: the sandbox's provider checks against them")
    return File(spec.submodule_search_locations[0]) / "data" / "schemas"
