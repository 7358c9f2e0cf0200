"""Page of a report: well-formed, complete without other files, readable in light and dark, and its bars are its figures."""

import re
from importlib.resources import files
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.report.content import Bar, Curve, CurveLine, FigureRow, Grid, Report, Section, Table
from landbridge.report.page import SHADES, html

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=20)
NUMBER = st.floats(-1e9, 1e9)


def tree(page: str) -> ElementTree.Element:
    """Return the page as XML: each element that is opened is closed."""
    return ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>\n"))


def page_of(*figures: Table | Grid | Curve) -> ElementTree.Element:
    return tree(html(Report("acme", "2026-11-25", [Section("one", "One", ("A sentence.",), figures)])))


def width(element: ElementTree.Element) -> float:
    matched = re.search(r"width:([\d.]+)%", element.get("style", ""))
    assert matched is not None
    return float(matched[1])


def test_bars_of_a_table_have_one_scale_from_zero() -> None:
    rows = (
        FigureRow("a", ("200",), Bar(0, 200)),
        FigureRow("b", ("50",), Bar(0, 50)),
        FigureRow("all", ("250",), is_total=True),
    )
    page = page_of(Table("Costs", ("", "USD"), rows))
    assert [width(bar) for bar in page.iter("b")] == [100.0, 25.0]
    assert [cell.text for cell in page.iter("td") if cell.text] == ["200", "50", "250"]
    assert page.find(".//tr[@class='total']/th").text == "all"  # type: ignore[union-attr]


def test_a_negative_bar_ends_where_positive_ones_begin() -> None:
    page = page_of(
        Table("Terms", ("", "USD"), (FigureRow("a", ("30",), Bar(0, 30)), FigureRow("b", ("-10",), Bar(0, -10))))
    )
    positive, negative = page.iter("b")
    assert positive.get("style") == "margin-left:25.00%;width:75.00%"
    assert negative.get("style") == "margin-left:0.00%;width:25.00%"


def test_a_bar_of_a_range_has_a_mark() -> None:
    page = page_of(
        Table(
            "Sensitivity", ("", ""), (FigureRow("a", ("",), Bar(2, 6, 3, 3)), FigureRow("b", ("",), Bar(4, 10, 3, 4)))
        )
    )
    assert [mark.get("style") for mark in page.iter("i")] == ["left:12.50%", "left:25.00%"]


def test_a_mark_beyond_its_bar_is_on_the_scale() -> None:
    page = page_of(Table("Waits", ("", ""), (FigureRow("a", ("",), Bar(0, 4, 2, 16)),)))
    assert [mark.get("style") for mark in page.iter("i")] == ["left:100.00%"]
    assert [width(bar) for bar in page.iter("b")] == [25.0]


@given(st.lists(NUMBER, min_size=1, max_size=6))
def test_colours_of_a_grid_follow_sign_and_size(values: list[float]) -> None:
    page = page_of(Grid("Saving", "used", tuple("m" for _ in values), (("10%", tuple(values)),), "own", "rent"))
    largest = max(map(abs, values))
    for cell, value in zip(page.find(".//tbody").iter("td"), values, strict=True):  # type: ignore[union-attr]
        name = cell.get("class", "")
        assert cell.text == f"{value:,.0f}"
        assert name.startswith("positive") if value > 0 else name.startswith("negative") if value < 0 else not name
        assert abs(value) < largest or not name or name.endswith(str(SHADES))


def test_a_curve_is_described_in_words() -> None:
    curve = Curve("GPUs needed", (4.0, 8.0, 2.0), "2026-01-01", "2026-03-01", "GPUs", (CurveLine("owned now", 6, 2),))
    page = page_of(curve)
    label = page.find(".//svg").get("aria-label", "")  # type: ignore[union-attr]
    assert "GPUs needed" in label and "Largest value 8 GPUs" in label and "owned now: 6" in label
    line = page.find(".//line")
    assert line is not None and line.get("y1") == line.get("y2") == "60.0"  # 240 high: a quarter below the top
    points = [tuple(map(float, point.split(","))) for point in page.find(".//polygon").get("points", "").split()]  # type: ignore[union-attr]
    assert min(y for _, y in points) == 0 and max(x for x, _ in points) == 1000


@given(TEXT, TEXT, NUMBER, NUMBER)
def test_any_text_and_any_number_give_a_well_formed_page(title: str, text: str, first: float, second: float) -> None:
    table = Table(text, (text, text), (FigureRow(title, (text,), Bar(first, second)),))
    grid = Grid(text, title, (text,), ((title, (first,)),), text, text)
    curve = Curve(title, (abs(first),), text, text, text, (CurveLine(title, abs(second), 2),))
    report = Report(title, text, [Section("one", title, (text,), (table, grid, curve), (text,))], (text,))
    page = tree(html(report))
    assert page.find(".//h1").text == f"Costs of {title}"  # type: ignore[union-attr]
    assert all(0 <= width(bar) <= 100.01 for bar in page.iter("b"))


def test_the_page_needs_no_other_file_and_runs_no_script() -> None:
    page = html(Report("acme", "2026-11-25", [Section("one", "One", ("A sentence.",))]))
    assert "<script" not in page and "http" not in page and "url(" not in page and "@import" not in page
    for element in tree(page).iter():
        for name in ("src", "href"):
            assert element.get(name, "#").startswith("#"), element.attrib


def test_headings_sections_and_links_agree() -> None:
    sections = [Section(f"s{number}", f"Section {number}", ()) for number in range(3)]
    page = tree(html(Report("acme", "2026-11-25", sections, ("nothing fails",))))
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    links = [link.get("href", "").removeprefix("#") for link in page.iter("a")]
    assert links == ["content", "s0", "s1", "s2"] and set(links) <= set(ids)
    for section in page.iter("section"):
        assert section.get("aria-labelledby") in ids
    assert page.get("lang") == "en" and page.find(".//meta[@name='viewport']") is not None


def themes() -> list[dict[str, str]]:
    """Return the colours by name: the light theme, and the dark one."""
    style = files("landbridge.report").joinpath("style.css").read_text()
    palettes = [
        dict(re.findall(r"--([a-z]+\d?): (#[0-9a-f]{6})", block)) for block in re.findall(r":root \{([^}]*)\}", style)
    ]
    assert len(palettes) == 2 and palettes[0].keys() == palettes[1].keys()
    return palettes


def luminance(colour: str) -> float:
    """Return the relative luminance. Source: WCAG 2.2, definition of relative luminance."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_and_bars_have_the_contrast_of_wcag_aa(theme: int) -> None:
    colours = themes()[theme]
    for name in ("ink", "quiet", "link"):
        assert contrast(colours[name], colours["page"]) >= 4.5, name
    for name in ("series1", "series2", "series3"):
        assert contrast(colours[name], colours["page"]) >= 3.0, name
    for sign in ("positive", "negative"):
        for step in range(1, SHADES + 1):
            assert contrast(colours["ink"], colours[f"{sign}{step}"]) >= 4.5, f"{sign}{step}"
