"""Parsing of a definition from plain data, with findings. The service uses it without a YAML parser."""

import json
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from landbridge.environment.file.shape import data_path, model_at
from landbridge.environment.file.wording import shape_finding
from landbridge.findings import DataPath, Finding, did_you_mean, path_text
from landbridge.pipelines.definition.model import PipelineDefinition
from landbridge.pipelines.definition.rules import definition_findings


def parse_definition(data: Any) -> tuple[PipelineDefinition | None, list[Finding]]:
    """Return the definition of plain data and its findings, without positions."""
    try:
        # In strict mode only JSON input permits lists for tuples.
        definition = PipelineDefinition.model_validate_json(json.dumps(data, default=str))
    except ValidationError as problem:
        return None, _shape_findings(data, problem.errors(include_url=False))
    return definition, list(definition_findings(definition))


def _shape_findings(data: Any, errors: list[ErrorDetails]) -> list[Finding]:
    places: dict[DataPath, list[ErrorDetails]] = {}
    findings = []
    for error in errors:
        path, unresolved = data_path(data, error["loc"])
        here = (*path, *unresolved[:1]) if error["type"] == "missing" else path
        if error["type"] == "extra_forbidden":
            findings.append(_unknown_key(data, here))
        elif error["type"] in ("union_tag_invalid", "union_tag_not_found"):
            findings.append(_wrong_kind(error, here))
        else:
            places.setdefault(here, []).append(error)
    # A list is not too short if only its invalid items are missing.
    above = {tuple(error["loc"])[:length] for error in errors for length in range(len(error["loc"]))}
    findings += [
        shape_finding(data, path, path, place)
        for path, place in places.items()
        if not (place[0]["type"] == "too_short" and path in above)
    ]
    return findings


def _unknown_key(data: Any, path: DataPath) -> Finding:
    model = model_at(PipelineDefinition, data, path[:-1])
    known = list(model.model_fields) if model is not None else []
    near = did_you_mean(str(path[-1]), known)
    fix = f'did you mean "{near}"?' if near else f"known here: {', '.join(known)}" if known else "remove it"
    where = f" in {path_text(path[:-1])}" if path[:-1] else ""
    return Finding("unknown-key", f'unknown key "{path[-1]}"{where}', path, fix)


def _wrong_kind(error: ErrorDetails, path: DataPath) -> Finding:
    choices = str(error.get("ctx", {}).get("expected_tags", "")).replace("'", "")
    value = error["input"].get("kind") if isinstance(error["input"], dict) else None
    if value is None:
        fix = f"choose one of {choices}" if choices else "write a mapping with kind:"
        return Finding("missing-key", f"{path_text((*path, 'kind'))} is missing", (*path, "kind"), fix)
    near = did_you_mean(str(value), choices.split(", "))
    fix_near = f'did you mean "{near}"?' if near else None
    return Finding(
        "unknown-value", f'{path_text((*path, "kind"))}: "{value}" is not one of {choices}', (*path, "kind"), fix_near
    )
