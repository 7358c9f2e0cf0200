"""Folders of Landbridge on the operator's machine: caches and state."""

import os
from pathlib import Path


def _base(variable: str, fallback: str) -> Path:
    """The XDG folder named by `variable`; a relative value is ignored, as the XDG specification says."""
    value = os.environ.get(variable, "")
    return Path(value) if os.path.isabs(value) else Path.home() / fallback


def cache_dir(part: str | None = None) -> Path:
    """Content-addressed caches shared by every checkout: `engine`, `images`, `apt`, `wheels`. Created when absent."""
    path = _base("XDG_CACHE_HOME", ".cache") / "landbridge"
    return _made(path / part if part else path, 0o755)


def state_dir(environment: str) -> Path:
    """State of one environment (Pulumi backend, secrets, inventory), or of the lab (`lab`). Created 0700 when absent."""
    return _made(_base("XDG_STATE_HOME", ".local/state") / "landbridge" / environment, 0o700)


def secrets_dir(environment: str) -> Path:
    """Generated secrets of an environment on the operator's side, one file each. Created 0700 when absent."""
    return _made(state_dir(environment) / "secrets", 0o700)


def outputs_file(environment: str) -> Path:
    """The stack's outputs as `landbridge up` wrote them; secret outputs are not in it. May not exist."""
    return state_dir(environment) / "outputs.json"


def expand(path: str) -> Path:
    """A path from an environment file, with `~` expanded. Not made absolute otherwise."""
    return Path(path).expanduser()


def _made(path: Path, mode: int) -> Path:
    if not path.is_dir():
        path.mkdir(parents=True, exist_ok=True, mode=mode)
    return path
