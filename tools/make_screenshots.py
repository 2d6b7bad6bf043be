"""Write ``docs/page-*.webp``: the page of ``milepost serve`` as a browser shows it.

    python tools/make_screenshots.py

Serves the book in ``examples`` and two PDFs of the shared data (works of the US government, in the
public domain), asks, and takes pictures in Debian's Chromium. Reading the files takes a minute.
"""

import io
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SHARED = ROOT.parent / "shared" / "data" / "files"
FILES = {
    "origin-of-species.txt": ROOT / "examples" / "origin-of-species.txt",
    "737-max-return-to-service.pdf": SHARED / "pdf-three-column-footnotes.pdf",
    "copyright-act-of-1998.pdf": SHARED / "pdf-encrypted-opens-without-password.pdf",
}
LARGEST = 150_000
"""Bytes of a picture: those who read the documentation should not wait for it."""

BEES = "How do bees make the cells of the honeycomb?"
SENSORS = "How many sensors did the first MCAS design take its data from?"


@dataclass(frozen=True)
class Shot:
    """A picture: what is asked; what is clicked then, and what must be there before it is taken."""

    name: str
    question: str
    opens: tuple[str, str] | None = None
    options: dict[str, Any] = field(default_factory=dict)


SHOTS = (
    Shot("search", BEES),
    Shot("pdf", SENSORS, (".passage .title", ".page img[src^='blob:'] + .boxes .best")),
    Shot(
        "dark-phone",
        BEES,
        (".passage .title", "#document-body mark.best"),
        {"viewport": {"width": 390, "height": 720}, "color_scheme": "dark"},
    ),
)


def main() -> None:
    """Serve, ask, take pictures."""
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(ROOT / "tests"))
    from support.browser_page import CHROMIUM
    from support.server import Server

    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        folder = Path(place) / "library"
        folder.mkdir()
        for name, source in FILES.items():
            shutil.copy(source, folder / name)
        more = ["--model", "landmark-minilm", str(folder)]
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        with Server(*more, cache=Path(place) / "cache") as server, server.client() as client:
            server.indexed(client, 900.0)
            for shot in SHOTS:
                _write(shot.name, _taken(browser, server.url, shot))
        browser.close()


def _taken(browser: Any, url: str, shot: Shot) -> bytes:
    """A picture as PNG."""
    from support.browser_page import answered

    options = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}
    context = browser.new_context(**{**options, **shot.options})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("#documents li", state="attached")
    page.fill("#question", shot.question)
    page.press("#question", "Enter")
    answered(page)
    if shot.opens is not None:
        click, shown = shot.opens
        page.locator(click).first.click()
        page.locator(shown).first.wait_for()
        page.wait_for_timeout(1500)  # other pages and marks
    page.evaluate("() => document.activeElement.blur()")
    taken: bytes = page.screenshot()
    context.close()
    return taken


def _write(name: str, png: bytes) -> None:
    from PIL import Image

    image = Image.open(io.BytesIO(png)).convert("RGB")
    out = io.BytesIO()
    image.save(out, "WEBP", quality=78, method=6)
    assert len(out.getvalue()) <= LARGEST, f"{name}: {len(out.getvalue()):,} bytes"
    (DOCS / f"page-{name}.webp").write_bytes(out.getvalue())
    print(f"docs/page-{name}.webp: {len(out.getvalue()):,} bytes, {image.size}")


if __name__ == "__main__":
    main()
