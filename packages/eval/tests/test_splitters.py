"""Splitters: what a spec means, and offsets that are exact however often a text repeats itself."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.documents import split
from milepost.errors import InputError
from milepost.types import Document, Span
from milepost_eval.metrics import at_budget
from milepost_eval.systems.splitters import splitter, word_pieces
from milepost_eval.systems.units import Scored, Units
from milepost_eval.types import Place, Question

CHROMA = ["\n\n", "\n", ".", "?", "!", " ", ""]
FEW = settings(max_examples=40, deadline=None)
WORDS = st.sampled_from(
    ["a", "aa", "word", "Word.", "The end.", "x" * 13, "é", "😀", "。", *" \n\t", "  ", "\n\n"]
)
REPETITIVE = st.lists(WORDS, max_size=60).map(" ".join) | st.lists(WORDS, max_size=60).map("".join)
TEXTS = REPETITIVE | st.text(max_size=200)
SIZES = st.integers(2, 60).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def ascend(spans: list[Span], text: str) -> bool:
    """Whether spans are not empty, inside the text, and neither edge goes back."""
    inside = all(0 <= start < end <= len(text) for start, end in spans)
    return inside and all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(spans))


def covers(spans: list[Span], text: str) -> bool:
    held = {place for start, end in spans for place in range(start, end)}
    return all(letter.isspace() or place in held for place, letter in enumerate(text))


def tile(spans: list[Span], text: str) -> bool:
    edges = [0, *(end for _, end in spans)]
    return [start for start, _ in spans] == edges[:-1] and edges[-1] == len(text)


@FEW
@given(TEXTS, st.integers(1, 60))
def test_sentences_and_packed_sentences_tile(text: str, size: int) -> None:
    assert tile(list(splitter("sentence")(text)), text)
    assert tile(list(splitter(str(size))(text)), text)


@FEW
@given(TEXTS, SIZES)
def test_packed_chunks_keep_to_the_size(text: str, sizes: tuple[int, int]) -> None:
    size, overlap = sizes
    chunks = list(splitter(f"{size}-{overlap}")(text))
    sentences = set(split(text))
    assert ascend(chunks, text)
    assert covers(chunks, text)
    assert all(end - start <= size or (start, end) in sentences for start, end in chunks)


def langchain(
    size: int, overlap: int, length: Callable[[str], int] = len, separators: list[str] | None = None
) -> Callable[..., list[str]]:
    library = pytest.importorskip("langchain_text_splitters", reason="needs the extra eval")
    made = library.RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=overlap, length_function=length, separators=separators
    )
    return made.split_text


@pytest.mark.parametrize("kind", ["recursive", "tokens"])
@FEW
@given(TEXTS, SIZES)
def test_the_chunks_are_langchains(kind: str, text: str, sizes: tuple[int, int]) -> None:
    """Those of Chroma's separators where the sizes are tokens."""
    pytest.importorskip("langchain_text_splitters", reason="needs the extra eval")
    size, overlap = sizes
    spans = list(splitter(f"{kind}:{size}-{overlap}")(text))
    counted = (word_pieces(), CHROMA) if kind == "tokens" else ()
    wanted = [one for one in langchain(size, overlap, *counted)(text) if one.strip()]
    assert [text[start:end] for start, end in spans] == wanted
    assert all(a <= b for (a, _), (b, _) in pairwise(spans))


def test_recursive_offsets_beyond_a_million_characters() -> None:
    pytest.importorskip("langchain_text_splitters", reason="needs the extra eval")
    text = "0123456789" * 99_999 + " " + "0123456789" * 10_000
    line = "\n\n".join(text[at : at + 900] for at in range(0, len(text), 900))
    spans = splitter("recursive:1000")(line)
    assert [line[a:b] for a, b in spans] == langchain(1000, 0)(line)
    assert tile([(a, b if b == len(line) else b + 2) for a, b in spans], line)


