"""Air-gap bundle: one tar file with a verified model folder, its history, and checksums. Pure: bytes in, bytes out.

The checksums show a damaged copy; the signature of the model folder shows a changed one.
"""

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from landbridge.findings import Finding
from landbridge.models.manifest import ModelManifest
from landbridge.models.names import MANIFEST_FILE, SIGNATURE_FILE, WEIGHT_FILES

FORMAT = 1
RULE = "model-bundle"
CHECKSUMS, HISTORY = "SHA256SUMS", "history.json"
_NAMES = {MANIFEST_FILE, SIGNATURE_FILE, HISTORY, CHECKSUMS, *WEIGHT_FILES.values()}


@dataclass(frozen=True)
class AirGapBundle:
    """Content of an air-gap bundle: the files of a model folder, and the tags of its model's history."""

    files: Mapping[str, bytes]
    history: Mapping[str, str] = field(default_factory=dict)


def write_bundle(bundle: AirGapBundle) -> bytes:
    """Return the bytes of an air-gap bundle. The same content has the same bytes."""
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in bundle.files.items()}
    texts = bundle_texts(digests, bundle.history)
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in members_in_order(bundle.files):
            content = texts[name] if name in texts else bundle.files[name]
            archive.addfile(bundle_member(name, len(content)), io.BytesIO(content))
    return output.getvalue()


def bundle_texts(digests: Mapping[str, str], history: Mapping[str, str]) -> dict[str, bytes]:
    """Return the members beside a model's files: its history, and the checksums. `digests`: the SHA-256 of each file."""
    text = json.dumps({"format": FORMAT, "tags": dict(history)}, sort_keys=True, ensure_ascii=False)
    content = f"{text}\n".encode()
    sums = {**digests, HISTORY: hashlib.sha256(content).hexdigest()}
    return {CHECKSUMS: "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode(), HISTORY: content}


def members_in_order(files: Iterable[str]) -> list[str]:
    """Return the names of a bundle's members in their order. `files`: those of the model."""
    return [CHECKSUMS, *sorted({HISTORY, *files})]


def bundle_member(name: str, size: int) -> tarfile.TarInfo:
    """Return the header of a member, of which nothing but the size differs between models."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    return member


def read_bundle(content: bytes) -> AirGapBundle | list[Finding]:
    """Return the content of an air-gap bundle, or all reasons why it is none."""
    members: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            for member in archive:
                if member.name not in _NAMES or not member.isreg() or member.name in members:
                    return [_finding(f"{member.name!r} is not a member of an air-gap bundle, or is there twice")]
                file = archive.extractfile(member)
                members[member.name] = b"" if file is None else file.read()
    except (tarfile.TarError, OSError, ValueError) as error:
        return [_finding(f"not a tar file: {error}")]
    missing = sorted({CHECKSUMS, HISTORY, MANIFEST_FILE, SIGNATURE_FILE} - members.keys())
    if missing:
        return [_finding(f"these members are missing: {', '.join(missing)}")]
    sums = members.pop(CHECKSUMS)
    actual = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    lines = [line.partition("  ") for line in sums.decode("utf-8", "replace").splitlines()]
    listed = {name: digest for digest, _, name in lines}
    findings = [
        _finding(f"{name} does not match its checksum")
        for name in sorted(actual.keys() | listed.keys())
        if actual.get(name) != listed.get(name)
    ]
    try:
        data = json.loads(members.pop(HISTORY))
        tags = {str(key): str(value) for key, value in data["tags"].items()}
        if data["format"] != FORMAT:
            findings.append(_finding(f"format {data['format']!r}; this program reads {FORMAT}"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return [*findings, _finding(f"{HISTORY} cannot be read: {type(error).__name__}")]
    manifest = ModelManifest.parse(members[MANIFEST_FILE])
    if isinstance(manifest, list):
        findings += manifest
    return findings or AirGapBundle(members, tags)


def _finding(message: str) -> Finding:
    return Finding(RULE, message)
