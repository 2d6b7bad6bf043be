"""Questions that a language model asks of documents, kept only if they pass the checks.

For each question: some 200 words of a document, in them one to five sentences marked, and one
kind of question asked for (the scheme of Landmark Embedding, arXiv 2402.11573, appendix). Dropped
and counted are refusals, and, which that paper does not check: questions that copy the evidence
or speak of "the text", that were asked before, and those whose evidence the local model does not
rank among the best landmarks of its document. The words of the instructions are in
``prompts.toml``.
"""

from __future__ import annotations

import hashlib
import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from pydantic.dataclasses import dataclass as checked

from milepost.chat import Endpoint, Message, NoResponse
from milepost.encoder import Encoder
from milepost.errors import InputError, MilepostError
from milepost.language.terms import question_terms, terms
from milepost.types import Span
from milepost_eval.types import Split
from milepost_train.data import Progress, hashed_share, touched, trimmed
from milepost_train.generated import (
    GeneratedQuestion,
    Journal,
    Source,
    Written,
    checked_kinds,
    sources,
    task_rows,
)
from milepost_train.rules import RULES, headings_of, questions_of
from milepost_train.settings import CHECKED, Amount, Count

_SAID = tomllib.loads(Path(__file__).with_name("prompts.toml").read_text(encoding="utf-8"))

KINDS: dict[str, str] = _SAID["kinds"]
"""Kinds of question → what is asked of the model."""

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)
_LABEL = re.compile(r"^(?:\W*(?:question|query|search|keywords|answer)\W*:\s*)", re.I)
_REFUSAL = re.compile(
    r"^\W*none\W*$|\b(?:i['’]?m sorry|i am sorry|i apologi[sz]e|as an ai|"
    r"i (?:cannot|can['’]t|am unable|won['’]t)|(?:unable|not possible) to (?:write|generate|ask)|"
    r"no (?:meaningful |suitable )?question can)\b",
    re.I,
)
_TEXT = re.compile(
    r"\b(?:(?:the|this|that|given|above|provided|marked) (?:\w+ )?(?:text|excerpt|passage|"
    r"paragraph|sentences?|article|section|snippet|author)|mentioned above|described here|"
    r"according to the (?:text|document)|the following)\b|<<<|>>>",
    re.I,
)


def messages(
    kind: str, title: str, text: str, excerpt: Span, marked: Sequence[Span]
) -> list[Message]:
    """The conversation for one question."""
    shown, at = "", excerpt[0]
    for start, end in marked:
        shown += f"{text[at:start]}<<<{text[start:end]}>>>"
        at = end
    shown += text[at : excerpt[1]]
    told = f"{_SAID['system']}\n\n{KINDS[kind]}"
    conversation: list[Message] = [{"role": "system", "content": told}]
    for example in _SAID["example"]:
        question = example["question"]
        answer = example.get("keywords", question) if kind == "keywords" else question
        conversation.append({"role": "user", "content": example["text"]})
        conversation.append({"role": "assistant", "content": answer})
    head = f"Title: {title}\n\n" if title else ""
    conversation.append({"role": "user", "content": head + shown.strip()})
    return conversation


def question_in(answer: str) -> tuple[str, str]:
    """The question of an answer and "", or "" and why there is none.

    >>> question_in('Question: "Who lays the eggs?"')
    ('Who lays the eggs?', '')
    >>> question_in("NONE")
    ('', 'refused')
    """
    bare = _THOUGHTS.sub("", answer).strip().strip("`").strip()
    if not bare or _REFUSAL.search(bare):
        return "", "refused"
    lines = [line.strip() for line in bare.splitlines() if line.strip()]
    words = " ".join(_LABEL.sub("", lines[0]).strip("\"“”'*` ").split())
    if len(lines) > 1:
        return "", "more than one line"
    if not any(letter.isalnum() for letter in words):
        return "", "no words"
    if len(words) > 300:
        return "", "longer than a question"
    if _TEXT.search(words):
        return "", "speaks of the text itself"
    return words, ""


def copies(question: str, evidence: str, run: int = 6, share: float = 0.9) -> bool:
    """Whether a question is the evidence over again.

    So it is where ``run`` of its words stand in the evidence in a row, or where at least five
    words that mean something are nearly all there.

    >>> copies("Which queen lays the eggs in the hive?", "The old queen lays the eggs in the hive.")
    True
    >>> copies("Who lays the eggs?", "The queen lays the eggs.")
    False
    """
    asked, answer = terms(question), terms(evidence)
    runs = {tuple(answer[i : i + run]) for i in range(len(answer) - run + 1)}
    if any(tuple(asked[i : i + run]) in runs for i in range(len(asked) - run + 1)):
        return True
    content = question_terms(question)
    return len(content) >= 5 and len(set(content) & set(answer)) >= share * len(content)


