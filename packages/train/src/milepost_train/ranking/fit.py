"""All that ``milepost fit`` learns, from roles of questions to the numbers of a model folder.

The same model, tasks, settings, seed, versions and machine give the same numbers to the last digit.
On another machine, or with another number of threads, the network's vectors differ in their last
bits, and evidence found moves by less than 0.5 points (mean of tasks) and calibration
error by less than a hundredth of that; another seed moves them as much.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from milepost._optional import require
from milepost.encoder import Encoder
from milepost.encoder.reranker import LandmarkReranker
from milepost.search.fusion import Fusion
from milepost.search.ranking import Ranking
from milepost.search.trees import Trees
from milepost.wording import counted
from milepost_eval.metrics import BUDGETS
from milepost_eval.provenance import machine, today
from milepost_train.data import Progress, repeated
from milepost_train.ranking import cases as asking
from milepost_train.ranking.cases import Ask, Case, Floats, base_scores
from milepost_train.ranking.cases import evidence as evidence_of
from milepost_train.ranking.choosing import (
    FOLDS,
    MIN_SCORES,
    Bench,
    Chosen,
    Crossfit,
    Key,
    by_task,
    choose,
    crossfit,
    folds,
    reached,
)
from milepost_train.ranking.learning import (
    ROUNDS,
    calibrate,
    case_weights,
    found,
    grid,
    learn_trees,
    learn_weights,
)
from milepost_train.ranking.questions import (
    ENOUGH_FOR_TREES,
    SIZES,
    Minimum,
    Roles,
    Sizes,
    count,
    counts_of,
    words_of,
)
from milepost_train.record import versions

SEED = 1
_BY_HAND = ("landmark", "words", "base_score_weight", "landmark_weight", "mark")
_PACKAGES = ("numpy", "openvino", "tokenizers", "lightgbm")


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was learned, for the manifest's ``fusion``, ``ranking.npz`` and ``fit.json``."""

    fusion: dict[str, Any]
    trees: Trees | None
    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Learned:
    """What scores sentences, and what scores each part of the documents without knowing it."""

    fusion: Fusion
    trees: Trees | None
    before: Sequence[Floats]


def fit(
    encoder: Encoder,
    roles: Roles,
    *,
    seed: int = SEED,
    with_trees: bool = True,
    keep: Ranking | None = None,
    sizes: Sizes = SIZES,
    progress: Progress = lambda doing, done, of: None,
    note: Callable[[str], object] = lambda text: None,
    enough_for_trees: Minimum = ENOUGH_FOR_TREES,
    rounds: int = ROUNDS,
) -> Fitted:
    """Learn the ranking of a model.

    ``seed`` is of the trees and of the parts of the cross-fit; ``keep`` are weights and trees that
    stay, so that the others are chosen and calibrated alone; ``sizes`` says how many questions the
    reranker is asked; ``note`` is told before the work what is not going to be learned;
    ``enough_for_trees`` are the fewest questions and documents that trees are learned from.

    Raises:
        MissingExtra: trees are to be learned and LightGBM is not installed.
    """
    notes: list[str] = []
    if keep is None and with_trees and not enough_for_trees.met(roles.learn):
        with_trees = False
        questions, documents = count(roles.learn)
        notes.append(
            f"no trees, fusion and calibration only: {counted(questions, 'question')} about "
            f"{counted(documents, 'document')} to learn from, and trees need "
            f"{enough_for_trees.questions:,} about {enough_for_trees.documents}"
        )
        note(notes[-1])
    if with_trees and keep is None:
        require("lightgbm", extra="train")
    for said in _said_of(roles):
        notes.append(said)
        note(said)
    reranker = LandmarkReranker.of(encoder)
    shared = roles.shared or keep is not None
    settings = encoder, sizes.reranked, progress
    choosing = list(asking.asks(roles.choose, *settings))
    learn = choosing if shared else list(asking.asks(roles.learn, *settings))
    absent = list(asking.asks(roles.absent, *settings, absent=True))
    asked = [*choosing, *absent]
    parts = folds((ask.key for ask in choosing), seed)
    parts |= folds((ask.key for ask in absent if ask.key not in parts), seed)
    learner = Learner(encoder, progress, seed, rounds if with_trees else 0)
    if keep is not None:
        cases, learned = learner.kept(asked, keep)
    elif shared:
        cases, learned = learner.shared(asked, parts)
    else:
        cases, learned = learner.apart(learn, asked)
    progress("choosing", 0, 1)
    bench = Bench(cases, learned.before)
    crossed = crossfit(bench, parts)
    every = np.ones(len(cases), bool)
    chosen = choose(bench, every)
    fused = np.array([evidence_of(case, case.fused, 0.0) for case in cases])
    evidence: dict[str, Any] = {
        "fused order": by_task(cases, fused),
        "learned ranking": by_task(cases, crossed.found),
    }
    measured: dict[str, tuple[Sequence[Case], Crossfit]] = {"learned ranking": (cases, crossed)}
    reranked: Chosen | None = None
    some = [number for number, ask in enumerate(asked) if ask.reranked]
    if reranker is not None:
        small = reranked_bench(bench, asked, some, reranker, progress)
        again = crossfit(small, parts, [each.length_penalty for each in crossed.chosen])
        reranked = choose(small, every[some], chosen.length_penalty)
        evidence["questions with reranker"] = {
            "learned ranking": by_task(small.cases, crossed.found[some]),
            "with reranker": by_task(small.cases, again.found),
        }
        measured["with reranker"] = small.cases, again
    fusion = _fields(learned, chosen, reranked)
    report = {
        "model": encoder.manifest.name,
        "fingerprint": encoder.fingerprint,
        "date": today(),
        "machine": machine(),
        "versions": versions(_PACKAGES),
        "seed": seed,
        "folds": FOLDS,
        "questions": _counted(roles),
        "cases": {
            "learned from": 0 if keep is not None else len(learn),
            "chosen on": len(choosing),
            "reranked": len(some) if reranker is not None else 0,
        },
        "cross-fitted trees": keep is None and shared and learned.trees is not None,
        "trees": 0 if learned.trees is None else len(learned.trees.roots),
        "notes": notes,
        "budgets": list(BUDGETS),
        "evidence": evidence,
        "probability": {name: each.probability for name, (_, each) in measured.items()},
        "calibration error by task": {name: each.errors for name, (_, each) in measured.items()},
        "learned": fusion,
    }
    if absent:  # what is not asked is not in the report
        report["absent"] = {
            "questions": {sample.task: counts_of([sample]) for sample in roles.absent},
            "min scores": list(MIN_SCORES),
            **{name: reached(of, each.answerable) for name, (of, each) in measured.items()},
        }
    return Fitted(fusion, learned.trees, report)


