"""The control endpoint /_ctl: GET reads counters and instances, POST (JSON) sets limits, delays and faults."""

import threading
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from moto.core.base_backend import BackendDict

from sandbox.aws_emulator.ec2.actions import terminate
from sandbox.aws_emulator.emulator_state import EmulatorState, InjectedFault
from sandbox.aws_emulator.instances import moto_instances as account
from sandbox.aws_emulator.server.throttling import TokenBucket

SPOT_NOTICE_SECONDS = 120.0


def read(world: EmulatorState) -> dict[str, Any]:
    """Return the counters since the last reset, the free capacity, and every instance."""
    return {
        "total": sum(world.calls.values()),
        "calls": dict(world.calls),
        "asked": dict(world.asked),
        "errors": dict(world.errors),
        "pool": dict(world.capacity.free),
        "latency": world.latency,
        "busy": world.busy.seconds,
        "boot": world.lifecycle.boot_delay,
        "instances": [_show(instance) for backend in account.ec2_backends() for instance in backend.all_instances()],
    }


def _show(instance: Any) -> dict[str, Any]:
    return {
        "id": instance.id,
        "launch_index": int(instance.ami_launch_index),
        "type": instance.instance_type,
        "zone": instance.availability_zone,
        "address": instance.private_ip,
        "state": instance.state,
        "reason": instance.state_reason.message,
        "tags": account.tags_of(instance),
    }


def _reset(world: EmulatorState, value: Any) -> None:
    if value:
        world.reset()


def _wipe(world: EmulatorState, value: Any) -> None:
    """End every instance, then forget every resource."""
    if not value:
        return
    for backend in account.ec2_backends():
        alive = [i.id for i in backend.all_instances() if i.state in ("pending", "running")]
        if alive:
            with world.lock:
                terminate(world, backend, alive, "Server.Wipe")
    world.wipe()
    world.reset()  # before moto makes its default networks anew, for quotas count those too
    BackendDict.reset()


def _buckets(world: EmulatorState, value: Mapping[str, Any]) -> None:
    world.buckets.update({action: TokenBucket(size, rate) for action, (size, rate) in value.items()})


def _faults(world: EmulatorState, value: Mapping[str, Any]) -> None:
    for action, faults in value.items():
        world.faults[action] += [InjectedFault(**fault) for fault in ([faults] if isinstance(faults, dict) else faults)]


def _interrupt(world: EmulatorState, value: Any) -> None:
    """Spot reclaim: the notice shows in the metadata service now, the instance ends `seconds` later."""
    for instance_id, seconds in value.items() if isinstance(value, dict) else [(i, SPOT_NOTICE_SECONDS) for i in value]:
        if account.find_instance(instance_id) is None:
            raise ValueError(f"no instance {instance_id}")
        at = time.time() + float(seconds)
        world.notices[instance_id] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
        timer = threading.Timer(float(seconds), _reclaim, [world, instance_id])
        timer.daemon = True
        timer.start()


def _rebalance(world: EmulatorState, value: Any) -> None:
    """Spot instances at a higher risk: the recommendation shows in the metadata service; nothing ends by it."""
    for instance_id in value:
        if account.find_instance(instance_id) is None:
            raise ValueError(f"no instance {instance_id}")
        world.rebalance[instance_id] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _reclaim(world: EmulatorState, instance_id: str) -> None:
    instance = account.find_instance(instance_id)
    if instance:
        with world.lock:
            terminate(world, instance[0], [instance_id], "Server.SpotInstanceTermination")


def _latency(world: EmulatorState, value: Any) -> None:
    world.latency = float(value)


def _lag(world: EmulatorState, value: Any) -> None:
    """Set for how many calls EC2 and IAM do not find a new resource."""
    world.lag.reads = int(value)


def _boot(world: EmulatorState, value: Any) -> None:
    world.lifecycle.boot_delay = float(value)


def _pool(world: EmulatorState, value: Mapping[str, Any]) -> None:
    world.capacity.free.update({key: int(count) for key, count in value.items()})


def _deny(world: EmulatorState, value: Any) -> None:
    """IAM actions that are refused from now on, `servicequotas:GetServiceQuota` or `iam:*`; [] allows all again."""
    world.denied = {str(action) for action in value}


def _quotas(world: EmulatorState, value: Mapping[str, Any]) -> None:
    world.quotas.update({code: float(amount) for code, amount in value.items()})


def _clock(world: EmulatorState, value: Any) -> None:
    """Seconds by which the account's clock is ahead: blocks start and end."""
    world.clock = timedelta(seconds=float(value))


def _reservations(world: EmulatorState, value: Mapping[str, Any]) -> None:
    """By id: attributes to put over a reservation's own, such as its state."""
    for wanted, change in value.items():
        found = [stored for (_, known), stored in world.reservations.items() if known == wanted]
        if not found:
            raise ValueError(f"no reservation {wanted}")
        found[0].update(change)


def _images(world: EmulatorState, value: Mapping[str, Any]) -> None:
    """By id: attributes of an image, in the API's spelling."""
    world.images.update({one: dict(change) for one, change in value.items()})


def _released(world: EmulatorState, value: Mapping[str, Any]) -> None:
    """By public parameter: its newest version, so that a test decides when AWS publishes the next."""
    world.released.update({name: int(version) for name, version in value.items()})


def _types(world: EmulatorState, value: Mapping[str, Any]) -> None:
    """Set overrides of DescribeInstanceTypes by instance type."""
    world.types.update({name: dict(change) for name, change in value.items()})


def _offered(world: EmulatorState, value: Mapping[str, Any]) -> None:
    """By instance type: the zone ids that offer it, instead of the real ones."""
    world.offered.update({name: list(zones) for name, zones in value.items()})


def _closed(world: EmulatorState, value: Any) -> None:
    """Regions that the account has not opted in to."""
    world.closed = {str(name) for name in value}


def _spot(world: EmulatorState, value: Mapping[str, Any]) -> None:
    """By `type/zone` or `type/*`: the spot price."""
    world.spot.update({key: float(price) for key, price in value.items()})


def _billed_tags(world: EmulatorState, value: Any) -> None:
    """Set the tag keys that billing lists; AWS lists a key about a day after a resource first has it."""
    for key in value:
        world.billed_tags.setdefault(str(key), "Inactive")


# In the order in which they are applied.
SETTINGS: dict[str, Callable[[EmulatorState, Any], None]] = {
    "wipe": _wipe,
    "reset": _reset,
    "pool": _pool,
    "buckets": _buckets,
    "latency": _latency,
    "lag": _lag,
    "boot": _boot,
    "faults": _faults,
    "interrupt": _interrupt,
    "rebalance": _rebalance,
    "deny": _deny,
    "quotas": _quotas,
    "clock": _clock,
    "reservations": _reservations,
    "images": _images,
    "released": _released,
    "types": _types,
    "offered": _offered,
    "closed": _closed,
    "spot": _spot,
    "billed_tags": _billed_tags,
}


def change(world: EmulatorState, request: Any) -> dict[str, Any]:
    """Apply a control request; raise ValueError or TypeError if it is invalid."""
    if not isinstance(request, dict):
        raise ValueError("a JSON object is expected")
    unknown = sorted(set(request) - set(SETTINGS))
    if unknown:
        raise ValueError(f"unknown: {', '.join(unknown)}; known: {', '.join(SETTINGS)}")
    for name, apply in SETTINGS.items():
        if name in request:
            apply(world, request[name])
    return read(world)
