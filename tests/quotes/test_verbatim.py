"""A quotation is found word for word whatever its typography, and no other words are."""

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.quotes import fold, occurrences, stripped

WORDS = (
    "bees build cells of wax; the queen's -5 3.5 10² naïve “fine” – o’clock self-made ﬁve Straße "
    "1,600 10–15 東京都 각 (in) summer. NOW, tiếng Việt हिन्दी"
)
TEXTS = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=12).map(" ".join)


def found(quotation: str, text: str) -> list[tuple[str, tuple[str, ...]]]:
    """What is found, and what had to be ignored."""
    return [
        (text[each.start : each.end], each.ignored)
        for each in occurrences(stripped(quotation), fold(text))
    ]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\\"), max_size=40))  # not TeX
@settings(max_examples=200)
def test_folding_keeps_the_way_back(text: str) -> None:
    """Each folded letter comes from one code point, in order, and folding it alone gives it."""
    folded = fold(text)
    places = folded.places.tolist()
    assert len(places) == len(folded.letters)
    assert places == sorted(places)
    assert all(0 <= place < len(text) for place in places)
    alone = "".join(fold(text[place]).letters for place in dict.fromkeys(places))
    assert unicodedata.normalize("NFD", alone) == folded.letters
    assert fold(unicodedata.normalize("NFC", text)).letters == folded.letters
    assert fold(unicodedata.normalize("NFD", text)).letters == folded.letters


@given(TEXTS, TEXTS, TEXTS)
@settings(max_examples=150)
def test_a_part_of_a_text_is_found_where_it_is(before: str, middle: str, after: str) -> None:
    """One place is the part itself or touches it, and all places fold alike."""
    text = f"{before} {middle} {after}"
    given_part = stripped(middle)
    if not any(map(str.isalnum, given_part.letters)):
        return
    places = list(occurrences(given_part, fold(text)))
    at = text.index(given_part.text, len(before) + 1)
    assert any(place.start < at + len(given_part.text) and at < place.end for place in places)
    for place in places:
        assert fold(text[place.start : place.end]).letters == given_part.letters
        equal = text[place.start : place.end] == given_part.text
        assert equal == (place.ignored == ())


CHANGES = {
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "capitals": str.upper,
    "lines": lambda text: text.replace(" ", "\r\n  "),
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "straight quotes": lambda text: re.sub("[“”]", '"', text).replace("’", "'"),
    "soft hyphens": lambda text: re.sub(r"(?<=[a-z])(?=[a-z])", "\u00ad", text),
    "hyphenated": lambda text: re.sub(r"(?<=[a-z]{2})(?=[a-z]{2})", "-\n", text),
}


@pytest.mark.parametrize(
    ("quotation", "text", "ignored"),
    [
        ("KAYIT SIRASINDA ÖĞRENCİ", "Kayıt sırasında öğrenci", ("case", "typography")),
        ("كتاب يك روز", "کتـاب یک روز", ("typography",)),
    ],
)
def test_letters_typed_for_others(quotation: str, text: str, ignored: tuple[str, ...]) -> None:
    assert found(quotation, f"a {text} b") == [(text, ignored)]
    assert found(unicodedata.normalize("NFD", quotation), f"a {text} b") == [(text, ignored)]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@given(middle=TEXTS, other=TEXTS)
@settings(max_examples=40)
def test_typography_does_not_hide_a_quotation(change, middle: str, other: str) -> None:
    text = f"{other} {middle} {other}"
    if not stripped(middle).letters:
        return
    assert found(change(middle), text)
    assert found(middle, change(text))


@given(TEXTS, st.data())
@settings(max_examples=300)
def test_another_number_is_another_text(text: str, data: st.DataObject) -> None:
    digits = [at for at, letter in enumerate(text) if letter in "0123456789²"]
    if not digits:
        return
    at = data.draw(st.sampled_from(digits))
    put = data.draw(st.sampled_from(["7", "77", "-7", "7.7", " 7", "⁷", "7 "]))
    changed = f"{text[:at]}{put}{text[at + 1 :]}"
    assert found(changed, text) == []
    assert found(text, changed) == []


