"""``Index.check``: verbatim, near, supported or not found, and the places that show it."""

import re
from pathlib import Path

import pytest

import milepost
from milepost.checking.check import check_documents, prepared
from milepost.checking.places import MAX_PLACES
from milepost.errors import BadQuestion, InputError
from milepost.index import Index
from milepost.search import quoted
from milepost.testing import fake_index
from milepost.types import Document, Mark
from milepost.verdicts import CheckResult
from milepost.wording import nothing_reaches
from support.pdf_writer import pdf_of

TEXTS = {
    "bees": "Bees build cells of wax. The queen lays the eggs. A swarm leaves the hive in June.",
    "gold": "Gold melts at 1064 degrees. It is heavier than lead, and it never rusts.",
    "ships": "A ship needs deep\nwater. Tugs pull large ships to the quay.",
}


@pytest.fixture(params=[60_000, 0], ids=["small", "large"])
def index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Index:
    monkeypatch.setattr(quoted, "EVERYTHING", request.param)
    return fake_index(TEXTS)


def assert_places(check: CheckResult) -> None:
    """Texts are slices, and differences lie inside of their place."""
    for place in check.places:
        text = TEXTS[place.document]
        assert place.text == text[place.start : place.end]
        for each in place.differences:
            assert each.text == text[each.start : each.end]
            assert each.given == check.text[each.given_start : each.given_end]
        assert (place.similarity == 1.0) == (check.verdict == "verbatim")
        assert bool(place.differences) == (check.verdict == "near")


@pytest.mark.parametrize(
    ("text", "document", "ignored"),
    [
        ("The queen lays the eggs", "bees", ()),
        ("“the queen lays\n the eggs”", "bees", ("white space", "case")),
        ("cells of wax. The queen", "bees", ()),
        ("deep water", "ships", ("white space",)),
        ("1064", "gold", ()),
    ],
)
def test_verbatim(index: Index, text: str, document: str, ignored: tuple[str, ...]) -> None:
    check = index.check(text)
    assert check.verdict == "verbatim"
    assert [(place.document, place.ignored) for place in check.places] == [(document, ignored)]
    assert (check.passages, check.best_score, check.notes) == ((), 0.0, ())
    assert_places(check)


@pytest.mark.parametrize(
    ("text", "given", "there", "kind"),
    [
        ("Gold melts at 1164 degrees.", "1164", "1064", "number"),
        ("It is heavier than lead, and it rusts.", "", "never", "negation"),
        ("Tugs never pull large ships to the quay.", "never", "", "negation"),
        ("A swarm leaves the hive not in", "not", "", "negation"),
        ("Tugs pull large boats to the quay.", "boats", "ships", None),
        ("Tugs pull small ships to the quay.", "small", "large", "opposite"),
        ("Gold is heavier than lead, and it never rusts.", "Gold", "It", None),
    ],
)
def test_near(index: Index, text: str, given: str, there: str, kind: str | None) -> None:
    check = index.check(text)
    assert check.verdict == "near"
    (difference,) = check.places[0].differences
    assert (difference.given, difference.text, difference.kind) == (given, there, kind)
    assert_places(check)


def test_near_with_words_that_have_changed_places() -> None:
    text = "The employee shall pay the employer a sum of 500 dollars upon leaving the firm."
    claim = "The employer shall pay the employee a sum of 500 dollars upon leaving the firm."
    check = check_documents(prepared(claim), [Document("contract", text)])
    assert check is not None
    assert [(each.given, each.text, each.kind) for each in check.places[0].differences] == [
        ("employer", "employee", "order"),
        ("employee", "employer", "order"),
    ]


@pytest.mark.parametrize(
    ("claim", "text", "kind"),
    [
        (
            "Ann Hill will write to the council by May.",
            "Carl Holm will write to the council by May.",
            "name",
        ),
        ("A restart of it was not necessary.", "A restart of it was unnecessary.", None),
    ],
)
def test_near_with_one_difference(claim: str, text: str, kind: str | None) -> None:
    check = check_documents(prepared(claim), [Document("report", text)])
    assert check is not None
    assert [each.kind for each in check.places[0].differences] == [kind]


def test_related_and_not_found(index: Index) -> None:
    claim = "in summer the swarm flies out of its hive"
    related = index.check(claim, min_score=0.0)
    assert related.verdict == "related"
    assert related.places == ()
    assert [each.document for each in related.passages] == [
        each.document for each in index.search(claim, k=3)
    ]
    assert related.best_score == related.passages[0].score
    missing = index.check(claim, min_score=1.0)
    assert (missing.verdict, missing.passages) == ("not found", ())
    assert missing.best_score == related.best_score
    said = nothing_reaches(1.0, missing.best_score)
    assert missing.notes == (*related.notes, said)
    with pytest.raises(InputError, match="not a probability"):
        index.check("The queen lays the eggs", min_score=50)


