"""Names of datasets, versions and files: the permitted ones, and the reasons against others."""

import re
import unicodedata
from collections.abc import Iterable

#: File in a staged folder with its name, version and digest; no file of a dataset may have its path.
DATASET_FILE = ".landbridge-dataset.json"
#: File in a staged folder with the manifest of the version, with which caches compare the files. The same holds for its path.
MANIFEST_FILE = ".landbridge-manifest.json"
#: Files of a staged folder that are not part of the dataset.
DESCRIBING = (DATASET_FILE, MANIFEST_FILE)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
#: Limits of Linux: NAME_MAX, and PATH_MAX less the folder into which a dataset is staged.
_MAX_COMPONENT_BYTES, _MAX_PATH_BYTES = 255, 3000


def parse_reference(text: str) -> tuple[str, str | None]:
    """Return name and version of `NAME` or `NAME:VERSION`. Raises ValueError with the reason."""
    name, colon, version = text.partition(":")
    fault = name_fault(name, version if colon else None)
    if fault is not None:
        raise ValueError(fault)
    return name, version if colon else None


def name_fault(name: str, version: str | None = None) -> str | None:
    """Return the reason why a name or a version is not permitted; None if both are."""
    if not _NAME.fullmatch(name):
        return f'"{name}" is not a name of a dataset: lower case letters, digits, ".", "_" and "-", at most 63'
    if version is not None and not _VERSION.fullmatch(version):
        return f'"{version}" is not a version of a dataset: letters, digits, ".", "_" and "-", at most 63'
    return None


def path_fault(path: str) -> str | None:
    """Return the reason why a dataset may not contain a file with this path; None if it may.

    A path is relative, in UTF-8, with `/` between its parts. Spaces, quotes, backslashes and every printable character
    are permitted and kept as they are; Unicode is not normalised.
    """
    try:
        size = len(path.encode("utf-8"))
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    if any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in path):
        return "its name has a control character"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "its path is absolute, or has an empty part, `.` or `..`"
    if size > _MAX_PATH_BYTES or any(len(part.encode()) > _MAX_COMPONENT_BYTES for part in parts):
        return f"its path is longer than {_MAX_PATH_BYTES} bytes, or a part of it than {_MAX_COMPONENT_BYTES}"
    if path in DESCRIBING:
        return "this name is the one of the file that describes a staged dataset"
    return None


def case_collisions(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs of paths that differ only in case or in the form of Unicode characters, in order."""
    first: dict[str, str] = {}
    pairs = []
    for path in paths:
        folded = path if path.isascii() else unicodedata.normalize("NFC", path)
        other = first.setdefault(folded.casefold(), path)
        if other != path:
            pairs.append((other, path))
    return pairs
