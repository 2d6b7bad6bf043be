"""Draw the pictures of the lab's pages into ``docs/pooling/pictures``.

    python tools/make_pooling_pictures.py

What counts in a text for each operator's family, by the states of the repository's checkpoint; and
what the pages without an operator are about, drawn from the code they describe. Needs the extras
``train`` and ``eval``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from milepost.windows.document_vector import unit
from milepost_eval.report.drawing import OTHERS, OURS, Axis, Line, draw_lines, figure, settings
from milepost_lab import pooling
from milepost_lab.cet.product import true_negative
from milepost_lab.cet.published import published_weights
from milepost_lab.compare.reading import TokenReader
from milepost_lab.model.bytes.tokenizer import encode
from milepost_lab.pooling.fixed_encoding import FixedEncoding
from milepost_lab.pooling.maxsim import maxsim
from milepost_lab.power.controller import SECOND, Controller
from milepost_lab.power.policy import PAPER
from milepost_lab.quality.separation import centres
from milepost_lab.show.study import QUERY, TEXT, as_svg, picture
from milepost_lab.stitch.maps import compare, problem

TARGET = Path(__file__).resolve().parent.parent / "docs" / "pooling" / "pictures"

OPERATORS = {
    "plain": "attention",
    "ggem": "ggem",
    "bilinear": "mlb",
    "multilayer": "multilayer",
    "newer": "pma",
    "p2at": "p2at",
    "ponet": "ponet-triple",
    "supernets": "hierarchy",
    "words": "wordpool",
    "xpool": "xpool",
}
"""A page → the operator that stands for it."""

SPOKEN = {
    "English": "The quick brown fox",
    "Russian": "Быстрая лиса",
    "Greek": "Η γρήγορη αλεπού",
    "Hindi": "तेज़ लोमड़ी",
    "Chinese": "敏捷的狐狸",
}


def shown() -> None:
    """What counts in a text, one operator a page."""
    reader = TokenReader.open(None)
    for page, name in OPERATORS.items():
        pool = pooling.get(name)
        found = picture(pool, reader, TEXT, QUERY)
        title = f"{name}: {pool.operator.equation}"
        (TARGET / f"{page}.svg").write_text(as_svg(found, title), encoding="utf-8")


def power(axes: Any) -> None:
    """A rising and falling row, and the clocks that the controller orders."""
    controller = Controller(PAPER)
    seconds = np.arange(0, 600, 2)
    row = 0.72 + 0.2 * np.sin(seconds / 600 * np.pi) ** 2
    low, high = [], []
    for second, reading in zip(seconds, row, strict=True):
        controller.tick(int(second) * SECOND, float(reading))
        low.append((controller.effective("low") or 0) / PAPER.top)
        high.append((controller.effective("high") or 0) / PAPER.top)
    styles = (replace(style, marker="") for style in (OURS, *OTHERS[:2]))
    lines = [Line(*each) for each in zip(styles, [seconds] * 3, [row, low, high], strict=True)]
    ticks = range(0, 601, 100)
    draw_lines(axes, lines, Axis("seconds", ticks, [str(n) for n in ticks]), "share of the most")
    for bound in (PAPER.t1, PAPER.t2):
        axes.axhline(bound, color="#8c959f", linewidth=0.8)
    axes.set_title("Power asked for (blue), clock of bulk work (orange), of searches (green)")


def coupled(axes: Any) -> None:
    """The weight of an unlabelled document: posterior by its relevance, published by a score.

    In the published form that score is the other model's: selection's where relevance learns.
    """
    chance = torch.linspace(0.01, 0.94, 60)
    lines = [
        Line(style, chance.tolist(), true_negative(chance, torch.full((60,), s)).tolist())
        for style, s in zip((OURS, *OTHERS[1:3]), (0.9, 0.5, 0.1), strict=True)
    ]
    published = published_weights(torch.logit(chance), 2.0)
    lines.append(Line(OTHERS[0], chance.tolist(), (published / published.max()).tolist()))
    ticks = (0, 0.25, 0.5, 0.75, 1)
    name = "chance that it is relevant; published: sigmoid of the other model's score"
    axis = Axis(name, ticks, [str(n) for n in ticks])
    draw_lines(axes, lines, axis, "weight as a negative")
    axes.set_title(
        "Posterior weights (selected 0.9, 0.5, 0.1) by relevance,\n"
        "published (orange) by the other model's score"
    )


def quality(axes: Any) -> None:
    """Two groups of points, and what the index says as they come nearer."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((200, 2))
    labels = np.repeat([0, 1], 100)
    apart = np.linspace(0.2, 6, 30)
    found = []
    for distance in apart:
        points = noise + np.where(labels[:, None] == 1, [distance, 0.0], 0.0)
        found.append(centres(points, labels).separation)
    ticks = range(7)
    axis = Axis("distance of the groups, standard deviations", ticks, [str(n) for n in ticks])
    draw_lines(axes, [Line(OURS, apart, found)], axis, "separation, 1 / XBI")
    axes.set_title("The index of two groups by how far apart they lie")


