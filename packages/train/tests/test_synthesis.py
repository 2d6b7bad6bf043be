"""Questions from a language model: the prompts, the checks, going on.

Every answer comes over HTTP from a real server on this machine.
"""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.chat import Endpoint
from milepost.documents import split
from milepost.errors import MilepostError
from milepost.testing import fake_encoder
from milepost.types import Document
from milepost_eval.tasks import load
from milepost_train.generated import Source
from milepost_train.synthesis import (
    Asking,
    copies,
    excerpts,
    question_in,
    synthesize,
)
from support.chat_server import serving
from support.files import write_lines

ENCODER = fake_encoder()
TEXT = "".join(
    f"Keeper {n}{n} paints hive {n}{n} with colour {n}{n} before spring comes. "
    for n in "abcdefghijkl"
)


def endpoint(chat, **options):
    return Endpoint(chat.url, "small", **{"wait_s": 0.001, "timeout_s": 5.0, **options})


@pytest.mark.parametrize(
    ("answer", "question", "why"),
    [
        ("Who lays the eggs?", "Who lays the eggs?", ""),
        ('**Question:** "Who lays the eggs?"\n', "Who lays the eggs?", ""),
        ("<think>\nWhat could I ask?\n</think>\n\nWho lays eggs?", "Who lays eggs?", ""),
        ("```\nWho lays eggs?\n```", "Who lays eggs?", ""),
        ("NONE", "", "refused"),
        ("none.", "", "refused"),
        ("<think>never ending", "", "refused"),
        ("I'm sorry, but I cannot help with that.", "", "refused"),
        ("Who lays eggs?\nWho eats honey?", "", "more than one line"),
        ("?!", "", "no words"),
        ("Who " * 100, "", "longer than a question"),
        ("What does the excerpt say of eggs?", "", "speaks of the text itself"),
        ("Which text editors does it support?", "Which text editors does it support?", ""),
        ("Are none of the bees awake in winter?", "Are none of the bees awake in winter?", ""),
    ],
)
def test_what_an_answer_holds(answer, question, why):
    """Labels, quotes and thoughts are taken off; refusals and other talk are told apart."""
    assert question_in(answer) == (question, why)


def test_a_copy_is_told_from_a_question():
    """Six words in a row, or nearly all words that mean something, are a copy."""
    told = "Workers change places every few hours so that none of them freezes in the winter."
    assert copies("Do workers change places every few hours?", told)
    assert copies("In winter, places change, hours few, workers none freezes?", told)
    assert not copies("What keeps the bees at the edge from dying of cold?", told)
    assert not copies("winter workers places", told)


@settings(max_examples=60)
@given(
    text=st.lists(
        st.sampled_from(
            ["Bees build cells of wax in the dark hive. ", "Yes. ", "A heading\n\n", "- item\n",
             "The queen of the hive lays all of the eggs herself. ", "\n\n"]
        ), max_size=60,
    ).map("".join),
    per_document=st.integers(1, 7),
    seed=st.integers(0, 3),
)  # fmt: skip
def test_excerpts_on_any_text(text, per_document, seed):
    asking = Asking(per_document=per_document, seed=seed, words=30)
    source = Source(Document("d", text))
    spans = [(a, a + len(text[a:b].rstrip())) for a, b in split(text)]
    found = list(excerpts(source, spans, [], asking))
    assert found == list(excerpts(source, spans, [], asking))
    assert len(found) <= per_document
    starts, ends = {a for a, _ in spans}, {b for _, b in spans}
    for each in found:
        assert len(each.marked) == (2 if each.kind == "scattered" else 1)
        for start, end in each.marked:
            assert each.span[0] <= start < end <= each.span[1]
            assert start in starts
            assert end in ends
            assert len(text[start:end].split()) >= 6
        if len(each.marked) == 2:
            assert each.marked[0][1] < each.marked[1][0]


def documents(folder, texts):
    lines = ({"id": name, "text": text, "title": "Hives", "licence": "CC0"} for name, text in texts)
    return write_lines(folder / "documents.jsonl", lines)


def marked_in(body):
    return [part.partition(">>>")[0] for part in body["messages"][-1]["content"].split("<<<")[1:]]


def good(number, body):
    """A question that the fake model can find: of words of the first marked sentence."""
    name = marked_in(body)[0].split()[1]
    return f"Keeper {name}: what colour?"


