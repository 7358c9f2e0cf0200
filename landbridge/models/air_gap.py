"""Air-gap bundle: one tar file with a verified model folder, its history, and checksums. Pure: members, digests and texts.

The checksums show a damaged copy; the signature of the model folder shows a changed one.
"""

import hashlib
import json
import tarfile
from collections.abc import Iterable, Iterator, Mapping

from landbridge.findings import Finding
from landbridge.models.manifest import ModelManifest
from landbridge.models.names import MANIFEST_FILE, SIGNATURE_FILE, WEIGHT_FILES

FORMAT = 1
RULE = "model-bundle"
CHECKSUMS, HISTORY = "SHA256SUMS", "history.json"
#: Headers of ustar, and a further one in front of a member of 8 GiB or more, whose size ustar cannot say. A bundle of smaller members
#: has the same bytes in both formats. Source (2026-11-27): POSIX.1-2017, pax, "ustar Interchange Format" and "pax Header Block".
TAR_FORMAT = tarfile.PAX_FORMAT
WEIGHTS = frozenset(WEIGHT_FILES.values())
_NAMES = {MANIFEST_FILE, SIGNATURE_FILE, HISTORY, CHECKSUMS, *WEIGHTS}


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


def member_fault(member: tarfile.TarInfo, present: Iterable[str]) -> Finding | None:
    """Return the reason why a member cannot follow the members `present` in a bundle; None if it can."""
    # The data of a sparse member would be larger than the bundle.
    if member.name not in _NAMES or not member.isreg() or member.issparse() or member.name in present:
        return finding(f"{member.name!r} is not a member of an air-gap bundle, or is repeated")
    return None


def bundle_history(digests: Mapping[str, str], texts: Mapping[str, bytes]) -> dict[str, str] | list[Finding]:
    """Return the tags of a bundle's history, or all reasons why it is not a bundle.

    `digests`: the SHA-256 of each member. `texts`: the bytes of the members that are not weights.
    """
    missing = sorted({CHECKSUMS, HISTORY, MANIFEST_FILE, SIGNATURE_FILE} - digests.keys())
    if missing:
        return [finding(f"these members are missing: {', '.join(missing)}")]
    findings = list(_checksum_faults(texts[CHECKSUMS], digests))
    tags: dict[str, str] = {}
    try:
        data = json.loads(texts[HISTORY])
        tags = {str(key): str(value) for key, value in data["tags"].items()}
        if data["format"] != FORMAT:
            findings.append(finding(f"format {data['format']!r}; this program reads {FORMAT}"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return [*findings, finding(f"{HISTORY} cannot be read: {type(error).__name__}")]
    manifest = ModelManifest.parse(texts[MANIFEST_FILE])
    if isinstance(manifest, list):
        findings += manifest
    return findings or tags


def finding(message: str) -> Finding:
    """Return a finding about a bundle."""
    return Finding(RULE, message)


def _checksum_faults(sums: bytes, digests: Mapping[str, str]) -> Iterator[Finding]:
    lines = [line.partition("  ") for line in sums.decode("utf-8", "replace").splitlines()]
    listed = {name: digest for digest, _, name in lines}
    actual = {name: digest for name, digest in digests.items() if name != CHECKSUMS}
    for name in sorted(actual.keys() | listed.keys()):
        if actual.get(name) != listed.get(name):
            yield finding(f"{name} does not match its checksum")