@pytest.mark.parametrize(
    ("quotation", "text"),
    [
        ("5 degrees", "15 degrees"),
        ("5 degrees", "-5 degrees"),
        ("-5 degrees", "10-5 degrees"),
        ("it costs 3", "it costs 3.5"),
        ("costs $3", "costs -$3"),
        ("at 10", "at 10:30"),
        ("10 apples", "10² apples"),
        ("10² apples", "102 apples"),
        ("10 apples", "10⁻² apples"),
        ("½ cup", "1½ cup"),
        ("1½ cups", "11/2 cups"),
        ("cells 3. 5", "cells 3.5"),
        ("3 - 5", "3 -5"),
        ("19-\n20", "1920"),
        ("234 people", "1\u00a0234 people"),
        ("from 12", "from 12\u202f000"),
        ("now here", "nowhere"),
        ("resign", "re-sign"),
        ("man eating fish", "man-eating fish"),
        ("art", "start"),
        ("ბილის", "თბილისი"),
        ("cafe", "café"),
        ("cafe", "cafe\u0301"),
        ("x", "ﬁx"),
        ("bees build", "bees, build"),
        ("102 bytes", "10<sup>2</sup> bytes"),
        ("5 degrees", "-<b>5</b> degrees"),
        ("5 degrees", "-**5** degrees"),
        ("now here", "<b>now</b>here"),
        ("a List<Integer> of", "a List<String> of"),
        ("if x2 holds", "if x<sub>2</sub> holds"),
        ("if a b c holds", "if a = b = c holds"),
        ("if a 1 and b 2", "if a =1 and b= 2"),
        ("of 5'x3', or", "of 5''x3'', or"),
        ("of 5 by 3, or", "of 5'' by 3'', or"),
        ("from 5 to 6, or", "from ~5 to ~6, or"),
        ("it is c now", "it is f<<b,c>>d now"),
        ("of x1 and", "of x[[1]] and"),
        ("on twolines", "on two<br>lines"),
        ("Bees build", "'Bees\n'build"),
        ("when match[1] is empty", "when match[2] is empty"),
        ("when x is empty", "when x[2] is empty"),
        ("as one court find that", "as one court find[s] that"),
        ("between mm and", "between [10, 20] mm and"),
    ],
)
def test_other_words_are_not_found(quotation: str, text: str) -> None:
    assert found(quotation, text) == []
    assert found(quotation, f"Of old, {text}; so it is.") == []


@pytest.mark.parametrize(
    ("quotation", "text"),
    [
        ("see the video, it", "see the [video](//y.be/a-b), it"),
        ("see the video, it", "see the [video][a b], it"),
        ("at http://a-b.org now", "at <http://a-b.org> now"),
        ("the AT&T lab", "the AT&amp;T lab"),
        ("its snake_case name", r"its snake\_case name"),
        ("(see the video).", "(see the [video](a-b.html))."),
        ("the key `x-y` (of 2.03)", "the key `x-y <http://a-b.org>`__ (of 2.03)"),
        ("on the 12th day", 'on the <span class="a-b">12th</span> day'),
        ("by a@b.org of", 'by <a href="mailto:a@b.org"\nrel="x-y"><span>a@b.org</span></a> of'),
        ("use the reset code now", "use the <code>reset</code> <var>code</var> now"),
        ("see the video, it", "see the [[https://y.be/a-b][video]], it"),
        ("on two lines, it", "on two<br/>lines, it"),
        ("see the video, it", "see the [[a-b|video]], it"),
        ("see the video, it", "see the [[video]], it"),
        ("see the video, it", "see the [https://y.be/a-b video], it"),
        ("see the video, it", "see the https://y.be/a-b[video^], it"),
        ("see the video, it", "see the <<a-b,video>>, it"),
        ("see the video, it", "see the :ref:`video <a-b>`, it"),
        ("see the video, it", "see ''the'' '''video''', it"),
        ("see the video, it", "see ~the~ =video=, it"),
        ("it isn't on", "'it isn''t on'"),
        ("its --all option", r"its \fB\-\-all\fR option"),
        ("the drug, reduced pain", "the drug,[3] reduced[a][b,c] pain"),
        ("the drug,[3] reduced pain", "the drug, reduced[12] pain"),
    ],
)
def test_links_and_tags_are_no_words(quotation: str, text: str) -> None:
    assert [reasons for _, reasons in found(quotation, text)] == [("typography",)]


