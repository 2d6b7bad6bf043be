"""Two runs, and one run's systems: what is compared, with what, and what is left over."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from milepost.errors import InputError
from milepost_eval.compare import compare, verdict
from milepost_eval.pairing import pairs
from milepost_eval.records import Record
from milepost_eval.statistics import Difference, corrected, difference, over_tasks, wilcoxon
from support.eval_records import record_of

pytest.importorskip("scipy", reason="needs the eval extra")


def record(
    system: str,
    task: str,
    figures: Sequence[float],
    *,
    names: Sequence[str] | None = None,
    setting: str = "document",
    split: str = "dev",
    metric: str = "recall@800",
    owner: str = "d",
) -> Record:
    """A result with one metric; two questions a document."""
    asked = names or [f"q{number}" for number in range(len(figures))]
    documents = [f"{owner}{int(name[1:]) // 2}" for name in asked]
    return record_of(
        system, task, {metric: figures}, documents, names=tuple(asked), setting=setting, split=split
    )


HIGH, LOW, MID = (1.0, 0.5, 1.0, 0.75, 1.0, 0.5), (0.5, 0.5, 0.0, 0.25, 0.5, 0.0), (0.6,) * 6
OWNERS = ["d0", "d0", "d1", "d1", "d2", "d2"]


def test_a_comparison_is_what_the_statistics_say() -> None:
    old = [record("old", "trials", LOW), record("old", "meetings", HIGH)]
    new = [record("new", "trials", HIGH), record("new", "meetings", HIGH[::-1])]
    found = compare(new, old, "recall@800")
    first, second = difference(HIGH, LOW, OWNERS), difference(HIGH[::-1], HIGH, OWNERS)
    adjusted = corrected({"trials": first, "meetings": second})
    assert [row.difference for row in found.rows] == list(adjusted.values())
    assert [(row.a, row.b, row.task) for row in found.rows] == [
        ("new", "old", "trials"),
        ("new", "old", "meetings"),
    ]
    assert [row.adjusted for row in found.rows] == [one.adjusted for one in adjusted.values()]
    (overall,) = found.overall
    tasks = {"trials": (HIGH, LOW, OWNERS), "meetings": (HIGH[::-1], HIGH, OWNERS)}
    assert overall.difference == over_tasks(tasks)
    assert overall.wilcoxon == wilcoxon([first.mean, second.mean])
    assert overall.tasks == ("trials", "meetings")
    assert overall.mean_a - overall.mean_b == pytest.approx(overall.difference.mean)
    assert (found.alone_a, found.alone_b, found.unmeasured) == ((), (), ())


def test_systems_of_larger_files_are_matched_by_name() -> None:
    a = [record("bm25", "trials", LOW), record("landmark", "trials", HIGH)]
    b = [record("landmark", "trials", MID), record("chunk:200", "trials", LOW)]
    found = compare(a, b, "recall@800")
    assert [(row.a, row.b) for row in found.rows] == [("landmark", "landmark")]
    assert found.alone_a == ("bm25 on trials (document, dev)",)
    assert found.alone_b == ("chunk:200 on trials (document, dev)",)


def test_setting_and_split_are_never_mixed() -> None:
    places = [("document", "dev"), ("collection", "dev"), ("document", "test")]
    a = [record("x", "trials", HIGH, setting=setting, split=split) for setting, split in places]
    b = [record("y", "trials", LOW, setting=setting, split=split) for setting, split in places[:2]]
    found = compare(a, b, "recall@800")
    assert [(row.setting, row.split) for row in found.rows] == places[:2]
    assert [(one.setting, one.tasks) for one in found.overall] == [
        ("document", ("trials",)),
        ("collection", ("trials",)),
    ]
    assert found.alone_a == ("x on trials (document, test)",)


def test_questions_are_matched_by_name() -> None:
    a = record("x", "trials", (0.0, 0.25, 0.5, 1.0), names=("q0", "q1", "q2", "q3"))
    b = record("y", "trials", (1.0, 0.5, 0.0), names=("q7", "q2", "q1"))
    (row,) = compare([a], [b], "recall@800").rows
    assert (row.mean_a, row.mean_b) == (0.375, 0.25)
    assert (row.difference.questions, row.only_a, row.only_b) == (2, 2, 1)
    assert row.documents == (2, 3)


@pytest.mark.parametrize("metric", ["ece-passage", "auroc"])
def test_figures_of_all_questions_together_need_the_same_questions(metric: str) -> None:
    """The mean over the common ones would still be of all that each file asked."""
    a, b = (record(name, "trials", LOW, metric=metric) for name in "xy")
    assert compare([a], [b], metric).rows[0].difference.mean == 0
    with pytest.raises(InputError, match=r"different ones of trials: 0 only in the first, 2 in"):
        compare([record("x", "trials", LOW[:4], metric=metric)], [b], metric)


def test_better_or_worse_only_if_interval_and_p_agree_about_six_documents() -> None:
    found = Difference(0.2, 0.1, 0.3, 0.01, 0.04, questions=20, clusters=6, detectable=0.1)
    assert verdict("recall@800", found) == verdict("ece-passage", replace(found, mean=-0.2)) != ""
    assert verdict("ece-passage", found) == "worse"
    for change in ({"adjusted": 0.05}, {"low": -0.1}, {"clusters": 5}):
        assert verdict("recall@800", replace(found, **change)) == ""


def test_files_that_cannot_be_compared_are_refused() -> None:
    a, b = [record("x", "trials", LOW)], [record("y", "meetings", LOW)]
    with pytest.raises(InputError) as caught:
        compare(a, b, "recall@800")
    assert "the first file has x on trials (document, dev)" in str(caught.value)
    assert "the second has y on meetings (document, dev)" in str(caught.value)
    with pytest.raises(InputError, match="they share no question"):
        pairs(a, [record("y", "trials", (1.0,), names=("q99",))])
    same = [record("y", "trials", LOW)]
    with pytest.raises(InputError, match="by the same system"):
        pairs([*a, record("w", "trials", LOW)], same)
    with pytest.raises(InputError, match="the second has no system on no task"):
        pairs(a, [])
    with pytest.raises(InputError, match=r"second file has y on trials .* twice"):
        pairs(a, same * 2)  # which of the two counts is for the reader to say
    # A question that is about another document now is another question.
    with pytest.raises(InputError, match=r"question q0 of task trials is about d0 .* new0"):
        pairs(a, [record("x", "trials", LOW, owner="new")])
    with pytest.raises(InputError, match=r"unknown metric .recal@800.*'recall@800'"):
        compare(a, same, "recal@800")


def test_files_of_other_budgets() -> None:
    small, middle, large = (
        record("x", "trials", LOW, metric=f"recall@{budget}") for budget in (400, 800, 1600)
    )

    def joined(*records: Record) -> Record:
        figures = {k: v for each in records for k, v in each.per_question.figures.items()}
        return replace(small, per_question=replace(small.per_question, figures=figures))

    # 800 is the middle of all three, and only the first file has it.
    found = compare([joined(small, middle)], [joined(small, large)])
    assert (found.metric, len(found.rows), found.unmeasured) == ("recall@400", 1, ())
    with pytest.raises(InputError, match=r"metric .recall@800.*one of recall@400.* in both files"):
        compare([joined(small, middle)], [joined(small, large)], "recall@800")
    with pytest.raises(InputError, match=r"budgets 400, 800, the second 1600: .*--budgets$"):
        compare([joined(small, middle)], [large])
    ranked = record("x", "trials", MID, metric="ndcg@10")
    with pytest.raises(InputError, match=r"--budgets, or --metric ndcg@10"):
        compare([joined(small, ranked)], [joined(large, ranked)])


def test_a_pair_without_the_metric_is_listed() -> None:
    a = [record("x", "trials", LOW), record("x", "meetings", LOW)]
    b = [record("y", "trials", HIGH), record("y", "meetings", HIGH, metric="mrr@10")]
    found = compare(a, b, "recall@800")
    assert [row.task for row in found.rows] == ["trials"]
    assert found.unmeasured == ("x on meetings (document, dev)",)


def test_kinds_of_questions_are_compared_apart() -> None:
    kinds = ("fact", "why", "fact", "why", "fact", "")
    a, b = record("x", "written", HIGH), record("y", "written", LOW)
    a = replace(a, per_question=replace(a.per_question, kinds=kinds))
    (row,) = compare([a], [b], "recall@800").rows
    wanted = {
        kind: difference(
            *([of[n] for n, its in enumerate(kinds) if its == kind] for of in (HIGH, LOW, OWNERS))
        )
        for kind in ("fact", "why")
    }
    assert row.kinds == corrected(wanted)
    assert compare([b], [a], "recall@800").rows[0].kinds == {}
