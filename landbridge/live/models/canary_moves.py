"""Aliases and tags of a canary's versions in a registry: each move has a record, and a promotion verifies the signature."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from landbridge.findings import FindingsError
from landbridge.live.models.moves import MoveOrder, history, promote
from landbridge.live.models.publish import move_alias
from landbridge.live.models.registry import ModelRegistry
from landbridge.models.aliases import CHAMPION, withdrawal
from landbridge.models.signers import ModelTrust


@dataclass
class CanaryMoves:
    """Registry of a canary. It is connected for the first move: a look that holds needs no registry."""

    connect: Callable[[], ModelRegistry]
    trust: Callable[[], ModelTrust]
    account: str
    now: Callable[[], float] = field(repr=False)

    @cached_property
    def _registry(self) -> ModelRegistry:
        return self.connect()

    def promote(self, model: str, version: str, reason: str) -> None:
        """Make a version of staging the champion. Raises FindingsError for a refused version."""
        if self._registry.aliases(model).get(CHAMPION) != version:
            promote(self._registry, model, version, CHAMPION, self.trust(), self._order(reason))

    def withdraw(self, model: str, version: str, reason: str) -> None:
        """Remove the alias `staging` from a version. An alias of another version is not changed."""
        move = withdrawal(self._registry.aliases(model), version)
        if move is None:
            return
        _, faults = history(self._registry, model)
        if faults:
            raise FindingsError(faults)
        order = self._order(reason)
        move_alias(self._registry, model, move, order.account, order.reason, order.now)

    def tag(self, model: str, version: str, tags: Mapping[str, str]) -> None:
        """Set tags of a version."""
        self._registry.set_tags(self._registry.version(model, version), tags)

    def _order(self, reason: str) -> MoveOrder:
        return MoveOrder(self.account, reason, self.now())
