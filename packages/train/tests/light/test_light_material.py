"""What the light model learns from: training documents alone, none ``nc``, none held out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from milepost.testing import fake_encoder
from milepost_train.data import held_out
from milepost_train.light import material as light_material
from milepost_train.light.material import HOLD_OUT, TASKS, Reader, gather, sources

TEXT = "Frost came early. The bees had left the hive. Nobody knew why.\n\nIn spring they came back."


def test_only_what_may_train_is_read(shared: Path) -> None:
    encoder = fake_encoder()
    tokenizer = encoder.tokenizer
    said: list[str] = []
    material = gather(shared, Reader(encoder, tokenizer), said.append)
    allowed = [n for n in range(60) if n not in (1, 2) and not held_out(f"doc{n}", HOLD_OUT)]
    corpus = [n for n in range(0, 20, 4) if not held_out(f"c{n}", HOLD_OUT)]
    assert 0 < len(allowed) < 58
    assert len(material.texts) == len(TASKS) * len(allowed) + len(corpus)
    assert len(material.questions) == len(material.asked) == len(TASKS) * len(allowed) + 1
    assert material.asked[-1].text == -1
    assert said[-1].startswith("health")
    for asked, question in zip(material.asked[:-1], material.questions, strict=False):
        text = material.texts[asked.text]
        (place,) = asked.evidence
        own = text.ids[text.starts[place] : text.starts[place + 1]].tolist()
        assert own == tokenizer.encode(["The bees had left the hive."])[0].ids
        assert len(question.targets) == 1
        assert np.linalg.norm(question.targets.astype(float)) == pytest.approx(1, abs=1e-2)


def test_the_record_names_every_file_that_is_read(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: set[Path] = set()
    objects = light_material.objects

    def noted(path: Path) -> Any:
        read.add(path)
        return objects(path)

    monkeypatch.setattr(light_material, "objects", noted)
    encoder = fake_encoder()
    gather(shared, Reader(encoder, encoder.tokenizer), lambda _: None)
    named = sources(shared)
    assert set(named) == read
    assert len(named) == len(read) == 2 * len(TASKS) + 2
    assert not any(path.name.startswith("sentence-cloze") for path in named)


def test_texts_are_as_the_teacher_reads_them() -> None:
    encoder = fake_encoder(longest=6)
    taught, spans = Reader(encoder, encoder.tokenizer).read(TEXT)
    landmarks = encoder.encode(TEXT)
    assert spans == [tuple(span) for span in landmarks.spans.tolist()]
    assert len(taught.ids) == taught.starts[-1] == landmarks.tokens_given
    assert np.allclose(taught.targets, landmarks.vectors, atol=1e-3)
    assert max(np.diff(taught.starts)) <= 6


def test_questions_have_the_teachers_prefix():
    teacher, bare = fake_encoder(query_prefix="query: "), fake_encoder()
    [taught] = Reader(teacher, teacher.tokenizer).questions(["Who left?"])
    assert taught.ids.tolist() == bare.tokenizer.encode(["query: Who left?"])[0].ids
    wanted = teacher.encode_query("Who left?")
    assert np.allclose(taught.targets[0], wanted, atol=1e-3)
    assert np.array_equal(wanted, bare.encode_query("query: Who left?"))
