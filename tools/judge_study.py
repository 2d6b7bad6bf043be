"""What a reranker's verdicts say of rows that it has not learned from.

    python tools/judged_rows.py --out scratch/judged
    python tools/judge_study.py my-model/reranker [--rows scratch/judged] [--limit 600]
    python tools/judge_study.py my-model --check

``--check`` puts claims to a longer text than their evidence (``milepost check``). What whole
searches say of near misses, ``milepost eval run`` measures.

For each source of claims: the share of supported and contradicted claims that get each verdict, by
the limits of ``milepost.checking``, and how well supported are told from contradicted ones (AUROC).
The control reads each claim or question beside another row's sentences. For questions: AUROC of
answered against unanswered, and the share of these that is refused where one answered question in
ten is.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

import milepost
from milepost.encoder.reranker import LandmarkReranker
from milepost.verdicts import ANSWERED, VERDICTS
from milepost_eval.probabilities import refused, told_apart
from milepost_eval.tasks.reading import objects

Row = dict[str, Any]


def rows(path: Path, limit: int) -> dict[str, list[Row]]:
    """Rows of the split "dev" by source, at most ``limit`` of each."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in objects(path):
        if row["split"] == "dev":
            found[row["source"].removesuffix("-swapped")].append(row)
    return {name: Random(1).sample(each, min(limit, len(each))) for name, each in found.items()}


def log_odds(reranker: LandmarkReranker, text: str, sentences: Sequence[str]) -> NDArray[Any]:
    """The verdicts of one window that begins with a text, ``(4,)``."""
    readings = reranker.judge(text, [sentences])
    if readings is None:
        return np.zeros(len(VERDICTS), np.float32)
    assert readings[0].verdicts is not None
    return readings[0].verdicts


def shares(odds: NDArray[Any]) -> NDArray[Any]:
    """Probabilities of the three verdicts on a claim, ``(n, 3)``."""
    weights = np.exp(odds[:, :3] - odds[:, :3].max(axis=1, keepdims=True))
    made: NDArray[Any] = weights / weights.sum(axis=1, keepdims=True)
    return made


def refusal(answered: NDArray[Any], unanswered: NDArray[Any]) -> dict[str, float]:
    """How well questions are told apart, and the share refused at one false refusal in ten."""
    values = np.concatenate([answered, unanswered])
    absent = np.arange(len(values)) >= len(answered)
    return {
        "AUROC": round(100 * float(told_apart(values, absent).mean()), 1),
        "refused": round(100 * float(refused(values, absent).mean()), 1),
    }


def check(model: Path, data: Path, limit: int) -> None:
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
    """Print the figures, and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reranker", type=Path)
    parser.add_argument("--rows", type=Path, default=Path("scratch/judged"))
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--least", type=float, nargs=2, default=(0.6, 0.6))
    parser.add_argument("--save", type=Path, help="Write the log-odds here, for limits.")
    parser.add_argument("--check", action="store_true", help="Put claims to longer texts.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    args = parser.parse_args()
    if args.check:
        check(args.reranker, args.data, args.limit)
        return
    reranker = LandmarkReranker(milepost.load(args.reranker))
    figures: dict[str, Any] = {}
    kept: list[Row] = []
    for source, asked in sorted(rows(args.rows / "claims.jsonl.gz", args.limit).items()):
        labels = np.array([row["label"] for row in asked])
        odds = np.stack([log_odds(reranker, r["text"], r["sentences"]) for r in asked])
        other = np.stack(
            [
                log_odds(reranker, row["text"], asked[n - 1]["sentences"])
                for n, row in enumerate(asked)
            ]
        )
        kept += [
            {"source": source, "label": r["label"], "odds": o.tolist()}
            for r, o in zip(asked, odds, strict=True)
        ]
        is_for, against = labels == "supported", labels == "contradicted"
        said = shares(odds)
        gap, alone = (each[:, 0] - each[:, 1] for each in (odds, other))
        row: dict[str, Any] = {"claims": len(asked)}
        for name, part in (("supported", is_for), ("contradicted", against)):
            row[f"{name}, so"] = _percent(said[part], VERDICTS.index(name), args.least)
            row[f"{name}, not"] = _percent(said[part], 1 - VERDICTS.index(name), args.least)
        row["AUROC"] = refusal(gap[is_for], gap[against])["AUROC"]
        row["AUROC, claim alone"] = refusal(alone[is_for], alone[against])["AUROC"]
        row["right of three"] = round(
            100 * float((said.argmax(axis=1) == [VERDICTS.index(each) for each in labels]).mean()),
            1,
        )
        figures[source] = row
        print(source, row, flush=True)
    for source, asked in sorted(rows(args.rows / "answers.jsonl.gz", 2 * args.limit).items()):
        odds, other = (
            np.stack(
                [
                    log_odds(reranker, row["text"], asked[n - shift]["sentences"])
                    for n, row in enumerate(asked)
                ]
            )[:, ANSWERED]
            for shift in (0, 1)
        )
        labels = np.array([r["label"] == "answered" for r in asked])
        swapped = np.array([r["source"].endswith("-swapped") for r in asked])
        kept += [
            {"source": r["source"], "label": r["label"], "odds": float(o)}
            for r, o in zip(asked, odds, strict=True)
        ]
        for name, part in ((source, ~swapped), (f"{source}, swapped", swapped)):
            low = odds[part & ~labels]
            if len(low):
                figures[name] = refusal(odds[labels], low)
                alone = refusal(other[labels], other[part & ~labels])
                figures[name]["AUROC, question alone"] = alone["AUROC"]
                print(name, len(low), figures[name], flush=True)
    print(json.dumps(figures))
    if args.save:
        args.save.write_text("\n".join(map(json.dumps, kept)), encoding="utf-8")


def _percent(said: NDArray[Any], verdict: int, least: Sequence[float]) -> float:
    called = (said.argmax(axis=1) == verdict) & (said[:, verdict] >= least[verdict])
    return round(100 * float(called.mean()), 1) if len(said) else float("nan")


if __name__ == "__main__":
    main()
