"""Questions that a text holds itself: made by rule, without a model.

``question``    a heading that asks (``What is a landmark?``) → how its section begins.
``heading``     a heading that names (``Owners and dependents``) → how its section begins.
``definition``  a sentence that says what its subject is (``A quorum is a …``) → "What is …?".
``term``        an entry of a glossary (``quorum: the least number …``) → "What is meant by …?".

Rules look at one document and nothing else, and the same text gives the same questions. Whatever
they pass over is counted by reason.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from milepost.documents import split
from milepost.language.terms import question_terms, terms
from milepost.types import Mark, Span
from milepost_train.data import trimmed
from milepost_train.generated import GeneratedQuestion

BEFORE = re.compile(
    r"^(?:§+ ?[\w.–-]+|(?:section|chapter|part|article|step|rule|option) [\w.]+"
    r"|\(?[0-9]+(?:\.[0-9]+)*[.):]?|[IVXLC]+\.|[A-Z]\.)(?::|\s)\s*",
    re.I,
)
_CODE = re.compile(r"[{}<>=$|\\`#@\[\]*_~^]|https?:|::|->|\w\(\)|--|^\W|\.\w+\.\w|/\w+/")
ITEM = re.compile(r"(?:[-*•–] |\(?[0-9a-z]{1,3}[.)] )")
_PARAGRAPH = re.compile(r"\S(?:[^\n]|\n(?!\s*\n))*")
_SPEECH = re.compile(r"[\"“”]|^['‘]|[,.!?-]['’]")
_TURN = re.compile(r"(?m)^(?P<name>[A-Z][\w.’'-]*(?: [A-Z][\w.’'-]*){0,3}): (?P<said>.+)$")


def headings_of(text: str, marks: Sequence[Mark] = ()) -> Mapping[Span, str]:
    """The lines of headings of a text and their words, ascending.

    Headings among its ``marks`` are believed; where a format has none, a paragraph is one that
    looks like it.
    """
    marked: dict[Span, str] = {}
    for mark in marks:
        if mark.kind == "heading":
            start = text.rfind("\n", 0, mark.offset) + 1  # Markdown's signs are a part of it
            end = text.find("\n", mark.offset)
            marked[start, len(text) if end < 0 else end] = " ".join(mark.value.split())
    if marked:
        return dict(sorted(marked.items()))
    return {
        (start, end): " ".join(text[start:end].split())
        for start, end in (match.span() for match in _PARAGRAPH.finditer(text))
        if _is_heading(text[start:end])
    }


def _is_heading(words: str) -> bool:
    """Whether a paragraph is a heading: one short line of words that ends as no sentence does."""
    bare = BEFORE.sub("", words)
    return (
        "\n" not in words
        and 2 < len(bare) <= 110
        and len(bare.split()) <= 14
        and not ITEM.match(words)
        and not _CODE.search(bare)
        and not _SPEECH.search(bare)
        and (bare[0].isupper() or bare != words)
        and (bare[-1] not in ".:;,!" or words != bare)
        and not _TURN.match(words)
        and any(letter.isalpha() for letter in bare)
    )


RULES = ("question", "heading", "definition", "term")
"""The rules by name."""

_ENOUGH, _MOST = 150, 600  # characters of evidence: sentences are added until the first
_ASKS = re.compile(
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|"
    r"should|will|would|may|must|has|have)\b",
    re.I,
)
_ASKS_BARE = re.compile(r"(?:how|why|what|who|where) (?:to )?[a-z]", re.I)
_I = re.compile(r"\bI\b(?![.)-])")
_YOU = re.compile(r"\b(?:you|yours?|thou|thee|thy|ye)\b", re.I)
_CONTENTS = re.compile(r"(?:[^–—]* (?:[–—]|--) ){3}|.*(?:\.{4}|(?:\. ){4})", re.DOTALL)
"""Topics of a chapter with dashes between them, as old books list them, or a row of dots."""
_LINKS = re.compile(r"(?:these|the following) (?:resources|links|pages)\b", re.I)
_CAPTION = re.compile(
    r"(?:fig(?:ure)?|table|box|text|dataset|movie|video|ex(?:ample|ercise)?)\.? ?S?\d"
    r"|(?:chapter|book|part|volume|appendix|act|scene) [\dIVXLC]+\.?$",
    re.I,
)
_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_DATELINE = re.compile(
    r"(?-i:(?:[A-Z][\w.’'-]*,? (?:[–—-] )?){0,3})"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th|\.)?,? (?:{_MONTH})\b"
    rf"|(?:{_MONTH})\.? \d{{1,2}}(?:st|nd|rd|th)?\b|(?:{_MONTH})\b)"
    r"\.?,?(?: \d{4})?\W*"
    r"|\W*(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4})\W*",
    re.I,
)
"""A date, with a place or a weekday before it."""
_FILE_NAME = re.compile(r"\S*[_\d./\\]\S*|\S+-\S+")
_WORDS = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
_GENERIC = frozenset(re.split(r"\s*\|\s*", _WORDS["generic"].strip()))
_NO_SUBJECT = frozenset(_WORDS["no_subject"].split())

_DEFINES = re.compile(
    r"(?P<article>An? |The )?(?P<name>[A-Za-z][\w’'/-]*(?: (?:of |for |in )?[\w’'/-]+){0,3})"
    r"(?: ?\([^()]{1,30}\))? (?P<verb>is|are) (?:an? |the |any |one of |defined as |the name )?"
    r"(?P<what>[a-z][\w-]+ [\w ,’'-]+)"
)
_ARTICLE = re.compile(r" (?:is|are) (?:an?|any|one of|defined as|the name)\b")
_WEAK = re.compile(
    r"(?:lot|bit|must|good|great|bad|key|big|major|important|few|little|result|"
    r"matter|part|very|more|way|long|fact|case|difficult|natural|much|less|place|person|"
    r"sufficient|necessary|vague|young|better|bigger|simpler|stupid|common problem)\b"
)
_TERM = re.compile(
    r"(?P<name>[A-Za-z][\w’' -]{2,48}?)(?: \([^()]{1,20}\))?: (?P<what>[a-z(].{24,})"
)


@dataclass(slots=True)
class Found:
    """Questions of a text in the order of their evidence, its headings, and candidates dropped."""

    made: list[GeneratedQuestion] = field(default_factory=list)
    headings: list[Span] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def questions_of(
    text: str, title: str = "", rules: Sequence[str] = RULES, marks: Sequence[Mark] = ()
) -> Found:
    r"""Questions of a text by rule.

    Headings stand on lines of their own, a blank line before and after, unless ``marks`` of the
    document name them. ``title`` is put behind a heading too short to be looked for alone.

    >>> text = "Hives\n\nWhat do bees eat in winter?\n\nThey eat honey, then more."
    >>> found = questions_of(text)
    >>> found.made[0].question, found.made[0].spans
    ('What do bees eat in winter?', ((36, 62),))
    """
    found = Found()
    headings = headings_of(text, marks)
    found.headings = list(headings)
    if _is_talk(text):
        found.headings = []
        found.dropped["text in which people speak"] = 1
        return found
    sentences = [trimmed(text[start:end], start) for start, end in split(text)]
    prose = [s for s in sentences if s[0] < s[1] and not _inside(s[0], found.headings)]
    # In one list and filtered by name, so that a question made twice is dropped alike whatever
    # rules are asked for.
    by_section = list(_by_section(text, title, found, prose, list(headings.values())))
    everything = [*by_section, *_definitions(text, prose, found), *_terms(text, found)]
    asked: set[tuple[str, ...]] = set()
    answers = Counter(_answer(text, made) for made in everything)
    for made in sorted(everything, key=lambda each: each.spans):
        key = tuple(sorted(question_terms(made.question)))
        if made.kind not in rules:
            continue
        if key in asked or answers[_answer(text, made)] > 1:
            why = "asked before" if key in asked else "the same answer to several questions"
            found.dropped[f"{made.kind}: {why}"] += 1
            continue
        asked.add(key)
        found.made.append(made)
    found.dropped = Counter(
        {why: n for why, n in found.dropped.items() if why.partition(":")[0] in rules}
    )
    return found


def _inside(place: int, spans: Sequence[Span]) -> bool:
    """Whether a place lies in one of some spans, which ascend: a heading may be two sentences."""
    before = bisect_right(spans, place, key=lambda span: span[0])
    return before > 0 and place < spans[before - 1][1]


def _answer(text: str, made: GeneratedQuestion) -> tuple[str, ...]:
    """What the evidence says beside the question's own words; alike for what is said of many."""
    asked = set(terms(made.question))
    return tuple(t for start, end in made.spans for t in terms(text[start:end]) if t not in asked)


