"""Folders of Landbridge on the operator's machine: caches and state."""

import os
from pathlib import Path


def _base(variable: str, fallback: str) -> Path:
    """Return the XDG folder of an environment variable; a relative value is ignored (XDG specification)."""
    value = os.environ.get(variable, "")
    return Path(value) if os.path.isabs(value) else Path.home() / fallback


def cache_dir(part: str | None = None) -> Path:
    """Return the folder of a cache shared by all checkouts: `engine`, `images`, `apt`, `wheels`. Created if absent."""
    path = _base("XDG_CACHE_HOME", ".cache") / "landbridge"
    return _create(path / part if part else path, 0o755)


def state_dir(environment: str) -> Path:
    """Return an environment's (or the lab's) folder of Pulumi backend, secrets and inventory. Created 0700 if absent."""
    return _create(_base("XDG_STATE_HOME", ".local/state") / "landbridge" / environment, 0o700)


def secrets_dir(environment: str) -> Path:
    """Return the folder of an environment's generated secrets, one file each. Created 0700 if absent."""
    return _create(state_dir(environment) / "secrets", 0o700)


def outputs_file(environment: str) -> Path:
    """Return the file of stack outputs that `landbridge up` writes, without secret outputs. It may not exist."""
    return state_dir(environment) / "outputs.json"


def expand(path: str) -> Path:
    """Return a path of an environment file with `~` expanded; a relative path stays relative."""
    return Path(path).expanduser()


def _create(path: Path, mode: int) -> Path:
    if not path.is_dir():
        path.mkdir(parents=True, exist_ok=True, mode=mode)
    return path
