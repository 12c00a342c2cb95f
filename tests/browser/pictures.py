"""The pictures of the guides in docs, taken from the running product as the guides tell it.

python -m tests.browser.pictures FOLDER                     of a study that is made on the way
python -m tests.browser.pictures FOLDER ADDRESS PASSWORD    of the results of a demo that runs there

Pictures are stored with few colors: they are read at the width of a page.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.conftest import BROWSER_FLAGS, find_chromium
from tests.live import ROOT, Server, environment

WIDTH, HEIGHT = 1060, 700
COLORS = 128
BOTS = {"parrot": "3", "generic": "3"}
PATIENCE = 60_000.0  # milliseconds


class Album:
    """Takes pictures of what somebody sees, into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def take(self, name: str, *seen: Locator, space: int = 12) -> None:
        """Take a picture of the smallest part of the page that has all of these in it."""
        page = seen[0].page
        boxes = [box for each in seen if (box := each.bounding_box())]
        left, top = (max(0, min(box[side] for box in boxes) - space) for side in ("x", "y"))
        right = max(box["x"] + box["width"] for box in boxes) + space
        bottom = max(box["y"] + box["height"] for box in boxes) + space
        clip = {"x": left, "y": top, "width": right - left, "height": bottom - top}
        shot = page.screenshot(full_page=True, clip=clip)  # type: ignore[arg-type]
        picture = (
            Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLORS, dither=Image.Dither(0))
        )
        path = self.folder / f"guide_{name}.png"
        picture.save(path, optimize=True)
        print(f"{path}: {path.stat().st_size // 1024} KB, {picture.width} x {picture.height}")


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chosen = playwright.chromium.launch(executable_path=find_chromium(), args=[*BROWSER_FLAGS])
        yield chosen
        chosen.close()


