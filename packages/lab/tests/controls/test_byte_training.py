"""Pre-training of byte encoders, the controls, and the pool protocol."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab import pooling  # noqa: E402
from milepost_lab.controls.byte_training import ByteRecipe, gapped, pretrain  # noqa: E402
from milepost_lab.controls.corpora import ToyLanguage, nonsense, permuted  # noqa: E402
from milepost_lab.controls.encoders import control_encoder  # noqa: E402
from milepost_lab.controls.kinds import KINDS  # noqa: E402
from milepost_lab.model.bytes.encoder import ByteShape, made  # noqa: E402
from milepost_lab.model.bytes.stack import StackShape  # noqa: E402
from milepost_lab.model.bytes.tokenizer import window_at  # noqa: E402
from milepost_lab.tokens import pool_protocol  # noqa: E402
from milepost_lab.tokens.pool_protocol import (  # noqa: E402
    CONTROLS,
    Protocol,
    agreement,
    matrix,
    normalised,
    source_text,
    tuned_accuracy,
)

pytestmark = pytest.mark.torch
SMALL = ByteShape(StackShape(32, 64, 2, 16), encoder=1, decoder=1)
RECIPE = ByteRecipe(SMALL, steps=30, batch=8, window=64, rate=1e-2)


def bits_per_gap_byte(model, data, windows=8):
    """Bits that a target costs: bytes of gaps with marks and end, at fixed places."""
    places = np.linspace(0, len(data) - RECIPE.window, windows).astype(int)
    rows = [window_at(data, int(place), RECIPE.window) for place in places]
    with torch.no_grad():
        loss = model.loss(*gapped(rows, RECIPE.gap, np.random.default_rng(0)))
    return loss.item() / math.log(2)


def test_an_encoder_learns_its_language_and_not_another():
    one, two = ToyLanguage(0), ToyLanguage(1)
    model = pretrain(one.text(8000), RECIPE)
    own, other, untrained = (
        bits_per_gap_byte(network, text.text(2000, 9))
        for network, text in ((model, one), (model, two), (made(SMALL, 0), one))
    )
    assert own < 5 < other
    assert untrained > 7


def test_the_same_seed_gives_the_same_encoder_and_what_is_gone_on_from_is_left_alone():
    text, recipe = nonsense(2000), ByteRecipe(SMALL, steps=2, window=64)
    one, two = pretrain(text, recipe, 3), pretrain(text, recipe, 3)
    before = one.head.weight.clone()
    assert torch.equal(before, two.head.weight)
    more = pretrain(text, recipe, 4, begun=one)
    assert torch.equal(one.head.weight, before)
    assert not torch.equal(more.head.weight, before)


def test_recipes_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="more gaps than there are marks"):
        ByteRecipe(window=1024, gap=3)
    with pytest.raises(InputError, match="40 bytes are too few for windows of 64"):
        pretrain(b"x" * 40, RECIPE)


@pytest.mark.parametrize("kind", KINDS)
def test_a_control_gives_states_that_every_pooling_reads(kind):
    encoder = control_encoder(kind, recipe=ByteRecipe(SMALL, steps=2, window=16), size=500)
    texts = ["Wörter. Und noch ein Satz.", "Short", "नमस्ते " * 9]
    states, lengths, segments = encoder.states(texts)
    assert encoder.name == kind
    assert lengths.tolist() == [len(text.encode()) for text in texts]
    assert states.shape == (lengths.sum(), encoder.width)
    assert segments[:2].tolist() == [9, 18]
    assert segments.sum() == lengths.sum()
    assert pooling.get("lmk")(states, lengths, segments=segments).shape == (3, 32)
    alone, _, _ = encoder.states(texts[1:2])
    np.testing.assert_allclose(states[27:32], alone, rtol=1e-4, atol=1e-5)
    assert not any(weight.requires_grad for weight in encoder.model.parameters())


def test_controls_that_do_not_exist_and_empty_texts_are_named():
    with pytest.raises(InputError, match="try: 'nonsense'"):
        control_encoder("nonsens")
    with pytest.raises(InputError, match="text 1 is empty"):
        control_encoder("random", recipe=RECIPE).states(["a", ""])
    with pytest.raises(InputError, match="unknown text 'language x'"):
        source_text("language x", 100)


def test_transfer_is_a_share_of_the_way_from_random_to_own():
    """Check 6."""
    scores, random = [[0.75, 0.65], [0.60, 0.70]], [0.40, 0.42]
    found = [
        [normalised(scores[s][t], scores[t][t], random[t]) for t in range(2)] for s in range(2)
    ]
    np.testing.assert_allclose(found, [[1, 0.82143], [0.57143, 1]], atol=1e-5)
    assert normalised(0.6, 0.4, 0.4) is None


def test_examples_of_agreement_are_different_and_half_of_them_wrong():
    found = agreement(2, 40, 1)
    assert len({sentence.text for sentence in found}) == 40
    assert sum(sentence.agrees for sentence in found) == 20


def test_tuning_learns_what_it_was_shown():
    examples = agreement(0, 16, 0)
    right = tuned_accuracy(made(SMALL, 0), examples, examples, steps=80, rate=5e-3, seed=0)
    assert np.mean(right) > 0.9


def test_neither_examples_nor_questions_stand_in_a_text_of_pre_training(monkeypatch):
    """Many sentences of examples would by chance."""
    read = []
    monkeypatch.setattr(pool_protocol, "pretrain", lambda data, *_: read.append(data))
    monkeypatch.setattr(pool_protocol, "_scored", lambda *_: [0.0, 1.0])
    protocol = Protocol(ByteRecipe(SMALL), size=40_000)
    matrix(protocol)
    count = protocol.examples + protocol.questions
    for language in range(protocol.languages):
        stop = ToyLanguage(language).stop
        asked = {one.text for one in agreement(language, count, 1000) if one.agrees}
        drawn, own = source_text(f"language {language}", protocol.size), read[language]
        assert len(asked & {one + stop for one in drawn.decode().split(stop)}) > 20
        assert len(own) >= protocol.size
        assert not asked & {one + stop for one in own.decode().split(stop)}
        assert permuted(own) in read[2:]


@pytest.mark.parametrize("task", ["agreement", "rebuild"])
def test_the_matrix_has_every_row_and_column_once(task):
    protocol = Protocol(
        # Only what is rebuilt is better after pre-training than before, in a few steps.
        ByteRecipe(SMALL, steps=25 if task == "rebuild" else 1, batch=8, window=64, rate=1e-2),
        size=3000,
        task=task,
        languages=2,
        examples=16,
        questions=16,
        steps=2,
    )
    told = []
    cells = matrix(protocol, lambda doing, done, of: told.append((done, of)))
    rows = ["language 0", "language 1", *CONTROLS]
    assert [cell.source for cell in cells[::2]] == rows
    assert told == [(n, 12) for n in range(12)]
    for cell in cells:
        assert cell.low <= cell.score <= cell.high
    if task == "rebuild":
        found = {(cell.source, cell.target): cell for cell in cells}
        own, other = (found["language 0", f"language {n}"] for n in (0, 1))
        assert own.score > other.score + 1
        assert own.transfer == 1
        assert found["random", "language 0"].transfer == 0