def _said_of(roles: Roles) -> Iterator[str]:
    """What the questions cannot do, and what of them is in both roles."""
    if roles.unused:
        yield (
            f"not used: {counted(roles.unused, 'train question')} that their document does not "
            "answer; where train questions teach, dev questions calibrate"
        )
    if roles.chosen:
        yield (
            f"not learned from: {counted(roles.chosen, 'train question')} about documents of which "
            "dev questions ask"
        )
    if not roles.shared and (same := repeated(words_of(roles.learn), words_of(roles.choose))):
        yield (
            f"in train and dev: {counted(len(same), 'question')} in the same words, which may "
            "flatter the figures"
        )


class Learner:
    """Learns weights and trees, for all questions or for all but a part of the documents.

    Questions that their document does not answer are scored like all others and teach nothing.
    ``rounds`` is the number of trees, 0 for none.
    """

    def __init__(
        self, encoder: Encoder, progress: Progress, seed: int = SEED, rounds: int = 0
    ) -> None:
        fields = {name: encoder.manifest.fusion.get(name) for name in _BY_HAND}
        self._base = Fusion.from_fields({k: v for k, v in fields.items() if v is not None})
        self._seed, self._rounds, self._progress = seed, rounds, progress

    def kept(self, asked: Sequence[Ask], keep: Ranking) -> tuple[list[Case], Learned]:
        """The cases of some questions, scored by what was learned before."""
        cases = self._cases("features", asked, lambda key: keep.fusion)
        before = [base_scores(case, keep.fusion, keep.trees) for case in cases]
        return cases, Learned(keep.fusion, keep.trees, before)

    def apart(self, learn: Sequence[Ask], choosing: Sequence[Ask]) -> tuple[list[Case], Learned]:
        """Learn from some questions; the cases of others, scored by that."""
        fusion = self._weights(learn)(lambda key: True)
        taught = self._cases("features to learn from", learn, lambda key: fusion)
        fusion, trees = self._ranked(fusion, taught)
        cases = self._cases("features", choosing, lambda key: fusion)
        return cases, Learned(fusion, trees, [base_scores(c, fusion, trees) for c in cases])

    def shared(self, asked: Sequence[Ask], parts: Mapping[Key, int]) -> tuple[list[Case], Learned]:
        """Learn from all questions; their cases, each scored by what others have taught.

        The features of a case come of weights learned without its part of the documents, its score
        of trees learned without it. The trees that ship are learned from all these cases.
        """
        weights = self._weights(asked)
        of_part = [weights(lambda key, p=part: parts[key] != p) for part in range(FOLDS)]  # type: ignore[misc]
        cases = self._cases("features", asked, lambda key: of_part[parts[key]])
        before: dict[int, Floats] = {}
        for part, fusion in enumerate(of_part):
            others = [case for case in cases if parts[case.key] != part]
            ranked = self._ranked(fusion, others)
            for number, case in enumerate(cases):
                if parts[case.key] == part:
                    before[number] = base_scores(case, *ranked)
        fusion, trees = self._ranked(weights(lambda key: True), cases)
        return cases, Learned(fusion, trees, [before[number] for number in range(len(cases))])

    def _weights(self, asked: Sequence[Ask]) -> Callable[[Callable[[Key], bool]], Fusion]:
        of_document = [ask for ask in asked if ask.setting == "document"]
        signals, grids, alone = [], [], []
        for number, ask in enumerate(of_document):
            self._progress("signals", number, len(of_document))
            each = asking.signals(ask)
            signals.append(each.signals)
            grids.append(grid(each, self._base))
            alone.append([found(each, curve) for curve in each.alone])

        def learned(wanted: Callable[[Key], bool]) -> Fusion:
            use = [number for number, ask in enumerate(of_document) if wanted(ask.key)]
            tasks = [of_document[number].task for number in use]
            arrays = (np.array([rows[n] for n in use]) for rows in (signals, grids, alone))
            gate, scale_shift = learn_weights(tasks, *arrays)
            return replace(self._base, gate=gate, scale_shift=scale_shift)

        return learned

    def _cases(
        self, doing: str, asked: Sequence[Ask], fusion: Callable[[Key], Fusion]
    ) -> list[Case]:
        cases = []
        for number, ask in enumerate(asked):
            self._progress(doing, number, len(asked))
            cases.append(asking.case(ask, fusion(ask.key)))
        return cases

    def _ranked(self, fusion: Fusion, cases: Sequence[Case]) -> tuple[Fusion, Trees | None]:
        """Trees; without, the two numbers that bring the fused score to log-odds."""
        cases = [case for case in cases if case.setting != "absent"]
        if self._rounds:
            self._progress("trees", 0, 1)
            return fusion, learn_trees(cases, self._seed, self._rounds)
        fused = np.concatenate([case.fused[case.rows] for case in cases]).astype(np.float64)
        held = np.concatenate([case.gains[case.rows] > 0 for case in cases]).astype(np.float64)
        weights = np.repeat(case_weights(cases), [len(case.rows) for case in cases])
        offset, slope = calibrate(np.stack([np.ones(len(fused)), fused], axis=1), held, weights)
        return replace(fusion, odds=(offset, slope)), None


