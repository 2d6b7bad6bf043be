"""A small training material: made up texts of a tiny vocabulary, and a tiny teacher."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from support.tiny_models import random_model, write_checkpoint

BOS, LANDMARK = 2, 3


def small_text(random: Random, name: str, sentences: int, words: int = 6) -> Any:
    """A text whose words are ``word75`` … ``word184``, one token each, a full stop behind them."""
    from milepost_train.data import Text

    parts, starts, spans, told = [], [0], [], ""
    for _ in range(sentences):
        tokens = [random.randrange(105, 200) for _ in range(random.randint(2, words))]
        written = " ".join(f"word{token - 105}" for token in tokens) + ". "
        spans.append((len(told), len(told) + len(written)))
        told += written
        parts += tokens
        starts.append(len(parts))
    ids, edges = np.array(parts, np.int32), np.array(starts, np.int64)
    return Text(name, "small", ids, edges, spans, words=told)


def small_teacher(folder: Path, **settings: Any) -> Any:
    """A tiny BERT with its tokenizer, as a teacher of random opinions."""
    from milepost_train.teacher import MeanTeacher

    return MeanTeacher(write_checkpoint(folder, "bert"), **settings)


def small_material(teacher: Any = None, *, seed: int = 7, **changes: Any) -> Any:
    """Six texts in two tasks, ``first`` and ``second``, with five questions each; pairs.

    A question repeats words of its evidence, so that there is something to learn.
    """
    from milepost_train.data import Pair, Question
    from milepost_train.material import Material
    from milepost_train.teacher import Targets

    random = Random(seed)
    texts = [small_text(random, f"text {n}", 12) for n in range(6)]
    questions = []
    for number, text in enumerate(texts):
        for n in range(5):
            first = random.randrange(11)
            evidence = (first, first + 1) if n % 2 else (first,)
            held = np.concatenate([text.sentence(each) for each in evidence])
            ids = np.array(random.sample(held.tolist(), min(3, len(held))), np.int32)
            task = "first" if number < 3 else "second"
            name = f"question {n} of {number}"
            questions.append(Question(name, task, ids, number, evidence, words=name))
    pairs = []
    for number in range(40):
        passage = small_text(random, "", random.randint(1, 4))
        ids = np.array(random.sample(passage.ids.tolist(), 2), np.int32)
        pairs.append(Pair(ids, passage, words=f"query {number}"))
    made = Material(
        texts=texts,
        questions=questions,
        pairs=pairs,
        bos_id=BOS,
        landmark=LANDMARK,
        targets=Targets(teacher) if teacher else None,
    )
    for name, value in changes.items():
        setattr(made, name, value)
    return made


class Student:
    """A tiny encoder in training, and what it was given to read."""

    def __init__(self, **settings: Any) -> None:
        self.model = random_model("bert", **settings).train()
        self.seen: list[Any] = []

    def __call__(self, batch: Any) -> Any:
        """Vectors of a batch's landmarks."""
        from milepost_train.check import vectors_of

        self.seen.append(batch)
        return vectors_of(self.model, batch)

    def gradients(self) -> Any:
        import torch

        found = [
            (torch.zeros_like(p) if p.grad is None else p.grad).flatten()
            for p in self.model.parameters()
        ]
        self.model.zero_grad()
        return torch.cat(found)

    def steps_as(self, objective: Any, expected: Any, seed: int, *, atol: float = 1e-5) -> None:
        """A step has the loss, and the gradient, of the loss that was computed by hand."""
        import pytest
        import torch

        self.model.zero_grad()
        expected.backward()
        by_hand = self.gradients()
        parts = objective.step(self, Random(seed))
        assert parts["loss"] == pytest.approx(expected.item(), abs=1e-5)
        assert torch.allclose(self.gradients(), by_hand, atol=atol)
        assert by_hand.abs().max() > 0.01

    def learn(self, objective: Any, steps: int = 30, *, rate: float = 3e-3) -> list[float]:
        import torch

        optimizer = torch.optim.Adam(self.model.parameters(), lr=rate)
        losses = []
        for _ in range(steps):
            losses.append(objective.step(self, Random(5))["loss"])
            optimizer.step()
            optimizer.zero_grad()
        return losses
