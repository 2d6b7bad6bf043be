"""Questions to answers over HTTP from a real server: the cache, refusals, failures, sums."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from milepost.chat import Completion, Endpoint
from milepost.errors import InputError, MilepostError
from milepost.testing import fake_encoder
from milepost_eval.answers.asking import Asker, without_thinking
from milepost_eval.answers.contexts import sources
from milepost_eval.answers.kept import KeptAnswers, Sampling, key_of
from milepost_eval.answers.questions import read_exams
from milepost_eval.answers.run import Answered, answered, to_line
from milepost_eval.answers.summary import tables
from milepost_eval.answers.tokens import TokenCounter
from milepost_eval.names import Workshop
from milepost_eval.vectors import Vectors
from support.chat_server import DROP, Chat, serving
from support.longbench_files import code, read_and_answer, write_codes

SYSTEMS, BUDGETS = ("bm25", "whole", "none"), (32, 64)
KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def straight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever proxy the machine has, the server is on it."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def asker(chat: Chat, tmp_path: Path, **options: Any) -> Asker:
    url = f"{chat.url}?signature=hidden"
    endpoint = Endpoint(url, "small", KEY, wait_s=0.001, tries=2)
    kept = KeptAnswers(tmp_path / "kept" / "answers.sqlite")
    return Asker(endpoint, kept, Sampling(**options))


COUNTER = TokenCounter(fake_encoder().tokenizer)


def run(path: Path, asking: Asker, names: tuple[str, ...] = SYSTEMS) -> list[Answered]:
    given = sources(names, Workshop(Vectors(None)), COUNTER)
    return list(answered(read_exams([path]), given, BUDGETS, asking))


def test_better_contexts_give_better_answers(tmp_path: Path) -> None:
    """The one that finds the fact has F1 1, those that do not have 0; budgets are kept."""
    path = write_codes(tmp_path / "qasper.jsonl")
    with serving(read_and_answer) as chat:
        found = run(path, asker(chat, tmp_path))
    assert Counter((each.system, each.budget) for each in found) == {
        (system, budget): 6 for system in SYSTEMS for budget in BUDGETS
    }
    assert {each.system: {e.f1 for e in found if e.system == each.system} for each in found} == {
        "bm25": {1.0}, "whole": {0.0}, "none": {0.0},
    }  # fmt: skip
    assert all(each.context_tokens <= each.budget for each in found)
    assert {each.context_tokens for each in found if each.system == "none"} == {0}
    assert found[0].answer == code(int(found[0].question[1:]))
    sent = chat.requests[0]
    assert (sent["temperature"], sent["max_tokens"], sent["model"]) == (0.0, 128, "small")
    assert chat.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_means_differences_and_intervals(tmp_path: Path) -> None:
    """A row for each system and budget; the first has no difference, equal F1 no spread."""
    path = write_codes(tmp_path / "qasper.jsonl")
    with serving(read_and_answer) as chat:
        (table,) = tables(run(path, asker(chat, tmp_path)))
    assert (table.tasks, table.questions, table.documents) == (("qasper",), 6, 3)
    assert [(row.budget, row.system) for row in table.rows] == [
        (budget, system) for budget in BUDGETS for system in SYSTEMS
    ]
    first, whole = table.rows[:2]
    assert (first.mean, first.low, first.high, first.difference) == (1.0, 1.0, 1.0, None)
    assert (whole.mean, whole.sent <= 32) == (0.0, True)
    assert whole.difference is not None
    assert (whole.difference.mean, whole.difference.questions) == (-1.0, 6)
    # Three contexts, flipped together: p is 2 of 8, times the four rows compared, at most 1.
    assert (whole.difference.p, whole.difference.adjusted) == (0.25, 1.0)


def test_files_weigh_the_same(tmp_path: Path) -> None:
    """The mean of two files is the mean of their means, whatever their sizes."""

    def at(task: str, number: int, system: str, f1: float) -> Answered:
        return Answered(
            task, f"q{number}", f"d{number}", system, "", 64, 60, "small", "", f1, False, ""
        )

    found = [at("a", n, "x", 0.5) for n in range(4)] + [at("a", n, "y", 1.0) for n in range(4)]
    found += [at("b", n, "x", 0.2) for n in range(2)] + [at("b", n, "y", 0.2) for n in range(2)]
    *single, both = tables(found)
    assert [table.tasks for table in single] == [("a",), ("b",)]
    assert both.tasks == ("a", "b")
    assert [row.mean for row in both.rows] == pytest.approx([0.35, 0.6])
    assert both.rows[1].difference is not None
    assert both.rows[1].difference.mean == pytest.approx(0.25)


def test_nothing_is_asked_twice(tmp_path: Path) -> None:
    """A second run asks nothing and gives the same; another system asks only for its own."""
    path = write_codes(tmp_path / "qasper.jsonl")
    with serving(read_and_answer) as chat:
        first = run(path, asker(chat, tmp_path))
        asked = len(chat.requests)
        # Without a context every budget is the same request.
        assert asked == 6 * (2 + 2 + 1)
        second = asker(chat, tmp_path)
        assert run(path, second) == first
        assert len(chat.requests) == asked
        assert (second.received, second.answers) == (0, asked)
        run(path, asker(chat, tmp_path), ("bm25", "bm25:100"))
        assert len(chat.requests) == asked + 12
        run(path, asker(chat, tmp_path, max_tokens=5), ("bm25",))
        assert len(chat.requests) == asked + 24


def test_a_failure_keeps_what_is_answered(tmp_path: Path) -> None:
    """The error names the question and how to go on; the next run asks for the rest alone."""
    path = write_codes(tmp_path / "qasper.jsonl")
    with serving(lambda n, body: read_and_answer(n, body) if n < 7 else 503) as chat:
        with pytest.raises(MilepostError) as error:
            run(path, asker(chat, tmp_path))
        said = str(error.value)
        assert re.search(r"^qasper, question q\d \((bm25|whole|none), (32|64) tokens\): http", said)
        assert "HTTP 503" in said
        assert said.endswith(
            "7 answers are kept; try: check that it runs; then the same command again, which "
            "continues from here"
        )
        assert KEY not in said
        assert "hidden" not in said
        chat.reply = read_and_answer
        before = len(chat.requests)
        assert len(run(path, asker(chat, tmp_path))) == 36
        assert len(chat.requests) - before == 6 * (2 + 2 + 1) - 7


def test_a_refused_request_counts_zero_and_is_asked_again(tmp_path: Path) -> None:
    """One that is too long stops nobody; it is told, not kept."""
    path = write_codes(tmp_path / "qasper.jsonl")

    def short(n: int, body: dict[str, Any]) -> Any:
        return 400 if "Passages" in body["messages"][0]["content"] else "nothing"

    with serving(short) as chat:
        found = run(path, asker(chat, tmp_path), ("none", "bm25"))
        assert {(each.system, each.f1, bool(each.refused)) for each in found} == {
            ("none", 0.0, False), ("bm25", 0.0, True),
        }  # fmt: skip
        assert "HTTP 400" in next(each.refused for each in found if each.refused)
        before = len(chat.requests)
        run(path, asker(chat, tmp_path), ("none", "bm25"))
        assert len(chat.requests) - before == 12
        chat.reply = read_and_answer
        assert all(each.f1 == 1 for each in run(path, asker(chat, tmp_path), ("bm25",)))


def test_refusals_without_end_stop_the_run(tmp_path: Path) -> None:
    """Eight in a row are not about the question."""
    path = write_codes(tmp_path / "qasper.jsonl")
    with (
        serving(lambda n, body: 400) as chat,
        pytest.raises(MilepostError, match=r"8 times in a row\).*--model-defaults"),
    ):
        run(path, asker(chat, tmp_path))
    assert len(chat.requests) == 8


ECHO = {"error": {"message": f"no key like {KEY}"}}


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (401, r"HTTP 401: status 401 it is; .* try: set OPENAI_API_KEY to a key of this endpoint;"),
        (403, r"HTTP 403: .* try: a key with access to this model; then the same command again"),
        (404, r"HTTP 404: .* try: check --endpoint \(it often ends in /v1\) and the model's name$"),
        (429, r"HTTP 429: .*tried 2 times.* try: wait, or raise its limit; then the same command"),
        (500, r"HTTP 500: .*tried 2 times.* try: check that it runs; then the same command again,"),
        (DROP, r"tried 2 times.* try: check that it runs; then the same command again, which"),
        (b"{}", r"no choices\[0\]\.message\.content.* try: check that --endpoint speaks OpenAI's"),
        (b"<html>", r"unknown form .* try: check that --endpoint speaks OpenAI's protocol"),
        ({"status": 401, "headers": {}, "body": json.dumps(ECHO).encode()}, r"no key like …; "),
    ],
)
def test_what_fails_every_request_stops_at_once(tmp_path: Path, trouble: Any, said: str) -> None:
    """One line with the question, the address without its query, what it said and a remedy."""
    path = write_codes(tmp_path / "qasper.jsonl")
    with serving(lambda n, body: trouble) as chat, pytest.raises(MilepostError, match=said) as e:
        run(path, asker(chat, tmp_path))
    assert len(chat.requests) <= 2
    assert re.match(r"qasper, question q\d \(bm25, 32 tokens\): http://127\.0\.0\.1:", str(e.value))
    assert "0 answers are kept" in str(e.value)
    assert "\n" not in str(e.value)
    assert KEY not in str(e.value)
    assert "hidden" not in str(e.value)


def test_nobody_listens(tmp_path: Path) -> None:
    """An address at which no server runs is named."""
    path = write_codes(tmp_path / "qasper.jsonl")
    with serving(read_and_answer) as chat:
        gone = asker(chat, tmp_path)
    with pytest.raises(MilepostError, match=r"Connection refused.* try: check that it runs; then"):
        run(path, gone)


def cut_before_a_word(_: int, __: dict[str, Any]) -> bytes:
    """What a server says whose model has thought up to the limit."""
    choice = {"message": {"content": None}, "finish_reason": "length"}
    return json.dumps({"choices": [choice]}).encode()


def test_a_limit_without_room_for_an_answer_stops_the_run(tmp_path: Path) -> None:
    """Eight answers are paid for, not all; a larger limit asks anew."""
    path = write_codes(tmp_path / "qasper.jsonl")
    with serving(cut_before_a_word) as chat:
        with pytest.raises(MilepostError, match=r"first 8 answers were cut .* --answer-tokens"):
            run(path, asker(chat, tmp_path))
        assert len(chat.requests) == 8
        chat.reply = read_and_answer
        assert len(run(path, asker(chat, tmp_path, max_tokens=999))) == 36


def test_empty_answers_count_zero(tmp_path: Path) -> None:
    """They are answers: scored with 0, kept, and no reason to stop once there was another."""
    path = write_codes(tmp_path / "qasper.jsonl")

    def reply(n: int, body: dict[str, Any]) -> Any:
        return cut_before_a_word(n, body) if n else read_and_answer(n, body)

    with serving(reply) as chat:
        found = run(path, asker(chat, tmp_path))
        assert run(path, asker(chat, tmp_path)) == found
    assert len(chat.requests) == 6 * (2 + 2 + 1)
    assert {(each.answer, each.f1, each.cut, each.refused) for each in found[1:]} == {
        ("", 0.0, True, "")
    }


def test_no_secret_is_written(tmp_path: Path) -> None:
    """Neither the key nor the address's query is in the cache or in a record."""
    path = write_codes(tmp_path / "qasper.jsonl")
    with serving(read_and_answer) as chat:
        found = run(path, asker(chat, tmp_path))
    files = [each for each in (tmp_path / "kept").rglob("*") if each.is_file()]
    assert files
    kept = b"".join(each.read_bytes() for each in files)
    lines = "".join(map(to_line, found)).encode()
    for secret in (KEY, "hidden", "signature"):
        assert secret.encode() not in kept + lines


