"""Pass over the services: aliases of the registry, placement, one step of a canary, weights, model folders and gauges.

It may be killed at any point: the next pass observes again. Weights are set before the placement that model servers follow.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from landbridge.catalog.models.canary import canary_facts
from landbridge.findings import FindingsError
from landbridge.live.models.canary_moves import CanaryMoves
from landbridge.live.models.registry import ModelRegistry, RegistryError, in_workspace
from landbridge.live.models.transfer import fetch
from landbridge.models.aliases import CHAMPION, STAGING
from landbridge.models.canary.decide import weight_of
from landbridge.models.canary.gauges import canary_gauge_text
from landbridge.models.files.folder import folder_digest
from landbridge.models.interface import interface_changes
from landbridge.models.version_tags import NEW_INTERFACE_TAG
from landbridge.serving.canary_controller.controller import step, store, stored
from landbridge.serving.canary_controller.gateway import HaproxyShares
from landbridge.serving.canary_controller.guard_counters import GuardBounds, low_bound
from landbridge.serving.canary_controller.looks import look_at
from landbridge.serving.canary_controller.plans import canary_plan
from landbridge.serving.canary_controller.runtime_socket import GatewayError
from landbridge.serving.follow.config import FollowConfig, FollowedService
from landbridge.serving.follow.drift_windows import judge_window
from landbridge.serving.follow.folders import collect, manifest_in, model_folder, reference_in
from landbridge.serving.follow.leases import Leases
from landbridge.serving.follow.peer import PeerError, read_peer
from landbridge.serving.follow.placement import Placement, RegistryAliases, adopted, canary_of, placed
from landbridge.serving.follow.record import read_placement, write_placement, write_whole
from landbridge.serving.follow.scaler import Scaler, present_hosts
from landbridge.serving.follow.service_view import ServiceView, read_view, running_slots
from landbridge.serving.load import FolderRefusal, read_trust

#: Longest time until a first server of a candidate is ready: Landbridge's choice.
START_SECONDS = 600.0
#: Wait after a registry did not answer. Canaries continue meanwhile. Landbridge's choice.
_RETRY_SECONDS = 30.0


@dataclass
class FollowPass:
    """Passes of the service. `connect` returns the registry of a URI."""

    config: FollowConfig
    connect: Callable[[str], ModelRegistry]
    clock: Callable[[], float]
    log: Callable[[str], None]
    #: Clock of leases: the other gateway's clock does not matter.
    since_start: Callable[[], float] = time.monotonic
    _later: dict[str, float] = field(default_factory=dict)
    _said: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start without leases: leases of an earlier process are not valid in this one."""
        self._leases = Leases(self.config, self.since_start)
        self._scaler = Scaler(self.config, self.clock, self.log)

    def run(self) -> None:
        """Make a pass. A fault of one service is logged, once until it changes."""
        for service in self.config.services:
            try:
                with in_workspace(service.workspace):
                    if self._leads(service):
                        self._one(service)
                    else:
                        self._after_peer(service)
                self._say(service.name, "")
            except FindingsError as error:
                self._say(service.name, "; ".join(finding.message for finding in error.findings))
            except (GatewayError, RegistryError, FolderRefusal, OSError, ValueError) as error:
                self._say(service.name, str(error))

    def _leads(self, service: FollowedService) -> bool:
        """Return whether this gateway decides about a service: the only gateway does, and the one of a pair with the lease."""
        if self.config.peer is None:
            return True
        try:
            leads = self._leases.step(service, self._registry(service))
            self._say(f"{service.name}: lease of the registry", "")
        except RegistryError as error:
            leads = self._leases.leads(service)
            self._say(f"{service.name}: lease of the registry", str(error))
        self._say(f"{service.name}: role", "leads" if leads else "follows the other gateway")
        return leads

    def _after_peer(self, service: FollowedService) -> None:
        """Apply the placement, the record and the weights of the gateway that leads. Without one for a while, the champion gets all requests."""
        assert self.config.peer is not None
        path, view = self.config.state / f"{service.name}.json", read_view(self.config, service)
        try:
            peer = read_peer(self.config.peer, self.config.authority, service.name)
        except PeerError as error:
            placement, known = read_placement(path)
            if placement.serving and self._leases.is_alone(service):
                self._shares(service, view, placement, known).set_share(0)
            self._folders(service, placement, known)
            self._say(f"{service.name}: other gateway", str(error))
            return
        self._leases.heard(service)
        self._say(f"{service.name}: other gateway", "")
        placement, record = peer.placement, peer.record
        weight = 0
        if record is None:
            self._record(service).unlink(missing_ok=True)
        else:
            store(self._record(service), record)
            if record.is_of(*canary_of(service.model, placement, peer.aliases)):
                weight = weight_of(canary_plan(False, service.schedule), record)
        self._shares(service, view, placement, peer.aliases).set_share(weight)
        for kind in ("canary", "drift"):  # The other gateway writes them now.
            self._gauges(kind, service).unlink(missing_ok=True)
        write_placement(path, placement, peer.aliases)
        self._folders(service, placement, peer.aliases)

    def _shares(
        self, service: FollowedService, view: ServiceView, placement: Placement, aliases: RegistryAliases
    ) -> HaproxyShares:
        return HaproxyShares(
            self.config.socket,
            service.backend,
            view.ready(placement.serving),
            view.ready(placement.candidate, aliases.digest(placement.candidate)),
            tuple(server.name for server in service.servers),
            self.config.state_file,
        )

    def _one(self, service: FollowedService) -> None:
        path, now = self.config.state / f"{service.name}.json", self.clock()
        before, known = read_placement(path)
        aliases = self._aliases(service, known, now)
        view = read_view(self.config, service)
        if not any(before.slots.values()):
            before = adopted(running_slots(service, view), aliases.champion)
        # A server with former files of the version that serves goes on until it starts again; one of another version is not ready.
        counts = {
            version: len(view.ready(version, "" if version == before.serving else aliases.digest(version)))
            for version in view.by_version
        }
        placement = placed(before, aliases, counts, now)
        if known.digest(placement.candidate) not in ("", aliases.digest(placement.candidate)):
            placement = replace(placement, staged_at=now)
        servers = {server.name: server.host for server in service.servers}
        ready = len({servers[name] for name in view.ready(placement.serving)})
        scale = self._scaler.step(service, ready, is_changing=bool(placement.candidate))
        if scale is not None:
            view = view.on(
                {
                    name
                    for name, host in servers.items()
                    if host in present_hosts(self.config.state, service)[: scale.hosts]
                }
            )
        shares = self._shares(service, view, placement, aliases)
        is_canary = bool(placement.candidate) and (placement.serving, placement.candidate) == (
            aliases.champion,
            aliases.staging,
        )
        if not is_canary:
            shares.set_share(0)
        write_placement(path, placement, aliases)
        try:
            # A pass may be slow: the lease is checked again before a decision.
            if is_canary and (self.config.peer is None or self._leases.leads(service)):
                self._canary(service, placement, aliases, view, shares, now)
        finally:
            self._scaler.keep(service, scale)
            self._folders(service, placement, aliases)
        self._drift(service, placement, aliases.digest(placement.serving), view, now)

    def _aliases(self, service: FollowedService, known: RegistryAliases, now: float) -> RegistryAliases:
        """Return the aliases; while the registry does not answer, the aliases of its last answer."""
        if now < self._later.get(service.registry, 0.0):
            return known
        try:
            registry = self._registry(service)
            aliases = registry.aliases(service.model)
            champion, staging = aliases.get(CHAMPION, ""), aliases.get(STAGING, "")
            digests = {each: registry.version(service.model, each).digest for each in {champion, staging} - {""}}
        except RegistryError as error:
            self._later[service.registry] = now + _RETRY_SECONDS
            self._say(f"{service.name}: registry", str(error))
            return known
        self._say(f"{service.name}: registry", "")
        read = RegistryAliases(champion, staging, digests)
        if read.staging in ("", read.champion):
            # The next canary of the same version starts from the first step.
            self._record(service).unlink(missing_ok=True)
        return read

    def _canary(
        self,
        service: FollowedService,
        placement: Placement,
        aliases: RegistryAliases,
        view: ServiceView,
        shares: HaproxyShares,
        now: float,
    ) -> None:
        record, candidate = self._record(service), placement.candidate
        moves = self._moves(service)
        versions, content = canary_of(service.model, placement, aliases)
        begun = stored(record)
        if begun is None or not begun.is_of(versions, content):
            changes = self._interface_changes(service, placement)
            if changes != [] or not view.ready(candidate, aliases.digest(candidate)):
                shares.set_share(0)
                if changes:
                    reason = (
                        f"its inputs or outputs are not those of champion {placement.serving}: {'; '.join(changes)}"
                    )
                    moves.withdraw(service.model, candidate, f"canary: {reason}")
                elif now - placement.staged_at >= START_SECONDS:
                    reason = f"no model server of it was ready within {START_SECONDS:.0f} s"
                    moves.withdraw(service.model, candidate, f"canary: {reason}")
                return
        bounds = GuardBounds(service.p95_ms / 1000, self._low_confidence(service, placement))
        look = look_at(now, view.samples, placement.serving, candidate, bounds)
        decision = step(canary_plan(False, service.schedule), record, look, versions, shares, moves, content)
        self._say(
            f"{service.name} {candidate}",
            f"{decision.action.replace('_', ' ')}, {decision.weight} percent"
            + (f": {decision.reason}" if decision.action != "hold" else ""),
        )
        state = stored(record)
        if state is not None:
            text = canary_gauge_text(state, decision, now)
            write_whole(self._gauges("canary", service), text, mode=0o644)

    def _interface_changes(self, service: FollowedService, placement: Placement) -> list[str] | None:
        """Return the reasons why clients of the champion cannot use the candidate; None until both folders were fetched."""
        root, name, candidate = self.config.state / "models", service.model, placement.candidate
        present, new = manifest_in(root, name, placement.serving), manifest_in(root, name, candidate)
        if present is None or new is None:
            return None
        changes = interface_changes(present, new)
        accepted = changes and self._registry(service).version(name, candidate).tags.get(NEW_INTERFACE_TAG)
        return [] if accepted == placement.serving else changes

    def _folders(self, service: FollowedService, placement: Placement, aliases: RegistryAliases) -> None:
        """Fetch the versions of both slots, again if the registry has other files of that number, and remove those that no slot has."""
        root = self.config.state / "models"
        wanted = {version for version in placement.slots.values() if version}
        for version in sorted(wanted):
            present = folder_digest(model_folder(root, service.model, version))
            if not present or aliases.digest(version) not in ("", present):
                registry = self._registry(service)
                fetch(registry, registry.version(service.model, version), root, read_trust(self.config.trust))
        collect(root / service.model, wanted)

    def _drift(
        self, service: FollowedService, placement: Placement, digest: str, view: ServiceView, now: float
    ) -> None:
        reference = reference_in(self.config.state / "models", service.model, placement.serving)
        if reference is None:
            return
        # Draining servers count too: what they answered belongs to the window.
        samples = {name: read for name, read in view.samples.items() if read and view.has(name, digest)}
        if not view.ready(placement.serving, digest):
            return
        report = judge_window(
            self.config.state / f"drift-{service.name}.json",
            self._gauges("drift", service),
            reference,
            (service.model, placement.serving, digest),
            samples,
            now,
            self.config.drift_seconds,
        )
        if report is not None and report.reason:
            self.log(f"{service.name} {placement.serving}: {report.reason}")

    def _low_confidence(self, service: FollowedService, placement: Placement) -> float:
        reference = reference_in(self.config.state / "models", service.model, placement.serving)
        if reference is None or reference.confidence is None:
            return service.schedule.low_confidence
        return low_bound(reference.confidence, canary_facts().low_confidence_share.value)

    def _moves(self, service: FollowedService) -> CanaryMoves:
        return CanaryMoves(
            lambda: self._registry(service), lambda: read_trust(self.config.trust), self.config.account, self.clock
        )

    def _registry(self, service: FollowedService) -> ModelRegistry:
        return self.connect(service.registry)

    def _record(self, service: FollowedService) -> Path:
        return self.config.state / f"canary-{service.name}.json"

    def _gauges(self, kind: str, service: FollowedService) -> Path:
        return self.config.state / "metrics" / f"landbridge-{kind}-{service.name}.prom"

    def _say(self, subject: str, text: str) -> None:
        if self._said.get(subject, "") != text:
            self._said[subject] = text
            self.log(f"{subject}: {text or 'no fault any more'}")