@pytest.mark.parametrize(
    ("quotation", "text", "wanted", "ignored"),
    [
        ("Bees  build\tcells", "Bees build\ncells of wax", "Bees build\ncells", ("white space",)),
        ("Bees build", "-- Bees\n-- build", "Bees\n-- build", ("white space",)),
        ("Bees build", "*> Bees\n*> build", "Bees\n*> build", ("white space",)),
        ("Bees build", "  ! Bees\n  ! build", "Bees\n  ! build", ("white space",)),
        ("Bees build", "dnl Bees\ndnl build", "Bees\ndnl build", ("white space",)),
        ("Bees build", "REM Bees\nREM build", "Bees\nREM build", ("white space",)),
        ("Bees build", "' Bees\n' build", "Bees\n' build", ("white space",)),
        ("Bees build", '" Bees\n" build', 'Bees\n" build', ("white space",)),
        ("Bees build", '.\\" Bees\n.\\" build', 'Bees\n.\\" build', ("white space",)),
        ("Bees build", "/* Bees\n * build", "Bees\n * build", ("white space",)),
        ("an example", "an exam-\n  ple", "an exam-\n  ple", ("hyphenation",)),
        ("an exam- ple", "an example", "an example", ("hyphenation",)),
        ("self-contained", "self-\ncontained", "self-\ncontained", ("hyphenation",)),
        ("10–15", "10–\n15", "10–\n15", ("white space",)),
        ("five", "ﬁve", "ﬁve", ("typography",)),
        ("“The bee's”", '"The bee’s"', "The bee’s", ("typography",)),
        ("the ``bee''", "the “bee”", "the “bee”", ("typography",)),
        ("word -- word", "word—word", "word—word", ("typography",)),
        ("-5 degrees", "at −5 degrees", "−5 degrees", ("typography",)),
        ("5 degrees", "3-5 degrees", "5 degrees", ()),
        ("straße", "STRASSE", "STRASSE", ("case",)),
        ("東京", "大東京都", "東京", ()),
        ("(p.5)", "(p. 5)", "(p. 5)", ("white space",)),
        ("«… bees build …»", "Now bees build.", "bees build", ()),
        ("1 000", "1\u00a0000", "1\u00a0000", ("white space",)),
        ("at page 5", "See at page 5, 3 of them", "at page 5", ()),
        ("drug reduced", "drug [1] reduced [2].", "drug [1] reduced", ("white space",)),
        ("2 apples", "5 :2 apples", "2 apples", ()),
        (r"for $x \leq", r"for $x \leq y$ alone", r"for $x \leq", ()),
    ],
)
def test_what_is_ignored_is_named(
    quotation: str, text: str, wanted: str, ignored: tuple[str, ...]
) -> None:
    assert found(quotation, text) == [(wanted, ignored)]


def test_every_place_is_found() -> None:
    text = "ha ha ha. " * 50
    assert len(found("ha ha ha.", text)) == 50
    assert [each.start for each in occurrences(stripped("ha ha"), fold("ha ha ha ha"))] == [0, 6]
    assert np.all(np.diff(fold(text).places) >= 0)


def test_quotation_marks_around_are_not_part_of_it() -> None:
    for written in ('"a b"', " “a b” ", "„a b“", "«a b»", "‘a b’", "…a b…", "“… a b ...”"):
        assert stripped(written).text == "a b"
    assert stripped("bees' cells").text == "bees' cells"
    assert stripped('He said "no"').text == 'He said "no"'
    assert stripped("“”").letters == ""