def test_keys_tell_apart_what_changes_an_answer() -> None:
    """Address, model, messages and settings do; key and query do not."""
    asked = [{"role": "user", "content": "Größe?"}]

    def key(url: str = "http://h/v1", name: str = "m", api: str = "", **sent: Any) -> str:
        return key_of(Endpoint(url, name, api), asked, Sampling(**sent))

    same = key()
    assert key("http://h/v1/", api="other") == key("http://h/v1?api-version=2") == same
    others = [key("http://i/v1"), key(name="n"), key(temperature=0.5), key(max_tokens=9)]
    others.append(key_of(Endpoint("http://h/v1", "m"), [*asked, *asked], Sampling()))
    assert len({same, *others}) == 6


def test_answers_survive_a_file_and_its_damage_is_told(tmp_path: Path) -> None:
    """What is put comes back, half a surrogate pair too; a file of something else is an error."""
    path = tmp_path / "answers.sqlite"
    KeptAnswers(path).put("k", "small", Completion("naïve \ud83d", "length"))
    assert KeptAnswers(path).get("k") == Completion("naïve \ud83d", "length")
    assert KeptAnswers(path).get("other") is None
    path.write_bytes(b"not a database, but long enough to be looked at" * 99)
    with pytest.raises(InputError, match=r"cannot hold answers.*try: another --cache"):
        KeptAnswers(path)


