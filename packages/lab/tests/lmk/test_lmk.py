"""Landmarks in texts, cuts, conversion, and the study in a tiny setting."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from milepost.errors import InputError
from milepost_eval.runs import PIECES
from milepost_lab.lmk import convert, material
from milepost_lab.lmk import report as lmk_report
from milepost_lab.lmk.material import LENGTHS, Material, cut, joined
from milepost_lab.lmk.model import Arm, Retriever, Texts, Training, laid_out
from milepost_lab.lmk.parts import ndcg_of_own
from milepost_lab.lmk.report import by_depth, report
from milepost_lab.lmk.study import command
from milepost_train.model import open_checkpoint
from milepost_train.model.bert import Bert
from milepost_train.model.landmark_encoder import LandmarkEncoder
from support.files import write_lines
from support.tiny_models import CONFIGS, write_checkpoint

ARMS = get_args(Arm)
ROTARY = {**CONFIGS["bert"], "position_embedding_type": "rotary", "local_attention": 16}


@pytest.fixture(autouse=True)
def in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tolerances here are of float32, also on a CPU that has bfloat16."""
    monkeypatch.setattr("milepost_lab.lmk.model.chosen_dtype", lambda name, device: "float32")


def rotary() -> Bert:
    torch.manual_seed(1)
    return Bert(ROTARY).eval()


@pytest.mark.parametrize(
    ("arm", "rows", "read"),
    [
        ("lmk", [[2, 5, 6, 3, 7, 3], [2, 8, 9, 3, 0, 0]], [[3, 5], [3]]),
        ("multi-cls", [[2, 5, 6, 2, 7, 2], [2, 8, 9, 2, 0, 0]], [[3, 5], [3]]),
        ("mean", [[2, 5, 6, 7, 3, 0], [2, 8, 9, 3, 0, 0]], [[0, 1, 2, 3, 4], [0, 1, 2, 3]]),
        ("bag", [[2, 5, 6, 7, 3, 0], [2, 8, 9, 3, 0, 0]], [[0, 1, 2, 3, 4], [0, 1, 2, 3]]),
        ("cls", [[2, 5, 6, 7, 3, 0], [2, 8, 9, 3, 0, 0]], [[0], [0]]),
        ("every-32", [[2, 5, 6, 7, 3, 0], [2, 8, 9, 3, 0, 0]], [[4], [3]]),
    ],
)
def test_1_what_each_arm_reads_and_pools(arm: Arm, rows: Any, read: Any) -> None:
    content = torch.tensor([[5, 6, 7], [8, 9, 1]])
    two = torch.tensor([2, 2])
    ids, valid, pooled = laid_out(arm, content, torch.tensor([3, 2]), two, 6, (2, 3))
    assert ids.tolist() == rows
    assert [row.nonzero()[:, 0].tolist() for row in pooled] == read
    assert (pooled <= valid).all()
    assert (ids[~valid] == 0).all()


@pytest.mark.parametrize("arm", ARMS)
def test_a_text_has_the_same_vector_beside_a_longer_one(arm: Arm) -> None:
    made = Retriever(rotary(), arm, (2, 3))
    ids, starts = joined([np.arange(5, 45, dtype=np.uint16), np.arange(60, 160, dtype=np.uint16)])
    texts = Texts(ids, starts, torch.device("cpu"))
    together = made.vectors(texts, texts.starts, texts.lengths)
    for number, one in enumerate(np.split(ids, starts[1:-1])):
        content = torch.from_numpy(one.astype(np.int32))[None]
        alone = made(content, np.array([len(one)]))
        torch.testing.assert_close(together[number : number + 1], alone, rtol=1e-3, atol=1e-4)


def test_cuts_hold_their_evidence_at_all_depths() -> None:
    depths = []
    for number in range(200):
        first, depth = cut(f"q{number}", (5000, 5010), 10_000, 512)
        assert first <= 5000
        assert first + 512 >= 5010
        depths.append(depth)
    assert np.histogram(depths, 4, (0, 1))[0].min() > 30
    assert cut("q", (3, 10), 600, 512) == cut("q", (3, 10), 600, 512)
    assert 0 <= cut("q", (3, 10), 600, 512)[0] <= 3
    assert cut("q", (595, 600), 600, 512)[0] == 88
    assert cut("q", (100, 900), 2000, 512)[0] == 100


