"""Units of prices: units that a kind does not have, prices outside the plausible band, and factors of a mixed-up unit."""

from collections.abc import Iterator

from landbridge.catalog import instances
from landbridge.catalog.aws.price_checks import price_checks
from landbridge.findings import Finding
from landbridge.plan.price_book.book import BookPrice, PriceBook

#: Deviation of a ratio from an accelerator count at which it is no longer taken for a mixed-up unit.
_TOLERANCE = 0.02
#: Ratios of less than this occur between real prices, such as 2 between regions.
_LEAST_COUNT = 4


def implausible_prices(book: PriceBook) -> Iterator[Finding]:
    """Yield an error for a unit that the kind does not have, and for a price outside the plausible band of its unit: USD
    per accelerator-hour for instances, USD per unit for others.
    """
    checks = price_checks()
    for price in book.prices:
        units = checks.units[price.kind]
        if price.unit not in units:
            per_gpu = "gpu" in price.unit.casefold() or "accelerator" in price.unit.casefold()
            message = f"{price.kind} prices have the unit {' or '.join(units)}, not {price.unit or 'none'}"
            fix = "multiply by the accelerators of the type" if per_gpu else f"convert the price to USD per {units[0]}"
            yield Finding("price-unit", message, (*price.path[:2], "unit"), fix)
            continue
        kind = instances().get(price.name)
        accelerators = kind.accelerators if kind is not None and price.unit == "instance-hour" else None
        if accelerators is not None:
            band = checks.accelerator_hour.get(price.kind, {}).get(accelerators.type)
            count, unit = accelerators.count, f"{accelerators.type}-hour"
        else:
            band, count, unit = checks.unit_bands.get(price.unit), 1, price.unit
        low, high = price.low / count, price.high / count
        if band is None or high == 0 or (band[0] <= low and high <= band[1]):
            continue
        message = (
            f"{price.kind} of {price.name} in {price.region}: {price.usd} a {price.unit}"
            + (f" is ${low:.3g}" + (f" to ${high:.3g}" if low != high else "") + f" a {unit}" if count > 1 else "")
            + f", outside ${band[0]:g} to ${band[1]:g}"
        )
        yield Finding("price-unit", message, price.path, _conversion(low, high, band, count))


def mixed_units(book: PriceBook, reference: PriceBook) -> Iterator[Finding]:
    """Yield an error for a price that differs from another price of its item by the hours of a month, or by the number
    of accelerators of the type; and for an item in two units.
    """
    fewest, most = price_checks().month_hours
    known: dict[tuple[str, str], list[BookPrice]] = {}
    for price in (*reference.prices, *book.prices):
        known.setdefault((price.kind, price.name), []).append(price)
    for price in book.prices:
        kind = instances().get(price.name)
        count = kind.accelerators.count if kind is not None and kind.accelerators is not None else 1
        for other in known[price.kind, price.name]:
            if other.unit != price.unit:
                message = f"{price.name} is priced by the {price.unit} here, and by the {other.unit} in {other.source}"
                yield Finding("price-unit", message, (*price.path[:2], "unit"), "use one unit for an item")
                break
            if not price.high or not other.high:
                continue
            ratio = price.high / other.high
            if fewest <= ratio <= most or fewest <= 1 / ratio <= most:
                message = f"{price.name}: {price.usd} and {other.usd} ({other.day}) differ by the hours of a month"
                fix = f"convert the price to USD per {price.unit}"
            elif price.kind != "spot" and count >= _LEAST_COUNT and _is_near(min(ratio, 1 / ratio) * count, 1):
                message = (
                    f"{price.name}: {price.usd} and {other.usd} ({other.day}) differ by its {count} accelerators: "
                    "one is per accelerator"
                )
                fix = "multiply the price of one accelerator by their number"
            else:
                continue
            yield Finding("price-unit", message, price.path, fix)
            break


def _is_near(value: float, target: float) -> bool:
    return abs(value - target) <= _TOLERANCE


def _conversion(low: float, high: float, band: tuple[float, float], count: int) -> str:
    """Return the fix that brings a price into its band, if a usual mistake explains it."""
    month = price_checks().month_hours[0]
    for factor, words in (
        (count, "per accelerator"),
        (1 / month, "per month"),
        (month, "divided by the hours of a month"),
    ):
        if factor != 1 and band[0] <= low * factor and high * factor <= band[1]:
            return f"the price looks as if it were {words}: convert it"
    return "check the amount and the unit in its source"
