"""The page's own modules: offsets, line breaks, citations and addresses, beside Python's."""

import random
import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, get_args

import pytest

from milepost.cli.answer import reflowed
from milepost.marks import MarkKind, place_in_words, places_at
from milepost.types import Mark
from milepost.wording import in_words
from support.browser_page import Page, Tabs, ready
from support.server import Server

SIGNS = "aé\u0301 \n\t.ßж中\u200d😀👩🚀𝒜{}\\%_&#^~$`*[]<>|\"'“”"
HARD = "{unbalanced \\ 100 % of $5_000 & more} ^ ~ # `code` *bold* [link](x) <b>|\n“😀”"


@pytest.fixture(scope="module")
def page(tabs: Tabs, server: Server) -> Iterator[Page]:
    with tabs(server.url) as opened:
        ready(opened, server.url)
        yield opened


def call(page: Page, module: str, body: str, value: Any = None) -> Any:
    """What a function body gives with a module ``m`` of the page and a value ``v``."""
    return page.evaluate(
        f"async (v) => {{ const m = await import('/page/{module}.js'); {body} }}", value
    )


def strings(count: int) -> list[str]:
    made = random.Random(7)
    return ["".join(made.choices(SIGNS, k=made.randrange(0, 40))) for _ in range(count)]


def test_offsets_are_code_points(page: Page) -> None:
    cases = []
    wanted = []
    made = random.Random(11)
    for text in strings(300):
        begin = made.randrange(1000)
        start = made.randrange(len(text) + 1)
        end = made.randrange(start, len(text) + 1)
        part = text[start:end]
        ink = part.strip()
        low = start + part.find(ink) if ink else start
        trimmed = [begin + low, begin + low + len(ink)]
        cases.append([text, begin, begin + start, begin + end])
        wanted.append([part, begin + len(text), begin + start, trimmed])
    found = call(
        page,
        "points",
        """return v.map(([text, begin, start, end]) => {
          const points = new m.Points(text, begin);
          return [points.slice(start, end), points.end, points.offset(points.index(start)),
                  points.trimmed(start, end)];
        });""",
        cases,
    )
    assert found == wanted


def test_lines_are_joined_as_on_the_command_line(page: Page) -> None:
    made = random.Random(13)
    words = ["word", "Längeres", "5", "-", "*", "中文", "a", "indeed", "|"]
    texts = []
    for _ in range(200):
        lines = [" ".join(made.choices(words, k=made.randrange(0, 14))) for _ in range(6)]
        lines += made.choices(["```", "```py"], k=made.randrange(3))
        made.shuffle(lines)
        text = "\n".join(made.choice(["", "  "]) + line for line in lines)
        texts.append((text, made.choice(["a.md", "a.PDF", "/b.c/a", "a.csv"])))
    assert any(reflowed(*text) != text[0] for text in texts)
    found = call(page, "points", "return v.map((one) => m.reflowed(...one));", texts)
    assert found == [reflowed(*text) for text in texts]


def test_citations_of_hard_texts_stay_valid(page: Page) -> None:
    place = {"document": HARD, "quote": HARD, "place": HARD, "heading": HARD, "start": 3, "end": 9}
    plain = call(page, "cite", "return m.plain(v);", place)
    quoted = call(page, "cite", "return m.markdown(v);", place)
    entry = call(page, "cite", "return m.bibtex(v);", place)
    short = place | {"document": "t", "place": None, "heading": None}
    forms = call(page, "cite", "return [m.mla(v), m.apa(v)];", short)
    one_line = " ".join(HARD.split())
    assert plain == f"“{one_line}” {one_line}, {one_line}, characters 3–9."
    from markdown_it import MarkdownIt

    tokens = MarkdownIt().parse(quoted)
    inline = [token for token in tokens if token.type == "inline"]
    kinds = {child.type for token in inline for child in token.children or []}
    assert kinds <= {"text", "text_special", "em_open", "em_close", "softbreak"}
    assert "".join(child.content for child in inline[0].children or []) == one_line
    depth = 0
    for sign in entry:  # BibTeX counts braces, escaped or not
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0
    assert re.match(r"@misc\{[a-z0-9-]+-3,\n", entry)
    assert not re.search(r"(?<!\\)[$&#_%]", entry), "signs that LaTeX would run"
    for form in forms:
        quote, rest = form.split("\n\n")
        assert quote.startswith("“{unbalanced")
        assert "\n" not in quote + rest
        assert quote.count("“") == quote.count("”") == 1, "quotation marks inside are single"


DARWIN = {"family": "Darwin", "given": "Charles Robert"}
SARTRE = {"family": "Sartre", "given": "Jean-Paul"}
SOCIETY = {"family": "Royal Society", "given": ""}
ORIGIN = "On the Origin of Species"
QUOTED = "“Cells are ‘made’ so”"
LONG = " ".join(["word"] * 39) + " end."


