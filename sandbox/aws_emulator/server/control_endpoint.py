"""Control endpoint /_ctl: GET reads counters and instances, POST (JSON) sets limits, delays and faults."""

import threading
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from moto.core.base_backend import BackendDict

from sandbox.aws_emulator import training_jobs
from sandbox.aws_emulator.ec2.actions import terminate
from sandbox.aws_emulator.ec2.instance_status import settings_of
from sandbox.aws_emulator.emulator_state import EmulatorState, InjectedFault
from sandbox.aws_emulator.instances import moto_instances as account
from sandbox.aws_emulator.server.throttling import TokenBucket

SPOT_NOTICE_SECONDS = 120.0


def read(emulator: EmulatorState) -> dict[str, Any]:
    """Return the counters since the last reset, the free capacity, and every instance."""
    return {
        "total": sum(emulator.calls.values()),
        "calls": dict(emulator.calls),
        "asked": dict(emulator.iam_calls),
        "held": emulator.held.counts(),
        "errors": dict(emulator.errors),
        "pool": dict(emulator.capacity.free),
        "latency": emulator.latency,
        "busy": emulator.busy.seconds,
        "boot": emulator.lifecycle.boot_delay,
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


def _reset(emulator: EmulatorState, value: Any) -> None:
    if value:
        emulator.reset()


def _wipe(emulator: EmulatorState, value: Any) -> None:
    """Terminate every instance, then delete every resource."""
    if not value:
        return
    for backend in account.ec2_backends():
        alive = [i.id for i in backend.all_instances() if i.state in ("pending", "running")]
        if alive:
            with emulator.lock:
                terminate(emulator, backend, alive, "Server.Wipe")
    emulator.wipe()
    emulator.reset()  # before moto creates its default networks again: quotas count those too
    BackendDict.reset()


def _buckets(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    emulator.buckets.update({action: TokenBucket(size, rate) for action, (size, rate) in value.items()})


def _faults(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    for action, faults in value.items():
        emulator.faults[action] += [
            InjectedFault(**fault) for fault in ([faults] if isinstance(faults, dict) else faults)
        ]


def _interrupt(emulator: EmulatorState, value: Any) -> None:
    """Reclaim spot instances: the metadata service shows the notice now, the instance terminates `seconds` later."""
    for instance_id, seconds in value.items() if isinstance(value, dict) else [(i, SPOT_NOTICE_SECONDS) for i in value]:
        if account.find_instance(instance_id) is None:
            raise ValueError(f"no instance {instance_id}")
        at = time.time() + float(seconds)
        emulator.notices[instance_id] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
        timer = threading.Timer(float(seconds), _reclaim, [emulator, instance_id])
        timer.daemon = True
        timer.start()


def _end(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """End instances whose launch was accepted, as EC2 does for lack of a quota or of a KMS grant: the reason by id, such as
    `Client.VolumeLimitExceeded: Volume limit exceeded`."""
    for instance_id, reason in value.items():
        instance = account.find_instance(instance_id)
        if instance is None:
            raise ValueError(f"no instance {instance_id}")
        with emulator.lock:
            terminate(emulator, instance[0], [instance_id], str(reason))


def _rebalance(emulator: EmulatorState, value: Any) -> None:
    """Show the rebalance recommendation of spot instances in the metadata service; no instance terminates."""
    for instance_id in value:
        if account.find_instance(instance_id) is None:
            raise ValueError(f"no instance {instance_id}")
        emulator.rebalance[instance_id] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _statuses(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """Set failed status checks and scheduled events, by instance id:

    `{"system": "impaired", "instance": "ok", "events": [{"code": "instance-retirement", "seconds": 3600}]}`; `seconds`:
    from now until NotBefore; `description`: of the event; `{}` for a healthy instance.
    """
    for instance_id, settings in value.items():
        if account.find_instance(instance_id) is None:
            raise ValueError(f"no instance {instance_id}")
        emulator.statuses[instance_id] = settings_of(settings, time.time())


def _reclaim(emulator: EmulatorState, instance_id: str) -> None:
    instance = account.find_instance(instance_id)
    if instance:
        with emulator.lock:
            terminate(emulator, instance[0], [instance_id], "Server.SpotInstanceTermination")


def _latency(emulator: EmulatorState, value: Any) -> None:
    emulator.latency = float(value)


def _lag(emulator: EmulatorState, value: Any) -> None:
    """Set for how many calls EC2 and IAM do not find a new resource."""
    emulator.lag.reads = int(value)


def _boot(emulator: EmulatorState, value: Any) -> None:
    emulator.lifecycle.boot_delay = float(value)


def _tunnel_change(emulator: EmulatorState, value: Any) -> None:
    """Set for how many seconds a VPN connection is `modifying`."""
    emulator.tunnel_change = timedelta(seconds=float(value))


def _volume_change(emulator: EmulatorState, value: Any) -> None:
    """Set for how many seconds a modification of a volume is `optimizing`."""
    emulator.volume_change = timedelta(seconds=float(value))


def _pool(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    emulator.capacity.free.update({key: int(count) for key, count in value.items()})


def _deny(emulator: EmulatorState, value: Any) -> None:
    """Set the IAM actions that are refused from now on, `servicequotas:GetServiceQuota` or `iam:*`; [] allows all."""
    emulator.denied = {str(action) for action in value}


def _quotas(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    emulator.quotas.update({code: float(amount) for code, amount in value.items()})


def _clock(emulator: EmulatorState, value: Any) -> None:
    """Set by how many seconds the account's clock is ahead, so that Capacity Blocks start and end."""
    emulator.clock = timedelta(seconds=float(value))


def _reservations(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """Overwrite attributes of capacity reservations, such as the state, by reservation id."""
    for reservation_id, change in value.items():
        matches = [stored for (_, id_), stored in emulator.reservations.items() if id_ == reservation_id]
        if not matches:
            raise ValueError(f"no reservation {reservation_id}")
        matches[0].update(change)


def _images(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """Set attributes of images, by image id, in the API's spelling."""
    emulator.images.update({image_id: dict(change) for image_id, change in value.items()})


def _released(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """Set the newest version of public parameters, so that a test decides when AWS publishes the next."""
    emulator.released.update({name: int(version) for name, version in value.items()})


def _types(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """Set overrides of DescribeInstanceTypes by instance type."""
    emulator.types.update({name: dict(change) for name, change in value.items()})


def _offered(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """Set the zone ids that offer an instance type, instead of the real ones."""
    emulator.offered.update({name: list(zones) for name, zones in value.items()})


def _owners(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """Set the accounts that own VPCs and share their subnets with the emulated one, by VPC id."""
    emulator.owners.update({vpc: str(owner) for vpc, owner in value.items()})


def _without_zones(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """Set the zone ids that lack an endpoint service, by service: `{"kms": ["use1-az3"]}`."""
    emulator.without_zones.update({name: list(zones) for name, zones in value.items()})


def _closed(emulator: EmulatorState, value: Any) -> None:
    """Set the regions that the account has not opted in to."""
    emulator.closed = {str(name) for name in value}


def _training(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """End training jobs, by name: `{"status": "Completed", "seconds": 600, "billable": 200}`."""
    for name, result in value.items():
        training_jobs.end(emulator, name, **result)


def _spot(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """Set spot prices in USD/h, by `type/zone` or `type/*`."""
    emulator.spot.update({key: float(price) for key, price in value.items()})


def _products(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """Set on-demand prices of the price list in USD/h, by `type/region`."""
    emulator.products.update({place: float(usd) for place, usd in value.items()})


def _savings_plans(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """Set Savings Plans rates in USD/h, by `type/region`, then by `Compute/3/No Upfront`: plan, years and payment."""
    emulator.savings_plans.update({place: dict(rates) for place, rates in value.items()})


def _block_usd(emulator: EmulatorState, value: Mapping[str, Any]) -> None:
    """Set the price of Capacity Blocks in USD per instance-hour, by instance type."""
    emulator.block_usd.update({name: float(usd) for name, usd in value.items()})


def _billed_tags(emulator: EmulatorState, value: Any) -> None:
    """Set the tag keys that billing lists; AWS lists a key about a day after a resource first has it."""
    for key in value:
        emulator.billed_tags.setdefault(str(key), "Inactive")


# In the order in which they are applied.
SETTINGS: dict[str, Callable[[EmulatorState, Any], None]] = {
    "wipe": _wipe,
    "reset": _reset,
    "pool": _pool,
    "buckets": _buckets,
    "latency": _latency,
    "lag": _lag,
    "boot": _boot,
    "tunnel_change": _tunnel_change,
    "volume_change": _volume_change,
    "faults": _faults,
    "interrupt": _interrupt,
    "end": _end,
    "rebalance": _rebalance,
    "statuses": _statuses,
    "deny": _deny,
    "quotas": _quotas,
    "clock": _clock,
    "reservations": _reservations,
    "images": _images,
    "released": _released,
    "types": _types,
    "offered": _offered,
    "without_zones": _without_zones,
    "closed": _closed,
    "owners": _owners,
    "training": _training,
    "spot": _spot,
    "products": _products,
    "savings_plans": _savings_plans,
    "block_usd": _block_usd,
    "billed_tags": _billed_tags,
}


def change(emulator: EmulatorState, request: Any) -> dict[str, Any]:
    """Apply a control request; raise ValueError or TypeError if it is invalid."""
    if not isinstance(request, dict):
        raise ValueError("a JSON object is expected")
    unknown = sorted(set(request) - set(SETTINGS))
    if unknown:
        raise ValueError(f"unknown: {', '.join(unknown)}; known: {', '.join(SETTINGS)}")
    for name, apply in SETTINGS.items():
        if name in request:
            apply(emulator, request[name])
    return read(emulator)
