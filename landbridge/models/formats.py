"""Formats of weights: ONNX and safetensors are accepted by their content, and files that can run code are refused.

Sources (2026-11-26): Python documentation, "pickle", "Warning" (loading runs code), and `pickletools`; PyTorch, `torch.load`;
joblib, "Persistence"; Keras, "Lambda layer" (a function is stored as code in HDF5); GNU file, `magic`.
"""

import pickletools
from collections.abc import Iterator

from landbridge.findings import Finding
from landbridge.models.names import MANIFEST_FILE, SIGNATURE_FILE, WEIGHT_FILES
from landbridge.models.onnx_file import TOO_LARGE, onnx_faults
from landbridge.models.safetensors_file import LENGTH_BYTES, header_bytes, safetensors_faults

RULE = "model-format"
_FIX = "save the weights as ONNX or safetensors"
_ACCEPTED = {"model.onnx": onnx_faults, "model.safetensors": safetensors_faults}
#: First bytes of files that are not weights alone, and their kind.
_MAGICS = (
    (b"PK\x03\x04", "a zip file (PyTorch's .pt, Keras' .keras, joblib, NumPy's .npz), which can contain a pickle"),
    (b"PK\x05\x06", "a zip file without members"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file (Keras), which can contain code in a Lambda layer"),
    (b"\x93NUMPY", "a NumPy file, which can contain a pickle"),
    (b"#!", "a script"),
    (b"\x7fELF", "a program or a library"),
    (b"MZ", "a program or a library"),
    (b"\x1f\x8b", "a compressed file (gzip, joblib)"),
    (b"BZh", "a compressed file (bzip2, joblib)"),
    (b"\xfd7zXZ\x00", "a compressed file (xz, joblib)"),
    (b"\x28\xb5\x2f\xfd", "a compressed file (Zstandard)"),
    (b"\x04\x22\x4d\x18", "a compressed file (LZ4, joblib)"),
    (b"x\x9c", "a compressed file (zlib, joblib)"),
    (b"x\x01", "a compressed file (zlib, joblib)"),
    (b"x\xda", "a compressed file (zlib, joblib)"),
    (b"GGUF", "a GGUF file"),
)
#: Offset of the magic bytes in a tar file.
_TAR, _TAR_AT = b"ustar", 257
#: Landbridge's choice: an old pickle (protocols 0 and 1) has no first bytes of its own, and these many bytes show it.
_PICKLE_SAMPLE = 64 * 1024
#: Operations of a pickle that call or import; data that looks like a pickle by chance has none before its end.
_PICKLE_CALLS = frozenset({"GLOBAL", "STACK_GLOBAL", "REDUCE", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "BUILD", "EXT1"})


def name_findings(names: Iterator[str] | list[str]) -> list[Finding]:
    """Return a finding for each file that a model folder may not contain, and one if the weights are not one file."""
    listed = sorted(names)
    findings = [
        Finding(
            RULE, f"{name}: a model folder has weights, {MANIFEST_FILE} and {SIGNATURE_FILE} only", fix=_FIX, file=name
        )
        for name in listed
        if name not in _ACCEPTED and name not in (MANIFEST_FILE, SIGNATURE_FILE)
    ]
    weights = [name for name in listed if name in _ACCEPTED]
    if len(weights) != 1:
        listed_weights = " and ".join(weights) or "neither"
        message = f"a model folder has one of {' and '.join(WEIGHT_FILES.values())}; this one has {listed_weights}"
        findings.append(Finding(RULE, message, fix=_FIX))
    return findings


def bytes_to_examine(name: str, beginning: bytes, size: int) -> int:
    """Return how many of the first bytes of a file decide whether it is accepted: the header of safetensors, and a whole ONNX file.

    `beginning`: the first bytes of the file; without them the answer is the least number.
    """
    if name == WEIGHT_FILES["onnx"] and size < TOO_LARGE:
        return size
    header = header_bytes(beginning[:LENGTH_BYTES]) if name == WEIGHT_FILES["safetensors"] else 0
    return min(size, max(header, _PICKLE_SAMPLE))


def content_findings(name: str, content: bytes, size: int | None = None) -> list[Finding]:
    """Return the reasons why the content of a weights' file is refused; none for accepted weights.

    `content`: as many first bytes as `bytes_to_examine` returns. `size`: that of the file; None: that of `content`.
    """
    check = _ACCEPTED.get(name)
    size = len(content) if size is None else size
    faults = ["neither ONNX nor safetensors by its name"] if check is None else list(check(content, size))
    # Bytes that are complete weights are accepted: the header of safetensors can begin like a pickle.
    if faults and (kind := forbidden_kind(content)) is not None:
        faults = [f"its content is {kind}"]
    return [Finding(RULE, f"{name}: {fault}", fix=_FIX, file=name) for fault in faults]


def forbidden_kind(content: bytes) -> str | None:
    """Return the kind of a file that is refused by its first bytes; None for another file."""
    if content[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return "a tar file"
    known = next((kind for magic, kind in _MAGICS if content.startswith(magic)), None)
    if known is None and _is_pickle(content[:_PICKLE_SAMPLE]):
        return "a pickle, which runs code when it is loaded"
    return known


def _is_pickle(sample: bytes) -> bool:
    # Protocols 2 to 5 begin with the operation PROTO.
    if len(sample) >= 2 and sample[0] == 0x80 and 2 <= sample[1] <= 5:
        return True
    names: list[str] = []
    try:
        for operation, _, _ in pickletools.genops(sample):
            names.append(operation.name)
            if operation.name in _PICKLE_CALLS and operation.name not in ("BUILD", "EXT1"):
                return True
    except Exception:  # noqa: BLE001 - bytes of another format end in any error
        return False
    return len(names) > 1 and names[-1] == "STOP"
