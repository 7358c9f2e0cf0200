"""Transfers of model versions: air-gap bundles, and copies between two registries, with the same names and numbers."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from landbridge.findings import Finding, FindingsError
from landbridge.live.models.publish import complete, manifest_digest, manifest_tags, verified
from landbridge.live.models.registry import ModelRegistry, RegisteredVersion
from landbridge.models.aliases import ALIASES
from landbridge.models.files import ModelRefusal, VerifiedModel, verify_folder
from landbridge.models.files.bundle import unpack_bundle, write_bundle
from landbridge.models.files.folder import folder_digest, read_folder
from landbridge.models.history import TAG_PREFIX, AliasRecord, aliases_at, read_history
from landbridge.models.names import MANIFEST_FILE, model_name_fault
from landbridge.models.signers import ModelTrust
from landbridge.models.version_tags import CLASS_TAG

#: Finding about a model whose data class may not be at the target.
CLASS_RULE = "model-class"


@dataclass(frozen=True, slots=True)
class SyncStep:
    """Result for one version or alias of a model: copied, present or refused, with the reason."""

    name: str
    item: str
    state: str
    reason: str = ""


def export(
    registry: ModelRegistry,
    version: RegisteredVersion,
    trust: ModelTrust,
    target: Path,
    classes: frozenset[str] | None = None,
) -> None:
    """Write the air-gap bundle of a verified version to a file. Raises FindingsError for a refused one.

    `classes`: the data classes of signed manifests that may be exported; None: all.
    """
    history = {key: value for key, value in registry.tags(version.name).items() if key.startswith(TAG_PREFIX)}
    with verified(registry, version, trust) as result:
        model = _accepted(result)
        if classes is not None and model.manifest.data_class not in classes:
            raise FindingsError([_class_finding(model)])
        write_bundle(model.folder, model.digests, history, target)


def fetch(registry: ModelRegistry, version: RegisteredVersion, folder: Path, trust: ModelTrust) -> Path:
    """Place a verified version as NAME/VERSION in a folder, in one step, and return the place. Raises FindingsError.

    A place that has the same version already is verified and does not change; one with other files of that number is replaced.
    """
    place = folder / version.name / version.version
    with verified(registry, version, trust) as result:
        model = _accepted(result)
        if place.exists() and folder_digest(place) == model.digests[MANIFEST_FILE]:
            _accepted(verify_folder(place, trust, name=version.name, version=version.version))
            return place
        place.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".fetch-", dir=place.parent) as temporary:
            copy = Path(temporary) / version.version
            shutil.copytree(model.folder, copy)
            if place.exists():
                os.rename(place, Path(temporary) / "before")
            os.rename(copy, place)
    return place


def take(registry: ModelRegistry, bundle: Path, trust: ModelTrust, classes: frozenset[str] | None) -> RegisteredVersion:
    """Register the version of an air-gap bundle under its number, after it was verified. Raises FindingsError.

    `classes`: the data classes that this registry may have; None: all. No alias moves.
    """
    with TemporaryDirectory(prefix="landbridge-model-") as temporary:
        folder = Path(temporary)
        history = unpack_bundle(bundle, folder)
        if isinstance(history, list):
            raise FindingsError(history)
        model = _accepted(verify_folder(folder, trust))
        if classes is not None and model.manifest.data_class not in classes:
            raise FindingsError([_class_finding(model)])
        return _placed(registry, model)


def sync(
    source: ModelRegistry, target: ModelRegistry, names: list[str], trust: ModelTrust, classes: frozenset[str]
) -> Iterator[SyncStep]:
    """Copy the missing versions of models in their order, then their history and aliases; yield the steps.

    `classes`: data classes whose models may be in the target. A version that is not signed is not copied, and an alias moves
    only to a version that the target has. Repeating it changes nothing.
    """
    for name in names:
        versions = source.versions(name)
        fault = model_name_fault(name) or _class_fault(versions, classes)
        if fault is not None:
            yield SyncStep(name, "model", "refused", fault)
            continue
        target.ensure(name)
        present = {each.version: each for each in target.versions(name) if each.digest}
        for version in versions:
            yield _copied(source, target, version, present.get(version.version), trust, classes)
        yield from _aliases_copied(source, target, name)


def _copied(
    source: ModelRegistry,
    target: ModelRegistry,
    version: RegisteredVersion,
    present: RegisteredVersion | None,
    trust: ModelTrust,
    classes: frozenset[str],
) -> SyncStep:
    if present is not None:
        same = present.digest == version.digest
        reason = "" if same else "the target has another model version with this number"
        return SyncStep(version.name, version.version, "present" if same else "refused", reason)
    try:
        with verified(source, version, trust) as result:
            model = _accepted(result)
            # The tag is not signed, and the manifest is.
            if model.manifest.data_class not in classes:
                raise FindingsError([_class_finding(model)])
            _placed(target, model)
    except FindingsError as error:
        reasons = "; ".join(finding.message for finding in error.findings)
        return SyncStep(version.name, version.version, "refused", reasons)
    return SyncStep(version.name, version.version, "copied")


def _aliases_copied(source: ModelRegistry, target: ModelRegistry, name: str) -> Iterator[SyncStep]:
    yield from aliases_placed(*read_history(source.tags(name)), target, name)


def aliases_placed(
    records: tuple[AliasRecord, ...], faults: tuple[Finding, ...], target: ModelRegistry, name: str
) -> Iterator[SyncStep]:
    """Write the records of a model's history that a registry lacks, and move its aliases; yield the steps."""
    known, _ = read_history(target.tags(name))
    if faults or records[: len(known)] != known:
        reason = faults[0].message if faults else "the source's history does not start with the target's history"
        yield SyncStep(name, "aliases", "refused", reason)
        return
    for record in records[len(known) :]:
        target.add_record(name, record)
    wanted, has = aliases_at(records), target.aliases(name)
    for alias in sorted({record.alias for record in records if record.alias in has} - wanted.keys()):
        target.remove_alias(name, alias)
        yield SyncStep(name, alias, "removed")
    complete_versions = {each.version for each in target.versions(name) if each.digest}
    for alias in (each for each in ALIASES if each in wanted):
        if has.get(alias) == wanted[alias]:
            yield SyncStep(name, alias, "present")
        elif wanted[alias] not in complete_versions:
            yield SyncStep(name, alias, "refused", f"the target lacks version {wanted[alias]}")
        else:
            target.set_alias(name, alias, wanted[alias])
            yield SyncStep(name, alias, "copied")


