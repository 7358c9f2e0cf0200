"""Model folder with INT8 weights, from one with floating-point numbers."""

import hashlib
import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from landbridge.models.files.folder import read_folder
from landbridge.models.names import MANIFEST_FILE as MANIFEST

WEIGHTS = "model.onnx"


class QuantiseError(Exception):
    """Folder that is not quantised or measured, with the reason."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a model folder in ONNX after its files were checked. Raises QuantiseError."""
    content = read_folder(folder)
    if isinstance(content, list):
        raise QuantiseError(f"{folder}: " + "; ".join(finding.message for finding in content))
    if content.manifest.format != "onnx":
        raise QuantiseError(f"{folder}: its format is {content.manifest.format}, not onnx")
    return dict(json.loads(content.contents[MANIFEST]))


def quantise(folder: Path, output: Path, calibration: Path | None = None) -> dict[str, Any]:
    """Write a new folder with INT8 weights, and return its manifest.

    Without calibration rows, activations are quantised at run time (dynamic); with them, by the ranges that the rows have (static).
    Source: ONNX Runtime documentation, "Quantize ONNX models". The new manifest has neither version, signature nor metrics: the
    version is measured and registered as one of its own.
    """
    manifest = read_manifest(folder)
    if output.exists():
        raise QuantiseError(f"{output} exists already")
    from onnxruntime.quantization import QuantType, quantize_dynamic, quantize_static  # type: ignore[import-untyped]
    from onnxruntime.quantization.shape_inference import quant_pre_process  # type: ignore[import-untyped]

    with TemporaryDirectory(dir=output.parent, prefix=".quantise-") as name:
        temporary = Path(name)
        prepared, new = temporary / "prepared.onnx", temporary / "new"
        new.mkdir()
        quant_pre_process(str(folder / WEIGHTS), str(prepared), skip_symbolic_shape=True)
        if calibration is None:
            quantize_dynamic(str(prepared), str(new / WEIGHTS), weight_type=QuantType.QInt8)
        else:
            quantize_static(
                str(prepared), str(new / WEIGHTS), _reader(calibration, manifest), weight_type=QuantType.QInt8
            )
        content = _without_unused_domains((new / WEIGHTS).read_bytes())
        (new / WEIGHTS).write_bytes(content)
        manifest["files"] = {WEIGHTS: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}}
        for key in ("version", "metrics"):
            manifest.pop(key, None)
        (new / MANIFEST).write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
        shutil.move(str(new), str(output))
    return manifest


def _without_unused_domains(content: bytes) -> bytes:
    """Return an ONNX file without operator sets that no node uses: the quantiser names several, which the registry refuses."""
    import onnx

    model = onnx.load_from_string(content)
    nodes = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    used = {node.domain for node in nodes} | {""}
    sets = [each for each in model.opset_import if each.domain in used]
    del model.opset_import[:]
    model.opset_import.extend(sets)
    return bytes(model.SerializeToString())


def read_rows(path: Path) -> dict[str, Any]:
    """Return the arrays of an .npz file by name. Pickled objects are refused."""
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except OSError as error:
        raise QuantiseError(f"{path}: {error.strerror or 'it is not an .npz file'}") from None
    except (AttributeError, ValueError):
        raise QuantiseError(f"{path}: it is not an .npz file with plain arrays") from None


def inputs_of(rows: dict[str, Any], manifest: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the arrays of a model's inputs."""
    names = [each["name"] for each in manifest["inputs"]]
    if missing := [name for name in names if name not in rows]:
        raise QuantiseError(f"{path}: it has no array {', '.join(missing)}, the model's input")
    if len({len(rows[name]) for name in names}) != 1 or not len(rows[names[0]]):
        raise QuantiseError(f"{path}: the inputs have no rows, or not the same number of them")
    return {name: rows[name] for name in names}


def _reader(path: Path, manifest: dict[str, Any]) -> Any:
    """Return a reader of calibration rows, one at a time."""
    from onnxruntime.quantization import CalibrationDataReader

    inputs = inputs_of(read_rows(path), manifest, path)
    count = len(next(iter(inputs.values())))

    class Rows(CalibrationDataReader):  # type: ignore[misc]
        """Rows of the file."""

        def __init__(self) -> None:
            self._at = iter(range(count))

        def get_next(self) -> dict[str, Any] | None:
            """Return the next row; None after the last one."""
            at = next(self._at, None)
            return None if at is None else {name: values[at : at + 1] for name, values in inputs.items()}

    return Rows()
