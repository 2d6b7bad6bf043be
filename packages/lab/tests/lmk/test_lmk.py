"""Landmarks in texts, what is pooled, and the study in a tiny setting."""

import pytest
import torch

from milepost.errors import InputError
from milepost_lab.data.network import TokenReader
from milepost_lab.data.pairs import read_pairs
from milepost_lab.lmk import study
from milepost_lab.lmk.model import ARMS, Retriever, encoder, pretrain, train, with_landmarks
from milepost_lab.lmk.study import Material, command


def test_1_a_landmark_closes_every_so_many_tokens():
    row, marks = with_landmarks([5, 6, 7], 1, 2, 2)
    assert row == [1, 5, 6, 2, 7, 2]
    assert [n for n, mark in enumerate(marks) if mark] == [3, 5]


def test_2_what_each_arm_pools():
    model = encoder(50, 32, 1)
    texts = [[5, 6, 7], [8]]
    wanted = {
        "lmk": [[3, 5], [2]],
        "multi-cls": [[3, 5], [2]],
        "cls": [[0], [0]],
        "mean": [[0, 1, 2, 3], [0, 1]],
        "bag": [[0, 1, 2, 3], [0, 1]],
    }
    for arm in ARMS:
        ids, mask, read = Retriever(model, arm, 1, 2).rows(texts, [2, 2])
        assert [row.nonzero()[:, 0].tolist() for row in read] == wanted[arm], arm
        assert (read <= mask).all()
        assert (ids[~mask] == 0).all()


@pytest.mark.parametrize("arm", ARMS)
def test_a_text_has_the_same_vector_beside_a_longer_one(arm):
    made = Retriever(encoder(50, 32, 2), arm, 1, 2).eval()
    texts = [[5, 6, 7, 8], [9, 10] * 20]
    torch.testing.assert_close(made(texts, [2, 2])[:1], made(texts[:1], [2]), rtol=1e-3, atol=1e-4)


def test_training_lowers_both_losses():
    tokenizer = TokenReader.open("minilm").tokenizer
    model = encoder(len(tokenizer), 32, 1)
    texts = [[1000 + n % 5 for n in range(400)]]
    losses = pretrain(model, tokenizer, texts, 12, 0, 32)
    assert losses[-1] < losses[0]
    made = Retriever(model, "bag", 101, 102)
    pairs = [([2000 + n], [3000 + n, 3000 + n]) for n in range(8)]
    losses = train(made, pairs, 12, 1e-2, 0, batch=8)
    assert losses[-1] < losses[0]


def test_documents_hold_their_passage_at_every_length():
    material = Material(read_pairs(None, 20, 4), TokenReader.open("minilm").tokenizer)
    for length in (128, 700):
        for passage, document in zip(material.passages, material.documents(length), strict=True):
            assert len(document) == length
            own = passage[:128]
            assert any(document[at : at + len(own)] == own for at in range(length - len(own) + 1))


def test_the_study_runs_and_a_bag_is_the_gate(run_study, monkeypatch):
    monkeypatch.setattr(study, "RATES", (1e-3,))
    args = ("--lengths", "32,64", "--pretraining", 1, "--steps", 1, "--width", 32, "--pairs", 6,
            "--asked", 4, "--seeds", 1)  # fmt: skip
    rows = run_study(command, *args)["rows"]
    assert len(rows) == len(ARMS) * 2 + 4
    gate = study._gate({"bag": [{"32": [0.5]}], "lmk": [{"32": [0.52]}]}, 32)
    assert "decides nothing" in gate[0]
    with pytest.raises(InputError, match="no list of lengths"):
        run_study(command, "--lengths", "a")
