"""Moves of aliases in a registry: promotion and rollback, each after verification, and with a record."""

from dataclasses import dataclass

from landbridge.findings import Finding, FindingsError
from landbridge.live.models.publish import move_alias, verified
from landbridge.live.models.registry import ModelRegistry, RegisteredVersion, RegistryError
from landbridge.models.aliases import CANDIDATE, CHAMPION, AliasMove, promotion, rollback
from landbridge.models.files import ModelRefusal
from landbridge.models.history import AliasRecord, champions, read_history
from landbridge.models.interface import interface_changes
from landbridge.models.manifest import ModelManifest
from landbridge.models.signers import ModelTrust
from landbridge.models.version_tags import NEW_INTERFACE_TAG, SIGNER_TAG


@dataclass(frozen=True, slots=True)
class MoveOrder:
    """Order to move an alias: account, reason and time, for its record.

    `new_interface`: the version may have other inputs or outputs than the champion.
    """

    account: str
    reason: str
    now: float
    new_interface: bool = False


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
    """Move an alias to a version. Raises FindingsError for a move that is not legal, and for a refused version.

    A version with other inputs or outputs than the champion is refused, unless the order says otherwise.
    """
    aliases = registry.aliases(name)
    move = promotion(aliases, version, alias)
    return _moved(registry, name, move, trust, order, aliases.get(CHAMPION, ""))


def roll_back(
    registry: ModelRegistry, name: str, version: str | None, trust: ModelTrust, order: MoveOrder
) -> AliasMove:
    """Move champion back to a version that was champion before. Raises FindingsError like `promote`."""
    records, faults = history(registry, name)
    if faults:
        raise FindingsError(faults)
    move = rollback(registry.aliases(name), champions(records), version)
    return _moved(registry, name, move, trust, order)


def _moved(
    registry: ModelRegistry,
    name: str,
    move: AliasMove | str,
    trust: ModelTrust,
    order: MoveOrder,
    clients_of: str = "",
) -> AliasMove:
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
            if clients_of not in ("", move.after):
                _interface(registry, clients_of, version, result.manifest, order)
            registry.set_tags(version, {SIGNER_TAG: result.signer})
    move_alias(registry, name, move, order.account, order.reason, order.now)
    return move


def _interface(
    registry: ModelRegistry, champion: str, version: RegisteredVersion, candidate: ModelManifest, order: MoveOrder
) -> None:
    """Compare a version with the champion that clients use. Raises FindingsError for other inputs or outputs without an order."""
    if order.new_interface:
        registry.set_tags(version, {NEW_INTERFACE_TAG: champion})
        return
    if version.tags.get(NEW_INTERFACE_TAG) == champion:
        return
    try:
        present = ModelManifest.parse(registry.manifest(registry.version(version.name, champion)))
        changes = interface_changes(present, candidate) if isinstance(present, ModelManifest) else ["no manifest"]
    except RegistryError as error:
        changes = [f"unknown: {error}"]
    if changes:
        message = f"the inputs or outputs of {version.name}/{version.version} are not those of champion {champion}"
        fix = "landbridge model promote --new-interface, when the clients send the inputs of this version"
        raise FindingsError([Finding("model-interface", f"{message}: {'; '.join(changes)}", fix=fix)])
