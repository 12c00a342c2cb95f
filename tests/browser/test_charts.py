"""Charts in a real browser under the policy of the results pages: drawn, saved, nothing refused."""

import functools
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

from tests.browser.looks import check_axe, wait_until

pytestmark = pytest.mark.browser

STATIC = Path(__file__).parents[2] / "static"
POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-x'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'"
)
ROWS = [
    {"system": "people", "mean": 4.3, "low": 4.1, "high": 4.5},
    {"system": "parrot", "mean": 2.1, "low": 1.8, "high": 2.4},
]
INTERVALS = {
    "data": {"values": ROWS},
    "encoding": {"y": {"field": "system", "type": "nominal", "title": "System"}},
    "layer": [
        {
            "mark": "rule",
            "encoding": {
                "x": {"field": "low", "type": "quantitative", "scale": {"domain": [1, 5]}},
                "x2": {"field": "high"},
            },
        },
        {
            "mark": {"type": "point", "filled": True, "tooltip": True},
            "params": [{"name": "zoom", "select": {"type": "interval", "encodings": ["x"]}}],
            "transform": [{"calculate": "format(datum.mean, '.2f')", "as": "shown"}],
            "encoding": {
                "x": {"field": "mean", "type": "quantitative", "title": "Mean, 95 % interval"},
                "size": {"condition": {"test": "datum.mean > 3", "value": 120}, "value": 60},
            },
        },
    ],
}
FOREIGN = {
    "data": {"url": "/values.json"},
    "mark": "bar",
    "encoding": {"x": {"field": "mean", "type": "quantitative"}},
}
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Charts</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/vendor/bootstrap/bootstrap.min.css">
<script type="module" nonce="x" src="/charts.js"></script></head><body>
<main class="container"><h1>Charts</h1>
<figure data-chart="engagingness" data-table="values" data-csv="/values.csv"
 aria-labelledby="caption"><figcaption id="caption">Engagingness by system</figcaption>
<script type="application/json">%s</script></figure>
<table id="values" class="table"><tr><th scope="col">System</th></tr><tr><td>people</td></tr>
</table></main></body></html>"""

COMPILED = """<!doctype html><html lang="en"><title>Compiled</title>
<script src="/vendor/vega/vega.min.js"></script>
<script nonce="x">new vega.View(vega.parse(%s))</script></html>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """The static files, and one page for each specification."""

    pages = {
        "/": PAGE % json.dumps(INTERVALS),
        "/foreign": PAGE % json.dumps(FOREIGN),
        "/compiled": COMPILED % json.dumps({"signals": [{"name": "a", "update": "1 + 1"}]}),
    }

    def do_GET(self) -> None:
        page = self.pages.get(self.path)
        if page is None:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent: the tests say what went wrong."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    handler = functools.partial(Handler, directory=str(STATIC))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def said(page: Page) -> list[str]:
    """Warnings and errors of the browser's console, refusals by the policy among them."""
    said: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            said.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


@pytest.fixture
def charts(page: Page, said: list[str], address: str) -> Page:
    page.goto(address)
    page.wait_for_selector("html[data-charts=drawn]")
    return page


def test_a_chart_is_drawn_and_nothing_is_refused(charts: Page, said: list[str]) -> None:
    expect(charts.locator("figure svg.marks")).to_be_visible()
    assert charts.locator("svg .mark-symbol path").count() >= len(ROWS)
    charts.locator("svg .mark-symbol path").first.hover()
    charts.locator("svg").first.hover(position={"x": 200, "y": 20})
    charts.mouse.wheel(0, -200)
    assert said == []


def test_the_policy_refuses_expressions_that_are_compiled(
    page: Page, said: list[str], address: str
) -> None:
    page.goto(f"{address}/compiled")
    assert any("unsafe-eval" in text for text in said)


@pytest.mark.parametrize(("kind", "start"), [("SVG", b"<svg"), ("PNG", b"\x89PNG")])
def test_a_chart_is_saved(charts: Page, said: list[str], kind: str, start: bytes) -> None:
    with charts.expect_download() as download:
        charts.get_by_role("button", name=f"Save as {kind}").click()
    assert download.value.suggested_filename == f"engagingness.{kind.lower()}"
    saved = Path(download.value.path()).read_bytes()
    assert saved.startswith(start)
    assert kind == "PNG" or b'fill="white"' in saved
    assert said == []


def test_the_keyboard_reaches_the_table_and_the_values(charts: Page) -> None:
    charts.keyboard.press("Tab")
    expect(charts.get_by_role("link", name="The same as a table")).to_be_focused()
    charts.keyboard.press("Enter")
    assert charts.url.endswith("#values")
    expect(charts.get_by_role("link", name="Values as CSV")).to_have_attribute(
        "href", "/values.csv"
    )


def test_a_chart_follows_the_width_and_the_color_scheme(charts: Page, said: list[str]) -> None:
    figure = charts.locator("figure")
    for width in (360, 1280):
        charts.set_viewport_size({"width": width, "height": 800})
        wait_until(
            charts,
            "() => Math.abs(document.querySelector('svg.marks').clientWidth"
            " - document.querySelector('.chart').clientWidth) < 3",
        )
    before = charts.locator("svg.marks").evaluate("svg => svg.outerHTML")
    charts.evaluate("document.documentElement.dataset.bsTheme = 'dark'")
    wait_until(charts, "before => document.querySelector('svg.marks').outerHTML !== before", before)
    assert figure.locator("svg.marks").count() == 1
    assert said == []


def test_a_chart_loads_nothing_and_says_where_the_values_are(
    page: Page, said: list[str], address: str
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/foreign")
    page.wait_for_selector("html[data-charts=drawn]")
    expect(page.get_by_role("status")).to_contain_text("The table below holds the same values")
    assert not any(url.endswith("values.json") for url in asked)
    assert any("may not load" in text for text in said)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_are_accessible(charts: Page, scheme: str) -> None:
    charts.evaluate("scheme => { document.documentElement.dataset.bsTheme = scheme }", scheme)
    check_axe(charts)