def _placed(registry: ModelRegistry, model: VerifiedModel) -> RegisteredVersion:
    """Register a verified model folder under its own number. One that is there already changes nothing."""
    manifest = model.manifest
    content = read_folder(model.folder)
    if isinstance(content, list):
        raise FindingsError(content)
    registry.ensure(manifest.name)
    version = next((each for each in registry.versions(manifest.name) if each.version == manifest.version), None)
    if version is None:
        version = registry.create_numbered(manifest.name, manifest.version, manifest_tags(manifest))
    if version.digest and version.digest != manifest_digest(content):
        message = f"{manifest.name}: the registry has another model version {manifest.version}"
        raise FindingsError([Finding("model-folder", message)])
    if not version.digest:
        complete(registry, version, model.folder)
    return registry.version(manifest.name, manifest.version)


def _class_fault(versions: list[RegisteredVersion], classes: frozenset[str]) -> str | None:
    """Return the reason why a model may not be in the target. A version without a class is not permitted."""
    refused = sorted({each.tags.get(CLASS_TAG, "none") for each in versions} - classes)
    return f"models of class {', '.join(refused)} may not be in the target" if refused else None


def _class_finding(model: VerifiedModel) -> Finding:
    message = f"{model.manifest.name}: a model of class {model.manifest.data_class} may not be in this registry"
    return Finding(CLASS_RULE, message)


def _accepted(result: VerifiedModel | ModelRefusal) -> VerifiedModel:
    if isinstance(result, ModelRefusal):
        raise FindingsError(result.findings)
    return result