def test_the_sentence_that_judges_a_claim(index: Index) -> None:
    denied = index.check("At 1164 degrees gold melts.", min_score=1.0)
    assert denied.verdict == "contradicted"
    (place,) = denied.places
    (difference,) = place.differences
    assert difference.kind == "number"
    assert denied.text[difference.given_start : difference.given_end] == difference.given
    text = index.document(place.document).text
    assert text[difference.start : difference.end] == difference.text
    assert text[place.start : place.end] == place.text


def test_pieces_of_several_places(index: Index) -> None:
    first, second = "The queen lays the eggs", "Tugs pull large ships to the quay"
    check = index.check(f"{first}; {second}.")
    assert check.verdict == "stitched"
    assert [place.text for place in check.places] == [first, second]
    for dots in ("…", "[...]", "(…)", "[. . .]"):
        left_out = index.check(f"{first} {dots} {second}.")
        assert [place.text for place in left_out.places] == [first, second]
    assert index.check(f"{first}, {second}, zebras graze on wide plains").verdict != "stitched"
    assert index.check("A swarm, tugs and lead").verdict != "stitched"


def test_only_the_documents_named(index: Index) -> None:
    for text in ("Gold melts at 1064 degrees.", "Gold melts at 1164 degrees."):
        assert index.check(text, "gold").verdict in ("verbatim", "near")
        check = index.check(text, ["bees", "ships"], min_score=0.0)
        assert check.verdict == "found elsewhere"
        assert {place.document for place in check.places} == {"gold"}
    with pytest.raises(InputError, match="golf is not in the index"):
        index.check("gold", "golf")


@pytest.mark.parametrize("text", ["", " \n", "?!", "“”"])
def test_nothing_to_check(index: Index, text: str) -> None:
    with pytest.raises(BadQuestion, match="nothing to check"):
        index.check(text)


