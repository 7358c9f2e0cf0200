"""Reader of published models: YAML files of inputs and printed values. All mistakes are findings with their position."""

from dataclasses import dataclass, field
from datetime import date
from math import inf
from typing import Any

from landbridge.economics.published.model import PublishedModel, PublishedRow, Rounding, TermValue
from landbridge.economics.published.needed_inputs import missing_inputs
from landbridge.economics.published.quantities import UNITS, Quantity, factor, parse
from landbridge.economics.published.terms import INPUTS, RESULTS, InputTerm
from landbridge.environment.file.source import Source, read
from landbridge.findings import DataPath, Finding, did_you_mean, in_order
from landbridge.plan.cost.bill_lines import HOURS_PER_MONTH

_FILE_KEYS = ("title", "source", "url", "date", "confidence", "note", "inputs", "rows")
_ROW_KEYS = ("name", "computes", "billing", "inputs", "printed", "rounded_to", "rounded", "disagreement", "note")
_CONFIDENCE = ("primary", "secondary", "verify")
_ROUNDED: dict[str, Rounding] = {"nearest": "nearest", "down": "down", "up": "up"}
#: Printed value of a break-even that does not exist, and the unit by dimension of those that may have it.
NEVER = "never"
_NEVER_UNITS = {"time": "h", "share": "%", "hours a day": "h/day"}


def read_model(text: str | bytes, file: str) -> tuple[PublishedModel | None, tuple[Finding, ...]]:
    """Return the model of a text, or None and all its findings. Never raises."""
    source = read(text, file)
    reader = _Reader(source)
    model = reader.model()
    findings = in_order([*source.findings, *reader.findings])
    return (None if findings else model), findings


