"""Make a training task in which only the context tells which sentence answers: subject swaps.

    python tools/make_swaps.py --out scratch/swaps [--data ../shared/data] [--pairs 20000]

Half of the documents come from ``data/swaps/families.jsonl``: two or three subjects of one kind
are introduced by name, then sentences state values without naming their subject, between sentences
of the family and of the corpus. The other half are passages of the corpus around evidence that does
not name what the question asks about (type ``context`` of ``data/questions``): the passage stands
twice, once with the subject's words replaced by those of another question, and both are asked
about. Only training documents are used, and none that training holds out.
"""

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from milepost.documents.sentences import split
from milepost_eval.tasks.reading import objects
from milepost_train.data import held_out, touched
from question_task import Row, texts_of, write

HOME = Path(__file__).parents[1] / "data"
HELD_OUT = 0.12  # as in the configurations of the shipped model
LONGEST = 1500  # characters of a document: one window of 448 tokens
BEFORE, AFTER = 9, 2  # sentences of a passage around the evidence
WORD = re.compile(r"[^\W\d_][\w'’-]{3,}")
_PLAIN = """
about after again also among because been before being below between both called came come
could does doing done down each even ever every from give given have having here into itself
just know like made make many might more most much must need never only other over part place
same should show since some something such take than that their them then there these they
thing things this those through time under until upon used using very want were what when
where whether which while whom whose will with without word work would years your
"""
PLAIN = frozenset(_PLAIN.split())


