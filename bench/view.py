"""The page of `milepost view`: its size and speed, and whether Chromium says what Python says.

    python bench/view.py [--book examples/origin-of-species.txt] [--out bench/results/view.txt]

Needs playwright and Debian's Chromium (/usr/bin/chromium).
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import milepost
from milepost.view import PageSize, page_model, write_page

if TYPE_CHECKING:
    from milepost.index import Index

QUESTIONS = """
how do bees build their cells
why do male birds have bright feathers
what is natural selection
how are oceanic islands colonised by animals
why are fossils of intermediate forms so rare
which pigeons did the author keep
how do ants make slaves of other ants
what does the cuckoo do with its eggs
why are hybrids sterile
how did the giraffe get its long neck
do plants compete with each other for light
what did Lamarck believe about species
how old is the earth according to geologists
which animals live in dark caves and are blind
can seeds survive in salt water
how does the eye evolve by small steps
what is the struggle for existence
who first suggested that species change
are rudimentary organs useful
how do glaciers explain the distribution of alpine plants
why do cats affect the number of clover flowers
what is the effect of disuse on the wings of birds
does the author mention New Zealand
how do orchids attract insects
is there any evidence against the theory
why do domestic animals vary more than wild ones
what role does sexual selection play
how fast could elephants multiply
did Wallace come to the same conclusion
how are electric organs of fishes explained
what is the capital of France
how do I install python packages
what did Agassiz say about embryos
does instinct change under domestication
how are dogs related to wolves
which barnacles were studied
why is the geological record imperfect
are there mammals on remote islands
what are the laws of variation
how does correlation of growth work
how does a quantum computer work
explain migratory locusts carrying seeds over the sea
when was the sugar tax introduced
what happens when turnips are sown near each other
how do woodpeckers live where no tree grows
frogs and toads absent from islands
bats in New Zealand
why do whales have teeth before birth
horses with stripes on legs
reversion to ancestral characters in pigeon crosses
""".strip().splitlines()

ASK = """(question) => {
  const begun = performance.now();
  const { passages } = milepost.search(question, 5);
  const milliseconds = performance.now() - begun;
  return { milliseconds, passages: passages.map(({ start, end, score }) => [start, end, score]) };
}"""


def main() -> None:
    """Write both pages of the book, ask all questions, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--book", type=Path, default=Path("examples/origin-of-species.txt"))
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        indexes = {}
        for name, model in (("rounded", page_model()), ("as it is", Path("landmark-light"))):
            index = indexes[name] = milepost.open(folder / name, model=str(model))
            index.add(arguments.book)
            page = folder / f"{name}.html"
            size = write_page(index, page)
            lines += sizes(name, size, arguments.book.stat().st_size)
            lines += compared(index, page)
        lines += both(indexes["as it is"], indexes["rounded"])
        for index in indexes.values():
            index.close()
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


def sizes(name: str, size: PageSize, book: int) -> list[str]:
    """The parts of a page."""
    parts = ("program", "model", "text", "landmarks", "words", "total")
    found = [f"  {part:10} {getattr(size, part):>10,}" for part in parts]
    return [f"model {name}, bytes of the page:", *found, f"  less the file {size.total - book:>7,}"]


def compared(index: Index, page: Path) -> list[str]:
    """Ask the page and Python."""
    from playwright.sync_api import sync_playwright

    same, worst, times = 0, 0.0, []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        tab = browser.new_page()
        begun = time.perf_counter()
        tab.goto(page.as_uri())
        tab.wait_for_selector("#documents li")
        opened = time.perf_counter() - begun
        for question in QUESTIONS:
            shown: dict[str, Any] = tab.evaluate(ASK, question)
            times.append(shown["milliseconds"])
            found = [(each.start, each.end, each.score) for each in index.search(question)]
            if [each[:2] for each in found] == [tuple(each[:2]) for each in shown["passages"]]:
                same += 1
                pairs = zip(found, shown["passages"], strict=True)
                worst = max(worst, *(abs(a[2] - b[2]) for a, b in pairs))
        browser.close()
    return [
        f"  same passages as Python: {same} of {len(QUESTIONS)}, greatest difference of a "
        f"probability {worst:.1e}",
        f"  opened in {opened:.1f} s, a question in {statistics.median(times):.0f} ms (median)",
    ]


def both(shipped: Index, rounded: Index) -> list[str]:
    """How near the rounded model is to the one that it was made of."""
    best = overlapping = among = 0
    for question in QUESTIONS:
        one = [(each.start, each.end) for each in shipped.search(question)]
        other = [(each.start, each.end) for each in rounded.search(question)]
        best += one[0] == other[0]
        overlaps = [any(a < d and c < b for c, d in other) for a, b in one]
        overlapping += sum(overlaps)
        among += overlaps[0]
    return [
        f"rounded beside as it is: the same best passage {best} of {len(QUESTIONS)}; its best "
        f"passage among the five {among}; of its five passages {overlapping / len(QUESTIONS):.1f} "
        "overlap one of the other five",
    ]


if __name__ == "__main__":
    main()
