"""Boxes in boxes as SVG: sizes from the texts inside, rows from left to right, nothing on top of anything else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

# Pixels; a character of a sans-serif font is about 0.56 of its size wide, of a bold one 0.6.
_TITLE, _TEXT = 14, 12
_TITLE_WIDTH, _TEXT_WIDTH = 0.60 * _TITLE, 0.56 * _TEXT
_LINE, _PAD, _GAP = 17, 12, 12

#: Fill and border by kind of box.
COLOURS = {
    "site": ("#f4f1ea", "#8a7a5c"),
    "cloud": ("#fff7ec", "#d9822b"),
    "vpc": ("#f2f0fb", "#7a5cc7"),
    "zone": ("#fbfaff", "#a99bdc"),
    "compute": ("#e7f4e8", "#3c8d40"),
    "storage": ("#e6f1fb", "#2f6fb0"),
    "service": ("#ffffff", "#9aa0a6"),
    "guard": ("#fdecec", "#c04a4a"),
}


@dataclass
class Box:
    """A title, lines of text, and below them rows of boxes."""

    title: str
    lines: Sequence[str] = ()
    rows: Sequence[Sequence["Box"]] = ()
    kind: str = "service"
    width: float = field(default=0, init=False)
    height: float = field(default=0, init=False)

    def measure(self) -> None:
        """Give this box and all inside it the size that they need."""
        texts = [len(self.title) * _TITLE_WIDTH, *(len(line) * _TEXT_WIDTH for line in self.lines)]
        self.height = _PAD + _LINE * (1 + len(self.lines)) + _PAD / 2
        widths = [max(texts)]
        for row in self.rows:
            for box in row:
                box.measure()
            tallest = max(box.height for box in row)
            for box in row:
                box.height = tallest
            widths.append(sum(box.width for box in row) + _GAP * (len(row) - 1))
            self.height += tallest + _GAP
        self.width = max(widths) + 2 * _PAD
        for row in self.rows:
            # A row fills its box: the remaining width is divided among its boxes.
            extra = (self.width - 2 * _PAD - sum(box.width for box in row) - _GAP * (len(row) - 1)) / len(row)
            for box in row:
                box.widen(box.width + extra)

    def widen(self, width: float) -> None:
        """Make the box wider, and its rows with it."""
        extra, self.width = width - self.width, width
        for row in self.rows:
            for box in row:
                box.widen(box.width + extra / len(row))

    def draw(self, x: float, y: float) -> Iterator[str]:
        """Yield SVG elements, with the upper left corner at (x, y)."""
        fill, border = COLOURS[self.kind]
        yield (
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{self.width:.0f}" height="{self.height:.0f}" rx="6" '
            f'fill="{fill}" stroke="{border}" stroke-width="1.5"/>'
        )
        baseline = y + _PAD + _TITLE - 2
        yield _text(x + _PAD, baseline, self.title, _TITLE, bold=True)
        for line in self.lines:
            baseline += _LINE
            yield _text(x + _PAD, baseline, line, _TEXT)
        top = y + _PAD + _LINE * (1 + len(self.lines)) + _PAD / 2
        for row in self.rows:
            left = x + _PAD
            for box in row:
                yield from box.draw(left, top)
                left += box.width + _GAP
            top += max(box.height for box in row) + _GAP


def page(title: str, site: Box | None, link: Sequence[str], cloud: Box) -> str:
    """Return the whole picture: the site on the left, the link's lines of text between, AWS on the right."""
    cloud.measure()
    left, gap = 0.0, 0.0
    if site is not None:
        site.measure()
        left = site.width
        gap = max(len(line) for line in link) * _TEXT_WIDTH + 40
    width = left + gap + cloud.width + 2 * _PAD
    height = max(site.height if site else 0, cloud.height) + 2 * _PAD + 30
    top = 30 + _PAD
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" font-family="Helvetica, Arial, sans-serif" role="img">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        _text(_PAD, _PAD + 14, title, 18, bold=True),
    ]
    if site is not None:
        parts += site.draw(_PAD, top)
        parts += _arrow(_PAD + left, _PAD + left + gap, top + 60, link)
    parts += cloud.draw(_PAD + left + gap, top)
    return "\n".join([*parts, "</svg>", ""])


def _arrow(start: float, end: float, y: float, lines: Sequence[str]) -> Iterator[str]:
    """Yield a double arrow with its lines of text below it."""
    tip = 8
    yield (
        f'<path d="M{start + 2:.0f} {y:.0f} L{end - 2:.0f} {y:.0f}" stroke="#444444" stroke-width="2" fill="none"/>'
        f'<path d="M{start + 2:.0f} {y:.0f} l{tip} -5 l0 10 z M{end - 2:.0f} {y:.0f} l-{tip} -5 l0 10 z" fill="#444444"/>'
    )
    for number, line in enumerate(lines, start=1):
        yield _text(start + 20, y + 4 + _LINE * number, line, _TEXT)


def _text(x: float, y: float, text: str, size: int, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}"{weight} fill="#202124">{escape(text)}</text>'
