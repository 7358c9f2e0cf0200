"""Record of a service's placement in a file, and of its aliases as the registry had them last."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from landbridge.plan.network.services.serving import SLOTS
from landbridge.serving.follow.placement import Placement, RegistryAliases


def read_placement(path: Path) -> tuple[Placement, RegistryAliases]:
    """Return the placement of a file; an empty one before the first pass. Raises ValueError for a file of another form."""
    if not path.exists():
        return Placement(), RegistryAliases()
    data: dict[str, Any] = json.loads(path.read_text())
    try:
        slots = {slot: str(data["slots"].get(slot, "")) for slot in SLOTS}
        placement = Placement(slots, str(data["serving"]), float(data["staged_at"]))
        return placement, RegistryAliases(str(data["aliases"]["champion"]), str(data["aliases"]["staging"]))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: not the record of a placement: {error!r}") from None


def write_placement(path: Path, placement: Placement, aliases: RegistryAliases) -> None:
    """Write the record, if it has changed."""
    content = {
        "slots": dict(placement.slots),
        "serving": placement.serving,
        "staged_at": placement.staged_at,
        "aliases": asdict(aliases),
    }
    text = json.dumps(content, indent=1, sort_keys=True) + "\n"
    if not path.exists() or path.read_text() != text:
        write_whole(path, text)


def write_whole(path: Path, text: str, mode: int = 0o640) -> None:
    """Write a file: the old one or the new one is there at any time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with new.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.chmod(mode)
    new.replace(path)
