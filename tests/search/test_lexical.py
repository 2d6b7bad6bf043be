"""What a word is in many languages, and BM25 against slow and foreign references."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.language.terms import STOP_WORDS, question_terms, terms
from milepost.search.lexical import bm25, idf
from milepost.store.bm25 import K1, B


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Studies", "study"),
        ("the whale’s", "the whale"),
        ("Größe", "GRÖSSE"),
        ("café", "cafe\u0301"),
        ("naïve", "naive"),
        ("l’arbre", "l'arbre"),
        ("İstanbul", "istanbul"),
        ("kayıt", "KAYIT"),
        ("członków", "czlonkow"),
        ("１６００", "１６００"),
        ("ＡＢＣ", "abc"),
        ("3,14", "3.14"),
        ("1\u202f234,5", "1,234.5"),
        ("m²", "m2"),
        ("Donau\u00addampf", "Donaudampf"),
        ("ﬁnal", "final"),
        ("שָׁלוֹם", "שלום"),
        ("الْكِتَابُ", "كتاب"),
        ("كتـــاب", "كتاب"),
        ("Ёлка", "елка"),
        ("ｱｲｳ", "アイウ"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"),
        ("हिन्दी", "हिन्दी।"),
        ("बोद", "बोद"),
    ],
)
def test_text_and_question_agree(written: str, asked: str) -> None:
    assert terms(written) == terms(asked) != []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("snake_case and CamelCase", ["snake", "case", "and", "camelcas"]),
        ("l'arbre, dell’arte, O'Neill", ["l", "arbr", "dell", "art", "o", "neill"]),
        ("it's don't we'll", ["it", "dont", "well"]),
        ("東京都の人々", ["東京", "京都", "都の", "の人", "人々"]),
        ("水", ["水"]),
        ("iPhone 15を買う", ["iphon", "15", "を買", "買う"]),
        ("བོད་ཡིག་", ["བོད", "ཡིག"]),
        ("राम। श्याम॥", ["राम", "श्याम"]),
        ("می‌خواهم", ["می", "خوا"]),
        ("a-b/c", ["a", "b", "c"]),
        ("12th, 3D, $x$, 100%", ["12th", "3d", "x", "100", "percent"]),
        ("0.125, 1.2.3, 12 m, 5g", ["0.125", "1.2.3", "12", "m", "meter", "5g", "5", "g", "gram"]),
        ("03.10.1998", ["03.10.1998", "1998-10-03", "1998-10", "1998"]),
        ("… — !?", []),
        ("", []),
    ],
)
def test_what_a_word_is(text: str, wanted: list[str]) -> None:
    assert terms(text) == wanted


@given(st.text(max_size=80))
def test_terms_are_words(text: str) -> None:
    found = terms(text)
    assert all(term.split() == [term] for term in found)
    assert found == terms(text)


@given(st.text("abcéß'’ ,.1東京ع\n", max_size=60), st.text("abcéß'’ ,.1東京ع\n", max_size=60))
def test_a_line_break_parts_words(first: str, second: str) -> None:
    assert terms(first + "\n" + second) == terms(first) + terms(second)


def test_function_words_are_left_out_of_questions() -> None:
    asked = "What does the author say of whales, because of what?"
    assert question_terms(asked) == ["author", "say", "whale"]
    assert question_terms("who's the whale's keeper") == ["whale", "keeper"]
    for word in STOP_WORDS:
        assert question_terms(f"{word.title()} whales") == ["whale"]


def test_a_question_of_function_words_keeps_them() -> None:
    assert question_terms("To be or not to be") == ["to", "be", "or", "not"]
    assert question_terms("?!") == []


@st.composite
def documents(draw: st.DrawFn) -> list[list[list[str]]]:
    words = st.lists(st.sampled_from("abcde"), max_size=7)
    return draw(st.lists(st.lists(words, min_size=1, max_size=9), min_size=1, max_size=4))


def measured(
    texts: list[list[list[str]]], wanted: list[str], scales: tuple[int, ...]
) -> np.ndarray:
    rows = [row for text in texts for row in text]
    counts = {w: np.array([row.count(w) for row in rows], np.float32) for w in wanted}
    weights = {
        w: idf(int((counts[w] > 0).sum()), len(rows)) for w in wanted if (counts[w] > 0).any()
    }
    lengths = np.array([len(row) for row in rows], np.float32)
    borders = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return bm25(counts, lengths, borders, weights, float(lengths.mean()), scales)


@settings(max_examples=40)
@given(documents(), st.integers(0, 4))
def test_bm25_against_the_formula(texts: list[list[list[str]]], scale: int) -> None:
    wanted = ["a", "c", "zebra"]
    rows = [row for text in texts for row in text]
    mean = sum(map(len, rows)) / len(rows) * (2 * scale + 1)
    slow = []
    for text in texts:
        for place in range(len(text)):
            words = Counter(w for s in text[max(0, place - scale) : place + scale + 1] for w in s)
            total = 0.0
            for word in wanted:
                holding = sum(word in row for row in rows)
                if words[word]:
                    idf = math.log(1 + (len(rows) - holding + 0.5) / (holding + 0.5))
                    norm = K1 * (1 - B + B * words.total() / mean)
                    total += idf * words[word] * (K1 + 1) / (words[word] + norm)
            slow.append(total)
    np.testing.assert_allclose(measured(texts, wanted, (scale,))[0], slow, rtol=1e-4, atol=1e-5)