def test_a_cache_of_another_format_is_told(tmp_path: Path) -> None:
    """It is neither read nor changed; the message names the file and what to do."""
    path = tmp_path / "answers.sqlite"
    KeptAnswers(path).put("k", "small", Completion("Rome", "stop"))
    for number in (2, 0):
        with closing(sqlite3.connect(path)) as file:
            file.execute(f"PRAGMA user_version = {number}")
        before = path.read_bytes()
        with pytest.raises(
            InputError,
            match=rf"answers\.sqlite is a cache of format {number}; .* try: another --cache FOLDER",
        ):
            KeptAnswers(path)
        assert path.read_bytes() == before


def test_a_cut_answer_is_marked(tmp_path: Path) -> None:
    """The reason comes from the endpoint and stays with the kept answer."""
    choice = {"message": {"content": "4000 or"}, "finish_reason": "length"}
    body = json.dumps({"choices": [choice]}).encode()
    path = write_codes(tmp_path / "qasper.jsonl", 2)
    with serving(lambda n, _: body) as chat:
        fresh = run(path, asker(chat, tmp_path), ("none",))
        again = run(path, asker(chat, tmp_path), ("none",))
    assert all(each.cut for each in fresh)
    assert again == fresh
    assert fresh[0].f1 == pytest.approx(2 / 3 if fresh[0].question == "q0" else 0.0)


