"""From bytes to words to landmarks, and language models over words."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_lab.model.bytes.encoder import padded_ids  # noqa: E402
from milepost_lab.model.bytes.stack import StackShape  # noqa: E402
from milepost_lab.model.bytes.tokenizer import END, PAD, encode  # noqa: E402
from milepost_lab.model.bytes.word_encoder import (  # noqa: E402
    PublishedMask,
    WordEncoder,
    WordReader,
    pages,
)
from milepost_lab.model.bytes.word_model import ByteStream, WordModel, loss, nats  # noqa: E402
from milepost_lab.model.pooling import module  # noqa: E402
from milepost_lab.pooling.attention import attend  # noqa: E402

pytestmark = pytest.mark.torch
SHAPE = StackShape(16, 32, 4, 4)
TEXT = "Bees build cells. The quéén lays eggs! Wörker bees feed the young"


def seeded(kind, *args, **settings):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return kind(*args, **settings)


def ids(*words):
    return padded_ids([encode(word, end=False) for word in words])


def published(prefixes=1):
    right = module("wordpool", 4, prefixes=prefixes)
    return PublishedMask(right.operator, right.settings, 4), right


def test_padding_takes_two_fifths_under_the_published_mask_and_nothing_under_ours():
    """Check 2: uniform scores over the values 0, 3, 6, 9, 9; a word of 2 on a canvas of 4."""
    theirs, ours = published()
    mask = torch.tensor([[True, True, False, False]])
    values = torch.tensor([0.0, 3.0, 6.0, 9.0, 9.0])
    for pool, blocked, mean, lost in (
        (ours, [0, 0, 0, 1, 1], 3.0, 0.0),
        (theirs, [0, 0, 0, 0, 0], 5.4, 0.4),
    ):
        allowed = pool.allowed(mask)[0, 0]
        shares = allowed / allowed.sum()
        assert (~allowed).int().tolist() == blocked
        assert float(shares @ values) == pytest.approx(mean)
        assert float(shares[3:].sum()) == pytest.approx(lost)


def test_prefixes_stand_before_each_word_s_bytes_on_one_canvas():
    """Check 1: "to" and "be!" behind 2 prefixes; the authors' ids 384 and 385 are vectors here."""
    words = ids("to", "be!")
    assert words.tolist() == [[119, 114, PAD], [101, 104, 36]]
    _, ours = published(prefixes=2)
    assert ours.allowed(words != PAD)[:, 0].int().tolist() == [[1, 1, 1, 1, 0], [1] * 5]


def test_the_published_lengths_grow_with_every_call():
    """Check 3: 3, 4, 5 over three calls; the last cell is blocked at the first only."""
    theirs, _ = published()
    mask = torch.tensor([[True, True, False, False]])
    blocked = []
    for theirs.calls in (1, 2, 3):
        blocked.append((~theirs.allowed(mask)[0, -1]).int().tolist())
    assert blocked == [[0, 0, 0, 0, 1], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]


def test_one_head_pools_a_quarter_a_half_and_a_quarter():
    """Check 9."""
    keys = np.array([[0, 0], [math.log(2) * math.sqrt(2), 0], [0, 0]])
    values = np.array([[0.0, 0], [4, 0], [0, 8]])
    np.testing.assert_allclose(attend(np.array([[1.0, 0]]), keys, values), [[2, 2]])


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("prefixes", [1, 2, 4])
def test_a_longer_canvas_gives_the_same_words_under_our_mask_only(layers, prefixes):
    words = ids("to", "be", "!", "queen")
    longer = torch.nn.functional.pad(words, (0, 6), value=PAD)
    for wrong in (False, True):
        encoder = seeded(
            WordEncoder, 16, prefixes=prefixes, heads=4, layers=layers, published_mask=wrong
        )
        with torch.no_grad():
            close = torch.allclose(encoder(words), encoder(longer), atol=1e-6)
        assert close != wrong


def test_a_word_is_read_from_its_own_bytes_in_their_order():
    encoder = seeded(WordEncoder, 16)
    with torch.no_grad():
        encoder.positions.normal_()
        torch.testing.assert_close(encoder(ids("to", "be"))[1:], encoder(ids("of", "be"))[1:])
        assert not torch.allclose(encoder(ids("ab")), encoder(ids("ba")))
        turned = encoder(ids("be", "to")).flip(0)
        torch.testing.assert_close(encoder(ids("to", "be")), turned)


def test_a_page_holds_whole_sentences_and_their_places():
    found = pages(TEXT, 12)
    assert [len(page.spans) for page in found] == [2, 1]
    for page in found:
        for (start, end), words in zip(page.spans, page.words, strict=True):
            assert all(start <= word.start < word.end <= end for word in words)
            assert all(TEXT[word.start : word.end] == word.text for word in words)
            for word in words:
                assert TEXT.encode()[word.first : word.last] == word.text.encode()
    assert pages("", 12) == []


