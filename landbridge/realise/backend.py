"""Pulumi's state backend: a folder of the operator, encrypted with a passphrase that is generated once."""

import json
import os
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path

from landbridge.paths import state_dir


def passphrase_file(environment: str) -> Path:
    """Return the file with the passphrase of the stack's secrets, created on first use and readable by its owner alone."""
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
            here, pid = holder["hostname"] == socket.gethostname(), int(holder["pid"])
        except (OSError, ValueError, KeyError):
            continue  # another process is removing it, or its format is unknown
        if here and not Path(f"/proc/{pid}").exists():
            lock.unlink(missing_ok=True)


def drop_torn_attributes(environment: str) -> None:
    """Remove attribute files that a killed Pulumi had half written: with one of them it cannot read the state (`EOF`).

    Pulumi replaces a state file at once, but writes NAME.json.attrs (its type and checksum) in place before; without one a file is
    read all the same. Source: gocloud.dev/blob/fileblob, setAttrs and getAttrs, as Pulumi 3.259 has it.
    """
    for path in (state_dir(environment) / "pulumi" / ".pulumi").rglob("*.attrs"):
        try:
            json.loads(path.read_text())
        except FileNotFoundError:
            continue
        except ValueError:
            path.unlink(missing_ok=True)


def backend_variables(environment: str) -> Mapping[str, str]:
    """Return Pulumi's variables for the state of an environment; what the caller's own environment says goes first.

    An organisation that keeps its state in Pulumi Cloud or in a bucket, with a key of its own, sets these itself.
    """
    folder = state_dir(environment) / "pulumi"
    folder.mkdir(exist_ok=True)
    chosen = {"PULUMI_BACKEND_URL": os.environ.get("PULUMI_BACKEND_URL", f"file://{folder}")}
    if "PULUMI_CONFIG_PASSPHRASE" not in os.environ:
        own = os.environ.get("PULUMI_CONFIG_PASSPHRASE_FILE")
        chosen["PULUMI_CONFIG_PASSPHRASE_FILE"] = own or str(passphrase_file(environment))
    return chosen
