"""Wheel of Landbridge, built from the running package; the `burst` role installs it on the controller.

The same content gives the same file name and the same bytes, so that a second run of the role copies and installs
nothing. `python -m landbridge.realise.wheel` prints the wheel's path.
"""

import hashlib
import os
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path

import landbridge
from landbridge import paths

_EPOCH = (1980, 1, 1, 0, 0, 0)


def build(folder: Path) -> Path:
    """Write the wheel into `folder` unless it exists, and return its path."""
    files = _files()
    digest = hashlib.sha256(b"".join(name.encode() + content for name, content in sorted(files.items()))).hexdigest()
    # The local part of the version distinguishes different contents of the same release.
    version = f"{landbridge_version()}+{digest[:12]}"
    path = folder / f"landbridge-{version}-py3-none-any.whl"
    if not path.exists():
        # Two controllers may request it at the same time.
        temporary = path.with_suffix(f".{os.getpid()}")
        _write(temporary, {**files, **_metadata(version)}, version)
        temporary.replace(path)
    return path


def landbridge_version() -> str:
    """Return the version of the running package."""
    return distribution("landbridge").version


def _files() -> dict[str, bytes]:
    root = Path(landbridge.__file__).parent
    return {
        f"landbridge/{path.relative_to(root).as_posix()}": path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _metadata(version: str) -> dict[str, bytes]:
    """Return the wheel's metadata, without dependencies: the role installs the dependencies of requirements.lock."""
    folder = f"landbridge-{version}.dist-info"
    scripts = sorted(
        f"{entry.name} = {entry.value}"
        for entry in distribution("landbridge").entry_points
        if entry.group == "console_scripts" and entry.value.startswith("landbridge.")
    )
    return {
        f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: landbridge\nVersion: {version}\n".encode(),
        f"{folder}/WHEEL": b"Wheel-Version: 1.0\nGenerator: landbridge\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{folder}/entry_points.txt": ("[console_scripts]\n" + "\n".join(scripts) + "\n").encode(),
    }


def _write(path: Path, files: Mapping[str, bytes], version: str) -> None:
    record = f"landbridge-{version}.dist-info/RECORD"
    lines = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in files.items()]
    contents = {**files, record: ("\n".join([*lines, f"{record},,"]) + "\n").encode()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)


def _digest(content: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    print(build(paths.cache_dir("wheels")))
