"""Fusions of as many parameters beside each other, on tasks whose truth is known."""

import json
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost.testing import fake_encoder  # noqa: E402
from milepost_eval.statistics import Difference  # noqa: E402
from milepost_lab.bilinear.study import (  # noqa: E402
    CONTROLS,
    STUDIED,
    Finding,
    FusionRow,
    compare,
    crossover,
    parameters_of,
    sized,
)
from milepost_lab.bilinear.table import record, table, verdicts  # noqa: E402
from milepost_lab.bilinear.tasks import FEATURES, Rows, evidence, made, named  # noqa: E402
from milepost_lab.bilinear.training import (  # noqa: E402
    Protocol,
    Scorer,
    Trainer,
    loss_of,
    parted,
)
from milepost_lab.model.pooling.fusion import FusionModule  # noqa: E402
from milepost_lab.pooling.fusions import fusion  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("name", [*CONTROLS, *STUDIED, "tucker"])
@pytest.mark.parametrize("budget", [5_000, 50_000])
def test_fusions_have_nearly_the_parameters_of_the_budget(name, budget):
    settings = sized(name, 64, 48, budget)
    count = parameters_of(name, settings, 64, 48)
    scorer = Scorer(FusionModule(fusion(name, **settings), 64, 48), adds=False)
    assert count == sum(weight.numel() for weight in scorer.parameters()) - 1  # the scale
    assert count <= budget
    if name not in ("concat", "mcb"):
        wider = {**settings, "hidden": settings["hidden"] + 1}
        wider["out"] += settings["out"] > 1
        assert parameters_of(name, wider, 64, 48) > budget
        assert count > 0.85 * budget


def test_a_budget_that_is_too_small_is_named():
    with pytest.raises(InputError, match=r"block has [\d,]+ parameters at least, not 100"):
        sized("block", 64, 64, 100)


def test_planted_labels_are_what_they_are_said_to_be():
    for kind in ("product", "sum"):
        task = made(kind, 3, train=400, test=50)
        generator = torch.Generator().manual_seed(3)
        turns = [
            torch.linalg.qr(torch.randn(FEATURES, FEATURES, generator=generator))[0] for _ in "xy"
        ]
        s, t = (
            (side[:, 0] @ turn.T)[:, :3].round()
            for side, turn in zip((task.train.x, task.train.y), turns, strict=True)
        )
        assert set(s.unique().tolist()) == {-1, 1}
        label = ((s * t if kind == "product" else s + t).sum(1) > 0)[:, None]
        assert torch.equal(task.train.true, label)
        assert 0.3 < label.float().mean() < 0.7


def test_tasks_that_do_not_exist_are_named():
    with pytest.raises(InputError, match=r"unknown task 'digit'.*'digits'"):
        named("digit")
    for name in ("product-2", "sum-17", "product-0"):
        with pytest.raises(InputError, match="cannot be planted"):
            named(name)


def test_digit_pairs_are_balanced_and_no_picture_is_beside_itself():
    pytest.importorskip("sklearn", reason="needs the lab extra")
    task = named("digits")
    assert task.train.true.float().mean() == pytest.approx(0.5, abs=0.03)
    same = (task.test.x == task.test.y).all(-1)[:, 0]
    assert not same[~task.test.true[:, 0]].any()
    assert same.float().mean() < 0.01  # two pictures may be equal, but not by drawing one twice
    assert len(set(task.test.clusters)) == 597


def test_on_digits_concatenation_tells_nothing_and_drawn_bins_tell_little():
    pytest.importorskip("sklearn", reason="needs the lab extra")
    task = replace(named("digits"), steps=500)
    right = {}
    for name in ("concat", "relu-sum", "concat-mlp", "mlb", "mcb"):
        settings = dict(fusion(name, **sized(name, 64, 64, task.parameters)).settings)
        told = Trainer.of(task, Protocol()).one(name, settings, 1e-2, 0).right
        right[name] = sum(told) / len(told)
    assert right["concat"] < 0.6
    assert min(right[name] for name in ("relu-sum", "concat-mlp", "mlb")) > 0.85
    assert right["concat"] + 0.05 < right["mcb"] < 0.85


