"""Simulated EC2 with the interface of landbridge.burst.aws.ec2: launch, description, termination and errors."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from landbridge.burst.aws.terminate import terminate_each
from landbridge.burst.model import (
    ActionOutcome,
    Attempt,
    BurstPolicy,
    CloudInstance,
    Ec2View,
    InstanceEnd,
    InstanceStatus,
    Offering,
)
from landbridge.burst.model.errors import AwsError
from tests.unit.burst.world.clock import Clock
from tests.unit.burst.world.faults import Faults
from tests.unit.burst.world.machines import Machine

TOKEN_MEMORY = 86_400.0  # seconds for which EC2 knows a ClientToken
SHUTTING_DOWN = 20.0
GONE_AFTER = 60.0  # a terminated instance may still be shown as shutting down
KNOWN_FOR = 3600.0  # EC2 describes a terminated instance for about an hour, if its id is asked for
USER_END = InstanceEnd("Client.UserInitiatedShutdown", "User initiated")
REAPER_EVERY = 300.0
#: The reaper terminates nodes whose lease expired more than `grace_minutes` ago: "minutes after the end of a lease, for a
#: controller that renews late" (landbridge/guard/reaper.py; default of guardrails.grace_minutes: 5).
REAPER_GRACE = 300.0
#: EC2 refuses a request whose date stamp is wrong by more than 15 minutes (Common Error Types, RequestExpired, read
#: 2026-11-29).
SIGNED = 900.0


@dataclass
class Known:
    """Record of a ClientToken in the simulated EC2."""

    attempt: Attempt
    offering: str
    all_or_nothing: bool
    ids: list[str]
    at: float


@dataclass
class Ec2World:
    """The AWS account. `room`: number of instances that an offering can still launch; absent: unlimited."""

    clock: Clock
    faults: Faults
    policy: BurstPolicy
    lag: float = 0.0
    boot: float = 60.0
    reachable: bool = True
    tags_denied: bool = False
    statuses_denied: bool = False
    statuses_denied_at: float = 0.0  # true time of the last refusal
    room: dict[str, int] = field(default_factory=dict)
    quota: int | None = None
    bucket: dict[str, tuple[float, float]] = field(default_factory=dict)  # tokens for instances, and when; by region
    broken: set[str] = field(default_factory=set)  # pools whose launch template is wrong
    machines: dict[str, Machine] = field(default_factory=dict)
    tokens: dict[str, Known] = field(default_factory=dict)
    launches: dict[str, int] = field(default_factory=dict)  # token -> times it launched
    mismatches: list[str] = field(default_factory=list)
    swept: float = 0.0  # time of the reaper's last run
    started: Callable[[Machine], None] = lambda machine: None
    ending: Callable[[Machine, str], None] = lambda machine, why: None

    # The interface of landbridge.burst.aws.ec2.

    def view(self, expected: Collection[str] = ()) -> Ec2View:
        with self.faults.call("ec2.view", "ec2", _refuse):
            self._reach()
            seen = [self._instance(m) for m in self.machines.values() if self.shows(m)]
            machines = [self.machines[id] for id in expected]
            ended = {m.id: m.end or USER_END for m in machines if self._shows_ended(m)}
        return Ec2View(self.clock.now, tuple(seen), ended)

    def run(self, attempt: Attempt, offering: Offering, tags: Mapping[str, str], all_or_nothing: bool) -> ActionOutcome:
        with self.faults.call("ec2.run", "ec2", _refuse):
            self._reach()
            machines = self._launch(attempt, offering, all_or_nothing)
        return ActionOutcome(
            instances={m.node: m.id for m in machines},
            addresses={m.node: m.address for m in machines},
        )

    def terminate(self, ids: Iterable[str]) -> ActionOutcome:
        return terminate_each([sorted(ids)], self._terminate)

    def _terminate(self, ids: list[str]) -> None:
        """Terminate the instances of zones in which none of the call is protected."""
        with self.faults.call("ec2.terminate", "ec2", _refuse):
            self._reach()
            machines = [self.machines[id] for id in ids if id in self.machines]
            closed_zones = {m.offering.zone for m in machines if m.protected and m.alive}
            for machine in machines:
                if machine.offering.zone not in closed_zones:
                    self.end(machine, "controller")
                machine.was_refused |= machine.protected and machine.alive
            if closed_zones:
                raise AwsError("OperationNotPermitted", "an instance is protected")

    def renew(self, ids: Iterable[str], until: float) -> None:
        with self.faults.call("ec2.renew", "ec2", _refuse):
            self._reach()
            if self.tags_denied:
                self.faults.met += 1
                raise AwsError("UnauthorizedOperation", "CreateTags")
            for id in ids:
                if id in self.machines:
                    self.machines[id].lease = until

    def network_paths(self, ids: Iterable[str]) -> dict[str, str]:
        with self.faults.call("ec2.network_paths", "ec2", _refuse):
            self._reach()
            return {id: f"nn-1/nn-{len(id) % 2}" for id in ids if id in self.machines}

    def instance_statuses(self, ids: Iterable[str]) -> dict[str, InstanceStatus]:
        with self.faults.call("ec2.instance_statuses", "ec2", _refuse):
            self._reach()
            if self.statuses_denied:
                self.statuses_denied_at = self.clock.true
                raise AwsError("UnauthorizedOperation", "DescribeInstanceStatus")
            machines = [self.machines[id] for id in ids]
        for machine in machines:
            machine.read, machine.is_event_read = self.clock.true, True
        return {m.id: _status(m) for m in machines if m.alive and (m.impaired or m.event)}

    # Events that do not come from the controller.

    def schedule(self, machine: Machine, event: str, seconds: float) -> None:
        """Announce an event of an instance, in place of the event that is announced already: EC2 may postpone it."""
        machine.announce(event, self.clock.true + seconds, self.clock.true)

    def protect(self, machine: Machine) -> None:
        """Change the termination protection of an instance."""
        machine.protected = not machine.protected
        machine.freed = None if machine.protected else self.clock.true

    def end(self, machine: Machine, why: str) -> None:
        if machine.alive:
            self.ending(machine, why)
            machine.ended, machine.why = self.clock.true, why

    def tick(self) -> None:
        """Carry out scheduled events, and run the Guardrails' reaper: terminate every instance whose lease has expired, also
        while the controller is off. The reaper's grace time is used by a controller whose clock is slow, by no other one."""
        for machine in self.alive():
            if machine.end is not None and machine.ends_at <= self.clock.true:
                self.end(machine, machine.end.code)
            if machine.event and machine.event_at <= self.clock.true:
                if machine.event != "system-reboot":
                    self.end(machine, machine.event)
                machine.announce("", 0.0, self.clock.true)
        if self.clock.true - self.swept < REAPER_EVERY:
            return
        self.swept = self.clock.true
        late = min(max(0.0, -self.clock.skew), REAPER_GRACE)
        for machine in self.alive():
            if machine.offering.closes is not None and machine.offering.closes < self.clock.true:
                self.end(machine, "block closed")
            if machine.lease + late < self.clock.true and not machine.protected:
                self.end(machine, "reaper")

    def alive(self, node: str | None = None) -> list[Machine]:
        return [m for m in self.machines.values() if m.alive and node in (None, m.node)]

    def seems_alive(self, machine: Machine, seconds: float) -> bool:
        """Return whether a description of up to `seconds` ago may show the instance as running."""
        return machine.ended is None or machine.ended + self.lag + seconds > self.clock.true

    def _reach(self) -> None:
        if not self.reachable:
            self.faults.met += 1
            raise AwsError("EndpointConnectionError", "no route")
        if abs(self.clock.skew) > SIGNED:
            self.faults.met += 1
            raise AwsError("RequestExpired", "the date stamp of the request is wrong")

    def _launch(self, attempt: Attempt, offering: Offering, all_or_nothing: bool) -> list[Machine]:
        known = self.tokens.get(attempt.token)
        if known is not None and self.clock.true - known.at < TOKEN_MEMORY:
            same = _parameters(known.attempt) == _parameters(attempt)
            machines = [self.machines[id] for id in known.ids]
            if not all(machine.alive for machine in machines):
                raise AwsError("IdempotentInstanceTerminated", attempt.token)
            if not (same and known.offering == offering.key and known.all_or_nothing == all_or_nothing):
                self.mismatches.append(attempt.token)
                # The shell queries the instances of the token; a description may not show them yet.
                machines = [m for m in machines if self.shows(m)]
                if not machines:
                    raise AwsError("IdempotentParameterMismatch", attempt.token)
            return machines
        if attempt.pool in self.broken:
            self.faults.met += 1
            raise AwsError("InvalidLaunchTemplateId.NotFound", "no such template")
        requested = len(attempt.nodes)
        room = self.room.get(offering.key, requested)
        if offering.size is not None:
            room = min(room, offering.size - sum(m.offering.key == offering.key for m in self.alive()))
        free = requested if self.quota is None else max(0, self.quota - len(self.alive()))
        for limit, code in ((free, "VcpuLimitExceeded"), (room, "InsufficientInstanceCapacity")):
            if limit < (requested if all_or_nothing else 1):
                self.faults.met += 1
                raise AwsError(code, f"{limit} left")
        count = min(requested, room, free)
        self._take_tokens(offering, requested)
        if offering.key in self.room:
            self.room[offering.key] -= count
        launched = [self._start(attempt, offering, node) for node in attempt.nodes[:count]]
        self.tokens[attempt.token] = Known(
            attempt, offering.key, all_or_nothing, [m.id for m in launched], self.clock.true
        )
        self.launches[attempt.token] = self.launches.get(attempt.token, 0) + 1
        return launched

    def _take_tokens(self, offering: Offering, count: int) -> None:
        """Take a token for each instance from the region's bucket, or refuse the call."""
        size = float(self.policy.launch_bucket)
        tokens, at = self.bucket.get(offering.region, (size, self.clock.true))
        tokens = min(size, tokens + (self.clock.true - at) * self.policy.launch_per_second)
        if tokens < count:
            raise AwsError("RequestLimitExceeded", f"{tokens:.1f} tokens")
        self.bucket[offering.region] = tokens - count, self.clock.true

    def _start(self, attempt: Attempt, offering: Offering, node: str) -> Machine:
        number = len(self.machines) + 1
        machine = Machine(
            id=f"i-{number:04d}",
            node=node,
            token=attempt.token,
            offering=offering,
            pool=attempt.pool,
            jobs=attempt.jobs,
            account=attempt.account,
            lease=attempt.lease,
            address=f"10.80.{number // 250}.{number % 250 + 1}",
            launched=self.clock.true,
            boots=self.clock.true + self.boot,
            usd_hour=offering.usd_hour or 0.0,
        )
        self.machines[machine.id] = machine
        fault = self.faults.ends.get(offering.key)
        if fault is not None and number % fault.each == 0:
            machine.end, machine.ends_at = fault.end, self.clock.true + fault.seconds
        self.started(machine)
        return machine

    def shows(self, machine: Machine) -> bool:
        if max(machine.launched + self.lag, machine.hidden) > self.clock.true:
            return False
        gone_after = GONE_AFTER if machine.end is None else 0.0  # a failed launch is terminated at once
        return machine.ended is None or machine.ended + max(self.lag, gone_after) > self.clock.true

    def _shows_ended(self, machine: Machine) -> bool:
        return machine.ended is not None and self.lag <= self.clock.true - machine.ended <= KNOWN_FOR

    def _instance(self, machine: Machine) -> CloudInstance:
        ended = machine.ended is not None and machine.ended + self.lag <= self.clock.true
        pending = machine.launched + self.lag + 5 > self.clock.true
        return CloudInstance(
            id=machine.id,
            node=machine.node,
            state="shutting-down" if ended else "pending" if pending else "running",
            address=machine.address,
            subnet=machine.offering.subnet,
            type=machine.offering.instance_type,
            market=machine.offering.market,
            launched=machine.launched,
            pool=machine.pool,
            token=machine.token,
            jobs=machine.jobs,
            account=machine.account,
            lease=machine.lease,
            region=machine.offering.region,
        )


def _status(machine: Machine) -> InstanceStatus:
    impaired = ("system",) if machine.impaired else ()
    return InstanceStatus(impaired, machine.event, machine.event_at if machine.event else None)


def _parameters(attempt: Attempt) -> Attempt:
    """Return the attempt's fields that the launch call has: not those that the journal adds afterwards."""
    return replace(attempt, created_at=0.0, hold_usd=0.0, usd_hour=0.0, ended=None, code="", instances={}, gang="")


def _refuse(word: str) -> AwsError:
    if word == "throttle":
        return AwsError("RequestLimitExceeded", "slow down")
    return AwsError("ReadTimeoutError", word)