def test_model_defaults_send_neither_temperature_nor_limit(tmp_path: Path) -> None:
    """For language models that refuse them."""
    path = write_codes(tmp_path / "qasper.jsonl", 2)
    with serving(read_and_answer) as chat:
        run(path, asker(chat, tmp_path, temperature=None, max_tokens=None), ("none",))
    assert not {"temperature", "max_tokens"} & chat.requests[0].keys()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Rome", "Rome"),
        ("<think>Paris?</think>\n\nRome", "Rome"),
        ("Paris?</think> Rome", "Rome"),  # some servers leave out the opening mark
        ("\n<think>Paris or", ""),
        ("a <think> tag", "a <think> tag"),
    ],
)
def test_thinking_is_no_answer(text: str, wanted: str) -> None:
    """What a reasoning model writes before its answer is not scored."""
    assert without_thinking(text) == wanted


def test_a_record_is_a_line(tmp_path: Path) -> None:
    """Schema, question, system, budget, answer and F1, in ASCII."""
    path = write_codes(tmp_path / "qasper.jsonl", 2)
    with serving(lambda n, body: "Größe\n4000") as chat:
        line = to_line(run(path, asker(chat, tmp_path), ("bm25",))[0])
    assert line.isascii()
    assert "\n" not in line
    record = json.loads(line)
    assert record["schema"] == "milepost-answers/1"
    assert (record["task"], record["system"], record["budget"]) == ("qasper", "bm25", 32)
    assert record["answer"] == "Größe\n4000"
    assert 0 <= record["f1"] <= 1
    assert record["chat_model"] == "small"