def test_tokens_count_word_pieces() -> None:
    pytest.importorskip("langchain_text_splitters", reason="needs the extra eval")
    count, text = word_pieces(), "Chunks are measured in word pieces, not in characters. " * 9
    assert count("a\ud800b [SEP]") > 3
    assert max(count(text[a:b]) for a, b in splitter("tokens:20-5")(text)) in range(10, 21)


@FEW
@given(TEXTS, SIZES)
def test_semantic_offsets_are_code_points(text: str, sizes: tuple[int, int]) -> None:
    library = pytest.importorskip("semantic_text_splitter", reason="needs the extra eval")
    size, overlap = sizes
    spans = list(splitter(f"semantic:{size}-{overlap}")(text))
    assert [text[a:b] for a, b in spans] == library.TextSplitter(size, overlap=overlap).chunks(text)
    assert ascend(spans, text)
    assert covers(spans, text)
    assert all(end - start <= size for start, end in spans)


@pytest.mark.parametrize("spec", ["", "sentences", "recursive", "400-100-50", "-400", "٤٠٠"])
def test_unknown_specs_are_refused(spec: str) -> None:
    with pytest.raises(InputError, match=r"unknown splitter .*one of sentence, 400,"):
        splitter(spec)


@pytest.mark.parametrize("kind", ["", "recursive:", "semantic:", "tokens:"])
@pytest.mark.parametrize("sizes", ["0", "0-0", "5-5", "5-6"])
def test_sizes_that_make_no_chunks(kind: str, sizes: str) -> None:
    with pytest.raises(InputError, match=r"1 or more|below the size"):
        splitter(kind + sizes)


DOCUMENTS = [
    Document("a", "One here. Two here.\n\nThree."),
    Document("none", " \n "),
    Document("b", "Four is longer than the others."),
]


@pytest.mark.parametrize("spec", ["sentence", "30", "30-12", "recursive:30", "semantic:30"])
@pytest.mark.parametrize("between", [" ", "\n\n", "\r\n\r\n"])
def test_evidence_across_units_comes_back_whole(spec: str, between: str) -> None:
    if ":" in spec:
        pytest.importorskip("langchain_text_splitters", reason="needs the extra eval")
        pytest.importorskip("semantic_text_splitter", reason="needs the extra eval")
    text = f"\nLeave is signed by the head.{between}Lunch is at noon.{between}Ann is here.\n"
    units = Units.of([Document("a", text)], splitter(spec))
    places = Scored(units, np.arange(len(units), dtype=np.float32)).spend(800)
    assert len(places) > 1
    asked = Question("q", "?", "a", ((0, len(text)),))
    assert at_budget(places, asked, 800)["answer"] == 1
    assert units.place(1, 0.0, around=9) == Place("a", 0, len(text), 0.0)


def test_what_is_read_of_units_has_no_white_space_and_the_best_one_ranks_its_document():
    units = Units.of(DOCUMENTS, split)
    assert [units.texts(number) for number in range(3)] == [
        ["One here.", "Two here.", "Three."],
        [],
        ["Four is longer than the others."],
    ]
    assert units.document_offsets.tolist() == [0, 3, 3, 4]
    assert units.place(3, 1.0) == Place("b", 0, 31, 1.0)
    assert Scored(units, np.array([0.5, 0.5, 0.5, 0.6], np.float32)).documents(9) == ["b", "a"]
    assert Scored(units, np.array([0.0, 0.7, 0.0, 0.6], np.float32)).documents(1) == ["a"]


@given(st.lists(st.floats(-1, 1, width=16), min_size=4, max_size=4), st.integers(1, 80))
def test_what_is_spent_is_the_beginning_of_the_ranking_and_fills_the_budget(scores, budget):
    units = Units.of(DOCUMENTS, split)
    scored = Scored(units, np.array(scores, np.float32))
    spent = scored.spend(budget)
    assert spent == scored.best(4)[: len(spent)]
    lengths = [place.end - place.start for place in spent]
    assert sum(lengths[:-1]) < budget
    assert sum(lengths) >= budget or len(spent) == 4