def stitch(axes: Any) -> None:
    """What each start of a stitch loses, exactly and measured."""
    found = list(compare(problem(), draws=40))
    places = np.arange(len(found))
    axes.bar(places, [each.expected for each in found], color=OURS.colour, width=0.6)
    axes.plot(places, [each.measured for each in found], "o", color=OTHERS[0].colour)
    names = [each.start.replace("least_squares of", "least squares\nof") for each in found]
    axes.set_xticks(places, names)
    axes.set_ylabel("squared error")
    axes.set_title("From narrow back to wide: expected (bars), drawn (points)")


def bytes_(axes: Any) -> None:
    """Bytes that one character takes."""
    sizes = [(len(encode(text)) - 1) / len(text) for text in SPOKEN.values()]
    places = np.arange(len(sizes))
    axes.bar(places, sizes, color=OURS.colour, width=0.6)
    axes.set_xticks(places, list(SPOKEN))
    axes.set_ylabel("bytes a character")
    axes.set_title("The same window of bytes holds less of some languages")


def late_interaction(axes: Any) -> None:
    """How often the ten best products of encodings hold the text of the best MaxSim."""
    rng = np.random.default_rng(0)
    topics = unit(rng.standard_normal((200, 64)))
    chosen = np.array([rng.choice(200, 6, replace=False) for _ in range(400)])

    def tokens(texts: Any, number: int) -> Any:
        """Around the topics of each text, ``number`` tokens, of unit length."""
        near = np.array([topics[rng.choice(text, number)] for text in texts])
        return unit(near + rng.standard_normal(near.shape) * 0.12).reshape(-1, 64)

    read, lengths = tokens(chosen, 40), [40] * 400
    asked, parts = tokens(chosen[:200], 8), [8] * 200
    best = maxsim(asked, parts, read, lengths).argmax(1)
    repetitions = (1, 2, 5, 10, 20)
    lines = []
    for style, planes in zip((OURS, *OTHERS[:2]), (4, 2, 0), strict=True):
        kept = []
        for number in repetitions:
            made = FixedEncoding.drawn(64, planes=planes, repetitions=number)
            products = made.queries(asked, parts) @ made.documents(read, lengths).T
            ten = np.argsort(-products, axis=1)[:, :10]
            kept.append(float((ten == best[:, None]).any(1).mean()))
        lines.append(Line(style, range(len(repetitions)), kept))
    names = [str(number) for number in repetitions]
    axis = Axis("repetitions", range(len(repetitions)), names)
    draw_lines(axes, lines, axis, "best text among ten candidates")
    axes.set_title("Encodings of 16 cells (blue), 4 (orange) and 1 (green); 8 numbers a cell")


def drawn(page: str, draw: Callable[[Any], None]) -> None:
    """One plot as SVG."""
    with settings():
        made = figure(7.2, 3.4)
        draw(made.add_subplot())
        made.savefig(TARGET / f"{page}.svg", format="svg", metadata={"Date": None})


def main() -> None:
    """Draw all of them."""
    TARGET.mkdir(exist_ok=True)
    shown()
    for page, draw in {
        "power": power,
        "coupled": coupled,
        "quality": quality,
        "stitch": stitch,
        "bytes": bytes_,
        "late-interaction": late_interaction,
    }.items():
        drawn(page, draw)


if __name__ == "__main__":
    main()
