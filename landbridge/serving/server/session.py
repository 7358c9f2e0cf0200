"""ONNX Runtime session of a verified model."""

import math
from typing import Any

from landbridge.models.files import VerifiedModel
from landbridge.serving.load import FolderRefusal
from landbridge.serving.server.protocol import NUMPY, InferRequest, InputTensor, RequestRefusal

#: Source: onnxruntime.ai, "Thread management": with one thread each request uses one core.
_PROVIDERS = ("CPUExecutionProvider",)
_ONNX_TYPES = {
    "BOOL": "tensor(bool)",
    "UINT8": "tensor(uint8)",
    "INT8": "tensor(int8)",
    "INT16": "tensor(int16)",
    "INT32": "tensor(int32)",
    "INT64": "tensor(int64)",
    "FP16": "tensor(float16)",
    "FP32": "tensor(float)",
    "FP64": "tensor(double)",
}


class OnnxModel:
    """Model that answers requests. Its session may be used by several threads."""

    def __init__(self, model: VerifiedModel, threads: int) -> None:
        """Create the session. Raises FolderRefusal if the model is not ONNX, or not the one that the manifest describes."""
        # The import takes half a second; the command line of Landbridge does not have the package.
        import onnxruntime  # type: ignore[import-untyped]

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = max(1, threads)
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(model.weights, options, providers=list(_PROVIDERS))
        except Exception as error:  # noqa: BLE001 - the classes of the runtime's errors are not public
            raise FolderRefusal(f"ONNX Runtime refuses the model: {' '.join(str(error).split())[:200]}") from None
        self._outputs = model.manifest.outputs
        _compare("input", model.manifest.inputs, self._session.get_inputs(), complete=True)
        _compare("output", model.manifest.outputs, self._session.get_outputs(), complete=False)

    def run(self, request: InferRequest) -> list[InputTensor]:
        """Return the outputs that the request asks for. Raises RequestRefusal for values that the datatype does not have."""
        import numpy

        try:
            feed = {
                tensor.name: numpy.asarray(tensor.data, dtype=NUMPY[tensor.datatype]).reshape(tensor.shape)
                for tensor in request.inputs
            }
        except (OverflowError, ValueError) as error:
            raise RequestRefusal(str(error)) from None
        wanted = [form for form in self._outputs if not request.outputs or form.name in request.outputs]
        values = self._session.run([form.name for form in wanted], feed)
        return [
            InputTensor(form.name, form.datatype, tuple(value.shape), _plain(value.ravel().tolist()))
            for form, value in zip(wanted, values, strict=True)
        ]


def _plain(values: list[Any]) -> list[Any]:
    """Return the values with null for those that JSON does not have."""
    return [None if isinstance(value, float) and not math.isfinite(value) else value for value in values]


def _compare(kind: str, forms: Any, nodes: Any, *, complete: bool) -> None:
    types = {node.name: node.type for node in nodes}
    if complete and sorted(types) != sorted(form.name for form in forms):
        raise FolderRefusal(f"the model has the {kind}s {', '.join(sorted(types))}, its manifest others")
    for form in forms:
        if types.get(form.name) != _ONNX_TYPES.get(form.datatype):
            raise FolderRefusal(f"the {kind} {form.name} of the model is not the {form.datatype} of its manifest")
