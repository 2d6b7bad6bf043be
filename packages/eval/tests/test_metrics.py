"""Every metric by hand, against single characters, and against libraries of other people."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost_eval.metrics import (
    AT_BUDGET,
    AT_RANK,
    at_budget,
    at_rank,
    evidence_found,
    of_documents,
)
from milepost_eval.types import Place, Question


def question(*spans: tuple[int, int], document: str = "d") -> Question:
    return Question("q", "?", document, spans)


def places(*spans: tuple[int, int], document: str = "d") -> list[Place]:
    return [Place(document, start, end, 1.0) for start, end in spans]


SPAN = st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda pair: (pair[0], sum(pair)))


@settings(max_examples=60, deadline=None)
@given(st.lists(SPAN, max_size=6), st.sets(st.integers(0, 20), max_size=4), st.integers(1, 60))
def test_against_single_characters(
    returned: list[tuple[int, int]], places: set[int], budget: int
) -> None:
    evidence = [(place * 3, place * 3 + 2) for place in sorted(places)]
    wanted = {offset for start, end in evidence for offset in range(start, end)}
    bought = [offset for start, end in returned for offset in range(start, end)][:budget]
    share = len(wanted & set(bought)) / len(wanted) if wanted else 0.0
    assert evidence_found(returned, evidence, budget) == pytest.approx(share)


@pytest.mark.parametrize(
    ("returned", "evidence", "budget", "wanted"),
    [
        # 10 of 20 evidence characters among 20 returned: |∪| = 30.
        ([(0, 20)], [(10, 30)], 100, (1 / 2, 1 / 2, 1 / 3, 0, 0, 0)),
        # The budget ends in the second place: 10 + 5 returned, all of the first span.
        ([(0, 10), (20, 30)], [(0, 10), (20, 30)], 15, (3 / 4, 1, 3 / 4, 1, 0, 3 / 4)),
        # The same place twice is paid twice and counted once.
        ([(0, 10), (0, 10), (20, 30)], [(0, 10), (20, 30)], 20, (1 / 2, 1, 1 / 2, 1, 0, 1 / 2)),
        # Two sentences with a space between them are one passage, and miss no edge within.
        ([(0, 10), (11, 20)], [(0, 20)], 100, (19 / 20, 1, 19 / 20, 0, 0, 1)),
        # The same two sentences as evidence: found whole is found to the edge.
        ([(0, 10), (11, 20)], [(0, 10), (11, 20)], 100, (1, 1, 1, 1, 1, 1)),
        # Two characters off is on the edge, three is not.
        ([(2, 13)], [(0, 10)], 100, (8 / 10, 8 / 11, 8 / 13, 0, 0, 1 / 2)),
        # A place without characters is no passage.
        ([(5, 5)], [(5, 9)], 100, (0, 0, 0, 0, 0, 0)),
        ([], [(5, 9)], 100, (0, 0, 0, 0, 0, 0)),
    ],
)
def test_at_budget_by_hand(
    returned: list[tuple[int, int]],
    evidence: list[tuple[int, int]],
    budget: int,
    wanted: tuple[float, ...],
) -> None:
    found = at_budget(places(*returned), question(*evidence), budget)
    assert found == pytest.approx(dict(zip(AT_BUDGET, wanted, strict=True)))


def test_a_place_in_another_document_is_no_hit_and_spends_the_budget() -> None:
    answer = [*places((0, 10), document="other"), *places((0, 10))]
    assert at_budget(answer, question((0, 10)), 10)["recall"] == 0
    found = at_budget(answer, question((0, 10)), 20)
    assert (found["recall"], found["precision"], found["iou"]) == (1, 0.5, 0.5)
    ranked = at_rank(answer, question((0, 10)))
    assert ranked == {"mrr@10": 0.5, "hit@1": 0, "hit@5": 1, "hit@10": 1}


EVIDENCE = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 6)), min_size=1, max_size=4).map(
    lambda steps: [
        (sum(map(sum, steps[:n])) + n + gap, sum(map(sum, steps[: n + 1])) + n)
        for n, (gap, _) in enumerate(steps)
    ]
)
"""Ascending, apart and not empty: each step is a gap (one more than it says) and a length."""


@settings(max_examples=60, deadline=None)
@given(EVIDENCE, st.randoms(use_true_random=False))
def test_the_evidence_itself_is_a_perfect_answer(
    evidence: list[tuple[int, int]], shuffler: random.Random
) -> None:
    answer = places(*evidence)
    shuffler.shuffle(answer)
    assert set(at_budget(answer, question(*evidence), 1000).values()) == {1.0}


@pytest.mark.parametrize(
    ("ranked", "evidence", "wanted"),
    [
        ([(0, 10), (10, 20), (20, 30)], [(12, 14)], (1 / 2, 0, 1, 1)),
        ([(0, 10), (10, 20)], [(5, 15)], (1, 1, 1, 1)),  # both touch the only span
        ([(0, 10), (10, 20)], [(5, 6), (15, 16)], (1, 1 / 2, 1, 1)),
        ([(0, 10), (10, 20)], [(20, 30)], (0, 0, 0, 0)),  # side by side is no touch
        ([(n, n + 1) for n in range(12)], [(5, 6)], (1 / 6, 0, 0, 1)),
        ([(n, n + 1) for n in range(12)], [(10, 11)], (0, 0, 0, 0)),  # the eleventh
        ([], [(0, 5)], (0, 0, 0, 0)),
    ],
)
def test_at_rank_by_hand(
    ranked: list[tuple[int, int]], evidence: list[tuple[int, int]], wanted: tuple[float, ...]
) -> None:
    found = at_rank(places(*ranked), question(*evidence))
    assert found == pytest.approx(dict(zip(AT_RANK, wanted, strict=True)))


def test_of_documents_by_hand() -> None:
    """Grades 2 at rank 1 and 1 at rank 3 of an ideal 3, 2, 1."""
    found = of_documents(["b", "x", "c"], {"a": 3, "b": 2, "c": 1, "x": 0})
    ideal = 3 + 2 / 1.5849625 + 1 / 2
    assert found == pytest.approx({"ndcg@10": (2 + 1 / 2) / ideal, "doc-recall@100": 2 / 3})


def graded(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Judgements of 30 questions with grades 0–3 and a ranking of up to 150 documents each."""
    chance = random.Random(seed)
    judged, ranked = {}, {}
    for number in range(30):
        names = [f"d{n}" for n in range(200)]
        chosen = chance.sample(names, chance.randint(1, 30))
        grades = {name: chance.randint(0, 3) for name in chosen}
        grades[chosen[0]] = max(1, grades[chosen[0]])
        judged[f"q{number}"] = grades
        # Half of the relevant come early, so that the first ten are not all zeros.
        first = [name for name in chosen if chance.random() < 0.5]
        rest = [name for name in names if name not in first]
        order = first + chance.sample(rest, chance.randint(0, 120))
        head = order[:20]
        chance.shuffle(head)
        ranked[f"q{number}"] = head + order[20:]
    return judged, ranked


