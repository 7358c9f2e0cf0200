"""HTML page of a report: one file without scripts and without references to other files or addresses."""

from collections.abc import Iterator
from html import escape
from importlib.resources import files

from landbridge.report.content import Bar, Curve, Figure, FigureRow, Grid, Report, Section, Table

#: Steps of colour of a grid, from the smallest values to the largest.
SHADES = 3
_CURVE_WIDTH, _CURVE_HEIGHT = 1000, 240


def html(report: Report) -> str:
    """Return the page."""
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    title = f"Costs of {report.subject}"
    links = "".join(f'<li><a href="#{section.key}">{escape(section.title)}</a></li>' for section in report.sections)
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>',
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
        '<meta name="color-scheme" content="light dark"/>',
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>",
        '<a class="skip" href="#content">Skip to the content</a>',
        f"<header><h1>{escape(title)}</h1><p>Made on {escape(report.day)}. Amounts are in US dollars.</p></header>",
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n<main id="content">',
        *(part for section in report.sections for part in _section(section)),
        *_assumptions(report.assumptions),
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


def _section(section: Section) -> Iterator[str]:
    yield f'<section id="{section.key}" aria-labelledby="{section.key}-title">'
    yield f'<h2 id="{section.key}-title">{escape(section.title)}</h2>'
    for sentence in section.summary:
        yield f"<p>{escape(sentence)}</p>"
    for figure in section.figures:
        yield from _figure(figure)
    if section.sources:
        items = "".join(f"<li>{escape(source)}</li>" for source in section.sources)
        yield f"<details><summary>Prices and sources</summary><ul>{items}</ul></details>"
    yield "</section>"


def _assumptions(assumptions: tuple[str, ...]) -> Iterator[str]:
    if assumptions:
        items = "".join(f"<li>{escape(text)}</li>" for text in assumptions)
        yield '<section id="assumptions" aria-labelledby="assumptions-title">'
        yield f'<h2 id="assumptions-title">Assumptions</h2><ul>{items}</ul></section>'


def _figure(figure: Figure) -> Iterator[str]:
    if isinstance(figure, Table):
        yield from _table(figure)
    elif isinstance(figure, Grid):
        yield from _grid(figure)
    else:
        yield from _curve(figure)


def _table(table: Table) -> Iterator[str]:
    has_bars = any(row.bar is not None for row in table.rows)
    heads = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in table.headings)
    yield f"{_wide(table.caption)}<table><caption>{escape(table.caption)}</caption>"
    # The bars repeat the values, so screen readers skip them.
    yield f"<thead><tr>{heads}{'<td></td>' * has_bars}</tr></thead><tbody>"
    for row in table.rows:
        yield _row(row, table.scale, has_bars)
    yield "</tbody></table></div>"


def _wide(caption: str) -> str:
    """Return the start of a region that scrolls sideways in a narrow window, by keyboard too."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{escape(caption)}">'


def _row(row: FigureRow, scale: tuple[float, float], has_bars: bool) -> str:
    cells = "".join(f"<td>{escape(value)}</td>" for value in row.values)
    bar = ""
    if has_bars:
        bar = f'<td class="bar" aria-hidden="true">{_bar(row.bar, scale) if row.bar is not None else ""}</td>'
    kind = ' class="total"' if row.is_total else ""
    return f'<tr{kind}><th scope="row">{escape(row.heading)}</th>{cells}{bar}</tr>'


def _bar(bar: Bar, scale: tuple[float, float]) -> str:
    low, high = scale
    length = high - low or 1.0
    start, end = sorted((bar.start, bar.end))
    style = f"margin-left:{100 * (start - low) / length:.2f}%;width:{100 * (end - start) / length:.2f}%"
    mark = ""
    if bar.mark is not None:
        mark = f'<i style="left:{100 * (bar.mark - low) / length:.2f}%"></i>'
    return f'<span class="track"><b class="series{bar.series}" style="{style}"></b>{mark}</span>'


def _grid(grid: Grid) -> Iterator[str]:
    heads = "".join(f'<th scope="col">{escape(column)}</th>' for column in grid.columns)
    yield f'{_wide(grid.caption)}<table class="grid"><caption>{escape(grid.caption)}</caption>'
    yield f'<thead><tr><th scope="col">{escape(grid.corner)}</th>{heads}</tr></thead><tbody>'
    for heading, values in grid.rows:
        cells = "".join(f'<td class="{_shade(value, grid.largest)}">{value:,.0f}</td>' for value in values)
        yield f'<tr><th scope="row">{escape(heading)}</th>{cells}</tr>'
    yield "</tbody></table></div>"
    keys = (("positive3", grid.positive), ("negative3", grid.negative))
    items = "".join(f'<li><span class="key {name}"></span>{escape(words)}</li>' for name, words in keys)
    yield f'<ul class="legend">{items}</ul>'


def _shade(value: float, largest: float) -> str:
    if not largest or not value:
        return ""
    step = min(SHADES, 1 + int(SHADES * abs(value) / largest))
    return f"{'positive' if value > 0 else 'negative'}{step}"


def _curve(curve: Curve) -> Iterator[str]:
    top = curve.top or 1.0
    width = _CURVE_WIDTH / max(1, len(curve.values))
    points = [f"0,{_CURVE_HEIGHT}"]
    for number, value in enumerate(curve.values):
        y = _CURVE_HEIGHT * (1 - value / top)
        points += [f"{number * width:.1f},{y:.1f}", f"{(number + 1) * width:.1f},{y:.1f}"]
    points.append(f"{_CURVE_WIDTH},{_CURVE_HEIGHT}")
    words = "; ".join(f"{level.name}: {level.value:,.0f}" for level in curve.levels)
    label = f"{curve.caption}. Largest value {max(curve.values, default=0):,.0f} {curve.unit}. {words}"
    yield f"<figure><figcaption>{escape(curve.caption)}</figcaption>"
    yield f'<div class="curve"><span class="top">{top:,.0f} {escape(curve.unit)}</span>'
    yield (
        f'<svg viewBox="0 0 {_CURVE_WIDTH} {_CURVE_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(label)}"><polygon class="area" points="{" ".join(points)}"/>'
    )
    for level in curve.levels:
        y = _CURVE_HEIGHT * (1 - level.value / top)
        yield f'<line class="line{level.series}" x1="0" x2="{_CURVE_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
    days = f"<span>{escape(curve.first_day)}</span><span>{escape(curve.last_day)}</span>"
    yield f'</svg><p class="days">{days}</p></div>'
    items = "".join(
        f'<li><span class="key line {"ink" if level.series == 1 else f"series{level.series}"}"></span>'
        f"{escape(level.name)}: {level.value:,.0f}</li>"
        for level in curve.levels
    )
    yield f'<ul class="legend"><li><span class="key series1"></span>{escape(curve.unit)} in use</li>{items}</ul></figure>'
