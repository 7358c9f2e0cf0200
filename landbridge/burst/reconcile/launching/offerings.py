"""Choice of an offering for a gang: the first suitable one in the launch order, with the reasons for rejected ones."""

from collections.abc import Mapping
from dataclasses import dataclass

from landbridge.burst.model import BurstPolicy, Gang, Offering, PoolPolicy, State
from landbridge.burst.model.errors import ErrorKind, classify
from landbridge.burst.reconcile.budget import Ledger, hold_usd
from landbridge.burst.reconcile.instances.leases import gang_lease
from landbridge.burst.reconcile.launching.spot_order import in_launch_order, is_failed_launch
from landbridge.timestamps import iso

#: Codes of rejections; if all offerings are rejected, the first one in this order is reported.
_CODES_BY_PRIORITY = ("CAPACITY", "QUOTA", "CONFIG", "BUDGET", "PRICE", "WINDOW", "SIZE", "ZONE", "TYPE", "REGION")
_REPORTED_CODES = {"CAPACITY": "CAPACITY", "QUOTA": "QUOTA", "CONFIG": "CONFIG", "BUDGET": "BUDGET", "PRICE": "BUDGET"}

#: Codes of rejections by the kind of EC2's refusal; CAPACITY for the others.
_REFUSALS = {ErrorKind.QUOTA: "QUOTA", ErrorKind.CONFIGURATION: "CONFIG"}

#: The code and the text of a rejection.
Rejection = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RejectedOffering:
    """Offering that was not chosen, with the code and the reason."""

    offering: str
    code: str  # CAPACITY, QUOTA, CONFIG, BUDGET, PRICE, WINDOW, SIZE, ZONE, TYPE, REGION
    why: str
    usd: float | None = None  # for one node and hour


@dataclass(frozen=True, slots=True)
class OfferingChoice:
    """Offering for the first `room` nodes of the gang, or None; `rejected` are the offerings before it."""

    offering: Offering | None
    room: int
    rejected: tuple[RejectedOffering, ...]

    def verdict(self) -> Rejection:
        """Return the code and the text for a gang that no offering can serve."""
        if not self.rejected:
            return "CAPACITY", "the pool has no offering"
        first = min(self.rejected, key=lambda rejected: _CODES_BY_PRIORITY.index(rejected.code))
        others = f" (and {len(self.rejected) - 1} more offerings)" if len(self.rejected) > 1 else ""
        return _REPORTED_CODES.get(first.code, "CAPACITY"), f"{first.offering}: {first.why}{others}"


def choose(
    gang: Gang,
    pool: PoolPolicy,
    state: State,
    policy: BurstPolicy,
    ledger: Ledger,
    used: Mapping[str, int],
    now: float,
) -> OfferingChoice:
    """Return the first offering that is not rejected. An all-or-nothing gang has to fit completely, a batch partly.

    `used`: number of pending and running instances by offering.
    """
    rejected: list[RejectedOffering] = []
    for offering in in_launch_order(pool.offerings, state.insufficient_capacity, now):
        room = len(gang.nodes)
        if offering.size is not None:
            room = min(room, offering.size - used.get(offering.key, 0))
        rejection = (
            reject_if_region_forbidden(offering, gang, policy)
            or reject_if_outside_window(offering, gang, pool, policy, now)
            or reject_if_insufficient_capacity(offering, gang, state, now)
            or reject_if_apart_from_siblings(offering, gang)
            or reject_if_too_small(offering, gang, room)
        )
        if rejection is None and not gang.all_or_nothing:
            room = _affordable_nodes(offering, gang, pool, policy, ledger, room, now)
        rejection = rejection or reject_if_too_expensive(offering, gang, pool, policy, ledger, max(1, room), now)
        if rejection is None:
            return OfferingChoice(offering, room, tuple(rejected))
        rejected.append(RejectedOffering(offering.key, *rejection, usd=offering.usd_hour))
    return OfferingChoice(None, 0, tuple(rejected))


def worst_case_usd(
    offering: Offering, gang: Gang, pool: PoolPolicy, policy: BurstPolicy, nodes: int, now: float
) -> float:
    """Return the maximum cost in USD of `nodes` nodes of the gang at the offering."""
    return hold_usd(nodes, offering.usd_hour or 0.0, now, gang_lease(gang, policy, pool, now))