def scores(ranked: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    return {
        name: {document: float(len(order) - rank) for rank, document in enumerate(order)}
        for name, order in ranked.items()
    }


def reciprocal(ranked: list[str], grades: dict[str, int]) -> float:
    """``mrr@10`` where each document is one character long and the graded ones are evidence."""
    number = {f"d{n}": n for n in range(200)}
    asked = question(*sorted((2 * number[d], 2 * number[d] + 1) for d, g in grades.items() if g))
    return at_rank(places(*((2 * number[d], 2 * number[d] + 1) for d in ranked)), asked)["mrr@10"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_against_pytrec_eval(seed: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="needs pytrec-eval-terrier")
    judged, ranked = graded(seed)
    judge = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10", "recall.100", "recip_rank"})
    cut = judge.evaluate(scores({name: order[:10] for name, order in ranked.items()}))
    for name, theirs in judge.evaluate(scores(ranked)).items():
        ours = of_documents(ranked[name], judged[name])
        assert ours["ndcg@10"] == pytest.approx(theirs["ndcg_cut_10"], abs=1e-9)
        assert ours["doc-recall@100"] == pytest.approx(theirs["recall_100"], abs=1e-9)
        assert reciprocal(ranked[name], judged[name]) == pytest.approx(cut[name]["recip_rank"])