def _by_section(
    text: str, title: str, found: Found, prose: list[Span], words: Sequence[str]
) -> Iterator[GeneratedQuestion]:
    often = Counter(each.casefold() for each in words)
    if not found.headings:
        return
    if not title and not text[: found.headings[0][0]].strip():
        title = words[0]
    ends = [*(start for start, _ in found.headings[1:]), len(text)]
    at = 0
    for number, ((_, start), heading, end) in enumerate(
        zip(found.headings, words, ends, strict=True)
    ):
        asking = heading.endswith("?") or bool(_ASKS_BARE.match(BEFORE.sub("", heading)))
        if number == 0 and not asking and not text[: found.headings[0][0]].strip():
            continue  # the title
        rule = "question" if asking else "heading"
        while at < len(prose) and prose[at][0] < start:
            at += 1
        last = at
        while last < len(prose) and prose[last][0] < end:
            last += 1
        question, why = _from_heading(heading, title, asking=asking)
        evidence = _beginning(text, prose[at:last], heading)
        if often[heading.casefold()] > 1:
            why = "several sections of this heading"
        elif evidence is None:
            why = "no prose under it"
        if why or evidence is None:
            found.dropped[f"{rule}: {why}"] += 1
            continue
        rest = [s for s in prose[at:last] if s[0] >= evidence[1] or s[1] <= evidence[0]]
        yield GeneratedQuestion(question, (evidence,), rule, _joined(rest))


