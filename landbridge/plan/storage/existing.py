"""Existing file systems: their zones, and the pools outside these zones. Their names follow from their ids."""

from collections.abc import Mapping

from landbridge.environment import Environment, ExistingEfs, ExistingShare
from landbridge.plan.storage.resolved import pools_outside


def existing_zones(share: ExistingShare) -> tuple[str, ...]:
    """Return the zones of an existing file system; empty if the file does not name them."""
    return share.zones if isinstance(share, ExistingEfs) else (share.zone,)


def pools_apart(environment: Environment, share: ExistingShare) -> Mapping[str, tuple[str, ...]]:
    """Return the pools with their zones outside the zones of an existing file system."""
    return pools_outside(environment, existing_zones(share))