def reranked_bench(
    bench: Bench,
    asked: Sequence[Ask],
    some: Sequence[int],
    reranker: LandmarkReranker,
    progress: Progress,
) -> Bench:
    """Some of the cases, with what the reranker finds in them."""
    found = []
    for done, number in enumerate(some):
        progress("reranking", done, len(some))
        found.append(asking.reread(asked[number], bench.before[number], reranker))
    return Bench([bench.cases[n] for n in some], [bench.before[n] for n in some], found)


def _fields(learned: Learned, chosen: Chosen, reranked: Chosen | None) -> dict[str, Any]:
    names = ("gate", "scale_shift", *_BY_HAND, *(["odds"] if learned.trees is None else []))
    own = {name: getattr(learned.fusion, name) for name in names} | chosen.fields()
    own |= {"rerank": reranked.fields()} if reranked is not None else {}
    fields: dict[str, Any] = json.loads(json.dumps(own))  # tuples as the manifest has them: lists
    return fields


def _counted(roles: Roles) -> dict[str, dict[str, dict[str, int]]]:
    """Task → split → questions and documents, and documents left out by reason."""
    counted: dict[str, dict[str, dict[str, int]]] = {}
    for sample in roles.learn if roles.shared else (*roles.learn, *roles.choose):
        counted.setdefault(sample.task, {})[sample.split] = {
            **counts_of([sample]),
            "left out: in the model's training": sample.seen,
            "left out: licence": sample.licences,
        }
    return counted
