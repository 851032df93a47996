"""A headless Chromium of the system, driven by Playwright, for tests of pages. Tests that need it are skipped without it."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """The browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed (extra test)")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no Chromium on the path: none of {', '.join(NAMES)}")
    with playwright.sync_playwright() as driver:
        # Without its sandbox, as in a container it may not make one; it opens the tests' own pages only.
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def violations(page: Any) -> list[str]:
    """What axe finds wrong with a page, a sentence each."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed (extra test)")
    found = axe.Axe().run(page).response["violations"]
    return [f"{rule['id']}: {node['html'][:150]}: {node['failureSummary']}" for rule in found for node in rule["nodes"]]