def test_sentences_of_a_page_see_each_other_and_pages_do_not():
    reader = seeded(WordReader, SHAPE, window=12)
    reader.eval()
    with torch.no_grad():
        vectors, spans = reader.read(TEXT)
        other, _ = reader.read(TEXT.replace("eggs", "xxxx"))
        none, nowhere = reader.read("")
    assert vectors.shape == (3, 16)
    assert [TEXT[start:end].strip() for start, end in spans][1] == "The quéén lays eggs!"
    assert not torch.allclose(vectors[0], other[0])
    torch.testing.assert_close(vectors[2], other[2])
    assert (none.shape, nowhere) == ((0, 16), [])


def test_pages_read_together_are_as_pages_read_alone():
    reader = seeded(WordReader, SHAPE, window=12)
    reading = pages(TEXT, 12)
    with torch.no_grad():
        alone = torch.cat([reader([page]) for page in reading])
        torch.testing.assert_close(reader(reading), alone, rtol=1e-4, atol=1e-5)


def units(*rows):
    count, canvas = max(map(len, rows)), max(len(word) for row in rows for word in row)
    found = torch.full((len(rows), count, canvas), PAD)
    for number, row in enumerate(rows):
        for place, word in enumerate(row):
            found[number, place, : len(word)] = torch.tensor(encode(word, end=False))
    return found


@pytest.mark.parametrize("prefixes", [1, 2])
def test_a_byte_of_a_word_is_told_by_what_stands_before_it_only(prefixes):
    model = seeded(WordModel, SHAPE, prefixes=prefixes)
    one, two = units(["to", " ", "be", "or"]), units(["to", " ", "bx", "or"])
    with torch.no_grad():
        a, b = model(one)[0], model(two)[0]
    torch.testing.assert_close(a[:2], b[:2])
    torch.testing.assert_close(a[2, :2], b[2, :2])
    assert not torch.allclose(a[2, 2], b[2, 2])
    assert not torch.allclose(a[3], b[3])


def test_a_byte_model_is_told_by_what_stands_before_it_only():
    model = seeded(ByteStream, SHAPE)
    one, two = ids("to be"), ids("to xe")
    with torch.no_grad():
        a, b = model(one)[0], model(two)[0]
    torch.testing.assert_close(a[:4], b[:4])
    assert not torch.allclose(a[4], b[4])


def test_padding_of_both_kinds_changes_no_score():
    model = seeded(WordModel, SHAPE)
    small = units(["to", "be"])
    large = torch.nn.functional.pad(small, (0, 5, 0, 3), value=PAD)
    with torch.no_grad():
        costs = [nats(model(u), model.targets(u))[0, :2, :3] for u in (small, large)]
        torch.testing.assert_close(*costs)
        torch.testing.assert_close(loss(model, small), loss(model, large))


def test_a_word_that_fills_the_canvas_still_has_its_end():
    """Check 5: with 2 prefixes and 3 letters, places 1 to 3 tell letters; place 4 tells the end."""
    model = seeded(WordModel, SHAPE, prefixes=2)
    full = units(["abc"])
    assert model.targets(full).tolist() == [[[100, 101, 102, END]]]
    assert model(full).shape[:3] == (1, 1, 4)
    assert model.targets(units(["abc", "d"])).tolist()[0][1] == [103, END, PAD, PAD]


def test_pads_are_not_scored_and_the_end_is():
    """Check 6: two letters of 2 nats and an end of .01: 1.92840 bits each, not .408 nats."""
    model = seeded(WordModel, SHAPE)
    targets = model.targets(torch.nn.functional.pad(units(["ab"]), (0, 8), value=PAD))
    cost = torch.tensor([2.0, 2.0, 0.01] + [0.01] * 8)
    # Two classes: the wanted one has -log P = cost, another id the rest.
    logits = torch.full((1, 1, 11, 384), -torch.inf)
    for place, wanted in enumerate(targets[0, 0]):
        logits[0, 0, place, wanted] = -cost[place]
        logits[0, 0, place, 200] = torch.log1p(-torch.exp(-cost[place]))
    found = nats(logits, targets)
    mean = float(found.sum() / (targets != PAD).sum())
    assert mean == pytest.approx(1.33667, abs=1e-4)
    assert mean / math.log(2) == pytest.approx(1.92840, abs=1e-4)
    assert float(cost[:2].sum() + 8 * 0.01) / 10 == pytest.approx(0.408)


def test_the_mean_can_stand_in_the_pooling_s_place():
    model = seeded(WordModel, SHAPE, pooling="mean")
    loss(model, units(["to", "be"], ["or"])).backward()
    assert model.words.embedding.weight.grad.abs().max() > 0
