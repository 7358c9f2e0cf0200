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
    try:
        return parse_placement(json.loads(path.read_text()))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: not the record of a placement: {error!r}") from None


def parse_placement(data: dict[str, Any]) -> tuple[Placement, RegistryAliases]:
    """Return the placement of a record's data. Raises AttributeError, KeyError, TypeError or ValueError for another form."""
    slots = {slot: str(data["slots"].get(slot, "")) for slot in SLOTS}
    placement = Placement(slots, str(data["serving"]), float(data["staged_at"]))
    aliases = data["aliases"]
    # A record of an earlier release has no digests.
    digests = {str(version): str(digest) for version, digest in aliases.get("digests", {}).items()}
    return placement, RegistryAliases(str(aliases["champion"]), str(aliases["staging"]), digests)


def write_placement(path: Path, placement: Placement, aliases: RegistryAliases) -> None:
    """Write the record, if it has changed."""
    text = json.dumps(placement_data(placement, aliases), indent=1, sort_keys=True) + "\n"
    if not path.exists() or path.read_text() != text:
        write_whole(path, text)


def placement_data(placement: Placement, aliases: RegistryAliases) -> dict[str, Any]:
    """Return plain data for JSON."""
    return {
        "slots": dict(placement.slots),
        "serving": placement.serving,
        "staged_at": placement.staged_at,
        "aliases": asdict(aliases),
    }


def lead_mark(state: Path, service: str) -> Path:
    """Return the file that exists while this gateway leads a service."""
    return state / f"{service}.leads"


def write_whole(path: Path, text: str, mode: int = 0o640) -> None:
    """Write a file atomically: readers get the old or the new content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with new.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.chmod(mode)
    new.replace(path)
