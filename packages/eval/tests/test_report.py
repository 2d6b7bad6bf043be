"""What a run says, for people: tables and the plot of planted figures."""

from collections.abc import Sequence
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from milepost.errors import InputError
from milepost_eval.records import Record
from milepost_eval.report import budget_plot, rows
from support.eval_records import record_of

pytest.importorskip("matplotlib", reason="needs milepost-eval: pip install ./packages/eval")

DOCUMENTS, EACH = 12, 5
NASTY = '<script>alert("1")</script>&$x$_|*\x07'


def record(
    system: str,
    task: str,
    level: float,
    *,
    noise: Sequence[float] = (0.0,),
    kinds: Sequence[str] = ("",),
) -> Record:
    """Figures around a level; ``noise`` is added to one document after the other."""
    count = DOCUMENTS * EACH
    documents = tuple(f"{task}-{number // EACH}" for number in range(count))
    figures = {
        f"recall@{budget}": tuple(
            level + more + noise[number // EACH % len(noise)] for number in range(count)
        )
        for budget, more in {800: -0.1, 1600: 0.0, 3200: 0.1}.items()
    }
    return record_of(
        system,
        task,
        figures,
        documents,
        kinds=tuple(kinds[number % len(kinds)] for number in range(count)),
        positions=tuple((number % 20) / 20 for number in range(count)),
        lengths=tuple(3000 + 1000 * (number // EACH) for number in range(count)),
    )


APART = (0.04, -0.04)  # as much to the one side as to the other: nobody knows
PLANTED = [
    record("ours", "won", 0.70, kinds=("plain", "why")),
    record("rival", "won", 0.60, noise=(0.01, -0.01), kinds=("plain", "why")),
    record("ours", "lost", 0.50),
    record("rival", "lost", 0.55, noise=(0.01, -0.01)),
    record("ours", "open", 0.40),
    record("rival", "open", 0.40, noise=APART),
    record("slow", "won", 0.2),
    record("slow", "lost", 0.2),
    record("slow", "open", 0.2),
]


def test_rows_are_best_first_with_intervals() -> None:
    table = rows(PLANTED, "recall@1600", "document")
    assert table.headers == ("system", "won", "lost", "open", "mean over tasks")
    assert [row[0] for row in table.rows] == ["ours", "rival", "slow"]
    assert table.rows[0][1] == "70.0 [68.0, 73.0]"
    assert table.rows[0][4] == "53.3 [53.3, 53.3]"
    assert table.narrow[0][1:4] == ("70.0", "50.0", "40.0")
    assert table.narrow[0][4] == table.rows[0][4]
    assert table.notes == ()


def test_a_missing_figure_is_named() -> None:
    table = rows(PLANTED[1:], "recall@1600", "document")
    assert [row[0] for row in table.rows] == ["rival", "slow", "ours"]
    assert table.rows[2] == ("ours", "–", "50.0 [48.0, 53.0]", "40.0 [38.0, 43.0]", "–")
    assert any("ours was not measured on won" in note for note in table.notes)


def test_notes_name_what_limits_a_table() -> None:
    first = replace(PLANTED[0], left_out=40)
    per = first.per_question
    other = replace(
        PLANTED[1], per_question=replace(per, names=tuple(f"other-{name}" for name in per.names))
    )
    few = replace(PLANTED[2], per_question=replace(per, documents=("only",) * len(per.documents)))
    notes = " ".join(rows([first, other, few], "recall@1600", "document").notes)
    assert "Not asked of won: 40 questions" in notes
    assert "same questions of won" in notes
    assert "questions of lost are about 1 document:" in notes


def test_records_that_do_not_go_together() -> None:
    with pytest.raises(InputError, match=r"two records of ours on won \(document\)"):
        rows([*PLANTED, PLANTED[0]], "recall@1600", "document")
    with pytest.raises(InputError, match="several splits: dev, test"):
        rows([replace(PLANTED[0], split="test"), PLANTED[1]], "recall@1600", "document")


def test_the_plot_shows_the_systems_that_find_most() -> None:
    drawn = budget_plot(PLANTED[:-1], "ours")
    assert drawn == budget_plot(PLANTED[:-1], "ours")
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    assert "rival" in drawn
    assert "slow" not in drawn
    assert "1,600" in drawn


def test_only_documents_were_ranked() -> None:
    figures = {"ndcg@10": (0.5,) * DOCUMENTS * EACH}
    owners = PLANTED[0].per_question.documents
    of_documents = record_of("ours", "won", figures, owners, intervals={"ndcg@10": (0.4, 0.6)})
    with pytest.raises(InputError, match="no record has recall"):
        budget_plot([of_documents], "ours")
    assert rows([of_documents], "ndcg@10", "document").rows[0][1] == "50.0 [40.0, 60.0]"


def test_names_are_shown_and_never_obeyed() -> None:
    named = [
        replace(
            one,
            system=one.system.replace("rival", NASTY),
            task=one.task.replace("won", NASTY + "\ud800测试"),
        )
        for one in PLANTED[:2]
    ]
    drawn = budget_plot(named, NASTY)
    assert "<script" not in drawn
    ElementTree.fromstring(drawn)
