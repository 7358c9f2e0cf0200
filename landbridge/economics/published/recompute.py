"""Published values beside their recomputation, with the difference and whether it is within the printed rounding."""

from dataclasses import dataclass
from math import isfinite

from landbridge.economics.published.formulas import FORMULAS, ModelInputs, NoResultError
from landbridge.economics.published.model import PublishedModel, PublishedRow, Rounding, TermValue
from landbridge.economics.published.model_file import NEVER
from landbridge.economics.published.quantities import Quantity, factor
from landbridge.findings import Finding, Severity
from landbridge.plan.cost.bill_lines import HOURS_PER_MONTH

#: Part of the rounding unit that floating-point numbers may be off.
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Printed value of a row, or of one point of a curve, and its recomputation in the same unit. None: never, or no
    result for the `reason`.
    """

    row: PublishedRow
    point: int | None
    printed: float | None
    unit: str
    recomputed: float | None
    within_rounding: bool
    reason: str | None = None

    @property
    def difference(self) -> float | None:
        """Recomputed less printed value."""
        return None if self.recomputed is None or self.printed is None else self.recomputed - self.printed


def recompute(model: PublishedModel) -> tuple[Recomputed, ...]:
    """Return every printed value of a model beside its recomputation, in the order of the file."""
    return tuple(_point(row, index, printed) for row in model.rows for index, printed in enumerate(row.printed))


def disagreements(model: PublishedModel, recomputed: tuple[Recomputed, ...]) -> tuple[Finding, ...]:
    """Return a finding for each value that does not follow from the inputs, unless the file states it."""
    findings: list[Finding] = []
    for item in recomputed:
        path = (
            (*item.row.path, "printed") if len(item.row.printed) == 1 else (*item.row.path, "printed", item.point or 0)
        )
        place = (model.source.file, *model.source.locate(path))
        if not item.within_rounding and item.row.disagreement is None:
            value = item.reason or f"recomputes to {shown(item.recomputed)} {item.unit}"
            message = f"{item.row.name}: {shown(item.printed)} {item.unit} {value}"
            fix = "correct the inputs, or state the reason as disagreement:"
            findings.append(Finding("not-reproduced", message, path, fix).at(*place))
    for row in model.rows:
        points = [item for item in recomputed if item.row is row]
        if row.disagreement is not None and all(item.within_rounding for item in points):
            message = f"{row.name}: the values agree, and the file states a disagreement"
            path = (*row.path, "disagreement")
            finding = Finding("no-disagreement", message, path, "remove it", Severity.WARNING)
            findings.append(finding.at(model.source.file, *model.source.locate(path)))
    return tuple(findings)


def shown(value: float | None) -> str:
    """Return a number with at most four decimals."""
    # Adding 0.0 makes a negative zero positive.
    return NEVER if value is None else f"{round(value, 4) + 0.0:,.4f}".rstrip("0").rstrip(".")


def _point(row: PublishedRow, index: int, printed: Quantity) -> Recomputed:
    point, inputs = (index if len(row.printed) > 1 else None), _inputs(row, index)
    to_base = factor(printed.unit, inputs.hours_per_month)
    number = printed.number if isfinite(printed.number) else None
    try:
        value = FORMULAS[row.computes](inputs) / to_base
    except NoResultError as error:
        return Recomputed(row, point, number, printed.unit, None, within_rounding=number is None, reason=str(error))
    if number is None:
        return Recomputed(row, point, None, printed.unit, value, within_rounding=False)
    rounded_to = row.rounded_to if row.rounded_to is not None else printed.digit
    is_within = _within(value, printed.number, rounded_to, row.rounded)
    return Recomputed(row, point, number, printed.unit, value, within_rounding=is_within)


def _within(value: float, printed: float, rounded_to: float, rounded: Rounding) -> bool:
    """Return true if `printed` is `value`, rounded to a multiple of `rounded_to`."""
    low, high = {"nearest": (0.5, 0.5), "down": (0.0, 1.0), "up": (1.0, 0.0)}[rounded]
    slack = _TOLERANCE * rounded_to
    return printed - low * rounded_to - slack <= value <= printed + high * rounded_to + slack


def _inputs(row: PublishedRow, index: int) -> ModelInputs:
    chosen = {name: _at(value, index) for name, value in row.inputs.items()}
    hours = sum(part.base(HOURS_PER_MONTH) for part in chosen.get("hours_per_month", ())) or HOURS_PER_MONTH
    gpus = sum(part.number for part in chosen.get("gpus", ()))
    power = sum(part.base(hours) for part in chosen.get("power", ()))
    scale = {"gpu rate": gpus, "rate for a kW": power}
    values = {
        name: sum(part.base(hours) * scale.get(part.dimension, 1.0) for part in parts) for name, parts in chosen.items()
    }
    debt = chosen.get("debt", chosen.get("horizon", ()))
    months = sum(part.base(HOURS_PER_MONTH) for part in debt) / HOURS_PER_MONTH
    return ModelInputs(values, hours, months, row.always_billed)


def _at(value: TermValue, index: int) -> tuple[Quantity, ...]:
    """Return the quantities of a term at one point of a curve."""
    if isinstance(value, Quantity):
        return (value,)
    return tuple(value.values()) if isinstance(value, dict) else (value[index],)
