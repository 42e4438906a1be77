"""A fitted table with two rare groups, its page, and a browser to open pages in."""

import shutil

import numpy as np
import pytest

from sightline import ProjectionPursuit
from sightline.report import write_report

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Example:
    """400 rows: a bulk, 40 rows far out along column 0, 20 rows far out along column 1."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.X = rng.standard_normal((400, 5))
        self.X[:40, 0] += 9
        self.X[40:60, 1] += 12
        self.labels = np.repeat(["first", "second", "bulk"], [40, 20, 340])
        self.ids = [f"row-{number}" for number in range(400)]
        self.estimator = ProjectionPursuit(
            n_components=3, solver="two-step", n_starts=100, random_state=0
        )
        self.estimator.fit(self.X)
        self.scores = self.estimator.transform(self.X)

    def write(self, path, **changes):
        options = {
            "estimator": self.estimator,
            "X": self.X,
            "column_names": list("abcde"),
            "labels": self.labels,
            "row_ids": self.ids,
            "p_values": [0.01, 0.02, 0.5],
        }
        return write_report(path, **{**options, **changes})


@pytest.fixture(scope="session")
def example():
    return Example()


@pytest.fixture(scope="session")
def report(example, tmp_path_factory):
    """The page of the example."""
    return example.write(tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="session")
def browser():
    """A headless chromium, one for all tests."""
    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("no chromium: on Debian, apt-get install chromium")
    api = pytest.importorskip(
        "playwright.sync_api", reason="no playwright: pip install playwright"
    )
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield running
        running.close()


class Opened:
    """A page that notes what it asks for, says and raises."""

    def __init__(self, page):
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))


@pytest.fixture
def open_page(browser):
    """Open a page in a fresh profile without a network; at the end nothing may have gone wrong."""
    opened, contexts = [], []

    def open_it(path, **options):
        context = browser.new_context(offline=True, **options)
        context.set_default_timeout(5000)
        contexts.append(context)
        one = Opened(context.new_page())
        opened.append(one)
        one.page.goto(path.as_uri())
        settle(one.page)
        return one.page

    yield open_it
    for one in opened:
        assert one.complaints == []
        outside = [url for url in one.requests if not url.startswith(("file:", "data:", "blob:"))]
        assert outside == []
        assert sum(url.startswith("file:") for url in one.requests) == 1
    for context in contexts:
        context.close()


def settle(page):
    """Wait until what was asked for has been drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")