def test_other_cuts_of_the_own_document_do_not_count() -> None:
    scores = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [3.0, 2.0, 1.0]])
    assert ndcg_of_own(scores, np.array([7, 7, 8])) == [1.0, 1.0, 0.5]


def small_material() -> Material:
    ids = np.random.default_rng(0)
    texts = [ids.integers(5, 200, 40).astype(np.uint16) for _ in range(24)]
    queries = joined([text[5:12] for text in texts])
    passages = joined(texts)
    asked, document = joined(texts[:1]), joined([np.zeros(0, np.uint16)])
    stream = ids.integers(5, 200, 5000).astype(np.uint16)
    held = np.arange(24) >= 16
    none = np.zeros((0, 5))
    return Material(
        *queries, *passages, np.arange(24), held, stream, *asked, *document,
        np.zeros(0, np.int64), np.array([], str), none.astype(np.int64), none,
    )  # fmt: skip


@pytest.mark.parametrize("arm", ARMS)
def test_training_lowers_the_loss(arm: Arm) -> None:
    training = Training(small_material(), torch.device("cpu"))
    made = Retriever(rotary(), arm, (2, 3))
    before = training.held_loss(made, 8)
    losses = training.fit(made, 8, 3e-3, 0, 8)
    assert losses[-1] < losses[0]
    assert training.held_loss(made, 8) != before


def test_passages_are_placed_among_other_text() -> None:
    drawn = small_material()
    training = Training(drawn, torch.device("cpu"))
    seen = []

    class Seeing(Retriever):
        def forward(self, content: torch.Tensor, *rest: Any) -> torch.Tensor:
            seen.append(content)
            return super().forward(content, *rest)

    made = Seeing(rotary(), "lmk", (2, 3))
    random = np.random.default_rng(0)
    training.losses(made, np.array([[3, 7]]), np.array([[32, 32]]), random)(0)
    for row, pair in zip(seen[1].tolist(), (3, 7), strict=True):
        own = drawn.passages[40 * pair : 40 * pair + 40].tolist()
        assert len(row) == 512
        assert any(row[at : at + 40] == own for at in range(473))


def test_conversion_brings_states_to_those_of_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convert, "ROWS", 2)
    torch.manual_seed(0)
    config = {**CONFIGS["bert"], "max_position_embeddings": 512}
    parent = LandmarkEncoder(config).eval().requires_grad_(False)
    student = convert.rotary(parent)
    networks = parent.backbone, student.backbone
    losses = convert.heal(*networks, small_material(), (2, 3, 4), 12)
    assert losses[-4] < losses[0]
    assert student.config["layer_types"] == [
        "sliding_attention",
        "full_attention",
        "full_attention",
    ]


def test_the_gate_and_depth() -> None:
    lead = np.array([0.0, 0.0, 0.3, 0.5, 0.5])
    one = by_depth(lead, np.array([0.1, 0.2, 0.5, 0.8, 0.9]), list("abcde"))
    assert one.mean == pytest.approx(0.5)
    documents = [f"d{n}" for n in range(12)]
    depths = {str(size): np.linspace(0, 1, 12).tolist() for size in (*LENGTHS, 16_384)}
    questions = {"documents": documents, "depths": depths}

    def part(value: float) -> list[dict[str, Any]]:
        return [{str(size): [value] * 12 for size in LENGTHS}]

    found = {"lmk": part(0.6), "mean": part(0.5), "cls": part(0.5), "bag": part(0.48)}
    notes = report(found, questions, {}).notes
    assert "mean, cls" in notes[0]
    assert "lmk" not in notes[0]


