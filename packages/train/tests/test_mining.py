"""Hard negatives: which sentences are kept, which are dropped and why, and going on."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost.language.terms import terms
from milepost.testing import fake_encoder
from milepost_train.mining import (
    BESIDE,
    LIKE_EVIDENCE,
    REPEATED,
    SAME_WORDS,
    SET_ASIDE,
    SHORT,
    Candidate,
    Evidence,
    Limits,
    choose,
    mine,
    reason,
)
from support.files import write_lines

BEES = (
    "The queen of the hive lays all the eggs. She lives for up to five years. "
    "Workers feed the young with pollen. Drones leave the hive in early summer. "
    "The old queen leaves the hive with a swarm. Honey is stored above the brood. "
)
SHIPS = (
    "Tugs pull large ships to the quay. The hive of the harbour is its market. "
    "A queen of the seas was launched here. Canvas was woven from hemp and flax. "
)
ENCODER = fake_encoder()


def words(text):
    return frozenset(terms(text))


def test_each_reason_by_hand():
    evidence = Evidence(0.6, [words("The queen of the hive lays all the eggs.")])
    good = "Drones leave the hive in early summer."

    def why(text=good, score=0.1, near=None, aside=False):
        return reason(Candidate("d", (0, 9), text, score, near, aside), evidence, Limits())

    assert why() == why(near=2) == why(score=0.57) == ""
    assert why(near=1) == BESIDE
    assert why(aside=True) == SET_ASIDE
    assert why("See there.") == SHORT
    assert why(score=0.571) == LIKE_EVIDENCE
    assert why("All of the eggs the queen lays in the hive.") == SAME_WORDS
    assert why("The queen lays all eggs.") == SAME_WORDS  # a part of it


@given(
    positive=st.floats(-1, 1), score=st.floats(-1, 1),
    below=st.floats(0.1, 1),
)  # fmt: skip
def test_the_margin_lies_below_the_positive_whatever_its_sign(positive, score, below):
    """No candidate passes that scores above the evidence, be its score negative."""
    evidence = Evidence(positive, [words("entirely other words stand here now")])
    candidate = Candidate("d", (0, 9), "Drones leave the hive in early summer.", score)
    passes = not reason(candidate, evidence, Limits(below=below))
    if passes:
        assert score <= positive
    if positive > 0:
        assert passes == (score <= positive - (1 - below) * positive)


def test_rankings_take_turns():
    """Landmarks and words give a negative each in turn; repeats are dropped, overlap is both."""
    a, b, c, d = (
        Candidate("d", (n, n + 1), f"Sentence {w} has its own word.", 0.1 * n)
        for n, w in enumerate(("one", "two", "three", "four"))
    )
    again = Candidate("e", (7, 8), a.text, 0.2)
    dropped = Counter()
    chosen = list(
        choose(([a, b, again], [c, a, d]), Evidence(0.9, [words("eggs")]), Limits(), 3, dropped)
    )
    assert [(n["span"][0], n["by"]) for n in chosen] == [
        (0, "both"),
        (2, "words"),
        (1, "landmarks"),
    ]
    assert dropped == {REPEATED: 1}


def test_no_negatives(tmp_path):
    given = files(tmp_path, DOCUMENTS, [question()])
    with pytest.raises(InputError, match="no negatives"):
        mine(*given, tmp_path / "out.jsonl", ENCODER, Limits(0, 0))


def files(folder, documents, questions):
    texts = write_lines(folder / "documents.jsonl.gz", documents)
    return texts, write_lines(folder / "questions.jsonl", questions)


def question(name="q", document="bees", text="What does the queen of the hive lay?", **fields):
    return {"id": name, "document": document, "question": text, "spans": [[0, 40]],
            "split": "train", **fields}  # fmt: skip


DOCUMENTS = [{"id": "bees", "text": BEES}, {"id": "ships", "text": SHIPS}]


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_negatives_of_a_question(tmp_path):
    out = tmp_path / "out.jsonl"
    mined = mine(*files(tmp_path, DOCUMENTS, [question()]), out, ENCODER)
    (row,) = rows(out)
    assert {k: row[k] for k in ("id", "question", "document", "spans")} == {
        "id": "q", "question": "What does the queen of the hive lay?", "document": "bees",
        "spans": [[0, 40]],
    }  # fmt: skip
    texts = {"bees": BEES, "ships": SHIPS}
    told = {texts[n["document"]][slice(*n["span"])]: n["by"] for n in row["negatives"]}
    assert told["The old queen leaves the hive with a swarm."] == "both"
    assert told["A queen of the seas was launched here."] == "both"
    assert told["Canvas was woven from hemp and flax."] == "landmarks"
    assert not {"The queen of the hive lays all the eggs.", "She lives for up to five years."} & (
        set(told)
    )
    assert all(n["score"] <= 0.95 * row["positive"] + 1e-4 for n in row["negatives"])
    assert mined.counts["candidate: is next to the evidence"] == 1
    assert mined.counts["questions"] == 1
    by = Counter(n["by"] for n in row["negatives"])
    assert {k: mined.counts[f"negatives by {k}"] for k in by} == by
    assert not mined.bad
    # Scores are those of the encoder.
    asked = ENCODER.encode_query(row["question"])
    for name, text in texts.items():
        marks = ENCODER.encode(text)
        for negative in row["negatives"]:
            if negative["document"] == name:
                at = [int(a) for a, _ in marks.spans].index(negative["span"][0])
                assert negative["score"] == pytest.approx(
                    float(marks.vectors[at] @ asked), abs=5e-3
                )
    assert row["positive"] == pytest.approx(
        float(ENCODER.encode(BEES).vectors[0] @ asked), abs=5e-3
    )


def test_only_the_own_document(tmp_path):
    out = tmp_path / "out.jsonl"
    mine(*files(tmp_path, DOCUMENTS, [question()]), out, ENCODER, Limits(collection=0))
    assert {n["document"] for n in rows(out)[0]["negatives"]} == {"bees"}


def test_what_is_set_aside_is_no_negative(tmp_path):
    swarm = BEES.index("The old queen")
    sea = SHIPS.index("A queen")
    documents = [
        {"id": "bees", "text": BEES, "beside": {"q": [[swarm, swarm + 10]]}},
        {"id": "ships", "text": SHIPS, "ignore": [[sea, sea + 10]]},
    ]
    out = tmp_path / "out.jsonl"
    mined = mine(*files(tmp_path, documents, [question(), question("r")]), out, ENCODER)
    q, r = rows(out)
    starts = [{(n["document"], n["span"][0]) for n in row["negatives"]} for row in (q, r)]
    assert ("bees", swarm) not in starts[0]
    assert ("bees", swarm) in starts[1]
    assert all(("ships", sea) not in each for each in starts)
    assert mined.counts[f"candidate: {SET_ASIDE}"] == 3


def test_what_may_not_be_used_gives_nothing(tmp_path):
    """Documents of another split and of a licence; evidence without words."""
    documents = [
        {"id": "bees", "text": BEES},
        {"id": "ships", "text": SHIPS, "meta": {"licence": "CC-BY-NC-4.0"}},
        {"id": "held", "text": SHIPS},
    ]
    other = question("r", document="held", split="test", spans=[[0, 20]])
    closed = question("s", document="ships", spans=[[0, 20]])
    given = files(tmp_path, documents, [question(), other, closed, question("g", spans=[[40, 41]])])
    out = tmp_path / "out.jsonl"
    mined = mine(*given, out, ENCODER)
    assert [row["id"] for row in rows(out)] == ["q"]
    assert {n["document"] for row in rows(out) for n in row["negatives"]} == {"bees"}
    assert mined.counts["document with a non-commercial licence"] == 1
    assert ["questions.jsonl, line 4" in str(error) for error in mined.bad] == [True]
    mined = mine(*given, tmp_path / "nc.jsonl", ENCODER, allow_nc=True)
    assert mined.counts["questions"] == 2


def test_a_file_without_questions(tmp_path):
    """Nothing to mine for is an error, which names wrong lines that may be why."""
    given = files(tmp_path, DOCUMENTS, [question(split="dev")])
    with pytest.raises(InputError, match=r"no train question.*without, they are of dev"):
        mine(*given, tmp_path / "out.jsonl", ENCODER)
    given[1].write_text("{broken\n")
    with pytest.raises(InputError, match=r"line 1: not JSON.*try: another split or file"):
        mine(*given, tmp_path / "out.jsonl", ENCODER)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in given}
    assert mine(*files(tmp_path, DOCUMENTS, many()), tmp_path / "out.jsonl", ENCODER).counts


def many():
    return [question(f"q{n}", text=f"What does the queen number {n} lay?") for n in range(7)]


def test_a_stopped_run_goes_on(tmp_path):
    given = files(tmp_path, DOCUMENTS, many())
    whole = tmp_path / "whole.jsonl"
    counts = mine(*given, whole, ENCODER).counts
    out = tmp_path / "out.jsonl"

    class Stopped(Exception):
        pass

    def stop(doing, done, _of):
        if doing == "mining" and done == 4:
            raise Stopped

    with pytest.raises(Stopped):
        mine(*given, out, ENCODER, progress=stop)
    assert len(rows(out)) == 4
    assert mine(*given, out, ENCODER).counts == counts
    assert out.read_bytes() == whole.read_bytes()
