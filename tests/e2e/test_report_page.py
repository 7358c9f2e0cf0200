"""The page of `landbridge report` in a real browser: widths, colour schemes, keyboard, contrast, and print."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from typer.testing import CliRunner

from landbridge.cli.main import build
from tests.e2e.support.browser import WIDTHS, chromium, opened, violations
from tests.unit.core.samples import ROOT
from tests.unit.economics.job_costs import recorded
from tests.unit.simulation.queues import TRACE


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page for a hybrid site with a recorded queue: every section and chart."""
    out = tmp_path_factory.mktemp("report") / "report.html"
    file = ROOT / "stacks" / "Pulumi.hybrid.yaml"
    words = ["report", "--file", str(file), "--trace", str(TRACE), "--out", str(out)]
    done = CliRunner().invoke(build(), words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return out


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_its_window_and_passes_axe(browser: Browser, report: Path, width: int, theme: str) -> None:
    with opened(browser, report, width, theme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
        assert violations(page) == []
        hidden = page.locator("section >> visible=false").count()
        assert hidden == 0 and page.locator("section").count() >= 5
        page.screenshot(path=report.with_name(f"report-{width}-{theme}.png"), full_page=True)


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (820, "light"), (1280, "light")])
def test_the_page_of_a_user_fits_its_window_and_passes_axe(
    browser: Browser, tmp_path: Path, width: int, theme: str
) -> None:
    out = tmp_path / "user.html"
    words = ["cost", "jobs", "--user", "bob", "--month", recorded.MONTH, *recorded.write(tmp_path), "--page", str(out)]
    done = CliRunner().invoke(build(), words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    with opened(browser, out, width, theme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
        assert violations(page) == []
        assert page.locator("section h2").all_inner_texts() == ["Cost", "GPUs", "Jobs"]
        page.screenshot(path=tmp_path / f"user-{width}-{theme}.png", full_page=True)


def test_the_dark_page_is_dark(browser: Browser, report: Path) -> None:
    def background(page: Page) -> list[int]:
        text = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        return [int(channel) for channel in text.removeprefix("rgb(").removesuffix(")").split(",")]

    with opened(browser, report, 1280, "light") as light, opened(browser, report, 1280, "dark") as dark:
        assert min(background(light)) > 200 and max(background(dark)) < 60


def test_every_link_and_table_is_reached_by_keyboard(browser: Browser, report: Path) -> None:
    with opened(browser, report, 1280) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.locator(".skip").bounding_box()["x"] >= 0, "the first link is visible when it has the focus"  # type: ignore[index]
        reached = 1
        expected = page.locator("a, summary, .wide").count()
        for _ in range(expected - 1):
            page.keyboard.press("Tab")
            tag, outline = page.evaluate(
                "[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]"
            )
            reached += tag in ("A", "SUMMARY", "DIV")
            assert outline == "solid", f"{tag} shows no focus"
        assert reached == expected
        details = page.locator("details").first
        summary = details.locator("summary")
        before = details.evaluate("element => element.open")
        summary.focus()
        page.keyboard.press("Enter")
        assert details.evaluate("element => element.open") is not before


def test_a_link_of_the_navigation_leads_to_its_section(browser: Browser, report: Path) -> None:
    with opened(browser, report, 390) as page:
        link = page.locator("nav a").last
        target = link.get_attribute("href") or ""
        link.focus()
        page.keyboard.press("Enter")
        page.wait_for_url(f"**{target}")
        assert page.locator(target).evaluate("element => Math.abs(element.getBoundingClientRect().top)") < 900


def test_the_printed_page_has_all_data_and_no_navigation(browser: Browser, report: Path) -> None:
    with opened(browser, report, 794, media="print") as page:  # A4 in CSS pixels
        assert page.locator("nav").is_hidden()
        heights = page.evaluate("[...document.querySelectorAll('details')].map(e => e.getBoundingClientRect().height)")
        summary = page.locator("summary").first.evaluate("element => element.getBoundingClientRect().height")
        assert heights and min(heights) > 1.5 * summary, "closed details are printed too"
        assert page.evaluate("document.documentElement.scrollWidth") <= 794
        printed = page.pdf(format="A4", path=report.with_suffix(".pdf"))
        assert printed.startswith(b"%PDF-") and printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") >= 3
