"""What the verdicts of a judge, or of a model's reranker, say of rows that it has not learned from.

    python tools/judged_rows.py --out scratch/judged
    python tools/judge_study.py my-model [--rows scratch/judged] [--limit 600]
    python tools/judge_study.py my-model --check

``--check`` puts claims to a longer text than their evidence (``milepost check``). What whole
searches say of near misses, ``milepost eval run`` measures.

For each source of claims: the share of supported and contradicted claims that get each verdict, in
brackets by rules alone, and how well supported are told from contradicted ones (AUROC).
The control reads each claim or question beside another row's sentences. For questions: AUROC of
answered against unanswered, and the share of these that is refused where one answered question in
ten is.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

import milepost
from milepost.checking.claims import as_written
from milepost.checking.claims.verdict import Said, judge
from milepost.encoder.reranker import LandmarkReranker, judge_of
from milepost.types import Hit, Passage
from milepost.verdicts import ANSWERED, VERDICTS
from milepost_eval.probabilities import refused, told_apart
from milepost_eval.tasks.reading import objects

Row = dict[str, Any]


def is_answer(row: Mapping[str, Any]) -> bool:
    """Whether a row is a question, not a claim."""
    return "answer" in row["label"]


def rows(path: Path, limit: int) -> dict[str, list[Row]]:
    """Rows of the split "dev", at most ``limit`` of each source; questions by what they ask of."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in objects(path):
        if row["split"] == "dev":
            source = row["source"]
            found[source.split("-")[0] if is_answer(row) else source].append(dict(row))
    return {name: Random(1).sample(each, min(limit, len(each))) for name, each in found.items()}


def log_odds(reranker: LandmarkReranker, text: str, sentences: Sequence[str]) -> NDArray[Any]:
    """The verdicts of one window that begins with a text, ``(4,)``."""
    judged = reranker.judge(text, sentences)
    if judged is None:
        return np.zeros(len(VERDICTS), np.float32)
    assert judged[0].verdicts is not None
    return judged[0].verdicts


def odds_of(reranker: LandmarkReranker, asked: Sequence[Row], shift: int = 0) -> NDArray[Any]:
    """Verdicts on rows, each beside its own sentences or those of the row ``shift`` before."""
    beside = [asked[number - shift]["sentences"] for number in range(len(asked))]
    return np.stack(
        [
            log_odds(reranker, row["text"] if is_answer(row) else as_written(row["text"], its), its)
            for row, its in zip(asked, beside, strict=True)
        ]
    )


def shares(odds: NDArray[Any]) -> NDArray[Any]:
    """Probabilities of the three verdicts on a claim, ``(n, 3)``."""
    weights = np.exp(odds[:, :3] - odds[:, :3].max(axis=1, keepdims=True))
    made: NDArray[Any] = weights / weights.sum(axis=1, keepdims=True)
    return made


def verdicts(row: Row, said: NDArray[Any], *, by_judge: bool) -> tuple[str, str]:
    """The verdict on a claim beside its own evidence: by rules alone, and with the reranker."""
    text, hits = " ".join(row["sentences"]), []
    at = 0
    for sentence in row["sentences"]:
        hits.append(Hit(at, at + len(sentence), 0.5, 0.0, {}, sentence))
        at += len(sentence) + 1
    passage = Passage(text, "", None, 0, len(text), 0.5, tuple(hits), None, None)
    model = Said(float(said[0]), float(said[1]), hits[0], by_judge)
    alone = judge(row["text"], [passage])
    return alone.verdict, judge(row["text"], [passage], lambda passages: [model]).verdict


def refusal(answered: NDArray[Any], unanswered: NDArray[Any]) -> dict[str, float]:
    """How well questions are told apart, and the share refused at one false refusal in ten."""
    values = np.concatenate([answered, unanswered])
    absent = np.arange(len(values)) >= len(answered)
    return {
        "AUROC": round(100 * float(told_apart(values, absent).mean()), 1),
        "refused": round(100 * float(refused(values, absent).mean()), 1),
    }


def check(model: str, data: Path, limit: int) -> None:
    """Print the verdicts on claims of which a longer text than the evidence is known."""
    encoder = milepost.load(model)
    for source in ("checkcovid", "fm2"):
        known = [row for row in objects(data / "claims" / f"{source}.jsonl.gz") if row["context"]]
        asked = [row for row in known if row["split"] == "dev"]
        said: dict[str, Counter[str]] = defaultdict(Counter)
        for row in Random(1).sample(asked, min(limit, len(asked))):
            with milepost.open(model=encoder) as index:
                index.add(milepost.Document("text", row["context"]))
                said[row["label"]][index.check(row["claim"]).verdict] += 1
        for label, counts in said.items():
            total = counts.total()
            print(source, label, total, {n: round(100 * c / total) for n, c in counts.items()})


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", help="A model; its reranker counts without the judge's package.")
    parser.add_argument("--rows", type=Path, default=Path("scratch/judged"))
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--check", action="store_true", help="Put claims to longer texts.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    args = parser.parse_args()
    if args.check:
        check(args.model, args.data, args.limit)
        return
    reranker = judge_of(milepost.load(args.model))
    if reranker is None:
        parser.error(f"{args.model} has no reranker")
    for source, asked in sorted(rows(args.rows / "claims.jsonl.gz", args.limit).items()):
        labels = np.array([row["label"] for row in asked])
        odds, other = odds_of(reranker, asked), odds_of(reranker, asked, 1)
        is_for, against = labels == "supported", labels == "contradicted"
        said = shares(odds)
        gap, alone = (each[:, 0] - each[:, 1] for each in (odds, other))
        row: dict[str, Any] = {"claims": len(asked)}
        by_judge = reranker.is_judge
        got = [verdicts(r, p, by_judge=by_judge) for r, p in zip(asked, said, strict=True)]
        for label, verdict in product(("supported", "contradicted"), repeat=2):
            of = [pair for pair, its in zip(got, labels, strict=True) if its == label]
            by_rules, both = (round(100 * n.count(verdict) / len(n)) for n in zip(*of, strict=True))
            row[f"{label}: {verdict}"] = f"{both} ({by_rules})"
        row["AUROC"] = refusal(gap[is_for], gap[against])["AUROC"]
        row["AUROC, claim alone"] = refusal(alone[is_for], alone[against])["AUROC"]
        print(source, row, flush=True)
    for _, asked in sorted(rows(args.rows / "answers.jsonl.gz", 2 * args.limit).items()):
        odds, other = (odds_of(reranker, asked, shift)[:, ANSWERED] for shift in (0, 1))
        labels = np.array([r["label"] == "answered" for r in asked])
        kinds = np.array([r["source"] for r in asked])
        for name in sorted({*kinds[~labels].tolist()}):
            low = ~labels & (kinds == name)
            row = refusal(odds[labels], odds[low])
            row["AUROC, question alone"] = refusal(other[labels], other[low])["AUROC"]
            print(name, int(low.sum()), row, flush=True)


if __name__ == "__main__":
    main()
