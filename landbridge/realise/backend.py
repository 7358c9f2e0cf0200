"""Pulumi's state backend: as the environment file says, else a folder of the operator with a generated passphrase."""

import json
import os
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path

from landbridge.environment.state import StateSettings
from landbridge.findings import Finding, FindingsError
from landbridge.paths import state_dir


def passphrase_file(environment: str) -> Path:
    """Return the file with the passphrase of the stack's secrets, created on first use, readable only by its owner."""
    path = state_dir(environment) / "passphrase"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_urlsafe(32))
    return path


def drop_dead_locks(environment: str) -> None:
    """Remove locks of Pulumi processes of this machine that no longer run: a killed Pulumi leaves its lock behind."""
    for lock in (state_dir(environment) / "pulumi" / ".pulumi" / "locks").rglob("*.json"):
        try:
            holder = json.loads(lock.read_text())
            is_local, pid = holder["hostname"] == socket.gethostname(), int(holder["pid"])
        except (OSError, ValueError, KeyError):
            continue  # another process is removing it, or its format is unknown
        if is_local and not Path(f"/proc/{pid}").exists():
            lock.unlink(missing_ok=True)


def drop_torn_attributes(environment: str) -> None:
    """Remove incomplete attribute files of a killed Pulumi: with one of them Pulumi cannot read the state (`EOF`).

    Pulumi replaces a state file atomically, but writes NAME.json.attrs (its type and checksum) in place before; a file
    without attributes is readable. Source: gocloud.dev/blob/fileblob, setAttrs and getAttrs, in Pulumi 3.259.
    """
    for path in (state_dir(environment) / "pulumi" / ".pulumi").rglob("*.attrs"):
        try:
            json.loads(path.read_text())
        except FileNotFoundError:
            continue
        except ValueError:
            path.unlink(missing_ok=True)


def local_backend(environment: str) -> str:
    """Return the URL of the operator's folder for an environment."""
    return f"file://{state_dir(environment) / 'pulumi'}"


def has_local_stack(environment: str, stack: str) -> bool:
    """Return true if the operator's folder has a state of this stack with resources."""
    for path in (state_dir(environment) / "pulumi" / ".pulumi" / "stacks").rglob(f"{stack}.json"):
        try:
            latest = json.loads(path.read_text()).get("checkpoint", {}).get("latest") or {}
        except (OSError, ValueError):
            continue
        if latest.get("resources"):
            return True
    return False


def backend_variables(environment: str, state: StateSettings | None = None) -> Mapping[str, str]:
    """Return Pulumi's variables for the state of an environment.

    The file's backend decides; raise FindingsError if PULUMI_BACKEND_URL is another one. Without `state` in the file,
    existing environment variables have precedence.
    """
    (state_dir(environment) / "pulumi").mkdir(exist_ok=True)
    local, present = local_backend(environment), os.environ.get("PULUMI_BACKEND_URL")
    chosen = None if state is None else local if state.is_local else state.backend
    if chosen is not None and present is not None and present != chosen:
        message = f"the state of {environment} is in {chosen}, and PULUMI_BACKEND_URL is {present}"
        fix = "unset PULUMI_BACKEND_URL; with another backend, every resource would be created a second time"
        raise FindingsError([Finding("state-backend-differs", message, ("state", "backend"), fix)])
    variables = {"PULUMI_BACKEND_URL": chosen or present or local}
    if state is not None and state.secrets_provider is not None:
        return variables
    if "PULUMI_CONFIG_PASSPHRASE" not in os.environ:
        existing = os.environ.get("PULUMI_CONFIG_PASSPHRASE_FILE")
        variables["PULUMI_CONFIG_PASSPHRASE_FILE"] = existing or str(passphrase_file(environment))
    return variables
