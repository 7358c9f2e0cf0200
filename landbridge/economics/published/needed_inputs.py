"""Inputs that a row of a published model needs and does not have."""

from landbridge.economics.published.model import PublishedRow, TermValue
from landbridge.economics.published.quantities import Quantity
from landbridge.economics.published.terms import RESULTS


def missing_inputs(row: PublishedRow) -> list[tuple[str, str]]:
    """Return a message and a fix for each input that the result or another input needs."""
    present, missing = set(row.inputs), list[tuple[str, str]]()
    for group in RESULTS[row.computes].needs:
        if not present.intersection(group):
            missing.append((f"{row.computes} needs {' or '.join(group)}", f"add {group[0]} to inputs"))
    values = [item for value in row.inputs.values() for item in _quantities(value)]
    # The price for a kW of space may contain the electricity.
    is_by_power = any(item.dimension == "rate for a kW" for item in values)
    pairs = [] if is_by_power else [("power", "electricity")]
    pairs += [("electricity", "power"), ("staff", "salary"), ("salary", "staff")]
    pairs += [("idle_power", "power"), ("pue", "power"), ("debt", "capex"), ("maintenance", "capex")]
    if row.computes not in ("payment", "interest", "sum", "monthly_sum", "share_of_sum", "ratio_of_sums"):
        pairs += [("residual", "horizon"), ("interest", "horizon"), ("payment", "horizon")]
        if row.computes.startswith(("owned", "saving", "cost_ratio", "breakeven_")):
            pairs += [("capex", "horizon")]
        pairs += [("cloud_once", "horizon")] if row.computes != "breakeven" else []
    elif row.computes in ("payment", "interest") and not present.intersection(("debt", "horizon")):
        missing.append((f"{row.computes} needs debt or horizon", "add debt to inputs"))
    if any(item.dimension == "gpu rate" for item in values) and "gpus" not in present:
        missing.append(("a price for a GPU needs gpus", "add gpus to inputs"))
    if is_by_power and "power" not in present:
        missing.append(("a price for a kW needs power", "add power to inputs"))
    for term, other in pairs:
        if term in present and other not in present:
            missing.append((f"{term} needs {other}", f"add {other} to inputs"))
    return list(dict.fromkeys(missing))


def _quantities(value: TermValue) -> tuple[Quantity, ...]:
    if isinstance(value, Quantity):
        return (value,)
    return tuple(value.values()) if isinstance(value, dict) else value
