"""Pages of the dashboards in a real browser, served by the real Prometheus with recorded series: values, widths, colours, keyboard, contrast."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from landbridge.catalog.observability.dashboards import dashboards
from tests.e2e.support.browser import WIDTHS, chromium, opened, violations
from tests.e2e.support.dashboard_site import served

READ = "body[data-read]"
THEMES = ("light", "dark")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of the pages."""
    with served(tmp_path_factory.mktemp("dashboards")) as address:
        yield address


def read(page: Page) -> None:
    """Wait until each panel has an answer; no answer may be an error."""
    page.wait_for_selector(READ)
    assert page.locator("text=not read").all_inner_texts() == []


@pytest.mark.parametrize("number", range(len(dashboards())))
def test_each_panel_of_a_page_has_values(browser: Browser, site: str, number: int, tmp_path: Path) -> None:
    name = list(dashboards())[number]
    width, theme = WIDTHS[number % len(WIDTHS)], THEMES[number % len(THEMES)]
    with opened(browser, f"{site}/{name}.html", width, theme) as page:
        read(page)
        titles = [panel.title for row in dashboards()[name].rows for panel in row]
        assert page.locator("section h2").all_inner_texts() == titles
        assert page.locator("section:has(.none) h2").all_inner_texts() == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
        assert page.locator("nav a[aria-current]").get_attribute("href") == f"{name}.html"
        page.screenshot(path=tmp_path / f"{name}-{width}-{theme}.png", full_page=True)


@pytest.mark.parametrize(
    ("name", "width", "theme"), [("overview", 390, "dark"), ("overview", 1280, "light"), ("gpu", 820, "dark")]
)
def test_pages_pass_axe_in_their_colours(browser: Browser, site: str, name: str, width: int, theme: str) -> None:
    with opened(browser, f"{site}/{name}.html", width, theme) as page:
        read(page)
        assert violations(page) == []
        text = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        channels = [int(channel) for channel in text.removeprefix("rgb(").removesuffix(")").split(",")]
        assert max(channels) < 60 if theme == "dark" else min(channels) > 200


def test_values_that_need_attention_are_marked_by_words(browser: Browser, site: str) -> None:
    with opened(browser, f"{site}/overview.html", 1280) as page:
        read(page)
        hosts = page.locator("section", has_text="Hosts that do not answer")
        assert hosts.locator(".value").inner_text() == "1" and "needs attention" in hosts.inner_text()
        running = page.locator("section", has_text="Running jobs")
        assert "needs attention" not in running.inner_text()
        alerts = page.locator("section", has=page.locator("h2", has_text="Alerts").filter(has_not_text="fire"))
        assert alerts.locator("tbody tr").all_inner_texts()[1].split() == [
            "ServiceHostDown",
            "db01",
            "operators",
            "page",
        ]


def test_links_period_and_tables_are_reached_by_keyboard(browser: Browser, site: str) -> None:
    with opened(browser, f"{site}/overview.html", 1280) as page:
        read(page)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        expected = page.locator("nav a, select, .wide").count()
        for number in range(expected):
            page.keyboard.press("Tab")
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline == "solid", f"element {number} shows no focus"
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Error budget left: series"
        page.locator("select").focus()
        page.keyboard.press("ArrowUp")
        page.wait_for_selector("body[data-read='2']")
        assert page.locator("select").input_value() == "21600"


def test_a_refused_query_is_shown_in_its_panel(browser: Browser, site: str) -> None:
    with opened(browser, "about:blank", 1280) as page:
        page.route(
            "**/api/v1/query?**slurm_jobs_running**", lambda route: route.fulfill(status=401, body="Unauthorized")
        )
        page.goto(f"{site}/overview.html")
        page.wait_for_selector(READ)
        running = page.locator("section", has_text="Running jobs")
        assert "not read: status 401" in running.inner_text()
        assert page.locator("text=not read").count() == 1
