"""JSON Schema of pipelines' files, with which editors complete and check YAML."""

from typing import Any

from landbridge.pipelines.definition.model import PipelineDefinition

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def pipeline_schema() -> dict[str, Any]:
    """Return the schema of `pipelines/NAME.yaml`."""
    return {"$schema": _DIALECT, **PipelineDefinition.model_json_schema()}
