"""The instructions to a language model that writes a question, and what it may answer.

The words are in ``prompts.toml``. One excerpt, one kind of question, one answer: a question on one
line, or ``NONE``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from milepost.chat import Message
from milepost.language.terms import question_terms, terms
from milepost.types import Span

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
