"""Manifest of a model folder (`model.json`): name, version, weights, inputs, outputs, lineage and metrics.

Datatypes are those of the Open Inference Protocol, version 2 ("Tensor Data Types", kserve/open-inference-protocol, 2026-11-26).
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from landbridge.findings import Finding
from landbridge.models.lineage import ModelLineage
from landbridge.models.names import MANIFEST_FILE, WEIGHT_FILES, model_name_fault, model_version_fault

SCHEMA = 1
RULE = "model-manifest"
DATATYPES = frozenset(
    ["BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "BF16", "BYTES"]
)  # fmt: skip
#: Landbridge's choice: a manifest with distributions of some thousand features has less.
LARGEST_BYTES = 16 * 2**20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_REQUIRED = {"schema", "name", "data_class", "format", "files", "inputs", "outputs"}
_KEYS = _REQUIRED | {"version", "lineage", "metrics", "reference"}


@dataclass(frozen=True, slots=True)
class ModelFile:
    """File of a model folder: SHA-256 and size."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class ModelTensor:
    """Input or output of a model. A dimension of -1 has any size."""

    name: str
    datatype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class ModelManifest:
    """Manifest of a model version. `version` is empty until the registry has given a number."""

    name: str
    data_class: str
    format: str
    files: Mapping[str, ModelFile]
    inputs: tuple[ModelTensor, ...]
    outputs: tuple[ModelTensor, ...]
    version: str = ""
    lineage: ModelLineage = field(default_factory=ModelLineage)
    metrics: Mapping[str, float] = field(default_factory=dict)
    reference: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weights(self) -> str:
        """Return the name of the weights' file."""
        return WEIGHT_FILES[self.format]

    @classmethod
    def parse(cls, text: str | bytes) -> "ModelManifest | list[Finding]":
        """Return the manifest of a text, or all reasons why it is not valid."""
        if len(text) > LARGEST_BYTES:
            return [_finding(f"the manifest is larger than {LARGEST_BYTES} bytes")]
        try:
            data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
        except (ValueError, RecursionError) as error:
            return [_finding(f"not JSON: {error}")]
        findings = list(_faults(data))
        if findings:
            return findings
        lineage = ModelLineage.parse(data.get("lineage", {}))
        assert isinstance(lineage, ModelLineage)
        return cls(
            name=data["name"],
            data_class=data["data_class"],
            format=data["format"],
            files={name: ModelFile(file["sha256"], file["bytes"]) for name, file in sorted(data["files"].items())},
            inputs=_tensors(data["inputs"]),
            outputs=_tensors(data["outputs"]),
            version=data.get("version", ""),
            lineage=lineage,
            metrics={name: float(value) for name, value in data.get("metrics", {}).items()},
            reference=data.get("reference", {}),
        )

    def numbered(self, version: str) -> "ModelManifest":
        """Return the manifest with the number that the registry gave."""
        return replace(self, version=version)

    def to_json(self) -> str:
        """Return the text of the manifest's file."""
        data = {
            "schema": SCHEMA,
            "name": self.name,
            **({"version": self.version} if self.version else {}),
            "data_class": self.data_class,
            "format": self.format,
            "files": {name: {"sha256": file.sha256, "bytes": file.size} for name, file in sorted(self.files.items())},
            "inputs": [_tensor_dict(tensor) for tensor in self.inputs],
            "outputs": [_tensor_dict(tensor) for tensor in self.outputs],
            "lineage": self.lineage.to_dict(),
            "metrics": dict(self.metrics),
            "reference": dict(self.reference),
        }
        return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _faults(data: Any) -> Iterator[Finding]:
    if not isinstance(data, dict):
        yield _finding("the manifest is not an object")
        return
    if data.get("schema") != SCHEMA:
        yield _finding(f"schema {data.get('schema')!r}; this program reads {SCHEMA}", "schema")
    for key in sorted(_REQUIRED - data.keys()):
        yield _finding(f"the key {key} is missing", key)
    for key in sorted(data.keys() - _KEYS):
        yield _finding(f'unknown key "{key}"', key)
    for key in ("name", "version", "data_class", "format"):
        if key in data and not isinstance(data[key], str):
            yield _finding(f"{key} is not text", key)
    if isinstance(name := data.get("name"), str) and (fault := model_name_fault(name)) is not None:
        yield _finding(fault, "name")
    if isinstance(version := data.get("version"), str) and version and (fault := model_version_fault(version)):
        yield _finding(fault, "version")
    if isinstance(kind := data.get("format"), str):
        if kind not in WEIGHT_FILES:
            yield _finding(f'format "{kind}" is not accepted: {" or ".join(WEIGHT_FILES)}', "format")
        elif "files" in data:
            yield from _file_faults(data["files"], WEIGHT_FILES[kind])
    for key in ("inputs", "outputs"):
        if key in data:
            yield from _tensor_faults(key, data[key])
    if isinstance(lineage := ModelLineage.parse(data.get("lineage", {})), str):
        yield _finding(lineage, "lineage")
    metrics = data.get("metrics", {})
    if not isinstance(metrics, dict) or not all(_is_number(value) for value in metrics.values()):
        yield _finding("metrics is not an object of numbers", "metrics")
    if not isinstance(data.get("reference", {}), dict):
        yield _finding("reference is not an object", "reference")