def pieces(parts: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Join sentences to a text; a part that ends in a line break is a heading."""
    text, spans = "", []
    for part in parts:
        text += "" if not text or text.endswith("\n") else " "
        spans.append((len(text), len(text) + len(part.rstrip())))
        text += part
    return text, spans


def capital(name: str) -> str:
    """A name at the start of a sentence."""
    return name[0].upper() + name[1:]


def from_family(
    family: Mapping[str, Any], others: Sequence[str], draw: random.Random
) -> tuple[str, list[Row]]:
    """A document about two or three subjects of a family, and its questions."""
    names = draw.sample(family["names"], draw.choice((2, 2, 3)))
    attributes = draw.sample(family["attributes"], draw.choice((1, 2, 2, 3)))
    values = [draw.sample(a["values"], len(names)) for a in attributes]
    worded = [draw.choice(a["sentences"]) for a in attributes]
    own = draw.sample(family["fillers"], len(family["fillers"]))
    parts: list[str] = []
    asked: list[tuple[int, str]] = []
    for number, name in enumerate(names):
        intro = draw.choice(family["intros"]).replace("{N}", capital(name)).replace("{n}", name)
        heading = intro == capital(name)
        if parts and not heading and draw.random() < 0.7:
            parts[-1] += "\n\n"
        parts.append(intro + ("\n\n" if heading else ""))
        for place in draw.sample(range(len(attributes)), len(attributes)):
            for _ in range(draw.choice((0, 0, 1, 1, 2, 3))):
                use_own = own and draw.random() < 0.6
                parts.append(own.pop() if use_own else draw.choice(others))
            attribute = attributes[place]
            # Mostly the same words of both subjects, sometimes others.
            words = worded[place] if draw.random() < 0.8 else draw.choice(attribute["sentences"])
            question = draw.choice(attribute["questions"]).replace("{n}", name)
            asked.append((len(parts), question))
            parts.append(capital(words.replace("{v}", values[place][number])))
        if own and draw.random() < 0.5:
            parts.append(own.pop())
    text, spans = pieces(parts)
    return text, [{"question": capital(q), "spans": [list(spans[n])]} for n, q in asked]


def words_of(text: str) -> list[str]:
    """Words that may name a subject, lower case, once each."""
    found = dict.fromkeys(word.lower() for word in WORD.findall(text))
    return [word for word in found if word not in PLAIN]


def exchange(text: str, new: Mapping[str, str]) -> str:
    """Replace words, keeping capitals."""

    def other(match: re.Match[str]) -> str:
        found = match.group(0)
        put = new[found.lower()]
        return capital(put) if found[0].isupper() else put

    return re.sub(r"\b(?:" + "|".join(map(re.escape, new)) + r")\b", other, text, flags=re.I)


def subject_of(question: str, before: str, evidence: str, after: str) -> list[str]:
    """The question's words that stand before the evidence and neither in it nor behind."""
    there, not_there = before.lower(), (evidence + " " + after).lower()
    return [
        word
        for word in words_of(question)
        if re.search(rf"\b{re.escape(word)}\b", there) and word[:5] not in not_there
    ]


def shape(word: str, text: str) -> tuple[bool, bool]:
    """Whether a word of a text is a name, and whether it may be a plural."""
    return not re.search(rf"\b{re.escape(word)}\b", text), word.endswith("s")


def passages(
    texts: Mapping[str, str], questions: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[str, str, str, str, list[str]]]:
    """Question, sentences before the evidence, evidence, sentences after, subject's words."""
    cut: dict[str, list[tuple[int, int]]] = {}
    for each in questions:
        name = each["document"]
        text = texts[name]
        spans = cut.setdefault(name, split(text))
        run = touched(spans, each["spans"])
        if not run or run[-1] - run[0] >= 3:
            continue
        first, last = max(0, run[0] - BEFORE), min(len(spans), run[-1] + 1 + AFTER)
        while first < run[0] and spans[last - 1][1] - spans[first][0] > LONGEST // 2:
            first += 1
        before = text[spans[first][0] : spans[run[0]][0]]
        evidence = text[spans[run[0]][0] : spans[run[-1]][1]]
        after = text[spans[run[-1]][1] : spans[last - 1][1]]
        subject = subject_of(each["question"], before, evidence, after)
        if subject and len(before + evidence + after) <= LONGEST:
            yield each["question"], before, evidence, after, subject


def from_passage(
    found: tuple[str, str, str, str, list[str]],
    pool: Mapping[tuple[bool, bool], Sequence[str]],
    draw: random.Random,
) -> tuple[str, list[Row]]:
    """A passage and its copy about another subject, and the two questions."""
    question, before, evidence, after, subject = found
    taken = {*words_of(before + evidence + after + question)}
    new: dict[str, str] = {}
    for word in subject:
        alike = [other for other in pool[shape(word, before)] if other not in taken]
        new[word] = draw.choice(alike)
        taken.add(new[word])
    copies = [(question, before), (exchange(question, new), exchange(before, new))]
    draw.shuffle(copies)
    text, rows = "", []
    for asked, start in copies:
        text += "\n\n" if text else ""
        begin = len(text) + len(start)
        rows.append({"question": asked, "spans": [[begin, begin + len(evidence.rstrip())]]})
        text += (start + evidence + after).rstrip()
    return text, rows


def fillers(data: Path, draw: random.Random) -> list[str]:
    """Sentences of training documents, without a name of their own subject."""
    found = []
    for kind in ("howto", "textbook", "government", "health", "literature", "meetings"):
        rows = [r for r in objects(data / "corpus" / f"{kind}.jsonl.gz") if r["split"] == "train"]
        for row in draw.sample(rows, min(60, len(rows))):
            text = row["text"][:60000]
            found += [" ".join(text[a:b].split()) for a, b in split(text)]
    fit = [s for s in found if 35 < len(s) < 150 and s[0].isupper() and s[-1] in ".!?"]
    draw.shuffle(fit)
    return fit[:20000]


def main() -> None:
    """Read families, questions and corpus; write the task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    asked = [
        row
        for row in objects(HOME / "questions" / "questions.jsonl.gz")
        if row["type"] in ("context", "twin") and row["split"] == "train"
        if not held_out(row["document"], HELD_OUT)
    ]
    texts = texts_of(given.data, {row["document"] for row in asked})
    found = list(passages(texts, asked))
    pool: dict[tuple[bool, bool], list[str]] = defaultdict(list)
    for _, before, _, _, subject in found:
        for word in subject:
            pool[shape(word, before)].append(word)
    families = list(objects(HOME / "swaps" / "families.jsonl"))
    others = fillers(given.data, draw)
    documents: list[Row] = []
    questions: list[Row] = []
    counts: dict[str, int] = defaultdict(int)
    while len(questions) < given.pairs:
        real = len(documents) % 2 == 1
        source = draw.choice(found) if real else None
        text, rows = (
            from_passage(source, pool, draw)
            if source
            else from_family(draw.choice(families), others, draw)
        )
        if len(text) > LONGEST * 1.2:
            continue
        name = f"swap-{len(documents)}"
        documents.append({"id": name, "title": "", "text": text, "meta": {"licence": "CC0"}})
        for number, row in enumerate(rows):
            questions.append({"id": f"{name}-{number}", "document": name, **row, "split": "train"})
        counts["passages" if real else "families"] += len(rows)
    write(given.out, documents, questions)
    print(f"{len(documents)} documents, questions: {dict(counts)}; {len(found)} passages")


if __name__ == "__main__":
    main()