@pytest.mark.parametrize(
    ("form", "place", "wanted"),
    [
        ("mla", {}, f"{QUOTED} (origin.pdf 3).\n\norigin.pdf."),
        ("apa", {}, f"{QUOTED} (origin.pdf, n.d., p. 3).\n\norigin.pdf. (n.d.)."),
        (
            "apa",
            {"authors": [DARWIN], "place": None},
            f"{QUOTED} (Darwin, 1859, Bees section).\n\nDarwin, C. R. (1859). {ORIGIN}.",
        ),
        (
            "mla",
            {"authors": [DARWIN, SARTRE], "place": "slide 4", "quote": "Who?"},
            "“Who?” (Darwin and Sartre, slide 4).\n\n"
            f"Darwin, Charles Robert, and Jean-Paul Sartre. {ORIGIN}. 1859.",
        ),
        (
            "apa",
            {"authors": [DARWIN, SOCIETY, SARTRE], "date": None, "quote": LONG},
            f"{LONG} (Darwin et al., n.d., p. 3)\n\n"
            f"Darwin, C. R., Royal Society, & Sartre, J.-P. (n.d.). {ORIGIN}.",
        ),
        (
            "plain",
            {"authors": [DARWIN], "quote": "Yes."},
            f"“Yes.” Charles Robert Darwin, {ORIGIN}, 1859, p. 3, characters 3–9.",
        ),
    ],
)
def test_citations_follow_their_style(
    page: Page, form: str, place: dict[str, Any], wanted: str
) -> None:
    given = {"document": "origin.pdf", "place": "page 3", "heading": "Bees", "start": 3, "end": 9}
    given |= {"quote": 'Cells are "made" so.'} | place
    if "authors" in place:
        given["reference"] = {"title": ORIGIN, "date": "1859-11-24"} | place
    assert call(page, "cite", f"return m.{form}(v);", given) == wanted


def test_a_reference_becomes_fields_of_bibtex(page: Page) -> None:
    reference = {"title": ORIGIN, "date": "1859", "authors": [DARWIN, SOCIETY]}
    place = {"document": "a.pdf", "reference": reference, "quote": "Yes.", "place": "page 3"}
    place |= {"heading": None, "start": 3, "end": 9}
    entry = call(page, "cite", "return m.bibtex(v);", place)
    assert "author = {Darwin, Charles Robert and {Royal Society}}," in entry
    assert "year   = {1859}," in entry
    assert entry.startswith("@misc{on-the-origin-of-species-3,")


def test_addresses_come_back_as_they_were(page: Page) -> None:
    filter_ = {"kind": "pdf", "author": "Lee & Söhne", "from": "2023", "until": "2024-03"}
    routes = [
        {"question": text.strip(), "chosen": ["a", "b"], "filter": filter_, "open": place}
        for text, place in zip(
            strings(60),
            [None, {"id": "x", "start": None, "end": None}, {"id": "x", "start": 5, "end": 9}] * 20,
            strict=True,
        )
    ]
    found = call(page, "state", "return v.map((one) => m.parse(m.format(one)));", routes)
    assert found == routes
    broken = ["#id=", "#start=5", "#id=a&start=-1&end=x", "#id=a&start=9&end=5", "#%%%&q=%zz"]
    for route in call(page, "state", "return v.map(m.parse);", broken):
        assert route["open"] in (
            None,
            {"id": "a", "start": None, "end": None},
            {"id": "a", "start": 9, "end": None},
        )


def test_places_are_said_as_on_the_command_line(page: Page) -> None:
    made = random.Random(17)
    kinds = list(get_args(MarkKind))
    marks = sorted(
        (Mark(made.randrange(400), made.choice(kinds), str(made.randrange(9))) for _ in range(60)),
        key=lambda mark: mark.offset,
    )
    wanted = [place_in_words(places_at(marks, offset)) for offset in range(400)]
    assert len(set(wanted)) > 20
    value = [asdict(mark) for mark in marks]
    body = "return Array.from({ length: 400 }, (_, offset) => m.placeAt(v, offset));"
    assert call(page, "words", body, value) == wanted


def test_probabilities_are_said_as_on_the_command_line(page: Page) -> None:
    scores = [0.12, 0.194, 0.196, 0.2, 0.35, 0.394, 0.396, 0.65, 0.694, 0.696, 0.9, 0.92]
    body = "return v.map((s) => `${m.likelihood(s)}, ${m.percent(s)}`.replace('\\u202f', ''));"
    assert call(page, "words", body, scores) == [in_words(score) for score in scores]
    assert call(page, "words", "return v.map(m.percent);", [0, 1]) == ["1\u202f%", "99\u202f%"]