def _file_faults(files: Any, weights: str) -> Iterator[Finding]:
    if not isinstance(files, dict) or set(files) != {weights}:
        yield _finding(f"files must have {weights} and no other file", "files")
        return
    file = files[weights]
    if not isinstance(file, dict) or set(file) != {"sha256", "bytes"}:
        yield _finding(f"{weights}: sha256 and bytes are required", "files")
        return
    if not isinstance(file["sha256"], str) or not _SHA256.fullmatch(file["sha256"]):
        yield _finding(f"{weights}: {file['sha256']!r} is not a SHA-256", "files")
    if not isinstance(file["bytes"], int) or isinstance(file["bytes"], bool) or file["bytes"] <= 0:
        yield _finding(f"{weights}: {file['bytes']!r} is not a number of bytes", "files")


def _tensor_faults(key: str, tensors: Any) -> Iterator[Finding]:
    if not isinstance(tensors, list) or not tensors:
        yield _finding(f"{key} is not a list with an element", key)
        return
    names: set[str] = set()
    for index, tensor in enumerate(tensors):
        place = f"{key}[{index}]"
        if not isinstance(tensor, dict) or set(tensor) != {"name", "datatype", "shape"}:
            yield _finding(f"{place}: name, datatype and shape are required", key)
            continue
        if not isinstance(tensor["name"], str) or not tensor["name"] or tensor["name"] in names:
            yield _finding(f"{place}: the name is empty, or is there twice", key)
        else:
            names.add(tensor["name"])
        if str(tensor["datatype"]) not in DATATYPES:
            yield _finding(f"{place}: unknown datatype {tensor['datatype']!r}", key)
        shape = tensor["shape"]
        if not isinstance(shape, list) or not all(type(size) is int and size >= -1 for size in shape):
            yield _finding(f"{place}: the shape is not a list of sizes, or -1 for any size", key)


def _tensors(data: list[Any]) -> tuple[ModelTensor, ...]:
    return tuple(ModelTensor(tensor["name"], tensor["datatype"], tuple(tensor["shape"])) for tensor in data)


def _tensor_dict(tensor: ModelTensor) -> dict[str, Any]:
    return {"name": tensor.name, "datatype": tensor.datatype, "shape": list(tensor.shape)}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise if a key is repeated, because two readers could use different values."""
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("an object has a key twice")
    return data


def _finite(text: str) -> float:
    if not isfinite(number := float(text)):
        raise ValueError(f"{text} is too large")
    return number


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number of JSON")


def _finding(message: str, *path: str) -> Finding:
    return Finding(RULE, message, path, file=MANIFEST_FILE)
