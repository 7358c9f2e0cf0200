"""What the instances of a pool cost: its capacities in their order, each up to its size."""

from collections.abc import Iterator

from landbridge.environment import Environment, Pool
from landbridge.plan.capacity import Terms, fallbacks
from landbridge.plan.rates import instance_rate, purchase_words
from landbridge.plan.spend.lines import HOURS_A_MONTH, Item, SpendLine, Unpriced


def pool_spend(environment: Environment, pool: Pool) -> Iterator[Item]:
    """Lines for one pool. What is paid for anyway runs first; the rest up to max_nodes is what the next capacity gives.

    The part that is billed whatever runs: blocks and reservations whole, and min_nodes of the rest.
    """
    data_class = only_class(environment)
    wanted, kept = pool.max_nodes, pool.min_nodes
    for terms in fallbacks(pool, environment.region):
        paid = prepaid(terms)
        nodes = (terms.size or wanted) if paid else min(wanted, terms.size or wanted)
        if nodes <= 0:
            continue
        always = nodes if paid else min(kept, nodes)
        wanted, kept = max(wanted - nodes, 0), max(kept - nodes, 0)
        yield _line(environment, pool, terms, nodes, always, data_class)


def prepaid(terms: Terms) -> bool:
    """Whether capacity is billed while nobody uses it."""
    return terms.kind in ("capacity_block", "reservation", "reservation_group")


def only_class(environment: Environment) -> str | None:
    """The data class that everything in AWS is for; None where there are several."""
    there = [name for name, data_class in environment.data_classes.items() if "aws" in data_class.sites]
    return there[0] if len(there) == 1 else None


def _line(
    environment: Environment, pool: Pool, terms: Terms, nodes: int, always: int, data_class: str | None
) -> SpendLine | Unpriced:
    what = f"{nodes} x {terms.instance}, {terms.kind.replace('_', ' ')}"
    rate = instance_rate(terms, environment.region)
    if rate is None:
        why = f"no {purchase_words(terms.kind)} price known for {terms.instance} in {environment.region}"
        return Unpriced(what, pool.name, data_class, why)
    hours = window_hours(terms)
    month_hours = HOURS_A_MONTH if hours is None else min(hours, HOURS_A_MONTH)
    return SpendLine(
        what=what,
        pool=pool.name,
        data_class=data_class,
        usd_hour=nodes * rate.high,
        usd_month=nodes * rate.high * month_hours,
        fixed_hour=always * rate.high,
        fixed_month=always * rate.high * month_hours,
        usd_whole=nodes * rate.high * hours if hours is not None else None,
        as_of=rate.as_of,
        source=rate.source,
        confidence=rate.confidence,
        note=_note(terms, rate.note),
    )


def window_hours(terms: Terms) -> float | None:
    """The hours of a Capacity Block's window; None for other capacity, and where the file does not say both ends."""
    if not terms.fixed_size or terms.starts is None or terms.ends is None:
        return None
    if (terms.starts.utcoffset() is None) != (terms.ends.utcoffset() is None):
        return None
    return max((terms.ends - terms.starts).total_seconds() / 3600, 0.0)


def _note(terms: Terms, note: str | None) -> str | None:
    if terms.fixed_size:
        own = "billed whole, when it is bought" if window_hours(terms) is not None else "its window is not in the file"
    elif prepaid(terms):
        own = "billed used or not" + (
            "" if terms.size is not None else "; its size is not in the file: max_nodes is taken"
        )
    else:
        own = None
    return "; ".join(text for text in (own, note) if text) or None
