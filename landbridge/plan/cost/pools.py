"""Cost of a pool's instances: its capacities in the order of the file, each up to its size."""

from collections.abc import Iterator

from landbridge.catalog import Price, limits, price_of
from landbridge.environment import Environment, PoolSettings
from landbridge.plan.cost.bill_lines import CONFIDENCE, HOURS_PER_MONTH, BillItem, SpendLine, Unpriced
from landbridge.plan.instances.capacity import Terms, fallbacks
from landbridge.plan.instances.rates import known_rate, purchase_words


def pool_spend(environment: Environment, pool: PoolSettings) -> Iterator[BillItem]:
    """Yield the lines of one pool. Prepaid capacity runs first; the next capacities fill up to max_nodes.

    The fixed part is all of Capacity Blocks and reservations, and min_nodes of other capacity.
    """
    data_class = only_data_class(environment)
    unplaced, unplaced_min, running = pool.max_nodes, pool.min_nodes, 0
    for terms in fallbacks(pool, environment.region):
        prepaid = is_prepaid(terms)
        nodes = (terms.size or unplaced) if prepaid else min(unplaced, terms.size or unplaced)
        if nodes <= 0:
            continue
        fixed_nodes = nodes if prepaid else min(unplaced_min, nodes)
        unplaced, unplaced_min, running = max(unplaced - nodes, 0), max(unplaced_min - nodes, 0), running + nodes
        yield _line(environment, pool, terms, nodes, fixed_nodes, data_class)
    yield _disks(environment, pool, running, data_class)


def is_prepaid(terms: Terms) -> bool:
    """True if capacity is billed even when it is not used."""
    return terms.kind in ("capacity_block", "reservation", "reservation_group")


def only_data_class(environment: Environment) -> str | None:
    """Return the single data class of everything in AWS; None if there are several."""
    aws_classes = [name for name, data_class in environment.data_classes.items() if "aws" in data_class.sites]
    return aws_classes[0] if len(aws_classes) == 1 else None


def _line(
    environment: Environment, pool: PoolSettings, terms: Terms, nodes: int, fixed_nodes: int, data_class: str | None
) -> SpendLine | Unpriced:
    description = f"{nodes} x {terms.instance}, {terms.kind.replace('_', ' ')}"
    rate = known_rate(terms, environment)
    if rate is None:
        why = f"no {purchase_words(terms.kind)} price known for {terms.instance} in {environment.region}"
        return Unpriced(description, pool.name, data_class, why)
    hours = window_hours(terms)
    month_hours = HOURS_PER_MONTH if hours is None else min(hours, HOURS_PER_MONTH)
    return SpendLine(
        description=description,
        pool=pool.name,
        data_class=data_class,
        usd_hour=nodes * rate.high,
        usd_month=nodes * rate.high * month_hours,
        fixed_hour=fixed_nodes * rate.high,
        fixed_month=fixed_nodes * rate.high * month_hours,
        usd_whole=nodes * rate.high * hours if hours is not None else None,
        as_of=rate.as_of,
        source=rate.source,
        confidence=rate.confidence,
        note=_note(terms, rate.note),
    )


def _disks(environment: Environment, pool: PoolSettings, nodes: int, data_class: str | None) -> SpendLine | Unpriced:
    """Return the line of root volumes, billed while their instance exists. IOPS and throughput above gp3's included
    ones cost extra.
    """
    description, included = f"{nodes} x {pool.root_volume_gib:,} GiB root volume", limits().volumes.types["gp3"]
    parts = {
        "ebs_gp3": pool.root_volume_gib,
        "ebs_gp3_iops": max(pool.root_volume_iops - (included.iops or (0, 0))[0], 0),
        "ebs_gp3_mibps": max(pool.root_volume_throughput - (included.throughput or (0, 0))[0], 0),
    }
    prices = {name: price_of("storage", name, environment.region) for name, units in parts.items() if units}
    known_prices = {name: price for name, price in prices.items() if isinstance(price, Price)}
    if missing := [name for name in prices if name not in known_prices]:
        return Unpriced(description, pool.name, data_class, f"no price known for {missing[0]} in {environment.region}")
    month = sum(price.usd * parts[name] for name, price in known_prices.items())
    always_running = min(pool.min_nodes, nodes)
    oldest = min(known_prices.values(), key=lambda price: price.as_of)
    weakest = max(known_prices.values(), key=lambda price: CONFIDENCE.index(price.confidence))
    return SpendLine(
        description=description,
        pool=pool.name,
        data_class=data_class,
        usd_hour=nodes * month / HOURS_PER_MONTH,
        usd_month=nodes * month,
        fixed_hour=always_running * month / HOURS_PER_MONTH,
        fixed_month=always_running * month,
        as_of=oldest.as_of,
        source="; ".join(dict.fromkeys(price.source for price in known_prices.values())),
        confidence=weakest.confidence,
    )


def window_hours(terms: Terms) -> float | None:
    """Return the hours of a Capacity Block's window; None for other capacity, and if start or end is not in
    the file.
    """
    if not terms.fixed_size or terms.starts is None or terms.ends is None:
        return None
    if (terms.starts.utcoffset() is None) != (terms.ends.utcoffset() is None):
        return None
    return max((terms.ends - terms.starts).total_seconds() / 3600, 0.0)


def _note(terms: Terms, note: str | None) -> str | None:
    if terms.fixed_size:
        billing = (
            "billed whole, when it is bought" if window_hours(terms) is not None else "its window is not in the file"
        )
    elif is_prepaid(terms):
        billing = "billed used or not" + (
            "" if terms.size is not None else "; its size is not in the file: max_nodes is taken"
        )
    else:
        billing = None
    return "; ".join(text for text in (billing, note) if text) or None
