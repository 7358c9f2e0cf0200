"""Registration of a model folder as a version, its signature in the registry, and its verification."""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from landbridge.findings import Finding, FindingsError
from landbridge.live.models.registry import ModelRegistry, RegisteredVersion
from landbridge.models.aliases import AliasMove, registration
from landbridge.models.files import ModelRefusal, VerifiedModel, verify_folder
from landbridge.models.files.folder import ModelFolder, read_folder
from landbridge.models.files.sign import sign_folder
from landbridge.models.formats import name_findings
from landbridge.models.history import next_record, read_history
from landbridge.models.manifest import ModelManifest
from landbridge.models.names import MANIFEST_FILE, SIGNATURE_FILE
from landbridge.models.signers import ModelTrust
from landbridge.models.version_tags import CLASS_TAG, CONTENT_TAG, DIGEST_TAG, PIPELINE_RUN_TAG, SIGNATURE_TAG


def register(
    registry: ModelRegistry, folder: Path, account: str, now: float, pipeline_run: str = ""
) -> RegisteredVersion:
    """Register a model folder as the next version, which becomes candidate. Raises FindingsError for a refused folder.

    The same folder is registered once: a registration that was interrupted goes on, and one that ended changes nothing.
    `pipeline_run`: run of a pipeline whose step registers it.
    """
    content = _read(folder)
    manifest, name = content.manifest.numbered(""), content.manifest.name
    registry.ensure(name)
    identity = _sha256(manifest.to_json().encode())
    same_content = [each for each in registry.versions(name) if each.tags.get(CONTENT_TAG) == identity]
    tags = {
        CONTENT_TAG: identity,
        **manifest_tags(manifest),
        **({PIPELINE_RUN_TAG: pipeline_run} if pipeline_run else {}),
    }
    version = same_content[-1] if same_content else registry.create(name, tags)
    if not version.digest:
        with TemporaryDirectory(prefix="landbridge-model-") as temporary:
            shutil.copyfile(folder / manifest.weights, Path(temporary) / manifest.weights)
            (Path(temporary) / MANIFEST_FILE).write_text(manifest.numbered(version.version).to_json())
            complete(registry, version, Path(temporary))
    if not any(record.after == version.version for record in read_history(registry.tags(name))[0]):
        move_alias(registry, name, registration(registry.aliases(name), version.version), account, "registered", now)
    return registry.version(name, version.version)


def complete(registry: ModelRegistry, version: RegisteredVersion, folder: Path) -> None:
    """Upload the folder of a version that was created, and mark the version as complete."""
    content = _read(folder)
    registry.upload(version, folder)
    tags = {SIGNATURE_TAG: content.digests[SIGNATURE_FILE]} if content.signature is not None else {}
    # The digest is last: a version without it was not completed.
    registry.set_tags(version, {**tags, DIGEST_TAG: manifest_digest(content)})
    registry.end(version)


def manifest_tags(manifest: ModelManifest) -> dict[str, str]:
    """Return the tags of a new version: data class, lineage and metrics."""
    metrics = {f"landbridge.metric.{name}": f"{value:.6g}" for name, value in manifest.metrics.items()}
    return {CLASS_TAG: manifest.data_class, **manifest.lineage.tags(), **metrics}


def move_alias(registry: ModelRegistry, name: str, move: AliasMove, account: str, reason: str, now: float) -> None:
    """Write the record of a move, and move the alias. A move that is recorded already only moves the alias."""
    records, _ = read_history(registry.tags(name))
    last = next((record for record in reversed(records) if record.alias == move.alias), None)
    # A version that got the alias by other means leaves it with a record too.
    if last is None or last.after != move.after or move.before not in (last.before, last.after):
        registry.add_record(name, next_record(records, move, now, account, reason))
    if move.after:
        registry.set_alias(name, move.alias, move.after)
    else:
        registry.remove_alias(name, move.alias)


def sign(registry: ModelRegistry, version: RegisteredVersion, key: str, certificates: tuple[str, ...]) -> None:
    """Sign a version in the registry. Raises FindingsError for a version whose files are not those that were registered."""
    with complete_folder(registry, version) as folder:
        content = _read(folder)
        if manifest_digest(content) != version.digest:
            message = f"{version.name}/{version.version}: its manifest is not the one that was registered"
            raise FindingsError([Finding("model-folder", message)])
        findings = sign_folder(folder, key, certificates)
        if findings:
            raise FindingsError(findings)
        signature = folder / SIGNATURE_FILE
        with TemporaryDirectory(prefix="landbridge-model-") as temporary:
            shutil.copyfile(signature, Path(temporary) / SIGNATURE_FILE)
            registry.upload(version, Path(temporary))
        registry.set_tags(version, {SIGNATURE_TAG: _sha256(signature.read_bytes())})


@contextmanager
def complete_folder(registry: ModelRegistry, version: RegisteredVersion) -> Iterator[Path]:
    """Yield a temporary folder of a version. Raises FindingsError for one whose registration did not end.

    Files that are no model's, and those for which the disk has no room, are refused before they are read.
    """
    if not version.digest:
        message, fix = f"{version.name}/{version.version} is not complete", "register its folder again"
        raise FindingsError([Finding("model-folder", message, fix=fix)])
    files = registry.files(version)
    findings = name_findings([name if size is not None else f"{name}/" for name, size in files.items()])
    if (fault := room_fault(sum(size or 0 for size in files.values()))) is not None:
        findings.append(Finding("model-folder", f"{version.name}/{version.version}: {fault}"))
    if findings:
        raise FindingsError(findings)
    with registry.downloaded(version, files) as folder:
        yield folder


@contextmanager
def verified(
    registry: ModelRegistry, version: RegisteredVersion, trust: ModelTrust
) -> Iterator[VerifiedModel | ModelRefusal]:
    """Yield a version of the registry with its files, verified; or its refusal."""
    with complete_folder(registry, version) as folder:
        yield verify_folder(folder, trust, name=version.name, version=version.version)


def room_fault(size: int) -> str | None:
    """Return the reason why the temporary folder has no room for the files of a version and a copy of them; None if it has."""
    place = gettempdir()
    free = shutil.disk_usage(place).free
    if free >= 2 * size:
        return None
    return f"{place} has {free:,} bytes free, and a version of {size:,} bytes needs twice its size"


def manifest_digest(content: ModelFolder) -> str:
    """Return the SHA-256 of a folder's manifest, which has the SHA-256 of the weights."""
    return content.digests[MANIFEST_FILE]


def _read(folder: Path) -> ModelFolder:
    content = read_folder(folder)
    if isinstance(content, list):
        raise FindingsError(content)
    return content


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
