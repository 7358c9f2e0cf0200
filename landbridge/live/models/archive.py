"""Archive of a registry in a bucket: an air-gap bundle of each signed version, and the history of each model.

S3 replicates the bucket to a second region (`storage.data_hub.classes.CLASS.replica_region`), so that a registry can be built again there
without the site. Keys are models/NAME/VERSION-DIGEST.tar and models/NAME/history/NUMBER.json, and those of a workspace
models/_WORKSPACE/NAME/... (no name of a model begins so). Bundles of earlier releases have no DIGEST, which is the first digits of
the manifest's. No object is replaced or read, and an object of S3 appears when it is complete.
"""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from landbridge.aws_api.object_files import PART_BYTES, get_file, put_file
from landbridge.aws_api.objects import ObjectBucket
from landbridge.findings import Finding, FindingsError
from landbridge.live.models.publish import room_fault
from landbridge.live.models.registry import ModelRegistry
from landbridge.live.models.transfer import CLASS_RULE, SyncStep, aliases_placed, export, take
from landbridge.models.history import TAG_PREFIX, read_history
from landbridge.models.names import model_name_fault, model_version_fault
from landbridge.models.signers import ModelTrust
from landbridge.models.version_tags import CLASS_TAG, KEY_DIGITS
from landbridge.plan.resource_names import MODELS_PREFIX

_bundle = re.compile(r"(\d+)(?:-([0-9a-f]+))?\.tar").fullmatch
_OTHER = "the bucket has another version of this number: the model was deleted and created again; register it under another name"


def archive(
    registry: ModelRegistry,
    names: list[str],
    trust: ModelTrust,
    data_class: str,
    bucket: ObjectBucket,
    workspace: str = "",
    part: int = PART_BYTES,
) -> Iterator[SyncStep]:
    """Write the bundles and histories that the bucket lacks; yield the steps. Repeating it writes nothing.

    `part`: size of the parts of an upload, of which one for each worker is in memory. `data_class`: that of the bucket; versions of other classes are refused, by their tag and by the signed manifest. Raises AwsRefusal.
    """
    folder = _folder(workspace)
    present = {item.key for item in bucket.list(folder)}
    for name in names:
        bundles = [match for key in present if (match := _bundle(key.removeprefix(f"{folder}{name}/")))]
        tags, foreign, other = registry.tags(name), False, False
        for version in registry.versions(name):
            digest = version.digest[:KEY_DIGITS]
            key = f"{folder}{name}/{version.version}-{digest}.tar"
            if not digest:
                continue
            if version.tags.get(CLASS_TAG) != data_class:
                reason = f"a model of class {version.tags.get(CLASS_TAG, 'none')} is not for the bucket of {data_class}"
                yield SyncStep(name, version.version, "refused", reason)
                foreign = True
            elif (known := {each[2] for each in bundles if each[1] == version.version}) and known & {
                digest,
                None,
            } == known:
                yield SyncStep(name, version.version, "present")
            elif known:
                yield SyncStep(name, version.version, "refused", _OTHER)
                other = True
            else:
                step, is_foreign = _written(
                    registry, version.name, version.version, trust, data_class, bucket, key, part
                )
                yield step
                foreign = foreign or is_foreign
        history = {key: value for key, value in sorted(tags.items()) if key.startswith(TAG_PREFIX)}
        if not history:
            continue
        if other:
            yield SyncStep(name, "history", "refused", _OTHER)
            continue
        if foreign:
            # Its records have the reasons and accounts of the other class.
            yield SyncStep(name, "history", "refused", "a version is of another class")
            continue
        key = f"{folder}{name}/history/{len(history):06d}.json"
        content = json.dumps(history, sort_keys=True, ensure_ascii=False).encode()
        is_new = key not in present and bucket.put(key, content, sha256(content).hexdigest(), if_absent=True)
        yield SyncStep(name, "history", "copied" if is_new else "present")


def restore(
    registry: ModelRegistry,
    trust: ModelTrust,
    data_class: str,
    bucket: ObjectBucket,
    workspace: str = "",
    part: int = PART_BYTES,
) -> Iterator[SyncStep]:
    """Register the versions of an archive that a registry lacks, then its histories and aliases; yield the steps.

    Each bundle is verified first. `part`: size of the parts of a download, of which one for each worker is in memory. Repeating it changes nothing. Raises AwsRefusal.
    """
    versions: dict[str, dict[int, tuple[str, int]]] = {}  # key and size by number
    histories: dict[str, str] = {}
    folder = _folder(workspace)
    for item in bucket.list(folder):
        name, *rest = item.key.removeprefix(folder).split("/")
        bundle = _bundle(rest[0]) if len(rest) == 1 else None
        if model_name_fault(name) is not None:
            continue
        if bundle is not None and model_version_fault(bundle[1]) is None:
            versions.setdefault(name, {})[int(bundle[1])] = (item.key, item.size)
        elif len(rest) == 2 and rest[0] == "history":
            histories[name] = max(histories.get(name, ""), item.key)
    for name in sorted(versions):
        for number in sorted(versions[name]):
            key, size = versions[name][number]
            yield _taken(registry, name, str(number), trust, data_class, bucket, key, size, part)
        # A model of which each bundle was refused is not registered.
        if name in histories and name in registry.names():
            tags = json.loads(bucket.get(histories[name]) or b"{}")
            yield from aliases_placed(*read_history(tags), registry, name)


def _folder(workspace: str) -> str:
    return f"{MODELS_PREFIX}/_{workspace}/" if workspace else f"{MODELS_PREFIX}/"


def _written(
    registry: ModelRegistry,
    name: str,
    version: str,
    trust: ModelTrust,
    data_class: str,
    bucket: ObjectBucket,
    key: str,
    part: int,
) -> tuple[SyncStep, bool]:
    """Return the step of a version, and whether its signed manifest is of another class."""
    registered = registry.version(name, version)
    try:
        with TemporaryDirectory() as folder:
            bundle = Path(folder) / "bundle.tar"
            export(registry, registered, trust, bundle, frozenset({data_class}))
            is_new = put_file(bucket, key, bundle, part=part)
    except FindingsError as error:
        is_foreign = any(finding.rule == CLASS_RULE for finding in error.findings)
        return SyncStep(name, version, "refused", _reasons(error.findings)), is_foreign
    return SyncStep(name, version, "copied" if is_new else "present"), False


def _taken(
    registry: ModelRegistry,
    name: str,
    version: str,
    trust: ModelTrust,
    data_class: str,
    bucket: ObjectBucket,
    key: str,
    size: int,
    part: int,
) -> SyncStep:
    known = {each.version for each in registry.versions(name) if each.digest} if name in registry.names() else set()
    if version in known:
        return SyncStep(name, version, "present")
    if (fault := room_fault(size)) is not None:
        return SyncStep(name, version, "refused", fault)
    try:
        with TemporaryDirectory() as folder:
            bundle = Path(folder) / "bundle.tar"
            if not get_file(bucket, key, bundle, part=part):
                return SyncStep(name, version, "refused", f"{key} was deleted or replaced while it was read")
            placed = take(registry, bundle, trust, frozenset({data_class}))
    except FindingsError as error:
        return SyncStep(name, version, "refused", _reasons(error.findings))
    if (placed.name, placed.version) != (name, version):
        return SyncStep(name, version, "refused", f"the bundle is {placed.name}/{placed.version}")
    return SyncStep(name, version, "copied")


def _reasons(findings: "tuple[Finding, ...] | list[Finding]") -> str:
    return "; ".join(finding.message for finding in findings)