def test_the_model_is_loaded_for_claims_alone(tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "db"
    with fake_index() as other, milepost.open(folder, model=other.model) as index:
        index.add([Document(name, text) for name, text in TEXTS.items()])
        encoded: list[str] = []
        monkeypatch.setattr(index.model, "encode_query", encoded.append)
        assert index.check("The queen lays the eggs").verdict == "verbatim"
        assert index.check("Gold melts at 1164 degrees").verdict == "near"
        assert encoded == []


def test_an_empty_index() -> None:
    check = fake_index().check("the queen")
    assert (check.verdict, check.best_score) == ("not found", 0.0)
    assert check.notes == ("there is no text to search",)


def test_frequent_words_have_a_limit(index: Index) -> None:
    check = fake_index({"many": "Bee. " * 300}).check("bee")
    assert len(check.places) == MAX_PLACES
    assert [place.start for place in check.places] == list(range(0, 5 * MAX_PLACES, 5))
    assert "there may be more" in check.notes[0]


MANY = {
    f"d{d}": "".join(f"Common word in text t{d} at place p{d}x{s}. " for s in range(40))
    for d in range(30)
}
MANY["d17"] += "He saw a golden hon-\neycomb. It was full of sweet wax. "
MANY["tokyo"] = "大東京都。何もない。"


@pytest.fixture(scope="module")
def many() -> Index:
    return fake_index(MANY)


@pytest.mark.parametrize("limit", [60_000, 0])
@pytest.mark.parametrize(
    ("quotation", "name"),
    [
        ("golden honeycomb. It was full", "d17"),
        ("text t3 at place p3x7. Common word", "d3"),
        ("text t9", "d9"),
        ("京", "tokyo"),
        ("東京都", "tokyo"),
        ("golden wax", ""),
        ("place p5x3. Common word in text t6", ""),
    ],
)
def test_places_in_many_documents(
    many: Index, monkeypatch: pytest.MonkeyPatch, limit: int, quotation: str, name: str
) -> None:
    monkeypatch.setattr(quoted, "EVERYTHING", limit)
    monkeypatch.setattr(quoted, "BATCH", 100)
    check = many.check(quotation)
    assert (check.verdict == "verbatim") == bool(name)
    if name:
        assert {place.document for place in check.places} == {name}
        assert many.check(quotation, documents=["d2", "d4"]).verdict != "verbatim"


def test_pages_and_headings() -> None:
    marks = (Mark(0, "page", "1"), Mark(0, "heading", "Bees", 1), Mark(25, "page", "2"))
    with fake_index() as index:
        index.add(Document("marked", TEXTS["bees"], marks=marks))
        assert [(p.page, p.heading) for p in index.check("queen lays").places] == [(2, "Bees")]
        assert [p.page for p in index.check("wax. The queen").places] == [1]
        assert [p.page for p in index.check("The fine queen lays the eggs").places] == [2]


def test_a_sentence_over_lines_and_pages_of_a_pdf(tmp_path: Path) -> None:
    path, first = tmp_path / "fox.pdf", "The quick brown fox jumps over a lazy dog, and the hedge-"
    path.write_bytes(pdf_of([first], ["hog looks on; nobody sees it pass."]))
    with fake_index() as index:
        index.add(path)
        for text in (
            "a lazy dog, and the hedgehog looks on",
            "a lazy dog, and the hedge-\nhog looks on",
            "A lazy dog, and the hedge- hog\nlooks on",
        ):
            check = index.check(text)
            assert check.verdict == "verbatim"
            assert check.places[0].page == 1


def test_texts_without_an_index_agree_with_one(index: Index) -> None:
    documents = [Document(name, text) for name, text in TEXTS.items()]
    for text in ("the queen  lays", "Gold melts at 1164 degrees.", "Bees build", "water. Tugs"):
        assert check_documents(prepared(text), documents) == index.check(text)
    assert check_documents(prepared("zebras run"), documents) is None
    # Words that are nowhere, longer than the others; short words, which make the place.
    names = [f"unheardof{n}" for n in range(8)]
    long = " ".join(f"We saw the old grey cat sit on its {n} by the sea." for n in names)
    alike = [f"-O{n} {chr(97 + n)}.c -o out.js standalone wasm" for n in range(26)]
    page = Document("page", "\n\n".join([re.sub("unheardof.", "mat", long), *alike]))
    index.add(page)
    for text in (long, "-O3 d.c -o new.js STANDALONE_WASM"):
        found = check_documents(prepared(text), [*documents, page])
        assert (found and found.verdict, index.check(text).verdict) == ("near", "near")
    assert check_documents(prepared("zebras run"), []) is None


def test_long_texts_are_only_looked_for_word_for_word() -> None:
    long = "word other " * 3_000
    index = fake_index({"long": long})
    assert index.check(long).verdict == "verbatim"
    check = index.check(long + "more")
    assert check.verdict != "near"
    assert "only looked for word for word" in check.notes[0]


def test_each_sentence_of_a_text_has_its_own_result() -> None:
    index = fake_index(TEXTS)
    check = index.check("The queen lays the eggs. Zebras graze in Kenya.", min_score=1.0)
    assert [part.verdict for part in check.parts] == ["verbatim", "not found"]
    assert (check.verdict, check.places[0].text) == ("related", "The queen lays the eggs.")
    assert index.check("Gold melts at 1064 degrees. Bees build cells of wax.").verdict == "stitched"
    listed = index.check("- bees build cells of wax\n- the queen lays no eggs\n- tugs pull")
    assert [part.verdict for part in listed.parts] == ["verbatim", "near", "verbatim"]
    assert listed.verdict == "related"  # the second says something else
    assert index.check("The queen lays the eggs. Bees build cells of clay.").verdict == "related"
    # For both sentences together nothing is likely enough.
    read = index.check("The queen lays the eggs. Tugs drag barges about.", min_score=0.18)
    assert [passage.document for passage in read.passages] == ["ships"]
    for place in listed.places:
        for each in place.differences:
            assert each.given == listed.text[each.given_start : each.given_end]


def test_the_sentence_of_a_near_place_that_goes_on_to_contradict() -> None:
    text = "We recorded a tax expense of $86 million in 2022 compared to $53 million in 2021."
    near = fake_index({"d": text}).check("We recorded a tax expense of $86 million in 2021.")
    assert near.verdict == "near"
    assert any("compared to $53 million" in note for note in near.notes)
    same = fake_index({"d": text}).check("We recorded a tax expense of $86 million for 2022.")
    assert (same.verdict, same.notes) == ("near", ())


def test_what_has_other_words_is_judged_as_a_claim() -> None:
    lines = (
        "Held: the act does not allow the mayor to raise tolls.",
        "Some of the Court agree that the act allows the mayor to raise quotas.",
    )
    claim = "The Court held that the act allows the mayor to raise tolls."
    alone, both = Document("d", lines[1]), "\n".join(lines)
    found = fake_index({"d": both}).check(claim)
    assert (found.verdict, found.places[0].text.strip()) == ("contradicted", lines[0])
    assert fake_index({"d": both}).check(claim, "d").verdict == "contradicted"
    assert fake_index({"d": lines[1]}).check(claim).verdict == "near"  # nothing denies it
    assert check_documents(prepared(claim), [alone]) is None
    for slips in (lines[1].replace("agree", "agrees").replace("quotas", "qotas"), lines[1][:-8]):
        held = check_documents(prepared(slips), [alone])
        assert held is not None
        assert held.verdict in ("near", "verbatim")


@pytest.mark.parametrize(
    ("text", "is_more"),
    [
        ("Neither gold nor the red lead is an acid.", True),
        ("If it rains, the red lead is an acid.", True),
        ("As all know, the red lead is an acid.", False),
        ("It is not dry; the red lead is an acid.", False),
    ],
)
def test_a_part_of_a_sentence_that_denies_it(text: str, is_more: bool) -> None:
    for given, verdict in (
        ("the red lead is an acid", "verbatim"),
        ("a red lead is an acid", "near"),
    ):
        found = [fake_index({"d": text}).check(given)]
        found += filter(None, [check_documents(prepared(given), [Document("d", text)])])
        assert [each.verdict for each in found] == [verdict, verdict]
        assert [any("says more" in note for note in each.notes) for each in found] == [is_more] * 2
