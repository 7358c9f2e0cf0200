"""Between the engine's encoding and plain Python: structs, and the marks for what is not known yet."""

from collections.abc import Mapping
from typing import Any

import pulumi
from google.protobuf import struct_pb2
from pulumi.runtime import rpc

Bag = dict[str, Any]

#: How the engine writes files and folders: objects that carry a signature.
_SIGNATURE, _ASSET, _ARCHIVE = rpc._special_sig_key, rpc._special_asset_sig, rpc._special_archive_sig


def plain(struct: struct_pb2.Struct) -> Bag:
    """Return a struct as a dict; whole numbers are ints, unknowns stay `Unknown`, secrets are opened."""
    found = _plain(rpc.deserialize_properties(struct, keep_unknowns=True))
    return {key: value for key, value in found.items() if not key.startswith("__")}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        if rpc.is_rpc_secret(value):
            return _plain(rpc.unwrap_rpc_secret(value))
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return asset(value)


def asset(value: Any) -> Any:
    """Texts and archives of them as plain data, which compares; anything else as it is."""
    if isinstance(value, pulumi.AssetArchive):
        return {_SIGNATURE: _ARCHIVE, "assets": {name: asset(item) for name, item in value.assets.items()}}
    if isinstance(value, pulumi.StringAsset):
        return {_SIGNATURE: _ASSET, "text": value.text}
    return value


def struct(bag: Mapping[str, Any]) -> struct_pb2.Struct:
    """Return a dict as a struct; None is left out, as the engine does with a property that is not there."""
    made = struct_pb2.Struct()
    for key, value in bag.items():
        if value is not None:
            made[key] = _encoded(value)
    return made


def _encoded(value: Any) -> Any:
    if isinstance(value, pulumi.output.Unknown):
        return rpc.UNKNOWN
    if isinstance(value, Mapping):
        return {key: _encoded(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_encoded(item) for item in value]
    return value


def unknown_inside(value: Any) -> bool:
    """Tell whether a value is, or holds, something that only the real run will know."""
    if isinstance(value, Mapping):
        return any(map(unknown_inside, value.values()))
    if isinstance(value, list | tuple):
        return any(map(unknown_inside, value))
    return isinstance(value, pulumi.output.Unknown)
