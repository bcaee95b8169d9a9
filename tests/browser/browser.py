"""A browser for the tests of pages: one for all tests of a program, with one look after another."""
import shutil
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

CHROMIUM = shutil.which("chromium")

# Brings an element into view as a person would: not at all if it is there, and until it has come to rest, because what
# comes into view with it may be of another height than expected.
SHOW = """
const [element, done] = arguments;
const frame = () => new Promise(requestAnimationFrame);
const where = () => element.getClientRects()[0] || element.getBoundingClientRect();
function isThere() {
  const box = where();
  return box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight &&
      element.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2));
}
(async () => {
  for (let attempt = 0; attempt < 5; ++attempt) {
    if (!isThere()) element.scrollIntoView({block: 'center', inline: 'center'});
    const before = where();
    await frame();
    await frame();
    const now = where();
    if (isThere() && now.top === before.top && now.left === before.left) break;
  }
})().then(done);
"""


def open_browser(logs=("browser",)):
    """A Chromium without a window, with these logs; skips the test where there is none."""
    if CHROMIUM is None:
        raise unittest.SkipTest("SKIPPED: chromium is not here")
    options = Options()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--hide-scrollbars", "--window-size=1200,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", dict.fromkeys(logs, "ALL"))
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def set_look(browser, theme, width, motion="no-preference"):
    """Light or dark, so many pixels wide, and whether things may move, for the pages that it opens from now on."""
    features = [{"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": motion}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
