"""Moves of aliases in a registry: promotion and rollback, each after verification, and with a record."""

from dataclasses import dataclass

from landbridge.findings import Finding, FindingsError
from landbridge.live.models.publish import move_alias, verified
from landbridge.live.models.registry import ModelRegistry
from landbridge.models.aliases import CANDIDATE, AliasMove, promotion, rollback
from landbridge.models.files import ModelRefusal
from landbridge.models.history import AliasRecord, champions, read_history
from landbridge.models.signers import ModelTrust
from landbridge.models.version_tags import SIGNER_TAG


@dataclass(frozen=True, slots=True)
class MoveOrder:
    """Order to move an alias: account, reason and time, for its record."""

    account: str
    reason: str
    now: float


def history(registry: ModelRegistry, name: str) -> tuple[tuple[AliasRecord, ...], tuple[Finding, ...]]:
    """Return the records of a model's aliases, and the faults of their chain."""
    return read_history(registry.tags(name))


def promote(
    registry: ModelRegistry,
    name: str,
    version: str,
    alias: str,
    trust: ModelTrust,
    order: MoveOrder,
) -> AliasMove:
    """Move an alias to a version. Raises FindingsError for a move that is not legal, and for a refused version."""
    move = promotion(registry.aliases(name), version, alias)
    return _moved(registry, name, move, trust, order)


def roll_back(
    registry: ModelRegistry, name: str, version: str | None, trust: ModelTrust, order: MoveOrder
) -> AliasMove:
    """Move champion back to a version that was champion before. Raises FindingsError like `promote`."""
    records, faults = history(registry, name)
    if faults:
        raise FindingsError(faults)
    move = rollback(registry.aliases(name), champions(records), version)
    return _moved(registry, name, move, trust, order)


def _moved(registry: ModelRegistry, name: str, move: AliasMove | str, trust: ModelTrust, order: MoveOrder) -> AliasMove:
    if isinstance(move, str):
        raise FindingsError([Finding("model-alias", f"{name}: {move}")])
    _, faults = history(registry, name)
    if faults:
        raise FindingsError(faults)
    version = registry.version(name, move.after)
    if move.alias != CANDIDATE:
        with verified(registry, version, trust) as result:
            if isinstance(result, ModelRefusal):
                raise FindingsError(result.findings)
            registry.set_tags(version, {SIGNER_TAG: result.signer})
    move_alias(registry, name, move, order.account, order.reason, order.now)
    return move