def test_a_product_wins_where_many_products_are_planted_and_not_where_sums_are():
    protocol = Protocol(rates=(1e-2,), seeds=(0,))
    products = compare(replace(made("product", 15), steps=400), ("concat",), protocol)
    sums = compare(replace(made("sum", 7), steps=300), ("concat",), protocol)
    told = {row.name: row.figures[0] for row in products.rows}
    assert told["hadamard"] > 0.9
    assert told["concat-mlp"] < 0.85
    assert told["concat"] < 0.6
    assert products.better("concat-mlp") == ["hadamard"]
    assert sums.better("concat-mlp") == []
    assert {row.name: row.figures[0] > 0.95 for row in sums.rows} == {
        "concat-mlp": True,
        "hadamard": True,
        "concat": True,
    }
    assert crossover([products, sums]) == 15
    assert verdicts([products, sums]) == [
        "product-15: no bilinear fusion is surely better than concat-mlp.",
        "sum-7: no bilinear fusion is surely better than concat-mlp.",
        "A plain product (hadamard) is surely better than concat-mlp from 15 planted products on.",
    ]
    printed = table(products)
    assert printed.count("\n") == 5
    assert "minimum detectable effect over concat-mlp: " in printed
    assert "+" in next(line for line in printed.splitlines() if line.startswith("hadamard"))
    again = json.loads(json.dumps(record([products, sums])))
    assert again["crossover"] == 15
    assert again["tasks"][0]["rows"][1]["gains"]["concat-mlp"]["verdict"] == "better"


def fakes(won):
    """Findings of which only the sure winners matter."""
    gains = {"concat-mlp": Difference(0.1, 0.05, 0.15, 0.001, 0.001, 9, 9)}
    return [
        Finding(
            f"product-{k}",
            "",
            1,
            1,
            None,
            (FusionRow("hadamard", 1, 0.1, False, (1,), 1, (1.0,), gains if win else {}),),
        )
        for k, win in won.items()
    ]


def test_a_crossover_holds_from_there_on():
    won = {1: True, 3: False, 7: True, 15: True}
    found = fakes(won)
    assert crossover(found) == 7
    assert crossover(found[::-1]) == 7
    assert crossover(found[:2]) is None


FILLER = "The hive stands in the garden. It was made of straw. Children pass it on their way. "


