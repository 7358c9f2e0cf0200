"""Model folders of a service on this host: verified before they have their name, and removed when no slot has them."""

import os
import re
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

from landbridge.models.files import ModelRefusal, verify_folder
from landbridge.models.files.folder import folder_digest
from landbridge.models.signers import ModelTrust
from landbridge.serving.host.config import HostService
from landbridge.serving.host.slots import forget_start
from landbridge.serving.load import FolderRefusal

_VERSION = re.compile(r"[1-9][0-9]{0,8}")
_INCOMING, _OUTGOING = ".incoming", ".outgoing"
#: Number of versions without a slot that stay on disk, for a fast rollback. Landbridge's choice. The version that had a slot last is kept first.
KEPT = 1


def install(
    place: Path,
    service: HostService,
    version: str,
    trust: ModelTrust,
    download: Callable[[Path], None],
    digest: str = "",
) -> None:
    """Install a version, if it is not installed. Raises FolderRefusal for one that is not verified.

    One with another `digest` is replaced, and its slot starts it again: the version was deleted and created again. An empty digest
    is any.
    """
    target, incoming, outgoing = place / version, place / _INCOMING, place / _OUTGOING
    if target.exists() and digest in ("", folder_digest(target)):
        return
    for rest in (incoming, outgoing):
        if rest.exists():
            shutil.rmtree(rest)
    incoming.mkdir(mode=0o700)
    download(incoming)
    model = verify_folder(incoming, trust, name=service.model, version=version)
    if isinstance(model, ModelRefusal):
        raise FolderRefusal(f"version {version}: {'; '.join(finding.message for finding in model.findings)}")
    if service.data_class and model.manifest.data_class != service.data_class:
        raise FolderRefusal(f"version {version} has the class {model.manifest.data_class}, not {service.data_class}")
    for path in (*incoming.iterdir(), incoming):
        _hand_over(path, service.account)
    if target.exists():
        forget_start(place, version)
        target.rename(outgoing)
    incoming.rename(target)
    shutil.rmtree(outgoing, ignore_errors=True)


def collect(place: Path, wanted: Collection[str]) -> None:
    """Remove versions that no slot has, but the last one that had a slot."""
    idle = [path for path in place.iterdir() if _VERSION.fullmatch(path.name) and path.name not in wanted]
    for path in sorted(idle, key=lambda each: -each.stat().st_mtime)[KEPT:]:
        shutil.rmtree(path)


def _hand_over(path: Path, account: str) -> None:
    """Give the service's account the right to read, and write the file to the disk."""
    if account:
        shutil.chown(path, group=account)
    path.chmod(0o750 if path.is_dir() else 0o640)
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