def open_page(of: Browser) -> Page:
    context = of.new_context(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    return context.new_page()


def sign_in(page: Page, base: str, name: str, password: str) -> None:
    page.goto(f"{base}/login/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/campaigns/")


# --- a study from the first page to the code --------------------------------------------------


def study(album: Album) -> None:
    """Follow docs/first_study.md and docs/prolific.md on a new server."""
    with tempfile.TemporaryDirectory() as folder:
        env = environment(Path(folder))
        manage = [sys.executable, "manage.py"]
        subprocess.run([*manage, "migrate", "-v0"], cwd=ROOT, env=env, check=True)
        staff = [*manage, "staff", "ada", "--generate"]
        told = subprocess.run(staff, cwd=ROOT, env=env, check=True, capture_output=True, text=True)
        server = Server(env)
        server.start()
        try:
            with browser() as chosen:
                page = open_page(chosen)
                base = f"http://{server.host}"
                sign_in(page, base, "ada", told.stdout.split()[-1])
                draft(page, album)
                prepare(page, album)
                link = launch(page, album)
                crowd = [*manage, "crowd", link.rstrip("/").rpartition("/")[2], "--at", base]
                subprocess.run([*crowd, "--people", "3"], cwd=ROOT, env=env, check=True)
                page.reload()
                expect(page.locator("#step-done .tile-value")).not_to_have_text("0")
                album.take("live", page.locator(".page-head"), page.locator("#live .grid-wide"))
                take_part(open_page(chosen), link, album)
        finally:
            server.kill(signal.SIGTERM)


def draft(page: Page, album: Album) -> None:
    page.get_by_role("link", name="New campaign").click()
    page.get_by_role("link", name="Use PERSONA-CHAT evaluation of bots").click()
    page.get_by_label("Name").fill("My first study")
    page.get_by_label("Pay", exact=True).fill("1.20")
    page.get_by_label("Contact").fill("Ada, ada@example.org")
    back = page.get_by_label("Panel completion URL")
    back.fill("https://app.prolific.com/submissions/complete?cc={code}")
    page.locator("h1").click()
    page.locator(".save-bar").evaluate("bar => { bar.style.position = 'static'; }")
    album.take("settings", page.locator("h1"), page.locator("[data-hourly]"))
    setting = page.locator(".setting").first
    album.take("setting", setting.locator("xpath=ancestor::section").locator("h2"), setting)
    album.take("return_address", back.locator(".."), space=16)
    page.get_by_role("button", name="Save as a draft").click()


def prepare(page: Page, album: Album) -> None:
    for bot, count in BOTS.items():
        page.get_by_role("link", name="Choose a system").click()
        page.get_by_role("link", name=bot, exact=True).click()
        page.get_by_label("Participations wanted").fill(count)
        page.get_by_role("button", name="Add").click()
    page.get_by_role("link", name="Personas").first.click()
    page.get_by_role("button", name="Preview the built-in ones").click()
    page.get_by_role("button", name="Import").click()
    checks = page.locator("#checks")
    album.take("draft", page.locator(".page-head"), checks)
    for number, bot in enumerate(BOTS, start=1):
        page.get_by_role("button", name=f"Rehearse {bot}").click()
        expect(page.locator(".system .badge-ok")).to_have_count(number, timeout=PATIENCE)
    look = page.get_by_role("link", name="Look at the plan and launch")
    expect(look).to_be_visible(timeout=PATIENCE)
    look.click()


def launch(page: Page, album: Album) -> str:
    page.get_by_role("button", name="Freeze the plan and open").click()
    page.get_by_role("link", name="Live").click()
    page.wait_for_load_state("networkidle")  # parts that come later move what is below them
    link = page.locator("#start-link")
    album.take("start_link", link.locator("xpath=ancestor::section"))
    return str(link.text_content())


def take_part(page: Page, link: str, album: Album) -> None:
    page.goto(f"{link}?PROLIFIC_PID=test1")
    page.get_by_role("button", name="I agree and take part").click()
    page.get_by_role("button", name="I am ready, start").click()
    box = page.get_by_label("Your message")
    finish = page.get_by_role("button", name="Finish the conversation")
    for number in range(1, 12):
        if finish.is_visible():
            break
        box.fill(f"I like to sail on lake number {number}")
        expect(page.get_by_role("button", name="Send")).to_be_enabled(timeout=PATIENCE)
        box.press("Enter")
        expect(page.locator(".msg-partner")).to_have_count(number, timeout=PATIENCE)
    finish.click()
    expect(page.get_by_role("heading", name="What was your partner like?")).to_be_visible()
    for question in ("fluency", "engagingness", "consistency"):
        page.locator(f"#p-{question}-4").check()
    page.get_by_text("Character 1").click()
    page.get_by_role("button", name="Send my answers").click()
    code = page.locator("#code")
    expect(code).to_be_visible()
    album.take("code", page.locator("h1"), code.locator("xpath=ancestor::section"))


# --- the results of a demo ----------------------------------------------------------------------


def results(album: Album, base: str, password: str) -> None:
    """Take what docs/reading_the_report.md shows, of the demo's first campaign."""
    with browser() as chosen:
        page = open_page(chosen)
        sign_in(page, base, "demo", password)
        page.goto(f"{base}/campaigns/1/results/")
        expect(page.locator("figure svg, figure canvas").first).to_be_visible(timeout=PATIENCE)
        page.wait_for_load_state("networkidle")
        album.take("choices", page.get_by_role("navigation", name="Which answers"))
        in_short = page.locator("#findings").locator("xpath=ancestor::section")
        album.take("in_short", in_short)
        album.take("results", in_short, section(page, "ranking-").locator("figure").first)
        album.take("ranking", section(page, "ranking-"), space=4)
        album.take("flow", section(page, "flow"), space=4)


def section(page: Page, key: str) -> Locator:
    return page.locator(f'section.card:has(h2[id^="{key}"])').first


def main() -> None:
    folder, *demo = sys.argv[1:]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    album = Album(Path(folder))
    if demo:
        results(album, *demo)
    else:
        study(album)


if __name__ == "__main__":
    main()
