"""The experiments' parts by hand, and each experiment end to end on planted data."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import milepost
from milepost.errors import InputError
from milepost.testing import fake_encoder
from milepost.text import split
from milepost.types import Document
from milepost.windows import WindowSize, plan
from milepost_eval.embedders import LandmarkEmbedder
from milepost_eval.report.outcome import Figure, Outcome, in_words
from milepost_eval.report.tally import Tally
from milepost_eval.session import Session
from milepost_eval.statistics import smallest_p
from milepost_eval.systems.dense import Dense
from milepost_eval.systems.units import Units
from milepost_eval.types import Question, Task
from milepost_eval.vectors import Vectors
from milepost_lab.landmark import EXPERIMENTS, as_markdown, find, outcomes, plot
from milepost_lab.landmark.boundaries import LABELS, distances, label, ranks
from milepost_lab.landmark.evidence import fifth, places
from milepost_lab.landmark.reading import Reader, Reading
from milepost_lab.landmark.surround import spent, with_context

NOWHERE = Vectors(None)
ENCODER = fake_encoder()


def reading(costs: list[int], size: WindowSize) -> Reading:
    """A reading of sentences of so many tokens, without a text."""
    spans = np.array([(n, n + 1) for n in range(len(costs))], np.int64).reshape(-1, 2)
    units = Units((Document("d", "x" * len(costs)),), spans, np.array([0, len(costs)]))
    vectors = np.zeros((len(costs), 2), np.float32)
    return Reading(units, vectors, tuple(costs), tuple(plan(costs, size)))


def task(kinds: tuple[str, ...] = ("plain", "context")) -> Task:
    """Two documents of thirty sentences about as many things, and a question for some of them."""
    things = [a + b for a in ("red", "tin", "old", "wet", "shy") for b in ("fox", "jar", "elm")]
    documents, questions = [], []
    for name in ("first", "second"):
        sentences = [
            f"The {name} {thing} was seen {number} times by the river. Nobody knew why. "
            for number, thing in enumerate(things)
        ]
        text = "".join(sentences)
        documents.append(Document(name, text))
        for number in range(0, len(things), 2):
            start = text.index(sentences[number])
            spans = [(start, start + sentences[number].index(".") + 1)]
            if number % 4 == 0 and number + 3 < len(things):
                other = text.index(sentences[number + 3])
                spans.append((other, other + sentences[number + 3].index(".") + 1))
            questions.append(
                Question(
                    f"{name}{number}",
                    f"How often was the {name} {things[number]} seen?",
                    name,
                    tuple(spans),
                    kind=kinds[number // 2 % len(kinds)],
                )
            )
    return Task("planted", "dev", tuple(documents), tuple(questions))


def test_distance_to_the_edge_by_hand() -> None:
    """Tokens to the nearest edge count the halo; where the text begins or ends is no edge."""
    found = reading([10] * 12, WindowSize(size=51, left=20, right=0, longest=11))
    # Windows read 0-4, 3-7, 6-10 and 9-11, and own 0-4, 5-7, 8-10 and 11.
    assert [(w.first, w.own_first, w.own_last, w.last) for w in found.windows] == [
        (0, 0, 5, 5),
        (3, 5, 8, 8),
        (6, 8, 11, 11),
        (9, 11, 12, 12),
    ]
    assert distances(found) == [40, 30, 20, 10, 0, 20, 10, 0, 20, 10, 0, 20]
    assert found.run == 51 * 3 + 31


def test_a_text_of_one_window_has_no_edge() -> None:
    """A text that fits in a window loses nothing anywhere."""
    assert distances(reading([10, 10], WindowSize())) == [None, None]
    assert distances(reading([], WindowSize())) == []


def test_bins_are_told_apart_at_their_ends() -> None:
    """A bin begins where its name says and ends before the next one."""
    found = [label(n) for n in (0, 1, 15, 16, 31, 32, 63, 64, 127, 128, 9999)]
    assert found == [
        "0", "1–15", "1–15", "16–31", "16–31", "32–63", "32–63", "64–127", "64–127", "128+", "128+",
    ]  # fmt: skip
    assert set(found) == set(LABELS)


def test_evidence_is_ranked_among_what_is_none() -> None:
    """Evidence behind other evidence has the rank that it has without it."""
    scores = np.array([0.9, 0.1, 0.8, 0.5, 0.7], np.float32)
    assert ranks(scores, [2, 3]) == [2, 3]
    assert ranks(scores, [0, 2]) == [1, 1]
    assert ranks(scores, []) == []


def test_with_context_stays_in_the_document() -> None:
    """Sentences that come with a hit are the nearest first and end where the text ends."""
    assert with_context(4, 4, "front", 10) == [4, 3, 2, 1, 0]
    assert with_context(1, 4, "front", 10) == [1, 0]
    assert with_context(4, 4, "both-sides", 10) == [4, 3, 5, 2, 6]
    assert with_context(0, 4, "both-sides", 10) == [0, 1, 2]
    assert with_context(9, 4, "both-sides", 10) == [9, 8, 7]
    for way in ("front", "both-sides"):
        assert with_context(3, 0, way, 10) == [3]


def test_front_of_several_hits_by_hand() -> None:
    """Hits 4, 12, 1, 5 of 14 with two in front are nine sentences, with one on each side ten."""
    spans = [(n, n + 1) for n in range(14)]
    front = [start for start, _ in spent([4, 12, 1, 5], spans, 2, "front")]
    assert front == [4, 3, 2, 12, 11, 10, 1, 0, 5]
    around = [start for start, _ in spent([4, 12, 1, 5], spans, 2, "both-sides")]
    assert around == [4, 3, 5, 12, 11, 13, 1, 0, 2, 6]


WORDS = st.lists(
    st.sampled_from(["one", "two words. ", "Three! ", "x" * 40, " ", "\n\n", "東京", "a-b, ", "7"]),
    max_size=60,
).map("".join)


@settings(max_examples=40, deadline=None)
@given(WORDS, st.integers(1, 40))
def test_spans_of_so_many_tokens_tile_the_text(text: str, tokens: int) -> None:
    """Units of at most so many tokens follow on each other from the first character to the last."""
    reader = Reader.like(ENCODER, NOWHERE)
    spans = reader.every(text, tokens)
    edges = [edge for span in spans for edge in span]
    assert edges[:1] + edges[-1:] == ([0, len(text)] if text else [])
    assert all(first[1] == second[0] for first, second in pairwise(spans))
    assert all(start < end for start, end in spans)
    cut_words = any(len(word) > 3 * tokens for word in text.split())
    if not cut_words:
        assert all(reader.count_tokens(text[a:b]) <= tokens for a, b in spans)


def test_granularity_fills_its_units() -> None:
    """Plain words of one token each are divided at every so many of them, and words stay whole."""
    reader = Reader.like(ENCODER, NOWHERE)
    text = "the cat sat on the mat and ate the rat"
    assert [text[a:b] for a, b in reader.every(text, 4)] == [
        "the cat sat on ",
        "the mat and ate ",
        "the rat",
    ]
    assert reader.count_tokens("unbelievable") == 4
    text = "the unbelievable cat"
    assert [text[a:b] for a, b in reader.every(text, 3)] == ["the ", "unbelieva", "ble cat"]


def test_a_reader_in_another_size_reads_every_token() -> None:
    """The same text in other windows and other units is read whole, and its windows are known."""
    document = task().documents[0]
    plain = Reader.like(ENCODER, NOWHERE).read(document)
    for sizes in ((140, 0, 0), (200, 40, 20), (512, 128, 64)):
        other = Reader.like(ENCODER, NOWHERE, sizes).read(document)
        assert other.costs == plain.costs
        assert [n for w in other.windows for n in range(w.own_first, w.own_last)] == list(
            range(len(plain.units))
        )
        assert max(1 + sum(other.costs[w.first : w.last]) for w in other.windows) <= sizes[0]
        # The fake engine's landmarks see their own sentence only.
        np.testing.assert_allclose(other.vectors, plain.vectors, atol=1e-3)
    assert sum(plain.costs) - len(plain.costs) == ENCODER.count_tokens(document.text)


def test_sentences_alone_are_the_landmarks_of_an_engine_without_context() -> None:
    """Where no sentence sees another, encoding each alone gives the same ranking."""
    held = task()
    reader = Reader.like(ENCODER, NOWHERE)
    model = LandmarkEmbedder(reader)
    opened = Dense("sentence@landmark", model, split, NOWHERE).open(held.documents)
    (ranking,) = opened.search([held.questions[0].text])
    parts = [reader.read(document).vectors for document in held.documents]
    scores = np.concatenate(parts) @ ENCODER.encode_query(held.questions[0].text)
    np.testing.assert_allclose(ranking.scores, scores, atol=2e-3)
    assert opened.tokens == sum(ENCODER.count_tokens(d.text) for d in held.documents)


def test_context_reaches_as_far_as_the_window(tmp_path: Path) -> None:
    """With real weights a landmark depends on its window, alone it does not."""
    model = milepost.load(threads=1)
    document = task().documents[0]
    vectors = Vectors(tmp_path / "vectors.sqlite")
    wide = Reader.like(model, vectors)
    narrow = Reader.like(model, vectors, (130, 0, 0))
    first, second = wide.read(document), narrow.read(document)
    alike = (first.vectors * second.vectors).sum(axis=1)
    assert alike.max() < 0.999  # the wide window shows every sentence more
    assert alike.min() > 0.8
    texts = first.units.texts(0)[:3]
    rows, tokens = LandmarkEmbedder(wide).texts(texts)
    assert tokens == sum(map(model.count_tokens, texts))
    wanted = np.array([model.encode(text).vectors[0] for text in texts])
    np.testing.assert_allclose((rows * wanted).sum(axis=1), 1.0, atol=0.02)
    assert wide.read(document).vectors.tobytes() == first.vectors.tobytes()


def test_places_of_evidence() -> None:
    """Sentences side by side are one place, with a sentence between them two."""
    document = Document("d", "One is here. Two is here. Three is here. Four is here.")
    for spans, wanted in (
        (((0, 12),), 1),
        (((0, 12), (13, 25)), 1),
        (((0, 3), (26, 31)), 2),
        (((0, 3), (26, 31), (41, 45)), 2),
    ):
        assert places(document, Question("q", "?", "d", spans)) == wanted


def test_fifths_hold_both_ends() -> None:
    """The first character is in the first fifth, the last one in the last."""
    assert [fifth(p) for p in (0.0, 0.19, 0.2, 0.79, 0.8, 1.0)] == [
        "first fifth", "first fifth", "second", "fourth", "last fifth", "last fifth",
    ]  # fmt: skip


def test_a_tally_weighs_tasks_alike_and_pairs_questions() -> None:
    """A mean is over tasks; a gain is question by question and refuses other questions."""
    tally = Tally()
    for value in (1.0, 1.0, 0.0, 1.0):
        tally.add(("a",), "large", "d", {"recall": value})
        tally.add(("b",), "large", "d", {"recall": 0.0})
    tally.add(("a",), "small", "e", {"recall": 0.25})
    tally.add(("b",), "small", "e", {"recall": 0.0})
    mean, gain = tally.mean(("a",), "recall"), tally.gain((("a",), "recall"), (("b",), "recall"))
    assert mean is not None
    assert gain is not None
    assert mean.mean == gain.mean == 0.5
    assert tally.count(("a",), "recall") == 5
    assert tally.mean(("c",), "recall") is None
    assert tally.gain((("a",), "recall"), (("c",), "recall")) is None
    tally.add(("b",), "small", "f", {"recall": 0.0})
    with pytest.raises(ValueError, match="other questions of small"):
        tally.gain((("a",), "recall"), (("b",), "recall"))


def test_gains_told_together_are_corrected_for_each_other() -> None:
    """Each of two p-values is twice what it is alone; the differences stay."""
    tally = Tally()
    for number in range(6):
        tally.add(("a",), "t", f"d{number}", {"x": 1.0 + number, "y": 1.0, "zero": 0.0})
    alone = tally.gain((("a",), "x"), (("a",), "zero"))
    both = tally.gains({m: ((("a",), m), (("a",), "zero")) for m in "xy"})
    assert alone is not None
    assert alone.p == smallest_p(6)
    assert both["x"] == replace(alone, p=2 * smallest_p(6))
    assert alone.sure
    assert not both["x"].sure


def test_figures_in_words() -> None:
    """Shares are per cent, differences have a sign, and one around zero is not called sure."""
    assert str(Figure(0.5, 0.41, 0.66)) == "50.0 (41.0 to 66.0)"
    assert str(Figure(0.5, 0.5, 0.5)) == "50.0 (50.0 to 50.0)"
    assert str(Figure(1.5, 1.5, 1.5, "number")) == "1.500"
    assert str(Figure(-0.0001, -0.02, 0.03, "difference")) == "+0.0 (-2.0 to +3.0)"
    assert str(Figure(1.2345, 1.0, 1234.5, "number")) == "1.234 (1.000 to 1234)"
    assert in_words(Figure(-0.02, -0.04, 0.01, "difference")).startswith("makes no difference")
    sure = Figure(0.02, 0.01, 0.04, "difference", p=0.02)
    assert in_words(sure) == "gains 2.0 points (+1.0 to +4.0)"
    assert in_words(replace(sure, p=0.05)).startswith("makes no difference")
    assert in_words(None) == "was not measured"


def test_markdown_has_one_line_a_row() -> None:
    """Every row has the table's columns; a bar in a cell is no column."""
    outcome = Outcome(("a", "b"), (("x|y", 1234), (None, Figure(0.1, 0.1, 0.1))), "Note.", ())
    lines = as_markdown(outcome).splitlines()
    assert lines[4:8] == [
        "| a | b |",
        "| --- | --- |",
        "| x\\|y | 1,234 |",
        "| – | 10.0 (10.0 to 10.0) |",
    ]


