"""Cache of the JSON files of botocore's package: the sessions of a process read each of them once.

A session of botocore has a loader of its own. EC2's model takes a fifth of a second, and moto, the provider and the tests
have hundreds of sessions.
"""

from functools import cache
from pathlib import PurePath
from typing import Any

from botocore.loaders import JSONFileLoader


def share() -> None:
    """Let every loader of this process share the files that one of them has read."""
    if getattr(JSONFileLoader.load_file, "is_shared", False):
        return
    load = JSONFileLoader.load_file
    # By class: the burst controller's loader leaves the documentation out.
    read = cache(lambda kind, path: load(kind(), path))

    def load_file(loader: JSONFileLoader, file_path: str) -> Any:
        # botocore writes defaults into the endpoints that it has read (regions.py, `_merge_keys`).
        if PurePath(file_path).name.startswith("endpoints"):
            return load(loader, file_path)
        kind: Any = type(loader)
        return read(kind, file_path)

    load_file.is_shared = True  # type: ignore[attr-defined]
    JSONFileLoader.load_file = load_file  # type: ignore[method-assign,assignment]