def _from_heading(heading: str, title: str, *, asking: bool) -> tuple[str, str]:
    """The question and "", or what is wrong with the heading."""
    words = BEFORE.sub("", heading).rstrip(".")
    content = question_terms(words)
    if asking:
        words = re.sub(r"\?+$", "?", words)
        if not _ASKS.match(words.rpartition(": ")[2]):
            return "", "it does not begin as a question"
        return words, "" if len(content) >= 2 else "too little to ask for"
    generic = words.casefold().strip(" :") in _GENERIC or not content
    if generic or _CAPTION.match(heading) or _DATELINE.fullmatch(heading):
        return "", "a heading that every text has"
    if _FILE_NAME.fullmatch(title) or _DATELINE.fullmatch(title):
        title = ""
    subject = title.rpartition(": ")[2] or title
    subject = BEFORE.sub("", subject)
    new = set(question_terms(subject)) - set(content)
    if len(content) >= 4 or not new or len(subject.split()) > 7:
        return words, "" if len(content) >= 2 else "too little to look for"
    return f"{words}, {subject}", ""


def _beginning(text: str, sentences: Sequence[Span], heading: str) -> Span | None:
    """The first sentences of a section, list items after a colon included."""
    asked = set(question_terms(heading))
    at = 0
    # Many answers begin by asking the question over again.
    while at < len(sentences) and (
        text[slice(*sentences[at])].endswith("?") or _CONTENTS.match(text, *sentences[at])
    ):
        at += 1
    if at == len(sentences):
        return None
    start, end = sentences[at]
    if len(terms(text[start:end])) < 5 or ITEM.match(text, start) or text[start] in "(`|<":
        return None
    for following, last in sentences[at + 1 :]:
        leads = text[start:end].rstrip().endswith(":") or bool(
            ITEM.match(text, following) and ":\n" in text[start:following]
        )
        if last - start > _MOST or (end - start >= _ENOUGH and not leads):
            break
        end = last
    if end - start > 2 * _MOST or text[start:end].endswith(":"):
        return None
    if _LINKS.match(text, start) or len(set(terms(text[start:end])) - asked) < 4:
        return None
    return start, end


def _definitions(text: str, prose: list[Span], found: Found) -> Iterator[GeneratedQuestion]:
    """Sentences that say what their subject is, where the text speaks of it again."""
    seen: set[str] = set()
    folded = text.casefold()
    for start, end in prose:
        match = _DEFINES.match(text, start, end)
        if match is None or end - start > 400:
            continue
        name, article = match["name"], (match["article"] or "").strip()
        if not _ARTICLE.search(text[match.end("name") : match.start("what")]) or _WEAK.match(
            match["what"]
        ):
            continue
        parts = [part.casefold() for part in name.split()]
        subject = {re.sub(r"\W+$", "", part) for part in parts}
        if article == "The" or subject & _NO_SUBJECT or not question_terms(name) or "'s" in name:
            found.dropped["definition: no name of a thing"] += 1
        elif name.casefold() in seen:
            found.dropped["definition: said before"] += 1
        elif folded.count(name.casefold()) < 3:
            found.dropped["definition: spoken of only here"] += 1
        else:
            small = name[0].lower() + name[1:]
            # A name keeps its capital: it is never written without it.
            kept = small if article or re.search(rf"\b{re.escape(small)}\b", text) else name
            asked = f"{article.lower()} {kept}".strip()
            yield GeneratedQuestion(f"What {match['verb']} {asked}?", ((start, end),), "definition")
        seen.add(name.casefold())


def _terms(text: str, found: Found) -> Iterator[GeneratedQuestion]:
    """Entries of a glossary: paragraphs or items under a heading that says so."""
    headings = [*found.headings, (len(text), len(text))]
    for (start, end), (following, _) in pairwise(headings):
        if not re.search(r"glossary|key terms|terminology|definitions", text[start:end], re.I):
            continue
        for line in re.compile(r"[^\n]+").finditer(text, end, following):
            a, b = trimmed(line[0], line.start())
            if a == b:
                continue
            item = ITEM.match(text, a, b)
            match = _TERM.fullmatch(text, item.end() if item else a, b)
            if match is None or len(match["name"].split()) > 6:
                found.dropped["term: no entry"] += 1
                continue
            name = match["name"].strip()
            yield GeneratedQuestion(f"What is meant by {name}?", ((match.start(), b),), "term")


def _is_talk(text: str) -> bool:
    """Whether a text is mostly speech: a novel, a meeting, a chat.

    There a short line is speech, not a heading, and "X is a …" is an opinion. Who speaks says "I"
    and speaks to somebody; the author of a treatise says "I" and addresses nobody.
    """
    words = len(text.split())
    said = len(_I.findall(text)) * 250 > words and words > 500
    return said and len(_YOU.findall(text)) * 4_000 > words


def _joined(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Sentences beside each other as one span; what lies between two runs stays out."""
    runs: list[Span] = []
    for start, end in spans:
        if runs and start - runs[-1][1] <= 3:
            runs[-1] = runs[-1][0], end
        else:
            runs.append((start, end))
    return tuple(runs)