def reject_if_region_forbidden(offering: Offering, gang: Gang, policy: BurstPolicy) -> Rejection | None:
    """Reject an offering in a region that the gang's data class does not list."""
    if offering.region in ("", policy.region) or offering.region in gang.regions:
        return None
    data = f"data of account {gang.account}" if gang.account else "nodes without a job"
    return "REGION", f"{data} may not be in {offering.region}"


def reject_if_outside_window(
    offering: Offering, gang: Gang, pool: PoolPolicy, policy: BurstPolicy, now: float
) -> Rejection | None:
    """Reject a Capacity Block or reservation that is not open yet, or that closes before the job's end."""
    if offering.opens is not None and now < offering.opens:
        return "WINDOW", f"opens {iso(offering.opens)}"
    if offering.closes is None:
        return None
    minutes = policy.lease_minutes if gang.minutes is None else gang.minutes
    end = now + pool.boot_seconds + minutes * 60
    if gang.minutes is None and gang.jobs:
        return "WINDOW", f"closes {iso(offering.closes)}, and the job has no time limit"
    return ("WINDOW", f"closes {iso(offering.closes)}, before the job would end") if end > offering.closes else None


def reject_if_insufficient_capacity(offering: Offering, gang: Gang, state: State, now: float) -> Rejection | None:
    """Reject an offering that EC2 refused a short time ago for this number of nodes or fewer."""
    shortage = state.insufficient_capacity.get(offering.key)
    nodes = len(gang.nodes) if gang.all_or_nothing else 1
    if shortage is None or shortage.until <= now or nodes < shortage.nodes or is_failed_launch(shortage):
        return None
    code = _REFUSALS.get(classify(shortage.code), "CAPACITY")
    least = f" for {shortage.nodes} or more nodes" if shortage.nodes > 1 else ""
    message = f" ({shortage.message})" if shortage.message else ""
    return code, f"{shortage.code}{message}{least}, not tried again before {iso(shortage.until)}"


def reject_if_apart_from_siblings(offering: Offering, gang: Gang) -> Rejection | None:
    """Reject a zone or instance type that differs from the job's running nodes."""
    if gang.zones and offering.zone not in gang.zones:
        return "ZONE", f"the job's other nodes are in {', '.join(sorted(gang.zones))}"
    if gang.types and offering.instance_type not in gang.types:
        return "TYPE", f"the job's other nodes are {', '.join(sorted(gang.types))}"
    return None


def reject_if_too_small(offering: Offering, gang: Gang, room: int) -> Rejection | None:
    """Reject a reservation that has no room for the whole gang, or for one node of a batch."""
    if offering.size is None or room >= (len(gang.nodes) if gang.all_or_nothing else 1):
        return None
    code = "SIZE" if gang.all_or_nothing and len(gang.nodes) > offering.size else "CAPACITY"
    return code, f"has room for {max(0, room)} of {len(gang.nodes)}"


def reject_if_too_expensive(
    offering: Offering, gang: Gang, pool: PoolPolicy, policy: BurstPolicy, ledger: Ledger, nodes: int, now: float
) -> Rejection | None:
    """Reject an offering above its maximum price, above a hard cap, or without a known price under a hard cap."""
    if offering.usd_hour is None:
        if ledger.capped(gang.account, pool.name) and not policy.unpriced:
            return "PRICE", "no price is known, and a hard cap holds"
        return None
    if offering.max_price_usd is not None and offering.usd_hour > offering.max_price_usd:
        return "PRICE", f"{offering.usd_hour:.2f} USD an hour is more than max_price_usd ({offering.max_price_usd:.2f})"
    usd = worst_case_usd(offering, gang, pool, policy, nodes, now)
    refusal = ledger.refusal(gang.account, pool.name, usd)
    return ("BUDGET", refusal) if refusal else None


def _affordable_nodes(
    offering: Offering, gang: Gang, pool: PoolPolicy, policy: BurstPolicy, ledger: Ledger, room: int, now: float
) -> int:
    """Return the number of a batch's nodes that every hard cap permits; each of them is useful alone."""
    low, high = 0, room
    while low < high:
        middle = (low + high + 1) // 2
        usd = worst_case_usd(offering, gang, pool, policy, middle, now)
        low, high = (low, middle - 1) if ledger.refusal(gang.account, pool.name, usd) else (middle, high)
    return low