def folders(root: Path) -> tuple[Path, Path]:
    """A small parent, and data: pairs, training documents, long documents with questions."""
    parent = write_checkpoint(root / "parent", "bert")
    drawn = random.Random(0)
    words = ["the", "cat", "sat", "on", "mat", "dog", "tree", "bird", "river", "house", "ab", "cd"]

    def text(count: int) -> str:
        return " ".join(drawn.choice(words) for _ in range(count))

    def write(name: str, rows: list[dict[str, Any]]) -> None:
        write_lines(root / "data" / f"{name}.jsonl.gz", rows)

    documents = [{"id": f"d{n}", "text": text(11_000)} for n in range(4)]
    asked = [
        {"id": f"q{n}", "document": f"d{n % 4}", "question": text(6), "split": "test",
         "spans": [[4000 * n + 400, 4000 * n + 500]]}
        for n in range(6)
    ]  # fmt: skip
    write("tasks/written/documents", documents)
    write("tasks/written/questions", asked)
    write("corpus/kind", [{"id": "c", "text": text(3000), "split": "train"}])
    taken = documents[0]["text"][1000:1400]
    pairs = [{"query": text(5), "passage": text(20)} for _ in range(40)]
    write("pairs/some", [*pairs, {"query": "the cat", "passage": taken}])
    return parent, root / "data"


def test_texts_of_test_documents_are_not_trained_on(tmp_path: Path) -> None:
    parent, data = folders(tmp_path)
    tokenizer = Tokenizer.from_file(str(parent / "tokenizer.json"))
    made = material.make([data], tokenizer, pairs=100, asked=5, tokens=1000)
    assert len(made.passage_of) == 40  # not the pair from a test document
    assert len(made.stream) == 1000
    assert made.document_of.tolist()[:4] == [0, 1, 2, 3]  # documents first
    assert (made.cuts[:, :4] >= 0).all()
    assert (made.cuts[:, 4] == -1).all()
    for question, (document, row) in enumerate(zip(made.document_of, made.cuts, strict=True)):
        start, end = made.document_starts[[document, document + 1]]
        for first, length in zip(row[:4], LENGTHS, strict=True):
            assert start + first + length <= end
            ids = made.documents[start + first :][:length]
            assert ids.all(), question
    made.write(tmp_path / "ids.npz")
    again = Material.read(tmp_path / "ids.npz")
    np.testing.assert_array_equal(again.cuts, made.cuts)
    with pytest.raises(InputError, match="no long documents"):
        material.make([tmp_path / "parent"], tokenizer, pairs=9, asked=9, tokens=9)


def test_the_study_runs_and_continues_from_its_parts(
    tmp_path: Path, run_study: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = (32, 64, 128, 700)
    monkeypatch.setattr(material, "LENGTHS", sizes)
    monkeypatch.setattr(lmk_report, "LENGTHS", sizes)
    monkeypatch.setattr(material, "HELD", 4)
    monkeypatch.setattr(convert, "ROWS", 1)
    parent, data = folders(tmp_path)
    out = tmp_path / "out"
    args = ("--data", data, "--parent", parent, "--conversion", 2, "--steps", 1, "--batch", 4,
            "--asked", 5, "--seeds", 2, "--out", out)  # fmt: skip
    monkeypatch.setenv("MILEPOST_LAB_SECONDS", "0")
    nothing = run_study(command, *args)["rows"]
    assert {row["arm"] for row in nothing} <= {"BM25"}
    monkeypatch.delenv("MILEPOST_LAB_SECONDS")
    rows = run_study(command, *args)["rows"]
    names = {row["arm"] for row in rows}
    assert {*ARMS, "lmk, random places", "parent, untrained"} < names
    assert sum(name.startswith(("H2", "H3", "H4")) for name in names) == 6
    assert open_checkpoint(out / "converted").model.backbone.rotary
    parts = (out / PIECES).read_text().splitlines(keepends=True)
    (out / PIECES).write_text("".join(part for part in parts if '"cls-1"' not in part))
    monkeypatch.setenv("MILEPOST_LAB_SECONDS", "0")
    fewer = run_study(command, *args)["rows"]
    seeds = {row["arm"]: row["seeds"] for row in fewer}
    assert (seeds["lmk"], seeds["cls"]) == (2, 1)
    monkeypatch.setenv("MILEPOST_LAB_SECONDS", "soon")
    with pytest.raises(InputError, match="soon"):
        run_study(command, *args)
