"""Chromium without a window, for tests of pages: Debian's package, installed if this machine lacks it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host.host_packages import HostPackage, find_program, install

CHROMIUM = HostPackage("chromium", "chromium", "opens pages in tests")
#: Widths in CSS pixels: a phone, a tablet, a screen.
WIDTHS = (390, 820, 1280)
HEIGHT = 900


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium; pages reach the loopback only; skip the test, with the reason, if it cannot be installed."""
    try:
        install(wanted=[CHROMIUM])
    except LabError as error:
        pytest.skip(f"needs Chromium: {error}")
    program = find_program(CHROMIUM.program)
    # Chromium refuses its own sandbox for root; the pages are our own.
    options = [
        "--no-sandbox",
        "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=options)
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser, path: Path | str, width: int, theme: str = "light", media: str = "screen"
) -> Iterator[Page]:
    """Open a file, or a URL of the loopback, at a width of the window, in a colour scheme and a medium (`screen` or `print`)."""
    context = browser.new_context(viewport={"width": width, "height": HEIGHT}, offline=isinstance(path, Path))
    page = context.new_page()
    page.emulate_media(color_scheme=theme, media=media)  # type: ignore[arg-type]
    page.goto(path.as_uri() if isinstance(path, Path) else path)
    yield page
    context.close()


def violations(page: Page) -> list[str]:
    """Return the violations of WCAG 2.2 A and AA that axe finds in a page, one line for each."""
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    response = Axe().run(page, options={"runOnly": tags}).response
    return [
        f"{violation['id']}: {violation['help']}: {violation['nodes'][0]['html'][:200]}"
        for violation in response["violations"]
    ]