@dataclass(slots=True)
class _Reader:
    source: Source
    findings: list[Finding] = field(default_factory=list)

    def report(self, rule: str, message: str, path: DataPath, fix: str | None = None, *, key: bool = False) -> None:
        """Add a finding at the position of `path`."""
        self.findings.append(Finding(rule, message, path, fix).at(self.source.file, *self.source.locate(path, key=key)))

    def model(self) -> PublishedModel | None:
        """Return the model; incomplete if there are findings."""
        data = self.source.data
        if not isinstance(data, dict):
            if not self.source.findings:
                self.report("wrong-type", "the file must be a mapping with title, source, date and rows", ())
            return None
        self._known(data, _FILE_KEYS, ())
        title, origin = self._text(data, "title", ()), self._text(data, "source", ())
        confidence = self._choice(data, "confidence", _CONFIDENCE, "secondary", ())
        inputs = self._inputs(data.get("inputs", {}), ("inputs",))
        rows = data.get("rows")
        if not isinstance(rows, list) or not rows:
            self.report("missing-key", "rows is missing: the results with their printed values", ("rows",))
            rows = []
        read_rows = [self._row(row, inputs, ("rows", index)) for index, row in enumerate(rows)]
        known_rows = tuple(row for row in read_rows if row is not None)
        published = self._date(data)
        if published is None:
            return None
        return PublishedModel(title, origin, published, confidence, known_rows, self.source)

    def _row(self, data: Any, shared: dict[str, TermValue], path: DataPath) -> PublishedRow | None:
        if not isinstance(data, dict):
            self.report("wrong-type", "a row must be a mapping with name, computes and printed", path)
            return None
        self._known(data, _ROW_KEYS, path)
        computes = self._choice(data, "computes", tuple(RESULTS), None, path)
        inputs = {**shared, **self._inputs(data.get("inputs", {}), (*path, "inputs"))}
        printed = self._printed(data, computes, path)
        row = PublishedRow(
            name=self._text(data, "name", path),
            computes=computes,
            always_billed=self._choice(data, "billing", ("used", "always"), "used", path) == "always",
            inputs=inputs,
            printed=printed,
            rounded_to=self._rounded_to(data, path),
            rounded=_ROUNDED.get(self._choice(data, "rounded", tuple(_ROUNDED), "nearest", path), "nearest"),
            disagreement=self._text(data, "disagreement", path) if "disagreement" in data else None,
            path=path,
        )
        if computes in RESULTS:
            self._check_inputs(row)
        return row

    def _inputs(self, data: Any, path: DataPath) -> dict[str, TermValue]:
        if not isinstance(data, dict):
            self.report("wrong-type", "inputs must be a mapping of terms", path)
            return {}
        values: dict[str, TermValue] = {}
        for name, value in data.items():
            term = INPUTS.get(name)
            if term is None:
                near = did_you_mean(str(name), INPUTS)
                fix = f'did you mean "{near}"?' if near else f"known terms: {', '.join(INPUTS)}"
                self.report("unknown-term", f'unknown term "{name}"', (*path, name), fix, key=True)
                continue
            read_value = self._term(value, name, term, (*path, name))
            if read_value is not None:
                values[name] = read_value
        return values

    def _term(self, value: Any, name: str, term: InputTerm, path: DataPath) -> TermValue | None:
        if isinstance(value, dict):
            if not term.parts:
                self.report("wrong-type", f"{name} is one quantity, it has no parts", path)
                return None
            parts = {key: self._input(item, name, term, (*path, key)) for key, item in value.items()}
            if not parts:
                self.report("wrong-type", f"{name} has no parts", path)
            return {key: item for key, item in parts.items() if item is not None}
        if isinstance(value, list):
            items = [self._input(item, name, term, (*path, index)) for index, item in enumerate(value)]
            if not items:
                self.report("wrong-type", f"{name} has no values", path)
            return tuple(item for item in items if item is not None)
        return self._input(value, name, term, path)

    def _input(self, value: Any, name: str, term: InputTerm, path: DataPath) -> Quantity | None:
        """Return the quantity of an input inside the term's limits."""
        quantity = self._quantity(value, term.dimensions, path)
        if quantity is None or term.limits is None:
            return quantity
        low, high, unit = term.limits
        number = quantity.base(HOURS_PER_MONTH) / factor(unit, HOURS_PER_MONTH)
        if low < number <= high or (number == low and not term.above_low):
            return quantity
        bounds = f"{'more than' if term.above_low else 'at least'} {low:g} and at most {high:g} {unit}"
        self.report("out-of-range", f"{name}: {value} is not possible", path, f"write {bounds}")
        return None

    def _quantity(self, value: Any, dimensions: tuple[str, ...], path: DataPath) -> Quantity | None:
        units = [unit for unit, (dimension, _) in UNITS.items() if dimension in dimensions]
        fix = f"write a number and one of the units {', '.join(units)}"
        parsed = parse(value) if isinstance(value, str) else f"{'' if value is None else value} has no unit".strip()
        if isinstance(parsed, str):
            self.report(
                "wrong-unit", f"{path[-1]}: {parsed}", path, f"{fix}; quote a number with a comma inside brackets"
            )
            return None
        if parsed.dimension not in dimensions:
            message = f"{path[-1]}: {parsed.unit} is a unit of {parsed.dimension}, not of {' or '.join(dimensions)}"
            self.report("wrong-unit", message, path, fix)
            return None
        if parsed.number < 0:
            self.report("out-of-range", f"{path[-1]}: {value} is negative", path, "write amounts to subtract in `less`")
            return None
        return parsed

    def _printed(self, data: dict[str, Any], computes: str, path: DataPath) -> tuple[Quantity, ...]:
        if "printed" not in data:
            self.report("missing-key", "printed is missing: the published value", path, "such as printed: 2,720 h")
            return ()
        shape = RESULTS.get(computes)
        if shape is None:
            return ()
        value, here = data["printed"], (*path, "printed")
        items = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        quantities = [
            self._printed_quantity(item, shape.dimension, here if index is None else (*here, index))
            for index, item in items
        ]
        return tuple(quantity for quantity in quantities if quantity is not None)

    def _printed_quantity(self, value: Any, dimension: str, path: DataPath) -> Quantity | None:
        if value == NEVER and dimension in _NEVER_UNITS:
            return Quantity(inf, _NEVER_UNITS[dimension], 1.0)
        # A printed saving may be negative.
        text = value.removeprefix("-") if isinstance(value, str) else value
        quantity = self._quantity(text, (dimension,), path)
        if quantity is None or text == value:
            return quantity
        return Quantity(-quantity.number, quantity.unit, quantity.digit)

    def _check_inputs(self, row: PublishedRow) -> None:
        path = (*row.path, "inputs")
        for message, fix in missing_inputs(row):
            self.report("missing-input", message, path, fix)
        lengths = {len(value) for value in row.inputs.values() if isinstance(value, tuple)}
        expected = len(row.printed)
        if lengths - {expected} or (not lengths and expected > 1):
            message = f"printed has {expected} values, and inputs with several values have {sorted(lengths) or 'none'}"
            self.report("wrong-type", message, (*row.path, "printed"), "write one printed value for each point")

    def _rounded_to(self, data: dict[str, Any], path: DataPath) -> float | None:
        value = data.get("rounded_to")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            self.report("out-of-range", f"rounded_to is {value}; more than 0 is possible", (*path, "rounded_to"))
            return None
        return float(value)

    def _date(self, data: dict[str, Any]) -> date | None:
        text = data.get("date")
        if text is None:
            self.report("missing-key", "date is missing: the day of the publication", (), "such as date: 2026-02-04")
            return None
        try:
            return date.fromisoformat(str(text))
        except ValueError:
            self.report("wrong-format", f"date: {text} is not a day", ("date",), "write a day, such as 2026-02-04")
            return None

    def _text(self, data: dict[str, Any], key: str, path: DataPath) -> str:
        value = data.get(key)
        if value is None or value == "":
            self.report("missing-key", f"{key} is missing", path, f"add {key}:")
        elif not isinstance(value, str):
            self.report("wrong-type", f"{key} must be text", (*path, key))
        return value if isinstance(value, str) else ""

    def _choice(
        self, data: dict[str, Any], key: str, choices: tuple[str, ...], default: str | None, path: DataPath
    ) -> str:
        value = data.get(key, default)
        if value is None:
            self.report("missing-key", f"{key} is missing", path, f"one of {', '.join(choices)}")
        elif value not in choices:
            near = did_you_mean(str(value), choices)
            fix = f'did you mean "{near}"?' if near else f"one of {', '.join(choices)}"
            self.report("unknown-value", f"{key}: {value} is not known", (*path, key), fix)
        return value if isinstance(value, str) else ""

    def _known(self, data: dict[str, Any], keys: tuple[str, ...], path: DataPath) -> None:
        for key in data:
            if key not in keys:
                near = did_you_mean(str(key), keys)
                fix = f'did you mean "{near}"?' if near else f"known here: {', '.join(keys)}"
                self.report("unknown-key", f'unknown key "{key}"', (*path, key), fix, key=True)
