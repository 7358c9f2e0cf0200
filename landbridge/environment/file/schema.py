"""JSON Schema of environment files, with which editors complete and check YAML."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from landbridge.catalog import instances, platforms, regions
from landbridge.environment.file.load import KEY
from landbridge.environment.model import Environment

#: Path of the shipped schema, relative to the environment files.
FILE_NAME = "environment.schema.json"
MODELINE = f"# yaml-language-server: $schema={FILE_NAME}"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_OCTET = r"(25[0-5]|2[0-4]\d|1?\d?\d)"
_ADDRESS = rf"{_OCTET}(\.{_OCTET}){{3}}"
#: Patterns for pydantic formats that JSON Schema does not define.
_PATTERNS = {"ipv4network": rf"^{_ADDRESS}/(3[0-2]|[12]?\d)$", "ipv4": rf"^{_ADDRESS}$"}
#: Fields that come from the file's name and `aws:region`, not from keys of the environment.
_NOT_KEYS = ("name", "region")


class _Generator(GenerateJsonSchema):
    """Pydantic's schema generator without titles of fields, which repeat the keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def json_schema() -> dict[str, Any]:
    """Return the schema of a whole stack file. Every file that loads without a finding about its form is valid."""
    schema = Environment.model_json_schema(schema_generator=_Generator)
    definitions = schema.pop("$defs", {})
    for key in _NOT_KEYS:
        schema["properties"].pop(key)
        schema["required"].remove(key)
    for node in (schema, *definitions.values()):
        _tidy(node)
        for variant in _variants(node):
            # `kind` is required, also if one of the variants has a default for it.
            required = definitions[variant].setdefault("required", [])
            definitions[variant]["required"] = sorted({*required, "kind"})
    _offer(definitions["PoolSettings"]["properties"]["instance"], instances())
    _offer(definitions["NodeGroup"]["properties"]["platform"], platforms())
    schema["description"] = _first_line(Environment)
    return {
        "$schema": _DIALECT,
        "title": "A Landbridge environment: stacks/Pulumi.<env>.yaml",
        "type": "object",
        "required": ["config"],
        "additionalProperties": False,
        "properties": {
            "config": {
                "type": "object",
                "required": ["aws:region", KEY],
                "properties": {
                    "aws:region": {"enum": sorted(regions()), "description": "the region of the AWS half"},
                    KEY: schema,
                },
            },
            **{key: {} for key in ("secretsprovider", "encryptedkey", "encryptionsalt", "environment")},
        },
        "$defs": definitions,
    }


def _tidy(node: Any) -> None:
    """Remove titles, and replace formats with patterns that every validator supports."""
    if isinstance(node, list):
        for item in node:
            _tidy(item)
    if not isinstance(node, dict):
        return
    if isinstance(node.get("title"), str):
        del node["title"]
    if node.get("format") in _PATTERNS:
        node["pattern"] = _PATTERNS[node.pop("format")]
    for value in node.values():
        _tidy(value)


def _variants(node: Any) -> Iterator[str]:
    """Yield the names of the definitions between which a `kind` selects, anywhere in a node."""
    if isinstance(node, dict):
        for reference in node.get("discriminator", {}).get("mapping", {}).values():
            yield reference.rsplit("/", 1)[-1]
        for value in node.values():
            yield from _variants(value)
    elif isinstance(node, list):
        for item in node:
            yield from _variants(item)


def _offer(node: dict[str, Any], names: Any) -> None:
    node["enum"] = sorted(names)


def _first_line(model: type[BaseModel]) -> str:
    return (model.__doc__ or "").strip().splitlines()[0]
