"""What is lost when a text keeps fewer token vectors, or one encoding of them, than MaxSim reads.

    python bench/late_interaction.py --model minilm --report bench/results/late-interaction.json

The 1,500 questions of the pooling lab's packaged pairs rank their 1,500 passages (205 documents).
The network is frozen and was not trained for late interaction, so the claims of arXiv 2409.14683
(fewer vectors) and 2405.19504 (fixed encodings) are tested on vectors that their papers do not use:
what is told is how much of MaxSim is kept, not how good it is. nDCG@10; intervals resample
documents.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from milepost_lab.compare.reading import TokenReader, default_cache
from milepost_lab.compare.states import States
from milepost_lab.pooling.fixed_encoding import FixedEncoding
from milepost_lab.pooling.token_pooling import pool_tokens
from numpy.typing import NDArray

from milepost.windows.document_vector import unit
from milepost_eval.provenance import commit, today
from milepost_eval.statistics import corrected, difference, interval
from milepost_eval.tasks.reading import objects

PAIRS = Path("packages/lab/src/milepost_lab/compare/packaged/open-questions.jsonl.gz")
FACTORS = (2, 3, 4, 6)
REPETITIONS = (10, 20, 40)
CANDIDATES = 50
TOP = 10

Floats = NDArray[np.float32]
Ragged = tuple[Floats, NDArray[np.int64]]


def vectors(states: States) -> Ragged:
    """Token vectors of unit length, and how many each text has."""
    return unit(np.asarray(states.tokens, np.float32)), states.lengths


def maxsim(queries: Ragged, texts: Ragged) -> Floats:
    """``milepost_lab.pooling.maxsim``, a query at a time to save memory: ``(queries, texts)``."""
    starts = np.cumsum(texts[1]) - texts[1]
    each = np.split(queries[0], np.cumsum(queries[1])[:-1])
    return np.stack([_greatest(query @ texts[0].T, starts).sum(axis=0) for query in each])


def _greatest(products: Floats, starts: NDArray[np.int64]) -> Floats:
    """The greatest product of each text's tokens."""
    found: Floats = np.maximum.reduceat(products, starts, axis=1)
    return found


def means(given: Ragged) -> Floats:
    """One vector a text: the mean of its tokens, unit length."""
    parts = np.split(given[0], np.cumsum(given[1])[:-1])
    return unit(np.stack([part.mean(axis=0) for part in parts]))


def gains(scores: Floats) -> list[float]:
    """nDCG@10 of each query, whose passage has its own number."""
    own = scores.diagonal()[:, None]
    rank = (scores > own).sum(axis=1) + 1
    return [float(1 / np.log2(1 + place)) if place <= TOP else 0.0 for place in rank]


def reranked(first: Floats, second: Floats) -> Floats:
    """``second`` where ``first`` has a query's best ``CANDIDATES``, nothing elsewhere."""
    best = np.argpartition(-first, CANDIDATES, axis=1)[:, :CANDIDATES]
    kept = np.full_like(second, -np.inf)
    np.put_along_axis(kept, best, np.take_along_axis(second, best, axis=1), axis=1)
    return kept


def measured(queries: Ragged, texts: Ragged) -> dict[str, tuple[list[float], float]]:
    """System → nDCG@10 of each query, and numbers kept of a text, on average."""
    width = texts[0].shape[1]
    full = maxsim(queries, texts)
    count = len(texts[1])
    found = {
        "MaxSim, all tokens": (gains(full), width * len(texts[0]) / count),
        "one vector: the mean": (gains(means(queries) @ means(texts).T), float(width)),
    }
    for factor in FACTORS:
        fewer = pool_tokens(*texts, factor)
        name = f"MaxSim, tokens in groups of {factor}"
        found[name] = gains(maxsim(queries, fewer)), width * len(fewer[0]) / count
    for repetitions in REPETITIONS:
        encoding = FixedEncoding.drawn(width, repetitions=repetitions)
        products = encoding.queries(*queries) @ encoding.documents(*texts).T
        name = f"encodings of {encoding.size:,} numbers"
        found[name] = gains(products), float(encoding.size)
        best = gains(reranked(products, full))
        found[f"{name}, best {CANDIDATES} by MaxSim"] = best, width * len(texts[0]) / count
    return found


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", default="minilm", help="folder of a network, or minilm")
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    pairs = list(objects(PAIRS))
    reader = TokenReader.open(options.model, default_cache())
    asked, read = (
        vectors(reader.states([[ids] for ids in reader.words.ids([pair[key] for pair in pairs])]))
        for key in ("query", "passage")
    )
    documents = [pair["document"] for pair in pairs]
    found = measured(asked, read)
    whole = found["MaxSim, all tokens"][0]
    less = corrected(
        {
            name: difference(each, whole, documents)
            for name, (each, _) in found.items()
            if each is not whole
        }
    )
    rows: list[dict[str, Any]] = []
    for name, (each, numbers) in found.items():
        low, high = interval(each, documents)
        row: dict[str, Any] = {
            "system": name,
            "numbers": round(numbers),
            "ndcg": float(np.mean(each)),
        }
        row |= {"low": low, "high": high}
        if name in less:
            gain = less[name]
            row |= {"less": gain.mean, "less_low": gain.low, "less_high": gain.high}
            row |= {"p": gain.adjusted, "detectable": gain.detectable}
        rows.append(row)
        told = (
            f"{row['less']:+.3f} [{row['less_low']:+.3f}, {row['less_high']:+.3f}]"
            if name in less
            else ""
        )
        print(f"{name:48} {row['numbers']:>7,} {row['ndcg']:.3f} [{low:.3f}, {high:.3f}]  {told}")
    if options.report:
        about = {"date": today(), "commit": commit(), "model": options.model}
        options.report.write_text(
            json.dumps({**about, "queries": len(pairs), "rows": rows}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
