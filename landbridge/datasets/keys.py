"""Keys of a dataset's objects in the bucket of its data class."""

#: Blocks, by their SHA-256.
OBJECTS = "datasets/objects/"
#: Manifests, by name and version. A dataset exists if and only if its manifest does.
MANIFESTS = "datasets/manifests/"
#: Markers of uploads that are running, and of a deletion of objects.
PUTS = "datasets/puts/"
GC_MARKER = "datasets/gc.json"
#: Files of staged versions under their own names, for jobs in AWS. A version is staged if and only if its description
#: is there.
FILES = "datasets/files/"


def object_key(sha256: str) -> str:
    """Return the key of a block."""
    return f"{OBJECTS}sha256/{sha256[:2]}/{sha256}"


def manifest_key(name: str, version: str) -> str:
    """Return the key of the manifest of a version."""
    return f"{MANIFESTS}{name}/{version}.json"


def version_of_key(key: str) -> tuple[str, str] | None:
    """Return name and version of a manifest's key; None for another key."""
    name, slash, file = key.removeprefix(MANIFESTS).partition("/")
    if not key.startswith(MANIFESTS) or not slash or "/" in file or not file.endswith(".json"):
        return None
    return name, file.removesuffix(".json")


def files_prefix(name: str, version: str) -> str:
    """Return the key prefix of a version's files."""
    return f"{FILES}{name}/{version}/"