def made_by(tmp_path, reply, texts=(("bees", TEXT),), out="out.jsonl", **asking):
    """Run against a server; returns the result, the rows, the server."""
    with serving(reply) as chat:
        found = synthesize(
            [documents(tmp_path, texts)], tmp_path / out, endpoint(chat), ENCODER,
            Asking(**{"kinds": ("plain",), "longest": 1, "top": 3, **asking}),
        )  # fmt: skip
    rows = [json.loads(line) for line in (tmp_path / out).read_text().splitlines()]
    return found, rows, chat


def test_questions_become_a_task(tmp_path):
    found, rows, chat = made_by(tmp_path, good)
    assert found.counts["questions: plain"] == 4
    assert rows[0] == {"id": "bees", "text": TEXT, "title": "Hives", "licence": "CC0"}
    task = load(str(tmp_path / "out.jsonl"), "train")
    for question, body in zip(task.questions, chat.requests, strict=True):
        assert [TEXT[a:b] for a, b in question.spans] == marked_in(body)
        assert question.kind == "plain"
    assert "Title: Hives" in chat.requests[0]["messages"][-1]["content"]


def test_scattered_questions_have_two_spans(tmp_path):
    _, rows, _ = made_by(
        tmp_path,
        lambda n, b: "Keepers " + " and ".join(s.split()[1] for s in marked_in(b)) + "?",
        kinds=("scattered",), per_document=2, top=6,
    )  # fmt: skip
    assert [len(row["spans"]) for row in rows[1:]] == [2]


def test_what_is_dropped_is_counted_by_reason(tmp_path):
    replies = [
        lambda b: "NONE",
        lambda b: marked_in(b)[0],
        lambda b: good(0, b),
        lambda b: "Keeper: what colour?",
        lambda b: "Keeper: what colour?",
        lambda b: 400,
        lambda b: "Zebras zigzag; xylophones vex Quixote?",
    ]
    found, rows, _ = made_by(
        tmp_path, lambda n, body: replies[n](body), per_document=7, similar=1.0, top=12
    )
    assert {k: v for k, v in found.counts.items() if k.startswith("dropped")} == {
        "dropped: refused": 1,
        "dropped: copies the evidence": 1,
        "dropped: asked before": 1,
        "dropped: no answer that can be read": 1,
    }
    assert len(rows) == 4
    found, rows, _ = made_by(
        tmp_path, lambda n, body: replies[6](body), per_document=1, top=1, out="b.jsonl", seed=3
    )
    assert found.counts["documents without a question"] == 1
    assert found.counts["dropped: evidence not among the best 1 landmarks"] == 1
    assert rows == []


def test_an_endpoint_that_answers_nothing_stops_the_run(tmp_path):
    texts = [(f"d{n}", TEXT) for n in range(9)]
    with pytest.raises(MilepostError, match=r"8 times in a row"):
        made_by(tmp_path, lambda n, body: 400, texts, per_document=1)


def test_a_stopped_run_goes_on(tmp_path):
    """After an endpoint died, the second run asks for what is missing and ends the same."""
    texts = [(f"d{n}", TEXT.replace("hive", f"hive{n}")) for n in range(3)]

    def reply(number, body):
        return good(number, body).replace("colour", f"colour {marked_in(body)[0].split()[3]}")

    _, whole, all_asked = made_by(tmp_path, reply, texts, out="whole.jsonl", per_document=2)
    with pytest.raises(MilepostError, match="401"):
        made_by(tmp_path, lambda n, b: reply(n, b) if n < 3 else 401, texts, per_document=2)
    found, rows, asked = made_by(tmp_path, reply, texts, per_document=2)
    assert rows == whole
    assert asked.requests == all_asked.requests[2:]  # the first document is done
    assert found.counts["asked for"] == 6


def test_questions_are_not_repeated_across_runs(tmp_path):
    texts = [("a", TEXT), ("b", TEXT)]
    calls = []

    def reply(number, body):
        calls.append(body)
        return 401 if len(calls) == 2 else "What colour has keeper aa?"

    with pytest.raises(MilepostError):
        made_by(tmp_path, reply, texts, per_document=1, top=0)
    found, rows, _ = made_by(tmp_path, reply, texts, per_document=1, top=0)
    assert found.counts["dropped: asked before"] == 1
    assert [row["id"] for row in rows] == ["a", "a:plain:0"]


def test_files_of_any_format_and_folders(tmp_path):
    """A folder of texts is read as ``milepost index`` reads it; unreadable files are named."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "bees.md").write_text("# Bees\n\n" + TEXT)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    with serving(good) as chat:
        found = synthesize([folder], tmp_path / "out.jsonl", endpoint(chat), ENCODER,
                           Asking(kinds=("plain",), longest=1, top=0))  # fmt: skip
    assert found.counts["documents"] == 1
    assert [str(error) for error in found.bad if "broken.pdf" in str(error)]