@pytest.fixture(scope="module", params=EXPERIMENTS)
def outcome(request: pytest.FixtureRequest) -> Outcome:
    """Each experiment's outcome on the planted task."""
    found = EXPERIMENTS[request.param].run(ENCODER, [task()], NOWHERE)
    assert found.name == request.param
    return found


def test_every_experiment_gives_a_table_and_a_plot(outcome: Outcome) -> None:
    """Rows are as wide as the columns, and the plot is the same file each time."""
    assert outcome.rows
    assert all(len(row) == len(outcome.columns) for row in outcome.rows)
    figures = [cell for row in outcome.rows for cell in row if isinstance(cell, Figure)]
    assert figures
    assert all(figure.low <= figure.high for figure in figures)
    shares = [figure for figure in figures if figure.kind == "share"]
    assert all(0.0 <= figure.mean <= 1.0 for figure in shares)
    assert outcome.note.endswith(".")
    for panel in outcome.panels:
        assert all(len(series.figures) == len(panel.ticks) for series in panel.series)
    pytest.importorskip("matplotlib", reason="plots need matplotlib (extra eval)")
    drawn = plot(outcome)
    assert drawn == plot(outcome)
    assert drawn.startswith("<?xml")
    assert drawn.count('id="axes_') == len(outcome.panels)
    assert "<dc:date>" not in drawn