@pytest.fixture
def folder(tmp_path):
    """Two documents to learn from and one to be tested on, of 13 and of 4 sentences."""
    documents, questions = [], []
    for number, split in enumerate(("train", "train", "dev", "dev")):
        fact = f"Queen number {number} lays the eggs. "
        text = FILLER * (4 if number != 3 else 1) + fact
        documents.append({"id": f"d{number}", "text": text, "title": "", "meta": {"split": split}})
        start = text.index(fact)
        questions += [
            {
                "id": f"q{number}{asked}",
                "document": f"d{number}",
                "question": f"Who lays the eggs {asked}?",
                "spans": [[start, start + len(fact) - 1]],
                "split": split,
            }
            for asked in ("here", "there", "now")
        ]
    for name, rows in (("documents", documents), ("questions", questions)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    return tmp_path


def test_evidence_is_ranked_again_and_a_fusion_begins_where_the_cosine_is(folder):
    task = evidence([folder], fake_encoder(), documents=2, candidates=6)
    assert task.train.y.shape == (6, 6, 32)
    assert task.train.true.any(1).all()
    assert len(task.test) == 3
    assert len(set(task.test.clusters)) == 1
    base = task.test.base
    assert (base[:, :-1] >= base[:, 1:]).all()
    torch.testing.assert_close((task.test.x * task.test.y).sum(-1) / 32, base)
    for out in (1, 4):
        scorer = Scorer(FusionModule(fusion("mlb", out=out), 32, 32), adds=True)
        torch.testing.assert_close(scorer(task.test), 20 * base)
    task = replace(task, steps=5, parameters=2000)
    found = compare(task, ("mlb", "relu-sum"), Protocol(seeds=(0,)))
    assert found.without is not None
    assert "none" in table(found)
    assert [row.name for row in found.rows] == ["concat-mlp", "hadamard", "mlb", "relu-sum"]


def test_documents_of_few_sentences_say_which_candidates_are_copies(folder):
    task = evidence([folder], fake_encoder(), documents=4, candidates=6)
    assert task.train.real.all()
    short = task.test.real.sum(1) == 4
    assert short.sum() == 3
    assert task.test.real[~short].all()
    for row in task.test[short.nonzero()[:, 0]].y:
        assert (row[3:] == row[3]).all()


@pytest.mark.parametrize("best", [0, 2])
@pytest.mark.parametrize("name", ["mlb", "mfb", "concat-mlp"])
def test_copies_of_the_last_candidate_change_neither_loss_nor_gradients(name, best):
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(4, 1, 8, generator=generator), torch.randn(4, 3, 8, generator=generator)
    true = torch.arange(3).expand(4, 3) == best
    alone = Rows(x, y, true, tuple("abcd"), y[..., 0])
    filled = torch.tensor([0, 1, 2, 2, 2])
    real = torch.tensor([True, True, True, False, False]).expand(4, 5)
    beside = Rows(x, y[:, filled], true[:, filled], tuple("abcd"), y[:, filled, 0], real)
    scorer = Scorer(FusionModule(fusion(name, hidden=6, out=3), 8, 8), adds=False)
    losses, slopes = [], []
    for rows in (alone, beside, replace(beside, real=None)):
        scorer.zero_grad()
        loss = loss_of(scorer(rows), rows.true)
        loss.backward()
        losses.append(loss.item())
        slopes.append(torch.cat([weight.grad.flatten() for weight in scorer.parameters()]))
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    torch.testing.assert_close(slopes[1], slopes[0])
    assert slopes[1].isfinite().all()
    assert abs(losses[2] - losses[0]) > 1e-3  # without the mask copies would count


def test_too_few_questions_are_named(folder):
    task = evidence([folder], fake_encoder(), documents=1)
    with pytest.raises(InputError, match="evidence: 3 rows are too few"):
        compare(task)


def test_rows_that_validate_share_no_document_with_those_that_train(folder):
    rows = evidence([folder], fake_encoder(), documents=2, candidates=4).train
    learning, validation = parted(rows)
    assert len(learning) + len(validation) == len(rows) == 6
    assert not {*learning.clusters} & {*validation.clusters}
    first = [name == rows.clusters[0] for name in rows.clusters]
    alone = rows[torch.tensor(first).nonzero()[:, 0]]  # one document: its rows are parted
    assert [len(part) for part in parted(alone)] == [2, 1]


def test_the_rate_is_chosen_by_the_validation_loss_and_its_place_in_the_grid_is_told():
    task = replace(made("product", 1, train=600, test=100), steps=150)
    found = compare(task, (), Protocol(rates=(1e-5, 1e-2), seeds=(0, 1)))
    for row in found.rows:
        assert row.rate == 1e-2
        assert row.edge
        assert min(row.figures) > 0.95
        assert len(row.steps) == 2
    assert "0.01*" in table(found)
    once = compare(task, (), Protocol(rates=(1e-2,), seeds=(0, 1)))
    assert [row.figures for row in once.rows] == [row.figures for row in found.rows]
    assert not any(row.edge for row in once.rows)
    short = compare(replace(task, steps=3), (), Protocol(rates=(1e-2,), seeds=(0,)))
    assert [row.flat for row in short.rows] == [0, 0]
    assert "3*" in table(short)


def test_a_study_that_was_stopped_goes_on_with_what_is_kept(tmp_path):
    task = replace(made("product", 1, train=200, test=50), steps=5)
    protocol = Protocol(rates=(1e-3, 1e-2), seeds=(0, 1))

    def stop(name, done, of):
        assert of == 6
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(task, (), protocol, stop, tmp_path)
    kept = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert len(kept) == 4 + 1  # and their settings
    found = compare(task, (), protocol, folder=tmp_path)
    assert {file: file.stat().st_mtime_ns for file in kept} == kept
    assert len(list(tmp_path.iterdir())) == 6 + 1
    assert found == compare(task, (), protocol)
