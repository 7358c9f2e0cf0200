"""Chart of a replay as SVG: GPUs in use by site, waiting jobs, and their mean wait, over the days of the queue."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from landbridge.simulation.report import wait_seconds
from landbridge.simulation.result import SimulationResult
from landbridge.simulation.scenario import Scenario

_WIDTH, _HEIGHT = 900, 190  # of a panel
_LEFT, _TOP, _GAP, _RIGHT = 80, 60, 58, 20
_SITE, _CLOUD, _WITHOUT = "#8a7a5c", "#d9822b", "#7a5cc7"
_GRID, _TEXT = "#dadce0", "#202124"
_COLUMNS = 240
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Curve:
    points: Sequence[Point]
    colour: str
    words: str
    filled: bool = False
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class _Panel:
    title: str
    curves: Sequence[_Curve]


def picture(scenario: Scenario, bursting: SimulationResult, without: SimulationResult) -> str:
    """Return the SVG. Each point of a curve is the mean of the samples in one column."""
    first, last = bursting.tasks[0].submitted, max(bursting.ended, bursting.tasks[0].submitted + 1)
    gpus = [
        _Curve(
            _means([(sample.at, sample.onprem + sample.aws) for sample in bursting.samples], first, last),
            _CLOUD,
            "in AWS",
            filled=True,
        ),
        _Curve(
            _means([(sample.at, sample.onprem) for sample in bursting.samples], first, last),
            _SITE,
            "on-prem",
            filled=True,
        ),
    ]
    site_gpus = scenario.onprem_gpus
    size = _Curve([(first, site_gpus), (last, site_gpus)], _TEXT, f"the site has {site_gpus}", dashed=True)
    jobs = [
        _Curve(
            _means([(sample.at, sample.waiting) for sample in without.samples], first, last),
            _WITHOUT,
            "without bursting",
        ),
        _Curve(
            _means([(sample.at, sample.waiting) for sample in bursting.samples], first, last),
            _CLOUD,
            "with bursting",
        ),
    ]
    hours = [
        _Curve(_hours(without, first), _WITHOUT, "without bursting"),
        _Curve(_hours(bursting, first), _CLOUD, "with bursting"),
    ]
    panels = [
        _Panel("GPUs in use", [*gpus, size]),
        _Panel("Jobs that wait", jobs),
        _Panel("Mean wait in hours, by the day of submission", hours),
    ]
    return _page(f"{scenario.name}: {len(bursting.tasks):,} jobs replayed", panels, first, last)


def _means(samples: Sequence[Point], first: float, last: float) -> list[Point]:
    width = (last - first) / _COLUMNS
    sums = [(0.0, 0)] * _COLUMNS
    for at, value in samples:
        column = int((at - first) / width)
        if 0 <= column < _COLUMNS:
            total, count = sums[column]
            sums[column] = total + value, count + 1
    return [(first + (column + 0.5) * width, total / count) for column, (total, count) in enumerate(sums) if count]


def _hours(result: SimulationResult, first: float) -> list[Point]:
    days: dict[int, list[int]] = {}
    for number, task in enumerate(result.tasks):
        days.setdefault(int((task.submitted - first) // 86_400), []).append(number)
    points = []
    for day, numbers in sorted(days.items()):
        values = wait_seconds(result, numbers)
        if values:
            points.append((first + (day + 0.5) * 86_400, sum(values) / len(values) / 3600))
    return points


def _page(title: str, panels: Sequence[_Panel], first: float, last: float) -> str:
    width = _LEFT + _WIDTH + _RIGHT
    height = _TOP + len(panels) * (_HEIGHT + _GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif" role="img">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        _text(12, 26, title, 18, bold=True),
    ]
    for number, panel in enumerate(panels):
        parts += _panel(panel, _TOP + number * (_HEIGHT + _GAP), first, last)
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: _Panel, top: float, first: float, last: float) -> Iterator[str]:
    values = [value for curve in panel.curves for _, value in curve.points]
    step = _step(max(values, default=1.0) or 1.0)
    top_value = step * max(1, -int(-max(values, default=1.0) // step))
    bottom = top + _HEIGHT

    def x(at: float) -> float:
        return _LEFT + _WIDTH * (at - first) / (last - first)

    def y(value: float) -> float:
        return bottom - _HEIGHT * value / top_value

    yield _text(_LEFT, top - 10, panel.title, 13, bold=True)
    legend_x = _LEFT + 7.2 * len(panel.title) + 40
    for curve in panel.curves:
        yield f'<rect x="{legend_x:.0f}" y="{top - 20:.0f}" width="12" height="10" fill="{curve.colour}"/>'
        yield _text(legend_x + 17, top - 10, curve.words, 12)
        legend_x += 17 + 6.4 * len(curve.words) + 18
    for number in range(round(top_value / step) + 1):
        at = y(number * step)
        yield f'<path d="M{_LEFT} {at:.1f} h{_WIDTH}" stroke="{_GRID}"/>'
        yield _text(_LEFT - 8, at + 4, f"{number * step:,.10g}", 11, anchor="end")
    for moment in _dates(first, last):
        yield f'<path d="M{x(moment):.1f} {bottom} v5" stroke="{_TEXT}"/>'
        yield _text(x(moment), bottom + 18, f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}", 11, anchor="middle")
    for curve in panel.curves:
        if curve.points:
            yield _drawn(curve, [(x(at), y(value)) for at, value in curve.points if at <= last], bottom)


def _drawn(curve: _Curve, points: Sequence[Point], bottom: float) -> str:
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    if curve.filled and points:
        area = f"{points[0][0]:.1f},{bottom} {line} {points[-1][0]:.1f},{bottom}"
        return f'<polygon points="{area}" fill="{curve.colour}" stroke="none"/>'
    dash = ' stroke-dasharray="6 4"' if curve.dashed else ""
    return f'<polyline points="{line}" fill="none" stroke="{curve.colour}" stroke-width="1.6"{dash}/>'


def _step(largest: float) -> float:
    """Return a round step of the axis, of which about four reach the largest value."""
    size = 1.0
    while size * 10 <= largest / 2:
        size *= 10
    while size > largest:
        size /= 10
    return next(size * factor for factor in (1, 2, 5, 10) if size * factor * 5 >= largest)


def _dates(first: float, last: float) -> Iterator[float]:
    days = max(1, round((last - first) / 86_400 / 7))
    at = -(-first // 86_400) * 86_400
    while at <= last:
        yield at
        at += days * 86_400


def _text(x: float, y: float, text: str, size: int, *, bold: bool = False, anchor: str = "start") -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}"{weight} text-anchor="{anchor}" fill="{_TEXT}">'
        f"{escape(text)}</text>"
    )