_IN_A_ROW = 8  # requests without an answer, after which no more are sent


@checked(frozen=True, slots=True, config=CHECKED)
class Asking:
    """What is asked, and what is kept; see ``milepost synthesize --help``.

    An excerpt has about so many ``words``, its evidence at most ``longest`` sentences. Two
    questions of a document that share ``similar`` of their words are one.
    """

    per_document: Count = 4
    kinds: tuple[str, ...] = tuple(KINDS)
    top: Amount = 20
    words: Count = 200
    longest: Count = 5
    similar: float = 0.8
    temperature: float | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is shown of a document, and what in it is marked."""

    kind: str
    span: Span
    marked: tuple[Span, ...]


def synthesize(
    documents: Sequence[Path],
    out: Path,
    endpoint: Endpoint,
    encoder: Encoder,
    asking: Asking | None = None,
    *,
    split: Split = "train",
    dev: float = 0.0,
    allow_nc: bool = False,
    progress: Progress = lambda *_: None,
) -> Written:
    """Write questions of a language model to ``out``, a task file.

    Documents are written one by one: an interrupted run resumes. The questions of the fraction
    ``dev`` of the documents, by a hash of their texts, get the split dev. ``progress`` gets a
    document's name, the documents done, and the questions kept.

    Raises:
        UnreadableFile: a path is missing or damaged.
        InputError: ``out`` was made with other settings.
        MilepostError: the endpoint fails.
    """
    asking = asking or Asking()
    checked_kinds(asking.kinds, tuple(KINDS))
    settings = {
        "command": "synthesize",
        "llm": endpoint.model,
        "model": encoder.fingerprint if asking.top else "",
        **asdict(asking),
    }
    unanswered = 0

    def ask(
        source: Source, counts: Counter[str], asked: set[tuple[str, ...]]
    ) -> list[GeneratedQuestion]:
        nonlocal unanswered
        read = encoder.encode(source.document)
        text = source.document.text
        spans = [trimmed(text[start:end], start) for start, end in read.spans.tolist()]
        headings = headings_of(text, source.document.marks)
        made: list[GeneratedQuestion] = []
        for excerpt in excerpts(source, spans, headings, asking):
            counts["asked for"] += 1
            prompt = messages(excerpt.kind, source.title, text, excerpt.span, excerpt.marked)
            try:
                answer = endpoint.ask(prompt, asking.temperature)
            except NoResponse as error:
                unanswered += 1
                counts["dropped: no answer that can be read"] += 1
                if unanswered >= _IN_A_ROW:
                    raise MilepostError(
                        f"{error.problem} ({unanswered} times in a row)",
                        "check --model; what was written is kept",
                    ) from error
                continue
            unanswered = 0
            question, why = question_in(answer)
            if not why and copies(question, " ".join(text[a:b] for a, b in excerpt.marked)):
                why = "copies the evidence"
            if not why and (_key(question) in asked or _alike(question, made, asking.similar)):
                why = "asked before"
            if not why and asking.top:
                scores = read.vectors @ encoder.encode_query(question)
                best = set(np.argsort(-scores, kind="stable")[: asking.top].tolist())
                # Each place that is marked: a scattered question needs all of them.
                if not all(best.intersection(touched(spans, [each])) for each in excerpt.marked):
                    why = f"evidence not among the best {asking.top} landmarks"
            if why:
                counts[f"dropped: {why}"] += 1
                continue
            asked.add(_key(question))
            made.append(GeneratedQuestion(question, excerpt.marked, excerpt.kind))
        return made

    return _write(documents, out, settings, ask, split, dev, allow_nc, progress)


def by_rules(
    documents: Sequence[Path],
    out: Path,
    rules: Sequence[str] = RULES,
    *,
    split: Split = "train",
    dev: float = 0.0,
    allow_nc: bool = False,
    progress: Progress = lambda *_: None,
) -> Written:
    """Write questions made by rule to ``out``, a task file; see ``rules.py`` and ``synthesize``.

    Raises:
        UnreadableFile: a path is missing or damaged.
        InputError: an unknown rule, or ``out`` was made with other settings.
    """
    rules = checked_kinds(rules, RULES)
    settings: dict[str, object] = {"command": "rules", "rules": rules}

    def ask(
        source: Source, counts: Counter[str], asked: set[tuple[str, ...]]
    ) -> list[GeneratedQuestion]:
        found = questions_of(source.document.text, source.title, rules, source.document.marks)
        counts.update({f"dropped: {why}": number for why, number in found.dropped.items()})
        source.ignore = tuple(found.headings)
        made: list[GeneratedQuestion] = []
        for each in found.made:
            if _key(each.question) in asked:
                counts[f"dropped: {each.kind}: asked of another document"] += 1
            else:
                asked.add(_key(each.question))
                made.append(each)
        return made

    return _write(documents, out, settings, ask, split, dev, allow_nc, progress)


def excerpts(
    source: Source, spans: Sequence[Span], headings: Iterable[Span], asking: Asking
) -> Iterator[Excerpt]:
    """What to ask of: excerpts spread over a document, the same for the same document and seed.

    The document is divided evenly and each part gives one excerpt, so that questions come from
    its end as often as from its beginning. Headings and fragments are shown and never marked.
    """
    name, text = source.document.name, source.document.text
    digest = hashlib.sha256(f"{asking.seed} {name}".encode("utf-8", "surrogatepass")).digest()
    chance = random.Random(digest)
    lines = set(headings)
    words = [len(text[a:b].split()) for a, b in spans]
    good = [
        span not in lines and number >= 6 and len(terms(text[slice(*span)])) >= 5
        for span, number in zip(spans, words, strict=True)
    ]
    for number in range(asking.per_document):
        kind = asking.kinds[number % len(asking.kinds)]
        low = len(spans) * number // asking.per_document
        high = max(low + 1, len(spans) * (number + 1) // asking.per_document)
        starts = [row for row in range(low, min(high, len(spans))) if good[row]]
        if not starts:
            continue
        first = chance.choice(starts)
        marked = [_run(first, good, chance.randint(1, asking.longest))]
        if kind == "scattered":
            far = [
                r for r in range(marked[0][1] + 2, min(marked[0][1] + 40, len(spans))) if good[r]
            ]
            if not far:
                continue
            marked.append(_run(chance.choice(far), good, 2))
        begin, end = marked[0][0], marked[-1][1]
        before = chance.random()  # fraction of the background that precedes
        while sum(words[begin:end]) < asking.words and (begin > 0 or end < len(words)):
            if begin > 0 and (end == len(words) or chance.random() < before):
                begin -= 1
            else:
                end += 1
        yield Excerpt(
            kind,
            (spans[begin][0], spans[end - 1][1]),
            tuple((spans[a][0], spans[b - 1][1]) for a, b in marked),
        )


def _write(
    documents: Sequence[Path],
    out: Path,
    settings: dict[str, object],
    ask: Callable[[Source, Counter[str], set[tuple[str, ...]]], list[GeneratedQuestion]],
    split: Split,
    dev: float,
    allow_nc: bool,
    progress: Progress,
) -> Written:
    settings |= {"split": split, "allow_nc": allow_nc}
    settings |= {"dev": dev} if dev else {}  # so that files begun without it can be resumed
    dropped: Counter[str] = Counter()
    bad: list[InputError] = []
    with Journal(out, settings) as journal:
        asked = {_key(str(row["question"])) for row in journal.rows() if "question" in row}
        given = sources(documents, dropped, bad, split=split, allow_nc=allow_nc, questions=True)
        for number, source in enumerate(given, 1):
            name = source.document.name
            if name not in journal.done:
                counts: Counter[str] = Counter(documents=1)
                made = ask(source, counts, asked)
                counts.update(f"questions: {each.kind}" for each in made)
                counts["documents without a question"] += not made
                # By the text: the same files are split alike wherever they lie.
                own: Split = "dev" if dev and hashed_share(source.document.text) < dev else split
                counts["documents of dev"] += bool(made) and own == "dev" != split
                journal.write(name, task_rows(source, made, source.ignore, own), counts)
            kept = sum(n for key, n in journal.counts.items() if key.startswith("questions: "))
            progress(name, number, kept)
        if dev and split != "dev" and not journal.counts["documents of dev"]:
            shares = {r["id"]: hashed_share(r["text"]) for r in journal.rows() if "text" in r}
            if len(shares) > 1:  # else no other would be left
                journal.dev = min(shares, key=lambda name: shares[name])
                journal.counts["documents of dev"] += 1
        return Written(journal.counts + dropped, bad)


def _run(first: int, good: Sequence[bool], longest: int) -> tuple[int, int]:
    """Rows of up to ``longest`` good sentences in a row, from ``first`` on."""
    end = first + 1
    while end < len(good) and good[end] and end - first < longest:
        end += 1
    return first, end


def _alike(question: str, made: Sequence[GeneratedQuestion], share: float) -> bool:
    words = set(question_terms(question))
    others = [set(question_terms(each.question)) for each in made]
    return any(len(words & other) >= share * len(words | other) for other in others)


def _key(question: str) -> tuple[str, ...]:
    return tuple(sorted(question_terms(question)))
