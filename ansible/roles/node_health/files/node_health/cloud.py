"""Expected state of a cloud node, from its pool's settings and its instance type: an image is the same for all pools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from node_health.problem import read, write

#: Settings of the pool, from the launch template's user data; the roles cloud_identity and node_verify read them too.
POOL = Path("/etc/landbridge/pool.json")
METADATA = "http://169.254.169.254/latest"
_HEADER = "X-aws-ec2-metadata-token"


def config(baked: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the configuration with the pool's expectations; without a pool's settings, the configuration itself.

    They are written to `folder` at the first check of a boot, and read from there by all others. The file is under
    /run: an image made of a node does not have it.
    """
    saved = read(folder / "expected.json")
    if saved is None:
        settings = read(POOL)
        if not isinstance(settings, dict) or not isinstance(settings.get("health"), dict):
            return dict(baked)
        name = instance_type()
        saved = expectations(settings, name)
        # Without an answer of the instance metadata the next check asks again.
        if name or len(settings["health"].get("types", {})) <= 1:
            write(folder / "expected.json", saved)
    disks = {**baked.get("disks", {}), **saved["disks"]}
    return {**baked, "expected": {**baked["expected"], **saved["expected"]}, "disks": disks}


def expectations(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return `expected` and `disks` of an instance type. A pool with one type needs no instance metadata.

    The pool's own mounts and scratch disk are expected too. A scratch disk may be full, but not read-only.
    """
    health = settings["health"]
    types = health.get("types", {})
    only = next(iter(types.values()), {}) if len(types) == 1 else {}
    scratch = [settings["scratch"]] if settings.get("scratch") else []
    paths = [*health.get("mounts", []), *(mount["mount"] for mount in settings.get("mounts", [])), *scratch]
    hardware = types.get(name, only)
    return {
        "instance_type": name,
        "expected": {**hardware, "mounts": sorted(set(paths))},
        "disks": dict.fromkeys(scratch, 0),
    }


def instance_type() -> str:
    """Return the instance type from the instance metadata (IMDSv2); empty outside of EC2."""
    # Half of the program's start, and needed once in a boot.
    import urllib.request

    try:
        put = urllib.request.Request(f"{METADATA}/api/token", method="PUT", headers={f"{_HEADER}-ttl-seconds": "60"})
        token = urllib.request.urlopen(put, timeout=2).read().decode()
        request = urllib.request.Request(f"{METADATA}/meta-data/instance-type", headers={_HEADER: token})
        return str(urllib.request.urlopen(request, timeout=2).read().decode())
    except (OSError, ValueError):
        return ""
