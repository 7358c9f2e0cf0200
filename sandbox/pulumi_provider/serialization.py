"""Conversion between the engine's protobuf structs and plain Python, with unknown values and secrets."""

from collections.abc import Mapping
from typing import Any

import pulumi
from google.protobuf import struct_pb2
from pulumi.runtime import rpc

Bag = dict[str, Any]

#: The engine's form of files and folders: objects with a signature. Old ones have only the hash and no contents, which
#: the SDK cannot read, so they are stored as plain data under a separate key.
_SIGNATURE, _ASSET, _ARCHIVE = rpc._special_sig_key, rpc._special_asset_sig, rpc._special_archive_sig
SIGNED = "assetSignature"


def plain(struct: struct_pb2.Struct) -> Bag:
    """Return a struct as a dict; whole numbers are ints, unknowns stay `Unknown`, secrets are unwrapped."""
    copy = struct_pb2.Struct()
    copy.CopyFrom(struct)
    _set_aside(copy)
    properties = _plain(rpc.deserialize_properties(copy, keep_unknowns=True))
    return {key: value for key, value in properties.items() if not key.startswith("__")}


def _set_aside(struct: struct_pb2.Struct) -> None:
    """Move the signature of assets and archives, at any depth, to the key SIGNED."""
    if _SIGNATURE in struct.fields and struct.fields[_SIGNATURE].string_value in (_ASSET, _ARCHIVE):
        struct.fields[SIGNED].string_value = struct.fields[_SIGNATURE].string_value
        del struct.fields[_SIGNATURE]
    waiting = list(struct.fields.values())
    while waiting:
        value = waiting.pop()
        if value.HasField("struct_value"):
            _set_aside(value.struct_value)
        elif value.HasField("list_value"):
            waiting += value.list_value.values


def comparable(value: Any) -> Any:
    """Return a value without the contents of files with a known hash: the engine sends old files without contents."""
    if isinstance(value, Mapping):
        if SIGNED in value and "hash" in value:
            return {SIGNED: value[SIGNED], "hash": value["hash"]}
        return {key: comparable(item) for key, item in value.items()}
    return [comparable(item) for item in value] if isinstance(value, list | tuple) else value


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
    """Return assets and archives as plain data, which can be compared; other values unchanged."""
    if isinstance(value, pulumi.AssetArchive):
        return {SIGNED: _ARCHIVE, "assets": {name: asset(item) for name, item in value.assets.items()}}
    if isinstance(value, pulumi.StringAsset):
        return {SIGNED: _ASSET, "text": value.text}
    if isinstance(value, pulumi.FileAsset):
        return {SIGNED: _ASSET, "path": value.path}
    return value


def signed(value: Any) -> Any:
    """Return plain data with assets in the SDK's form, for answers to a program without an engine."""
    if isinstance(value, Mapping):
        return {_SIGNATURE if key == SIGNED else key: signed(item) for key, item in value.items()}
    return [signed(item) for item in value] if isinstance(value, list | tuple) else value


def struct(bag: Mapping[str, Any]) -> struct_pb2.Struct:
    """Return a dict as a struct; None is omitted, as the engine omits missing properties."""
    struct = struct_pb2.Struct()
    for key, value in bag.items():
        if value is not None:
            struct[key] = _encoded(value)
    return struct


def _encoded(value: Any) -> Any:
    if isinstance(value, pulumi.output.Unknown):
        return rpc.UNKNOWN
    if isinstance(value, Mapping):
        return {_SIGNATURE if key == SIGNED else key: _encoded(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_encoded(item) for item in value]
    return value


def unknown_inside(value: Any) -> bool:
    """Return whether a value is unknown, or contains an unknown value."""
    if isinstance(value, Mapping):
        return any(map(unknown_inside, value.values()))
    if isinstance(value, list | tuple):
        return any(map(unknown_inside, value))
    return isinstance(value, pulumi.output.Unknown)
