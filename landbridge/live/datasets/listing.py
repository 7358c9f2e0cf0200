"""Datasets of a bucket: their versions, and a version's manifest."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from landbridge.aws_api.objects import ObjectBucket
from landbridge.datasets import MANIFESTS, DatasetManifest, ManifestError, manifest_key, version_of_key
from landbridge.findings import Finding, FindingsError, did_you_mean


@dataclass(frozen=True, slots=True)
class DatasetVersion:
    """Version of a dataset, and the time at which its manifest was written."""

    name: str
    version: str
    written: datetime


def size_of(bucket: ObjectBucket, version: DatasetVersion) -> tuple[int, int] | None:
    """Return files and bytes of a version from the metadata of its manifest; None without them. Raises AwsRefusal."""
    facts = bucket.head(manifest_key(version.name, version.version))
    try:
        return None if facts is None else (int(facts.metadata["files"]), int(facts.metadata["bytes"]))
    except (KeyError, ValueError):
        return None


def versions(bucket: ObjectBucket, name: str | None = None) -> list[DatasetVersion]:
    """Return the versions in a bucket, of one dataset or of all, by name and age. Raises AwsRefusal."""
    listed = bucket.list(f"{MANIFESTS}{name}/" if name is not None else MANIFESTS)
    named = ((version_of_key(facts.key), facts.modified) for facts in listed)
    listed_versions = [DatasetVersion(*key, modified) for key, modified in named if key is not None]
    return sorted(listed_versions, key=lambda version: (version.name, version.written, version.version))


def find_manifest(bucket: ObjectBucket, name: str, version: str | None) -> DatasetManifest | None:
    """Return the manifest of a version, or of the newest one; None without one. Raises AwsRefusal and FindingsError."""
    if version is None:
        known = versions(bucket, name)
        if not known:
            return None
        version = known[-1].version
    text = bucket.get(manifest_key(name, version))
    return None if text is None else read_manifest(name, version, text)


def read_manifest(name: str, version: str, text: bytes) -> DatasetManifest:
    """Return a manifest. Raises FindingsError for a damaged one, and for one of another name or version."""
    try:
        manifest = DatasetManifest.parse(text)
        if (manifest.content.name, manifest.version) != (name, version):
            raise ManifestError(f"it is the one of {manifest.content.name}:{manifest.version}")
    except ManifestError as error:
        message = f"{name}:{version}: the manifest is damaged: {error}"
        fix = "restore its former version in the bucket, or put the dataset again under another version"
        raise FindingsError([Finding("dataset-manifest", message, fix=fix)]) from None
    return manifest


def manifests(bucket: ObjectBucket) -> Iterator[DatasetManifest]:
    """Yield every manifest of a bucket. Raises AwsRefusal and FindingsError."""
    for version in versions(bucket):
        text = bucket.get(manifest_key(version.name, version.version))
        if text is not None:
            yield read_manifest(version.name, version.version, text)


def absent(name: str, version: str | None, places: Iterable[str], known: Iterable[str]) -> Finding:
    """Return the finding for a dataset that no bucket has."""
    reference = name if version is None else f"{name}:{version}"
    near = did_you_mean(name, set(known) - {name})
    fix = f'did you mean "{near}"?' if near else "`landbridge data list` prints all datasets"
    return Finding("dataset-absent", f"no dataset {reference} in {', '.join(places) or 'any bucket'}", fix=fix)
