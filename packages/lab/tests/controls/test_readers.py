"""Controls that read as a model does: landmarks of texts, vectors of questions."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import BadQuestion
from milepost.types import Document
from milepost_lab.controls import readers as place
from milepost_lab.controls.byte_training import ByteRecipe
from milepost_lab.controls.encoders import control_encoder
from milepost_lab.controls.kinds import KINDS
from milepost_lab.controls.readers import ControlReader, control_readers

pytestmark = pytest.mark.torch
TEXT = "Bees build cells of wax. Die Königin legt Eier. And drones leave early."


def test_a_sentence_is_the_mean_of_its_bytes():
    reader, encoder = ControlReader("random"), control_encoder("random")
    read = reader.encode(TEXT)
    states, _, segments = encoder.states([TEXT])
    assert [TEXT[a:b] for a, b in read.spans] == [TEXT[:25], TEXT[25:48], TEXT[48:]]
    assert segments.tolist() == [25, 24, 23]
    mean = states[25:49].mean(0)
    np.testing.assert_allclose(read.vectors[1], mean / np.linalg.norm(mean), atol=1e-6)
    document = read.vectors.mean(0)
    np.testing.assert_allclose(read.document, document / np.linalg.norm(document), atol=1e-6)
    assert read.tokens_given == read.tokens_read == len(TEXT.encode()) == 72


def test_given_spans_are_read_in_the_whole_text():
    reader = ControlReader("random")
    whole = reader.encode(TEXT)
    some = reader.encode(TEXT, spans=[(25, 48)])
    np.testing.assert_allclose(some.vectors, whole.vectors[1:2], atol=1e-6)
    assert some.spans.tolist() == [[25, 48]]
    alone = reader.encode(TEXT[25:48])
    assert np.abs(alone.vectors - some.vectors).max() > 1e-4


def test_borders_that_a_document_knows_are_respected():
    words = "one two three four"
    assert len(ControlReader("random").encode(words).spans) == 1
    read = ControlReader("random").encode(Document("d", words, blocks=(0, 8)))
    assert read.spans.tolist() == [[0, 8], [8, 18]]


def test_a_question_is_one_sentence_and_shared_words_bring_it_near():
    reader = ControlReader("random")
    asked = "Bees build cells of wax. And eggs?"
    query = reader.encode_query(f" {asked} ")
    states, _, _ = control_encoder("random").states([asked])
    mean = states.mean(0)
    np.testing.assert_allclose(query, mean / np.linalg.norm(mean), atol=1e-6)
    assert int((reader.encode(TEXT).vectors @ query).argmax()) == 0
    with pytest.raises(BadQuestion, match="the question is empty"):
        reader.encode_query(" ")


def test_an_empty_text_has_no_landmark():
    read = ControlReader("random").encode("")
    assert read.vectors.shape == (0, 64)
    assert not read.document.any()


def test_each_control_is_made_once_and_when_it_reads(monkeypatch):
    made = []

    def small(kind):
        made.append(kind)
        return control_encoder(kind, recipe=ByteRecipe(steps=1, batch=2))

    monkeypatch.setattr(place, "control_encoder", small)
    readers = control_readers()
    assert [reader.name for reader in readers] == list(KINDS)
    assert made == []
    found = [reader.encode_query("wax")[0] for reader in readers for _ in range(2)]
    assert made == list(KINDS)
    assert len(set(found)) == 3
    assert control_readers(False) == ()


def test_an_untrained_network_has_its_shape_and_nothing_else():
    torch = pytest.importorskip("torch")
    from milepost_lab.controls.untrained import untrained

    network = torch.nn.Sequential(torch.nn.Linear(50, 40), torch.nn.LayerNorm(40))
    with torch.no_grad():
        network[1].weight.fill_(3.0)
    kept = [each.clone() for each in network.parameters()]
    one, other = untrained(network, 1), untrained(network, 2)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), kept, strict=True))
    assert one[0].weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert not one[0].bias.any()
    assert one[1].weight.unique().tolist() == [1.0]
    assert not torch.equal(one[0].weight, other[0].weight)
    assert torch.equal(one[0].weight, untrained(network, 1)[0].weight)
