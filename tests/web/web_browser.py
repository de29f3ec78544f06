"""Chromium through Playwright, if the machine has one."""

import os
import shutil
from contextlib import contextmanager

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def found():
    """The path of a Chromium, None where there is none."""
    given = os.environ.get("POLICYD_TEST_CHROMIUM")
    return given or next((path for path in map(shutil.which, NAMES) if path), None)


@contextmanager
def chromium():
    """A running browser, None where there is none."""
    path = found()
    if path is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
