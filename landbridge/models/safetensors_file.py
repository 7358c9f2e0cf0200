"""Safetensors file: its header, and the tensors' places. Source (2026-11-26): huggingface/safetensors, README, "Format"."""

import json
from collections.abc import Iterator
from math import prod
from typing import Any

#: Largest header, from the same source: 100 MB.
LARGEST_HEADER = 100_000_000
LENGTH_BYTES = 8
#: Bits of a number by datatype.
_BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16,
    "I32": 32, "U32": 32, "F32": 32, "I64": 64, "U64": 64, "F64": 64,
}  # fmt: skip


def header_bytes(beginning: bytes) -> int:
    """Return the length of a file's header, with its first 8 bytes; 0 for bytes that begin no accepted header."""
    length = int.from_bytes(beginning[:LENGTH_BYTES], "little")
    return LENGTH_BYTES + length if len(beginning) >= LENGTH_BYTES and length <= LARGEST_HEADER else 0


def safetensors_faults(beginning: bytes, size: int) -> Iterator[str]:
    """Yield the reasons why a file is not a safetensors file of tensors alone, by its header and its size.

    `beginning`: the first bytes of the file, with the whole header. The numbers of the tensors are not read.
    """
    start = header_bytes(beginning)
    if not start or start > size:
        yield "not a safetensors file: its header is longer than the file, or than 100 MB"
        return
    try:
        header = json.loads(beginning[LENGTH_BYTES:start], object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        yield f"not a safetensors file: its header is not JSON: {error}"
        return
    if not isinstance(header, dict):
        yield "not a safetensors file: its header is not an object"
        return
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        yield "its metadata is not text"
    faults = [fault for name, tensor in header.items() if (fault := _tensor_fault(name, tensor)) is not None]
    yield from faults
    if faults:
        return
    if not header:
        yield "it has no tensor"
    at = 0
    for first, last in sorted(tensor["data_offsets"] for tensor in header.values()):
        if first != at:
            yield f"its tensors overlap, or have a hole, at byte {at}"
            return
        at = last
    if start + at > size:
        yield f"its tensors end {start + at - size} bytes after the file"
    elif start + at != size:
        yield f"it has {size - start - at} bytes after its tensors"


def _tensor_fault(name: str, tensor: Any) -> str | None:
    if not isinstance(tensor, dict) or set(tensor) != {"dtype", "shape", "data_offsets"}:
        return f'tensor "{name}": dtype, shape and data_offsets are required'
    bits, shape, offsets = _BITS.get(str(tensor["dtype"])), tensor["shape"], tensor["data_offsets"]
    if bits is None:
        return f'tensor "{name}": unknown datatype {tensor["dtype"]!r}'
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        return f'tensor "{name}": its shape or its offsets are not sizes'
    if offsets[1] - offsets[0] != prod(shape) * bits // 8:
        return f'tensor "{name}": its offsets do not match its shape'
    return None


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("a name is repeated")
    return data
