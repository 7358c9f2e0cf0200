"""Where a gang may be started: the pool's places in their order, and why each was passed over."""

from collections.abc import Mapping
from dataclasses import dataclass

from landbridge.burst.model import Gang, Place, Policy, Pool, State
from landbridge.burst.model.errors import Kind, classify
from landbridge.burst.model.timestamps import iso
from landbridge.burst.reconcile.budget import Ledger, hold_usd
from landbridge.burst.reconcile.leases import of_gang

#: What is said when no place is left, the first of these that any place was passed over for.
_WEIGHT = ("CAPACITY", "QUOTA", "BUDGET", "PRICE", "WINDOW", "SIZE", "ZONE", "TYPE", "REGION")
_CODES = {"CAPACITY": "CAPACITY", "QUOTA": "QUOTA", "BUDGET": "BUDGET", "PRICE": "BUDGET"}


@dataclass(frozen=True, slots=True)
class Rejected:
    place: str
    code: str  # CAPACITY, QUOTA, BUDGET, PRICE, WINDOW, SIZE, ZONE, TYPE, REGION
    why: str
    usd: float | None = None  # for one node and hour


@dataclass(frozen=True, slots=True)
class Choice:
    """A place for the first `room` nodes of the gang, or none; `rejected` are the places before it."""

    place: Place | None
    room: int
    rejected: tuple[Rejected, ...]

    def verdict(self) -> tuple[str, str]:
        """The code and the words for a gang that found no place."""
        if not self.rejected:
            return "CAPACITY", "the pool has no place to ask"
        first = min(self.rejected, key=lambda one: _WEIGHT.index(one.code))
        more = f" (and {len(self.rejected) - 1} more places)" if len(self.rejected) > 1 else ""
        return _CODES.get(first.code, "CAPACITY"), f"{first.place}: {first.why}{more}"


def choose(
    gang: Gang,
    pool: Pool,
    state: State,
    policy: Policy,
    ledger: Ledger,
    used: Mapping[str, int],
    now: float,
) -> Choice:
    """The first acceptable place. A gang has to fit whole; of a batch as many nodes as fit."""
    rejected: list[Rejected] = []
    for place in pool.places:
        room = len(gang.nodes) if place.size is None else min(len(gang.nodes), place.size - used.get(place.key, 0))
        no = (
            _abroad(place, gang, policy)
            or _closed(place, gang, pool, policy, now)
            or _dry(place, gang, state, now)
            or _apart(place, gang)
            or _small(place, gang, room)
        )
        if no is None and not gang.whole:
            room = _affordable(place, gang, pool, policy, ledger, room, now)
        no = no or _dear(place, gang, pool, policy, ledger, max(1, room), now)
        if no is None:
            return Choice(place, room, tuple(rejected))
        rejected.append(Rejected(place.key, *no, usd=place.usd_hour))
    return Choice(None, 0, tuple(rejected))


def cost(place: Place, gang: Gang, pool: Pool, policy: Policy, nodes: int, now: float) -> float:
    """The most that `nodes` of the gang can cost at the place."""
    return hold_usd(nodes, place.usd_hour or 0.0, now, of_gang(gang, policy, pool, now))


def _abroad(place: Place, gang: Gang, policy: Policy) -> tuple[str, str] | None:
    if place.region in ("", policy.region) or place.region in gang.regions:
        return None
    whose = f"of account {gang.account}" if gang.account else "of nobody"
    return "REGION", f"data {whose} may not be in {place.region}"


def _closed(place: Place, gang: Gang, pool: Pool, policy: Policy, now: float) -> tuple[str, str] | None:
    if place.opens is not None and now < place.opens:
        return "WINDOW", f"opens {iso(place.opens)}"
    if place.closes is None:
        return None
    length = policy.lease_minutes if gang.minutes is None else gang.minutes
    end = now + pool.boot_seconds + length * 60
    if gang.minutes is None and gang.jobs:
        return "WINDOW", f"closes {iso(place.closes)}, and the job has no time limit"
    return ("WINDOW", f"closes {iso(place.closes)}, before the job would end") if end > place.closes else None


def _dry(place: Place, gang: Gang, state: State, now: float) -> tuple[str, str] | None:
    drought = state.droughts.get(place.key)
    wanted = len(gang.nodes) if gang.whole else 1
    if drought is None or drought.until <= now or wanted < drought.nodes:
        return None
    code = "QUOTA" if classify(drought.code) is Kind.QUOTA else "CAPACITY"
    least = f" for {drought.nodes} or more nodes" if drought.nodes > 1 else ""
    return code, f"{drought.code}{least}, not asked again before {iso(drought.until)}"


def _apart(place: Place, gang: Gang) -> tuple[str, str] | None:
    if gang.zones and place.zone not in gang.zones:
        return "ZONE", f"the job's other nodes are in {', '.join(sorted(gang.zones))}"
    if gang.types and place.instance_type not in gang.types:
        return "TYPE", f"the job's other nodes are {', '.join(sorted(gang.types))}"
    return None


def _small(place: Place, gang: Gang, room: int) -> tuple[str, str] | None:
    if place.size is None or room >= (len(gang.nodes) if gang.whole else 1):
        return None
    code = "SIZE" if gang.whole and len(gang.nodes) > place.size else "CAPACITY"
    return code, f"has room for {max(0, room)} of {len(gang.nodes)}"


def _affordable(place: Place, gang: Gang, pool: Pool, policy: Policy, ledger: Ledger, room: int, now: float) -> int:
    """How many nodes of a batch every hard cap lets through: each is of use alone."""
    low, high = 0, room
    while low < high:
        middle = (low + high + 1) // 2
        usd = cost(place, gang, pool, policy, middle, now)
        low, high = (low, middle - 1) if ledger.refusal(gang.account, pool.name, usd) else (middle, high)
    return low


def _dear(
    place: Place, gang: Gang, pool: Pool, policy: Policy, ledger: Ledger, nodes: int, now: float
) -> tuple[str, str] | None:
    if place.usd_hour is None:
        if ledger.capped(gang.account, pool.name) and not policy.unpriced:
            return "PRICE", "no price is known, and a hard cap holds"
        return None
    if place.max_price_usd is not None and place.usd_hour > place.max_price_usd:
        return "PRICE", f"{place.usd_hour:.2f} USD an hour is more than the {place.max_price_usd:.2f} to be paid"
    refusal = ledger.refusal(gang.account, pool.name, cost(place, gang, pool, policy, nodes, now))
    return ("BUDGET", refusal) if refusal else None