def test_planted_evidence_is_found() -> None:
    """Every size finds what shares the question's words; without context no size differs."""
    found = EXPERIMENTS["halo"].run(ENCODER, [task()], NOWHERE)
    at = found.columns.index("found in 1,600")
    values = [row[at] for row in found.rows]
    assert all(isinstance(value, Figure) and value.mean > 0.9 for value in values)
    assert "no size makes a difference that is sure" in found.note


def test_sentences_too_long_for_a_window_are_named() -> None:
    """Windows of 512 hold 510 tokens, a landmark and what opens a text."""
    encoder = fake_encoder(window=1024, longest=511)
    with pytest.raises(InputError, match="sentences of up to 511 tokens, too many for windows of"):
        EXPERIMENTS["granularity"].run(encoder, [task()], NOWHERE)
    EXPERIMENTS["granularity"].run(fake_encoder(window=1024, longest=510), [task()], NOWHERE)


def test_types_of_questions_are_rows() -> None:
    """Types of questions stand in the table, that of the missing subject first."""
    found = EXPERIMENTS["context"].run(ENCODER, [task()], NOWHERE)
    assert [row[0] for row in found.rows] == ["context"] * 4 + ["plain"] * 4
    assert sum(int(row[2]) for row in found.rows) == 4 * len(task().questions)


def test_an_unknown_experiment_names_the_nearest() -> None:
    """A wrong name is told with the one that was meant, and with all there are."""
    assert find("halo").name == "halo"
    with pytest.raises(InputError, match=r"'granularty'.*'granularity'.*halo"):
        find("granularty")


def test_an_experiment_without_evidence_says_so() -> None:
    """A task that judges documents only has nothing to measure."""
    empty = Task("judged", "dev", (Document("d", "Text."),), (Question("q", "Why?", "d", ()),))
    with pytest.raises(InputError, match="judged: no question with evidence"):
        EXPERIMENTS["halo"].run(ENCODER, [empty], NOWHERE)
    with pytest.raises(InputError, match="no task"):
        EXPERIMENTS["halo"].run(ENCODER, [], NOWHERE)


def test_an_unknown_experiment_is_reported_before_the_first_runs(tmp_path):
    """The nearest name comes with it."""
    said: list[str] = []
    with pytest.raises(InputError, match=r"bounderies.*boundaries"):
        list(
            outcomes(Session((str(tmp_path / "mine.jsonl"),)), ["halo", "bounderies"], said.append)
        )
    assert said == []
